"""What Hypothesis draws and shrinks: the choices of a case, the case of a seed, the smallest case that fails alike."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Generic, Protocol, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from hudi_conformance.runner.step_executor import Failure

Value = TypeVar("Value")


class Repeatable(Protocol):
    """A case that is written down as JSON."""

    def to_json(self) -> str:
        """The case as a text."""


Case = TypeVar("Case", bound=Repeatable)
# Hypothesis begins with the simplest example, which is the same for every seed, and makes the next differ from it in
# its first choice. So the second example is taken, and its first choice is one that no case is made of.
_EXAMPLES = 2
_NO_PART_OF_A_CASE = st.integers(0, 2**16)


@cache
def _numbers(least: int, most: int) -> st.SearchStrategy[int]:
    return st.integers(least, most)


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices of a case; a shrunk one has the first of several, the least of a range, and no rare event."""

    draw: st.DrawFn

    def one(self, values: Sequence[Value]) -> Value:
        """One of several."""
        return values[self.number(0, len(values) - 1)]

    def some(self, values: Sequence[Value], least: int, most: int) -> list[Value]:
        """Different ones of several, as many as there are at most."""
        left, found = list(values), list[Value]()
        for _ in range(self.number(least, most)):
            if left:
                found.append(left.pop(self.number(0, len(left) - 1)))
        return found

    def weighted(self, weights: Mapping[str, int]) -> str:
        """One name, as often as its weight says."""
        return self.one([name for name, weight in weights.items() for _ in range(weight)])

    def number(self, least: int, most: int) -> int:
        """A number of a range, bounds included."""
        return self.draw(_numbers(least, most))

    def chance(self, percent: int) -> bool:
        """Whether something happens that does so in so many of 100 cases."""
        return self.number(0, 99) >= 100 - percent


def case_of_seed(cases: st.SearchStrategy[Case], number: int | str) -> Case:
    """The case of a seed: always the same one of a strategy."""
    found: list[Case] = []
    _run(cases, number, found.append, (Phase.generate,))
    return found[-1]


def smallest_failing(
    cases: st.SearchStrategy[Case],
    number: int | str,
    failure: Failure,
    failure_of: Callable[[Case], Failure | None],
    attempts: int,
) -> tuple[Case, Failure]:
    """The case of a seed that has failed, shrunk as long as it fails alike; at most so many smaller ones are tried."""
    search = _Shrinking(case_of_seed(cases, number), failure, failure_of, attempts)
    with suppress(_FailsAlikeError, _NoAttemptLeft):
        _run(cases, number, search.put, (Phase.generate, Phase.shrink))
    return search.smallest, search.failure


class _FailsAlikeError(AssertionError):
    """What Hypothesis shrinks."""


class _NoAttemptLeft(BaseException):
    """Ends the shrinking."""


class _Shrinking(Generic[Case]):
    """Cases that Hypothesis puts, each tried once, up to a limit."""

    def __init__(
        self, first: Case, failure: Failure, failure_of: Callable[[Case], Failure | None], attempts: int
    ) -> None:
        self.smallest, self.failure = first, failure
        self._failure_of, self._left = failure_of, attempts
        self._known: dict[str, Failure | None] = {first.to_json(): failure}
        self._started = False

    def put(self, case: Case) -> None:
        text = case.to_json()
        self._started |= text in self._known
        if not self._started:
            return
        if text not in self._known:
            if not self._left:
                raise _NoAttemptLeft
            self._left -= 1
            self._known[text] = self._failure_of(case)
        found = self._known[text]
        if self.failure.fails_alike(found) and found is not None:
            self.smallest, self.failure = case, found
            raise _FailsAlikeError


def _run(
    cases: st.SearchStrategy[Case], number: int | str, put: Callable[[Case], None], phases: tuple[Phase, ...]
) -> None:
    @seed(number)
    @settings(
        max_examples=_EXAMPLES,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(st.tuples(_NO_PART_OF_A_CASE, cases))
    def run(drawn: tuple[int, Case]) -> None:
        put(drawn[1])

    run()
