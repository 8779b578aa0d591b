"""Tables with a metadata table that holds every kind of index their version has, asked with filters."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

from hudi_model.actions import IndexDefinition

from hudi_conformance.corpus.golden.layout import Layout, copy_on_write, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.rides import CITIES, KEYS, ride, second
from hudi_conformance.corpus.golden.usual import deep_check, skipping

FEATURES = ("metadata-table",)
STATISTICS = IndexDefinition("column_stats", "column_stats")
PARTITIONS = IndexDefinition("partition_stats", "partition_stats")
BLOOM = IndexDefinition("bloom_filters", "bloom_filters")
RECORDS = IndexDefinition("record_index", "record_index")
RIDER = IndexDefinition("secondary_index_rider", "secondary_index", "identity", ("rider",))
LOWER = IndexDefinition("expr_index_lower", "column_stats", "lower", ("rider",))
YEAR = IndexDefinition("expr_index_year", "column_stats", "year", ("seen",))
UPPER = IndexDefinition("expr_index_upper", "bloom_filters", "upper", ("id",))
OLD = (STATISTICS, BLOOM, RECORDS)
EVERY = (*OLD, PARTITIONS, RIDER, LOWER, YEAR, UPPER)


def spread(ts: int) -> list[dict[str, Any]]:
    """Every ride; those of a group's first rides have small values, those of the other group great ones."""
    rows = []
    for city in CITIES:
        for number, key in enumerate(KEYS[city]):
            rows.append(ride(key, ts, **values(number, number % 2)))
    rows[-1]["ratio"] = math.nan
    return rows


def values(number: int, step: int) -> dict[str, Any]:
    """The columns of a ride that filters request, by its number and the range of its group."""
    return {
        "rider": None if number == 4 else f"Ann${number}\\" if step == 0 else f"Zoe {number}",
        "fare": Decimal(1000 * step + number).scaleb(-2) if number < 5 else None,
        "day": dt.date(2024 + step, 1, 1 + number),
        "seen": dt.datetime(2024 + step, 2, 3, 4, 5, 6, 1000 * number, tzinfo=dt.timezone.utc),
        "paid": bool(step),
        "ratio": number / 8 + 100 * step,
    }


def lived(table: GoldenTable) -> None:
    """Inserts, indexes, an update beyond the bounds of its file, a late one, a delete."""
    indexes = EVERY if table.version > 6 else OLD
    table.insert(second(1), spread(10))
    table.keep_indexes(*indexes)
    table.upsert(second(2), [ride("r01", 20, **{**values(0, 0), "fare": Decimal("50.00"), "rider": "Moe"})])
    table.upsert(second(3), [ride("r12", 5, **{**values(1, 1), "fare": Decimal("77.00"), "rider": "late"})])
    table.delete(second(4), "lima", "r13")


def query_ranges(table: GoldenTable) -> None:
    """Filters that statistics of columns answer."""
    mutant = "slices-pruned-by-base-file" if table.layout.merge_on_read else "ends-excluded"
    skipping(
        table,
        "fare-of-log",
        ["fare", "=", "50.00"],
        "a value that a log alone has is found",
        "IX-054 IX-051 MT-011",
        mutant,
    )
    skipping(
        table,
        "fare-ends",
        ["fare", "<=", "0.00"],
        "the least value of a file is in it",
        "IX-053 MT-023 MT-012",
        "ends-excluded",
    )
    skipping(
        table,
        "day-between",
        ["and", ["day", ">=", "2025-01-02"], ["day", "<", "2025-01-05"]],
        "dates are bounded as dates",
        "IX-053 MT-023 IX-051",
        "ends-excluded",
    )
    skipping(
        table,
        "seen-at",
        ["seen", "=", "2024-02-03T04:05:06.004000Z"],
        "moments are bounded to the microsecond",
        "MT-023 IX-053",
        "ends-excluded",
    )
    skipping(
        table, "no-rider", ["rider", "is_null"], "nulls are counted apart from bounds", "IX-053 MT-011", "nulls-skipped"
    )
    skipping(
        table,
        "not-small",
        ["not", ["fare", "<", "0.03"]],
        "what is not so of all rows of a file may be so of some",
        "IX-052 IX-053",
        "negation-of-bounds",
    )
    skipping(
        table,
        "either",
        ["or", ["fare", "=", "10.01"], ["day", "=", "2024-01-03"]],
        "a file is ruled out where each part is",
        "IX-052 IX-051",
        "or-as-and",
    )
    skipping(
        table,
        "known-and-unknown",
        ["or", ["ratio", ">", 100.5], ["fare", "=", "0.02"]],
        "what no index knows may be true: one file has no statistics of its ratios",
        "IX-052 MT-013",
        "unknown-part-is-false",
    )


