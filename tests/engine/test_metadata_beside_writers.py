"""Writers at work on one table: what one that gives up takes along is missed by nobody, nor by the metadata table."""

from pathlib import Path

import pyarrow as pa
import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import (
    TableDefinition,
    create_arrow,
    read_arrow,
    read_changes,
    read_incremental,
    write_arrow,
)
from hudi_spark.testing import InProcess, TableWriter, WriteRequest

SHARED = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
FIELDS = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]


def _request(ts: int) -> WriteRequest:
    return WriteRequest("upsert", pa.table({"id": ["a"], "ts": [ts]}), configs=SHARED)


def _writer(folder: Path, version: int) -> TableWriter:
    """The writer of a table of one row, without a metadata table so far."""
    schema = {"type": "record", "name": "rides", "fields": FIELDS}
    create_arrow(folder, TableDefinition("rides", schema, "MERGE_ON_READ", version, ("id",), (), ("ts",)))
    writer = TableWriter(LocalStorage(folder), InProcess())
    writer.write(WriteRequest("upsert", _request(1).rows, configs={**SHARED, "hoodie.metadata.enable": "false"}))
    return writer


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_write_continues_without_the_logs_of_an_aborted_one(version: int, tmp_path: Path):
    writer = _writer(tmp_path, version)
    one = writer.begin(_request(2))
    one.stage(_request(2))
    two = writer.begin(_request(3))
    one.abort()
    two.stage(_request(3))
    two.commit()
    assert read_arrow(tmp_path).column("ts").to_pylist() == [3]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_logs_of_a_writer_that_gives_up_are_not_listed(version: int, tmp_path: Path):
    writer = _writer(tmp_path, version)
    one, two = writer.begin(_request(2)), writer.begin(_request(3))
    two.stage(_request(3))
    one.stage(_request(2))
    one.commit()
    two.abort()
    assert read_arrow(tmp_path).column("ts").to_pylist() == [2]
    writer.write(_request(4))
    assert (tmp_path / ".hoodie/metadata").is_dir()
    assert read_arrow(tmp_path).column("ts").to_pylist() == [4]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_ranges_are_answered_from_storage_where_the_metadata_table_lacks_a_write(table_type: str, tmp_path: Path):
    """As snapshots are: the files that it does not list were said to be missing from storage."""
    schema = {"type": "record", "name": "rides", "fields": FIELDS}
    configs = {"hoodie.table.cdc.enabled": "true"}
    create_arrow(tmp_path, TableDefinition("r", schema, table_type, 9, ("id",), (), ("ts",), configs=configs))
    for ts in (1, 2):
        write_arrow(tmp_path, pa.table({"id": ["a"], "ts": [ts]}))
    timeline = tmp_path / ".hoodie/metadata/.hoodie/timeline"
    newest = max(path.name for path in timeline.glob("*.deltacommit"))[:17]
    changes = read_changes(tmp_path, "earliest")
    for path in timeline.glob(f"{newest}*"):
        path.unlink()
    assert read_arrow(tmp_path).column("ts").to_pylist() == [2]
    assert read_incremental(tmp_path, "earliest").column("ts").to_pylist() == [2]
    assert read_changes(tmp_path, "earliest").equals(changes)
    assert changes.num_rows == 2
