"""Model and engine agree on every read that a sound golden table allows: as of each time, and of each range."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hudi_conformance.runner.adapter_pool import AdapterClient
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.archive import golden_ids, golden_table
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.in_process import InProcess
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import StepExecutor
from hudi_conformance.runner.value_comparison import compare_values

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("every read")]

SUITE: Final = Path(__file__).parents[2]
LIMIT_S: Final = 60.0
MOST_TIMES: Final = 12
FIRST: Final = "0" * 17
Question = tuple[str, Mapping[str, Any]]

# Which reads need a damaged file is an implementation's own; the engine does not read the draft version.
LEFT_OUT: Final = ("bad_", "v10/")
_LOST: Final = "the range of a write whose completion time the history that is read has lost"
_OPERATION: Final = (
    "the engine shows a change log's column among the meta columns, as Apache Hudi does; MF-001 names five"
)
DIFFERENT: Final[Mapping[str, str]] = {
    "v8/mor_history_older_version": _LOST,
    "v9/mor_history_older_version": _LOST,
    "v9/mor_key_twice_in_a_file": "IN-001 answers one row a key, and a base file has two of one",
    "v6/mor_operation_field": _OPERATION,
    "v8/mor_operation_field": _OPERATION,
    "v9/mor_operation_field": _OPERATION,
    "v6/cow_whole_seconds": "a bound of 20 digits where there is no change feed: no clause says which is refused first",
}


@pytest.fixture(name="sides", scope="module")
def sides_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AdapterClient, AdapterClient]]:
    """The model and the engine."""
    engine = find_adapter("engine-in-process", SUITE).command
    with Session(engine, tmp_path_factory.mktemp("engine") / "log") as session:
        yield InProcess.of(find_adapter("model-in-process", SUITE)), session


@pytest.mark.parametrize("table", [one for one in golden_ids() if not any(name in one for name in LEFT_OUT)])
def test_model_and_engine_agree_on_every_read(
    sides: tuple[AdapterClient, AdapterClient], table: str, tmp_path: Path
) -> None:
    """Snapshot, base files, slices, each time travel, each range and each change feed."""
    model, engine = (
        StepExecutor(side, golden_table(table), tmp_path / name, LIMIT_S, name)
        for side, name in zip(sides, ("model", "engine"), strict=True)
    )
    found = [
        f"{op} {params}: {one}" for op, params in reads_of(model) for one in differences(model, engine, op, params)
    ]
    assert bool(found) == (table in DIFFERENT), found[:3]


def reads_of(model: StepExecutor) -> Iterator[Question]:
    """What the times of a table's timeline and history allow to be read."""
    yield from (("read_snapshot", {}), ("read_optimized", {}), ("list_file_slices", {}), ("table_info", {}))
    answer = model.request("list_timeline", {"include_history": True})
    actions: Sequence[Mapping[str, Any]] = answer.content if answer.is_result else ()
    completed = thinned({one["completed"] or one["requested"] for one in actions if one["state"] == "COMPLETED"})
    for time in thinned({one["requested"] for one in actions} | set(completed)):
        yield "read_as_of", {"instant": time}
        yield "list_file_slices", {"as_of": time}
    yield from (
        ("read_incremental", {"begin": begin, "end": end, "meta_columns": True})
        for begin, end in itertools.combinations((FIRST, *completed), 2)
    )
    yield from (
        ("read_changes", {"begin": begin, "end": end}) for begin, end in itertools.pairwise((FIRST, *completed))
    )


def thinned(times: set[str]) -> list[str]:
    """All times in order; of very many the first and the last ones."""
    ordered = sorted(times)
    half = MOST_TIMES // 2
    return ordered if len(ordered) <= MOST_TIMES else [*ordered[:half], *ordered[-half:]]


def differences(model: StepExecutor, engine: StepExecutor, op: str, params: Mapping[str, Any]) -> Sequence[str]:
    """What is not the same of the answers of both."""
    expected, found = model.request(op, params), engine.request(op, params)
    if expected.rows is not None and found.rows is not None:
        return compare_rows(expected.rows, found.rows)
    if expected.is_result and found.is_result:
        return compare_values(op, expected.content, found.content)
    same = (expected.kind, expected.reason) == (found.kind, found.reason)
    return () if same else (f"the model {expected.describe()}, the engine {found.describe()}",)
