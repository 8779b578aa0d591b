"""Random histories: a seed is a history, what differs is found and shrunk, and a saved history replays."""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hudi_conformance.corpus.table_shapes import Step, TableShape, WriteCase
from hudi_conformance.corpus.writing.shapes import SEVERAL_WRITERS, SHARED_LOCK
from hudi_conformance.interop.fuzzing.command import ALL_WRITES, Budget, fuzz, replay
from hudi_conformance.interop.fuzzing.coverage import Coverage
from hudi_conformance.interop.fuzzing.running import Side, run_case
from hudi_conformance.interop.fuzzing.seeds import case_of_seed, smallest_failing
from hudi_conformance.interop.fuzzing.service_steps import service_step
from hudi_conformance.interop.fuzzing.strategies import COW, MOR, Limits, write_cases
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import Failure
from rich.console import Console

ROOT = suite_root()
COLUMNS = (("id", "string"), ("ts", "int64"), ("note", "string"))
ENGINE = "engine-in-process"
BROKEN = f"{sys.executable} -m hudi_conformance.adapters.model --mutant event-time-ignores-ordering"
EVENT_TIME = Limits(versions=(9,), table_types=(MOR,), refusals=False, change_feed=False, metadata_table=False)


def late_row() -> WriteCase:
    """A row that comes late: event time keeps the one that is there."""
    shape = TableShape(9, "MERGE_ON_READ", ordering=("ts",), merge_mode="EVENT_TIME_ORDERING", columns=COLUMNS)
    first = Step("insert", COLUMNS, (("ř1", 5, "new"), ("r2", 5, "other")))
    return WriteCase(shape, (first, Step("upsert", COLUMNS, (("ř1", 3, "late"),))))


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    logs = tmp_path_factory.mktemp("logs")
    model = find_adapter("model", ROOT).command
    with (
        Session(model, logs / "model.log") as correct,
        Session((*model, "--mutant", "event-time-ignores-ordering"), logs / "mutant.log") as broken,
    ):
        yield correct, broken


@pytest.mark.parametrize("limits", [Limits(), ALL_WRITES], ids=["usual columns", "all that is drawn"])
@pytest.mark.parametrize("seed", range(20))
def test_a_seed_is_a_case_and_a_case_is_a_text(seed: int, limits: Limits):
    # As texts, in which not-a-number equals itself.
    text = case_of_seed(write_cases(limits), seed).to_json()
    assert case_of_seed(write_cases(limits), seed).to_json() == text
    assert WriteCase.from_json(text).to_json() == text


def test_limits_bound_what_is_drawn():
    limits = Limits(versions=(6,), refusals=False, change_feed=False, no_meta_fields=False, metadata_table=False)
    for case in (case_of_seed(write_cases(limits), seed) for seed in range(50)):
        assert case.shape.version == 6
        assert {"hoodie.table.cdc.enabled", "hoodie.populate.meta.fields"}.isdisjoint(case.shape.properties)
        assert "partial_update" not in {step.operation for step in case.steps}


def test_seeds_draw_every_feature():
    """Versions, types, keys, operations, services: none is left out by how Hypothesis draws."""
    cases = [case_of_seed(write_cases(Limits(services=True)), seed) for seed in range(150)]
    shapes = [case.shape for case in cases]
    assert {(one.version, one.table_type) for one in shapes} == {(n, kind) for n in (6, 8, 9) for kind in (COW, MOR)}
    assert {one.record_key for one in shapes} == {("id",), ("number",), ("id", "kind")}
    assert {one.partition_by for one in shapes} == {(), ("city",), ("city", "kind")}
    assert {one.configs.get("hoodie.index.type", "") for one in shapes} >= {"", "BLOOM", "BUCKET", "RECORD_INDEX"}
    assert {step.operation for case in cases for step in case.steps} >= {
        "upsert",
        "insert",
        "bulk_insert",
        "delete",
        "insert_overwrite",
        "insert_overwrite_table",
        "delete_partition",
        "partial_update",
        "replace_everything",
        "run compaction",
        "run clustering",
        "schedule clean",
        "execute",
        "savepoint",
        "restore",
        "rollback",
    }


