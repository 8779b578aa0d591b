"""Which base files Spark's own scan reads, and which the tasks read because their columns stand otherwise."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_peer import Apache
from engine_tables import TableBuilder, avro, row, tick
from hudi_format.names import BaseFileName
from hudi_format.schemas import arrow_schema, with_meta_fields
from hudi_format.storage import LocalStorage
from hudi_spark import DamagedLogWarning, HudiError, read_arrow, read_incremental
from hudi_spark.spark import split_tasks
from hudi_spark.testing import Query, plan_query
from pyarrow import orc
from test_schema_tables import DROPPED, RENAMED, bootstrap, commit, ids, renamed
from written_tables import Written, rows


def scanned(path: Path, **query: Any) -> list[str]:
    """File ids of the slices that Spark's own scan reads."""
    storage = LocalStorage(path)
    by_spark, _ = split_tasks(plan_query(storage, Query(**query)), storage)
    return [task.file_id for task in by_spark]


def copy_on_write(path: Path, **properties: str) -> TableBuilder:
    return TableBuilder(path, table_type="COPY_ON_WRITE", properties=properties)


def test_a_file_of_the_tables_own_columns_is_scanned(tmp_path: Path) -> None:
    builder = copy_on_write(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1)])], action="commit")
    assert scanned(tmp_path) == ["f1"]


def test_only_files_of_today_s_names_are_scanned_where_columns_have_ids(tmp_path: Path) -> None:
    builder = renamed(tmp_path)
    rows = [{"id": "e", "region": "north", "ts": 1, "two": "x", "one": "y"}]
    builder.schema = avro([(field["name"], field["type"]) for field in builder.schema["fields"]])
    commit(builder, 40, [builder.base_file(40, rows, group="f2")], ids(20, RENAMED))
    assert scanned(tmp_path, read_optimized=True) == ["f2"]
    # What did not change its name is where it was.
    assert scanned(tmp_path, read_optimized=True, columns=["id", "ts"]) == ["f1", "f2"]


def test_a_column_that_only_the_path_holds_is_not_scanned_for(tmp_path: Path) -> None:
    builder = copy_on_write(tmp_path, **DROPPED)
    builder.schema = avro((("id", "string"), ("ts", ["null", "long"])))
    builder.commit(10, [builder.base_file(10, [{"id": "a", "ts": 1}])], action="commit")
    assert scanned(tmp_path) == []
    assert scanned(tmp_path, columns=["id"]) == ["f1"]


def test_a_bootstrapped_slice_is_not_scanned(tmp_path: Path) -> None:
    bootstrap(tmp_path / "t", tmp_path / "s")
    assert scanned(tmp_path / "t", read_optimized=True) == []


@pytest.mark.peers
def test_a_column_in_other_letters_is_read_as_apache_hudi_reads_it(tmp_path: Path, apache: Apache) -> None:
    """Of base files; of two that are meant neither is taken."""
    written = Written(tmp_path)
    written.write("insert", rows(range(3)))
    for name in ("price", "id"):
        recased(tmp_path, {name: name.upper()})
        assert len(apache.alike(tmp_path)) == 3
    recased(tmp_path, {"region": "PRice"})
    with pytest.raises(AssertionError, match="errored"):
        apache.request("read_snapshot", tmp_path)
    with pytest.raises(HudiError, match=r"SCHEMA_INCOMPATIBLE.*'price' stands in the file as PRICE and PRice"):
        read_arrow(tmp_path)


def recased(path: Path, names: dict[str, str]) -> None:
    """The base files with other names of columns."""
    for file in path.glob("*/*.parquet"):
        held = pq.read_table(file)
        pq.write_table(held.rename_columns([names.get(name, name) for name in held.column_names]), file)


def test_a_write_keeps_the_values_of_a_column_in_other_letters(tmp_path: Path) -> None:
    written = Written(tmp_path)
    written.write("insert", rows(range(3)))
    before = read_arrow(tmp_path).sort_by("id").to_pylist()
    recased(tmp_path, {"price": "Price"})
    assert read_arrow(tmp_path, filter=["price", "is_not_null"]).sort_by("id").to_pylist() == before
    written.write("upsert", rows([3]))
    assert read_arrow(tmp_path).sort_by("id").to_pylist()[:3] == before