def query_keys(table: GoldenTable) -> None:
    """Filters that places and bloom filters answer."""
    skipping(
        table,
        "key",
        ["id", "in", ["r02", "駅-06", "nobody"]],
        "keys are found where they live",
        "IX-055 IX-020 IX-023",
        "record-index-finds-nothing or-as-and",
    )
    skipping(
        table,
        "text-like-a-key",
        ["rider", "in", ["Zoe 1", "r02"]],
        "only the key is looked up in the record index",
        "IX-055 IX-051",
        "record-index-for-any-column",
    )
    skipping(
        table,
        "key-and-range",
        ["and", ["id", "=", "r04"], ["day", ">", "2025-01-01"]],
        "one index rules out what another leaves",
        "IX-055 IX-053 IX-058 IX-052",
        "record-index-finds-nothing",
    )


def query_newer(table: GoldenTable) -> None:
    """Filters that indexes since version 8 answer."""
    skipping(
        table,
        "rider",
        ["rider", "=", "Ann$2\\"],
        "signs that part a key are escaped in it",
        "IX-057 IX-033 IX-030 IX-003",
        "secondary-keys-unescaped",
    )
    skipping(
        table,
        "riders",
        ["rider", "in", ["Moe", "Zoe 3"]],
        "each value leads to the keys that have it",
        "IX-057 IX-031",
        "secondary-index-of-nothing",
    )
    skipping(
        table,
        "lower",
        [["fn", "lower", "rider"], "=", "zoe 3"],
        "bounds of a function bound its results",
        "IX-040 IX-051",
        "expressions-never-match",
    )
    skipping(
        table,
        "case-of-column",
        ["rider", "<", "a"],
        "an index of lower case says nothing of the column itself",
        "IX-040 IX-042",
        "expressions-taken-for-columns",
    )
    skipping(
        table,
        "year",
        [["fn", "year", "seen"], "=", 2025],
        "a year is a number, its column a moment",
        "IX-040 MT-023 IX-004",
        "ends-excluded",
    )
    skipping(
        table,
        "upper",
        [["fn", "upper", "id"], "=", "R02"],
        "a bloom filter of results is looked up among results",
        "IX-040 IX-058",
        "expressions-never-match unknown-part-is-false",
    )


def query_soundness(table: GoldenTable) -> None:
    """Every index holds what files and rows give."""
    clauses = "MT-005 MT-001 MT-002 MT-003 MT-010 MT-011 MT-012 MT-018 MT-023 MT-024 IX-010 IX-011 IX-020 IX-021 IX-023"
    kills = "statistics-of-first-row nulls-uncounted bounds-in-order-of-length record-index-of-partitions"
    if table.layout.merge_on_read:
        kills += " filters-of-logs metadata-logs-unread metadata-base-files-unread metadata-deletes-ignored"
    else:
        kills += " newest-slices-listed"
    if table.version > 6:
        clauses += " MT-014 IX-030 IX-031 IX-040"
        kills += " nulls-unindexed secondary-keys-unescaped"
    deep_check(table, "every index holds what files and merged rows give", clauses, kills)


