"""A case played on two tables by two adapters: every write sent to both, and the same questions asked of both."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows, RowsError, read_answer, write_rows

from hudi_conformance.corpus.table_shapes import Step, WriteCase
from hudi_conformance.interop.fuzzing.questions import Question, questions_after, told_by_steps
from hudi_conformance.interop.fuzzing.service_steps import RUN, is_service, noted, requests_of
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.session import Heard, Reply, Session
from hudi_conformance.runner.value_comparison import compare_values

LIMIT_S = 120.0
_CHECKED = "check_table"


@dataclass(frozen=True, slots=True)
class Side:
    """An adapter that plays: its session; a checker, where there is one, is asked what is wrong with its table."""

    name: str
    session: Session
    checker: Session | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """`strict`: reasons of refusals count, and columns without any value; `between`: earlier times are asked, too."""

    strict: bool = True
    between: bool = True


@dataclass(frozen=True, slots=True)
class Failure:
    """Where two sides part: the step (from 1), what was asked, and what differs."""

    step: int
    question: str
    differences: tuple[str, ...]

    @property
    def sort(self) -> tuple[str, str]:
        """What a smaller case has to share with this one, to be the same failure."""
        op, first = self.question.split(" ")[0], self.differences[0] if self.differences else ""
        return op, first.split(" ")[0] if op == _CHECKED else ""

    def __str__(self) -> str:
        shown = [*self.differences[:12], *(["..."] if len(self.differences) > 12 else [])]
        return "\n".join([f"after step {self.step}, {self.question}:", *(f"  {line}" for line in shown)])


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a case: where it failed, if so; questions answered alike; what a side does not support."""

    failure: Failure | None
    asked: int
    refused: int
    unsupported: tuple[str, ...]


Instant = Mapping[str, Any]


def play(case: WriteCase, sides: tuple[Side, Side], folder: Path, options: Options = Options()) -> Played:
    """Play a case below an empty folder, up to the first difference or to what a side does not support."""
    return _Game(case, sides, folder, options).played()


