"""Of the tests that are slow, kill processes, or start another implementation or Spark, `--shard K/N` runs one in N."""

from typing import Final

import pytest
from hudi_conformance.runner.processes import Shard

_SHARDED: Final = ("peers", "spark", "slow", "crashes")
_OF_OTHER_TARGETS: Final = ("browser", "templates")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The shard to run; which tests are in it depends on their names alone."""
    parser.addoption("--shard", metavar="K/N", default="1/1", help=f"the K-th part in N of {', '.join(_SHARDED)} tests")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Which shard this is."""
    shard = _shard(config)
    return f"shard {shard.number} of {shard.count} of the {', '.join(_SHARDED)} tests" if shard.count > 1 else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other shards."""
    shard = _shard(config)
    left = {item.nodeid for item in items if _is_sharded(item) and item.nodeid not in shard}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


def _shard(config: pytest.Config) -> Shard:
    try:
        return Shard.of(config.getoption("shard"))
    except ValueError as error:
        raise pytest.UsageError(f"--shard {error}") from error


def _is_sharded(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return not marks.isdisjoint(_SHARDED) and marks.isdisjoint(_OF_OTHER_TARGETS)
