"""What contenders that take turns need, in seconds or in MiB, and whether they answer the same."""

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

Attempt = Callable[[], Callable[[], object]]
"""Gets ready, and answers what is timed."""

NOISY: Final = 0.2
_LONGEST_REFUSAL: Final = 120


@dataclass(frozen=True, slots=True)
class Digest:
    """What an answer is compared by: how many rows, and a hash over all columns where the contender has Spark's."""

    rows: int
    total: object = None


@dataclass(frozen=True, slots=True)
class Peak:
    """Memory that an attempt needed, which is compared in place of its time."""

    mib: float


@dataclass(frozen=True, slots=True)
class Times:
    """What each round took; nothing, with the reason, where a contender cannot do it.

    `cpu`: seconds of the processor, of this process and all that it started, Java and Python workers.
    """

    seconds: tuple[float, ...] = ()
    cpu: tuple[float, ...] = ()
    refusal: str = ""

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.seconds)

    @property
    def cpu_median(self) -> float:
        """The middle round by time of the processor."""
        return statistics.median(self.cpu)

    @property
    def spread(self) -> float:
        """The range of the middle half of the rounds, as a part of the median; 0 of one round."""
        if len(self.seconds) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / self.median


def is_noisy(times: Iterable[Times]) -> bool:
    """Whether a contender's rounds differ too much to say much."""
    return any(one.seconds and one.spread > NOISY for one in times)


def in_rounds(attempts: Mapping[str, Attempt], rounds: int, repeats: int = 0) -> dict[str, Times]:
    """Each contender's times: every round asks each of them once, in an order that turns around every round.

    Of several rounds one more comes first, which is not counted: Java compiles what it runs, and files are read for the
    first time. Where the rounds differ too much, as many come again, at most `repeats` times.

    Raises:
        AssertionError: two answers differ.

    """
    done = _Rounds(attempts)
    if rounds > 1:
        done.add(1)
        done.forget()
    for _ in range(1 + repeats):
        done.add(rounds)
        if not is_noisy(done.times().values()):
            break
    return done.times()


class _Rounds:
    """The rounds done so far."""

    def __init__(self, attempts: Mapping[str, Attempt]) -> None:
        self._attempts = attempts
        self._refusals: dict[str, str] = {}
        self._answers: dict[str, Digest] = {}
        self._number = 0
        self._seconds: dict[str, list[float]] = {}
        self._cpu: dict[str, list[float]] = {}
        self.forget()

    def forget(self) -> None:
        """The times, not the answers, of the rounds so far."""
        self._seconds = {name: [] for name in self._attempts}
        self._cpu = {name: [] for name in self._attempts}

    def add(self, rounds: int) -> None:
        """So many rounds more."""
        for _ in range(rounds):
            order = list(self._attempts) if self._number % 2 == 0 else list(self._attempts)[::-1]
            self._number += 1
            for name in order:
                if name not in self._refusals:
                    self._measure(name)

    def _measure(self, name: str) -> None:
        try:
            spent, cpu, answer = _timed(self._attempts[name])
        except Exception as error:  # noqa: BLE001 - what cannot be done is a line of the report
            self._refusals[name] = f"{type(error).__name__}: {_reason(str(error))[:_LONGEST_REFUSAL]}"
            return
        self._seconds[name].append(answer.mib if isinstance(answer, Peak) else spent)
        self._cpu[name].append(cpu)
        if isinstance(answer, Digest):
            self._compare(name, answer)

    def _compare(self, name: str, answer: Digest) -> None:
        for other, known in self._answers.items():
            alike = answer.total == known.total or None in {answer.total, known.total}
            if answer.rows != known.rows or not alike:
                raise AssertionError(f"answers differ: {name} {answer}, {other} {known}")
        self._answers[name] = answer

    def times(self) -> dict[str, Times]:
        """What each contender took."""
        return {
            name: Times(tuple(found), tuple(self._cpu[name]), self._refusals.get(name, ""))
            for name, found in self._seconds.items()
        }


def _reason(text: str) -> str:
    """The first line of an error; of one of Java the cause that came first."""
    lines = text.splitlines() or [""]
    causes = [
        line.removeprefix("Caused by").removeprefix(": ") for line in lines if line.startswith((": ", "Caused by: "))
    ]
    return causes[-1] if causes else lines[0]


def _timed(attempt: Attempt) -> tuple[float, float, object]:
    timed = attempt()
    gc.collect()
    before, started_at = _used_cpu(), time.perf_counter()
    answer = timed()
    took, after = time.perf_counter() - started_at, _used_cpu()
    return took, sum(used - before.get(process, 0.0) for process, used in after.items()), answer


_TICKS: Final = os.sysconf("SC_CLK_TCK")


def _used_cpu() -> dict[int, float]:
    """Seconds of the processor that this process and each of its descendants used; what ended is left out."""
    used, parents = dict[int, float](), dict[int, int]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(folder.name)] = int(fields[1])
        used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
    own, found = {os.getpid()}, dict[int, float]()
    while own:
        found |= {one: used[one] for one in own}
        own = {one for one, parent in parents.items() if parent in own}
    return found
