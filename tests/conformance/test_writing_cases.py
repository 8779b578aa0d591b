"""Cases that write: how they stand on disk, how they are played, what counts as an answer, who reads back."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hudi_adapter.rows import Rows
from hudi_conformance.bridge import load
from hudi_conformance.corpus.golden.cases import GoldenError
from hudi_conformance.corpus.writing.building import build, hold_to_kills, played
from hudi_conformance.corpus.writing.in_process import ModelPool, ModelSession
from hudi_conformance.corpus.writing.recipes import load_recipes
from hudi_conformance.corpus.writing.registry import RECIPES
from hudi_conformance.runner.adapter_pool import CHECKER, AdapterPool, Roles
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.archive import unpack
from hudi_conformance.runner.case_values import READER, SERVICER, WRITER, Case
from hudi_conformance.runner.cases import load_cases, load_golden_cases, load_tables
from hudi_conformance.runner.in_process import InProcess
from hudi_conformance.runner.instant_order import TimeRules
from hudi_conformance.runner.normalized_answers import InstantNames
from hudi_conformance.runner.processes import Shard
from hudi_conformance.runner.resources import WRITING_CASES, CorpusError
from hudi_conformance.runner.session import Reply, Response
from hudi_conformance.runner.verdicts import Verdict
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
WRITING = [case for case in load_cases(ROOT) if case.writes]
INSTANTS = st.lists(st.integers(0, 10**6), min_size=2, max_size=8, unique=True).map(sorted)


def _case(name: str) -> Case:
    return next(case for case in WRITING if case.id == f"conformance::writing/{name.replace('/', '::')}")


def _instant(number: int) -> str:
    return f"20250101{number:09}"


def test_every_recipe_is_on_disk_and_nothing_else() -> None:
    """What a recipe declares is what the corpus holds; ids are stable: the folder and the name."""
    load_recipes()

    assert {case.id.removeprefix("conformance::writing/").replace("::", "/") for case in WRITING} == set(RECIPES)


def test_a_changed_case_is_put_to_its_mutants_in_every_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of unchanged files only the cases of the shard are; a case that fails leaves the file as it was."""
    load_recipes()
    name = "single/row_stays"
    cases = [one for one in RECIPES if RECIPES[one].family == name]
    put: list[str] = []
    monkeypatch.setattr("hudi_conformance.corpus.writing.building.hold_to_kills", lambda case: put.append(case.id))
    elsewhere = next(
        shard
        for shard in (Shard(number, 1000) for number in range(1, 1001))
        if not any(f"conformance::writing/{one.replace('/', '::')}" in shard for one in cases)
    )

    build(ROOT, tmp_path, [f"{name}*"], shard=elsewhere)
    new = list(put)
    build(ROOT, tmp_path, [f"{name}*"], shard=elsewhere)
    unchanged = put[len(new) :]
    build(ROOT, tmp_path, [f"{name}*"])

    assert sorted(new) == sorted(put[len(new) :])
    assert len(new) == len(cases)
    assert not unchanged

    file = tmp_path / f"{name}.toml"
    file.write_text("# edited\n", encoding="utf-8")

    def refused(case: Case) -> None:
        raise GoldenError(f"{case.id}: it would pass")

    monkeypatch.setattr("hudi_conformance.corpus.writing.building.hold_to_kills", refused)
    with pytest.raises(GoldenError, match="it would pass"):
        build(ROOT, tmp_path, [f"{name}*"], shard=elsewhere)
    assert file.read_text(encoding="utf-8") == "# edited\n"


def test_golden_cases_are_selected_alone() -> None:
    """Who reads tables only, as recorded peers do, is given no case that writes."""
    assert not any(case.writes for case in load_golden_cases(ROOT))
    assert WRITING


@pytest.mark.parametrize("case", WRITING[::40], ids=lambda case: case.id)
@pytest.mark.parametrize("reading", ["released", "text"])
def test_the_model_passes_and_reads_back(case: Case, reading: str) -> None:
    """A sample, evenly spread, under both readings; every one is played by the builder and by the conformance run."""
    outcome = played(case, reading=reading)

    assert outcome.verdict is Verdict.PASS, (outcome.message, outcome.differences)


