"""Questions of the tables with indexes, and with base files of other formats, that Apache Hudi wrote."""

from hudi_conformance.corpus.golden.questions import WrittenTable, written
from hudi_conformance.corpus.golden.usual import (
    deep_check,
    file_slices,
    filtered_after_merging,
    first_commit,
    meta_fields,
    since_first,
    skipping,
    timeline,
    up_to_last_but_one,
)

_SOUND = "released indexes hold what files and merged rows give"
_LISTS = "MT-001 MT-003 MT-005 MT-010 MT-018 MT-024"


def _statistics(table: WrittenTable) -> None:
    skipping(
        table,
        "number",
        ["n", "=", 20],
        "a row is found by a number that one file bounds",
        "IX-053 IX-051 MT-012",
        "ends-excluded",
    )
    skipping(
        table,
        "days",
        ["and", ["d", ">=", "2021-02-05"], ["d", "<=", "2021-02-07"]],
        "dates of released statistics are dates",
        "IX-053 MT-023",
        "ends-excluded",
    )
    skipping(
        table,
        "moment",
        ["at", "<", "2020-01-03T00:00:00.000000Z"],
        "moments of released statistics are moments",
        "MT-023 IX-053",
        "filter-ignored",
    )
    skipping(table, "no-note", ["note", "is_null"], "nulls are counted", "IX-053 MT-011", "nulls-skipped")
    skipping(
        table,
        "text-or-amount",
        ["or", ["note", "=", "Note-0"], ["n", ">=", 70]],
        "files that one part rules out stay for the other",
        "IX-052 IX-051",
        "or-as-and",
    )
    skipping(
        table,
        "unindexed",
        ["and", ["city", "=", "oslo"], ["n", "<", 30]],
        "columns without statistics rule nothing out",
        "IX-052 MT-013",
        "unknown-part-is-false",
    )


