"""From an adapter's answer to a verdict on the case."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.runner.cases import Case, Expectation, Step
from hudi_conformance.runner.cell_comparison import compare_cells
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.step_executor import Answer, Kind
from hudi_conformance.runner.value_comparison import compare_values
from hudi_conformance.runner.verdicts import Outcome, Verdict

ReadingClauses = Callable[[Case], str]
Normalize = Callable[[str, Any], Any]
_MOST_ROWS_DRAWN = 20_000
_ROWS_NOT_VALUE = "rows, where a value is asked"


@dataclass(frozen=True, slots=True)
class _Match:
    """An expected answer held against the given one."""

    reading: str | None
    differences: tuple[str, ...]


def outcome_of(
    case: Case, step: Step, answer: Answer, reading_clause: ReadingClauses, *, normalize: Normalize | None = None
) -> Outcome:
    """The outcome of one step; `normalize` puts an answer in the form in which the expected one is kept.

    Raises:
        CorpusError: an expected answer is absent or does not parse.

    """
    if answer.kind is Kind.REJECTED:
        return _with_comparison(_refusal_outcome(case, step, answer), step, refused=answer.reason)
    if not answer.is_result:
        return _no_result_outcome(case, answer)
    if step.writes:
        return _done_outcome(case, step, answer)
    outcome = _read_outcome(case, step, answer, reading_clause, normalize)
    return _with_comparison(outcome, step, normalize(step.op, answer.content) if normalize else answer.content)


def _no_result_outcome(case: Case, answer: Answer) -> Outcome:
    if answer.kind is Kind.UNSUPPORTED:
        return Outcome(case, Verdict.UNSUPPORTED, answer.reason)
    if answer.kind is Kind.MALFORMED:
        return Outcome(case, Verdict.FAIL, f"rows: {answer.message}")
    verdict = Verdict.TIMEOUT if answer.kind is Kind.TIMEOUT else Verdict.ERROR
    return Outcome(case, verdict, answer.message, traceback=answer.detail, caught=answer.caught)


def _with_comparison(outcome: Outcome, step: Step, answer: Any = None, refused: str = "") -> Outcome:
    """The outcome with the answer beside the expected one, where it is not a pass."""
    if outcome.verdict is Verdict.PASS or (isinstance(answer, Rows) and len(answer.rows) > _MOST_ROWS_DRAWN):
        return outcome
    readings = {one.reading or "": one.answer.content for one in step.expectations} or {"": None}
    compared = [replace(compare_cells(step.op, readings[name], answer), reading=name) for name in readings]
    nearest = min(compared, key=lambda one: one.unlike)
    return replace(outcome, comparison=replace(nearest, refused=refused, refusals=step.reasons))


def _refusal_outcome(case: Case, step: Step, refusal: Answer) -> Outcome:
    reason, detail = refusal.reason, refusal.message
    digest = _digest({"rejected": reason})
    if step.is_open:
        return Outcome(case, Verdict.OPEN, f"refused with {reason}: {detail}", answer_sha256=digest)
    if reason in step.reasons:
        return Outcome(case, Verdict.PASS, answer_sha256=digest)
    if step.reasons:
        wanted = " or ".join(step.reasons)
        message = f"refused with {reason}, not {wanted}: {detail}"
        return Outcome(case, Verdict.WRONG_REASON, message, answer_sha256=digest)
    return Outcome(case, Verdict.FAIL, f"refused with {reason}: {detail}", answer_sha256=digest)


def _done_outcome(case: Case, step: Step, answer: Answer) -> Outcome:
    """What a writing op answered: which action it was, or whether there was anything to plan."""
    value, silent = answer.content, _silent(step, answer)
    if step.reasons and not step.done:
        return Outcome(case, Verdict.FAIL, f"did it where it must refuse with {' or '.join(step.reasons)}")
    if not isinstance(value, Mapping):
        return Outcome(case, Verdict.FAIL, f"answered {value!r:.80}, where an object is asked")
    text = {"action": value.get("action") or "", "planned": value.get("requested") is not None}
    differences = tuple(
        f"{name}: expected {expected!r}, is {text.get(name)!r}"
        for name, expected in step.done.items()
        if text.get(name) != expected
    )
    differences += silent
    return Outcome(case, Verdict.FAIL if differences else Verdict.PASS, differences=differences)


def _read_outcome(
    case: Case, step: Step, answer: Answer, reading_clause: ReadingClauses, normalize: Normalize | None
) -> Outcome:
    content = answer.content
    digest = _digest(_portable(content))
    if step.reasons:
        text = f"answered {_counted(content)} where it must refuse with {' or '.join(step.reasons)}"
        return Outcome(case, Verdict.FAIL, text, answer_sha256=digest)
    if step.is_open:
        return Outcome(case, Verdict.OPEN, f"answered {_counted(content)}", answer_sha256=digest)
    matches = [_held_against(step.op, expectation, content, normalize) for expectation in step.expectations]
    return _matched(case, matches, _silent(step, answer), digest, step.clause or reading_clause(case))


def _silent(step: Step, answer: Answer) -> tuple[str, ...]:
    """The clauses that an answer had to warn of and did not."""
    return tuple(f"missing warning {clause}" for clause in step.warnings if clause not in answer.warned)


def _matched(case: Case, matches: Sequence[_Match], silent: tuple[str, ...], digest: str, clause: str) -> Outcome:
    equal = [match for match in matches if not match.differences]
    if not equal:
        nearest = min(matches, key=lambda match: len(match.differences))
        nearer = f"the answer of no reading; compared with that of {nearest.reading!r}, the nearest"
        hint = nearer if len(matches) > 1 else ""
        return Outcome(case, Verdict.FAIL, hint, differences=(*nearest.differences, *silent), answer_sha256=digest)
    if silent:
        return Outcome(case, Verdict.FAIL, differences=silent, answer_sha256=digest)
    # An answer that fits both readings does not show which one was followed.
    shown = len(matches) > 1 and len(equal) == 1
    reading = (clause, str(equal[0].reading)) if shown else None
    return Outcome(case, Verdict.PASS, reading=reading, answer_sha256=digest)


def _held_against(op: str, expectation: Expectation, answer: Any, normalize: Normalize | None) -> _Match:
    normalizing = partial(normalize, op) if normalize else None
    expected = expectation.answer.content
    if not isinstance(expected, Rows):
        differences = (
            (_ROWS_NOT_VALUE,) if isinstance(answer, Rows) else compare_values(op, expected, answer, normalizing)
        )
    elif not isinstance(answer, Rows):
        differences = ("a value, where rows are asked",)
    else:
        differences = compare_rows(expected, normalizing(answer) if normalizing else answer)
    return _Match(expectation.reading, differences)


def _counted(answer: Any) -> str:
    return f"{len(answer.rows)} rows" if isinstance(answer, Rows) else "a value"


def _portable(answer: Any) -> Any:
    if not isinstance(answer, Rows):
        return answer
    order = sorted(range(len(answer.schema)), key=lambda index: answer.schema[index][0])
    rows = sorted(repr([row[index] for index in order]) for row in answer.rows)
    return [[list(answer.schema[index]) for index in order], rows]


def _digest(answer: Any) -> str:
    return hashlib.sha256(json.dumps(answer, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