@pytest.mark.parametrize("case", WRITING[7::80], ids=lambda case: case.id)
def test_cases_kill_what_they_name(case: Case) -> None:
    """A sample; the builder holds every case to it."""
    hold_to_kills(case)


def test_a_case_that_kills_nothing_is_refused() -> None:
    """Such a case does not count."""
    case = _case("tables/settings_cow_v9")
    spared = replace(case, kills=("tagging-sees-nothing",))

    with pytest.raises(GoldenError, match="tagging-sees-nothing would pass"):
        hold_to_kills(spared)


class _Deaf(ModelSession):
    """A reader that sees an empty table."""

    def request(self, op: str, table: Path, params: Mapping[str, Any], out_dir: Path, limit_s: float) -> Response:
        if op != "read_snapshot":
            return super().request(op, table, params, out_dir, limit_s)
        (out_dir / "none.jsonl").write_text('{"schema":[{"name":"id","type":"string"}]}\n', encoding="utf-8")
        return Reply({"seq": 1, "result": {"rows_file": "none.jsonl"}})


def test_a_reader_that_sees_something_else_fails_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a writer has written is read back by others, and their answers count."""

    plain = ModelPool.session

    def session(self: ModelPool, adapter: AdapterConfig, process: int = 1) -> InProcess:
        return _Deaf() if adapter.name == CHECKER else plain(self, adapter, process)

    monkeypatch.setattr(ModelPool, "session", session)
    outcome = played(_case("single/upsert_mor_v9"))

    assert outcome.verdict is Verdict.FAIL
    assert "asked of model" in outcome.message


def test_roles_fall_to_the_adapter_unless_others_are_named(tmp_path: Path) -> None:
    """The model reads back, and reads within a case only where a user names it."""
    mine, other, model = (AdapterConfig(name, (name,)) for name in ("mine", "other", "model"))
    alone = AdapterPool(mine, Roles(readers=(model,), checker=model), tmp_path)
    mixed = AdapterPool(mine, Roles(other, (other,), model), tmp_path)

    assert alone.executor(SERVICER) is alone.executor(WRITER) is alone.executor(READER)
    assert [name for name, _ in alone.readers()] == ["model"]
    assert mixed.executor(SERVICER) is mixed.executor(READER) is not mixed.executor(WRITER)
    assert mixed.executor(WRITER, 2) is not mixed.executor(WRITER, 1)


@given(INSTANTS)
def test_normalized_answers_do_not_depend_on_the_times(numbers: list[int]) -> None:
    """Two sides that did the same at different times are reported alike, instants that no step answered included."""
    sides = [numbers, [10**7 + 3 * place for place in range(len(numbers))]]
    answers = []
    for side in sides:
        times, known = InstantNames(), [_instant(one) for one in side]
        times.note(1, {"requested": known[0], "completed": None})
        timeline = [{"requested": one, "completed": None, "action": "commit", "state": "REQUESTED"} for one in known]
        rows = Rows((("_hoodie_commit_time", "string"), ("id", "string")), tuple((one, "x") for one in known))
        answers.append((times.normalized("list_timeline", timeline), times.normalized("read_snapshot", rows)))

    assert answers[0] == answers[1]


def test_what_came_with_the_table_keeps_its_times() -> None:
    """Both sides begin with the same bytes."""
    times = InstantNames()
    times.note(1, {"requested": _instant(5)})
    rows = Rows((("_hoodie_commit_time", "string"),), ((_instant(1),), (_instant(9),)))

    assert times.normalized("read_snapshot", rows).rows == ((_instant(1),), ("?1",))


def test_what_a_step_goes_on_with_keeps_its_time_where_a_question_came_first() -> None:
    """A rollback that is finished under its own instant is another answer than one that is begun anew."""
    entry = {"requested": _instant(5), "completed": None, "action": "rollback", "state": "INFLIGHT"}
    finished, anew = InstantNames(), InstantNames()
    for times, instant in ((finished, _instant(5)), (anew, _instant(7))):
        times.normalized("list_timeline", [entry])
        times.note(1, {"requested": instant})

    found = [
        times.normalized("list_timeline", [{**entry, "requested": instant}])
        for times, instant in ((finished, _instant(5)), (anew, _instant(7)))
    ]

    assert [one["requested"] for (one,) in found] == [_instant(5), "$1.requested"]


def test_slices_are_normalized_without_what_a_writer_may_choose() -> None:
    """File ids and write tokens go; partition, instants, order of logs and the bucket stay."""
    times = InstantNames()
    times.note(2, {"requested": _instant(1)})
    times.note(3, {"requested": _instant(2)})
    group, instants = "00000003-0000-0000-0000-000000000000-0", (_instant(1), _instant(2))
    entry = {
        "partition": "oslo",
        "file_id": group,
        "base_instant": instants[0],
        "base_file": f"{group}_0-1-0_{instants[0]}.parquet",
        "log_files": [f".{group}_{instants[1]}.log.1_0-1-0"],
    }

    assert times.normalized("list_file_slices", [entry]) == [
        {
            "partition": "oslo",
            "file_id": "bucket 3",
            "base_instant": "$2.requested",
            "base_file": "$2.requested.parquet",
            "log_files": ["$3.requested.log.1"],
        }
    ]


def test_a_step_that_was_never_taken_cannot_be_named() -> None:
    """A case that does so is broken, and is not passed over."""
    with pytest.raises(LookupError, match=r"\$4.completed"):
        InstantNames().resolved({"begin": "$4.completed"})


@pytest.mark.parametrize(
    ("op", "answer", "message"),
    [
        ("write", (5, 9, "commit"), "not later than"),
        ("write", (20, 20, "commit"), "not later than requested"),
        ("write", (20, None, "commit"), "without a time"),
        ("commit_write", (30, 40, "commit"), "the write began as"),
        ("execute", (30, 40, "commit"), "the plan is that of"),
    ],
)
def test_impossible_times_are_reported(op: str, answer: tuple[int, int | None, str], message: str) -> None:
    """New times are later than all before, and a completion is later than its request."""
    rules = TimeRules(9)
    assert rules.broken("write", {}, {"requested": _instant(9), "completed": _instant(10), "action": "commit"}) == ()
    requested, completed, action = answer
    value = {"requested": _instant(requested), "completed": completed and _instant(completed), "action": action}

    assert any(message in one for one in rules.broken(op, {"txn": "one", "requested": _instant(11)}, value))


def test_an_unknown_table_or_role_is_an_error_of_the_corpus(tmp_path: Path) -> None:
    """Nothing is guessed about a case that cannot be played."""
    file = tmp_path / WRITING_CASES / "area" / "one.toml"
    file.parent.mkdir(parents=True)
    (tmp_path / "golden_tables").mkdir()
    head = 'title = "One"\nclauses = ["OW-001"]\ntable_version = 9\n'
    text = head + '{more}[scripts]\n1 = [{{op = "write", by = "{by}"}}]\n[[case]]\nid = "one"\nscript = "1"\n'

    for more, by, message in (('table = "v9/none"\n', "A", "no golden table"), ("", "D", "is no role")):
        file.write_text(text.format(more=more, by=by), encoding="utf-8")
        with pytest.raises(CorpusError, match=message):
            load_cases(tmp_path)


def test_remembered_files_are_read_again_when_they_change(tmp_path: Path) -> None:
    """A process that writes and reads keeps small files; a changed one is another file."""
    table = next(one for one in load_tables(ROOT) if one.id == "v9/mor_deletes")
    copy = tmp_path / "table"
    unpack(table.folder, copy)
    before = load(copy)
    log = next(copy.rglob("*.log.*"))
    log.write_bytes(log.read_bytes()[:-9])

    assert load(copy).log_files != before.log_files
