"""Indexes and pruning: keys, statistics, what a filter may be, and which slices are left to read."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hudi_conformance.verification.properties.histories import Shape
from hudi_model import metadata
from hudi_model.actions import IndexDefinition
from hudi_model.creation import create_table
from hudi_model.effects import CommitMetadataTable, perform
from hudi_model.files import Field, Record, Schema
from hudi_model.filters import evaluate
from hudi_model.indexes import joined, secondary_key, statistics, together
from hudi_model.metadata import rows_of, valid, view_of
from hudi_model.pruning import ANY, Facts, kept_slices, possible, read_pruned, within
from hudi_model.queries import Selection, read_snapshot, validated_snapshot
from hudi_model.requests import Operation, Request
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.writers import write
from hypothesis import given
from hypothesis import strategies as st

EVERY = {"hoodie.metadata.enable": "true", **dict.fromkeys(metadata.OPTIONAL, "true")}
NOTHING = Facts(lambda *_: (), lambda *_: False)


def table_of(fields: dict[str, str], *rows: dict[str, Any], indexes: Sequence[IndexDefinition] = ()) -> Table:
    """A table without partitions, each row in a file group of its own, every index built."""
    schema = Schema(tuple(Field(name, kind) for name, kind in fields.items()))
    properties = {**Shape(partitioned=False, mode="COMMIT_TIME_ORDERING").properties()}
    table = create_table({**properties, "hoodie.table.ordering.fields": ""}, schema)
    for number, row in enumerate(rows):
        request = Request(Operation.INSERT, (Record(row),))
        table = write(table, request, tick(2 * number + 1), tick(2 * number + 2))
    table = perform(table, metadata.configured_effects(table, EVERY))
    built = metadata.with_indexes(table, [*(one for one in valid(table).indexes), *indexes])
    names = [one.name for one in built.indexes]
    return perform(table, (CommitMetadataTable(built), metadata.listing(table, names)))


def kept(table: Table, form: Any) -> int:
    """How many slices a filter leaves; its answer must be that without indexes."""
    assert read_pruned(table, form).rows == read_snapshot(table, selection=Selection(filter=form)).rows
    view = view_of(table)
    return len(kept_slices(view, validated_snapshot(view), form))


@pytest.mark.parametrize(
    ("value", "key", "text"),
    [
        ("n9", "k1", "n9$k1"),
        (None, "k1", "\0$k1"),
        ("", "k1", "$k1"),
        ("a$b", "k\\1", "a\\$b$k\\\\1"),
        (7, "k1", "7$k1"),
    ],
)
def test_the_key_of_a_secondary_index(value: Any, key: str, text: str) -> None:
    """The dollar sign parts value and key, and is escaped in both; null and the empty text differ."""
    assert secondary_key(value, key) == text


@given(st.lists(st.tuples(st.text("a$\\\0", max_size=3), st.text("a$\\", max_size=3)), max_size=8))
def test_no_two_pairs_have_one_secondary_key(pairs: list[tuple[str, str]]) -> None:
    """Whatever signs values and keys hold."""
    assert len({secondary_key(*one) for one in pairs}) == len(set(pairs))


@pytest.mark.parametrize("values", [[1, math.nan], [[1]], [{"a": 1}], [b"x"], ["x", b"y"]])
def test_values_without_order_have_no_statistics(values: list[Any]) -> None:
    """Lists, maps, bytes and not-a-number: unknown, not null."""
    assert statistics(values) is None


def test_statistics_of_nothing_and_of_nulls() -> None:
    """No values differ from null values, and both from unknown ones."""
    assert statistics([]) == [None, None, 0, 0]
    assert statistics([None]) == [None, None, 1, 1]
    assert together([[1, 2, 0, 2], [None, None, 1, 1], [0, 1, 0, 3]]) == [0, 2, 1, 6]
    assert together([[1, 2, 0, 2], None]) is None
    assert together([]) is None
    assert together([[1.5, math.nan, 0, 2], [2.5, 2.5, 0, 1]]) is None


def test_not_a_number_may_lie_beyond_the_bounds() -> None:
    """Writers leave it out of bounds, and it compares with no number."""
    assert within([0.5, 1.5, 0, 3], "<", [2.0], "float64") == frozenset({True, False})
    assert within([0.5, 1.5, 0, 3], ">=", [0.25], "float32") == frozenset({True, False})
    assert within([0, 1, 0, 3], "<", [2], "int64") == frozenset({True})


WORDS = ("=", "!=", "<", "<=", ">", ">=", "in", "is_null", "is_not_null")
SMALL = st.integers(-2, 2)
COLUMNS = Schema((Field("x", "int64"), Field("y", "int64")))


@st.composite
def comparisons(draw: st.DrawFn) -> list[Any]:
    """A comparison of one of two columns."""
    name, word = draw(st.sampled_from("xy")), draw(st.sampled_from(WORDS))
    value = draw(st.lists(SMALL, max_size=3)) if word == "in" else draw(st.none() | SMALL)
    return [name, word] if word.startswith("is_") else [name, word, value]


FILTERS = st.recursive(
    comparisons(),
    lambda part: st.one_of(
        st.builds(
            lambda word, parts: [word, *parts], st.sampled_from(("and", "or")), st.lists(part, min_size=1, max_size=3)
        ),
        part.map(lambda one: ["not", one]),
    ),
    max_leaves=5,
)


@given(
    st.lists(st.fixed_dictionaries({"x": st.none() | SMALL, "y": st.none() | SMALL}), max_size=4),
    FILTERS,
    st.sets(st.sampled_from("xy")),
)
def test_what_a_filter_is_for_a_row_is_among_what_it_may_be(
    rows: list[dict[str, Any]], form: Any, known: set[str]
) -> None:
    """Whichever columns have statistics."""
    ranges = {name: statistics([row[name] for row in rows]) for name in known}
    facts = Facts(lambda _, column: [found] if (found := ranges.get(column)) else (), lambda *_: False)
    assert {evaluate(form, row, COLUMNS) for row in rows} <= possible(form, facts, COLUMNS)


def test_statistics_of_another_kind_say_nothing() -> None:
    """A file from before a column became text."""
    assert within([9, 10, 0, 2], "<", ["9"], "string") == ANY


def test_without_facts_anything_may_be() -> None:
    """Also what looks contradictory."""
    assert possible(["and", ["x", "=", 1], ["x", "=", 2]], NOTHING, COLUMNS) == ANY


def test_record_keys_are_compared_as_text() -> None:
    """Number keys 9 and 10: by the key and by its column the row is found, and only its slice is read."""
    table = table_of({"id": "int64"}, {"id": 9}, {"id": 10})
    assert kept(table, ["_hoodie_record_key", "=", "9"]) == 1
    assert kept(table, ["id", "=", 9]) == 1
    assert kept(table, ["_hoodie_record_key", "<", "9"]) == 1
    assert kept(table, ["id", "<", 10]) == 1


def test_a_column_without_statistics_beside_one_with() -> None:
    """In an `and` the known part prunes, in an `or` it does not."""
    table = table_of({"id": "string", "blob": "binary"}, {"id": "a", "blob": b"x"}, {"id": "b", "blob": b"x"})
    assert kept(table, ["and", ["id", "=", "a"], ["blob", "=", "78"]]) == 1
    assert kept(table, ["or", ["id", "=", "a"], ["blob", "=", "78"]]) == 2
    assert kept(table, ["not", ["id", "=", "a"]]) == 1


def test_each_index_prunes() -> None:
    """One index alone reads one slice of two; the expression index for its own function only."""
    rows = ({"id": "a", "note": "One"}, {"id": "c", "note": "two"}, {"id": "b", "note": "ONE"})
    own = (
        IndexDefinition("secondary_index_note", "secondary_index", "identity", ("note",)),
        IndexDefinition("expr_index_lower", "column_stats", "lower", ("note",)),
        IndexDefinition("expr_index_upper", "bloom_filters", "upper", ("note",)),
    )
    table = table_of({"id": "string", "note": "string"}, *rows, indexes=own)

    def alone(*names: str) -> Table:
        return perform(table, metadata.drop(table, sorted(metadata.built(table) - {"files", *names})))

    assert kept(alone("bloom_filters"), ["id", "=", "b"]) == 1
    assert kept(alone("record_index"), ["id", "in", ["b", "x"]]) == 1
    assert kept(alone("column_stats"), ["id", "=", "b"]) == 1
    assert kept(alone("partition_stats"), ["id", "=", "z"]) == 0
    assert kept(alone("partition_stats"), ["id", "=", "b"]) == 3
    assert kept(alone("record_index", "secondary_index_note"), ["note", "=", "two"]) == 1
    assert kept(alone("secondary_index_note"), ["note", "=", "two"]) == 3
    assert kept(alone("expr_index_lower"), [["fn", "lower", "note"], "=", "one"]) == 2
    assert kept(alone("expr_index_lower"), [["fn", "upper", "note"], "=", "ONE"]) == 3
    assert kept(alone("expr_index_upper"), [["fn", "upper", "note"], "=", "TWO"]) == 1
    assert kept(alone(), ["id", "=", "b"]) == 3
    many = ["b", *(f"nobody {number}" for number in range(200))]
    assert kept(alone("column_stats"), ["id", "in", many]) == 1, "a long list ends, too"


def test_a_partitioned_record_index_knows_a_key_in_each_partition() -> None:
    """The same key in two partitions: two entries, and each slice is found by its own."""
    schema = Schema((Field("id", "string"), Field("day", "string"), Field("ts", "int64"), Field("note", "string")))
    table = create_table(Shape().properties(), schema)
    for number, day in enumerate(("d1", "d2")):
        row = Record({"id": "a", "day": day, "ts": 1, "note": day})
        table = write(table, Request(Operation.UPSERT, (row,)), tick(2 * number + 1), tick(2 * number + 2))
    index = IndexDefinition("record_index", "record_index", is_partitioned=True)
    built = metadata.with_indexes(table, (metadata.FILES, index))
    table = perform(table, (CommitMetadataTable(built), metadata.listing(table, ["files", "record_index"])))
    assert set(rows_of(view_of(valid(table)))["record_index"]) == {joined("d1", "a"), joined("d2", "a")}
    assert kept(table, ["id", "=", "a"]) == 2
    assert kept(table, ["and", ["id", "=", "a"], ["day", "=", "d2"]]) == 1
    assert kept(table, ["id", "=", "b"]) == 0
