"""Tables with indexes in their metadata table; each write brings values of its own, so that filters leave files out."""

import datetime as dt
import math
from typing import Any

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    deep_check,
    exact_request,
    file_slices,
    filtered_after_merging,
    first_commit,
    meta_fields,
    since_first,
    skipping,
    timeline,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.index_options import (
    BLOOM,
    CREATED,
    LATEST_WINS,
    LOCKED,
    RECORDS,
    STATISTICS,
)
from hudi_conformance.corpus.recipes_apache.writer import TableWriter, payload

_SCHEMA = "id string, city string, n int, amount double, note string, d date, at timestamp, sec bigint, ts bigint"
_CITIES = ("oslo", "süd")
_BATCH = 4
_METADATA = {
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
}
_STATISTICS = {**STATISTICS, "hoodie.metadata.index.column.stats.column.list": "id,n,amount,note,d,at,sec"}


def _rows(batch: int, ts: int, numbers: range | None = None) -> list[tuple[Any, ...]]:
    """The rows of a batch: keys, numbers, years, months, hours and notes of its own."""
    chosen = range(batch * _BATCH, (batch + 1) * _BATCH) if numbers is None else numbers
    return [_row(number, batch, ts) for number in chosen]


def _row(number: int, batch: int, ts: int) -> tuple[Any, ...]:
    moment = dt.datetime(2020 + batch, 1 + batch, 1 + number % 28, batch, 30, tzinfo=dt.timezone.utc)
    note = None if number % 5 == 2 else f"Note-{batch}"
    fields = (number * 10, number / 2, note, moment.date(), moment, int(moment.timestamp()), ts)
    name = f"ключ-{number:02d}" if number % 7 == 3 else f"k{number:02d}"
    return (name, _CITIES[number % 2], *fields)


def _life(table: TableWriter) -> None:
    """Two inserts, an update, a late update, a delete."""
    table.schema = _SCHEMA
    for batch in range(2):
        table.write(_rows(batch, 100), "insert")
    table.upsert(_rows(3, 200, range(1, 3)))
    table.upsert(_rows(4, 50, range(5, 6)))
    table.delete(_rows(0, 300, range(3, 4)))


def _created(table: TableWriter, *statements: str) -> None:
    """SQL that makes indexes; `{t}` is the table."""
    settings = {**LOCKED, **CREATED, "hoodie.metadata.enable": "true"}
    settings["hoodie.metadata.index.column.stats.enable"] = "false"
    settings |= {key: value for key, value in table.options.items() if key.startswith("hoodie.write.table.version")}
    for key, value in settings.items():
        table.session.conf.set(key, value)
    table.session.sql("DROP TABLE IF EXISTS indexed")
    table.session.sql(f"CREATE TABLE indexed USING hudi LOCATION '{table.path}'")
    for statement in statements:
        table.session.sql(statement.format(t="indexed")).collect()
    for key in settings:
        table.session.conf.unset(key)


_VALID = "released indexes hold what files and merged rows give"


_LISTS = "MT-001 MT-003 MT-005 MT-010 MT-018 MT-024"


def _query_statistics(table: WrittenTable) -> None:
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
        "but-the-greatest",
        ["and", ["n", "!=", 20], ["not", ["n", "in", [20, 30]]], ["not", ["n", ">", 0]]],
        "a file whose bounds hold what a filter excludes has other rows, too",
        "IX-052 IX-053",
        "negation-of-bounds",
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