def test_a_log_with_a_column_in_other_letters_is_refused(tmp_path: Path) -> None:
    """No row of it is null where it has a value."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "x")])])
    plain, fields = builder.schema, builder.schema["fields"]
    builder.schema = avro([("Note" if one["name"] == "note" else one["name"], one["type"]) for one in fields])
    renamed_row = {"Note" if name == "note" else name: value for name, value in row("a", 2, "y").items()}
    builder.commit(20, [builder.log_file(20, [builder.data(20, [renamed_row])])], schema=plain)
    with pytest.raises(HudiError, match=r"SCHEMA_INCOMPATIBLE.*the block has column 'Note' in place of 'note'"):
        read_arrow(tmp_path)
    assert read_arrow(tmp_path, columns=["ts"]).column("ts").to_pylist() == [2]


def damaged(path: Path, change: Callable[[pa.Table], pa.Table]) -> str:
    """The name of the newest base file, now with other rows or columns."""
    newest = max(path.glob("north/*.parquet"), key=lambda one: one.name.rpartition("_")[2])
    pq.write_table(change(pq.read_table(newest)), newest)
    return newest.name


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_file_without_commit_times_is_refused_by_a_range(tmp_path: Path, table_type: str) -> None:
    """Its rows would be in none; Spark's own scan does not pass over them either."""
    written = Written(tmp_path, table_type)
    written.write("insert", rows(range(3)))
    written.write("upsert", rows([0], ts=2))
    name = damaged(tmp_path, lambda held: held.drop_columns(["_hoodie_commit_time"]))
    for refused in (
        lambda: read_incremental(tmp_path, "earliest"),
        lambda: read_incremental(tmp_path, "earliest", columns=[]),
        lambda: read_arrow(tmp_path, filter="_hoodie_commit_time > '2'"),
    ):
        with pytest.raises(HudiError, match=f"BASE_FILE_CORRUPT in .*{name}: the file has no commit times"):
            refused()
    assert name.partition("_")[0] not in scanned(tmp_path, filter=["_hoodie_commit_time", ">", "2"])
    assert read_arrow(tmp_path).num_rows == 3


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("read", [read_arrow, lambda path: read_incremental(path, "earliest")], ids=["now", "range"])
def test_a_file_with_fewer_rows_than_its_commit_counts_is_warned_of(tmp_path: Path, table_type: str, read: Any) -> None:
    """As a log is that has lost its bytes; one that was only packed anew holds what it held."""
    written = Written(tmp_path, table_type)
    written.write("insert", rows(range(4)))
    written.write("upsert", rows([0], ts=2))
    newest = max(tmp_path.glob("north/*.parquet"), key=lambda one: one.name.rpartition("_")[2])
    held, before = pq.read_table(newest), read(tmp_path).num_rows
    pq.write_table(held, newest, compression="none")
    assert read(tmp_path).num_rows == before
    pq.write_table(held.slice(1), newest)
    message = f"{newest.name} at byte 0: the file has {held.num_rows - 1} rows, the write put {held.num_rows} "
    with pytest.warns(DamagedLogWarning, match=re.escape(message)):
        read(tmp_path)
    assert newest.name.partition("_")[0] not in scanned(tmp_path)


DAMAGE = pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda held: held.slice(1), "the file has 1 rows, the write put 2"),
        (lambda held: held.drop_columns(["_hoodie_commit_time"]), "the file has no commit times"),
    ],
    ids=["rows", "commit times"],
)


@DAMAGE
@pytest.mark.parametrize("operation", ["upsert", "insert", "delete"])
def test_a_write_refuses_to_put_a_file_in_the_place_of_a_damaged_one(
    tmp_path: Path, operation: str, change: Callable[[pa.Table], pa.Table], message: str
) -> None:
    """What it has lost would be lost for good; its partition can be overwritten."""
    written = Written(tmp_path)
    written.write("insert", rows(range(4)))
    name = damaged(tmp_path, change)
    before = written.files()
    with pytest.raises(HudiError, match=f"BASE_FILE_CORRUPT in .*{name}: {message}"):
        written.write(operation, rows([5 if operation == "insert" else 3], ts=2))
    assert written.files() == before
    written.write("insert_overwrite", rows([1], ts=3))
    assert written.ids() == ["k0", "k1", "k2"]