def _statistics_of_logs(table: WrittenTable) -> None:
    _statistics(table)
    skipping(
        table,
        "of-log",
        ["note", "=", "Note-3"],
        "values that a log alone has are found",
        "IX-054 MT-011",
        "logs-unjudged",
    )
    deep_check(
        table,
        _SOUND,
        f"{_LISTS} MT-011 MT-014 MT-023 IX-004",
        "statistics-of-first-row statistics-without-logs metadata-logs-unread",
    )
    first_commit(table)
    file_slices(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_statistics")
def statistics_9(table: WrittenTable) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and partitions."""
    _statistics_of_logs(table)


@written("v8/apache_mor_statistics")
def statistics_8(table: WrittenTable) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and partitions."""
    _statistics_of_logs(table)


@written("v6/apache_cow_statistics")
def statistics_6(table: WrittenTable) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and bloom filters."""
    _statistics(table)
    skipping(
        table,
        "key",
        ["id", "in", ["k01", "ключ-03"]],
        "filters of released files hold their keys",
        "IX-058 IX-011 IX-010",
        "or-as-and",
    )
    deep_check(table, _SOUND, f"{_LISTS} MT-011 MT-023 IX-010 IX-011", "statistics-of-first-row metadata-logs-unread")
    first_commit(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def _keys(table: WrittenTable) -> None:
    skipping(
        table,
        "key",
        ["id", "in", ["k05", "k02", "ключ-03"]],
        "keys are found in the groups that the index names",
        "IX-055 IX-023 MT-017 IX-020",
        "record-index-of-nobody or-as-and",
    )
    skipping(
        table,
        "key-and-number",
        ["and", ["id", "=", "k05"], ["n", "=", 50]],
        "a key and another column",
        "IX-055 IX-052",
        "record-index-of-nobody",
    )
    skipping(
        table,
        "value-like-a-key",
        ["note", "in", ["k05", "Note-1"]],
        "values of other columns are no keys",
        "IX-055 IX-051",
        "filter-ignored",
    )
    first_commit(table)
    file_slices(table)


@written("v9/apache_mor_keys")
def keys_9(table: WrittenTable) -> None:
    """Two inserts, two updates and a delete with bloom filters and a record index; the latest write wins."""
    _keys(table)
    deep_check(
        table,
        _SOUND,
        f"{_LISTS} MT-017 IX-010 IX-011 IX-020 IX-023",
        "first-file-group-only metadata-deletes-ignored filters-of-logs",
    )
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_mor_keys")
def keys_6(table: WrittenTable) -> None:
    """Two inserts, two updates and a delete with bloom filters and a record index; the latest write wins."""
    _keys(table)
    deep_check(
        table,
        _SOUND,
        f"{_LISTS} MT-017 IX-010 IX-011 IX-020 IX-023",
        "first-file-group-only metadata-deletes-ignored filters-of-logs",
    )
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_keys_of_partitions")
def keys_of_partitions(table: WrittenTable) -> None:
    """Two inserts, two updates and a delete with a partitioned record index, then a key of one city in the other."""
    skipping(
        table,
        "key-in-both",
        ["id", "=", "k05"],
        "a key is found in each partition that has it",
        "IX-022 IX-055",
        "record-index-of-nobody",
    )
    skipping(
        table,
        "key",
        ["id", "in", ["k01", "k06"]],
        "keys of either partition are found in its own groups",
        "IX-022 MT-017",
        "record-index-of-nobody or-as-and",
    )
    deep_check(
        table,
        "each partition's keys have a place in it",
        f"{_LISTS} IX-022 IX-023 MT-017",
        "record-index-over-partitions",
    )
    file_slices(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_cow_created_indexes")
def created(table: WrittenTable) -> None:
    """Two inserts, an index of a column, two of functions by statistics, one by bloom filters, an update, a delete."""
    skipping(
        table,
        "note",
        ["note", "=", "Note-3"],
        "a value leads to its keys, keys to their groups",
        "IX-057 IX-030 IX-033",
        "secondary-index-of-nothing",
    )
    skipping(
        table,
        "notes",
        ["note", "in", ["Note-0", "Note-1"]],
        "each value is looked up",
        "IX-057 IX-031",
        "secondary-index-of-one-row",
    )
    skipping(
        table,
        "lower",
        [["fn", "lower", "note"], "=", "note-1"],
        "bounds of a function bound its results",
        "IX-040 IX-003",
        "ends-excluded",
    )
    skipping(
        table,
        "case",
        ["note", "<", "a"],
        "an index of lower case says nothing of the column",
        "IX-040 IX-042",
        "expressions-taken-for-columns",
    )
    skipping(
        table,
        "year",
        [["fn", "year", "at"], ">=", 2023],
        "a function's results have a type of their own",
        "IX-040 IX-004",
        "ends-excluded",
    )
    skipping(
        table,
        "upper",
        [["fn", "upper", "id"], "in", ["K05", "КЛЮЧ-03"]],
        "a filter of results is asked for results",
        "IX-040 IX-058",
        "or-as-and",
    )
    kills = "metadata-logs-unread nulls-unindexed"
    deep_check(table, _SOUND, f"{_LISTS} IX-002 IX-003 IX-004 IX-030 IX-040 IX-042 MT-009", kills)
    timeline(table, clauses="TL-001 TL-004 IG-005")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_indexes_serviced")
def serviced(table: WrittenTable) -> None:
    """Insert, update, compaction, update and clustering; the metadata table is compacted on the way."""
    skipping(
        table,
        "number",
        ["n", ">=", 620],
        "statistics of clustered files bound their rows",
        "MT-011 IX-053 CL-004",
        "ends-excluded",
    )
    skipping(
        table,
        "before",
        ["note", "in", ["Note-0", "Note-3"]],
        "rows that were compacted and clustered are found",
        "IX-051 CP-004",
        "or-as-and",
    )
    deep_check(
        table,
        "compaction of either table and clustering leave every index right; bounds of partitions may be wider",
        f"{_LISTS} MT-008 MT-011 MT-014 MT-015",
        "metadata-base-files-unread metadata-logs-unread",
    )
    file_slices(table, "replaced-group-visible", "RD-003 CL-006 CP-006")
    first_commit(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v8/apache_mor_moved")
def moved(table: WrittenTable) -> None:
    """Two inserts, an index of a column, and three rows that move: release 1.0.2 forgets the entries of moved rows."""
    skipping(
        table,
        "key",
        ["id", "in", ["k05", "k06", "k00"]],
        "keys are found where they moved to",
        "IX-021 IX-055",
        "record-index-of-nobody",
    )
    deep_check(
        table, "the rows whose entries are gone are named", "IX-031 IX-021 MT-005", "violations-never entries-unchecked"
    )
    table.snapshot(
        "all", "without the index every row is there", "IX-031 MT-005", "filter-ignored", filter=["note", "is_not_null"]
    )
    table.snapshot(
        "statistics-unlisted",
        "an index that was dropped is not used",
        "MT-007 IX-002",
        "filter-ignored",
        filter=["n", "=", 50],
    )
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def _hfiles(table: WrittenTable) -> None:
    table.snapshot("snapshot", "rows of HFiles are read like others", "BF-013 BF-010 RD-003", "replaced-group-visible")
    table.snapshot("filtered", "a filter on rows of HFiles", "BF-013 RD-012", "filter-ignored", filter=["n", ">=", 60])
    table.snapshot(
        "two-columns",
        "columns of HFiles are chosen",
        "BF-013 RD-012",
        "replaced-group-visible",
        columns=["id", "amount"],
    )
    table.optimized("read-optimized", "HFiles are base files", "BF-013 RD-009", "replaced-group-visible")
    first_commit(table)
    meta_fields(table)
    file_slices(table, "replaced-group-visible", "BF-010 BF-013 RD-003")


@written("v8/apache_cow_hfile")
@written("v9/apache_cow_hfile")
def hfile_9(table: WrittenTable) -> None:
    """Two inserts into HFiles, one partition overwritten."""
    _hfiles(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_cow_hfile")
def hfile_6(table: WrittenTable) -> None:
    """Two inserts into HFiles, one partition overwritten."""
    _hfiles(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v8/apache_cow_several_formats")
@written("v9/apache_cow_several_formats")
def several_formats(table: WrittenTable) -> None:
    """Insert into Parquet files; update, insert and delete into ORC files."""
    table.snapshot(
        "snapshot",
        "a newer ORC file takes the place of a Parquet file of its group",
        "BF-011 BF-010 RD-004",
        "oldest-base-file other-formats-unread",
    )
    table.snapshot(
        "filtered", "rows of both formats are filtered alike", "BF-011 RD-012", "filter-ignored", filter=["n", "<", 40]
    )
    first_commit(table)
    file_slices(table, "oldest-base-file other-formats-unread", "BF-011 BF-010 SL-003")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
