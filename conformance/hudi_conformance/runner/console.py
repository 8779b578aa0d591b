"""What a run says on the terminal: a progress bar or plain lines, failure blocks, the summary."""

import io
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType

from hudi_format.compat import Self
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from hudi_conformance.runner.cases import AREAS
from hudi_conformance.runner.scores import Score, shown_percent
from hudi_conformance.runner.verdicts import BAD, Outcome, Verdict

_PLAIN_EVERY_S = 10.0
_MIN_WIDTH = 100


def console() -> Console:
    """The terminal; wide enough for a block of text where the output is a file."""
    # What an adapter writes may not be in the terminal's character set.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    made = Console(highlight=False, soft_wrap=True)
    if not made.is_terminal:
        made.width = max(made.width, _MIN_WIDTH)
    return made


class Ticker:
    """Progress of one adapter over the cases: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self, out: Console, adapter: str, cases: int) -> None:
        self._out, self._adapter, self._cases = out, adapter, cases
        self._done, self._bad = 0, 0
        self._printed = time.monotonic()
        self._progress: Progress | None = None
        self._task = TaskID(0)

    def __enter__(self) -> Self:
        if self._out.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=self._out, transient=True)
            self._progress.start()
            self._task = self._progress.add_task(self._adapter, total=self._cases)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def step(self, outcome: Outcome) -> None:
        """One case is done."""
        self._done += 1
        self._bad += outcome.verdict in BAD
        bad = f", {self._bad} bad" if self._bad else ""
        if self._progress is not None:
            self._progress.update(self._task, advance=1, description=f"{self._adapter}{bad}")
        elif time.monotonic() - self._printed > _PLAIN_EVERY_S:
            self._printed = time.monotonic()
            self._out.print(f"{self._adapter}: {self._done} of {self._cases} cases{bad}", markup=False)


def summary(outcomes: Mapping[str, Sequence[Outcome]]) -> Table:
    """Areas down, implementations across: passed of those answered, and what became of the rest."""
    table = Table(title="passed / answered", title_justify="left")
    table.add_column("area")
    for adapter in outcomes:
        table.add_column(adapter)
    for area in _areas(outcomes):
        table.add_row(area, *(_cell([one for one in found if one.case.area == area]) for found in outcomes.values()))
    table.add_section()
    table.add_row("all", *(_cell(found) for found in outcomes.values()))
    table.add_row("score", *(_score(found) for found in outcomes.values()))
    return table


def readings_line(chosen: Mapping[str, str]) -> str:
    """Which reading an implementation follows, clause by clause."""
    return ", ".join(f"{clause} {reading}" for clause, reading in sorted(chosen.items()))


def _areas(outcomes: Mapping[str, Sequence[Outcome]]) -> list[str]:
    order = list(AREAS.values())
    found = {outcome.case.area for one in outcomes.values() for outcome in one}
    return sorted(found, key=lambda area: (order.index(area) if area in order else len(order), area))


def _cell(outcomes: Sequence[Outcome]) -> str:
    counts = Counter(outcome.verdict for outcome in outcomes)
    rest = ", ".join(
        f"{count} {verdict.replace('_', ' ')}" for verdict, count in sorted(counts.items()) if verdict != Verdict.PASS
    )
    score = Score.of(outcomes)
    return f"{score.passed}/{score.answered}" + (f"  {rest}" if rest else "")


def _score(outcomes: Sequence[Outcome]) -> str:
    score = Score.of(outcomes)
    if score.percent is None:
        return f"none of {len(outcomes)} cases answered"
    return f"{shown_percent(score.percent)} % of {score.answered} answered"
