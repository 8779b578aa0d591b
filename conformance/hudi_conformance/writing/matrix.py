"""Who writes, who reads: every case that writes played by each writer, and read back by each reader."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hudi_conformance.adapters_config import AdapterConfig, find_adapter
from hudi_conformance.cases import Case
from hudi_conformance.casting import Cast, roles_of
from hudi_conformance.playing_steps import Judging, Play
from hudi_conformance.reading_clauses import ClauseBook
from hudi_conformance.verdicts import Outcome, Verdict

WROTE, CHECKED = "writes", "check_table"
Cell = tuple[str, str]


@dataclass(slots=True)
class Matrix:
    """Verdicts counted by writer and reader; `writes` and `check_table` are columns of their own."""

    counts: dict[Cell, Counter[str]] = field(default_factory=dict)
    bad: list[tuple[Cell, Outcome]] = field(default_factory=list)

    def add(self, cell: Cell, outcome: Outcome) -> None:
        """One verdict."""
        self.counts.setdefault(cell, Counter())[outcome.verdict.value] += 1
        if outcome.verdict not in {Verdict.PASS, Verdict.UNSUPPORTED}:
            self.bad.append((cell, outcome))

    def table(self) -> list[list[str]]:
        """A row for each writer: passed of those that were asked at all."""
        writers = dict.fromkeys(writer for writer, _ in self.counts)
        columns = list(dict.fromkeys(column for _, column in self.counts))
        rows = [[writer, *(self._told((writer, column)) for column in columns)] for writer in writers]
        return [["writer", *columns], *rows]

    def _told(self, cell: Cell) -> str:
        counts = self.counts.get(cell, Counter())
        asked = sum(counts.values()) - counts[Verdict.UNSUPPORTED.value]
        return f"{counts[Verdict.PASS.value]}/{asked}" if counts else "-"


def play_all(
    cases: Sequence[Case], writers: Iterable[str], readers: Sequence[str], root: Path, limit_s: float
) -> Iterator[tuple[Cell, Outcome]]:
    """Each verdict as it comes; a case that its writer does not finish is read by nobody."""
    judging = Judging(limit_s, ClauseBook(root).reading_clause)
    roles = roles_of(root, readers=readers)
    for writer in (find_adapter(name, root) for name in writers):
        # Within a case the writer reads itself: what others read of it is told apart.
        own = replace(roles, readers=(writer,))
        with (
            tempfile.TemporaryDirectory(prefix="hudi-matrix-") as work,
            Cast(writer, own, Path(work) / "logs") as cast,
            Cast(writer, roles, Path(work) / "logs", job=1) as reading,
        ):
            for number, case in enumerate(cases):
                yield from _played(Play(case, cast, Path(work) / f"case-{number}", judging), reading, writer)


def _played(game: Play, reading: Cast, writer: AdapterConfig) -> Iterator[tuple[Cell, Outcome]]:
    outcome = game.written()
    yield (writer.name, WROTE), outcome
    if outcome.verdict is not Verdict.PASS:
        return
    game.cast = reading
    for name, told in game.read_back():
        yield (writer.name, name), told
    yield (writer.name, CHECKED), game.checked() or outcome


def told(matrix: Matrix) -> Mapping[str, object]:
    """The matrix as JSON: counts by writer and column, and what was wrong, in one line each."""
    return {
        "counts": [
            {"writer": writer, "column": column, "counts": dict(sorted(counts.items()))}
            for (writer, column), counts in matrix.counts.items()
        ],
        "bad": [
            {
                "writer": writer,
                "column": column,
                "case": outcome.case.id,
                "verdict": outcome.verdict.value,
                "message": "; ".join((outcome.message, *outcome.differences))[:300],
            }
            for (writer, column), outcome in matrix.bad
        ],
    }
