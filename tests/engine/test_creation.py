"""New tables: what a definition says, what is refused, and that what stops halfway is no table."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_format.errors import FormatError
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, TableDefinition, UnsupportedFeature, read_arrow, write_arrow
from hudi_spark.testing import Effect, Effects, create_table, load_configuration

PROPERTIES = Path(".hoodie") / "hoodie.properties"
SCHEMA = pa.schema({"id": pa.string(), "part": pa.string(), "ts": pa.int64(), "in": pa.struct({"x": pa.int32()})})
DEFINITION = TableDefinition("trips", SCHEMA, record_key=("id",), partition_by=("part",), ordering=("ts",))
PAYLOAD = "hoodie.datasource.write.payload.class"
MODELS = "org.apache.hudi.common.model."
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone.utc)


def create(folder: Path, definition: TableDefinition = DEFINITION) -> Any:
    """The configuration of a table of the definition."""
    storage = LocalStorage(folder)
    create_table(Effects(storage), definition, MOMENT)
    return load_configuration(storage)


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_new_table_opens_as_it_was_defined(tmp_path: Path, version: int):
    """What the reader loads is what was requested, whichever version's names it stands under."""
    fields = ("id", "in.x")
    wanted = replace(DEFINITION, table_version=version, table_type="MERGE_ON_READ", record_key=fields, ordering=("ts",))
    found = create(tmp_path, wanted)
    assert (found.name, found.version, found.table_type) == ("trips", version, "MERGE_ON_READ")
    assert (found.record_key, found.partition_by, found.ordering) == (fields, ("part",), ("ts",))
    assert json.loads(found.create_schema)["fields"][0]["name"] == "id"
    for ts in (2, 1):
        given = {"id": ["a"], "part": ["p"], "ts": [ts], "in": [{"x": 1}]}
        write_arrow(tmp_path, pa.table(given, schema=SCHEMA), "upsert")
    assert read_arrow(tmp_path).column("ts").to_pylist() == [2]


def test_a_column_of_a_name_that_writes_work_with_is_refused(tmp_path: Path):
    """In whatever letters; `_sequence` and `_target` are a table's own."""
    for name in ("_tag_moved", "_TAG_FILE_ID"):
        with pytest.raises(HudiError, match=f"SCHEMA_INCOMPATIBLE.*column '{name}' begins with _tag_.*rename"):
            create(tmp_path / "refused", replace(DEFINITION, schema=SCHEMA.append(pa.field(name, pa.bool_()))))
    schema = SCHEMA.append(pa.field("_sequence", pa.bool_())).append(pa.field("_target", pa.string()))
    create(tmp_path, replace(DEFINITION, schema=schema))
    row = {"id": ["a"], "part": ["p"], "ts": [1], "in": [None], "_sequence": [True], "_target": ["x"]}
    write_arrow(tmp_path, pa.table(row, schema=schema), "upsert")
    assert read_arrow(tmp_path).to_pylist() == [{name: value for name, (value,) in row.items()}]


