"""Apache Hudi clusters by this engine's plans, and the other way round; indexes hold and both read the same then."""

from pathlib import Path

import pytest
from apache_peer import Apache, texts
from clustering_tables import findings
from hudi_spark import read_arrow, services_arrow
from written_tables import Written, rows

CONFIGS = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.clean.automatic": "false",
}
SORTED = {**CONFIGS, "hoodie.clustering.plan.strategy.sort.columns": "price"}


@pytest.mark.peers
@pytest.mark.xdist_group("apache-hudi")
@pytest.mark.parametrize(("version", "kind"), [(6, "MERGE_ON_READ"), (8, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
def test_plans_cross_over(apache: Apache, tmp_path: Path, version: int, kind: str):
    """First ours by theirs; after further writes theirs by ours."""
    table = Written(tmp_path / "table", kind, version, configs=CONFIGS)
    table.write("insert", rows(range(6)))
    table.write("insert", rows(range(6, 12)))
    table.write("upsert", rows((0, 1, 7), ts=2, price=2.0))
    ours = services_arrow(table.path, configs=SORTED)
    before = texts(read_arrow(table.path))
    plan = ours.schedule("clustering")
    apache.request("execute", table.path, requested=plan, configs=CONFIGS)
    assert apache.both(table.path) == [before, before]
    assert findings(table) == ()

    table.write("insert", rows(range(20, 24), price=4.0))
    table.write("delete", rows((2, 3), ts=6))
    before = texts(read_arrow(table.path))
    plan = apache.request("schedule", table.path, service="clustering", configs=SORTED)["requested"]
    ours.execute(plan)
    assert apache.both(table.path) == [before, before]
    assert findings(table) == ()
