"""Rollback, savepoint and restore by `HudiTable`, with Spark's tasks."""

from pathlib import Path
from typing import Any

import pytest
from hudi_spark import HudiTable
from rollback_tables import CONFIGS, Undoable, rows

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize(("version", "kind"), [(6, "MERGE_ON_READ"), (9, "COPY_ON_WRITE")])
def test_a_table_rolls_back_the_given_instant(tmp_path: Path, spark: Any, version: int, kind: str):
    """A failed write by name, another one before a write, and everything since the savepoint."""
    made = Undoable(tmp_path, version, kind)
    before = made.found()
    table = HudiTable(spark, tmp_path, configs=CONFIGS)
    table.rollback(made.failed_write())
    assert made.found() == before
    made.refuse_leftovers()
    table.savepoint(comment="as it was")
    made.failed_write()
    table.upsert(
        spark.createDataFrame(rows([1, 30], 8, 8.0).to_pylist(), "id string, region string, ts long, price double")
    )
    assert ("k1", 8.0) in made.found()
    made.refuse_leftovers()
    table.restore(to=made.second)
    assert made.found() == before
    table.delete_savepoint(made.second)
    made.refuse_leftovers()
