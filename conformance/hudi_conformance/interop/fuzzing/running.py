"""A case put to two adapters, each on a table of its own: every write sent to both, and the same questions asked."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hudi_adapter.protocol import WRITING_OPS
from hudi_adapter.rows import Rows

from hudi_conformance.corpus.table_shapes import Step, WriteCase
from hudi_conformance.interop.fuzzing.questions import Question, questions_after
from hudi_conformance.interop.fuzzing.service_steps import (
    ABORT,
    COMMIT,
    RUN,
    instant_of,
    is_service,
    noted,
    pending_write,
    requests_of,
    transaction,
)
from hudi_conformance.runner.adapter_pool import AdapterClient
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.normalized_answers import InstantNames
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import CHECK_TABLE, Answer, Failure, Kind, StepExecutor
from hudi_conformance.runner.value_comparison import compare_values

LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two adapters; a checker, where there is one, is asked what is wrong with its table.

    `only_reads`: it answers about the table of the other side, which it cannot write itself.
    """

    name: str
    adapter: AdapterClient
    checker: AdapterClient | None = None
    only_reads: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """`strict`: reasons of refusals count, and columns without any value; `between`: earlier times are asked, too."""

    strict: bool = True
    between: bool = True


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a case: where it failed, if so; questions answered alike; what a side does not support.

    `timeline`: that of the first side's table, where the case failed.
    """

    failure: Failure | None
    queries: int
    refused: int
    unsupported: tuple[str, ...]
    timeline: tuple[Any, ...] = ()


Instant = Mapping[str, Any]


def run_case(case: WriteCase, sides: tuple[Side, Side], folder: Path, options: Options = Options()) -> Played:
    """Run a case below an empty folder, up to the first difference or to what a side does not support."""
    return _Run(case, sides, folder, options).played()


class _Run:
    def __init__(self, case: WriteCase, sides: tuple[Side, Side], folder: Path, options: Options) -> None:
        self.case, self.sides, self.options = case, sides, options
        self.executors = [
            StepExecutor.below(folder / f"{number}-{side.name}", side.adapter, LIMIT_S, side.name)
            for number, side in enumerate(sides)
        ]
        if sides[1].only_reads:
            self.executors[1] = replace(self.executors[1], table=self.executors[0].table)
        self.done: tuple[list[Instant], list[Instant]] = ([], [])
        self.queries = self.refused = 0
        self.unsupported: dict[str, None] = {}
        self.started: set[int] = set()

    def played(self) -> Played:
        for executor in self.executors:
            executor.table.mkdir(parents=True, exist_ok=True)
        made = self._both("create_table", [self.case.shape.create_params()] * 2)
        failure = self._agreed(0, "create_table", made) or next(filter(None, self._steps()), None)
        timeline = self._timeline() if failure else ()
        if self.started:
            # Nothing that was started outlives its table.
            self._end_processes()
        return Played(failure, self.queries, self.refused, tuple(self.unsupported), timeline)

    def _timeline(self) -> tuple[Any, ...]:
        answer = self.executors[0].request("list_timeline", {}).content
        return tuple(answer) if isinstance(answer, list) else ()

    def _steps(self) -> Iterator[Failure | None]:
        for number, step in enumerate(self.case.steps, start=1):
            if self.unsupported:
                return
            yield self._taken(number, step)
            if not self.unsupported:
                yield from self._questions(number, last=number == len(self.case.steps))

    def _taken(self, number: int, step: Step) -> Failure | None:
        if is_service(step):
            return self._service(number, step)
        return self._interrupted(number, step) if step.phases else self._write(number, step)

    def _service(self, number: int, step: Step) -> Failure | None:
        """Both plan or both find nothing to do; what is to be carried out at once is.

        A service about a write that had nothing to do, and so has no instant, is left out.
        """
        if step.target and not any(instant_of(done[step.target - 1]) for done in self.done):
            for done in self.done:
                done.append({})
            return None
        planned_requests = [list(requests_of(step, self.case.shape, done)) for done in self.done]
        answers = self._both(planned_requests[0][0][0], [one[0][1] for one in planned_requests])
        failure = self._agreed(number, step.operation, answers) or self._planned_alike(number, step, answers)
        if failure is None and step.operation.startswith(f"{RUN} "):
            failure, answers = self._executed(number, step, answers)
        for done, one in zip(self.done, answers, strict=True):
            noted(done, step, one.content if one.is_result else None)
        if step.operation in {COMMIT, ABORT} and all(one.is_result for one in answers):
            self.started.discard(step.target)
        return failure

    def _executed(self, number: int, step: Step, planned: list[Answer]) -> tuple[Failure | None, list[Answer]]:
        """What was planned is carried out, where there was anything to plan."""
        plans = [one.value["requested"] for one in planned if one.is_result]
        if len(plans) < len(planned) or None in plans:
            return None, planned
        configs = {**self.case.shape.configs, **step.configs}
        answers = self._both("execute", [{"requested": one, "configs": configs} for one in plans])
        return self._agreed(number, f"execute of {step.operation}", answers), answers

    @staticmethod
    def _planned_alike(number: int, step: Step, answers: Sequence[Answer]) -> Failure | None:
        """Whether there is anything to plan both see alike."""
        values = [one.value for one in answers if one.is_result]
        found = {one["requested"] is None for one in values if set(one) == {"requested"}}
        return _failure(number, step.operation, tuple(map(str, values))) if len(found) > 1 else None

    def _write(self, number: int, step: Step) -> Failure | None:
        answers = self._both("write", [step.params(self.case.shape)] * 2, step.input())
        for done, one in zip(self.done, answers, strict=True):
            done.append(one.value)
        return self._agreed(number, f"write {step.operation}", answers)

    def _interrupted(self, number: int, step: Step) -> Failure | None:
        """A write goes as far as its step says; its process ends, or keeps what it has begun."""
        params = {**step.params(self.case.shape), "txn": transaction(number)}
        failure, answers = None, list[Answer]()
        self.started.add(number)
        for phase in step.phases:
            answers = self._both(phase, [params] * 2, step.input())
            failure = self._agreed(number, f"{phase} {step.operation}", answers)
            if failure or self.unsupported or not all(one.is_result for one in answers):
                break
        for done, one in zip(self.done, answers, strict=True):
            done.append(pending_write(one.value))
        if step.crashes:
            self._end_processes()
        return failure

    def _end_processes(self) -> None:
        self.started.clear()
        for side in self.sides:
            if not side.only_reads:
                side.adapter.kill()

    def _agreed(self, number: int, question: str, answers: Sequence[Answer]) -> Failure | None:
        """Both do it, or both refuse for the same reason."""
        kinds = [one.kind for one in answers]
        lacking = [f"{side.name}: {one.reason}" for side, one in self._by_side(answers) if one.kind is Kind.UNSUPPORTED]
        self.unsupported |= dict.fromkeys(lacking)
        if lacking:
            return None
        if kinds == [Kind.REJECTED, Kind.REJECTED]:
            self.refused += 1
            if answers[0].reason == answers[1].reason or not self.options.strict:
                return None
        elif kinds == [Kind.RESULT, Kind.RESULT] or self._both_somehow_refuse(kinds):
            return None
        return self._described(number, question, answers)

    def _both_somehow_refuse(self, kinds: Sequence[Kind]) -> bool:
        return not self.options.strict and set(kinds) == {Kind.REJECTED, Kind.ERRORED}

    def _described(self, number: int, question: str, answers: Sequence[Answer]) -> Failure:
        described = (f"{side.name}: {one.describe()}" for side, one in self._by_side(answers))
        return _failure(number, question, tuple(described))

    def _by_side(self, answers: Sequence[Answer]) -> Iterator[tuple[Side, Answer]]:
        return zip(self.sides, answers, strict=True)

    def _questions(self, number: int, *, last: bool) -> Iterator[Failure | None]:
        for question in questions_after(self.case, self.done[0], last=last, between=self.options.between):
            yield self._question(number, question)
        for side, executor in zip(self.sides, self.executors, strict=True):
            if side.checker is not None:
                yield self._checked(number, replace(executor, adapter=side.checker))

    def _question(self, number: int, question: Question) -> Failure | None:
        shape = self.case.shape_after(number)
        answers = self._both(question.op, [question.params(done, shape) for done in self.done])
        kinds = [one.kind for one in answers]
        if Kind.UNSUPPORTED in kinds:
            return None
        if kinds == [Kind.REJECTED, Kind.REJECTED] or not (self.options.strict or Kind.RESULT in kinds):
            return self._agreed(number, str(question), answers)
        if kinds != [Kind.RESULT, Kind.RESULT]:
            return self._described(number, str(question), answers)
        self.queries += 1
        differences = self._compared(question, answers)
        return _failure(number, str(question), differences) if differences else None

    def _compared(self, question: Question, answers: Sequence[Answer]) -> tuple[str, ...]:
        """The differences of two answers, with steps in place of their times."""
        left, right = (InstantNames.of_steps(done) for done in self.done)
        first, second = (one.rows for one in answers)
        if first is not None and second is not None:
            rows = [left.normalized_rows(first), right.normalized_rows(second)]
            return compare_rows(*(rows if self.options.strict else _common(rows)))
        if first is not None or second is not None:
            return tuple(str(one.content)[:300] for one in answers)
        op, expected = question.op, left.normalized(question.op, answers[0].content)
        return compare_values(op, expected, answers[1].content, lambda actual: right.normalized(op, actual))

    def _checked(self, number: int, checker: StepExecutor) -> Failure | None:
        self.queries += 1
        wrong = checker.check_errors()
        return _failure(number, f"{CHECK_TABLE} of {checker.name}", wrong) if wrong else None

    def _both(self, op: str, params: Sequence[Mapping[str, Any]], rows: Rows | None = None) -> list[Answer]:
        if self.sides[1].only_reads and op in WRITING_OPS:
            return [self.executors[0].request(op, params[0], rows)] * 2
        (first, second), (one, other) = self.executors, params
        adapters = [side.adapter for side in self.sides]
        if not isinstance(adapters[1], Session) or adapters[0] is adapters[1]:
            return [first.request(op, one, rows), second.request(op, other, rows)]
        # Another process works meanwhile.
        with ThreadPoolExecutor(1) as waiting:
            answer = waiting.submit(second.request, op, other, rows)
            return [first.request(op, one, rows), answer.result()]


def _failure(step: int, question: str, differences: tuple[str, ...]) -> Failure:
    """A failure that is the same as another one of its op, of a check as another one of its clause."""
    op = question.partition(" ")[0]
    clause = differences[0].partition(" ")[0] if op == CHECK_TABLE and differences else ""
    return Failure(step, question, differences, kind=(op, clause))


def _common(answers: Sequence[Rows]) -> Sequence[Rows]:
    """Answers without the columns that only one of them has, and has no value in."""
    shared = {name for name, _ in answers[0].schema} & {name for name, _ in answers[-1].schema}
    return [_without_empty(one, shared) for one in answers]


def _without_empty(rows: Rows, shared: set[str]) -> Rows:
    places = range(len(rows.schema))
    kept = [at for at in places if rows.schema[at][0] in shared or any(row[at] is not None for row in rows.rows)]
    schema = tuple(rows.schema[at] for at in kept)
    return Rows(schema, tuple(tuple(row[at] for at in kept) for row in rows.rows))
