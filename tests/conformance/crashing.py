"""Programs that die, or meet a storage that fails once, at each of their effects: what must be true afterwards."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from faulty_storage import Fault, FaultyStorage, When
from hudi_conformance.bridge.loading import load
from hudi_conformance.bridge.operations import evaluate
from hudi_format.compat import Self
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, OutcomeUnknownError
from hudi_spark.testing import TableActions, WriteRequest, load_table
from table_programs import WRITES, Program, Row, answers, completed, made, rows_of, writer_of

Choose = Callable[[int], Iterable[int]]
"""Of so many effects the numbers of those that are tried."""
_SERVER = Path(__file__).with_name("killed_program.py")
# A partition of its own: a group that waits for its clustering takes no updates.
_NEXT: Row = ("z9", "trömsö", 1, 7.0)


class Way(Protocol):
    """How a program does not run through."""

    def whole(self, program: Program, table: Path) -> int:
        """It runs through after all: the number of its effects that can be chosen."""

    def broken(self, program: Program, table: Path, number: int) -> bool:
        """It meets the effect of a number; false where it got by and ran through."""


class Killed:
    """Its process is killed before an effect: this process forks children which die."""

    def __init__(self) -> None:
        command = [sys.executable, str(_SERVER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def whole(self, program: Program, table: Path) -> int:
        status = self._status(program, table, 1_000_000)
        assert status == 0, f"the process ended with {status}"
        return int(table.with_name("effects").read_text(encoding="ascii"))

    def broken(self, program: Program, table: Path, number: int) -> bool:
        """Heartbeats follow the clock, so a run may have fewer effects than the one that counted them."""
        status = self._status(program, table, number)
        assert status in (-9, 0), f"the process ended with {status}"
        return status == -9

    def _status(self, program: Program, table: Path, effect: int) -> int:
        """How a child's process ended: 0 where it ran through."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"program": str(program), "table": str(table), "effect": effect}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@dataclass(frozen=True, slots=True)
class Failed:
    """A change of the storage fails: nothing of it took place, or all of it did and an error is reported."""

    when: When

    def whole(self, program: Program, table: Path) -> int:
        fault = Fault(1_000_000, self.when)
        program.run(writer_of(FaultyStorage(LocalStorage(table), fault)))
        return fault.seen

    def broken(self, program: Program, table: Path, number: int) -> bool:
        count = completed(table)
        try:
            program.run(writer_of(FaultyStorage(LocalStorage(table), Fault(number, self.when))))
        except OutcomeUnknownError:
            return True
        except (OSError, HudiError) as error:
            failed: Exception = error
        else:
            return False
        assert program.name not in WRITES or completed(table) == count, f"reported as failed, and stands: {failed}"
        return True


def tried(program: Program, way: Way, folder: Path, choose: Choose) -> int:
    """At how many effects, one after the other, each on a copy of the program's table.

    The table answers as before, or as after where the completing effect had taken place; `went_on` holds.
    """
    table, after_table = folder / "table", folder / "after" / "table"
    made(table, program)
    before, count = answers(table), completed(table)
    shutil.copytree(table, after_table)
    effects = way.whole(program, after_table)
    after = answers(after_table)
    assert effects > 3
    assert (after != before) == (program.name in WRITES)

    numbers = list(choose(effects))
    for number in numbers:
        copy, label = folder / f"tried-{number}" / "table", f"{way}, effect {number} of {effects}"
        shutil.copytree(table, copy)
        broken = way.broken(program, copy, number)
        held = before if broken and completed(copy) == count else after
        assert answers(copy) == held, label
        went_on(program, copy, held, label)
        shutil.rmtree(copy.parent)
    return len(numbers)


def went_on(program: Program, table: Path, held: list[Row], label: str) -> None:
    """Another writer comes, then the service again, with no step in between; the table is whole, nothing is left."""
    writer = writer_of(LocalStorage(table))
    writer.write(WriteRequest("upsert", rows_of([_NEXT])))
    assert answers(table) == sorted([*held, _NEXT]), f"the next write, {label}"
    if program.name not in WRITES:
        program.run(writer)
        assert answers(table) == sorted([*held, _NEXT]), f"run again, {label}"
    assert TableActions(writer).validate_metadata() == (), label
    assert [one for one in evaluate(load(table), "check_table", {}).content if one["severity"] == "error"] == [], label
    assert left_over(table) == [], label


def left_over(table: Path) -> list[str]:
    """Heartbeats that stopped, and markers but those of completed actions, which archival takes away."""
    _, timeline = load_table(LocalStorage(table))
    done = {one.requested for one in timeline.instants if one.is_completed}
    temporary, heartbeats = table / ".hoodie" / ".temp", table / ".hoodie" / ".heartbeat"
    markers = [one for one in temporary.rglob("*") if one.is_file() and one.relative_to(temporary).parts[0] not in done]
    return [str(one) for one in (*markers, *heartbeats.rglob("*")) if one.is_file()]
