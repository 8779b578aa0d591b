"""Cases put to one adapter: fresh copies, long-lived sessions, outcomes in the order of the corpus."""

import itertools
import queue
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from hudi_conformance.adapters_config import AdapterConfig
from hudi_conformance.cases import Case
from hudi_conformance.expected_failures import ExpectedFailure
from hudi_conformance.judging import ReadingClauses, judge
from hudi_conformance.session import START_LIMIT_S, Session
from hudi_conformance.table_copies import fresh_copy
from hudi_conformance.verdicts import Outcome, ReadingLedger, Verdict, against_expectation

STEP_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Time limits, how many processes of the adapter work side by side, where copies go, whether they stay."""

    work_folder: Path
    step_limit_s: float = STEP_LIMIT_S
    start_limit_s: float = START_LIMIT_S
    jobs: int = 1
    keep: bool = False
    log_folder: Path | None = None


class AdapterRun:
    """One adapter over many cases; use as a context, so that its processes end."""

    def __init__(
        self,
        adapter: AdapterConfig,
        options: RunOptions,
        reading_clause: ReadingClauses,
        expected: Mapping[str, ExpectedFailure] | None = None,
    ) -> None:
        self._adapter, self._options = adapter, options
        self._reading_clause, self._expected = reading_clause, expected or {}
        self._sessions: queue.SimpleQueue[Session] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._closing = ExitStack()
        self.ledger = ReadingLedger()
        self.started: Mapping[str, Any] | None = None

    def __enter__(self) -> Self:
        logs = self._options.log_folder or self._options.work_folder / "logs"
        for job in range(max(1, self._options.jobs)):
            log = logs / f"{self._adapter.name}-{job}.log"
            session = Session(self._adapter.command, log, self._options.start_limit_s)
            self._sessions.put(self._closing.enter_context(session))
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the adapter's processes."""
        self._closing.close()

    def outcomes(self, cases: Sequence[Case]) -> Iterator[Outcome]:
        """The outcome of each case, in order."""
        with ThreadPoolExecutor(max(1, self._options.jobs)) as pool:
            for outcome in pool.map(self._asked, cases):
                yield self._settled(outcome)

    def outcome(self, case: Case) -> Outcome:
        """The outcome of one case."""
        return self._settled(self._asked(case))

    def _settled(self, outcome: Outcome) -> Outcome:
        listed = self._expected.get(outcome.case.id)
        return against_expectation(self.ledger.judge(outcome), listed.why if listed else None)

    def _asked(self, case: Case) -> Outcome:
        session = self._sessions.get()
        folder = self._options.work_folder / f"{self._adapter.name}-{next(self._numbers)}"
        begun = time.monotonic()
        try:
            outcome = self._steps(session, case, folder)
        finally:
            self.started = session.started or self.started
            self._sessions.put(session)
            if not self._options.keep:
                shutil.rmtree(folder, ignore_errors=True)
        return replace(outcome, seconds=time.monotonic() - begun)

    def _steps(self, session: Session, case: Case, folder: Path) -> Outcome:
        """The first step that does not pass, or the last one, with the reading that any of them showed."""
        table = fresh_copy(case.table, folder / "table")
        outcome = Outcome(case, Verdict.PASS)
        for number, step in enumerate(case.steps, start=1):
            out_dir = folder / f"out-{number}"
            out_dir.mkdir()
            heard = session.ask(step.op, table, step.params, out_dir, self._options.step_limit_s)
            judged = judge(case, step, heard, out_dir, self._reading_clause)
            outcome = replace(judged, reading=judged.reading or outcome.reading)
            if outcome.verdict is not Verdict.PASS:
                break
        return outcome
