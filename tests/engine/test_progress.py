"""A read that takes a while shows on a terminal how far it is."""

import io
import sys
import time
from collections.abc import Iterator

import pytest
from hudi_spark.read import queries


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def slices(seconds: float) -> Iterator[str]:
    for number in range(3):
        time.sleep(seconds)
        yield f"slice {number}"


@pytest.mark.parametrize(("seconds", "shown"), [(0.3, True), (0.0, False)])
def test_a_bar_appears_while_the_first_slice_is_read(seconds: float, shown: bool, monkeypatch: pytest.MonkeyPatch):
    """Short reads print nothing, and the results are the same."""
    monkeypatch.setattr(queries, "_QUIET_SECONDS", 0.1)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(queries._watched(slices(seconds), 3)) == ["slice 0", "slice 1", "slice 2"]
    assert ("reading slices" in terminal.getvalue()) is shown
    assert ("0/3" in terminal.getvalue()) is shown


def test_nothing_is_drawn_into_a_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(queries, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert len(list(queries._watched(slices(0.05), 3))) == 3
    assert sys.stderr.getvalue() == ""
