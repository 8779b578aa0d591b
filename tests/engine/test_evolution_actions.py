"""Changes of a schema as actions: values follow their columns, the history is kept, what cannot be is refused."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.schemas import arrow_schema, without_meta_fields
from hudi_format.storage import LocalStorage
from hudi_format.table.internal_schema import InternalSchema, PrimitiveType, parse_internal_schema, parse_schema_history
from hudi_format.timeline.commit_metadata import CommitMetadata, parse_commit_metadata
from hudi_spark import HudiError, TableDefinition, check_table, create_arrow, read_arrow, read_changes
from hudi_spark.testing import (
    InProcess,
    Outcome,
    SetClock,
    TableActions,
    TableServices,
    TableWriter,
    WriteRequest,
    changes_of,
)

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


def table_of(base: Path, version: int = 9, columns: Any = None) -> TableBuilder:
    builder = TableBuilder(base, version) if columns is None else TableBuilder(base, version, columns=columns)
    rows = [row("k1", 1, "one", price=1.5)] if columns is None else []
    builder.commit(1, [builder.base_file(1, rows)] if rows else [])
    return builder


def writer_of(base: Path, now: int, **options: str) -> TableWriter:
    """A writer at a tick; options use `__` for a dot."""
    given = {key.replace("__", "."): value for key, value in options.items()}
    configs = {"hoodie.metadata.enable": "false", **given}
    return TableWriter(LocalStorage(base), InProcess(), configs, clock=SetClock(tick(now)))


def alter(base: Path, *records: dict[str, Any], now: int = 100) -> Outcome:
    return TableActions(writer_of(base, now)).alter_schema(changes_of(records))


def written(base: Path, now: int, schema: pa.Schema | None = None, **options: str) -> CommitMetadata:
    """What the commit of a write says that has the table's columns, or others."""
    columns = schema or stated_columns(base)
    rows = pa.Table.from_pylist([{"id": "k9", "region": "north", "ts": now}], columns)
    done = writer_of(base, now, **options).write(WriteRequest("upsert", rows))
    assert done.requested == tick(now)
    return newest_commit(base)


def newest_commit(base: Path) -> CommitMetadata:
    """What the newest commit says."""
    file = max((path for path in (base / ".hoodie").rglob("*.deltacommit")), key=lambda path: path.name)
    return parse_commit_metadata(file.read_bytes(), file.name)


def stated_columns(base: Path) -> pa.Schema:
    """The columns that the newest commit states, with which of them are required."""
    return arrow_schema(without_meta_fields(json.loads(newest_commit(base).extra["schema"])))


def history(base: Path) -> tuple[InternalSchema, ...]:
    """The schemas that the newest history holds, oldest first."""
    newest = max((base / ".hoodie" / ".schema").glob("*.schemacommit"))
    return tuple(parse_schema_history(newest.read_text(), newest.name))


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
    stated = written(tmp_path, 200)
    kept = history(tmp_path)
    assert [str(one.fields[9].type) for one in kept] == [word, word]
    assert str(kept[-1].fields[10].type.element) == word
    assert f'"{word}"' in stated.extra["latest_schema"]
    assert kept[-1].schema_id == int(tick(100))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_later_write_states_the_ids_again(tmp_path: Path, version: int):
    """A write after a change repeats the history, or adds its new columns to it under new ids."""
    table_of(tmp_path, version)
    alter(tmp_path, RENAME)
    same = written(tmp_path, 200)
    assert parse_internal_schema(same.extra["latest_schema"], "c") == history(tmp_path)[-1]
    assert [one.schema_id for one in history(tmp_path)] == [0, int(tick(100))]
    assert len(list((tmp_path / ".hoodie" / ".schema").glob(f"{tick(200)}*"))) == 3
    keys = [pa.field(name, pa.string(), nullable=False) for name in ("id", "region")]
    incoming = pa.schema([*keys, ("ts", pa.int64()), ("remark", pa.string())])
    more = [*incoming, pa.field("price", pa.float64()), pa.field("more", pa.list_(pa.int32()))]
    written(tmp_path, 300, pa.schema(more))
    grown = history(tmp_path)
    assert [one.schema_id for one in grown] == [0, int(tick(100)), int(tick(300))]
    assert (grown[-1].fields[-1].id, grown[-1].fields[-1].type.element_id, grown[-1].max_column_id) == (10, 11, 11)
    assert len(list((tmp_path / ".hoodie" / ".schema").glob(f"{tick(300)}*"))) == 3


def test_a_table_without_history_states_its_schema_only(tmp_path: Path):
    """Columns get ids by a change, or by a write that requests both options that 1.1.1 requests."""
    builder = table_of(tmp_path)
    stated = written(tmp_path, 200)
    assert set(stated.extra) == {"schema"}
    assert json.loads(stated.extra["schema"]) == builder.schema
    assert not (tmp_path / ".hoodie" / ".schema").exists()
    settings = {"hoodie__schema__on__read__enable": "true", "hoodie__datasource__write__reconcile__schema": "true"}
    written(tmp_path, 300, **settings)
    assert [one.schema_id for one in history(tmp_path)] == [int(tick(300))]


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


