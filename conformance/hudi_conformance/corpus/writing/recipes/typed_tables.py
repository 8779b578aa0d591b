"""One life of tables whose keys, partitions and ordering values are of many types: without indexes, and with all."""

import datetime as dt
from decimal import Decimal
from typing import Any, Final

from hudi_model.files import Field, Schema, Value
from hudi_model.merging import COUNTER, DELETE_AT_ZERO, SET_UNION, RecordMerger

from hudi_conformance.corpus.golden.recipes.schemas import ALL_TYPES, row_of_all_types
from hudi_conformance.corpus.golden.rides import Row
from hudi_conformance.corpus.table_shapes import TableShape
from hudi_conformance.corpus.writing.recipes.clusterings import DUE as CLUSTERING_DUE
from hudi_conformance.corpus.writing.recipes.compactions import DUE as COMPACTION_DUE
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import ALONE, COW, MOR, PARQUET_LOGS, shapes
from hudi_conformance.corpus.writing.steps import Done, WritingCase
from hudi_conformance.corpus.writing.typed_rows import HIGH, KINDS, LOW, MARK, MIDDLE, TOP, Kind, typed

EVERY_INDEX: Final = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
KEPT: Final = {**ALONE, "hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
"""A writer that keeps a metadata table, and all indexes that somebody has built but statistics of columns."""
WITH_STATISTICS: Final = {**KEPT, "hoodie.metadata.index.column.stats.enable": "true"}
"""A writer that requests statistics of columns; one that requests none drops those that somebody has built."""
ORDERED: Final = {
    "int_keys": "ordering-without-fractions",
    "date_keys": "ordering-of-texts",
    "decimal_keys": "ordering-to-the-millisecond",
    "moment_keys": "ordering-by-size",
    "milli_keys": "ordering-to-the-second",
    "mixed_case": "tie-to-older",
    "text_keys": "texts-by-utf-16",
    "two_keys": "first-ordering-field-only",
    "three_keys": "zeroes-are-one-value",
}
"""What a kind of ordering values distinguishes."""


def kind_of(case: WritingCase) -> Kind:
    """The kind of rows that the shape is named after."""
    return KINDS[case.shape.label]


def started(case: WritingCase) -> Done:
    """A table with the six rows of its kind."""
    case.schema = kind_of(case).schema
    case.create()
    return case.write("insert", kind_of(case).rows(range(6), MIDDLE))


def changed(case: WritingCase) -> tuple[Done, Done, Done]:
    """In time, late and tied: updates, then deletes that bear ordering values, then a delete by key."""
    kind = kind_of(case)
    updates = [kind.row(0, HIGH), kind.row(1, LOW, note="late"), kind.row(2, MIDDLE, note="tied")]
    first = case.write("upsert", updates)
    marked = [kind.row(3, HIGH, **{MARK: True}), kind.row(4, LOW, **{MARK: True}), kind.row(5, MIDDLE, **{MARK: True})]
    second = case.write("upsert", marked)
    return first, second, case.write("delete", kind.rows([0], TOP))


def come_back(case: WritingCase) -> Done:
    """A row after each kind of delete, one that has waited, and the greatest of all."""
    kind = kind_of(case)
    again = [kind.row(0, LOW, note="again"), kind.row(3, MIDDLE, note="again"), kind.row(5, TOP, note="again")]
    return case.write("upsert", [*again, kind.row(2, TOP, note="last"), kind.row(1, MIDDLE, note="tied")])


def filters(case: WritingCase) -> None:
    """By each key, by several, by partition, by ordering value, by columns of no part in the table."""
    kind = kind_of(case)
    for number in range(6):
        case.filtered(kind.is_key(number))
    case.filtered(["or", kind.is_key(1), kind.is_key(5), ["note", "=", "last"]])
    for name, value in zip(kind.part, kind.parts[0], strict=True):
        case.filtered([name, "=", kind.json(name, value)])
    name = next(iter(kind.order))
    if name != "price_at":
        case.filtered([name, ">=", kind.json(name, kind.orders[HIGH][0])])
    wanted: list[Any] = ["and", ["score", ">", 1], ["not", ["score", "in", [500, 503]]], ["note", "is_not_null"]]
    case.filtered(wanted)


def ended(case: WritingCase, *writes: Done, ranges: bool = True) -> None:
    """All that can be asked of the table."""
    case.state()
    filters(case)
    case.past(*writes, ranges=ranges)
    case.sound()


@writing(
    "typed/changed",
    (
        *typed(KINDS, (9,), (MOR,)),
        *typed(("int_keys", "date_keys", "milli_keys", "text_keys", "three_keys"), (6,), (MOR,)),
        *typed(("date_keys", "moment_keys", "two_keys", "three_keys"), (8,), (COW,)),
        *typed(("decimal_keys", "mixed_case", "text_keys"), (6,), (COW,)),
    ),
    "MG-003 MG-004 MG-007 DM-002 DM-031 OW-003",
    "event-time-ignores-ordering",
)
def changes(case: WritingCase) -> None:
    """Keys are found and versions compete whatever the types of their columns.

    Given rows whose keys, partitions and ordering values are of other types than texts and longs.
    When updates, marked deletes and a delete by key come in time, late and tied, and rows come again after deletes.
    Then a late version loses, a tie goes to the newer one, and each key is one row; the past reads as it was.
    """
    first = started(case)
    filters(case)
    writes = changed(case)
    case.snapshot()
    is_compacted = case.is_mor and not case.shape.has_completion_times
    if is_compacted:
        case.run("compaction", COMPACTION_DUE)
    last = come_back(case)
    case.shows(kills=ORDERED[case.shape.label])
    # Where rows come again after deletes in logs alone, two clauses with two readings decide what a range has.
    ended(case, first, *writes, last, ranges=is_compacted or not case.is_mor)


@writing(
    "typed/indexed",
    (
        *typed(KINDS, (9,), (MOR,), configs=WITH_STATISTICS),
        *typed(("date_keys", "decimal_keys", "text_keys", "two_keys"), (9,), (COW,), configs=WITH_STATISTICS),
        *typed(("int_keys", "text_keys", "two_keys"), (8,), (MOR,), configs=WITH_STATISTICS),
        *typed(("moment_keys", "text_keys", "three_keys"), (6,), (MOR,), configs=WITH_STATISTICS),
    ),
    "MT-003 MT-005 MT-011 MT-014 IX-021 IX-051 IX-053 IX-055",
    "metadata-never-updated stale-entries-kept",
)
def indexed(case: WritingCase) -> None:
    """Indexes of keys and columns of any type follow updates, deletes and services.

    Given rows of many types, and statistics, bloom filters and a record index, built after the first write.
    When updates and deletes come in time and late, logs are compacted or files cleaned, and rows come again.
    Then filters find what is there and nothing else, and the indexes hold what files and rows give.
    """
    first = started(case)
    case.run("indexing", EVERY_INDEX)
    filters(case)
    writes = changed(case)
    filters(case)
    case.sound()
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    last = come_back(case)
    ended(case, first, *writes, last)


@writing(
    "typed/started_in_bulk",
    (
        *typed(("moment_keys", "decimal_keys", "two_keys"), (9,), (MOR,)),
        *typed(("date_keys", "moment_keys", "text_keys"), (6,), (COW,)),
        *typed(("three_keys",), (8,), (COW,)),
    ),
    "DM-002 DM-031 OW-003 OW-012",
    "tagging-sees-nothing",
)
def started_in_bulk(case: WritingCase) -> None:
    """A bulk insert spells keys and partitions as every other operation does.

    Given rows of many types that a bulk insert wrote, in two writes.
    When an upsert changes all of them, a delete takes some by key, and an insert overwrite follows.
    Then each key is one row, those that were deleted are gone, and of the overwritten partitions the new rows are left.
    """
    kind = kind_of(case)
    case.schema = kind.schema
    case.create()
    case.write("bulk_insert", kind.rows(range(4), LOW))
    case.write("bulk_insert", kind.rows((4, 5), LOW))
    case.write("upsert", kind.rows(range(6), HIGH))
    case.state()
    case.write("delete", kind.rows((1, 4), TOP))
    case.snapshot()
    case.write("insert_overwrite", kind.rows((0,), MIDDLE))
    case.state()


_NESTED: Final = Schema(
    (
        Field("id", "string"),
        Field("city", "string"),
        Field("ts", "int64"),
        Field("old", "timestamp-micros"),
        Field("ones", "list<struct<it:string>>"),
        Field("held", "struct<stops:list<struct<it:int32>>>"),
        Field("grid", "list<list<int64>>"),
        Field("times", "map<string,list<timestamp-micros>>"),
        Field("prices", "map<string,struct<amount:decimal(20,4),day:date>>"),
        Field("deep", "struct<inner:struct<share:float32,local:local-timestamp-micros>,raw:list<binary>>"),
    )
)
_YEARS: Final = (1900, 1969, 1970, 2261, 2263, 9999)


def _nested_row(key: str, city: str, ts: int, number: int) -> Row:
    """A row by its number: each column is null for some, and others hold nulls or nothing at every depth."""
    moment = dt.datetime(_YEARS[number % 6], 10, 4, 23, 59, 59, 999_000 + number, tzinfo=dt.timezone.utc)
    ones: tuple[Value, ...] = (None, [], [None], [{"it": None}], [{"it": f"é{number}"}, None, {"it": ""}])
    stops: tuple[Value, ...] = ([{"it": number}, {"it": None}], None, [], [None])
    grid: tuple[Value, ...] = ([[number, None], [], None], None, [[]], [[-(2**63)], [2**63 - 1]])
    times: tuple[Value, ...] = ({"ä": [moment, None], "": []}, {"z": None}, {}, None)
    prices: tuple[Value, ...] = (
        {"a": {"amount": Decimal("-1234567890123456.7890"), "day": dt.date(1969, 12, 31)}, "b": None},
        {"c": {"amount": None, "day": None}},
        None,
    )
    inner: Value = {"share": number / 8, "local": moment.replace(tzinfo=None)}
    deep: tuple[Value, ...] = (
        {"inner": inner, "raw": [b"", bytes([number, 255]), None]},
        {"inner": None, "raw": None},
        None,
        {"inner": {"share": None, "local": None}, "raw": []},
    )
    return {
        "id": key,
        "city": city,
        "ts": ts,
        "old": moment,
        "ones": ones[number % 5],
        "held": None if number % 5 == 2 else {"stops": stops[number % 4]},
        "grid": grid[number % 4],
        "times": times[number % 4],
        "prices": prices[number % 3],
        "deep": deep[number % 4],
    }


_FEED: Final = {"hoodie.table.cdc.enabled": "true"}


@writing(
    "typed/every_type",
    (
        *shapes((6, 9)),
        *shapes((8,), (MOR,)),
        *shapes((9,), (MOR,), configs=PARQUET_LOGS, label="parquet_logs"),
        *shapes((6,), label="nested"),
        *shapes((8,), (MOR,), configs=PARQUET_LOGS, label="nested"),
        *shapes((9,), properties=_FEED, partition_by=(), label="nested"),
    ),
    "BF-001 LF-007 DM-001 CL-004 CP-007",
    "event-time-ignores-ordering",
)
def every_type(case: WritingCase) -> None:
    """Values of every logical type, nested ones too, come through writes, logs, compactions and clusterings.

    Given rows with lists, maps and structs, nulls within them, and the ends of ranges; or columns nested twice, lists
    of structs with one field, and moments of the years 1900 to 9999, some in tables with a change feed.
    When they are updated in time and late, deleted, compacted, updated again and clustered.
    Then each value is read as it was written, now, at each time before and in the changes.
    """
    nested = case.shape.label == "nested"
    case.schema, row = (_NESTED, _nested_row) if nested else (ALL_TYPES, row_of_all_types)
    case.create()
    keys = [(f"t{number}", ("oslo", "lima")[number % 2]) for number in range(8)]
    first = case.write("insert", [row(key, city, 10, number) for number, (key, city) in enumerate(keys)])
    updates = [row(key, city, 20 - 15 * (number % 2), number + 3) for number, (key, city) in enumerate(keys[:5])]
    second = case.write("upsert", updates)
    case.state()
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    third = case.write("upsert", [row("t6", "oslo", 30, 1), row("t9", "lima", 30, 4)])
    fourth = case.write("delete", [row("t3", "lima", 40, 2)])
    case.snapshot()
    if case.shape.properties:
        case.changes(None)
    case.run("clustering", CLUSTERING_DUE)
    case.state()
    case.past(first, second, third, fourth)
    wanted: tuple[Any, ...] = (["small", "<", 0], ["and", ["tags", "is_null"], ["single", ">=", 0]])
    if nested:
        wanted = (["old", "<", "1970-01-01T00:00:00.000000Z"], ["and", ["ones", "is_null"], ["held", "is_not_null"]])
    for form in wanted:
        case.filtered(form)
    case.sound()


def _of_all_types(case: WritingCase) -> None:
    """Eight rows of every logical type, four of them written again."""
    case.schema = ALL_TYPES
    case.create()
    keys = [(f"t{number}", ("oslo", "lima")[number % 2]) for number in range(8)]
    case.write("insert", [row_of_all_types(key, city, 10, number) for number, (key, city) in enumerate(keys)])
    case.write("upsert", [row_of_all_types(key, city, 20, number + 3) for number, (key, city) in enumerate(keys[:4])])


_MOMENT: Final = "1972-03-06T23:59:59"
_WANTED: Final[tuple[Any, ...]] = (
    ["flag", "=", True],
    ["flag", "!=", True],
    ["small", "in", [-(2**31), 7]],
    ["small", "in", [*range(40), 2**31 - 1]],
    ["not", ["small", "in", [*range(40), 50]]],
    ["small", "in", []],
    ["small", ">", 2**31 - 2],
    ["ts", "<=", 10],
    ["amount", "<", "0"],
    ["amount", "=", "-1234567890123456.789"],
    ["amount", ">=", 5],
    ["amount", "in", ["1234567890123456.78900", "0"]],
    ["bytes", "=", "0001FF"],
    ["bytes", ">", "0003"],
    ["day", "<", "1582-10-16"],
    ["day", "in", ["9999-12-31"]],
    ["noon", ">=", "23:59:59.999996"],
    ["noon", "!=", "23:59:59.999998"],
    ["seen", "<=", f"{_MOMENT}.000001Z"],
    ["seen", ">", "1971-02-04T23:59:59.999999Z"],
    ["seen_ms", "=", f"{_MOMENT[:-2]}59.003000Z"],
    ["local", ">", f"{_MOMENT}.000000"],
    ["id", ">=", "t6"],
    ["city", "!=", "oslo"],
    ["tags", "is_null"],
    ["counts", "is_not_null"],
    ["place", "is_null"],
    ["not", ["or", ["flag", "is_null"], ["amount", "is_null"], ["bytes", "is_null"]]],
    ["and", ["flag", "is_not_null"], ["small", "<", 7], ["not", ["id", "=", "t1"]]],
    ["or", ["and", ["flag", "=", False], ["noon", "is_not_null"]], ["small", "=", 7]],
)
_REFUSED: Final[tuple[Any, ...]] = (
    *(["nobody", "=", 1], ["small", "like", 1], ["small", "="], ["small"], ["and"], ["not", ["small", "=", 1], []]),
    *(["small", "in", 1], [["fn", "sqrt", "small"], "=", 1], [["fn", "lower", "small"], "=", "x"], [3, "=", 1]),
    *(["small", "=", "x"], ["small", "=", 1.5], ["small", "=", True], ["id", "=", 5], ["flag", "=", 1]),
    *(["amount", "=", "much"], ["amount", "=", 1.5], ["bytes", "=", "0g"], ["day", "=", "2024-02-30"]),
    *(
        ["day", "=", 5],
        ["noon", "=", "25:00:00.000000"],
        ["seen", "<", "2024-01-01T00:00:00.000000"],
        ["ts", "=", "1.5"],
    ),
    *([["fn", "date_add", "day"], "is_null"], [["fn", "from_unixtime", "id"], "is_null"], ["tags", "=", 1]),
)


@writing(
    "typed/filtered",
    (
        *shapes((9,), (MOR,)),
        *shapes((6,), (COW,)),
        *shapes((8,), (COW,), configs=WITH_STATISTICS, label="indexed"),
    ),
    "RD-012 IX-051 DM-001",
    "filter-ignored",
)
def filtered(case: WritingCase) -> None:
    """Values of every type are compared in their type, and a null leaves a comparison unknown.

    Given rows of every logical type with nulls, the ends of ranges, dates before 1600 and decimals of many digits.
    When filters compare each column, with values between, with several, with none, with null, and combine them.
    Then each finds the rows for which it is true.
    """
    _of_all_types(case)
    for form in _WANTED:
        case.filtered(form)


@writing("typed/filters_refused", shapes((9,), (MOR,)), "RD-012", "no-filter-is-refused")
def filters_refused(case: WritingCase) -> None:
    """What is no filter of the table is refused.

    Given rows of every logical type.
    When filters name no column, no operator or no function, or give a value that is not of the column's type.
    Then each is refused, and none finds a row.
    """
    _of_all_types(case)
    for form in _REFUSED:
        case.query("read_snapshot", filter=form, reject="CONFIG_INVALID")
    case.snapshot()


_NAMED: Final = Schema(
    (
        Field("who", "struct<id:string,city:string>"),
        Field("at", "struct<ts:int64,zone:string>"),
        Field("id", "string"),
        Field("city", "string"),
        Field("ts", "int64"),
        Field("note", "string"),
    )
)
_INSIDE: Final[dict[str, Any]] = {"record_key": ("who.id",), "partition_by": ("who.city",), "ordering": ("at.ts",)}


def _named(key: str, city: str | None, ts: int, note: str) -> Row:
    """A row by its parts; columns of the same names hold what would make other rows, folders and winners of them."""
    other: Row = {"id": f"k{ts % 7}", "city": {"oslo": "lima"}.get(city or "", "oslo"), "ts": -ts}
    return {"who": {"id": key, "city": city}, "at": {"ts": ts, "zone": None}, **other, "note": note}


@writing(
    "typed/parts_of_structs",
    (*shapes((6, 9), **_INSIDE), *shapes((9,), (MOR,), configs=WITH_STATISTICS, label="indexed", **_INSIDE)),
    "DM-002 DM-031 MG-003 OW-003",
    "event-time-ignores-ordering",
)
def parts_of_structs(case: WritingCase) -> None:
    """Keys, partitions and ordering values may be parts of structs, also where columns have the names of the parts.

    Given rows whose key and city are parts of one struct, and whose ordering value is part of another, beside columns
    of the same names with other values; one of them has no city.
    When updates come in time, late and tied, rows are deleted, and in logs compacted, and rows come again.
    Then each key is one row in its partition, with the newest of its versions, and filters on the columns find theirs.
    """
    case.schema = _NAMED
    case.create()
    rows = [_named(f"k{number}", ("oslo", "lima")[number % 2], 10, "new") for number in range(6)]
    first = case.write("insert", [*rows, _named("k6", None, 10, "new")])
    second = case.write(
        "upsert", [_named("k0", "oslo", 20, "later"), _named("k1", "lima", 5, "late"), _named("k2", "oslo", 10, "tied")]
    )
    case.state()
    third = case.write("delete", [_named("k3", "lima", 30, ""), _named("k4", "oslo", 30, "")])
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
    fourth = case.write("upsert", [_named("k3", "lima", 40, "again"), _named("k0", "oslo", 15, "late")])
    case.state()
    case.snapshot(columns=["note"], meta_columns=False)
    case.past(first, second, third, fourth)
    case.filtered(["who", "is_not_null"])
    for form in (["city", "=", "oslo"], ["id", "=", "k3"], ["ts", "<", -15]):
        case.filtered(form)
    case.sound()


_COUNTED: Final = Schema(
    (
        *(Field("id", "string"), Field("city", "string"), Field("ts", "int64")),
        *(Field("name", "string"), Field("count", "int64"), Field("tags", "list<string>")),
    )
)


def _merged_by(merger: RecordMerger, column: str, label: str) -> tuple[TableShape, ...]:
    stated = {
        "hoodie.record.merge.strategy.id": merger.strategy,
        "hoodie.record.merge.property.hudi.conformance.columns": column,
    }
    traits: dict[str, Any] = {"merge_mode": "CUSTOM", "properties": stated, "label": label}
    return (*shapes((9,), **traits), *shapes((8,), (MOR,), **traits))


def _counted(key: str, ts: int, count: int | None, *tags: str) -> Row:
    return {
        "id": key,
        "city": ("oslo", "lima")[ord(key) % 2],
        "ts": ts,
        "name": f"at {ts}",
        "count": count,
        "tags": [*tags],
    }


@writing(
    "typed/merged_by_mergers",
    (
        *_merged_by(COUNTER, "count", "counter"),
        *_merged_by(DELETE_AT_ZERO, "count", "at_zero"),
        *_merged_by(SET_UNION, "tags", "union"),
    ),
    "RM-001 RM-002 RM-003 OW-003 CL-004",
    "merger-takes-newer",
)
def merged_by_mergers(case: WritingCase) -> None:
    """Whoever writes, compacts or clusters a table with a merger merges by it.

    Given rows that are merged by a sum, by one that deletes at zero, or by the union of lists.
    When upserts change them, a compaction and a clustering write them anew, one is deleted and comes again.
    Then each row is what the merger makes of all its versions, now, as of each write and in ranges.
    """
    case.schema = _COUNTED
    case.create()
    first = case.write("insert", [_counted(key, 10, number, key) for number, key in enumerate("abcdef")])
    second = case.write(
        "upsert",
        [_counted("b", 20, 10, "x", "é"), _counted("c", 5, -2, "a"), _counted("d", 20, None), _counted("g", 20, 7)],
    )
    case.state()
    if case.is_mor:
        case.run("compaction", COMPACTION_DUE)
        case.optimized()
    third = case.write("delete", [_counted("e", 30, 1)])
    fourth = case.write("upsert", [_counted("e", 40, 1, "e"), _counted("c", 40, 5, "z"), _counted("f", 9, -5)])
    case.state()
    case.run("clustering", CLUSTERING_DUE)
    case.state()
    case.past(first, second, third, fourth)
    case.filtered(["count", ">", 5])
