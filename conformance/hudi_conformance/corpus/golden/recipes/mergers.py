"""Custom merging by the reference mergers, and what a merger that nobody has means."""

from hudi_model.files import Field, Schema
from hudi_model.merging import COUNTER, DELETE_AT_ZERO, GREATER_OF_TWO, SET_UNION

from hudi_conformance.corpus.golden.layout import Layout, merge_on_read
from hudi_conformance.corpus.golden.questions import GoldenTable, golden
from hudi_conformance.corpus.golden.recipes.partial_updates import update
from hudi_conformance.corpus.golden.rides import RIDES, Row, fleet, rides, second

_COUNTED = Schema((Field("id", "string"), Field("ts", "int64"), Field("name", "string"), Field("count", "int64")))
_COLUMNS = "hoodie.record.merge.property.hudi.conformance.columns"
_CUSTOM = ("merge-custom",)


def _layout(version: int, strategy: str, columns: str, schema: Schema = _COUNTED, **traits: object) -> Layout:
    """A table that names a merger and its columns; version 8 names the default payload class beside it."""
    properties = {
        "hoodie.record.merge.mode": "CUSTOM",
        "hoodie.record.merge.strategy.id": strategy,
        _COLUMNS: columns or None,
    }
    return merge_on_read(
        version, schema=schema, partition_by=None, groups_per_partition=1, properties=properties, **traits
    )


def _row(key: str, ts: int, name: str, count: int | None) -> Row:
    return {"id": key, "ts": ts, "name": name, "count": count}


def _count(table: GoldenTable) -> None:
    table.insert(second(1), [_row(key, 1, "first", number) for number, key in enumerate("abcde")])
    added = [_row("b", 2, "second", 10), _row("c", 2, "second", None), _row("e", 2, "second", 50)]
    table.upsert(second(2), [*added, _row("f", 2, "alone", 7)])
    table.upsert(second(3), [_row("b", 3, "third", 100), _row("d", 3, "third", -3)], deletes={("", "e"): 3})
    table.delete(second(4), "", "a")
    table.upsert(second(5), [_row("e", 4, "again", 1)])


def _query_count(table: GoldenTable) -> None:
    table.snapshot(
        "snapshot",
        "counts of all versions are summed, and go on after a delete",
        "RM-001 RM-002 RM-003 RM-004 RM-007",
        "merger-takes-newer merger-columns-ignored sums-forgotten-on-delete",
    )
    table.as_of(
        second(3.7), "as-of", "the deleted row is gone, its count is not", "RM-003 RM-004", "merger-takes-newer"
    )
    table.snapshot(
        "projection",
        "the column that is summed need not be requested",
        "RM-001 RD-012",
        "deletes-ignored",
        columns=["id"],
    )
    table.info("table-info", "the merge mode is custom", "MG-012", "mode-always-event-time")


@golden(
    "v9/mor_merger_counter",
    "Reference merger: a counter",
    _layout(9, COUNTER.strategy, "count"),
    _CUSTOM,
    also=(8,),
    titles={8: "Reference merger: a counter, in version 8"},
)
def counter(table: GoldenTable) -> None:
    """Counts that grow, shrink, are null, meet a delete with and without ordering value, and go on after one."""
    _count(table)
    _query_count(table)


@golden(
    "v9/mor_merger_delete_at_zero",
    "Reference merger: delete at zero",
    _layout(9, DELETE_AT_ZERO.strategy, "count"),
    _CUSTOM,
)
def delete_at_zero(table: GoldenTable) -> None:
    """Counts that come to zero and leave it again, a zero that stands alone, and tombstones, which take nothing."""
    _count(table)
    table.upsert(second(6), [_row("b", 5, "down", -111), _row("d", 5, "up", 2), _row("g", 5, "alone", 0)])
    table.upsert(second(7), [_row("f", 6, "down", -7)])
    table.snapshot(
        "snapshot",
        "rows whose counts come to zero are deleted, others are not",
        "RM-002 RM-004 RM-010",
        "zero-kept merger-takes-newer",
    )
    table.as_of(second(3.7), "as-of", "a row at zero may come back", "RM-004 RM-010", "zero-kept")