def test_parts_of_structs_lists_and_maps_change_like_columns(tmp_path: Path):
    """A path leads into structs, elements and values; ids of everything else stay."""
    table_of(tmp_path, columns=NESTED)
    done = alter(
        tmp_path,
        {"change": "add", "column": "s.b", "type": {"type": "record", "name": "b", "fields": []}, "first": True},
        {"change": "rename", "column": "s.a", "to": "c"},
        {"change": "type", "column": "s.c", "type": "long"},
        {"change": "type", "column": "l.element", "type": "long"},
        {"change": "nullable", "column": "need"},
        {"change": "move", "column": "m", "before": "id"},
        {"change": "move", "column": "n"},
    )
    first, after = history(tmp_path)
    fields = {one.name: one for one in after.fields}
    assert [one.name for one in after.fields][5:] == ["n", "m", "id", "region", "ts", "s", "l", "need"]
    assert {one.name: one.id for one in after.fields} == {one.name: one.id for one in first.fields}
    inner = fields["s"].type.fields
    assert [(one.id, one.name) for one in inner] == [(first.max_column_id + 1, "b"), (13, "c")]
    assert inner[1].type == PrimitiveType("long")
    assert fields["l"].type.element == PrimitiveType("long")
    assert fields["need"].optional
    assert (after.schema_id, after.max_column_id) == (int(done.requested), first.max_column_id + 1)


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
    table_of(tmp_path, columns=NESTED)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(HudiError, match=message):
        alter(tmp_path, record)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "given",
    ["decimal(10, 2)", pa.decimal128(10, 2), '{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}'],
)
def test_types_have_three_spellings(given: Any):
    """A word, Arrow or Avro."""
    kind = type_of(given)
    assert (kind.precision, kind.scale) == (10, 2)


def type_of(given: Any) -> Any:
    """The type of a column that is added."""
    (change,) = changes_of([{"change": "add", "column": "x", "type": given}])
    return change.type


PRICE: dict[str, Any] = {"column": "price"}


@pytest.mark.parametrize("change", [{"change": "rename", **PRICE, "to": "fare"}, {"change": "drop", **PRICE}])
def test_a_clustering_planned_before_a_change_has_the_schema_of_its_plan(tmp_path: Path, change: dict[str, Any]):
    """Its files bear the plan's instant, by which a reader as of then takes the names that columns had."""
    table_of(tmp_path)
    planned = services_of(tmp_path, 90).schedule("clustering", {"hoodie.clustering.inline.max.commits": "1"})
    assert planned is not None
    alter(tmp_path, change)
    now = read_arrow(tmp_path).to_pylist()
    services_of(tmp_path, 200).execute(planned)
    assert read_arrow(tmp_path).to_pylist() == now
    assert read_arrow(tmp_path, as_of=planned).column("price").to_pylist() == [1.5]
    assert [one for one in check_table(tmp_path, deep=True) if one.clause == "CL-004"] == []


def services_of(base: Path, now: int) -> TableServices:
    return TableServices(writer_of(base, now))


@pytest.mark.parametrize("kept", ["DATA_BEFORE_AFTER", "DATA_BEFORE", "OP_KEY_ONLY"])
def test_logged_images_keep_their_columns_where_a_name_is_used_again(tmp_path: Path, kept: str):
    """A column is dropped and another gets its name: images that were logged before have the values of the latter."""
    logging = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": kept}
    columns = pa.schema([(name, pa.string()) for name in ("id", "a", "b")])
    definition = TableDefinition(name="t", schema=columns, record_key=("id",), configs=logging)
    create_arrow(tmp_path, definition)
    for now, value in ((100, "1"), (200, "2")):
        given = pa.table({"id": ["k"], "a": [f"a{value}"], "b": [f"b{value}"]}, schema=columns)
        writer_of(tmp_path, now).write(WriteRequest("upsert", given))
    alter(tmp_path, {"change": "drop", "column": "b"}, now=300)
    alter(tmp_path, {"change": "rename", "column": "a", "to": "b"}, now=400)
    for log in tmp_path.rglob("*.cdc"):
        # A block's own time is nothing that changes are read by: here it is no time.
        log.write_bytes(log.read_bytes().replace(tick(200).encode(), b"x" * len(tick(200))))
    changes = read_changes(tmp_path, "earliest").to_pylist()
    images = [(one["op"], *(image and image["b"] for image in (one["before"], one["after"]))) for one in changes]
    assert images == [("i", None, "a1"), ("u", "a1", "a2")]


@pytest.mark.parametrize("change", [{"change": "drop", "column": "a"}, {"change": "rename", "column": "a", "to": "b"}])
def test_a_clean_removes_statistics_of_columns_that_are_no_more(tmp_path: Path, change: dict[str, str]):
    """They lie under the name that the column had when the cleaned file was written."""
    columns = pa.schema([("id", pa.string()), ("a", pa.int64())])
    create_arrow(tmp_path, TableDefinition(name="t", schema=columns, record_key=("id",)))
    indexed = {"hoodie__metadata__enable": "true", "hoodie__metadata__index__column__stats__enable": "true"}
    for now in (100, 200):
        given = pa.table({"id": ["k"], "a": [now]}, schema=columns)
        writer_of(tmp_path, now, **indexed).write(WriteRequest("upsert", given))
    TableActions(writer_of(tmp_path, 300, **indexed)).alter_schema(changes_of([change]))
    TableServices(writer_of(tmp_path, 400, **indexed)).run("clean", {"hoodie.clean.commits.retained": "1"})
    assert len(list(tmp_path.glob("*.parquet"))) == 1
    assert check_table(tmp_path, deep=True) == ()
