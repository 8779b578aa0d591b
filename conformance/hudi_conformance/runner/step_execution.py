"""A writing case run: each step put to its role and judged, and at the end every reader reads the table back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hudi_conformance.runner.adapter_pool import AdapterClient, AdapterPool
from hudi_conformance.runner.answer_verdicts import ReadingClauses, outcome_of
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.case_values import END_PROCESS, READER, WRITER, Case, Step
from hudi_conformance.runner.instant_order import TimeRules
from hudi_conformance.runner.normalized_answers import AbsentTimeError
from hudi_conformance.runner.step_executor import CHECK_TABLE, Answer, StepExecutor
from hudi_conformance.runner.verdicts import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class VerdictOptions:
    """How long a step may take, and which clause of a case has two readings."""

    step_limit_s: float
    reading_clause: ReadingClauses


def run_writing_case(case: Case, pool: AdapterPool, folder: Path, options: VerdictOptions) -> Outcome:
    """The outcome of a writing case: of the first step, reading back or check that does not pass, or of the last."""
    run = WritingCaseRun(case, pool, folder, options)
    outcome = run.written()
    if outcome.verdict is not Verdict.PASS:
        return outcome
    back = (read for _, read in run.read_back() if read.verdict not in {Verdict.PASS, Verdict.UNSUPPORTED})
    return next(back, None) or run.checked() or outcome


class WritingCaseRun:
    """One case on one table, below an empty folder."""

    def __init__(self, case: Case, pool: AdapterPool, folder: Path, options: VerdictOptions) -> None:
        self.case, self.pool, self.options = case, pool, options
        self._executor = StepExecutor.below(folder, pool.executor(WRITER), options.step_limit_s)
        self._rules = TimeRules(case.table.version)

    def written(self) -> Outcome:
        """All steps in turn, up to the first that does not pass."""
        lacking = self._lacking()
        if lacking:
            return Outcome(self.case, Verdict.UNSUPPORTED, lacking)
        if self.case.begins_with:
            unpack(self.case.begins_with.folder, self._executor.table)
        else:
            self._executor.table.mkdir(parents=True)
        outcome = Outcome(self.case, Verdict.PASS)
        for number, step in enumerate(self.case.steps, start=1):
            try:
                decided = self._step(number, step)
            except AbsentTimeError as error:
                decided = Outcome(self.case, Verdict.FAIL, str(error))
            decided = _placed(decided, f"step {number} ({step.op})")
            outcome = replace(decided, reading=decided.reading or outcome.reading, step=number)
            if outcome.verdict is not Verdict.PASS:
                break
        return outcome

    def read_back(self) -> Iterator[tuple[str, Outcome]]:
        """What each other reader answers to the questions about the last state; those that it lacks are left out."""
        for name, reader in self.pool.readers():
            yield name, self._read_by(name, reader)

    def _read_by(self, name: str, reader: AdapterClient) -> Outcome:
        """The first answer that does not pass; unsupported where there is none at all."""
        found = Outcome(self.case, Verdict.UNSUPPORTED, "no question of the last state")
        for number, step in self._last_questions():
            outcome = replace(self._decided(step, self._request(reader, step)), step=number)
            if outcome.verdict is not Verdict.UNSUPPORTED:
                found = _placed(outcome, f"step {number} ({step.op}) asked of {name}")
            if outcome.verdict not in {Verdict.PASS, Verdict.UNSUPPORTED}:
                break
        return found

    def checked(self) -> Outcome | None:
        """What is wrong with the table by who checks it; None where nothing is but what it came with."""
        checker = self.pool.checker()
        if checker is None:
            return None
        found = replace(self._executor, adapter=checker).check_errors()
        if found and self.case.begins_with:
            before = StepExecutor.below(self._executor.folder / "before", checker, self.options.step_limit_s)
            unpack(self.case.begins_with.folder, before.table)
            known = before.check_errors()
            found = tuple(one for one in found if one not in known)
        return Outcome(self.case, Verdict.FAIL, "check_table finds errors", differences=found) if found else None

    def taker(self, step: Step) -> AdapterClient:
        """Who takes a step: the writer where a reader lacks the question, the checker where an adapter has no check."""
        adapter = self.pool.executor(step.by, step.process)
        if step.by == READER and not _has(adapter, step.op):
            adapter = self.pool.executor(WRITER, step.process)
        if step.op == CHECK_TABLE and not _has(adapter, CHECK_TABLE):
            return self.pool.checker() or adapter
        return adapter

    def _lacking(self) -> str:
        """The first op that who would be asked does not have."""
        for step in self.case.steps:
            if step.op != END_PROCESS and not _has(self.taker(step), step.op):
                return f"op {step.op}"
        return ""

    def _step(self, number: int, step: Step) -> Outcome:
        adapter = self.taker(step)
        if step.op == END_PROCESS:
            adapter.kill()
            return Outcome(self.case, Verdict.PASS)
        answer = self._request(adapter, step)
        outcome = self._decided(step, answer)
        if step.writes and outcome.verdict is Verdict.PASS and isinstance(answer.content, Mapping):
            wrong = self._rules.broken(step.op, self._executor.names.resolved(step.params), answer.value)
            self._executor.names.note(number, answer.value)
            if wrong:
                return Outcome(self.case, Verdict.FAIL, differences=wrong)
        return outcome

    def _request(self, adapter: AdapterClient, step: Step) -> Answer:
        rows = step.input.content if step.input else None
        executor = replace(self._executor, adapter=adapter)
        return executor.request(step.op, executor.names.resolved(step.params), rows)

    def _decided(self, step: Step, answer: Answer) -> Outcome:
        names = self._executor.names
        return outcome_of(self.case, step, answer, self.options.reading_clause, normalize=names.normalized)

    def _last_questions(self) -> Iterator[tuple[int, Step]]:
        """The questions after the last step that changes the table: who reads may answer them."""
        steps = list(enumerate(self.case.steps, start=1))
        last = max((number for number, step in steps if step.writes), default=0)
        return ((number, replace(step, by=READER)) for number, step in steps[last:])


def _has(adapter: AdapterClient, op: str) -> bool:
    """Whether an adapter has an op, by what it says when it starts; one that says nothing of it may have all."""
    if adapter.started is None:
        adapter.start()
    ops = (adapter.started or {}).get("ops")
    return ops is None or op in ops


def _placed(outcome: Outcome, place: str) -> Outcome:
    """An outcome that says where it came about, unless all is well."""
    if outcome.verdict in {Verdict.PASS, Verdict.UNSUPPORTED}:
        return outcome
    return replace(outcome, message=f"{place}: {outcome.message}" if outcome.message else place)
