"""Who follows a table range by range, or by its change feed, has what a snapshot has."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_spark import (
    Readings,
    TableDefinition,
    create_arrow,
    read_arrow,
    read_changes,
    read_incremental,
    services_arrow,
    write_arrow,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("ts", pa.int64()),
        ("name", pa.string()),
        ("price", pa.float64()),
        ("tags", pa.list_(pa.string())),
    ]
)
PARTIAL = "hoodie.table.partial.update.mode"
PAYLOAD = "hoodie.datasource.write.payload.class"
PACKAGE = "org.apache.hudi.common.model."
EVENT, COMMIT = "EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"
KINDS = {
    "v9-mor-event-fill": (9, "MERGE_ON_READ", EVENT, {PARTIAL: "IGNORE_DEFAULTS"}),
    "v9-mor-commit-fill": (9, "MERGE_ON_READ", COMMIT, {PARTIAL: "IGNORE_DEFAULTS"}),
    "v9-mor-event": (9, "MERGE_ON_READ", EVENT, {}),
    "v9-cow-event-fill": (9, "COPY_ON_WRITE", EVENT, {PARTIAL: "IGNORE_DEFAULTS"}),
    "v8-mor-payload": (8, "MERGE_ON_READ", None, {PAYLOAD: PACKAGE + "PartialUpdateAvroPayload"}),
    "v8-cow-payload": (8, "COPY_ON_WRITE", None, {PAYLOAD: PACKAGE + "PartialUpdateAvroPayload"}),
    "v8-mor-event": (8, "MERGE_ON_READ", EVENT, {}),
    "v6-mor-payload": (6, "MERGE_ON_READ", None, {PAYLOAD: PACKAGE + "PartialUpdateAvroPayload"}),
    "v6-mor-event": (6, "MERGE_ON_READ", EVENT, {}),
    "v6-mor-commit": (6, "MERGE_ON_READ", COMMIT, {}),
}
NAN = float("nan")
_ROW = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "ключ"]),
        "ts": st.integers(1, 4),
        "name": st.sampled_from([None, "one", "two"]),
        "price": st.sampled_from([None, 1.5, NAN]),
        "tags": st.sampled_from([None, ["x"], []]),
    }
)
_ROWS = st.lists(_ROW, min_size=1, max_size=2, unique_by=lambda one: one["id"])
_STEPS = st.lists(
    st.one_of(
        *[st.tuples(st.just("upsert"), _ROWS)] * 4,
        st.tuples(st.just("delete"), _ROWS),
        st.tuples(st.sampled_from(["compaction", "clustering"]), st.just([])),
    ),
    min_size=3,
    max_size=6,
)
_SERVICE = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true",
}


def held(table: pa.Table) -> dict[str, str]:
    """Rows by key, as texts, in which not-a-number is equal to itself."""
    return {row["id"]: repr(row) for row in table.to_pylist()}


def grown(path: Path, kind: str, steps: list[tuple[str, list[dict[str, Any]]]]) -> list[tuple[str, dict[str, str]]]:
    """A table of these writes and services; the time after each write, and what the table held then."""
    version, table_type, mode, configs = KINDS[kind]
    definition = TableDefinition(
        "t",
        SCHEMA,
        table_type=table_type,
        table_version=version,
        record_key=("id",),
        ordering=("ts",),
        merge_mode=mode,
        configs={"hoodie.table.cdc.enabled": "true", "hoodie.compact.inline": "false", **configs},
    )
    create_arrow(path, definition)
    states: list[tuple[str, dict[str, str]]] = []
    for name, rows in steps:
        if name == "clustering" or (name == "compaction" and table_type == "MERGE_ON_READ"):
            services_arrow(path).run(name, _SERVICE)
        elif name in {"upsert", "delete"}:
            done = write_arrow(path, pa.Table.from_pylist(rows, SCHEMA), name)
            states.append((done.requested if version == 6 else done.completed, held(read_arrow(path))))
    return states


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS, data=st.data())
def test_ranges_applied_in_turn_and_feeds_give_the_snapshot(
    tmp_path_factory: pytest.TempPathFactory, kind: str, steps: Any, data: st.DataObject
):
    path = tmp_path_factory.mktemp("followed") / "t"
    states = grown(path, kind, steps)
    if not states:
        return
    chosen = sorted(data.draw(st.sets(st.integers(0, len(states) - 1), max_size=2)) | {len(states) - 1})
    begin, applied, by_feed = "earliest", {}, {}
    for number in chosen:
        end, state = states[number]
        changed = held(read_incremental(path, begin, end, readings=Readings(incremental_merge="text")))
        assert all(state[key] == row for key, row in changed.items())
        applied.update(changed)
        assert {key: row for key, row in applied.items() if key in state} == state
        besides = held(read_incremental(path, begin, end))
        assert {key: row for key, row in besides.items() if key in changed} == changed
        feed = read_changes(path, begin, end, commit_time=True).sort_by("_hoodie_commit_time").to_pylist()
        for one in feed:
            key = (one["before"] or one["after"])["id"]
            by_feed[key] = one["after"] and repr(one["after"])
        assert {key: row for key, row in by_feed.items() if row} == state
        begin = end