def test_a_case_is_shrunk_as_long_as_it_fails_alike():
    """Of a case that fails where it deletes a row and its deletion are left; no more cases are tried than asked."""
    cases, tried = write_cases(Limits(refusals=False)), []

    def failure_of(case: WriteCase) -> Failure | None:
        tried.append(case)
        kinds = [step.operation for step in case.steps]
        return Failure(kinds.index("delete") + 1, "delete", ("lost",)) if "delete" in kinds else None

    seed, first = next((seed, one) for seed in range(100) if (one := failure_of(case_of_seed(cases, seed))))
    small, failure = smallest_failing(cases, seed, first, failure_of, 500)
    assert [step.operation for step in small.steps][1:] == ["delete"]
    assert failure.step == 2
    tried.clear()
    smallest_failing(cases, seed, first, failure_of, 5)
    assert len(tried) == 5


def test_the_model_agrees_with_itself(sessions: tuple[Session, Session], tmp_path: Path):
    """Each side has a table and times of its own; answers are compared by the steps that made them."""
    correct, _ = sessions
    played = run_case(late_row(), (Side("a", correct), Side("b", correct, correct)), tmp_path)
    assert played.failure is None
    assert played.queries > 10


def test_writes_that_do_not_complete_in_their_step(sessions: tuple[Session, Session], tmp_path: Path):
    """One whose process dies is rolled back, one that waits completes after another: each side has its own instants."""
    correct, _ = sessions
    shape, first = late_row().shape, late_row().steps[0]
    shape = replace(shape, configs={**SEVERAL_WRITERS, **SHARED_LOCK})
    staged = ("begin_write", "stage_write")
    died = Step("upsert", COLUMNS, (("r2", 9, "lost"),), phases=staged, crashes=True)
    waits = Step("upsert", COLUMNS, (("ř1", 9, "late"),), phases=staged)
    other = Step("insert", COLUMNS, (("r3", 1, "meanwhile"),))
    steps = (first, died, service_step("rollback", 2), waits, other, service_step("commit", 4))
    case = WriteCase(shape, steps)
    assert WriteCase.from_json(case.to_json()) == case
    played = run_case(case, (Side("a", correct), Side("b", correct, correct)), tmp_path)
    assert (played.failure, played.refused) == (None, 0)


def test_a_change_of_version_is_a_step(sessions: tuple[Session, Session], tmp_path: Path):
    """What comes after it is asked by the rules of the new version."""
    correct, _ = sessions
    case = late_row()
    case = WriteCase(replace(case.shape, version=6), (case.steps[0], service_step("upgrade 9"), case.steps[1]))
    assert [case.shape_after(number).version for number in (0, 1, 2, 3)] == [6, 6, 9, 9]
    played = run_case(case, (Side("a", correct), Side("b", correct, correct)), tmp_path)
    assert (played.failure, played.refused) == (None, 0)


def test_histories_cover_types_indexes_and_services():
    """Each dimension has several values among few histories; every value that was drawn is counted."""
    coverage = Coverage()
    for seed in range(120):
        coverage.add(case_of_seed(write_cases(ALL_WRITES), seed))
    drawn = {name: {value for one, value in coverage.values if one == name} for name, _ in coverage.values}
    assert drawn["key type"] >= {"string", "int32", "int64", "date", "decimal(10,2)", "timestamp-micros"}
    assert drawn["ordering type"] >= {"none", "int64", "int32", "float64", "decimal(10,2)", "timestamp-millis", "date"}
    assert drawn["metadata index"] == {"column stats", "bloom filters", "record index", "secondary index"}
    assert drawn["partition type"] >= {"none", "string", "int32", "int64", "date", "boolean"}
    assert drawn["partitions of dates"] == {
        "none",
        "slashes",
        "DATE_STRING",
        "EPOCHMILLISECONDS",
        "UNIX_TIMESTAMP",
        "SCALAR",
    }
    assert drawn["failed writes"] == {"EAGER", "LAZY", "NEVER"}
    assert drawn["interruption"] == {
        "begin_write, process dies",
        "stage_write, process dies",
        "stage_write, completed later",
    }
    assert drawn["merge mode"] >= {"inferred", "counter", "PartialUpdateAvroPayload"}
    assert len(drawn["write option"]) >= 7
    assert drawn["service of writers"] >= {"clean.automatic", "archive.automatic", "clustering.inline"}
    assert {"schema.on.read.enable true", "write.set.null.for.missing.columns true"} <= drawn["write option"]
    assert drawn["service"] >= {"upgrade 9", "downgrade 6", "commit", "rollback", "restore", "savepoint"}
    assert drawn["service policy"] >= {"policy KEEP_LATEST_FILE_VERSIONS", "policy KEEP_LATEST_BY_HOURS"}
    assert sum("pairs of values" in line for line in coverage.lines()) == 1


