"""Many cases put to two adapters, failing ones shrunk and reported with the command that repeats them."""

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from hudi_conformance.corpus.table_shapes import WriteCase
from hudi_conformance.interop.fuzzing.playing import Options, Played, Side, play
from hudi_conformance.interop.fuzzing.seeds import case_of_seed, smallest_failing
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.player import Failure
from hudi_conformance.runner.session import Session

CHECKER = "model"


@dataclass(frozen=True, slots=True)
class Found:
    """A failing case as small as it was made, and how it fails."""

    name: str
    case: WriteCase
    failure: Failure

    def told(self, model: str, subject: str) -> str:
        """The case, the difference, and the command that repeats it."""
        command = f"hudi-conformance writes repeat CASE.json --model {model} --subject {subject}"
        return f"{self.name}: {self.failure}\n{self.case.to_json()}# saved as CASE.json: {command}\n"


@dataclass(slots=True)
class Summary:
    """What came of many cases."""

    played: int = 0
    asked: int = 0
    refused: int = 0
    unsupported: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)

    def add(self, played: Played) -> None:
        """Count one case."""
        self.played += 1
        self.asked += played.asked
        self.refused += played.refused
        self.unsupported.update(played.unsupported)

    def __str__(self) -> str:
        left = ", ".join(f"{what} ({count})" for what, count in self.unsupported.most_common())
        told = f"{self.played} cases, {self.asked} answers compared, {self.refused} refusals, {len(self.found)} differ"
        return f"{told}; unsupported: {left}" if left else told


@contextmanager
def two_sides(model: str, subject: str, root: Path, *, check: bool = True) -> Iterator[tuple[Side, Side]]:
    """Both adapters started; the subject's tables are checked by the model where `check` asks for it."""
    with ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hudi-writes-logs-")))

        def session(name: str, log: str) -> Session:
            return stack.enter_context(Session(find_adapter(name, root).command, logs / f"{log}.log"))

        checker = session(CHECKER, "checker") if check else None
        left = Side(_plain(model), session(model, "left"))
        yield left, Side(_plain(subject), session(subject, "right"), checker)


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in name)


def check_cases(
    cases: SearchStrategy[WriteCase],
    seeds: Iterable[int],
    sides: tuple[Side, Side],
    options: Options,
    *,
    seconds: float,
    attempts: int,
    stop_after: int = 5,
) -> Iterator[Found | Summary]:
    """Play the cases of seeds until time is up or enough differ: each difference as it is found, at last the summary.

    A failing case is shrunk by at most `attempts` smaller ones.
    """
    summary, until = Summary(), time.monotonic() + seconds

    def failure_of(smaller: WriteCase) -> Failure | None:
        return played_once(smaller, sides, options).failure

    for seed in seeds:
        if time.monotonic() > until or len(summary.found) >= stop_after:
            break
        played = played_once(case_of_seed(cases, seed), sides, options)
        summary.add(played)
        if played.failure is not None:
            small, failure = smallest_failing(cases, seed, played.failure, failure_of, attempts)
            summary.found.append(Found(f"seed-{seed}", small, failure))
            yield summary.found[-1]
    yield summary


def played_once(case: WriteCase, sides: tuple[Side, Side], options: Options, keep: Path | None = None) -> Played:
    """A case played in a folder of its own, which goes unless it is named."""
    if keep is not None:
        keep.mkdir(parents=True)
        return play(case, sides, keep, options)
    folder = Path(tempfile.mkdtemp(prefix="hudi-writes-"))
    try:
        return play(case, sides, folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