@golden(
    "v9/mor_merger_greater_of_two",
    "Reference merger: the greater of two columns",
    _layout(9, GREATER_OF_TWO.strategy, "", ordering=("ts", "count")),
    _CUSTOM,
    also=(8,),
)
def greater_of_two(table: GoldenTable) -> None:
    """Records that differ in the first column, in the second alone, not at all; tombstones with and without both."""
    table.insert(second(1), [_row(key, 10, "first", 5) for key in "abcdefg"])
    second_batch = [_row("a", 11, "second", 1), _row("b", 10, "second", 6), _row("c", 10, "second", 4)]
    ties = [_row("d", 10, "second", 5), _row("e", 9, "second", 9), _row("f", 10, "second", None)]
    table.upsert(second(2), [*second_batch, *ties], deletes={("", "g"): (10, 6)})
    table.delete(second(3), "", "a", "b")
    table.upsert(second(4), deletes={("", "c"): (10, 4)})
    table.snapshot(
        "snapshot",
        "the first column decides, then the second, and a tie is the newer's",
        "RM-002 RM-005 RM-008",
        "greater-by-first-alone merger-takes-newer",
    )
    table.as_of(second(2.7), "as-of", "so it is before the last deletes", "RM-008", "greater-by-first-alone")


_TAGGED = Schema((Field("id", "string"), Field("ts", "int64"), Field("tags", "list<string>")))


@golden(
    "v9/mor_merger_set_union",
    "Reference merger: set union",
    _layout(9, SET_UNION.strategy, "tags", _TAGGED),
    _CUSTOM,
)
def set_union(table: GoldenTable) -> None:
    """Lists that share members, are empty or null, and go on after a tombstone."""

    def row(key: str, ts: int, tags: list[str] | None) -> Row:
        return {"id": key, "ts": ts, "tags": tags}  # type: ignore[dict-item]

    table.insert(second(1), [row("a", 1, ["é", "b"]), row("b", 1, ["x"]), row("c", 1, None), row("d", 1, ["z", "a"])])
    table.upsert(second(2), [row("a", 2, ["a", "b", "木"]), row("b", 2, []), row("c", 2, ["new"])])
    table.upsert(second(3), [row("a", 3, ["B"])], deletes={("", "b"): 3})
    table.upsert(second(4), [row("b", 4, ["y", "w"])])
    table.snapshot(
        "snapshot",
        "each list holds the members of all versions, once and sorted",
        "RM-001 RM-009 RM-003",
        "merger-takes-newer union-unsorted",
    )


@golden(
    "v9/mor_merger_partial",
    "Reference merger: a counter over partial updates",
    _layout(9, COUNTER.strategy, "count"),
    (*_CUSTOM, "partial-update"),
    also=(8,),
)
def counter_of_partial(table: GoldenTable) -> None:
    """Assignments of the count alone and of the name alone."""
    table.insert(second(1), [_row(key, 1, "first", 1) for key in "abc"])
    update(table, second(2), [{"id": "a", "ts": 2, "count": 10}, {"id": "b", "ts": 2, "count": 20}], "ts", "count")
    update(table, second(3), [{"id": "a", "ts": 3, "name": "third"}], "ts", "name")
    table.snapshot(
        "snapshot", "each column is summed or the last that was assigned", "RM-006 RM-007 MG-021", "partial-as-whole"
    )


@golden(
    "v9/bad_merger_id",
    "A merger that no implementation has",
    merge_on_read(
        9,
        properties={
            "hoodie.record.merge.mode": "CUSTOM",
            "hoodie.record.merge.strategy.id": "6f1d3f7e-7d5c-5d2b-9f58-0d8a7f1c2b3e",
        },
    ),
    _CUSTOM,
)
def bad_merger_id(table: GoldenTable) -> None:
    """A strategy id of nobody's, which is not that of event time either."""
    table.insert(second(1), fleet(10))
    table.upsert(second(2), rides(20, ("r01",)))
    table.snapshot("snapshot", "the table is refused", "RM-002 MG-001", "first-merger-listed")


_OPERATION = Schema((*RIDES.fields, Field("_hoodie_operation", "string")))


@golden(
    "v9/mor_operation_field",
    "Rows of a change log name their operation",
    merge_on_read(9, schema=_OPERATION),
    ("operation-field",),
    also=(6, 8),
)
def operation_field(table: GoldenTable) -> None:
    """Inserted rides; then updates as pairs of before and after, deletes on time and late, and a before alone."""
    table.insert(second(1), [{**row, "_hoodie_operation": "I"} for row in fleet(10)])
    pairs = [
        *rides(20, ("r01",), rider="before", _hoodie_operation="-U"),
        *rides(20, ("r01",), rider="after", _hoodie_operation="U"),
        *rides(20, ("r02", "r11"), _hoodie_operation="D"),
        *rides(5, ("r03",), _hoodie_operation="D"),
        *rides(20, ("r12",), _hoodie_operation="-U"),
    ]
    table.upsert(second(2), pairs)
    table.upsert(second(3), rides(30, ("r11",), rider="again", _hoodie_operation="I"))
    table.snapshot(
        "snapshot",
        "D and -U take rows away, I and U bring them, by their ordering values",
        "MG-014 MG-008",
        "before-image-is-row deleted-flag-ignored",
    )