def query_mor_statistics(table: WrittenTable) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and partitions."""
    _query_statistics(table)
    skipping(
        table,
        "of-log",
        ["note", "=", "Note-3"],
        "values that a log alone has are found",
        "IX-054 MT-011",
        "slices-pruned-by-base-file",
    )
    deep_check(
        table,
        _VALID,
        f"{_LISTS} MT-011 MT-014 MT-023 IX-004",
        "statistics-of-first-row statistics-without-logs metadata-logs-unread",
    )
    first_commit(table)
    exact_request(table)
    file_slices(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def query_cow_statistics(table: WrittenTable) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and bloom filters."""
    _query_statistics(table)
    skipping(
        table,
        "key",
        ["id", "in", ["k01", "ключ-03"]],
        "filters of released files hold their keys",
        "IX-058 IX-011 IX-010",
        "or-as-and",
    )
    deep_check(table, _VALID, f"{_LISTS} MT-011 MT-023 IX-010 IX-011", "statistics-of-first-row metadata-logs-unread")
    first_commit(table)
    exact_request(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_statistics",
    by="1.1.1",
    title="Merge-on-read with statistics of columns and of partitions",
    features=("base-parquet", "log-avro", "log-delete", "merge-event-time", "metadata-table"),
    queries=query_mor_statistics,
)
@kept(
    "v8/apache_mor_statistics",
    by="1.0.2",
    title="Version 8, merge-on-read with statistics of columns and of partitions",
    features=("base-parquet", "log-avro", "log-delete", "merge-event-time", "metadata-table"),
    queries=query_mor_statistics,
)
@kept(
    "v6/apache_cow_statistics",
    by="0.15.0",
    title="Version 6, copy-on-write with statistics of columns and bloom filters",
    features=("base-parquet", "payload-DefaultHoodieRecordPayload", "metadata-table"),
    queries=query_cow_statistics,
)
def statistics(table: TableWriter) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns, and of partitions or keys."""
    table.configure({**_METADATA, **_STATISTICS})
    if table.version == 6:
        table.configure({**BLOOM, **payload("DefaultHoodieRecordPayload")})
    _life(table)


_MEASURED = "id string, city string, ts bigint, measure double, ratio float"
_OF_MEASURES = {"hoodie.metadata.index.column.stats.column.list": "id,measure,ratio"}


def query_not_a_number(table: WrittenTable) -> None:
    """An insert of numbers, and a not-a-number in each of two partitions, then an update and a late one."""
    bounded = "the bounds 0 of a file with a not-a-number say nothing"
    skipping(table, "double", ["measure", "=", 7.0], bounded, "IX-051 IX-053 MT-023", "zeros-are-bounds")
    between = ["and", ["ratio", ">", 6.5], ["ratio", "<", 9.5]]
    skipping(table, "float", between, bounded, "IX-051 IX-053 MT-023", "zeros-are-bounds")
    first_commit(table)


@kept(
    "v9/apache_cow_not_a_number",
    by="1.1.1",
    title="Statistics of columns with a not-a-number: both bounds are stated as 0",
    features=("base-parquet", "merge-event-time", "metadata-table"),
    queries=query_not_a_number,
)
def not_a_number(table: TableWriter) -> None:
    """An insert of numbers, and a not-a-number in each of two partitions, then an update and a late one."""
    table.schema = _MEASURED
    table.configure({**_METADATA, **_STATISTICS, **_OF_MEASURES})
    rows = [(f"ключ-{one}", _CITIES[one % 2], 100, float(one), float(one)) for one in range(10)]
    table.write([*rows, *((f"nan-{one}", _CITIES[one], 100, math.nan, math.nan) for one in range(2))], "insert")
    table.upsert([("ключ-5", _CITIES[1], 200, None, math.nan), ("ключ-6", _CITIES[0], 50, 60.0, 60.0)])


def query_keys(table: WrittenTable) -> None:
    """Two inserts, two updates and a delete with bloom filters and a record index; the latest write wins."""
    skipping(
        table,
        "key",
        ["id", "in", ["k05", "k02", "ключ-03"]],
        "keys are found in the groups that the index names",
        "IX-055 IX-023 MT-017 IX-020",
        "record-index-finds-nothing or-as-and",
    )
    skipping(
        table,
        "key-and-number",
        ["and", ["id", "=", "k05"], ["n", "=", 50]],
        "a key and another column",
        "IX-055 IX-052",
        "record-index-finds-nothing",
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
    exact_request(table)
    file_slices(table)
    deep_check(
        table,
        _VALID,
        f"{_LISTS} MT-017 IX-010 IX-011 IX-020 IX-023",
        "first-file-group-only metadata-deletes-ignored filters-of-logs",
    )
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_keys",
    by="1.1.1",
    title="Merge-on-read with bloom filters and a record index",
    features=("base-parquet", "log-avro", "log-delete", "merge-commit-time", "metadata-table"),
    queries=query_keys,
)
@kept(
    "v6/apache_mor_keys",
    by="0.15.0",
    title="Version 6, merge-on-read with bloom filters and a record index",
    features=("base-parquet", "log-avro", "log-delete", "metadata-table"),
    queries=query_keys,
)
def keys(table: TableWriter) -> None:
    """Two inserts, two updates and a delete with bloom filters and a record index; the latest write wins."""
    latest_wins = payload("OverwriteWithLatestAvroPayload") if table.version == 6 else LATEST_WINS
    table.configure({**_METADATA, **BLOOM, **RECORDS, **latest_wins})
    _life(table)


def query_keys_of_partitions(table: WrittenTable) -> None:
    """Two inserts, two updates and a delete with a partitioned record index, then a key of one city in the other."""
    skipping(
        table,
        "key-in-both",
        ["id", "=", "k05"],
        "a key is found in each partition that has it",
        "IX-022 IX-055",
        "record-index-finds-nothing",
    )
    skipping(
        table,
        "key",
        ["id", "in", ["k01", "k06"]],
        "keys of either partition are found in its own groups",
        "IX-022 MT-017",
        "record-index-finds-nothing or-as-and",
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


@kept(
    "v9/apache_mor_keys_of_partitions",
    by="1.1.1",
    title="A record index of its own for each partition, with one key in both",
    features=(
        "base-parquet",
        "log-avro",
        "log-delete",
        "merge-commit-time",
        "metadata-table",
    ),
    queries=query_keys_of_partitions,
)
def keys_of_partitions(table: TableWriter) -> None:
    """Two inserts, two updates and a delete with a partitioned record index, then a key of one city in the other."""
    table.configure({**_METADATA, "hoodie.metadata.record.level.index.enable": "true"})
    table.configure({"hoodie.index.type": "RECORD_LEVEL_INDEX", **LATEST_WINS})
    _life(table)
    table.write([(*_row(5, 4, 100)[:1], "oslo", *_row(5, 4, 100)[2:])], "insert")


def query_created(table: WrittenTable) -> None:
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
        "a filter of results is looked up among results",
        "IX-040 IX-058",
        "or-as-and",
    )
    kills = "metadata-logs-unread nulls-unindexed"
    deep_check(table, _VALID, f"{_LISTS} IX-002 IX-003 IX-004 IX-030 IX-040 IX-042 MT-009", kills)
    timeline(table, clauses="TL-001 TL-004 IG-005")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_created_indexes",
    by="1.1.1",
    title="Copy-on-write with a secondary index and expression indexes made by SQL",
    features=(
        "base-parquet",
        "merge-commit-time",
        "metadata-table",
        "secondary-index",
        "expression-index",
    ),
    queries=query_created,
)
def created(table: TableWriter) -> None:
    """Two inserts, an index of a column, two of functions by statistics, one by bloom filters, an update, a delete."""
    table.configure({**_METADATA, **CREATED, **LOCKED, **LATEST_WINS})
    table.schema = _SCHEMA
    for batch in range(2):
        table.write(_rows(batch, 100), "insert")
    _created(
        table,
        "create index note_index on {t} (note)",
        "create index lower_index on {t} using column_stats(note) options (expr = 'lower')",
        "create index year_index on {t} using column_stats(at) options (expr = 'year')",
        "create index upper_index on {t} using bloom_filters(id) options (expr = 'upper')",
    )
    table.upsert(_rows(3, 200, range(1, 3)))
    table.delete(_rows(0, 300, range(3, 4)))


def query_moved(table: WrittenTable) -> None:
    """Two inserts, an index of a column, and three rows that move: release 1.0.2 forgets the entries of moved rows."""
    skipping(
        table,
        "key",
        ["id", "in", ["k05", "k06", "k00"]],
        "keys are found where they moved to",
        "IX-021 IX-055",
        "record-index-finds-nothing",
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


@kept(
    "v8/apache_mor_moved",
    by="1.0.2",
    title="Version 8, rows that move to the other partition under a secondary index",
    features=(
        "base-parquet",
        "log-avro",
        "merge-commit-time",
        "metadata-table",
        "secondary-index",
    ),
    queries=query_moved,
)
def moved(table: TableWriter) -> None:
    """Two inserts, an index of a column, and three rows that move; one keeps its value."""
    table.configure({**_METADATA, **CREATED, **LOCKED, **LATEST_WINS})
    table.configure({"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"})
    table.schema = _SCHEMA
    for batch in range(2):
        table.write(_rows(batch, 100), "insert")
    _created(table, "create index note_index on {t} (note)")
    for number, batch in ((5, 1), (6, 2), (0, 0)):
        row = _row(number, batch, 200)
        table.upsert([(row[0], _CITIES[(number + 1) % 2], *row[2:])])


def query_serviced(table: WrittenTable) -> None:
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


@kept(
    "v9/apache_mor_indexes_serviced",
    by="1.1.1",
    title="Merge-on-read with statistics and a record index, compacted, updated, clustered",
    features=("base-parquet", "log-avro", "merge-commit-time", "metadata-table"),
    queries=query_serviced,
)
def serviced(table: TableWriter) -> None:
    """Insert, update, compaction, update and clustering; the metadata table is compacted on the way."""
    table.configure({**_METADATA, **RECORDS, **LATEST_WINS, "hoodie.metadata.compact.max.delta.commits": "3"})
    table.configure({"hoodie.metadata.index.column.stats.enable": "true"})
    table.schema = "id string, city string, n int, note string, ts bigint"
    table.write(_short(0, 100, range(4)), "insert")
    table.upsert(_short(3, 200, range(1, 3)))
    table.schedule_compaction()
    table.compact()
    table.upsert(_short(6, 400, range(2, 4)))
    table.cluster()


def _short(batch: int, ts: int, numbers: range) -> list[tuple[Any, ...]]:
    """Rows of few columns."""
    return [(row[0], row[1], row[2] + 100 * batch, row[4], ts) for row in _rows(batch, ts, numbers)]


def query_hfile(table: WrittenTable) -> None:
    """Two inserts into HFiles, one partition overwritten."""
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
    exact_request(table)
    meta_fields(table)
    file_slices(table, "replaced-group-visible", "BF-010 BF-013 RD-003")
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_hfile",
    by="1.1.1",
    title="Copy-on-write with base files in HFile",
    features=("base-hfile", "merge-event-time"),
    queries=query_hfile,
)
@kept(
    "v8/apache_cow_hfile",
    by="1.0.2",
    title="Version 8, copy-on-write with base files in HFile",
    features=("base-hfile", "merge-event-time"),
    queries=query_hfile,
)
@kept(
    "v6/apache_cow_hfile",
    by="0.15.0",
    title="Version 6, copy-on-write with base files in HFile",
    features=("base-hfile", "payload-DefaultHoodieRecordPayload"),
    queries=query_hfile,
)
def hfile(table: TableWriter) -> None:
    """Bulk inserts into HFiles, one partition overwritten: releases cannot look keys up in HFiles."""
    if table.version == 6:
        table.configure(payload("DefaultHoodieRecordPayload"))
    _formatted(table, "HFILE")
    table.write(_rows(0, 100), "insert")
    table.write(_rows(1, 100), "insert")
    table.write([row for row in _rows(2, 300) if row[1] == "oslo"], "insert_overwrite")


def query_several_formats(table: WrittenTable) -> None:
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
    # Whether 1.1.1 and 1.2.0 read the table of version 8 depends on what was read before it in their process.
    for column in ("n", "city") if table.version > 8 else ():
        table.snapshot(
            f"{column}-alone",
            "of both formats one column is read",
            "BF-010 BF-011 RD-012",
            "other-formats-unread",
            columns=[column],
        )
    first_commit(table)
    exact_request(table)
    file_slices(table, "oldest-base-file other-formats-unread", "BF-011 BF-010 SL-003")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v8/apache_cow_several_formats",
    by="1.0.2",
    title="Version 8, base files in Parquet and then in ORC within one file group",
    features=("base-parquet", "base-orc", "merge-event-time"),
    queries=query_several_formats,
)
@kept(
    "v9/apache_cow_several_formats",
    by="1.1.1",
    title="Copy-on-write, base files in Parquet and then in ORC within one file group",
    features=("base-parquet", "base-orc", "merge-event-time"),
    queries=query_several_formats,
)
def several_formats(table: TableWriter) -> None:
    """Insert into Parquet files; update, insert and delete into ORC files."""
    _formatted(table, "PARQUET")
    table.configure({"hoodie.table.multiple.base.file.formats.enable": "true"})
    table.write(_rows(0, 100), "insert")
    table.configure({"hoodie.table.base.file.format": "ORC", "hoodie.base.file.format": "ORC"})
    table.upsert([*_rows(1, 200, range(1, 3)), *_rows(1, 50, range(3, 4))])
    table.write(_rows(1, 100), "insert")
    table.delete(_rows(0, 300, range(1)))


def _formatted(table: TableWriter, name: str) -> None:
    table.configure({"hoodie.datasource.write.partitionpath.field": "city", "hoodie.index.type": "SIMPLE"})
    table.configure({"hoodie.datasource.write.precombine.field": "ts", "hoodie.table.base.file.format": name})
    table.configure({"hoodie.base.file.format": name})
    table.schema = _SCHEMA
