from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One small Spark session on the embedded Java for all tests that need one."""
    from hudi_spark.adapter_executors import local_session  # noqa: PLC0415 - pyspark only where a test asks for it

    session = local_session("engine tests")
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
