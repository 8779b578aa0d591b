"""From an adapter's answer to a verdict on the case."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_adapter.logical_types import LogicalTypeError
from hudi_adapter.rows import Rows, RowsError, read_rows
from hudi_adapter.values import ValueFormError

from hudi_conformance.cases import Case, Expectation, Step
from hudi_conformance.comparison import compare_rows
from hudi_conformance.resources import CorpusError
from hudi_conformance.session import Broken, Heard, Hung
from hudi_conformance.value_comparison import compare_values
from hudi_conformance.verdicts import Outcome, Verdict

ReadingClauses = Callable[[Case], str]


@dataclass(frozen=True, slots=True)
class _Match:
    """An expected answer held against the given one."""

    reading: str | None
    differences: tuple[str, ...]


def judge(case: Case, step: Step, heard: Heard, out_dir: Path, reading_clause: ReadingClauses) -> Outcome:
    """The outcome of one step.

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
        return _judge_refusal(case, step, message["rejected"])
    return _judge_result(case, step, message, out_dir, reading_clause)


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


def _judge_result(
    case: Case, step: Step, message: Mapping[str, Any], out_dir: Path, reading_clause: ReadingClauses
) -> Outcome:
    try:
        answer = _answer(message["result"], out_dir)
    except RowsError as error:
        return Outcome(case, Verdict.FAIL, f"rows: {error}")
    digest = _digest(_portable(answer))
    if step.reasons:
        said = f"answered {_counted(answer)} where it must refuse with {' or '.join(step.reasons)}"
        return Outcome(case, Verdict.FAIL, said, answer_sha256=digest)
    if step.is_open:
        return Outcome(case, Verdict.OPEN, f"answered {_counted(answer)}", answer_sha256=digest)
    matches = [_held_against(step.op, expectation, answer) for expectation in step.expectations]
    silent = _missing_warnings(step, message.get("warnings", []))
    return _matched(case, matches, silent, digest, reading_clause)


def _matched(
    case: Case, matches: Sequence[_Match], silent: tuple[str, ...], digest: str, reading_clause: ReadingClauses
) -> Outcome:
    equal = [match for match in matches if not match.differences]
    if not equal:
        nearest = min(matches, key=lambda match: len(match.differences))
        told = f"nearest reading: {nearest.reading}" if len(matches) > 1 else ""
        return Outcome(case, Verdict.FAIL, told, differences=(*nearest.differences, *silent), answer_sha256=digest)
    if silent:
        return Outcome(case, Verdict.FAIL, differences=silent, answer_sha256=digest)
    # An answer that fits both readings does not show which one was followed.
    shown = len(matches) > 1 and len(equal) == 1
    reading = (reading_clause(case), str(equal[0].reading)) if shown else None
    return Outcome(case, Verdict.PASS, reading=reading, answer_sha256=digest)


def _missing_warnings(step: Step, warnings: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    given = {str(warning["clause"]) for warning in warnings}
    return tuple(f"missing warning {clause}" for clause in step.warnings if clause not in given)


def _answer(result: Mapping[str, Any], out_dir: Path) -> Any:
    return read_rows(out_dir / result["rows_file"]) if "rows_file" in result else result["value"]


def _held_against(op: str, expectation: Expectation, answer: Any) -> _Match:
    if expectation.file.suffix == ".json":
        expected = _expected_value(expectation.file)
        told = ("rows, where a value is asked",) if isinstance(answer, Rows) else compare_values(op, expected, answer)
    else:
        rows = _expected_rows(expectation.file)
        told = compare_rows(rows, answer) if isinstance(answer, Rows) else ("a value, where rows are asked",)
    return _Match(expectation.reading, told)


def _expected_value(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{file.parent.parent.name}/expected/{file.name}: {error}") from error


def _expected_rows(file: Path) -> Rows:
    try:
        return read_rows(file)
    except (RowsError, LogicalTypeError, ValueFormError) as error:
        raise CorpusError(f"{file.parent.parent.name}/expected/{file.name}: {error}") from error


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