def test_equal_definitions_make_equal_bytes(tmp_path: Path):
    """Under a set clock the file is the same every time, and its comments are Java's."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        create(tmp_path / name)
    first, second = ((tmp_path / name / PROPERTIES).read_bytes() for name in ("a", "b"))
    assert first == second
    comments = first.decode().splitlines()[:2]
    assert comments == ["#Properties saved on 2026-01-02T03:04:05.678901Z", "#Fri Jan 02 03:04:05 UTC 2026"]


def test_an_avro_schema_loses_its_meta_fields(tmp_path: Path):
    """A schema that was read off a table makes a table of the same columns."""
    create(tmp_path)
    text = load_configuration(LocalStorage(tmp_path)).create_schema
    avro = json.loads(text)
    avro["fields"].insert(0, {"name": "_hoodie_record_key", "type": ["null", "string"], "default": None})
    (tmp_path / "again").mkdir()
    assert create(tmp_path / "again", replace(DEFINITION, schema=avro)).create_schema == text


@pytest.mark.parametrize("version", [1, 4, 5, 7, 10, 99])
def test_other_table_versions_are_refused(tmp_path: Path, version: int):
    """Only versions that this engine writes are made."""
    with pytest.raises(HudiError, match=f"table version {version} is not written") as refused:
        create(tmp_path, replace(DEFINITION, table_version=version))
    assert refused.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": " "}, "hoodie.table.name is missing"),
        ({"name": "half \ud800"}, "hoodie.table.name is"),
        ({"schema": None}, "no schema"),
        ({"table_type": "APPEND_ONLY"}, "table type 'APPEND_ONLY' is unknown"),
        ({"record_key": ("key",)}, "record key field 'key' is no column"),
        ({"record_key": ("in.y",)}, "record key field 'in.y' is no column"),
        ({"record_key": ("id", "id")}, "names a field twice"),
        ({"partition_by": ("day",)}, "partition field 'day' is no column"),
        ({"ordering": ("time",)}, "ordering field 'time' is no column"),
        ({"record_key": ("in",)}, "record key field 'in' holds several values"),
        ({"configs": {"hoodie.datasource.write.drop.partition.columns": "true",
            "hoodie.table.keygenerator.type": "TIMESTAMP", "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
            "hoodie.keygen.timebased.output.dateformat": "yyyy"}}, "loses part"),
        ({"configs": {"hoodie.datasource.write.drop.partition.columns": "true"}, "partition_by": ()}, "without"),
        ({"merge_mode": "LATEST"}, "'LATEST' is unknown"),
        ({"merge_mode": "CUSTOM"}, "without payload class or merger"),
        ({"configs": {"hoodie.table.name": "other"}}, "say it once"),
        ({"configs": {"hoodie.datasource.write.recordkey.field": "ts"}}, "say it once"),
        ({"configs": {"hoodie.populate.meta.feilds": "true"}}, "did you mean hoodie.populate.meta.fields"),
        ({"configs": {"hoodie.keygen.timebased.timestamp.type": "SCALAR"}}, "the key generator is SIMPLE"),
        ({"configs": {"hoodie.table.keygenerator.type": "COMPLEX", "hoodie.table.keygenerator.class":
            "org.apache.hudi.keygen.SimpleKeyGenerator"}}, "by type and"),
        ({"record_key": (), "configs": {"hoodie.populate.meta.fields": "false"}}, "without meta fields it stores none"),
        ({"partition_by": ("part:TWICE",)}, "field:SIMPLE or field:TIMESTAMP"),
        ({"merge_mode": "COMMIT_TIME_ORDERING", "configs": {PAYLOAD: MODELS + "DefaultHoodieRecordPayload"}},
         "no one way of merging"),
        ({"configs": {PAYLOAD: MODELS + "AWSDmsAvroPayload", "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS",
            "hoodie.write.record.merge.strategy.id": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"}}, "one way of merging"),
        ({"configs": {PAYLOAD: MODELS + "PartialUpdateAvroPayload",
            "hoodie.table.partial.update.mode": "FILL_UNAVAILABLE"}}, "the payload class means IGNORE_DEFAULTS"),
    ],
)  # fmt: skip
def test_a_contradicting_definition_is_refused(tmp_path: Path, changes: Mapping[str, Any], message: str):
    """What is missing, unknown or said twice is named before anything is there."""
    with pytest.raises(HudiError, match=message) as refused:
        create(tmp_path, replace(DEFINITION, **changes))
    assert refused.value.reason == "CONFIG_INVALID"
    assert list(tmp_path.iterdir()) == []


TWICE = pa.struct([("a", pa.int32()), ("a", pa.string())])


def _deep(levels: int) -> pa.DataType:
    kind = pa.int32()
    for _ in range(levels):
        kind = pa.struct([("inner", kind)])
    return kind


@pytest.mark.parametrize(
    ("kind", "reason", "hint"),
    [
        (_deep(40), "LIMIT_EXCEEDED", "flatten its columns: a level that may be null counts twice"),
        (TWICE, "SCHEMA_INCOMPATIBLE", "correct the column's type"),
    ],
)
def test_columns_that_no_schema_can_state_are_no_damaged_file(
    tmp_path: Path, kind: pa.DataType, reason: str, hint: str
):
    """There is no file to restore: the caller gave the columns, of a new table or of rows."""
    schema = pa.schema([("id", pa.string()), ("nested", kind)])
    with pytest.raises(HudiError) as refused:
        create(tmp_path / "new", TableDefinition("t", schema, record_key=("id",)))
    assert (refused.value.reason, refused.value.hint, refused.value.file) == (reason, hint, "")
    create(tmp_path, TableDefinition("t", schema.remove(1), record_key=("id",)))
    with pytest.raises(HudiError) as refused:
        write_arrow(tmp_path, schema.empty_table())
    assert (refused.value.reason, refused.value.hint, refused.value.file) == (reason, hint, "")


@pytest.mark.parametrize("base", ["ORC", "HFILE", "orc"])
def test_base_files_that_are_not_written_are_named(tmp_path: Path, base: str):
    """A table whose files this engine could not write is not made."""
    with pytest.raises(UnsupportedFeature, match=f"base-{base.lower()}-writing"):
        create(tmp_path, replace(DEFINITION, base_file_format=base))


def test_a_payload_without_a_known_rule_is_refused(tmp_path: Path):
    """No table is made whose records nobody here could merge."""
    with pytest.raises(HudiError, match=r"com\.example\.Mine") as refused:
        create(tmp_path, replace(DEFINITION, configs={PAYLOAD: "com.example.Mine"}))
    assert refused.value.reason == "MERGER_UNKNOWN"


def test_a_table_is_not_made_twice(tmp_path: Path):
    """An existing table stays as it is, byte by byte; one that is half updated counts."""
    create(tmp_path)
    before = (tmp_path / PROPERTIES).read_bytes()
    with pytest.raises(HudiError, match="there is a table already"):
        create(tmp_path, replace(DEFINITION, name="other"))
    assert (tmp_path / PROPERTIES).read_bytes() == before
    (tmp_path / PROPERTIES).rename(tmp_path / ".hoodie" / "hoodie.properties.backup")
    with pytest.raises(HudiError, match="there is a table already"):
        create(tmp_path)


class Stopped(Exception):  # noqa: N818 - what a test throws
    """A writer ends here."""


class StopBefore:
    """Ends a writer before its first effect, and counts them."""

    def __init__(self, *, stops: bool) -> None:
        self.stops = stops
        self.seen: list[str] = []

    def before(self, effect: Effect) -> None:
        self.seen.append(effect.name)
        if self.stops:
            raise Stopped

    def after(self, effect: Effect) -> None:
        pass


def test_a_making_that_stops_leaves_no_table(tmp_path: Path):
    """The one effect is the last step: before it there is no table, and a second attempt makes one."""
    storage = LocalStorage(tmp_path)
    with pytest.raises(Stopped):
        create_table(Effects(storage, StopBefore(stops=True)), DEFINITION)
    with pytest.raises(FormatError, match="NOT_A_TABLE"):
        load_configuration(storage)
    watched = StopBefore(stops=False)
    create_table(Effects(storage, watched), DEFINITION)
    assert watched.seen == ["put_properties"]


class Racing:
    """Another writer makes a table just before this one does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def before(self, effect: Effect) -> None:
        assert effect.name == "put_properties"
        create(self.folder, replace(DEFINITION, name="first"))

    def after(self, effect: Effect) -> None:
        pass


def test_of_two_makers_one_wins(tmp_path: Path):
    """The second of two makers at once is refused, and the first one's table stays."""
    with pytest.raises(HudiError, match="there is a table already"):
        create_table(Effects(LocalStorage(tmp_path), Racing(tmp_path)), DEFINITION)
    assert load_configuration(LocalStorage(tmp_path)).name == "first"
