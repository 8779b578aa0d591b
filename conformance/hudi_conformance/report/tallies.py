"""Verdicts as the report groups, names and orders them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

GROUPS = ("pass", "fail", "error", "expected", "unsupported", "open")

_GROUP_OF = {
    "pass": "pass",
    "fail": "fail",
    "wrong_reason": "fail",
    "unexpected_pass": "fail",
    "error": "error",
    "timeout": "error",
    "expected_fail": "expected",
    "unsupported": "unsupported",
    "open": "open",
    # Not asked, by a list of the adapter's own: nothing was shown.
    "skipped": "unsupported",
}
_NOUNS = {
    "pass": "pass",
    "fail": "fail",
    "error": "error",
    "expected": "known",
    "unsupported": "unsupported",
    "open": "open",
}
# What somebody has to look at.
ALARMING = frozenset({"fail", "error"})


def group_of(verdict: str) -> str:
    """The group a verdict counts in; one that the protocol does not know is an error."""
    return _GROUP_OF.get(verdict, "error")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many results of each group there are, in the order of GROUPS."""

    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """All results."""
        return sum(self.counts)

    @property
    def passed(self) -> int:
        """Results that passed."""
        return self.counts[0]

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Groups that occur, with their counts."""
        return tuple((group, count) for group, count in zip(GROUPS, self.counts, strict=True) if count)

    @property
    def worst(self) -> str:
        """The group that gives the whole its colour: an alarm before anything else, `none` when there is nothing."""
        for group in ("fail", "error", "expected"):
            if dict(self.parts).get(group):
                return group
        if self.passed:
            return "pass"
        return self.parts[0][0] if self.parts else "none"

    @property
    def remarks(self) -> str:
        """Everything that is not a pass, in words: `2 fail · 1 unsupported`."""
        return " · ".join(f"{count} {_NOUNS[group]}" for group, count in self.parts if group != "pass")

    @property
    def sentence(self) -> str:
        """The whole in words: `31 pass, 2 fail`."""
        return ", ".join(f"{count} {_NOUNS[group]}" for group, count in self.parts) or "no cases"


def tally(verdicts: Iterable[str]) -> Tally:
    """Count verdicts by group."""
    counted = Counter(map(group_of, verdicts))
    return Tally(tuple(counted[group] for group in GROUPS))
