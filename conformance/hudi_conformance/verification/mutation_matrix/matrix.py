"""The matrix, mutants by cases, and what is kept of it: up to three cases for each mutant.

Cases that write take seconds against every mutant: unless the matrix is to be whole, they are put to the mutants that
they name, and to those that nothing else shows from the model.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from hudi_conformance.corpus.mutants import MUTANTS
from hudi_conformance.runner.cases import Case
from hudi_conformance.runner.processes import in_processes
from hudi_conformance.runner.recorded_results import ResultsFileError, load_recorded, results_file, save_recorded
from hudi_conformance.verification.mutation_matrix.columns import AnyCase, every_case, killed_by
from hudi_conformance.verification.properties import MODEL_PROPERTIES

SOURCE = "mutants"
NAMED = 3
Advance = Callable[[], object]
Task: TypeAlias = tuple[AnyCase, Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class Row:
    """A mutant: how many cases fail it, some of them by id, and the properties that it breaks."""

    mutant: str
    killed_by: int
    cases: tuple[str, ...]
    properties: tuple[str, ...]

    @property
    def survives(self) -> bool:
        """Whether nothing distinguishes it from the model."""
        return not self.killed_by and not self.properties


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows, by the name of the mutant, and how many cases were played."""

    cases: int
    rows: tuple[Row, ...]


def run_matrix(root: Path, *, whole: bool = False, advance: Advance = lambda: None) -> Matrix:
    """Every case against the mutants, in two processes.

    Raises:
        CorpusError: a case cannot be read.

    """
    cases = every_case(root)
    columns = _columns([(case, case.kills if _is_sampled(case, whole=whole) else None) for case in cases], advance)
    lost = [name for name in sorted(MUTANTS) if row(name, cases, columns).survives]
    again = [(case, lost) for case in cases if lost and _is_sampled(case, whole=whole)]
    for identifier, names in _columns(again, advance).items():
        columns[identifier] = (*columns[identifier], *names)
    return Matrix(len(cases), tuple(row(name, cases, columns) for name in sorted(MUTANTS)))


def _is_sampled(case: AnyCase, *, whole: bool) -> bool:
    """Whether a case is not put to every mutant."""
    return not whole and isinstance(case, Case) and case.writes


def _columns(tasks: Sequence[Task], advance: Advance) -> dict[str, tuple[str, ...]]:
    """What kills what; the questions of one table are asked by one process, which reads it once."""
    found: dict[str, tuple[str, ...]] = {}
    groups = [tuple(group) for _, group in groupby(tasks, key=_place)]
    for columns in in_processes(_columns_of_group, groups):
        for identifier, names in columns:
            found[identifier] = names
            advance()
    return found


def _place(task: Task) -> str:
    """The table of a question; a case that writes stands alone, as one that is a trace does."""
    case = task[0]
    return str(case.table.folder) if isinstance(case, Case) and not case.writes else case.id


def _columns_of_group(group: tuple[Task, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (case.id, killed_by(case, None if names is None else [MUTANTS[name] for name in names]))
        for case, names in group
    )


def row(name: str, cases: Sequence[AnyCase], columns: Mapping[str, Iterable[str]]) -> Row:
    """The row of a mutant, of the columns of all cases."""
    killers = [case for case in cases if name in columns[case.id]]
    broken = tuple(sorted(one.id for one in MODEL_PROPERTIES.values() if name in one.broken_by))
    return Row(name, len(killers), spread(killers), broken)


def spread(killers: Sequence[AnyCase]) -> tuple[str, ...]:
    """Up to three cases, of different tables, and of different versions or kinds first."""
    first: dict[str, str] = {}
    for case in killers:
        first.setdefault(case.id.rpartition("::")[0], case.id)
    kinds: dict[str, list[str]] = {}
    for place, identifier in first.items():
        kinds.setdefault(place.partition("/")[0], []).append(identifier)
    in_order = (ids[rank] for rank in range(NAMED) for ids in kinds.values() if rank < len(ids))
    return tuple(identifier for identifier, _ in zip(in_order, range(NAMED), strict=False))


def keep(matrix: Matrix, root: Path) -> Path:
    """Write what is kept of a matrix."""
    rows = {
        one.mutant: {"killed_by": one.killed_by, "cases": one.cases, "properties": one.properties}
        for one in matrix.rows
    }
    return save_recorded(root, SOURCE, {"cases": matrix.cases, "mutants": rows})


def kept_matrix(root: Path) -> Matrix:
    """The last matrix that was played whole.

    Raises:
        ResultsFileError: none is recorded, or the file does not parse.

    """
    found = load_recorded(root, SOURCE)
    if found is None:
        raise ResultsFileError(
            f"{results_file(root, SOURCE)}: no matrix is recorded; run `hudi-conformance mutants matrix`"
        )
    return Matrix(found["cases"], tuple(_row(name, row) for name, row in found["mutants"].items()))


def _row(name: str, row: Mapping[str, object]) -> Row:
    cases, properties = row["cases"], row["properties"]
    assert isinstance(cases, list)
    assert isinstance(properties, list)
    return Row(name, int(str(row["killed_by"])), tuple(cases), tuple(properties))
