"""A read that takes a while shows on a terminal how far it is."""

import io
import os
import sys
import time
from pathlib import Path

import pytest
from engine_tables import TableBuilder, row
from hudi_format.storage import LocalStorage
from hudi_spark import read_arrow


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three file slices."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row(f"k{n}", 1)], group=f"f{n}") for n in range(3)])
    return tmp_path


def slow_down(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The slices are read one after the other, and the first one takes so long."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    read, waits = LocalStorage.read_range, [seconds]

    def slow(storage: LocalStorage, path: str, offset: int, length: int) -> bytes:
        # Of the three slices alone: what is planned before them is read by ranges, too.
        if waits and path.endswith(".parquet"):
            time.sleep(waits.pop())
        return read(storage, path, offset, length)

    monkeypatch.setattr(LocalStorage, "read_range", slow)


@pytest.mark.parametrize(("seconds", "shown"), [(2.4, True), (0.0, False)])
def test_a_bar_appears_while_the_first_slice_is_read(
    table: Path, seconds: float, shown: bool, monkeypatch: pytest.MonkeyPatch
):
    """After two seconds. Short reads print nothing, and the results are the same."""
    slow_down(monkeypatch, seconds)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert sorted(read_arrow(table).column("id").to_pylist()) == ["k0", "k1", "k2"]
    assert ("reading slices" in terminal.getvalue()) is shown
    assert ("0/3" in terminal.getvalue()) is shown


def test_nothing_is_drawn_into_a_file(table: Path, monkeypatch: pytest.MonkeyPatch):
    slow_down(monkeypatch, 2.4)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert read_arrow(table).num_rows == 3
    assert sys.stderr.getvalue() == ""
