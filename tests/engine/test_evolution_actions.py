"""Changes of a schema as actions: values follow their columns, the history is kept, what cannot be is refused."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.storage import LocalStorage, Storage
from hudi_format.table.internal_schema import InternalSchema, PrimitiveType, parse_internal_schema, parse_schema_history
from hudi_format.timeline.commit_metadata import parse_commit_metadata
from hudi_spark import HudiError, Readings, read_arrow
from hudi_spark.options import Options
from hudi_spark.schema import changed, schema_of_avro, writer_schema
from hudi_spark.testing import Effects, SetClock, Snapshot, TableConfiguration, changes_of, load_snapshot
from hudi_spark.write import table_avro
from hudi_spark.write.actions import AlteredSchema, alter_schema, column_type
from hudi_spark.write.schema_metadata import first_schema, put_history, schema_extra_metadata
from hypothesis import given
from hypothesis import strategies as st

VERSIONS = (6, 8, 9)
NESTED = (
    ("id", "string"),
    ("region", "string"),
    ("ts", ["null", "long"]),
    ("n", ["null", "int"]),
    (
        "s",
        ["null", {"type": "record", "name": "s", "fields": [{"name": "a", "type": ["null", "int"], "default": None}]}],
    ),
    ("l", ["null", {"type": "array", "items": ["null", "int"]}]),
    ("m", ["null", {"type": "map", "values": ["null", "string"]}]),
    ("need", "int"),
)


@dataclass(frozen=True, slots=True)
class State:
    storage: Storage
    snapshot: Snapshot
    options: Options = field(default_factory=Options)

    @property
    def configuration(self) -> TableConfiguration:
        return self.snapshot.configuration


def state_of(base: Path, options: dict[str, str] | None = None) -> State:
    storage = LocalStorage(base)
    return State(storage, load_snapshot(storage, Readings()), Options(options or {}))


def table_of(base: Path, version: int = 9, columns: Any = None) -> TableBuilder:
    builder = TableBuilder(base, version) if columns is None else TableBuilder(base, version, columns=columns)
    rows = [row("k1", 1, "one", price=1.5)] if columns is None else []
    builder.commit(1, [builder.base_file(1, rows)] if rows else [])
    return builder


def alter(base: Path, *records: dict[str, Any], now: int = 100) -> AlteredSchema:
    return alter_schema(Effects(LocalStorage(base)), state_of(base), changes_of(records), SetClock(tick(now)))


RENAME = {"change": "rename", "column": "note", "to": "remark"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_renamed_column_keeps_its_values_and_a_dropped_one_comes_back_empty(tmp_path: Path, version: int):
    """Values follow the id of their column, in every table version."""
    table_of(tmp_path, version)
    alter(tmp_path, RENAME, {"change": "drop", "column": "price"}, now=100)
    alter(tmp_path, {"change": "add", "column": "price", "type": "string", "after": "id"}, now=200)
    alter(
        tmp_path,
        {"change": "type", "column": "ts", "type": "long"},
        {"change": "doc", "column": "ts", "doc": "t"},
        now=300,
    )
    rows = read_arrow(tmp_path)
    assert rows.schema.names == ["id", "price", "region", "ts", "remark"]
    assert rows.to_pylist() == [{"id": "k1", "price": None, "region": "north", "ts": 1, "remark": "one"}]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_action_is_a_commit_without_files_with_the_history_beside_it(tmp_path: Path, version: int):
    """What Apache Hudi's ALTER TABLE leaves: operation, both schemas, the history newest first, the first as 0."""
    builder = table_of(tmp_path, version)
    done = alter(tmp_path, RENAME)
    late = "" if version == 6 else f"_{done.completed}"
    metadata = parse_commit_metadata((builder.folder / f"{done.requested}{late}.deltacommit").read_bytes(), "c")
    assert (metadata.operation_type, metadata.write_stats) == ("ALTER_SCHEMA", ())
    names = [one["name"] for one in json.loads(metadata.extra["schema"])["fields"]]
    assert names[0] == "_hoodie_commit_time"
    assert names[5:] == ["id", "region", "ts", "remark", "price"]
    current = parse_internal_schema(metadata.extra["latest_schema"], "c")
    assert [one.id for one in current.fields] == list(range(10))
    folder = tmp_path / ".hoodie" / ".schema"
    kept = sorted(path.name for path in folder.iterdir())
    assert [name.partition(".")[2] for name in kept] == [
        *(["schemacommit"] if version == 6 else []),
        "schemacommit.inflight",
        "schemacommit.requested",
        *([] if version == 6 else ["schemacommit"]),
    ]
    text = next(path for path in folder.iterdir() if path.name.endswith(".schemacommit")).read_text()
    assert [one["version_id"] for one in json.loads(text)["schemas"]] == [int(done.requested), 0]
    assert parse_schema_history(text, "h")[-1] == current


