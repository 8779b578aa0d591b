"""Runs over time: what each implementation made of the suite, run by run, and what moved between the last two."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.report.page import Page
from hudi_conformance.report.tallies import Tally, group_of, tally
from hudi_conformance.runner.results import RESULTS_FILE, ResultsError, RunResults, read_results
from hudi_conformance.runner.trend import Change, changes

Verdicts = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Run:
    """One run: when it began, a tally for each implementation, and each verdict by implementation and case."""

    name: str
    started: str
    suite: str
    tallies: Mapping[str, Tally]
    verdicts: Verdicts


@dataclass(frozen=True, slots=True)
class Moved:
    """A case that came out otherwise than in the run before, with its title and its place in the report."""

    change: Change
    title: str
    link: str = ""

    @property
    def groups(self) -> tuple[str, str]:
        """The groups of both verdicts; none where it was not asked."""
        before, after = self.change.before, self.change.after
        return (group_of(before) if before else ""), group_of(after)


@dataclass(frozen=True, slots=True)
class History:
    """Runs, oldest first, and the cases that moved between the last two."""

    runs: tuple[Run, ...]
    failing: tuple[Moved, ...] = ()
    passing: tuple[Moved, ...] = ()
    otherwise: tuple[Moved, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every implementation that took part, in the order of the last run that it took part in."""
        return tuple(dict.fromkeys(name for run in reversed(self.runs) for name in run.tallies))

    def of(self, implementation: str) -> tuple[tuple[Run, Tally], ...]:
        """The runs that an implementation took part in."""
        return tuple((run, run.tallies[implementation]) for run in self.runs if implementation in run.tallies)


def result_files(folder: Path) -> tuple[Path, ...]:
    """The results files of a folder of runs: files of JSON lines in it, and `results.jsonl` one folder below.

    Raises:
        ResultsError: there is none.

    """
    found = sorted({*folder.glob("*.jsonl"), *folder.glob(f"*/{RESULTS_FILE}")})
    if not found:
        raise ResultsError(f"{folder.name}: no {RESULTS_FILE}, and no folder of runs")
    return tuple(found)


def runs_of(files: Iterable[Path]) -> tuple[tuple[Path, RunResults], ...]:
    """The runs of files, oldest first.

    Raises:
        ResultsError: one is absent or does not parse.

    """
    return tuple(sorted(((file, read_results(file)) for file in files), key=_age))


def history_of(runs: Sequence[tuple[Path, RunResults]], page: Page) -> History:
    """The history that ends with the run of a page."""
    known_runs = tuple(_run(file, results) for file, results in runs)
    if len(known_runs) < 2:
        return History(known_runs)
    moved = tuple(_moved(changes(runs[-2][1], runs[-1][1]), page))
    failing = tuple(one for one in moved if one.change.is_failing)
    passing = tuple(one for one in moved if one.change.is_passing)
    rest = tuple(one for one in moved if not (one.change.is_failing or one.change.is_passing))
    return History(known_runs, failing, passing, rest)


def _age(run: tuple[Path, RunResults]) -> tuple[str, str]:
    return str(run[1].header.get("started", "")), str(run[0])


def _run(file: Path, results: RunResults) -> Run:
    verdicts = {(str(line["adapter"]), str(line["id"])): str(line["verdict"]) for line in results.cases}
    mine: dict[str, list[str]] = defaultdict(list)
    for (implementation, _), verdict in verdicts.items():
        mine[implementation].append(verdict)
    return Run(
        name=file.parent.name if file.name == RESULTS_FILE else file.stem,
        started=str(results.header.get("started", "")),
        suite=str(results.header.get("suite", "")),
        tallies={str(name): tally(mine[str(name)]) for name in results.header["adapters"]},
        verdicts=verdicts,
    )


def _moved(changed: Iterable[Change], page: Page) -> Iterator[Moved]:
    lines = {line.question.id: line for section in page.sections for line in section.lines}
    for one in changed:
        if one.case in lines:
            yield Moved(one, lines[one.case].question.title, lines[one.case].link)
