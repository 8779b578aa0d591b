"""One table of each kind with a column of every type that Spark and Hudi both know."""

import datetime as dt
from decimal import Decimal

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    description,
    first_commit,
    last_but_one,
    meta_fields,
    no_columns,
    since_first,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import REGIONS, key
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, TableWriter

_SCHEMA = """
    id string, region string, ts timestamp, flag boolean, small int, large bigint, ratio float, measure double,
    price decimal(20,4), tiny decimal(4,2), body binary, day date, seen timestamp,
    place struct<street: string, floor: int>, tags array<string>, counts map<string, bigint>,
    history array<struct<at: date, what: string>>
"""
_EPOCH = dt.datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=dt.timezone.utc)
_DOUBLES = (0.0, -0.0, float("nan"), float("inf"), -1.5e300, 1e-300)


_READ = "values come back in their logical types"
_UNLIKE = ["or", ["flag", "!=", True], ["not", ["flag", "=", True]], ["not", ["flag", "in", [True]]]]
_EITHER = ["or", ["flag", "=", True], ["region", "=", REGIONS[0]]]
_NOT_BOTH = ["not", ["and", ["flag", "=", True], ["region", "=", REGIONS[1]]]]
_FILTERS = {
    "null-is-unknown": (_UNLIKE, "null is neither like nor unlike a value, nor in a list or out of it"),
    "null-beside-a-known": (
        ["and", _EITHER, _NOT_BOTH],
        "what one part decides does not depend on a null in another",
    ),
    "whole-numbers": (
        ["and", ["measure", "!=", 0], ["ratio", ">=", 1]],
        "a whole number compares with floats, and not-a-number is unlike it",
    ),
}


def _query_filters(table: WrittenTable) -> None:
    for name, (form, then) in _FILTERS.items():
        table.snapshot(name, then, "RD-012", "filter-ignored", filter=form)


def query_mor_all_types(table: WrittenTable) -> None:
    """Every logical type, in base files and log blocks, with nulls; ordered by a timestamp."""
    old = table.version == 6
    table.snapshot(
        "snapshot", _READ, "BF-001 LF-007", "commit-time-by-ordering" if old else "event-time-ignores-ordering"
    )
    last_but_one(table, "the nulls of the last upsert are not there yet", "RD-010 LF-016" if old else "RD-010")
    base_files_only(table)
    if old:
        description(table, "MG-009 DM-003", "mode-always-event-time")
    else:
        description(table, "DM-003", "mode-always-commit-time")
    meta_fields(table)
    no_columns(table)
    _query_filters(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def query_cow_all_types(table: WrittenTable) -> None:
    """Every logical type in base files, with nulls."""
    table.snapshot("snapshot", _READ, "BF-001", "oldest-base-file")
    first_commit(table)
    description(table, "DM-003", "mode-always-commit-time")
    meta_fields(table)
    no_columns(table)
    _query_filters(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_all_types",
    by="1.1.1",
    title="Every logical type, merge-on-read: values in base files and in logs, nulls, ordering by a timestamp",
    features=("base-parquet", "log-avro", "merge-event-time"),
    queries=query_mor_all_types,
)
@kept(
    "v8/apache_cow_all_types",
    by="1.0.2",
    title="Version 8, every logical type, copy-on-write",
    features=("base-parquet", "merge-event-time"),
    queries=query_cow_all_types,
)
@kept(
    "v6/apache_mor_all_types",
    by="0.15.0",
    title="Version 6, every logical type, merge-on-read",
    features=("base-parquet", "log-avro", "payload-OverwriteWithLatestAvroPayload"),
    queries=query_mor_all_types,
    given="Every logical type, in base files and log blocks, with nulls.",
)
def all_types(table: TableWriter) -> None:
    """Insert, upsert with other values and late rows, upsert with nulls in every column that may be null."""
    table.schema = " ".join(_SCHEMA.split())
    table.configure(EVENT_TIME)
    if table.version == 8:
        table.write([_row(number, 0, number // 6) for number in range(8)], "insert")
    else:
        table.write([_row(number, 0, 0) for number in range(6)], "insert")
        table.write([_row(number, 0, 1) for number in range(6, 8)], "insert")
    table.upsert([*(_row(number, 60, 2) for number in (0, 1, 6)), *(_row(number, -60, 3) for number in (2, 3))])
    table.upsert([_empty(number, 120) for number in (1, 4)])


def _row(number: int, later: int, salt: int) -> tuple[object, ...]:
    mixed = number + 7 * salt
    return (
        key(number),
        REGIONS[number % 2],
        _EPOCH + dt.timedelta(seconds=later),
        mixed % 2 == 0,
        (-1) ** mixed * (2**31 - 1 - mixed),
        (-1) ** mixed * (2**63 - 1 - mixed),
        float(mixed) / 4,
        _DOUBLES[mixed % 6],
        Decimal(mixed * 12345678901).scaleb(-4),
        Decimal(-mixed).scaleb(-2),
        bytes([0, mixed, 255, 10]) if mixed % 3 else b"",
        dt.date(1969, 12, 31) + dt.timedelta(days=mixed * 1000 - 1),
        dt.datetime(1950, 1, 1, 0, 0, 0, mixed, tzinfo=dt.timezone.utc) + dt.timedelta(days=mixed * 9999),
        None if mixed % 5 == 4 else (f"rue {mixed} é", None if mixed % 2 else mixed),
        [f"t{mixed}", "", "é"][: mixed % 4],
        {"": mixed, "ключ": None} if mixed % 2 else {},
        [(dt.date(2024, 1, 1), "a"), (None, None)],
    )


def _empty(number: int, later: int) -> tuple[object, ...]:
    return (key(number), REGIONS[number % 2], _EPOCH + dt.timedelta(seconds=later), *[None] * 14)
