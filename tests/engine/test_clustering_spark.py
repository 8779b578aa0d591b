"""Clustering on Spark: groups in parallel, rows sent to the file that they are in order for."""

from pathlib import Path
from typing import Any

import pytest
from clustering_tables import clusterable, findings, stored
from hudi_spark import HudiTable

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]


def test_a_table_is_clustered_and_sorted_on_spark(spark: Any, tmp_path: Path):
    """The same rows, in as many files as the size requests, each with a range of its own; one job or two."""
    table = clusterable(tmp_path / "t", "MERGE_ON_READ")
    before = stored(table)
    on_spark = HudiTable(spark, table.path)
    small = {"hoodie.clustering.plan.strategy.target.file.max.bytes": "300000"}
    outcome = on_spark.cluster(sort=["id"], configs=small)
    assert outcome is not None
    assert outcome.operation == "CLUSTER"
    assert len(outcome.written) > 2
    assert stored(table) == before
    assert findings(table) == ()
    whole = on_spark.cluster(configs={"hoodie.table.services.incremental.enabled": "false"})
    assert whole is not None
    assert len(whole.written) == 2
    assert stored(table) == before
    assert on_spark.drop_old_partitions(days=10**5) is None
