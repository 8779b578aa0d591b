"""Times of contenders that take turns."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Attempt = Callable[[], Callable[[], object]]
"""Gets ready, and answers what is timed."""


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds of each round; none, with the reason, where a contender cannot do it."""

    seconds: tuple[float, ...] = ()
    refusal: str = ""

    @property
    def best(self) -> float:
        """The shortest round."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.seconds)


def in_rounds(attempts: Mapping[str, Attempt], rounds: int) -> dict[str, Times]:
    """Each contender's times: every round asks each of them once, in an order that turns around every round.

    What a contender answers must be equal in every round and for all contenders, where it is not None.

    Raises:
        AssertionError: two answers differ.

    """
    seconds: dict[str, list[float]] = {name: [] for name in attempts}
    refusals: dict[str, str] = {}
    answers: dict[str, object] = {}
    for number in range(rounds):
        order = list(attempts) if number % 2 == 0 else list(reversed(attempts))
        for name in order:
            if name in refusals:
                continue
            try:
                spent, answer = _timed(attempts[name])
            except Exception as error:  # noqa: BLE001 - what cannot be done is a line of the report
                refusals[name] = f"{type(error).__name__}: {str(error).splitlines()[0]:.120}"
                continue
            seconds[name].append(spent)
            if answer is not None:
                answers[name] = answer
    if len(set(answers.values())) > 1:
        raise AssertionError(f"answers differ: {answers}")
    return {name: Times(tuple(found), refusals.get(name, "")) for name, found in seconds.items()}


def _timed(attempt: Attempt) -> tuple[float, object]:
    timed = attempt()
    gc.collect()
    started_at = time.perf_counter()
    answer = timed()
    return time.perf_counter() - started_at, answer
