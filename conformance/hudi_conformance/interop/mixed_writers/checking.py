"""Many mixed-writer runs, failing ones shrunk and reported with the one command that repeats them."""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from hudi_format.compat import Self
from hypothesis.strategies import SearchStrategy

from hudi_conformance.interop.fuzzing.seeds import case_of_seed, smallest_failing
from hudi_conformance.interop.mixed_writers.cases import MixedRun
from hudi_conformance.interop.mixed_writers.running import Adapters, Played, run_case
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import Failure


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one seed; `small` is the failing mixed-writer run shrunk, where it failed."""

    seed: int
    mixed_run: MixedRun
    played: Played
    seconds: float
    small: MixedRun | None = None

    @property
    def failure(self) -> Failure | None:
        """How it failed."""
        return self.played.failure

    def describe(self) -> str:
        """One line, or the difference with the smallest mixed-writer run and the command that repeats it."""
        shape = self.mixed_run.case.shape
        kind = f"{self.mixed_run.peer}, version {shape.version}, {shape.table_type}"
        index = shape.configs.get("hoodie.index.type", "default index")
        line = f"seed {self.seed} ({kind}, {index}): {self.played.rounds} turns, {self.played.agreed} answers agree"
        left = "".join(f"; unsupported: {feature}" for feature in self.played.unsupported)
        if self.failure is None:
            return line + left
        command = "hudi-conformance mixed-writers repeat CASE.json"
        case = (self.small or self.mixed_run).to_json()
        return f"{line}{left}\n{self.failure}\n{case}# saved as CASE.json: {command}"


class Table:
    """The adapters by release, each started when its first turn comes."""

    def __init__(self, engine: str, root: Path, referee: str | None) -> None:
        self._engine, self._root, self._referee = engine, root, referee
        self._stack = ExitStack()
        self._sessions: dict[str, Session] = {}

    def __enter__(self) -> Self:
        self._logs = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="hudi-mixed-writers-logs-")))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def adapters(self, peer: str) -> Adapters:
        """The adapters of a mixed-writer run with a release."""
        referee = None if self._referee is None else self._session(self._referee)
        return Adapters(self._session(self._engine), self._session(peer_command(peer)), referee)

    def failure_of(self, mixed_run: MixedRun) -> Failure | None:
        """How a mixed-writer run fails, if it does."""
        return played_once(mixed_run, self.adapters(mixed_run.peer)).failure

    def _session(self, adapter: str) -> Session:
        if adapter not in self._sessions:
            config = find_adapter(adapter, self._root)
            log = self._logs / f"{len(self._sessions)}.log"
            self._sessions[adapter] = self._stack.enter_context(Session(config.command, log))
        return self._sessions[adapter]


def peer_command(peer: str) -> str:
    """The command line of a release's adapter; another name is that of an adapter itself."""
    if not peer[:1].isdigit():
        return peer
    return f"{sys.executable} -m hudi_conformance.adapters.apache_hudi --version {peer}"


@contextmanager
def emptied_folder() -> Iterator[Path]:
    """A folder of its own, which goes."""
    folder = Path(tempfile.mkdtemp(prefix="hudi-mixed-writers-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def played_once(mixed_run: MixedRun, adapters: Adapters) -> Played:
    """A mixed-writer run played in a folder of its own."""
    with emptied_folder() as folder:
        return run_case(mixed_run, adapters, folder)


def check(
    cases: SearchStrategy[MixedRun], seeds: Iterable[int], table: Table, *, seconds: float, attempts: int
) -> Iterator[Result]:
    """Run the mixed-writer runs of seeds until time is up; of a failing one at most so many smaller ones are tried."""
    until = time.monotonic() + seconds
    for seed in seeds:
        started_at = time.monotonic()
        if started_at > until:
            return
        mixed_run = case_of_seed(cases, seed)
        played = played_once(mixed_run, table.adapters(mixed_run.peer))
        small = None
        if played.failure is not None:
            small, _ = smallest_failing(cases, seed, played.failure, table.failure_of, attempts)
        yield Result(seed, mixed_run, played, time.monotonic() - started_at, small)