def test_an_adapter_that_only_reads_gets_the_model_s_table(sessions: tuple[Session, Session], tmp_path: Path):
    """It writes nothing; a reader that breaks a rule is caught by what it answers."""
    correct, broken = sessions
    found = run_case(late_row(), (Side("a", correct), Side("b", correct, only_reads=True)), tmp_path / "sound")
    assert found.failure is None
    assert found.queries > 10
    differs = run_case(late_row(), (Side("a", correct), Side("b", broken, only_reads=True)), tmp_path / "broken")
    assert differs.failure is not None
    assert differs.failure.step == 2
    assert [one["action"] for one in differs.timeline] == ["deltacommit", "deltacommit"]


def test_the_engine_carries_out_histories(tmp_path: Path):
    """What was covered is printed at the end."""
    out = io.StringIO()
    code = fuzz(find_adapter(ENGINE, ROOT), ROOT, Budget(2, seed=7), Console(file=out, width=200), save=tmp_path)
    assert (code, list(tmp_path.iterdir())) == (0, [])
    assert re.search(r"2 histories, \d+ answers compared, \d+ refusals, 0 fail", out.getvalue())
    assert "pairs of values: " in out.getvalue()


def test_nothing_compared_is_no_success():
    nothing = find_adapter("null-unsupported", ROOT)
    assert fuzz(nothing, ROOT, Budget(1), Console(file=io.StringIO())) == 2


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_broken_adapter_is_caught_and_its_shortest_history_replays(tmp_path: Path):
    """A model that forgets ordering values parts from the sound one at a late row, and few rows more are needed."""
    out, broken = io.StringIO(), find_adapter(BROKEN, ROOT)
    budget = Budget(50, attempts=60, stop_after=1)
    assert fuzz(broken, ROOT, budget, Console(file=out, width=300), limits=EVENT_TIME, save=tmp_path) == 1
    (saved,) = tmp_path.iterdir()
    case = WriteCase.from_json(saved.read_text(encoding="utf-8"))
    assert len(case.steps) <= 3
    assert sum(len(step.rows or ()) for step in case.steps) <= 5
    assert f"hudi-conformance repro {saved}" in out.getvalue()
    assert "deltacommit" in out.getvalue()
    again = io.StringIO()
    assert replay(saved, broken, ROOT, Console(file=again, width=300)) == 1
    first_line = again.getvalue().partition("\n")[0]
    assert first_line.strip() in out.getvalue()
    assert replay(saved, find_adapter("model", ROOT), ROOT, Console(file=io.StringIO())) == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("adapter", "code"), [(ENGINE, 0), (BROKEN, 1)], ids=["engine", "broken"])
def test_pytest_carries_out_histories(adapter: str, code: int, tmp_path: Path):
    """Each is a test of its own, beside no case of the corpus unless that is requested."""
    options = ["--conformance-fuzz", "3", "--conformance-fuzz-seed", "64", "-p", "no:cacheprovider", "-q"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--adapter", adapter],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout
    assert "3 passed" in ran.stdout or code
    assert "hudi-conformance repro HISTORY.json" in ran.stdout or not code