@DAMAGE
@pytest.mark.parametrize("service", ["compaction", "clustering"])
def test_a_service_refuses_to_put_a_file_in_the_place_of_a_damaged_one(
    tmp_path: Path, service: str, change: Callable[[pa.Table], pa.Table], message: str
) -> None:
    """The plan waits; it is carried out where the file is as it was."""
    written = Written(tmp_path, "MERGE_ON_READ")
    written.write("insert", rows(range(4)))
    written.write("upsert", rows([1], ts=2))
    services = written.services(configs={"hoodie.compact.inline.max.delta.commits": "1"})
    expected = written.found()
    (newest,) = tmp_path.glob("north/*.parquet")
    whole = newest.read_bytes()
    planned = services.schedule(service)
    assert planned is not None
    name = damaged(tmp_path, change)
    with pytest.raises(HudiError, match=f"BASE_FILE_CORRUPT in .*{name}: {message}"):
        services.execute(planned)
    newest.write_bytes(whole)
    services.execute(planned)
    assert written.found() == expected


def test_a_column_in_another_case_of_letters_is_not_scanned_for(tmp_path: Path) -> None:
    builder = copy_on_write(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "x")])], action="commit")
    fields = builder.schema["fields"]
    schema = avro([("Note" if one["name"] == "note" else one["name"], one["type"]) for one in fields])
    builder.commit(20, [], action="commit", schema=schema)
    assert scanned(tmp_path) == []
    assert read_arrow(tmp_path).column("Note").to_pylist() == ["x"]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_base_files_of_a_group_may_be_of_two_formats(tmp_path: Path, version: int) -> None:
    builder = TableBuilder(tmp_path, version, "COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, [row("a", 1, "old"), row("b", 1, "old")])], action="commit")
    name = str(BaseFileName("f1", "0-1-0", tick(20), "orc"))
    rows = [builder._filled(one, 20, "north", name) for one in (row("a", 2, "new"), row("b", 1, "old"))]
    sink = io.BytesIO()
    orc.write_table(pa.Table.from_pylist(rows, arrow_schema(with_meta_fields(builder.schema))), sink)
    builder._write("north", name, sink.getvalue())
    builder.commit(20, [builder._stat("f1", "north", name)], action="commit")
    assert scanned(tmp_path) == []
    table = read_arrow(tmp_path, filter=["ts", ">", 0])
    assert sorted(zip(*(table.column(one).to_pylist() for one in ("id", "note")), strict=True)) == [
        ("a", "new"),
        ("b", "old"),
    ]
    assert read_arrow(tmp_path, as_of=tick(10)).column("note").to_pylist() == ["old", "old"]


def test_a_file_that_is_narrower_than_its_commit_says_is_not_scanned(tmp_path: Path) -> None:
    columns = [("id", "string"), ("region", "string"), ("ts", ["null", "int"]), ("note", ["null", "string"])]
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE", columns=columns)
    stats = [builder.base_file(10, [{**row("a", 1), "note": "x"}])]
    wide = avro([(name, ["null", "long"] if name == "ts" else kind) for name, kind in columns])
    builder.commit(10, stats, action="commit", schema=wide)
    assert scanned(tmp_path) == []
    assert scanned(tmp_path, columns=["id", "note"]) == ["f1"]
    assert read_arrow(tmp_path).schema.field("ts").type == pa.int64()


def test_lists_of_two_levels_and_fixed_bytes_are_scanned(tmp_path: Path) -> None:
    parts = {"type": "array", "items": {"type": "record", "name": "p", "fields": [{"name": "x", "type": "int"}]}}
    raw = {"type": "fixed", "name": "raw", "size": 2}
    columns = [("id", "string"), ("region", "string"), ("ts", ["null", "long"]), ("parts", parts), ("raw", raw)]
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE", columns=columns)
    one = {"id": "a", "region": "north", "ts": 1, "parts": [{"x": 1}], "raw": b"ab"}
    builder.commit(10, [builder.base_file(10, [one])], action="commit")
    assert scanned(tmp_path) == ["f1"]
