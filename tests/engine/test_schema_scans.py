"""Which base files Spark's own scan reads, and which the tasks read because their columns stand otherwise."""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import TableBuilder, avro, row, tick
from hudi_format.names import BaseFileName
from hudi_format.schemas import arrow_schema, with_meta_fields
from hudi_format.storage import LocalStorage
from hudi_spark import read_arrow
from hudi_spark.spark import split_tasks
from hudi_spark.testing import Query, plan_query
from pyarrow import orc
from test_schema_tables import DROPPED, RENAMED, bootstrap, commit, ids, renamed


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


def test_a_column_in_another_case_of_letters_is_not_taken_for_it(tmp_path: Path) -> None:
    builder = copy_on_write(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "x")])], action="commit")
    fields = builder.schema["fields"]
    schema = avro([("Note" if one["name"] == "note" else one["name"], one["type"]) for one in fields])
    builder.commit(20, [], action="commit", schema=schema)
    assert scanned(tmp_path) == []
    assert read_arrow(tmp_path).column("Note").to_pylist() == [None]


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
