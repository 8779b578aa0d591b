"""A storage that fails once, before a change or after it, costs no committed row and needs no manual step."""

import os
import shutil
from pathlib import Path

import pytest
from faulty_storage import Fault, FaultyStorage, When
from hudi_format.storage import LocalStorage
from hudi_spark.errors import HudiError
from table_programs import PROGRAMS, WRITES, Program, answers, completed, made, writer_of
from test_kills import SOAK, went_on

pytestmark = pytest.mark.crashes

SAMPLED = 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=str)
def test_a_fault_of_the_storage_leaves_all_or_nothing(program: Program, when: When, tmp_path: Path):
    """Each change of the storage fails once: nothing of it took place, or all of it and an error was told. The program
    ends in an error or gets by; the table answers as before or as after; what comes next needs no step in between."""
    table, after_table = tmp_path / "table", tmp_path / "after" / "table"
    made(table, program)
    before, count = answers(table), completed(table)
    shutil.copytree(table, after_table)
    counting = Fault(1_000_000, when)
    program.run(writer_of(FaultyStorage(LocalStorage(after_table), counting)))
    after = answers(after_table)
    assert (after != before) == (program.name in WRITES)

    for number in chosen(counting.seen, program):
        copy = tmp_path / f"failed-{number}" / "table"
        shutil.copytree(table, copy)
        told = f"an error {when} change {number} of {counting.seen}"
        try:
            program.run(writer_of(FaultyStorage(LocalStorage(copy), Fault(number, when))))
        except (OSError, HudiError):
            held = after if completed(copy) > count else before
        else:
            held = after
        assert answers(copy) == held, told
        went_on(program, copy, held, told)
        shutil.rmtree(copy.parent)


def chosen(changes: int, program: Program) -> list[int]:
    """Every change in soak; else a few, others for each program."""
    if os.environ.get(SOAK, "") not in {"", "0"}:
        return list(range(changes))
    stride = max(1, changes // SAMPLED)
    return list(range(list(PROGRAMS).index(str(program)) % stride, changes, stride))
