"""A process that is killed (-9) before any of its effects leaves a table that answers as before it, or as after."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hudi_conformance.bridge.asking import ask
from hudi_conformance.bridge.loading import load
from hudi_format.storage import LocalStorage
from hudi_spark.state.snapshots import load_table
from hudi_spark.writing.actions import TableActions
from hudi_spark.writing.writer import WriteRequest
from table_programs import PROGRAMS, WRITES, Program, Row, answers, completed, made, rows_of, writer_of

pytestmark = pytest.mark.crashes

SERVER = Path(__file__).with_name("killed_program.py")
SOAK = "HUDI_CONFORMANCE_SOAK"
SAMPLED = 2
# A partition of its own: a group that waits for its clustering takes no updates.
NEXT: Row = ("z9", "trömsö", 1, 7.0)


class Killed:
    """The process that forks children which die."""

    def __init__(self) -> None:
        command = [sys.executable, str(SERVER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def status(self, program: Program, table: Path, effect: int) -> int:
        """How a child's process ended: 0 where it ran through."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"program": str(program), "table": str(table), "effect": effect}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def killed() -> Iterator[Killed]:
    process = Killed()
    yield process
    process.close()


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=str)
def test_a_killed_process_leaves_all_or_nothing(program: Program, killed: Killed, tmp_path: Path):
    """Before each effect the process is killed. The table answers as before, or as after where its completing effect
    had happened. The next writer needs no step in between; a service that is run again gets done; nothing is left."""
    table, after_table = tmp_path / "table", tmp_path / "after" / "table"
    made(table, program)
    before, count = answers(table), completed(table)
    shutil.copytree(table, after_table)
    assert killed.status(program, after_table, 100_000) == 0
    after = answers(after_table)
    assert (after != before) == (program.name in WRITES)
    effects = int((tmp_path / "after" / "effects").read_text(encoding="ascii"))
    assert effects > 3

    for number in chosen(effects, program):
        copy = tmp_path / f"killed-{number}" / "table"
        shutil.copytree(table, copy)
        assert killed.status(program, copy, number) == -9, f"effect {number} of {effects}"
        held = after if completed(copy) > count else before
        assert answers(copy) == held, f"killed before effect {number} of {effects}"
        went_on(program, copy, held, f"killed before effect {number} of {effects}")
        shutil.rmtree(copy.parent)


def went_on(program: Program, table: Path, held: list[Row], told: str) -> None:
    """Another writer comes, then the service again; the table is whole."""
    writer = writer_of(LocalStorage(table))
    writer.write(WriteRequest("upsert", rows_of([NEXT])))
    assert answers(table) == sorted([*held, NEXT]), f"the next write, {told}"
    if program.name not in WRITES:
        program.run(writer)
        assert answers(table) == sorted([*held, NEXT]), f"run again, {told}"
    assert TableActions(writer).validate_metadata() == (), told
    assert [one for one in ask(load(table), "check_table", {}).content if one["severity"] == "error"] == [], told
    assert left_over(table) == [], told


def left_over(table: Path) -> list[str]:
    """Hearts that beat no more, and markers but those of completed actions, which archival takes away."""
    _, timeline = load_table(LocalStorage(table))
    done = {one.requested for one in timeline.instants if one.is_completed}
    temporary, hearts = table / ".hoodie" / ".temp", table / ".hoodie" / ".heartbeat"
    markers = [one for one in temporary.rglob("*") if one.is_file() and one.relative_to(temporary).parts[0] not in done]
    return [str(one) for one in (*markers, *hearts.rglob("*")) if one.is_file()]


def chosen(effects: int, program: Program) -> list[int]:
    """Every effect in soak; else a few, others for each program, so that all together see every place."""
    if os.environ.get(SOAK, "") not in {"", "0"}:
        return list(range(effects))
    stride = max(1, effects // SAMPLED)
    return list(range(list(PROGRAMS).index(str(program)) % stride, effects, stride))
