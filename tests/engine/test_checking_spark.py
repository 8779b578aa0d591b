"""A check on Spark: the same tasks, the same answer."""

from pathlib import Path
from typing import Any

import pytest
from checked_tables import badly_damaged, copied, indexed
from hudi_spark import HudiTable, check_table

# pyspark 3.5 compares the version of pandas with distutils, and leaves sockets of collected frames to the collector.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning"),
]


def test_spark_finds_what_one_process_finds(spark: Any, tmp_path: Path):
    table = badly_damaged(tmp_path)
    found = HudiTable(spark, table).check(deep=True)
    assert tuple(found) == check_table(table, deep=True)
    assert str(found).startswith("error   BF-004  north/")


def test_keys_and_indexes_are_compared_on_spark(spark: Any, tmp_path: Path):
    assert HudiTable(spark, copied(indexed, tmp_path)).check(deep=True) == ()
