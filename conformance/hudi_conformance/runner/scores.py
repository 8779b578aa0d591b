"""How much of what an implementation answered is right, and what a run may request beside that."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_format.compat import Self

from hudi_conformance.runner.cases import AREAS, Case
from hudi_conformance.runner.identifiers import nearest_words
from hudi_conformance.runner.plain_text import counted
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.results import ResultsError, read_results
from hudi_conformance.runner.verdicts import NOT_QUERIED, UNDECIDED, Outcome, Verdict

_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Score:
    """The cases that were answered, and those of them that pass.

    A case is answered unless it is unsupported or skipped, or open, since no answer to an open one is right or wrong.
    """

    passed: int
    answered: int

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Self:
        """The score of outcomes."""
        return cls.of_verdicts(one.verdict for one in outcomes)

    @classmethod
    def of_verdicts(cls, verdicts: Iterable[str]) -> Self:
        """The score of verdicts, as results files name them."""
        verdicts = tuple(verdicts)
        return cls(verdicts.count(Verdict.PASS), sum(one not in NOT_QUERIED | UNDECIDED for one in verdicts))

    @property
    def percent(self) -> float | None:
        """Passed of those answered; None where nothing was answered."""
        return 100 * self.passed / self.answered if self.answered else None


def shown_percent(percent: float) -> str:
    """A percentage with one decimal, cut off and not rounded: only what is whole is 100.0."""
    return f"{math.floor(percent * 10 + 1e-9) / 10:.1f}"


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a run must come to, besides that no verdict is bad.

    `areas`: every case of them is answered, and at least one. `minimum`: the percentage that passes of those answered.
    `not_below`: the results of an earlier run; what passed there passes.
    """

    areas: tuple[str, ...] = ()
    minimum: float | None = None
    not_below: Path | None = None

    def checked(self, corpus: Sequence[Case]) -> "CheckedRequirements":
        """The requirements with what they refer to.

        Raises:
            CorpusError: an area is unknown, the minimum is no percentage, or the results cannot be read.

        """
        known = sorted({case.area for case in corpus} | set(AREAS.values()))
        for area in self.areas:
            if area not in known:
                raise CorpusError(f"there is no area {area!r} to require{nearest_words(area, known)}")
        if self.minimum is not None and not 0 <= self.minimum <= 100:
            raise CorpusError(f"the minimum is a percentage from 0 to 100, not {self.minimum:g}")
        return CheckedRequirements(self, _passed_before(self.not_below))


NO_REQUIREMENTS = Requirements()


@dataclass(frozen=True, slots=True)
class CheckedRequirements:
    """Requirements that can be held against outcomes; `passed_before` are case ids by adapter."""

    wanted: Requirements = NO_REQUIREMENTS
    passed_before: Mapping[str, frozenset[str]] | None = None

    def unmet(self, name: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
        """Each requirement that an adapter's outcomes do not meet, in one sentence."""
        found = [line for area in self.wanted.areas for line in _area_unmet(name, area, outcomes)]
        if self.wanted.minimum is not None:
            found.extend(_below(name, self.wanted.minimum, outcomes))
        if self.passed_before is not None:
            found.extend(self._lost(name, outcomes))
        return tuple(found)

    def reject_incomparable(self, names: Iterable[str]) -> None:
        """Hold the adapters of a run against those of the earlier one, before anything is asked.

        Raises:
            CorpusError: an adapter took no part in the earlier run.

        """
        before = self.passed_before
        for name in names:
            if before is not None and name not in before:
                known = ", ".join(sorted(before)) or "none"
                raise CorpusError(
                    f"the earlier run did not ask {name}, so there is nothing to compare with; it asked {known}"
                )

    def _lost(self, name: str, outcomes: Sequence[Outcome]) -> list[str]:
        before = (self.passed_before or {}).get(name, frozenset())
        lost = [one for one in outcomes if one.case.id in before and one.verdict is not Verdict.PASS]
        if not lost:
            return []
        shown = ", ".join(f"{one.case.id} ({one.verdict.replace('_', ' ')})" for one in lost[:_MOST_NAMED])
        more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
        return [f"{name}: {counted(len(lost), 'case')} passed in the earlier run and did not now: {shown}{more}"]


def _area_unmet(name: str, area: str, outcomes: Sequence[Outcome]) -> list[str]:
    mine = [one for one in outcomes if one.case.area == area]
    lacking = [one for one in mine if one.verdict is Verdict.UNSUPPORTED]
    if not Score.of(mine).answered:
        return [f"{name}: area {area} is required, but none of its {counted(len(mine), 'case')} was answered"]
    if lacking:
        features = ", ".join(sorted({one.message for one in lacking if one.message})[:_MOST_NAMED])
        because = f" (lacking: {features})" if features else ""
        short = f"{len(lacking)} of its {counted(len(mine), 'case')} {'is' if len(lacking) == 1 else 'are'} unsupported"
        return [f"{name}: area {area} is required, but {short}{because}"]
    return []


def _below(name: str, minimum: float, outcomes: Sequence[Outcome]) -> list[str]:
    score = Score.of(outcomes)
    if score.percent is None:
        return [f"{name}: {minimum:g} % are required, but no case was answered"]
    if score.percent < minimum:
        passed = f"{shown_percent(score.percent)} % of the {counted(score.answered, 'case')} that were answered pass"
        return [f"{name}: {passed}, below the required {minimum:g} %"]
    return []


def _passed_before(path: Path | None) -> Mapping[str, frozenset[str]] | None:
    if path is None:
        return None
    try:
        before = read_results(path)
    except ResultsError as error:
        raise CorpusError(f"the results of the earlier run cannot be read: {error}") from error
    passed = [(str(line["adapter"]), str(line["id"])) for line in before.cases if line["verdict"] == Verdict.PASS]
    names = map(str, before.header.get("adapters", ()))
    return {name: frozenset(case for adapter, case in passed if adapter == name) for name in names}
