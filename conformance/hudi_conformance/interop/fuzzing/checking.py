"""Many histories carried out by an adapter, failing ones shrunk and reported with the command that repeats them."""

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_adapter.protocol import WRITING_OPS
from hypothesis.strategies import SearchStrategy

from hudi_conformance.corpus.table_shapes import WriteCase
from hudi_conformance.corpus.writing.in_process import ModelSession
from hudi_conformance.interop.fuzzing.coverage import Coverage
from hudi_conformance.interop.fuzzing.running import Options, Played, Side, run_case
from hudi_conformance.interop.fuzzing.seeds import case_of_seed, smallest_failing
from hudi_conformance.runner.adapter_pool import AdapterClient
from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError, find_adapter
from hudi_conformance.runner.in_process import InProcess
from hudi_conformance.runner.session import Reply, Session
from hudi_conformance.runner.step_executor import Failure

_MEMORY, _ROOM = Path("/dev/shm"), 1 << 30  # noqa: S108 - a folder of its own is made in it
_SHRINKING_S = 120.0
"""How long one failing history may be shrunk, also behind the end of the time for histories."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Found:
    """A failing history as short as it was made, how it fails, and the timeline that it leaves."""

    name: str
    case: WriteCase
    failure: Failure
    timeline: tuple[Any, ...] = ()

    def described(self, adapter: str, saved: Path | None = None) -> str:
        """The difference, the history, and the command that repeats it."""
        file = saved or "HISTORY.json"
        command = f"hudi-conformance repro {file} --adapter {adapter!r}"
        where = "" if saved else f"saved as {file}: "
        return f"{self.name}: {self.failure}\n{self.case.to_json()}# {where}{command}\n"


@dataclass(slots=True)
class Summary:
    """What came of many histories; `coverage`: what those had that were carried out whole."""

    played: int = 0
    queries: int = 0
    refused: int = 0
    unsupported: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)

    def add(self, case: WriteCase, played: Played) -> None:
        """Count one history."""
        self.played += 1
        self.queries += played.queries
        self.refused += played.refused
        self.unsupported.update(played.unsupported)
        if not played.unsupported:
            self.coverage.add(case)

    def __str__(self) -> str:
        left = ", ".join(f"{what} ({count})" for what, count in self.unsupported.most_common())
        counts = (
            f"{self.played} histories, {self.queries} answers compared, {self.refused} refusals, "
            f"{len(self.found)} {'fails' if len(self.found) == 1 else 'fail'}"
        )
        return f"{counts}; unsupported: {left}" if left else counts


@contextmanager
def two_sides(adapter: AdapterConfig | str, root: Path, *, check: bool = True) -> Iterator[tuple[Side, Side]]:
    """The model, and an adapter by its side; the model checks the adapter's tables where `check` requests it.

    An adapter that declares no op that writes reads what the model has written.

    Raises:
        AdapterConfigError: the adapter cannot be started.

    """
    config = find_adapter(adapter, root) if isinstance(adapter, str) else adapter
    model = ModelSession(makes_metadata_tables=True)
    with ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hudi-fuzz-logs-")))
        subject: AdapterClient = (
            InProcess.of(config)
            if config.in_process
            else stack.enter_context(Session(config.command, logs / "adapter.log", folder=config.folder))
        )
        started = subject.start()
        if not isinstance(started, Reply):
            raise AdapterConfigError(f"{config.name} cannot be started: {started}")
        reads = not {*WRITING_OPS} & {*(subject.started or {}).get("ops", ())}
        yield Side("model", model), Side(config.name, subject, None if reads or not check else model, only_reads=reads)


def check_cases(
    cases: SearchStrategy[WriteCase],
    seeds: Iterable[int],
    sides: tuple[Side, Side],
    options: Options,
    *,
    seconds: float,
    attempts: int,
    stop_after: int = 5,
    progress: Progress = lambda _: None,
) -> Iterator[Found | Summary]:
    """Carry out the histories of seeds until time is up or enough fail: each failure as it is found, then the summary.

    A failing history is shrunk by at most `attempts` smaller ones. `progress` is given a line after each history.
    """
    summary, until = Summary(), time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > until or len(summary.found) >= stop_after:
            break
        case = case_of_seed(cases, seed)
        played = played_once(case, sides, options)
        summary.add(case, played)
        if played.failure is not None:
            smaller = _Smaller(sides, options, time.monotonic() + _SHRINKING_S, f"seed {seed}", progress)
            small, failure = smallest_failing(cases, seed, played.failure, smaller.failure, attempts)
            timeline = played_once(small, sides, options).timeline
            summary.found.append(Found(f"seed-{seed}", small, failure, timeline))
            yield summary.found[-1]
        progress(str(summary))
    yield summary


@dataclass(slots=True)
class _Smaller:
    """Smaller histories, carried out until time is up."""

    sides: tuple[Side, Side]
    options: Options
    until: float
    name: str
    progress: Progress
    tried: int = 0

    def failure(self, case: WriteCase) -> Failure | None:
        if time.monotonic() > self.until:
            return None
        self.tried += 1
        self.progress(f"{self.name} fails; {self.tried} smaller histories tried")
        return played_once(case, self.sides, self.options).failure


def played_once(case: WriteCase, sides: tuple[Side, Side], options: Options, keep: Path | None = None) -> Played:
    """A history carried out in a folder of its own, which goes unless it is named."""
    if keep is not None:
        keep.mkdir(parents=True)
        return run_case(case, sides, keep, options)
    folder = Path(tempfile.mkdtemp(prefix="hudi-fuzz-", dir=_in_memory()))
    try:
        return run_case(case, sides, folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _in_memory() -> Path | None:
    """Where files cost no disk, unless TMPDIR says where files go: a history makes thousands, and waits for each."""
    has_room = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    return _MEMORY if has_room and "TMPDIR" not in os.environ else None
