"""Random sequences of writes: a seed is a case, and what differs is found and shrunk."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hudi_conformance.corpus.table_shapes import Step, TableShape, WriteCase
from hudi_conformance.interop.fuzzing.checking import Found, Summary, check_cases
from hudi_conformance.interop.fuzzing.drawing import COW, MOR, Limits, write_cases
from hudi_conformance.interop.fuzzing.playing import Options, Side, play
from hudi_conformance.interop.fuzzing.seeds import case_of_seed, smallest_failing
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.player import Failure
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import Session

ROOT = suite_root()
COLUMNS = (("id", "string"), ("ts", "int64"), ("note", "string"))


def late_row() -> WriteCase:
    """A row that comes late: event time keeps the one that is there."""
    shape = TableShape(9, "MERGE_ON_READ", ordering=("ts",), merge_mode="EVENT_TIME_ORDERING")
    first = Step("insert", COLUMNS, (("ř1", 5, "new"), ("r2", 5, "other")))
    return WriteCase(shape, (first, Step("upsert", COLUMNS, (("ř1", 3, "late"),))))


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    logs = tmp_path_factory.mktemp("logs")
    model = find_adapter("model", ROOT).command
    with (
        Session(model, logs / "model.log") as sound,
        Session((*model, "--mutant", "event-time-ignores-ordering"), logs / "mutant.log") as broken,
    ):
        yield sound, broken


@pytest.mark.parametrize("seed", range(20))
def test_a_seed_is_a_case_and_a_case_is_a_text(seed: int):
    case = case_of_seed(write_cases(), seed)
    assert case_of_seed(write_cases(), seed) == case
    assert WriteCase.from_json(case.to_json()) == case


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
    sound, _ = sessions
    played = play(late_row(), (Side("a", sound), Side("b", sound, sound)), tmp_path)
    assert played.failure is None
    assert played.asked > 10


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_broken_rule_is_found_and_shrunk(sessions: tuple[Session, Session]):
    """A model that forgets ordering values parts from the sound one at a late row, and few rows more are needed."""
    sound, broken = sessions
    cases = write_cases(Limits(versions=(9,), table_types=(MOR,), refusals=False, change_feed=False))
    sides = Side("model", sound), Side("broken", broken)
    told = list(check_cases(cases, range(50), sides, Options(), seconds=100, attempts=60, stop_after=1))

    found, summary = told
    assert isinstance(found, Found)
    assert isinstance(summary, Summary)
    assert found.failure.question.startswith("read_snapshot")
    assert len(found.case.steps) <= 3
    assert sum(len(step.rows or ()) for step in found.case.steps) <= 5
    assert "hudi-conformance writes repeat" in found.told("model", "broken")
