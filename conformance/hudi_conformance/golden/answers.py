"""What the model answers to a question, in the form that expected answers are kept in, and which mutants differ."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from hudi_adapter.rows import Rows, encode_value
from hudi_conformance.bridge.asking import RELEASED, Answered, ask
from hudi_conformance.golden.questions import Question
from hudi_conformance.mutants import Mutant, mutated
from hudi_model.readings import Reading, Readings
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.tables import Table


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer as text (rows sorted), or the reason of a refusal, or the feature that lacks."""

    text: str | None = None
    is_rows: bool = False
    reject: str | None = None
    unsupported: str | None = None
    warnings: tuple[str, ...] = ()

    def satisfies(self, expected: "Verdict") -> bool:
        """Whether a runner would let this pass where the other is expected: more warnings do no harm."""
        same = (self.text, self.reject, self.unsupported) == (expected.text, expected.reject, expected.unsupported)
        return same and set(expected.warnings) <= set(self.warnings)


@dataclass(frozen=True, slots=True)
class Expected:
    """The model's verdict, and that of the text where one clause has two readings and they differ."""

    released: Verdict
    text: Verdict | None = None

    def accepts(self, verdict: Verdict) -> bool:
        """Whether either reading is met."""
        return verdict.satisfies(self.released) or (self.text is not None and verdict.satisfies(self.text))


def verdict(table: Table, question: Question, readings: Readings = RELEASED) -> Verdict:
    """The model's answer to a question, refusals included."""
    try:
        answered = ask(table, question.op, question.params, readings)
    except Rejection as refusal:
        return Verdict(reject=refusal.reason.value)
    except Unsupported as lack:
        return Verdict(unsupported=lack.feature)
    warnings = tuple(sorted(warning.clause for warning in answered.warnings))
    return Verdict(_text(answered), answered.has_rows, warnings=warnings)


def expected(table: Table, question: Question) -> Expected:
    """
    The model's verdict under both readings.

    Raises:
        ValueError: more than one clause decides between them.
    """
    released = verdict(table, question)
    others = {name: verdict(table, question, other) for name, other in _one_by_one()}
    differing = {name: other for name, other in others.items() if other != released}
    if len(differing) > 1:
        raise ValueError(f"{question.id}: the readings of {', '.join(differing)} all matter; a case may hold one")
    return Expected(released, next(iter(differing.values()), None))


def killed(table: Table, question: Question, answer: Expected, mutants: Iterable[Mutant]) -> list[str]:
    """The names of the mutants whose answer would not pass."""
    return [mutant.name for mutant in mutants if not _survives(table, question, answer, mutant)]


def _survives(table: Table, question: Question, answer: Expected, mutant: Mutant) -> bool:
    with mutated(mutant):
        try:
            return answer.accepts(verdict(table, question))
        except Exception:  # noqa: BLE001 - a broken model may break anywhere; that is an answer no case accepts
            return False


def _one_by_one() -> Iterator[tuple[str, Readings]]:
    for reading in fields(Readings):
        yield reading.name, replace(RELEASED, **{reading.name: Reading.TEXT})


def _text(answered: Answered) -> str:
    if isinstance(answered.content, Rows):
        return rows_text(answered.content)
    return json.dumps(answered.content, ensure_ascii=False, indent=1) + "\n"


def rows_text(rows: Rows) -> str:
    """JSON Lines with the schema in front and the rows sorted by their text, so that equal bags give equal bytes."""
    header = _dumps({"schema": [{"name": name, "type": logical} for name, logical in rows.schema]})
    lines = sorted(_dumps(_encoded(rows, row)) for row in rows.rows)
    return "".join(f"{line}\n" for line in [header, *lines])


def _encoded(rows: Rows, row: tuple[Any, ...]) -> Mapping[str, Any]:
    return {name: encode_value(value, logical) for (name, logical), value in zip(rows.schema, row, strict=True)}


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