@pytest.mark.parametrize(
    ("version", "word"), [(6, "decimal(10, 2)"), (8, "decimal(10, 2)"), (9, "decimal_fixed(10, 2)[5]")]
)
def test_decimals_have_the_word_that_every_release_of_the_version_knows(tmp_path: Path, version: int, word: str):
    """0.15.0 and 1.0.2 cannot read a table whose history says decimal_fixed; 1.1 reads either."""
    fixed = {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2}
    table_of(tmp_path, version, (*NESTED[:4], ("d", ["null", fixed]), ("l", ["null", {"type": "array", "items": "f"}])))
    alter(tmp_path, {"change": "rename", "column": "n", "to": "m"})
    state = state_of(tmp_path)
    stated = schema_extra_metadata(state, schema_of_avro(table_avro(state.snapshot)), tick(200))
    assert [str(one.fields[9].type) for one in stated.history] == [word, word]
    assert str(stated.history[-1].fields[10].type.element) == word
    assert f'"{word}"' in stated.extra["latest_schema"]
    assert stated.history[-1].schema_id == int(tick(100))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_later_write_states_the_ids_again(tmp_path: Path, version: int):
    """A write after a change repeats the history, or adds its new columns to it under new ids."""
    table_of(tmp_path, version)
    alter(tmp_path, RENAME)
    state = state_of(tmp_path)
    same = schema_extra_metadata(state, schema_of_avro(table_avro(state.snapshot)), tick(200))
    assert parse_internal_schema(same.extra["latest_schema"], "c") == same.history[-1]
    assert same.history[-1].schema_id == int(tick(100))
    incoming = pa.schema([("id", pa.string()), ("region", pa.string()), ("ts", pa.int64()), ("remark", pa.string())])
    more = [*incoming, pa.field("price", pa.float64()), pa.field("more", pa.list_(pa.int32()))]
    schema = writer_schema(table_avro(state.snapshot), pa.schema(more), "trips", Options())
    grown = schema_extra_metadata(state, schema, tick(200)).history
    assert [one.schema_id for one in grown] == [0, int(tick(100)), int(tick(200))]
    assert (grown[-1].fields[-1].id, grown[-1].fields[-1].type.element_id, grown[-1].max_column_id) == (10, 11, 11)
    put_history(Effects(LocalStorage(tmp_path)), builder_configuration(tmp_path), tick(200), same, SetClock(tick(201)))
    assert len(list((tmp_path / ".hoodie" / ".schema").glob(f"{tick(200)}*"))) == 3


def builder_configuration(base: Path) -> TableConfiguration:
    return state_of(base).configuration


