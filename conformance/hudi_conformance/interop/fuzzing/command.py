"""What `hudi-conformance fuzz` and `repro FILE.json` do: histories drawn or read, carried out, reported."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.console import Console

from hudi_conformance.corpus.table_shapes import WriteCase
from hudi_conformance.drawing.console_timeline import timeline_table
from hudi_conformance.interop.fuzzing.checking import Found, Summary, check_cases, played_once, two_sides
from hudi_conformance.interop.fuzzing.running import Options
from hudi_conformance.interop.fuzzing.strategies import Limits, write_cases
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.resources import CorpusError

ALL_WRITES: Final = Limits(
    services=True,
    typed_columns=True,
    metadata_indexes=True,
    small_files=True,
    interruptions=True,
    options=True,
    inline=True,
    evolving=True,
)
"""All that is drawn."""
ATTEMPTS: Final = 300
_PROGRESS_S = 2.0
_STRICT: Final = Options()


@dataclass(frozen=True, slots=True)
class Budget:
    """How many histories, from which seed, for how long; how many failing ones are enough."""

    histories: int
    seed: int = 0
    minutes: float | None = None
    attempts: int = ATTEMPTS
    stop_after: int = 5

    @property
    def seconds(self) -> float:
        """When to begin no further history."""
        return float("inf") if self.minutes is None else self.minutes * 60


@dataclass(slots=True)
class Lines:
    """Lines of progress, one in two seconds at most."""

    out: Console
    started_at: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def __call__(self, line: str) -> None:
        """Print a line if the last one is old enough."""
        now = time.monotonic()
        if now - self.last >= _PROGRESS_S:
            self.last = now
            self.out.print(f"{now - self.started_at:.0f} s: {line}", markup=False)


def fuzz(
    adapter: AdapterConfig,
    root: Path,
    budget: Budget,
    out: Console,
    *,
    limits: Limits = ALL_WRITES,
    options: Options = _STRICT,
    save: Path | None = None,
) -> int:
    """Carry out histories, print failing ones and what was covered; 1 where one fails, 2 where nothing was compared.

    Raises:
        AdapterConfigError: the adapter cannot be started.

    """
    cases, summary = write_cases(limits), Summary()
    out.print(f"{adapter.name}: {budget.histories} histories from seed {budget.seed}", markup=False)
    with two_sides(adapter, root) as sides:
        for one in check_cases(
            cases,
            range(budget.seed, budget.seed + budget.histories),
            sides,
            options,
            seconds=budget.seconds,
            attempts=budget.attempts,
            stop_after=budget.stop_after,
            progress=Lines(out),
        ):
            if isinstance(one, Summary):
                summary = one
            else:
                _print(one, adapter.name, save, out)
    for line in summary.coverage.lines():
        out.print(line, markup=False)
    out.print(f"{adapter.name}: {summary}", markup=False)
    return 1 if summary.found else 0 if summary.queries else 2


def _print(found: Found, adapter: str, save: Path | None, out: Console) -> None:
    out.print(found.described(adapter, _saved(found, save)), markup=False)
    if found.timeline:
        out.print(timeline_table(found.timeline))


def _saved(found: Found, folder: Path | None) -> Path | None:
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{found.name}.json"
    file.write_text(found.case.to_json(), encoding="utf-8")
    return file


def replay(file: Path, adapter: AdapterConfig, root: Path, out: Console, keep: Path | None = None) -> int:
    """Carry out one saved history: 1 where it fails, 2 where nothing was compared.

    Raises:
        CorpusError: the file holds no history.
        AdapterConfigError: the adapter cannot be started.

    """
    try:
        case = WriteCase.from_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{file} holds no history that `fuzz` saved: {error}") from error
    with two_sides(adapter, root) as sides:
        played = played_once(case, sides, _STRICT, keep)
    if played.failure is None:
        out.print(f"{played.queries} answers agree, {played.refused} refusals", markup=False)
    else:
        out.print(str(played.failure), markup=False)
        out.print(timeline_table(played.timeline))
    for feature in played.unsupported:
        out.print(f"unsupported: {feature}", markup=False)
    return 1 if played.failure else 0 if played.queries else 2
