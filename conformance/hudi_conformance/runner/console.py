"""What a run says on the terminal: a progress bar or plain lines, failure blocks, the summary."""

import io
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Event, Thread

from hudi_format.compat import Self
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hudi_conformance.runner.cases import AREAS
from hudi_conformance.runner.scores import Score, shown_percent
from hudi_conformance.runner.verdicts import Outcome, Verdict

_QUIET_FOR_S = 2.0
_LINES_EVERY_S = 10.0
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


class Bars(Progress):
    """How far what is at work is, once it has taken two seconds: bars at a terminal, elsewhere lines on stderr."""

    def __init__(self, out: Console, *, quiet: bool = False) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), _Counted(), TimeElapsedColumn())
        super().__init__(*columns, console=out, transient=True)
        self._quiet, self._ended = quiet, Event()
        self._thread = Thread(target=self._show, daemon=True)

    def __enter__(self) -> Self:
        if not self._quiet:
            self._thread.start()
        return self

    def stop(self) -> None:
        """Remove the bars; nothing more is printed."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if self.live.is_started:
            super().stop()

    def _show(self) -> None:
        if self._ended.wait(_QUIET_FOR_S):
            return
        if self.console.is_terminal:
            self.start()
            return
        printed = dict[int, str]()
        while True:
            for task in self.tasks:
                line = f"{task.description}: {_count(task) or f'{task.elapsed or 0:.0f} s'}"
                if printed.get(task.id) != line:
                    print(line, file=sys.stderr, flush=True)  # noqa: T201 - where no bar can be drawn
                printed[task.id] = line
            if self._ended.wait(_LINES_EVERY_S):
                return


class _Counted(MofNCompleteColumn):
    """How many of how many; nothing where that is not known."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.total is not None else Text()


def _count(task: Task) -> str:
    return f"{task.completed:.0f} of {task.total:.0f}" if task.total is not None else ""


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
