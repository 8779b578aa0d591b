"""Columns: all logical types, columns that came later, tables without meta columns."""

import datetime as dt
from decimal import Decimal

from hudi_model.records import Field, Schema, Value

from hudi_conformance.golden.layout import copy_on_write, merge_on_read
from hudi_conformance.golden.questions import GoldenTable, golden
from hudi_conformance.golden.rides import RIDES, fleet, rides, second

_ALL_TYPES = Schema(
    (
        Field("id", "string"),
        Field("city", "string"),
        Field("ts", "int64"),
        Field("flag", "boolean"),
        Field("small", "int32"),
        Field("single", "float32"),
        Field("double", "float64"),
        Field("amount", "decimal(20,4)"),
        Field("bytes", "binary"),
        Field("day", "date"),
        Field("noon", "time-micros"),
        Field("seen", "timestamp-micros"),
        Field("seen_ms", "timestamp-millis"),
        Field("local", "local-timestamp-micros"),
        Field("tags", "list<string>"),
        Field("counts", "map<string,int64>"),
        Field("place", "struct<name:string,height:int32>"),
    )
)
_LATER = Schema((*RIDES.fields, Field("tip", "decimal(8,2)"), Field("note", "string")))
_MOMENT = dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC)


def _row(key: str, city: str, ts: int, number: int) -> dict[str, Value]:
    odd = number % 2 == 1
    moment = _MOMENT + dt.timedelta(days=number * 400, microseconds=number)
    return {
        "id": key,
        "city": city,
        "ts": ts,
        "flag": None if number % 3 == 0 else odd,
        "small": None if number == 4 else (-(2**31), 2**31 - 1, number)[number % 3],
        "single": (float("nan"), -0.0, 0.0, float("inf"), 1.5)[number % 5],
        "double": (-0.0, float("nan"), float("-inf"), 1e-300, None)[number % 5],
        "amount": None if number % 4 == 3 else Decimal("-1234567890123456.7890") * (1 if odd else -1),
        "bytes": None if number % 4 == 2 else bytes([0, number, 255]),
        "day": dt.date(1582, 10, 15) if odd else dt.date(9999, 12, 31),
        "noon": None if number % 5 == 4 else dt.time(23, 59, 59, 999_999 - number),
        "seen": moment,
        "seen_ms": moment.replace(microsecond=number * 1000),
        "local": moment.replace(tzinfo=None),
        "tags": None if number % 4 == 1 else list[Value](["a", None, "é🚲"])[:number],
        "counts": None if number % 4 == 0 else {"ä": number, "z": None, "": 0},
        "place": None if number % 6 == 5 else {"name": f"p{number}", "height": None if odd else number},
    }


def _all_types(table: GoldenTable) -> None:
    keys = [(f"t{number}", ("oslo", "lima")[number % 2]) for number in range(8)]
    table.insert(second(1), [_row(key, city, 10, number) for number, (key, city) in enumerate(keys)])
    table.upsert(
        second(2), [_row(key, city, 20 - 15 * (number % 2), number + 3) for number, (key, city) in enumerate(keys[:5])]
    )


@golden("v9/mor_all_types", "Every logical type, in base files and in log blocks", merge_on_read(9, schema=_ALL_TYPES))
def all_types_9(table: GoldenTable) -> None:
    """Eight rows with nulls, NaN, minus zero, the ends of ranges, nested values and dates before 1600."""
    _all_types(table)
    table.snapshot(
        "snapshot", "values come back in their logical types", "BF-001 LF-007", "event-time-ignores-ordering"
    )
    table.snapshot(
        "columns",
        "a projection of nested and plain columns",
        "RD-012",
        "event-time-ignores-ordering projection-ignored",
        columns=["counts", "id", "double"],
    )
    table.info("table-info", "the schema names every type", "DM-003", "mode-always-commit-time")


@golden("v6/cow_all_types", "Every logical type in base files", copy_on_write(6, schema=_ALL_TYPES))
def all_types_6(table: GoldenTable) -> None:
    """Eight rows with nulls, NaN, minus zero, the ends of ranges, nested values and dates before 1600."""
    _all_types(table)
    table.snapshot("snapshot", "values come back in their logical types", "BF-001", "oldest-base-file")
    table.snapshot(
        "filter-null",
        "a filter for null finds nulls only",
        "RD-012",
        "filter-ignored",
        filter=["flag", "is_null"],
    )


def _added_columns(table: GoldenTable) -> None:
    table.insert(second(1), fleet(10))
    table.schema = _LATER
    table.upsert(second(2), rides(20, ("r01", "r12", "駅-06"), tip=Decimal("1.50"), note="später"))
    table.snapshot(
        "snapshot",
        "rows of older files have nulls in the new columns",
        "DM-003 DM-004",
        "schema-of-oldest-commit missing-column-refused",
    )
    table.as_of(second(1.7), "as-of-before", "the columns of then", "DM-003 RD-010", "as-of-reads-everything")
    table.snapshot(
        "filter-new-column",
        "a filter on the new column finds rows of new files only",
        "DM-004 RD-012",
        "filter-ignored",
        filter=["tip", "is_not_null"],
        columns=["id", "tip", "note"],
    )
    table.info("table-info", "the schema is that of the newest commit", "DM-003", "schema-of-oldest-commit")


@golden("v9/mor_added_columns", "Two columns came with the second write", merge_on_read(9))
def added_columns_mor(table: GoldenTable) -> None:
    """Base files lack two columns that log blocks have."""
    _added_columns(table)


@golden("v8/cow_added_columns", "Two columns came with the second write", copy_on_write(8))
def added_columns_cow(table: GoldenTable) -> None:
    """Some base files lack two columns that others have."""
    _added_columns(table)
