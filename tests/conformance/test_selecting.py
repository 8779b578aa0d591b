"""An executor that costs seconds a step is asked one case of each kind."""

from pathlib import Path

import pytest
from hudi_conformance.runner.adapters_config import AdapterConfigError, find_adapter
from hudi_conformance.runner.case_values import Step
from hudi_conformance.runner.cases import Case, load_cases
from hudi_conformance.runner.selecting import one_of_each
from hudi_conformance.runner.suite import reject_unknown_adapters

ROOT = Path(__file__).parents[2]
CORPUS = load_cases(ROOT)
WRITES = {"write", "schedule"}


def _kinds(cases: tuple[Case, ...]) -> set[tuple[object, ...]]:
    """What must stay: ops of questions, operations and services of writes, by type and blocks; refusals."""
    return {
        (step.op, step.params.get("operation") if case.writes else None, step.params.get("service"), *_traits(case))
        for case in cases
        for step in case.steps
        if not case.writes or (step.op in WRITES and not step.reasons)
    } | {("refused", case.writes or step.op) for case in cases for step in case.steps if _is_refused_write(case, step)}


def _is_refused_write(case: Case, step: Step) -> bool:
    return bool(step.reasons) and (not case.writes or step.op in WRITES)


def _traits(case: Case) -> tuple[object, ...]:
    blocks = (name for name in case.table.features if name in {"cow", "mor"} or name.startswith("log-"))
    return tuple(sorted(blocks))


def test_every_kind_of_case_stays_and_nothing_can_go() -> None:
    """Fewer cases, in their order; none of them is chosen for nothing."""
    chosen = one_of_each(CORPUS)

    assert _kinds(chosen) == _kinds(CORPUS)
    assert [case for case in CORPUS if case in chosen] == list(chosen)
    assert len(chosen) < len(CORPUS) / 3
    assert one_of_each(chosen) == chosen


def test_unused_adapters_are_reported() -> None:
    """A misspelt name would ask everything of the slow one."""
    with pytest.raises(AdapterConfigError, match="takes no part"):
        reject_unknown_adapters(["engine-sprak"], [find_adapter("engine-spark", ROOT)])
