"""Versions, recovery and the indexing service with Spark's tasks."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hudi_spark import HudiTable, RecoveryHints, TableDefinition
from written_tables import Written, rows

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]


def test_a_table_is_indexed_upgraded_and_recovered(tmp_path: Path, spark: Any) -> None:
    """One table, by `HudiTable`: the same rows after each."""
    path = tmp_path / "t"
    made = Written(path, "MERGE_ON_READ", 6, configs={"hoodie.metadata.enable": "true"})
    made.write("upsert", rows(range(20)))
    made.write("upsert", rows([1, 2, 30], ts=5, price=5.0))
    table = HudiTable(spark, path)
    before = sorted(table.snapshot().collect())
    wanted = {"hoodie.metadata.global.record.level.index.enable": "true"}
    assert table.execute(str(table.schedule("indexing", wanted)), wanted).action == "indexing"
    assert table.validate_metadata() == ()
    assert table.upgrade()
    assert sorted(table.snapshot().collect()) == before
    assert table.downgrade(6)
    shutil.rmtree(path / ".hoodie")
    columns = TableDefinition(
        record_key=("id",), partition_by=("region",), ordering=("ts",), table_type="MERGE_ON_READ"
    )
    recovered = HudiTable.recover(spark, path, RecoveryHints(columns))
    assert str(recovered).startswith("recovered")
    assert sorted(HudiTable(spark, path).snapshot().collect()) == before
