"""One row of the matrix, drawn by lot and played anew: whether it still is the one that is kept."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from hudi_conformance.corpus.mutants import MUTANTS
from hudi_conformance.runner.cases import Case
from hudi_conformance.verification.mutation_matrix.columns import AnyCase, killed_by
from hudi_conformance.verification.mutation_matrix.matrix import Matrix, Row, spread

SAMPLED = 12
"""So many cases that write are put to a mutant that no case is known to kill: all of them would take hours."""


@dataclass(frozen=True, slots=True)
class Played:
    """A row that was drawn: the cases that were asked, and those of them that the mutant failed.

    `is_whole`: whether these are all the killers that the matrix finds.
    """

    row: Row
    tried: int
    killers: tuple[AnyCase, ...]
    is_whole: bool


def sample_order(seed: str) -> str:
    """The mutant that a seed draws."""
    return random.Random(seed).choice(sorted(MUTANTS))  # noqa: S311 - a lot, not a secret


def run_row(row: Row, cases: Sequence[AnyCase], seed: str) -> Played:
    """Every case that reads or is a trace, and of those that write the ones that name the mutant or are kept for it.

    Where none is known to kill it, a sample of those that write is asked too.

    Raises:
        CorpusError: a table cannot be read.

    """
    usual = [one for one in cases if not _writes(one) or row.mutant in one.kills]
    others = [one for one in cases if _writes(one) and row.mutant not in one.kills]
    more = [one for one in others if one.id in row.cases]
    if not row.killed_by:
        more = random.Random(seed).sample(others, min(SAMPLED, len(others)))  # noqa: S311 - as above
    killers = tuple(one for one in (*usual, *more) if killed_by(one, [MUTANTS[row.mutant]]))
    return Played(row, len(usual) + len(more), killers, is_whole=not more)


def faults(played: Played, matrix: Matrix, cases: int) -> tuple[str, ...]:
    """Where a row is not the one that is kept; more killers are none where cases came after the matrix was played."""
    row, killers = played.row, [one.id for one in played.killers]
    counted = (len(killers), spread(played.killers))
    found = [f"{one} no longer kills {row.mutant}" for one in row.cases if one not in killers]
    if not row.killed_by:
        found += [f"{one} kills {row.mutant}, which nothing did" for one in killers]
    elif played.is_whole and matrix.cases != cases and len(killers) < row.killed_by:
        found.append(f"{len(killers)} cases kill {row.mutant}, {row.killed_by} did")
    elif played.is_whole and matrix.cases == cases and counted != (row.killed_by, row.cases):
        found.append(f"{len(killers)} cases kill {row.mutant}, and they are not the {row.killed_by} that did")
    return tuple(found)


def _writes(case: AnyCase) -> bool:
    return isinstance(case, Case) and case.writes
