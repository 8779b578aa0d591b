"""One adapter process over its life."""

import os
import sys
import time
from pathlib import Path

import pytest
from hudi_conformance.runner.session import Broken, Hung, Reply, Session
from tiny_corpus import TinyCorpus

CHILD = (
    "import subprocess,sys,json,time\n"
    "child=subprocess.Popen([sys.executable,'-c','import time;time.sleep(600)'])\n"
    "open(sys.argv[1],'w').write(str(child.pid))\n"
    "time.sleep(600)\n"
)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as status:  # noqa: PTH123 - not a path of ours
            return status.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes through /proc")  # noqa: PTH112
def test_a_hung_adapter_is_ended_with_its_children(tmp_path: Path):
    """A Java process that an adapter started does not outlive it."""
    pid_file = tmp_path / "pid"
    session = Session([sys.executable, "-c", CHILD, str(pid_file)], tmp_path / "log", start_limit_s=2.0)

    response = session.start()

    deadline = time.monotonic() + 10
    while _alive(int(pid_file.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert isinstance(response, Hung)
    assert not _alive(int(pid_file.read_text()))


def test_a_process_answers_many_questions(tiny: TinyCorpus, tmp_path: Path):
    """Starting costs seconds for some implementations: it happens once."""
    with Session([sys.executable, str(tiny.root / "fake_adapter.py")], tmp_path / "log") as session:
        response = [session.request("x", tmp_path, {"do": "unsupported"}, tmp_path, 20) for _ in range(3)]

    assert all(isinstance(one, Reply) for one in response)
    assert session.starts == 1


def test_stop_leaves_with_status_zero(tiny: TinyCorpus, tmp_path: Path):
    """`stop` is not answered."""
    session = Session([sys.executable, str(tiny.root / "fake_adapter.py")], tmp_path / "log")
    session.start()

    assert session.stop() == 0


def test_an_absent_command_is_reported(tmp_path: Path):
    """The first word of the command is named."""
    response = Session(["/no/such/adapter"], tmp_path / "log").start()

    assert isinstance(response, Broken)
    assert "/no/such/adapter" in response.why


def test_a_start_that_breaks_the_schema_is_reported_with_its_place(tmp_path: Path):
    """A new adapter's author learns which field is wrong."""
    script = (
        "import sys; sys.stdin.readline(); "
        'print(\'{"protocol":1,"implementation":{"name":"x"},"features":[],"ops":[]}\', flush=True)'
    )
    response = Session([sys.executable, "-c", script], tmp_path / "log", 20.0).start()

    assert isinstance(response, Broken)
    assert "implementation" in response.why
    assert "version" in response.why
