"""What the model answers to a question, in the form that expected answers are kept in, and which mutants differ."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from hudi_adapter.rows import Rows
from hudi_format.errors import FormatError
from hudi_model.queries import CHOICE_OF_CLAUSE, with_reading
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.tables import TEXT, Reading, Readings, Table

from hudi_conformance.bridge.operations import RELEASED, evaluate
from hudi_conformance.corpus.golden.misreading import Misreading
from hudi_conformance.corpus.golden.questions import Question
from hudi_conformance.corpus.mutants import Mutant, mutants_reached, mutated
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.value_comparison import compare_values

_CHOICES = frozenset(CHOICE_OF_CLAUSE.values())


@dataclass(frozen=True, slots=True)
class Verdict:
    """Rows or a JSON value, or the reason of a refusal, or the feature that lacks."""

    op: str
    content: Any = None
    reject: str | None = None
    unsupported: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def answers(self) -> bool:
        """Whether there is an answer at all."""
        return self.reject is None and self.unsupported is None

    @property
    def is_rows(self) -> bool:
        """Whether the answer is rows."""
        return isinstance(self.content, Rows)

    @property
    def is_empty(self) -> bool:
        """Whether it is an answer that holds nothing."""
        return self.answers and not (self.content.rows if self.is_rows else self.content)

    def satisfies(self, expected: "Verdict") -> bool:
        """Whether the runner would let this pass where the other is expected: more warnings do no harm."""
        if not (self.answers and expected.answers):
            return (self.reject, self.unsupported) == (expected.reject, expected.unsupported)
        return set(expected.warnings) <= set(self.warnings) and not self._differences(expected)

    def _differences(self, expected: "Verdict") -> tuple[str, ...]:
        if self.is_rows and expected.is_rows:
            return compare_rows(expected.content, self.content)
        return compare_values(self.op, expected.content, self.content)


@dataclass(frozen=True, slots=True)
class Expected:
    """The model's verdict, and that of the text where one clause has two readings and they differ: which clause."""

    released: Verdict
    text: Verdict | None = None
    clause: str = ""

    @property
    def may_be_empty(self) -> bool:
        """Whether an answer that holds nothing is right under one of the readings."""
        return self.released.is_empty or (self.text is not None and self.text.is_empty)

    def accepts(self, verdict: Verdict) -> bool:
        """Whether either reading is met."""
        return verdict.satisfies(self.released) or (self.text is not None and verdict.satisfies(self.text))


class ConsultedReadings(Readings):
    """Readings that keep the names of the choices that are looked at; a changed copy looks at all that it copies."""

    __slots__ = ("choices",)
    choices: set[str]

    def __init__(self, **values: Reading) -> None:
        super().__init__(**values)
        object.__setattr__(self, "choices", set())

    def __getattribute__(self, name: str) -> Any:
        """The same value, its name noted."""
        if name in _CHOICES:
            self.choices.add(name)
        return super().__getattribute__(name)


def verdict(table: Table, question: Question, readings: Readings = RELEASED) -> Verdict:
    """The model's answer to a question, refusals included."""
    try:
        answered = evaluate(table, question.op, question.params, readings)
    except Rejection as refusal:
        return Verdict(question.op, reject=refusal.reason.value)
    except Unsupported as lack:
        return Verdict(question.op, unsupported=lack.feature)
    warnings = tuple(sorted(warning.clause for warning in answered.warnings))
    return Verdict(question.op, answered.content, warnings=warnings)


def expected(table: Table, question: Question) -> Expected:
    """The model's verdict under both readings.

    Raises:
        ValueError: more than one clause decides between them.

    """
    consulted = ConsultedReadings()
    released = verdict(table, question, consulted)
    # A choice that the answer does not come by cannot alter it.
    clauses = [clause for clause, choice in CHOICE_OF_CLAUSE.items() if choice in consulted.choices]
    if not clauses:
        return Expected(released)
    others = {clause: verdict(table, question, with_reading(RELEASED, clause, Reading.TEXT)) for clause in clauses}
    differing = {clause: other for clause, other in others.items() if not other.satisfies(released)}
    if len(differing) > 1:
        raise ValueError(f"{question.id}: the readings of {', '.join(differing)} all matter; a case may hold one")
    clause, text = next(iter(differing.items()), ("", None))
    if not verdict(table, question, TEXT).satisfies(text or released):
        raise ValueError(f"{question.id}: several readings matter together; a case may hold one")
    return Expected(released, text, clause)


@dataclass(slots=True)
class Answering:
    """The same as `expected`, of which the other readings are asked only where the released one is not met."""

    table: Table
    question: Question
    _released: Verdict | None = None
    _expected: Expected | None = None

    def verdict_of(self) -> Verdict:
        """The model's verdict as released, asked anew and kept."""
        self._released = verdict(self.table, self.question)
        return self._released

    def accepts(self, found: Verdict) -> bool:
        """Whether either reading is met."""
        if found.satisfies(self._released or self.verdict_of()):
            return True
        self._expected = self._expected or expected(self.table, self.question)
        return self._expected.accepts(found)


Answer: TypeAlias = Expected | Answering


def killed(table: Table, question: Question, answer: Answer, mutants: Iterable[Mutant]) -> list[str]:
    """The names of the model's mutants whose answer would not pass; asked are those that the question comes by."""
    evaluate_once = answer.verdict_of if isinstance(answer, Answering) else partial(verdict, table, question)
    tried = mutants_reached(evaluate_once, (one for one in mutants if not one.of_bytes))
    return [one.name for one in tried if not _survives(table, question, answer, one)]


def killed_in_bytes(table: Misreading, question: Question, answer: Answer, mutants: Iterable[Mutant]) -> list[str]:
    """The same of mutants whose rule is one of bytes: each is asked of the table as it reads it."""

    def accepts(read: Table | FormatError) -> bool:
        return answer.accepts(_verdict_of(read, question))

    return [one.name for one in mutants if one.of_bytes and table.is_noticed(one, accepts)]


def _survives(table: Table, question: Question, answer: Answer, mutant: Mutant) -> bool:
    with mutated(mutant):
        try:
            found = verdict(table, question)
        except Exception:  # noqa: BLE001 - a broken model may break anywhere; that is an answer no case accepts
            return False
    # Held against the answer outside the block, since other readings may have to be asked.
    return answer.accepts(found)


def _verdict_of(read: Table | FormatError, question: Question) -> Verdict:
    if isinstance(read, FormatError):
        return Verdict(question.op, reject=str(read.reason))
    return verdict(read, question)
