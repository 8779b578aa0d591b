"""Which plans of table services are in the way of a write."""

from pathlib import Path

import pyarrow as pa
import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.schemas import arrow_schema
from hudi_format.storage import open_storage
from hudi_spark import HudiError, read_arrow
from hudi_spark.testing import InProcess, SetClock, TableWriter, WriteRequest


@pytest.mark.parametrize(
    ("version", "planned", "counts"), [(6, 20, True), (8, 20, False), (9, 20, False), (9, 40, True)]
)
def test_a_plan_of_an_earlier_time_than_the_write_counts_before_version_8(
    tmp_path: Path, version: int, planned: int, counts: object
):
    """It was not there when the write looked: where logs are named after their slice, its are of the old one."""
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, [row("k1", 1)])])
    options = {"hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL", "hoodie.metadata.enable": "false"}
    request = WriteRequest("upsert", pa.Table.from_pylist([row("k1", 2)], arrow_schema(builder.schema)))
    started = TableWriter(open_storage(tmp_path), InProcess(), options, clock=SetClock(tick(30))).begin(request)
    assert started.requested == tick(30)
    started.stage(request)
    builder.pending_compaction(planned, "f1")
    if counts:
        with pytest.raises(HudiError, match=f"{tick(planned)} is about to rewrite the same file groups: north/f1"):
            started.commit()
    else:
        started.commit()
        assert read_arrow(tmp_path)["ts"].to_pylist() == [2]