def query_unmerged(table: GoldenTable) -> None:
    """Filters for versions that merging hides, and that indexes of the merged rows do not know."""
    skipping(
        table,
        "unmerged-deleted-key",
        ["id", "=", "r13"],
        "a record index without the key rules no slice out",
        "RD-019 IX-055",
        "unmerged-without-deleted",
        "read_unmerged",
    )
    skipping(
        table,
        "unmerged-older-value",
        ["rider", "=", "Ann$0\\"],
        "a secondary index without the value rules no slice out",
        "RD-019 IX-057",
        "unmerged-merged",
        "read_unmerged",
    )


def query_past(table: GoldenTable) -> None:
    """Filters for what older states have, and the newest one, of whose rows indexes of records are, has no more."""
    key = ["id", "=", "r13"]
    then, kills = "an index of the newest rows rules no slice of an older state out", "as-of-reads-everything"
    skipping(table, "as-of-deleted-key", key, then, "RD-010 IX-055", kills, "read_as_of", instant=second(3.7))
    then, kills = "nor does it rule out what base files alone hold", "optimized-reads-logs"
    skipping(table, "optimized-deleted-key", key, then, "RD-009 IX-055", kills, "read_optimized")
    then, bounds = "nor does it rule out what a range held at its end", {"begin": second(0.5), "end": second(4.2)}
    skipping(table, "range-deleted-key", key, then, "IN-001 IX-055", "filter-ignored", "read_incremental", **bounds)


def query_ends(table: GoldenTable) -> None:
    """Filters at the very bounds of files, and for what a log brought beyond them."""
    skipping(
        table,
        "not-below-greatest",
        ["not", ["fare", "<", "0.04"]],
        "a file's greatest value is not below itself",
        "IX-052 IX-053",
        "negation-of-bounds",
    )
    skipping(
        table,
        "lower-of-update",
        [["fn", "lower", "rider"], "=", "moe"],
        "a result that an update brought is found, in a log alone too",
        "IX-040 IX-054",
        "expressions-never-match",
    )


def query_unbounded(table: GoldenTable) -> None:
    """A filter for what bounds of numbers leave out."""
    skipping(
        table,
        "not-a-number",
        ["not", ["ratio", "<=", 1000.0]],
        "not-a-number is beyond no bound, and not within it",
        "IX-053 MT-023",
        "filter-ignored",
    )


def _add_queries(table: GoldenTable) -> None:
    lived(table)
    query_ranges(table)
    query_keys(table)
    if table.version > 6:
        query_newer(table)
    query_soundness(table)


def _by_commit_time(version: int) -> Layout:
    """The newest version by commit time: readers pass indexes of records by where a greater ordering value may win."""
    return merge_on_read(version, merge_mode="COMMIT_TIME_ORDERING") if version > 8 else merge_on_read(version)


@golden(
    "v9/mor_indexed",
    "Every kind of index, over logs",
    _by_commit_time,
    FEATURES,
    also=(6, 8),
    titles={6: "Statistics, bloom filters and a record index, over logs"},
)
def indexed(table: GoldenTable) -> None:
    """Rides whose groups have ranges of their own; indexes built after the insert and kept by three writes to logs."""
    _add_queries(table)
    query_unmerged(table)
    if table.version > 8:
        query_ends(table)
        query_past(table)
        query_unbounded(table)


@golden(
    "v9/cow_indexed",
    "Every kind of index, over base files",
    copy_on_write(9),
    FEATURES,
    also=(6, 8),
    titles={6: "Statistics, bloom filters and a record index, over base files"},
)
def indexed_cow(table: GoldenTable) -> None:
    """Rides whose groups have ranges of their own; indexes built after the insert and kept by three writes."""
    _add_queries(table)
    if table.version > 8:
        query_unbounded(table)
        then = "bounds of partitions are those of the newest rows"
        fare, kills = ["fare", "=", "0.00"], "as-of-reads-everything"
        skipping(table, "as-of-changed", fare, then, "RD-010 MT-014", kills, "read_as_of", instant=second(1.7))
