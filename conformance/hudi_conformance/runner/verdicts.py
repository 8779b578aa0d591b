"""What became of a case."""

from dataclasses import dataclass, replace

from hudi_format.compat import StrEnum

from hudi_conformance.runner.cases import Case
from hudi_conformance.runner.cells import Comparison
from hudi_conformance.runner.plain_text import plain, plain_end


class Verdict(StrEnum):
    """The verdicts of the protocol, and that of a case that the adapter is not asked."""

    PASS = "pass"  # noqa: S105 - a verdict, no secret
    FAIL = "fail"
    WRONG_REASON = "wrong_reason"
    UNSUPPORTED = "unsupported"
    EXPECTED_FAIL = "expected_fail"
    UNEXPECTED_PASS = "unexpected_pass"  # noqa: S105 - likewise
    ERROR = "error"
    TIMEOUT = "timeout"
    OPEN = "open"
    SKIPPED = "skipped"


FAILURES = frozenset({Verdict.FAIL, Verdict.WRONG_REASON, Verdict.ERROR, Verdict.TIMEOUT})
BAD = FAILURES | {Verdict.UNEXPECTED_PASS}
NOT_QUERIED = frozenset({Verdict.UNSUPPORTED, Verdict.SKIPPED})
"""Of these alone a run has judged nothing."""
UNDECIDED = frozenset({Verdict.OPEN})
"""No answer to these is right or wrong."""
_MOST_MESSAGE, _MOST_DIFFERENCE, _MOST_TRACEBACK = 4000, 2000, 20_000
_MOST_DIFFERENCES = 1000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on one case with what led to it.

    `reading` is (clause, reading) where the answer showed which of two was followed; `caught` is False when the
    adapter's process died or hung instead of answering. `step` is the number of the step that decided, from 1 on, and
    `comparison` what it answered, beside what was expected, where that did not pass. Texts are made plain and short:
    an adapter may answer anything.
    """

    case: Case
    verdict: Verdict
    message: str = ""
    reading: tuple[str, str] | None = None
    differences: tuple[str, ...] = ()
    answer_sha256: str | None = None
    traceback: str = ""
    caught: bool = True
    seconds: float = 0.0
    step: int = 0
    comparison: Comparison | None = None

    def __post_init__(self) -> None:
        """Make the texts plain."""
        object.__setattr__(self, "message", plain(self.message, _MOST_MESSAGE))
        object.__setattr__(self, "traceback", plain_end(self.traceback, _MOST_TRACEBACK))
        object.__setattr__(self, "differences", _plain_lines(self.differences))


def _plain_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    shown = tuple(plain(line, _MOST_DIFFERENCE) for line in lines[:_MOST_DIFFERENCES])
    left = len(lines) - _MOST_DIFFERENCES
    return (*shown[:-1], f"... and {left + 1} more") if left > 0 else shown


def against_expectation(outcome: Outcome, why: str | None) -> Outcome:
    """The outcome of a case that is listed as an expected failure (`why` is the list's reason), or is not."""
    if why is None:
        return outcome
    if outcome.verdict in FAILURES:
        message = f"expected: {why}" + (f" ({outcome.message})" if outcome.message else "")
        return replace(outcome, verdict=Verdict.EXPECTED_FAIL, message=message)
    if outcome.verdict is Verdict.PASS:
        message = f"passes, but is listed as an expected failure: {why}; take it off the list"
        return replace(outcome, verdict=Verdict.UNEXPECTED_PASS, message=message)
    return outcome


class ReadingLedger:
    """One reading a clause over all cases of an adapter: the first choice binds, another one fails the case."""

    def __init__(self) -> None:
        self.chosen: dict[str, str] = {}

    def apply(self, outcome: Outcome) -> Outcome:
        """Enter the outcome's reading; the outcome fails when the clause was read otherwise before."""
        if outcome.reading is None or outcome.verdict is not Verdict.PASS:
            return outcome
        clause, reading = outcome.reading
        first = self.chosen.setdefault(clause, reading)
        if first == reading:
            return outcome
        message = f"mixed readings: {clause} was read as `{first}` before, here as `{reading}`"
        return replace(outcome, verdict=Verdict.FAIL, message=message)
