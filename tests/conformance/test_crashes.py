"""A process that is killed, or whose storage fails once, leaves a table that answers as before it, or as after."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from crashing import Failed, Killed, tried
from faulty_storage import When
from table_programs import PROGRAMS, Program

pytestmark = pytest.mark.crashes


@pytest.fixture(scope="module")
def killed() -> Iterator[Killed]:
    with Killed() as process:
        yield process


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=str)
def test_a_killed_process_leaves_all_or_nothing(program: Program, killed: Killed, tmp_path: Path):
    """The next writer needs no step in between; a service that is run again gets done; nothing is left."""
    assert tried(program, killed, tmp_path, partial(sample, program, 2))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=str)
def test_a_fault_of_the_storage_leaves_all_or_nothing(program: Program, when: When, tmp_path: Path):
    """It takes place and shows an error, or does not take place: in either case what comes next goes on by itself."""
    assert tried(program, Failed(when), tmp_path, partial(sample, program, 1))


def sample(program: Program, few: int, effects: int) -> list[int]:
    """A few effects, others for each program, so that all together see every place; `crash_soak.py` tries all."""
    stride = max(1, effects // few)
    return list(range(list(PROGRAMS).index(str(program)) % stride, effects, stride))
