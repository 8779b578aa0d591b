"""One case against all mutants: which of them it distinguishes from the model."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from hudi_conformance.corpus.golden.answers import Answering, killed, killed_in_bytes
from hudi_conformance.corpus.golden.misreading import Misreading, misreading
from hudi_conformance.corpus.golden.questions import Question
from hudi_conformance.corpus.mutants import MUTANTS, Mutant, mutants_reached
from hudi_conformance.corpus.trace_cases import TraceCase, load_trace_cases
from hudi_conformance.corpus.writing.building import played
from hudi_conformance.runner.archive import unpacked
from hudi_conformance.runner.cases import Case, load_cases
from hudi_conformance.runner.verdicts import Verdict

FEW = 2
AnyCase: TypeAlias = Case | TraceCase


def every_case(root: Path) -> tuple[AnyCase, ...]:
    """The cases of golden tables, those that write, and those that are traces.

    Raises:
        CorpusError: one of them cannot be read.

    """
    return (*load_cases(root), *load_trace_cases(root))


def killed_by(case: AnyCase, mutants: Iterable[Mutant] | None = None) -> tuple[str, ...]:
    """The names of the mutants that fail a case, of all or of those given.

    Raises:
        CorpusError: the case's table cannot be read.

    """
    every = tuple(MUTANTS.values() if mutants is None else mutants)
    if isinstance(case, TraceCase):
        return tuple(case.killed(mutants_reached(case.verdict, every)))
    if not case.writes:
        read, question = _read(unpacked(case.table.folder)), question_of(case)
        answer = Answering(read.valid, question)
        found = killed(read.valid, question, answer, every)
        return (*found, *killed_in_bytes(read, question, answer, every))
    # To find out which of a few it comes by costs as much as to ask them.
    tried = mutants_reached(lambda: played(case), every) if len(every) > FEW else every
    return tuple(one.name for one in tried if played(case, one.name).verdict is not Verdict.PASS)


def question_of(case: Case) -> Question:
    """What a case of a golden table asks; a second step is a control, which every mutant passes."""
    step = case.steps[0]
    return Question(case.name, step.op, case.then, case.clauses, case.kills, step.params)


@lru_cache(maxsize=2)
def _read(table: Path) -> Misreading:
    """A table that several cases ask, one after the other."""
    return misreading(table)
