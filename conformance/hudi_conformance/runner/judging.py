"""From an adapter's answer to a verdict on the case."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows, RowsError, read_answer

from hudi_conformance.runner.cases import Case, Expectation, Step
from hudi_conformance.runner.cell_comparison import compare_cells
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.session import Broken, Heard, Hung
from hudi_conformance.runner.value_comparison import compare_values
from hudi_conformance.runner.verdicts import Outcome, Verdict

ReadingClauses = Callable[[Case], str]
Tell = Callable[[str, Any], Any]
_MOST_ROWS_DRAWN = 20_000
_ROWS_NOT_VALUE = "rows, where a value is asked"


@dataclass(frozen=True, slots=True)
class _Match:
    """An expected answer held against the given one."""

    reading: str | None
    differences: tuple[str, ...]


def judge(
    case: Case, step: Step, heard: Heard, out_dir: Path, reading_clause: ReadingClauses, *, tell: Tell | None = None
) -> Outcome:
    """The outcome of one step; `tell` puts an answer in the words in which the expected one is kept.

    Raises:
        CorpusError: an expected answer is absent or does not parse.

    """
    if isinstance(heard, Hung):
        return Outcome(case, Verdict.TIMEOUT, f"no answer within {heard.limit_s:g} s", caught=False)
    if isinstance(heard, Broken):
        return Outcome(case, Verdict.ERROR, heard.why, caught=heard.caught)
    message = heard.message
    if "errored" in message:
        error = message["errored"]
        return Outcome(case, Verdict.ERROR, str(error["message"]), traceback=str(error.get("traceback", "")))
    if "unsupported" in message:
        return Outcome(case, Verdict.UNSUPPORTED, str(message["unsupported"]["feature"]))
    if "rejected" in message:
        outcome = _judge_refusal(case, step, message["rejected"])
        return _with_comparison(outcome, step, refused=str(message["rejected"]["reason"]))
    answered = _answered(message, out_dir)
    return _judge_done(case, step, answered) if step.writes else _judge_read(case, step, answered, reading_clause, tell)


def _with_comparison(outcome: Outcome, step: Step, answer: Any = None, refused: str = "") -> Outcome:
    """The outcome with the answer beside the expected one, where it is not a pass."""
    if outcome.verdict is Verdict.PASS or (isinstance(answer, Rows) and len(answer.rows) > _MOST_ROWS_DRAWN):
        return outcome
    readings = {one.reading or "": one.answer.content for one in step.expectations} or {"": None}
    compared = [replace(compare_cells(step.op, readings[name], answer), reading=name) for name in readings]
    nearest = min(compared, key=lambda one: one.unlike)
    return replace(outcome, comparison=replace(nearest, refused=refused, refusals=step.reasons))


def _judge_refusal(case: Case, step: Step, refusal: Mapping[str, Any]) -> Outcome:
    reason, detail = str(refusal["reason"]), str(refusal["message"])
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


def _judge_done(case: Case, step: Step, answered: "_Answered") -> Outcome:
    """What a writing op answered: which action it was, or whether there was anything to plan."""
    value, silent = answered.content, _silent(step, answered)
    if step.reasons and not step.done:
        return Outcome(case, Verdict.FAIL, f"did it where it must refuse with {' or '.join(step.reasons)}")
    if not isinstance(value, Mapping):
        return Outcome(case, Verdict.FAIL, f"answered {value!r:.80}, where an object is asked")
    said = {"action": value.get("action") or "", "planned": value.get("requested") is not None}
    differences = tuple(
        f"{name}: expected {expected!r}, is {said.get(name)!r}"
        for name, expected in step.done.items()
        if said.get(name) != expected
    )
    differences += silent
    return Outcome(case, Verdict.FAIL if differences else Verdict.PASS, differences=differences)


@dataclass(frozen=True, slots=True)
class _Answered:
    """Rows or a value, or in words why they cannot be read; and the clauses of the warnings that came along."""

    content: Any
    warned: frozenset[str]
    malformed: str = ""


def _answered(message: Mapping[str, Any], out_dir: Path) -> _Answered:
    warned = frozenset(str(warning["clause"]) for warning in message.get("warnings", []))
    try:
        return _Answered(_answer(message["result"], out_dir), warned)
    except RowsError as error:
        return _Answered(None, warned, f"rows: {error}")


def _judge_read(
    case: Case, step: Step, answered: _Answered, reading_clause: ReadingClauses, tell: Tell | None
) -> Outcome:
    if answered.malformed:
        return Outcome(case, Verdict.FAIL, answered.malformed)
    outcome = _held_against_all(case, step, answered, reading_clause, tell)
    return _with_comparison(outcome, step, tell(step.op, answered.content) if tell else answered.content)


def _held_against_all(
    case: Case, step: Step, answered: _Answered, reading_clause: ReadingClauses, tell: Tell | None
) -> Outcome:
    answer = answered.content
    digest = _digest(_portable(answer))
    if step.reasons:
        said = f"answered {_counted(answer)} where it must refuse with {' or '.join(step.reasons)}"
        return Outcome(case, Verdict.FAIL, said, answer_sha256=digest)
    if step.is_open:
        return Outcome(case, Verdict.OPEN, f"answered {_counted(answer)}", answer_sha256=digest)
    matches = [_held_against(step.op, expectation, answer, tell) for expectation in step.expectations]
    return _matched(case, matches, _silent(step, answered), digest, step.clause or reading_clause(case))


def _silent(step: Step, answered: _Answered) -> tuple[str, ...]:
    """The clauses that an answer had to warn of and did not."""
    return tuple(f"missing warning {clause}" for clause in step.warnings if clause not in answered.warned)


def _matched(case: Case, matches: Sequence[_Match], silent: tuple[str, ...], digest: str, clause: str) -> Outcome:
    equal = [match for match in matches if not match.differences]
    if not equal:
        nearest = min(matches, key=lambda match: len(match.differences))
        told = f"nearest reading: {nearest.reading}" if len(matches) > 1 else ""
        return Outcome(case, Verdict.FAIL, told, differences=(*nearest.differences, *silent), answer_sha256=digest)
    if silent:
        return Outcome(case, Verdict.FAIL, differences=silent, answer_sha256=digest)
    # An answer that fits both readings does not show which one was followed.
    shown = len(matches) > 1 and len(equal) == 1
    reading = (clause, str(equal[0].reading)) if shown else None
    return Outcome(case, Verdict.PASS, reading=reading, answer_sha256=digest)


def _answer(result: Mapping[str, Any], out_dir: Path) -> Any:
    return read_answer(out_dir, result["rows_file"]) if "rows_file" in result else result["value"]


def _held_against(op: str, expectation: Expectation, answer: Any, tell: Tell | None) -> _Match:
    telling = partial(tell, op) if tell else None
    expected = expectation.answer.content
    if not isinstance(expected, Rows):
        differences = (_ROWS_NOT_VALUE,) if isinstance(answer, Rows) else compare_values(op, expected, answer, telling)
    elif not isinstance(answer, Rows):
        differences = ("a value, where rows are asked",)
    else:
        differences = compare_rows(expected, telling(answer) if telling else answer)
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
