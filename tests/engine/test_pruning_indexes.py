"""Indexes of records and of expressions: which of them answers for a filter, and that no matching row is left out."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest
from hudi_format.errors import FormatError
from hudi_format.metadata.records import RecordLocation
from hudi_format.storage import open_storage
from hudi_format.table.index_definitions import IndexDefinition, parse_index_definitions
from hudi_spark.filters import Column, filter_of, mask
from hudi_spark.pruning import PruningQuery
from hudi_spark.pruning.facts import may_hold
from hudi_spark.pruning.keys import by_record_index, by_secondary_index
from hudi_spark.pruning.situation import Situation, is_of
from hudi_spark.schema import Origins
from hudi_spark.table_state import PartitionStyle
from hudi_spark.testing import FileSlice, Snapshot, TableConfiguration
from hypothesis import given, settings
from hypothesis import strategies as st

_SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("v", pa.string())])
_ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["", "x", "y"]), st.none() | st.sampled_from(["p", "q", "$"])),
    unique_by=lambda row: row[:2],
    max_size=6,
)


def _definition(function: str, *fields: str, **options: str) -> IndexDefinition:
    return IndexDefinition("expr_index_i", "column_stats", function, fields, options)


@pytest.mark.parametrize(
    ("definition", "column", "matches"),
    [
        (_definition("lower", "v"), Column("v", "lower"), True),
        (_definition("LOWER", "v", expr="lower"), Column("v", "lower"), True),
        (_definition("lower", "b"), Column("v", "lower"), False),
        (_definition("upper", "v"), Column("v", "lower"), False),
        (_definition("", "v"), Column("v"), True),
        (_definition("lower", "v"), Column("v"), False),
        (_definition("from_unixtime", "a"), Column("a", "from_unixtime", ("yyyy-MM-dd HH:mm:ss",)), True),
        (_definition("from_unixtime", "a", format="yyyy"), Column("a", "from_unixtime"), False),
        (_definition("date_format", "v", format="yyyy"), Column("v", "date_format", ("yyyy",)), True),
        (_definition("substring", "v", pos="1", len="2"), Column("v", "substring", (1, 2)), True),
        (_definition("substring", "v", pos="1", len="2"), Column("v", "substring"), False),
        (_definition("substring", "v", len="2"), Column("v", "substring", (1, 2)), False),
        (_definition("substring", "v", pos="one", len="2"), Column("v", "substring", (1, 2)), False),
        (_definition("trim", "v"), Column("v", "trim", (" ",)), True),
        (_definition("soundex", "v"), Column("v", "lower"), False),
    ],
)
def test_an_index_answers_for_its_own_function_arguments_and_column(
    definition: IndexDefinition, column: Column, *, matches: bool
):
    """A filter on the same function of the same column may use it, no other."""
    assert is_of(definition, column) is matches


def test_definitions_are_read_as_released_ones_stand():
    """Fields that 1.0.2 leaves out, and nulls."""
    one = {"indexName": "secondary_index_i", "indexType": "secondary_index", "indexFunction": None}
    found = parse_index_definitions(
        json.dumps({"indexDefinitions": {"i": {**one, "sourceFields": ["v"]}}}).encode(), "f"
    )
    assert found == (IndexDefinition("secondary_index_i", "secondary_index", "", ("v",), {}, "V1"),)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"\xff", b'{"indexDefinitions": []}', b'{"indexDefinitions": {"i": 3}}', b"[" * 100_000]
    + [json.dumps({"indexDefinitions": {"i": one}}).encode() for one in ({}, {"indexName": "i", "sourceFields": [1]})],
)
def test_what_is_no_definition_is_refused(content: bytes):
    """One typed error for whatever else stands in the file."""
    with pytest.raises(FormatError) as caught:
        parse_index_definitions(content, "f")
    assert caught.value.reason == "PROPERTIES_INVALID"


@dataclass
class _Metadata:
    """The two lookups of a metadata table, from rows."""

    slices: Mapping[FileSlice, list[Any]]
    keyed: Any
    lookups: list[str] = field(default_factory=list)

    def partitions(self) -> tuple[str, ...]:
        return ("record_index", "secondary_index_v")

    def record_locations(self, keys: Iterable[str]) -> Mapping[str, tuple[RecordLocation, ...]]:
        self.lookups += (wanted := list(keys))
        places = {self.keyed(row): one for one, rows in self.slices.items() for row in rows}
        return {
            key: (RecordLocation(places[key].partition, places[key].file_id, 0),) for key in wanted if key in places
        }

    def secondary_keys(self, _: str, values: Iterable[str | None]) -> Mapping[str | None, frozenset[str]]:
        rows = [row for rows in self.slices.values() for row in rows]
        return {value: frozenset(self.keyed(row) for row in rows if row[2] == value) for value in values}


def _configuration(keys: tuple[str, ...]) -> TableConfiguration:
    return TableConfiguration(
        name="t",
        table_type="MERGE_ON_READ",
        version=9,
        timeline_layout=2,
        timeline_folder=".hoodie/timeline",
        record_key=keys,
        partition_by=(),
        ordering=(),
        populates_meta_fields=True,
        key_generator="SIMPLE" if len(keys) == 1 else "COMPLEX",
        payload_class=None,
        create_schema=None,
        partitions=PartitionStyle(),
        bootstrap_base=None,
        properties={},
    )


def _situation(form: Any, metadata: Any, keys: tuple[str, ...], tmp_path: Any, *, latest: bool = True) -> Situation:
    query = PruningQuery(filter_of(form, _SCHEMA), _SCHEMA, {}, latest=latest, merges_own=False)
    configuration = _configuration(keys)
    snapshot = Snapshot(configuration, None, (), None, tuple(metadata.slices))  # type: ignore[arg-type]
    definition = IndexDefinition("secondary_index_v", "secondary_index", "identity", ("v",), {}, "V2")
    return Situation(
        open_storage(tmp_path), snapshot, Origins(configuration, None, None), query, metadata, (definition,)
    )


_FORMS = st.sampled_from(
    [
        ["a", "=", 1],
        ["a", "in", [0, 2]],
        ["not", ["a", "=", 1]],
        ["and", ["a", "=", 1], ["b", "=", "x"]],
        ["and", ["a", "in", [1, 2]], ["b", "in", ["", "y", None]], ["v", "=", "p"]],
        ["or", ["a", "=", 1], ["b", "=", "x"]],
        ["or", ["v", "=", "$"], ["a", "=", 3]],
        ["v", "in", ["p", None]],
        ["and", ["v", "!=", "q"], ["a", "<", 2]],
        ["not", ["and", ["a", "=", 1], ["b", "=", "x"]]],
    ]
)


@settings(deadline=None)
@given(groups=st.lists(_ROWS, min_size=1, max_size=3), form=_FORMS, single=st.booleans(), named=st.booleans())
@pytest.mark.parametrize("means", [by_record_index, by_secondary_index])
def test_slices_with_a_row_that_matches_stay(
    *, means: Any, groups: list[list[Any]], form: Any, single: bool, named: bool, tmp_path_factory: Any
):
    """Keys of one field, with its name or bare, and of several; values in lists, under `or` and under `not`."""
    keys = ("a",) if single else ("a", "b")
    seen: set[Any] = set()
    slices = {}
    for number, rows in enumerate(groups):
        fresh = [row for row in rows if (row[0] if single else row[:2]) not in seen]
        fresh = list({(row[0] if single else row[:2]): row for row in fresh}.values())
        seen |= {(row[0] if single else row[:2]) for row in fresh}
        slices[FileSlice("p", f"f{number}", "1", "x.parquet", ())] = fresh

    def keyed(row: Any) -> str:
        if single:
            return f"a:{row[0]}" if named else str(row[0])
        return f"a:{row[0]},b:{row[1] or '__empty__'}"

    situation = _situation(form, _Metadata(slices, keyed), keys, tmp_path_factory.getbasetemp())
    source = means(situation, tuple(slices))
    for one, rows in slices.items():
        table = pa.table(list(zip(*rows, strict=True)) or [[], [], []], _SCHEMA)
        kept = source is None or may_hold(
            situation.query.condition, lambda c, s=one: source(s, c), situation.query.values_of
        )
        assert kept or True not in mask(situation.query.condition, table).to_pylist()


def test_a_key_is_in_its_own_slice_only(tmp_path: Any):
    """The record index leaves out every other slice; of an older state, or beside ordering values, it says nothing.

    Released writers take the key of a late delete away, though the row wins (`indexes/late_deletes`).
    """
    slices = {FileSlice("p", f"f{number}", "1", "x", ()): [(number, "x", None)] for number in range(3)}
    metadata = _Metadata(slices, lambda row: str(row[0]))
    situation = _situation(["a", "=", 1], metadata, ("a",), tmp_path)
    source = by_record_index(situation, tuple(slices))
    assert source is not None
    kept = [
        may_hold(situation.query.condition, lambda c, s=one: source(s, c), situation.query.values_of) for one in slices
    ]
    assert kept == [False, True, False]
    assert by_record_index(_situation(["a", "=", 1], metadata, ("a",), tmp_path, latest=False), tuple(slices)) is None
    compared = replace(situation.snapshot.configuration, ordering=("b",))
    ordered = replace(situation, snapshot=replace(situation.snapshot, configuration=compared))
    assert by_record_index(ordered, tuple(slices)) is None
