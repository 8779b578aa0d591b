"""The matrix of mutants by cases is what is kept of it: one row of it is played anew."""

import os
from pathlib import Path
from zlib import crc32

import pytest
from hudi_conformance.corpus.mutants import MUTANTS
from hudi_conformance.corpus.trace_cases import TraceCase
from hudi_conformance.runner.recorded_results import results_file
from hudi_conformance.verification.mutation_matrix.columns import every_case
from hudi_conformance.verification.mutation_matrix.matrix import SOURCE, Matrix, Row, kept_matrix
from hudi_conformance.verification.mutation_matrix.page import unbroken_musts
from hudi_conformance.verification.mutation_matrix.sampling import Played, faults, run_row, sample_order
from hudi_conformance.verification.mutation_matrix.unbroken import UNBROKEN

ROOT = Path(__file__).parents[2]
SEED = os.environ.get("HUDI_CONFORMANCE_SAMPLE") or str(crc32(results_file(ROOT, SOURCE).read_bytes()))
"""What the environment says, else the recorded matrix itself: the same commit plays the same row."""
_ROW = Row("backup-ignored", 2, ("trace::a",), ())


def _traces(names: str) -> tuple[TraceCase, ...]:
    return tuple(TraceCase(one, one, (), (), "", "", "", 0, ()) for one in names)


@pytest.mark.slow
def test_the_row_that_is_drawn_is_the_recorded_one() -> None:
    """All cases that may tell one mutant from the model are asked, and those that do are those that did."""
    matrix, cases = kept_matrix(ROOT), every_case(ROOT)
    row = next(one for one in matrix.rows if one.mutant == sample_order(SEED))

    played = run_row(row, cases, SEED)

    print(f"HUDI_CONFORMANCE_SAMPLE={SEED} draws {row.mutant}: {len(played.killers)} of {played.tried} cases kill it")  # noqa: T201 - how to repeat it
    assert not faults(played, matrix, len(cases)), f"HUDI_CONFORMANCE_SAMPLE={SEED} repeats this row"


def test_samples_are_the_same_for_the_same_seed_and_reach_many_mutants() -> None:
    """A day's failure can be repeated, and a year comes by a good part of them."""
    days = [str(day) for day in range(365)]

    assert [sample_order(day) for day in days] == [sample_order(day) for day in days]
    assert len({sample_order(day) for day in days}) > len(MUTANTS) // 3


@pytest.mark.parametrize(
    ("killers", "cases", "is_fault"),
    [("ab", 9, False), ("bc", 9, True), ("abc", 9, True), ("abc", 10, False), ("a", 10, True), ("", 10, True)],
    ids=["the same", "others", "one more", "one more of a corpus that grew", "one less of it", "none of it"],
)
def test_a_row_with_other_killers_than_are_kept_is_a_fault(killers: str, cases: int, *, is_fault: bool) -> None:
    """Only cases that came after the matrix was played may add to it."""
    played = Played(_ROW, 9, _traces(killers), is_whole=True)

    assert bool(faults(played, Matrix(9, (_ROW,)), cases)) is is_fault


def test_a_killer_of_what_nothing_killed_is_a_fault() -> None:
    """Then the row that is kept is out of date."""
    row = Row("backup-ignored", 0, (), ("PO-001",))

    assert faults(Played(row, 9, _traces("a"), is_whole=False), Matrix(9, (row,)), 9)


def test_the_must_clauses_without_a_mutant_are_those_that_are_listed_with_a_reason() -> None:
    """A clause that nobody breaks is one that nobody has shown to be tested."""
    assert {one.id for one in unbroken_musts(ROOT)} == UNBROKEN.keys()
    assert all(reason.endswith(".") for reason in UNBROKEN.values())
