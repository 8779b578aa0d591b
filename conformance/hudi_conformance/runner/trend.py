"""A run beside an earlier one: the score then and now, and every case that came out otherwise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_conformance.runner.plain_text import counted
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.results import RESULTS_FILE, ResultsError, RunResults, read_results
from hudi_conformance.runner.scores import Score, shown_percent
from hudi_conformance.runner.verdicts import BAD, Verdict

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Change:
    """A case that came out otherwise than in the run before; `before` is empty where it was not asked."""

    implementation: str
    case: str
    before: str
    after: str

    @property
    def is_failing(self) -> bool:
        """It is bad, and was not."""
        return self.after in BAD and self.before not in BAD

    @property
    def is_passing(self) -> bool:
        """It passes, and did not."""
        return self.after == Verdict.PASS and bool(self.before)


def changes(before: RunResults, after: RunResults) -> Iterator[Change]:
    """Cases of implementations that took part in both runs; new cases count, cases that are gone do not."""
    earlier = {(str(line["adapter"]), str(line["id"])): str(line["verdict"]) for line in before.cases}
    took_part = frozenset(before.header["adapters"])
    for line in after.cases:
        name, case, verdict = str(line["adapter"]), str(line["id"]), str(line["verdict"])
        was = earlier.get((name, case), "")
        if name in took_part and was != verdict:
            yield Change(name, case, was, verdict)


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The file of an earlier run and its results; these are None where there is no such file, as on a first run."""

    file: Path
    results: RunResults | None


def earlier_run(path: Path) -> EarlierRun:
    """The earlier run of a results file or its folder, read at once: a later run may write to the same place.

    Raises:
        CorpusError: the file does not parse.

    """
    file = path if path.suffix == Path(RESULTS_FILE).suffix else path / RESULTS_FILE
    if not file.exists():
        return EarlierRun(file, None)
    try:
        return EarlierRun(file, read_results(file))
    except ResultsError as error:
        raise CorpusError(f"the results of the earlier run cannot be read: {error}") from error


def trend_lines(before: RunResults, after: RunResults) -> Iterator[str]:
    """For each implementation of both runs a sentence on its score, and one on the cases of each kind of change."""
    found = tuple(changes(before, after))
    for name in after.header["adapters"]:
        if name not in before.header["adapters"]:
            yield f"{name}: took no part in the earlier run"
            continue
        yield f"{name}: {_scores(score_of(before, name), score_of(after, name))}"
        mine = [one for one in found if one.implementation == name]
        yield from _named("newly failing", [one for one in mine if one.is_failing])
        yield from _named("newly passing", [one for one in mine if one.is_passing])
        yield from _named("otherwise than before", [one for one in mine if not (one.is_failing or one.is_passing)])


def score_of(run: RunResults, name: str) -> Score:
    """The score of an implementation in a run."""
    return Score.of_verdicts(str(line["verdict"]) for line in run.cases if line["adapter"] == name)


def _scores(before: Score, now: Score) -> str:
    if before.percent is None or now.percent is None:
        return f"{_shown(now)}; before {_shown(before)}"
    return f"{_shown(now)}; before {_shown(before)} ({now.percent - before.percent:+.1f})"


def _shown(score: Score) -> str:
    if score.percent is None:
        return "no case answered"
    return f"{shown_percent(score.percent)} % of {counted(score.answered, 'answered case')}"


def _named(what: str, changed: Sequence[Change]) -> Iterator[str]:
    if changed:
        named = ", ".join(f"{one.case} ({(one.before or 'new')} -> {one.after})" for one in changed[:_MOST_NAMED])
        more = f" and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
        yield f"  {what}, {counted(len(changed), 'case')}: {named}{more}"
