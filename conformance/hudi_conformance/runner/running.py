"""Cases put to one adapter: fresh copies, long-lived sessions, outcomes in the order of the corpus."""

import itertools
import os
import queue
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from hudi_format.compat import Self

from hudi_conformance.runner.adapter_pool import AdapterPool, Roles
from hudi_conformance.runner.adapters_config import AdapterConfig, AdapterConfigError
from hudi_conformance.runner.answer_verdicts import ReadingClauses, outcome_of
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.case_values import WRITER
from hudi_conformance.runner.cases import Case
from hudi_conformance.runner.expected_failures import ExpectedFailure
from hudi_conformance.runner.in_process import InProcess
from hudi_conformance.runner.processes import in_worker_processes
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.session import START_LIMIT_S
from hudi_conformance.runner.step_execution import VerdictOptions, run_writing_case
from hudi_conformance.runner.step_executor import StepExecutor
from hudi_conformance.runner.verdicts import Outcome, ReadingLedger, Verdict, against_expectation
from hudi_conformance.runner.work_folders import removed

STEP_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Time limits, how many processes of the adapter work side by side, where copies go, whether they stay.

    `roles`: who else has a part in cases that write.
    """

    work_folder: Path
    step_limit_s: float = STEP_LIMIT_S
    start_limit_s: float = START_LIMIT_S
    jobs: int = 1
    keep: bool = False
    log_folder: Path | None = None
    roles: Roles = field(default_factory=Roles)


class AdapterRun:
    """One adapter over many cases; use as a context, so that its processes end."""

    def __init__(
        self,
        adapter: AdapterConfig,
        options: RunOptions,
        reading_clause: ReadingClauses,
        expected: Mapping[str, ExpectedFailure] | None = None,
        skips: Mapping[str, str] | None = None,
    ) -> None:
        self._adapter, self._options = adapter, options
        self._reading_clause, self._expected, self._skips = reading_clause, expected or {}, skips or {}
        self._free_pools: queue.SimpleQueue[AdapterPool] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._closing = ExitStack()
        self.ledger = ReadingLedger()
        self.started: Mapping[str, Any] | None = None

    def __enter__(self) -> Self:
        logs = self._options.log_folder or self._options.work_folder / "logs"
        for job in range(max(1, self._options.jobs)):
            adapters = AdapterPool(self._adapter, self._options.roles, logs, self._options.start_limit_s, job)
            self._free_pools.put(self._closing.enter_context(adapters))
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self) -> None:
        """Start the adapter before the first case; one that cannot start fails the cases, not this.

        Raises:
            AdapterConfigError: it names an op that the protocol does not have.

        """
        adapters = self._free_pools.get()
        try:
            adapters.executor(WRITER).start()
        finally:
            self._free_pools.put(adapters)

    def close(self) -> None:
        """End the adapter's processes."""
        self._closing.close()

    def outcomes(self, cases: Sequence[Case]) -> Iterator[Outcome]:
        """The outcome of each case, in order."""
        shared = self._adapter.in_process and self._options.jobs > 1
        return map(self._settled, (self._in_processes if shared else self._in_threads)(cases))

    def _in_threads(self, cases: Sequence[Case]) -> Iterator[Outcome]:
        with ThreadPoolExecutor(max(1, self._options.jobs)) as pool:
            yield from pool.map(self.unsettled, cases)

    def _in_processes(self, cases: Sequence[Case]) -> Iterator[Outcome]:
        """Who shares a process with its adapter has one core: a process for each job."""
        self.started = InProcess.of(self._adapter).started
        options = replace(self._options, jobs=1)
        begin = partial(_requesting, self._adapter, options, self._reading_clause, self._skips)
        yield from in_worker_processes(begin, cases, self._options.jobs)

    def outcome(self, case: Case) -> Outcome:
        """The outcome of one case."""
        return self._settled(self.unsettled(case))

    def _settled(self, outcome: Outcome) -> Outcome:
        listed = self._expected.get(outcome.case.id)
        return against_expectation(self.ledger.apply(outcome), listed.why if listed else None)

    def unsettled(self, case: Case) -> Outcome:
        """What a case has come to, before what is known of the adapter is held against it."""
        if case.id in self._skips:
            return Outcome(case, Verdict.SKIPPED, self._skips[case.id])
        adapters = self._free_pools.get()
        if unnamed := _unnamed_drafts(case, adapters):
            self._free_pools.put(adapters)
            return Outcome(case, Verdict.SKIPPED, unnamed)
        folder = self._options.work_folder / f"{self._adapter.name}-{next(self._numbers)}"
        started_at = time.monotonic()
        try:
            outcome = self._written(adapters, case, folder) if case.writes else self._steps(adapters, case, folder)
        except (CorpusError, AdapterConfigError):
            raise
        except Exception as error:  # noqa: BLE001 - one answer that cannot be judged is one bad verdict
            text = f"the answer cannot be judged: {type(error).__name__}: {error}"
            outcome = Outcome(case, Verdict.ERROR, text, traceback=traceback.format_exc())
        finally:
            self.started = adapters.executor(WRITER).started or self.started
            self._free_pools.put(adapters)
            if not self._options.keep:
                removed(folder)
        return replace(outcome, seconds=time.monotonic() - started_at)

    def _written(self, adapters: AdapterPool, case: Case, folder: Path) -> Outcome:
        return run_writing_case(
            case, adapters, folder, VerdictOptions(self._options.step_limit_s, self._reading_clause)
        )

    def _steps(self, adapters: AdapterPool, case: Case, folder: Path) -> Outcome:
        """The first step that does not pass, or the last one, with the reading that any of them showed."""
        executor = StepExecutor.below(folder, adapters.executor(WRITER), self._options.step_limit_s)
        unpack(case.table.folder, executor.table)
        outcome = Outcome(case, Verdict.PASS)
        for number, step in enumerate(case.steps, start=1):
            decided = outcome_of(case, step, executor.request(step.op, step.params), self._reading_clause)
            outcome = replace(decided, reading=decided.reading or outcome.reading, step=number)
            if outcome.verdict is not Verdict.PASS:
                break
        return outcome


def _unnamed_drafts(case: Case, adapters: AdapterPool) -> str:
    """Why a case of a draft is not asked: nobody answers for a version that no release writes unless it is named."""
    if not case.drafts:
        return ""
    executor = adapters.executor(WRITER)
    if executor.started is None:
        executor.start()
    named = (executor.started or {}).get("features", ())
    lacking = [one for one in case.drafts if f"table-version-{one}" not in named]
    return f"a draft: table version {lacking[0]}, which the adapter does not name" if lacking else ""


def _requesting(
    adapter: AdapterConfig, options: RunOptions, reading_clause: ReadingClauses, skips: Mapping[str, str]
) -> Callable[[Case], Outcome]:
    """How a process of a run asks: folders and logs of its own; its sessions end with it, by the end of their input."""
    own = f"process-{os.getpid()}"
    logs = options.log_folder / own if options.log_folder else None
    options = replace(options, work_folder=options.work_folder / own, log_folder=logs)
    return AdapterRun(adapter, options, reading_clause, skips=skips).__enter__().unsettled