def test_a_table_without_history_states_its_schema_only(tmp_path: Path):
    """Columns get ids by a change, or by a write that asks for both options that 1.1.1 asks for."""
    table_of(tmp_path)
    state = state_of(tmp_path)
    schema = schema_of_avro(table_avro(state.snapshot))
    stated = schema_extra_metadata(state, schema, tick(200))
    assert stated.history == ()
    assert dict(stated.extra) == {"schema": schema.text}
    put_history(Effects(LocalStorage(tmp_path)), state.configuration, tick(200), stated, SetClock(tick(201)))
    assert not (tmp_path / ".hoodie" / ".schema").exists()
    asked = {"hoodie.schema.on.read.enable": "true", "hoodie.datasource.write.reconcile.schema": "true"}
    first = schema_extra_metadata(state_of(tmp_path, asked), schema, tick(200))
    assert [one.schema_id for one in first.history] == [int(tick(200))]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"change": "drop", "column": "id"}, "'id' makes the table's keys"),
        ({"change": "rename", "column": "region", "to": "r"}, "'region' makes the table's keys"),
        ({"change": "drop", "column": "ts"}, "'ts' makes the table's keys"),
        ({"change": "type", "column": "ts", "type": "string"}, "'ts' makes the table's keys.*in its type"),
        ({"change": "drop", "column": "nope"}, "no column 'nope'"),
        ({"change": "drop", "column": "remrak"}, "no column 'remrak'"),
        ({"change": "add", "column": "NOTE", "type": "int"}, "column 'NOTE' already"),
        ({"change": "rename", "column": "note", "to": "price"}, "column 'price' already"),
        ({"change": "rename", "column": "note", "to": "a b"}, "no column named 'a b'"),
        ({"change": "type", "column": "price", "type": "int"}, "is double and cannot become int"),
        ({"change": "type", "column": "note", "type": {"type": "array", "items": "int"}}, "cannot become list<int>"),
        ({"change": "add", "column": "note.x", "type": "int"}, "is string, no struct"),
        ({"change": "drop", "column": "note.x"}, "no column 'note.x'"),
        ({"change": "add", "column": "x", "type": "tinyint"}, "type 'tinyint' is unknown"),
        ({"change": "drop", "column": "_hoodie_record_key"}, "is a meta field"),
        ({"change": "move", "column": "note", "after": "_hoodie_file_name"}, "is a meta field"),
        ({"change": "move", "column": "note", "after": "note"}, "cannot stand beside itself"),
        ({"change": "doc", "column": "note"}, "is no change of a schema"),
        ({"change": "turn", "column": "note"}, "is no change of a schema"),
        ({"change": "drop"}, "is no change of a schema"),
        ({"change": "nullable", "column": "note"}, "change nothing"),
    ],
)
def test_a_change_that_cannot_be_is_refused_before_anything_is_written(tmp_path: Path, record: Any, message: str):
    """Keys, unknown and doubled columns, narrower types: a typed error, and not one file."""
    table_of(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(HudiError, match=message) as refused:
        alter(tmp_path, record)
    assert refused.value.reason in ("SCHEMA_INCOMPATIBLE", "CONFIG_INVALID")
    assert refused.value.hint
    assert sorted(tmp_path.rglob("*")) == before


def nested(tmp_path: Path) -> InternalSchema:
    table_of(tmp_path, columns=NESTED)
    state = state_of(tmp_path)
    return first_schema(table_avro(state.snapshot), state.configuration)


def apply(schema: InternalSchema, *records: dict[str, Any]) -> InternalSchema:
    return changed(schema, changes_of(records), 7)


def test_parts_of_structs_lists_and_maps_change_like_columns(tmp_path: Path):
    """A path leads into structs, elements and values; ids of everything else stay."""
    first = nested(tmp_path)
    after = apply(
        first,
        {"change": "add", "column": "s.b", "type": {"type": "record", "name": "b", "fields": []}, "first": True},
        {"change": "rename", "column": "s.a", "to": "c"},
        {"change": "type", "column": "s.c", "type": "long"},
        {"change": "type", "column": "l.element", "type": "long"},
        {"change": "nullable", "column": "need"},
        {"change": "move", "column": "m", "before": "id"},
        {"change": "move", "column": "n"},
    )
    fields = {one.name: one for one in after.fields}
    assert [one.name for one in after.fields][5:] == ["n", "m", "id", "region", "ts", "s", "l", "need"]
    assert {one.name: one.id for one in after.fields} == {one.name: one.id for one in first.fields}
    inner = fields["s"].type.fields
    assert [(one.id, one.name) for one in inner] == [(first.max_column_id + 1, "b"), (13, "c")]
    assert inner[1].type == PrimitiveType("long")
    assert fields["l"].type.element == PrimitiveType("long")
    assert fields["need"].optional
    assert (after.schema_id, after.max_column_id) == (7, first.max_column_id + 1)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"change": "drop", "column": "s.a"}, "only column left"),
        ({"change": "drop", "column": "l.element"}, "only column left"),
        ({"change": "rename", "column": "m.value", "to": "v"}, "part of a list or map"),
        ({"change": "type", "column": "m.key", "type": "string"}, "no column 'm.key'"),
        ({"change": "drop", "column": "l.x"}, "no column 'l.x'"),
        ({"change": "type", "column": "s", "type": "string"}, "cannot become string"),
    ],
)
def test_a_list_or_map_keeps_its_parts(tmp_path: Path, record: Any, message: str):
    """Elements, keys and values cannot leave their list or map, nor the last field its struct."""
    first = nested(tmp_path)
    with pytest.raises(HudiError, match=message):
        apply(first, record)


@pytest.mark.parametrize(
    "written",
    ["decimal(10, 2)", pa.decimal128(10, 2), '{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}'],
)
def test_types_have_three_spellings(written: Any):
    """A word, Arrow or Avro."""
    kind = column_type(written)
    assert (kind.precision, kind.scale) == (10, 2)


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "drop", "rename", "move"]), st.integers(0, 5), st.sampled_from("abcdef")),
    max_size=12,
)


@given(STEPS)
def test_ids_are_never_used_twice(steps: list[tuple[str, int, str]]):
    """Over any changes every id belongs to one column for ever, and no two columns share a name."""
    schema = changed_first()
    seen = {one.id: {one.name} for one in schema.fields}
    for kind, place, name in steps:
        column = schema.fields[place % len(schema.fields)].name
        record = {"change": kind, "column": name if kind == "add" else column, "type": "int", "to": name}
        try:
            after = changed(schema, changes_of([record]), schema.schema_id + 1)
        except HudiError:
            continue
        new = {one.id for one in after.fields} - {one.id for one in schema.fields}
        assert not new & seen.keys()
        assert len({one.name for one in after.fields}) == len(after.fields)
        assert after.max_column_id >= max(one.id for one in after.fields)
        seen.update((one, set()) for one in new)
        schema = after


def changed_first() -> InternalSchema:
    record = {"name": "r", "fields": [{"name": "z", "type": "int"}, {"name": "a", "type": ["null", "int"]}]}
    fields = column_type({"type": "record", **record}).fields
    return InternalSchema(0, 2, (fields[0], fields[1]))
