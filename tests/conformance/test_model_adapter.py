"""The model passes its own corpus through the protocol, under both readings, and fails it when broken."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hudi_adapter.serving import serve
from hudi_conformance.adapters.model import adapter
from hudi_conformance.bridge import writing
from hudi_conformance.bridge.operations import OPERATIONS, READINGS
from hudi_conformance.corpus.mutants import MUTANTS, mutated
from hudi_conformance.runner.answer_verdicts import outcome_of
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.cases import Case, load_golden_cases
from hudi_conformance.runner.reading_clauses import ClauseBook
from hudi_conformance.runner.session import Reply
from hudi_conformance.runner.step_executor import answer_of
from hudi_conformance.runner.verdicts import Outcome, Verdict
from hudi_model.tables import Readings

ROOT = Path(__file__).parents[2]
CASES = load_golden_cases(ROOT)


def _outcomes(cases: list[Case], readings: Readings, folder: Path) -> Iterator[Outcome]:
    """Each step put to the adapter's loop in this process."""
    book = ClauseBook(ROOT)
    steps = ((case, step) for case in cases for step in case.steps)
    for number, (case, step) in enumerate(steps):
        # Reading changes nothing: one copy a table is enough.
        copy, out = folder / case.table.id, folder / f"out-{number}"
        if not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            unpack(case.table.folder, copy)
        out.mkdir()
        message = {"cmd": "run", "seq": number, "op": step.op, "table": str(copy), "out_dir": str(out), "limit_s": 60}
        answers = io.StringIO()
        serve(adapter(readings), io.StringIO(json.dumps({**message, "params": dict(step.params)}) + "\n"), answers)
        answer = answer_of(Reply(json.loads(answers.getvalue())), out)
        yield outcome_of(case, step, answer, book.reading_clause)


@pytest.mark.slow
@pytest.mark.parametrize("reading", sorted(READINGS))
def test_the_model_passes_every_case(reading: str, tmp_path: Path) -> None:
    """Answers in the corpus are the model's, whole, through the wire, whichever reading it keeps to."""
    outcomes = list(_outcomes(list(CASES), READINGS[reading], tmp_path))

    failed = [
        (outcome.case.id, outcome.verdict, outcome.message)
        for outcome in outcomes
        if outcome.verdict is not Verdict.PASS
    ]
    assert failed == []
    assert {outcome.reading[1] for outcome in outcomes if outcome.reading} <= {reading}


def test_a_broken_model_fails(tmp_path: Path) -> None:
    """`--mutant` breaks what it says: the case that names the mutant fails."""
    name = "event-time-ignores-ordering"
    case = next(case for case in CASES if name in case.kills)

    with mutated(MUTANTS[name]):
        (outcome,) = _outcomes([case], READINGS["released"], tmp_path)

    assert outcome.verdict is Verdict.FAIL


def test_the_adapter_declares_its_ops() -> None:
    """The ops of the protocol that the model holds, reading, checking and writing."""
    assert set(adapter(READINGS["released"]).operations) == {*OPERATIONS, *writing.OPERATIONS}
    assert {"read_snapshot", "read_incremental", "read_changes", "check_table"} <= set(OPERATIONS)


def test_an_op_that_the_model_lacks_is_unsupported(tmp_path: Path) -> None:
    """Never an error, never an empty answer."""
    answers = io.StringIO()
    message = {
        "cmd": "run",
        "seq": 1,
        "op": "read_tea_leaves",
        "table": str(tmp_path),
        "params": {},
        "out_dir": str(tmp_path),
    }

    serve(adapter(READINGS["released"]), io.StringIO(json.dumps(message) + "\n"), answers)

    assert json.loads(answers.getvalue())["unsupported"] == {"feature": "read_tea_leaves"}


@pytest.mark.parametrize("params", [{}, {"instant": 20250101000001000}, {"instant": None}])
def test_a_time_that_is_no_text_is_malformed(tmp_path: Path, params: dict[str, object]) -> None:
    """As in the engine's adapter: refused, not an error."""
    table = unpack(CASES[0].table.folder, tmp_path / "table")

    assert _refusal("read_as_of", table, params, tmp_path)["reason"] == "INSTANT_MALFORMED"


def test_a_link_that_leaves_the_table_is_refused(tmp_path: Path) -> None:
    table = unpack(CASES[0].table.folder, tmp_path / "table")
    (table / "elsewhere").symlink_to("/")

    assert _refusal("read_snapshot", table, {}, tmp_path)["reason"] == "PATH_ESCAPES_TABLE"


def _refusal(op: str, table: Path, params: dict[str, object], folder: Path) -> dict[str, str]:
    message = {"cmd": "run", "seq": 1, "op": op, "table": str(table), "params": params, "out_dir": str(folder)}
    answers = io.StringIO()
    serve(adapter(READINGS["released"]), io.StringIO(json.dumps(message) + "\n"), answers)
    refusal: dict[str, str] = json.loads(answers.getvalue())["rejected"]
    return refusal


def test_a_folder_that_is_no_table_is_not_walked(tmp_path: Path) -> None:
    """It may be the root of a disk; a link in it that leads out of it would be refused as the table's."""
    (tmp_path / "other/elsewhere").mkdir(parents=True)
    (tmp_path / "other/out").symlink_to("/")

    assert _refusal("read_snapshot", tmp_path / "other", {}, tmp_path)["reason"] == "NOT_A_TABLE"
