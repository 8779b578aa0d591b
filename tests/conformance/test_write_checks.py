"""Random sequences of writes: a seed is a case, and what differs is found and made small."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hudi_conformance.corpus.table_shapes import Step, TableShape, WriteCase
from hudi_conformance.interop.fuzzing.checking import Found, Summary, check_cases
from hudi_conformance.interop.fuzzing.drawing import Limits, draw_case
from hudi_conformance.interop.fuzzing.minimising import minimised, smaller_cases
from hudi_conformance.interop.fuzzing.playing import Options, Side, play
from hudi_conformance.runner.adapters_config import find_adapter
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
    case = draw_case(seed)
    assert draw_case(seed) == case
    assert WriteCase.from_json(case.to_json()) == case


def test_limits_bound_what_is_drawn():
    limits = Limits(versions=(6,), refusals=False, change_feed=False, no_meta_fields=False, metadata_table=False)
    for case in (draw_case(seed, limits) for seed in range(50)):
        assert case.shape.version == 6
        assert {"hoodie.table.cdc.enabled", "hoodie.populate.meta.fields"}.isdisjoint(case.shape.properties)
        assert "partial_update" not in {step.operation for step in case.steps}


def test_smaller_cases_are_smaller():
    """Where everything fails, nothing is left, and then nothing is smaller."""
    least = minimised(draw_case(0), lambda _: True, attempts=2000)
    assert least.steps == ()
    assert list(smaller_cases(least)) == []


def test_the_model_agrees_with_itself(sessions: tuple[Session, Session], tmp_path: Path):
    """Each side has a table and times of its own; answers are compared by the steps that made them."""
    sound, _ = sessions
    played = play(late_row(), (Side("a", sound), Side("b", sound, sound)), tmp_path)
    assert played.failure is None
    assert played.asked > 10


def test_a_broken_rule_is_found_and_made_small(sessions: tuple[Session, Session]):
    """A model that forgets ordering values parts from the sound one at the late row, and no row more is needed."""
    sound, broken = sessions
    case = late_row()
    extra = Step("upsert", COLUMNS, (("u9", 1, None),))
    longer = replace(case, steps=(case.steps[0], extra, case.steps[1], extra))

    told = list(
        check_cases(
            [("made", longer)], (Side("model", sound), Side("broken", broken)), Options(), seconds=60, attempts=60
        )
    )

    found, summary = told
    assert isinstance(found, Found)
    assert isinstance(summary, Summary)
    assert found.failure.question.startswith("read_snapshot")
    assert [len(step.rows or ()) for step in found.case.steps] == [1, 1]
    assert "hudi-conformance writes repeat" in found.told("model", "broken")
