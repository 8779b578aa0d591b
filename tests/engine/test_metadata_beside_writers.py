"""The metadata table of a table on which several writers are at work begins with what has completed, and no more."""

from pathlib import Path

import pyarrow as pa
import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import create_arrow, read_arrow
from hudi_spark.creation.definition import TableDefinition
from hudi_spark.flows.in_process import InProcess
from hudi_spark.writing.requests import WriteRequest
from hudi_spark.writing.writer import TableWriter

SHARED = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
}
FIELDS = [{"name": "id", "type": "string"}, {"name": "ts", "type": "long"}]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_logs_of_a_writer_that_gives_up_are_not_listed(version: int, tmp_path: Path):
    schema = {"type": "record", "name": "rides", "fields": FIELDS}
    create_arrow(tmp_path, TableDefinition("rides", schema, "MERGE_ON_READ", version, ("id",), (), ("ts",)))
    writer = TableWriter(LocalStorage(tmp_path), InProcess())

    def asked(ts: int) -> WriteRequest:
        return WriteRequest("upsert", pa.table({"id": ["a"], "ts": [ts]}), configs=SHARED)

    writer.write(WriteRequest("upsert", asked(1).rows, configs={**SHARED, "hoodie.metadata.enable": "false"}))
    one, two = writer.begin(asked(2)), writer.begin(asked(3))
    two.stage(asked(3))
    one.stage(asked(2))
    one.commit()
    two.abort()
    assert read_arrow(tmp_path).column("ts").to_pylist() == [2]
    writer.write(asked(4))
    assert (tmp_path / ".hoodie/metadata").is_dir()
    assert read_arrow(tmp_path).column("ts").to_pylist() == [4]
