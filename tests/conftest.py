"""Of the tests that are slow, kill processes, or start another implementation or Spark, `--shard K/N` runs one in N."""

import re
import zlib
from typing import Final

import pytest

_SHARDED: Final = ("peers", "spark", "slow", "crashes")
_OF_OTHER_TARGETS: Final = ("browser", "templates")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The shard to run; which tests are in it depends on their names alone."""
    parser.addoption("--shard", metavar="K/N", default="1/1", help=f"the K-th part in N of {', '.join(_SHARDED)} tests")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Which shard this is."""
    number, count = _shard(config)
    return f"shard {number} of {count} of the {', '.join(_SHARDED)} tests" if count > 1 else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other shards."""
    number, count = _shard(config)
    left = {
        item.nodeid
        for item in items
        if _is_sharded(item) and zlib.crc32(item.nodeid.encode("utf-8", "replace")) % count != number - 1
    }
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


def _shard(config: pytest.Config) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", config.getoption("shard"))
    number, count = map(int, found.groups()) if found else (0, 0)
    if not 1 <= number <= count:
        raise pytest.UsageError(f"--shard {config.getoption('shard')}: K/N with K from 1 to N, such as 1/10")
    return number, count


def _is_sharded(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return not marks.isdisjoint(_SHARDED) and marks.isdisjoint(_OF_OTHER_TARGETS)