class _Game:
    def __init__(self, case: WriteCase, sides: tuple[Side, Side], folder: Path, options: Options) -> None:
        self.case, self.sides, self.folder, self.options = case, sides, folder, options
        self.tables = tuple(folder / f"{number}-{side.name}" / "table" for number, side in enumerate(sides))
        self.done: tuple[list[Instant], list[Instant]] = ([], [])
        self.numbers = itertools.count()
        self.asked = self.refused = 0
        self.unsupported: dict[str, None] = {}

    def played(self) -> Played:
        failure = self._create() or next(filter(None, self._steps()), None)
        return Played(failure, self.asked, self.refused, tuple(self.unsupported))

    def _create(self) -> Failure | None:
        for table in self.tables:
            table.mkdir(parents=True)
        heard = self._both("create_table", [self.case.shape.create_params()] * 2)
        return self._agreed(0, "create_table", heard)

    def _steps(self) -> Iterator[Failure | None]:
        for number, step in enumerate(self.case.steps, start=1):
            if self.unsupported:
                return
            yield self._step(number, step)
            if not self.unsupported:
                last = number == len(self.case.steps)
                yield from self._questions(number, last=last)

    def _step(self, number: int, step: Step) -> Failure | None:
        return self._service(number, step) if is_service(step) else self._write(number, step)

    def _service(self, number: int, step: Step) -> Failure | None:
        """Both plan or both find nothing to do; what is to be carried out at once is."""
        asked = [list(requests_of(step, self.case.shape, done)) for done in self.done]
        op = asked[0][0][0]
        heard = self._both(op, [one[0][1] for one in asked])
        failure = self._agreed(number, step.operation, heard) or self._alike(number, step, heard)
        if failure is None and step.operation.startswith(f"{RUN} "):
            failure, heard = self._executed(number, step, heard)
        for done, one in zip(self.done, heard, strict=True):
            noted(done, step, _value(one) if _kind(one) == "result" else None)
        return failure

    def _executed(self, number: int, step: Step, planned: list[Heard]) -> tuple[Failure | None, list[Heard]]:
        """What was planned is carried out, where there was anything to plan."""
        plans = [_value(one)["requested"] for one in planned if _kind(one) == "result"]
        if len(plans) < len(planned) or None in plans:
            return None, planned
        configs = {**self.case.shape.configs, **step.configs}
        heard = self._both("execute", [{"requested": one, "configs": configs} for one in plans])
        return self._agreed(number, f"execute of {step.operation}", heard), heard

    @staticmethod
    def _alike(number: int, step: Step, heard: Sequence[Heard]) -> Failure | None:
        """Whether there is anything to plan both see alike."""
        values = [_value(one) for one in heard if _kind(one) == "result"]
        found = {one["requested"] is None for one in values if set(one) == {"requested"}}
        return Failure(number, step.operation, tuple(map(str, values))) if len(found) > 1 else None

    def _write(self, number: int, step: Step) -> Failure | None:
        rows, file = step.input(), None
        if rows is not None:
            file = self.folder / f"input-{number}.jsonl"
            write_rows(file, rows)
        heard = self._both("write", [step.params(self.case.shape, file)] * 2)
        failure = self._agreed(number, f"write {step.operation}", heard)
        for done, one in zip(self.done, heard, strict=True):
            done.append(_value(one) if _kind(one) == "result" else {})
        return failure

    def _agreed(self, number: int, what: str, heard: Sequence[Heard]) -> Failure | None:
        """Both do it, or both refuse for the same reason."""
        kinds = [_kind(one) for one in heard]
        self._note_unsupported(heard)
        if "unsupported" in kinds:
            return None
        if kinds == ["rejected", "rejected"]:
            self.refused += 1
            reasons = [_message(one)["rejected"]["reason"] for one in heard]
            if reasons[0] == reasons[1] or not self.options.strict:
                return None
        elif kinds == ["result", "result"] or self._both_somehow_refuse(kinds):
            return None
        told = (f"{side.name}: {_said(one)}" for side, one in zip(self.sides, heard, strict=True))
        return Failure(number, what, tuple(told))

    def _both_somehow_refuse(self, kinds: Sequence[str]) -> bool:
        return not self.options.strict and set(kinds) == {"rejected", "errored"}

    def _questions(self, number: int, *, last: bool) -> Iterator[Failure | None]:
        for question in questions_after(self.case, self.done[0], last=last, between=self.options.between):
            yield self._question(number, question)
        for side, table in zip(self.sides, self.tables, strict=True):
            if side.checker is not None:
                yield self._checked(number, side, table)

    def _question(self, number: int, question: Question) -> Failure | None:
        heard = self._both(question.op, [question.params(done, self.case.shape) for done in self.done], keep=True)
        kinds = [_kind(one) for one in heard]
        if "unsupported" in kinds:
            return None
        if kinds == ["rejected", "rejected"] or (not self.options.strict and "result" not in kinds):
            return self._agreed(number, str(question), heard)
        if kinds != ["result", "result"]:
            told = (f"{side.name}: {_said(one)}" for side, one in zip(self.sides, heard, strict=True))
            return Failure(number, str(question), tuple(told))
        self.asked += 1
        answers = [self._answer(one, done) for one, done in zip(heard, self.done, strict=True)]
        differences = _differences(question.op, answers if self.options.strict else _common(answers))
        return Failure(number, str(question), differences) if differences else None

    def _answer(self, heard: Heard, done: Sequence[Instant]) -> Any:
        result = _message(heard)["result"]
        if "rows_file" not in result:
            return result["value"]
        try:
            return told_by_steps(read_answer(Path(result["out_dir"]), result["rows_file"]), done)
        except RowsError as error:
            return str(error)

    def _checked(self, number: int, side: Side, table: Path) -> Failure | None:
        assert side.checker is not None
        heard = self._ask(side.checker, _CHECKED, table, {})
        if _kind(heard) != "result":
            return Failure(number, f"{_CHECKED} of {side.name}", (_said(heard),))
        wrong = [
            f"{one['clause']} {one['where']}: {one['message']}" for one in _value(heard) if one["severity"] == "error"
        ]
        self.asked += 1
        return Failure(number, f"{_CHECKED} of {side.name}", tuple(wrong)) if wrong else None

    def _note_unsupported(self, heard: Sequence[Heard]) -> None:
        for side, one in zip(self.sides, heard, strict=True):
            if _kind(one) == "unsupported":
                self.unsupported[f"{side.name}: {_message(one)['unsupported']['feature']}"] = None

    def _both(self, op: str, params: Sequence[Mapping[str, Any]], *, keep: bool = False) -> list[Heard]:
        places = zip(self.sides, self.tables, params, strict=True)
        return [self._ask(side.session, op, table, asked, keep=keep) for side, table, asked in places]

    def _ask(self, session: Session, op: str, table: Path, params: Mapping[str, Any], *, keep: bool = False) -> Heard:
        out_dir = self.folder / f"out-{next(self.numbers)}"
        out_dir.mkdir()
        heard = session.ask(op, table, params, out_dir, LIMIT_S)
        if keep and isinstance(heard, Reply) and "rows_file" in heard.message.get("result", {}):
            return Reply({**heard.message, "result": {**heard.message["result"], "out_dir": str(out_dir)}})
        return heard


def _common(answers: Sequence[Any]) -> Sequence[Any]:
    """Answers without the columns that only one of them has, and has no value in."""
    rows = [one for one in answers if isinstance(one, Rows)]
    if len(rows) < len(answers):
        return answers
    shared = {name for name, _ in rows[0].schema} & {name for name, _ in rows[-1].schema}
    return [_without_empty(one, shared) for one in rows]


def _without_empty(rows: Rows, shared: set[str]) -> Rows:
    places = range(len(rows.schema))
    kept = [at for at in places if rows.schema[at][0] in shared or any(row[at] is not None for row in rows.rows)]
    schema = tuple(rows.schema[at] for at in kept)
    return Rows(schema, tuple(tuple(row[at] for at in kept) for row in rows.rows))


def _differences(op: str, answers: Sequence[Any]) -> tuple[str, ...]:
    left, right = answers
    if isinstance(left, Rows) and isinstance(right, Rows):
        return compare_rows(left, right)
    if isinstance(left, Rows) or isinstance(right, Rows) or isinstance(left, str) or isinstance(right, str):
        return tuple(str(one)[:300] for one in answers)
    return compare_values(op, left, right)


def _kind(heard: Heard) -> str:
    """Result, rejected, unsupported, errored; or broken where there is no message."""
    if not isinstance(heard, Reply):
        return "broken"
    return next(name for name in ("result", "rejected", "unsupported", "errored") if name in heard.message)


def _message(heard: Heard) -> Mapping[str, Any]:
    return heard.message if isinstance(heard, Reply) else {}


def _value(heard: Heard) -> Any:
    return _message(heard)["result"].get("value")


def _said(heard: Heard) -> str:
    message = _message(heard)
    match _kind(heard):
        case "result":
            return "does it"
        case "rejected":
            return f"refuses, {message['rejected']['reason']}: {message['rejected']['message']}"
        case "errored":
            return f"error: {message['errored']['message'][:1500]}"
        case _:
            return f"{heard}"[:500]
