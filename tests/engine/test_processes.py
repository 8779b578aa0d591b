"""Processes as locks and heartbeats name them: whether one has ended, and which texts name none."""

import subprocess
import sys
from pathlib import Path

import pytest
from hudi_spark.concurrency.heartbeats import Process, host, parse_process, this_process


@pytest.fixture
def ended() -> Process:
    """A process of this computer that has ended and was waited for."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        found = Process(host(), child.pid, "1")
        child.wait()
    return found


def test_a_process_that_ends_while_it_is_looked_at_has_ended(ended: Process, monkeypatch: pytest.MonkeyPatch):
    """Linux answers ESRCH to whoever has opened the file of a process that ends."""

    def gone(*_: object, **__: object) -> str:
        raise ProcessLookupError(3, "No such process")

    assert ended.has_ended()
    assert not this_process().has_ended()
    monkeypatch.setattr(Path, "read_text", gone)
    assert ended.has_ended()
    # What cannot be seen and answers to its number is alive: the system may hide the files of others.
    assert not Process(host(), this_process().pid, "1").has_ended()


@pytest.mark.parametrize("text", ["", "x", "a|b", "a|b|c", "a|²|c", f"a|{'9' * 5000}|c", "|1|c", "a|-1|c", "a|1.5|c"])
def test_a_text_that_names_no_process_is_none(text: str):
    """Whoever wrote it into a lock or a heartbeat."""
    assert parse_process(text) is None
