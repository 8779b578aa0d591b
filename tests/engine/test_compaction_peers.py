"""Apache Hudi carries out what this engine planned, and the other way round; both read the same then."""

from pathlib import Path

import pytest
from apache_peer import Apache, texts
from hudi_spark import read_arrow, services_arrow
from written_tables import Written, rows

CONFIGS = {"hoodie.metadata.enable": "false", "hoodie.parquet.small.file.limit": "0"}
DUE = {
    "hoodie.metadata.enable": "false",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
}


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize(
    ("version", "service"), [(6, "compaction"), (8, "compaction"), (9, "compaction"), (9, "logcompaction")]
)
def test_plans_cross_over(apache: Apache, tmp_path: Path, version: int, service: str):
    """First ours by theirs, with a write between; after another write theirs by ours."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", version, configs=CONFIGS)
    table.write("insert", rows(range(6)))
    table.write("upsert", rows((0, 1, 7), ts=2, price=2.0))
    table.write("delete", rows((2, 3), ts=3))
    ours = services_arrow(table.path, configs=DUE)
    plan = ours.schedule(service)
    table.write("upsert", rows((0, 9), ts=4, price=4.0))
    before = texts(read_arrow(table.path))
    apache.request("execute", table.path, requested=plan, configs=DUE)
    assert apache.both(table.path) == [before, before]

    table.write("upsert", rows((0, 1, 4), ts=5, price=5.0))
    table.write("delete", rows((5, 9), ts=6))
    plan = apache.request("schedule", table.path, service=service, configs=DUE)["requested"]
    before = texts(read_arrow(table.path))
    ours.execute(plan)
    assert apache.both(table.path) == [before, before]
