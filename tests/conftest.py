"""What is slow, or starts another implementation or Spark, is taken in turns where `--one-in` says so."""

import datetime as dt
import os
from typing import Final

import pytest

_IN_TURNS: Final = ("peers", "spark", "slow")
_OF_OTHER_TARGETS: Final = ("browser", "crashes", "templates")
_TURN: Final = "HUDI_CONFORMANCE_TURN"


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many days it takes until each such test has had its turn."""
    parser.addoption("--one-in", type=int, default=1, metavar="N", help=f"of {', '.join(_IN_TURNS)}: one in N each day")


def pytest_configure(config: pytest.Config) -> None:
    """The number of the day, told to the workers, so that midnight does not part them."""
    if config.getoption("one_in") > 1:
        os.environ.setdefault(_TURN, str(dt.datetime.now(dt.UTC).date().toordinal()))


def pytest_report_header(config: pytest.Config) -> str | None:
    """How to take the same turn again."""
    number = config.getoption("one_in")
    return f"{_TURN}={os.environ[_TURN]}: one in {number} of {', '.join(_IN_TURNS)}" if number > 1 else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out those whose turn it is not; neighbours in a file have different days."""
    number = config.getoption("one_in")
    if number < 2:
        return
    in_turns = sorted({item.nodeid for item in items if _is_in_turns(item)})
    left = {name for place, name in enumerate(in_turns) if (place + int(os.environ[_TURN])) % number}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]


def _is_in_turns(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    return not marks.isdisjoint(_IN_TURNS) and marks.isdisjoint(_OF_OTHER_TARGETS)
