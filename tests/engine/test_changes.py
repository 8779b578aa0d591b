"""The change feed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from change_tables import FEED, GrowingTable, archive
from engine_tables import TableBuilder, row, tick
from hudi_format.log.changes import LoggingMode, change_block
from hudi_format.timeline.plans import CleanMetadata, CleanPartition, serialise_clean_metadata
from hudi_spark import (
    HudiError,
    TableDefinition,
    check_table,
    create_arrow,
    read_arrow,
    read_changes,
    services_arrow,
    write_arrow,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_incremental import HISTORIES, LAYOUTS, grow


def replayed(changes: Any) -> dict[str, Any]:
    """The rows that are there after all changes; each is checked against what it says was there before."""
    state: dict[str, Any] = {}
    for change in changes.to_pylist():
        key = (change["before"] or change["after"])["id"]
        assert state.get(key) == change["before"]
        assert (
            change["op"]
            == {(False, True): "i", (True, True): "u", (True, False): "d"}[key in state, bool(change["after"])]
        )
        if change["after"] is None:
            del state[key]
        else:
            state[key] = change["after"]
    return state


@LAYOUTS
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=HISTORIES)
def test_replaying_a_feed_gives_the_snapshot(
    tmp_path_factory: pytest.TempPathFactory, version: int, mor: bool, history: Any
):
    """Every change once, in order, its images those of the states before and after; services change nothing."""
    path = tmp_path_factory.mktemp("table")
    grow(path, history, version, mor=mor)
    rows = {one["id"]: one for one in read_arrow(path).to_pylist()}
    assert replayed(read_changes(path, "earliest")) == rows


@pytest.mark.parametrize("mode", list(LoggingMode))
def test_logged_changes_are_returned_with_the_images_that_the_mode_left_out(tmp_path: Path, mode: LoggingMode):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE", properties=FEED)
    old, new = row("a", 1, "old"), row("a", 2, "new")
    builder.commit(10, [builder.base_file(10, [old, row("b", 1)])], action="commit")
    stat = replace(builder.base_file(20, [new, row("c", 1)]), prev_commit=tick(10))
    logged = [
        {"op": "u", "record_key": "a", "before": old, "after": new},
        {"op": "d", "record_key": "b", "before": row("b", 1), "after": None},
        {"op": "i", "record_key": "c", "before": None, "after": row("c", 1)},
    ]
    log = builder.log_file(20, [change_block(tick(20), logged, mode, builder.schema)], cdc=True)
    builder.commit(20, [replace(stat, cdc_stats={log.path or "": 1})], action="commit")
    answer = read_changes(tmp_path, tick(11), commit_time=True).to_pylist()
    shown = [{name: change[name] for name in ("op", "before", "after")} for change in logged]
    assert answer == [{"_hoodie_commit_time": tick(20), **change} for change in shown]


def test_a_range_that_begins_among_archived_writes_is_refused(tmp_path: Path):
    table = GrowingTable(tmp_path)
    for n in (10, 20, 30):
        table.write(n, ["a"])
    archive(table.builder, 10)
    assert [one["op"] for one in read_changes(tmp_path, tick(11)).to_pylist()] == ["u", "u"]
    with pytest.raises(HudiError, match="RANGE_NOT_RETAINED") as caught:
        read_changes(tmp_path, "earliest")
    assert tick(11) in caught.value.hint


def test_changes_whose_earlier_rows_a_clean_removed_are_refused(tmp_path: Path):
    """What is left would tell updates as inserts."""
    table = GrowingTable(tmp_path, mor=False)
    for n in (10, 20, 30):
        table.write(n, ["a"])
    lost = next(tmp_path.glob(f"north/*{tick(10)}*"))
    lost.unlink()
    cleaned = CleanPartition("north", "KEEP_LATEST_COMMITS", (lost.name,), (lost.name,), ())
    clean = CleanMetadata(tick(40), earliest_commit_to_retain=tick(20), partition_metadata={"north": cleaned})
    table.builder.timeline_file(40, "clean", "COMPLETED", serialise_clean_metadata(clean))
    assert [one["op"] for one in read_changes(tmp_path, tick(21)).to_pylist()] == ["u"]
    with pytest.raises(HudiError, match="RANGE_NOT_RETAINED"):
        read_changes(tmp_path, tick(11))


def test_a_replaced_group_is_deleted_row_by_row(tmp_path: Path):
    builder = TableBuilder(tmp_path, properties=FEED)
    builder.commit(10, [builder.base_file(10, [row("a", 1), row("b", 1)])])
    stat = builder.base_file(20, [row("a", 2)], group="f2")
    builder.commit(20, [stat], action="replacecommit", replaced={"north": ("f1",)}, operation="INSERT_OVERWRITE")
    answer = [
        (one["op"], (one["before"] or one["after"])["id"]) for one in read_changes(tmp_path, tick(11)).to_pylist()
    ]
    assert sorted(answer) == [("d", "a"), ("d", "b"), ("i", "a")]


def test_a_replaced_group_of_which_nothing_is_known_is_refused(tmp_path: Path):
    """Its writes were archived and its files cleaned: its rows are not known as deleted, and are not left out."""
    builder = TableBuilder(tmp_path, properties=FEED)
    builder.commit(10, [builder.base_file(10, [row("a", 1)])])
    builder.commit(12, [builder.base_file(12, [row("b", 1)], group="f3")])
    stat = builder.base_file(20, [row("a", 2)], group="f2")
    builder.commit(20, [stat], action="replacecommit", replaced={"north": ("f1",)}, operation="INSERT_OVERWRITE")
    archive(builder, 10)
    next(tmp_path.glob(f"north/*{tick(10)}*")).unlink()
    with pytest.raises(HudiError, match=r"RANGE_NOT_RETAINED in .*north/f1"):
        read_changes(tmp_path, tick(14))


def test_a_table_without_a_feed_is_refused(tmp_path: Path):
    TableBuilder(tmp_path).commit(10)
    with pytest.raises(HudiError, match="CONFIG_INVALID"):
        read_changes(tmp_path, "earliest")


MOMENTS = st.lists(st.integers(1 - 2**63, 2**63 - 1), min_size=1, max_size=3)
PARTIAL = {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.PartialUpdateAvroPayload"}


@pytest.mark.parametrize("version", [6, 9])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("properties", [{"hoodie.table.cdc.enabled": "true"}, PARTIAL], ids=["feed", "payload"])
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moments=MOMENTS)
def test_moments_that_python_has_no_years_for_are_compared(
    tmp_path_factory: pytest.TempPathFactory,
    properties: dict[str, str],
    table_type: str,
    version: int,
    moments: list[int],
):
    """Inside a struct or not: feeds, payloads that fill columns, and the check of what was compacted."""
    path = tmp_path_factory.mktemp("moments") / "table"
    time, part = pa.timestamp("us", "UTC"), pa.list_(pa.struct([("time", pa.timestamp("us"))]))
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("time", time), ("part", part)])
    definition = TableDefinition("t", schema, table_type, version, ("id",), ordering=("ts",), configs=properties)
    create_arrow(path, definition)

    def rows(ts: int, values: list[int]) -> pa.Table:
        numbers = pa.array(values, pa.int64())
        parts = pa.array([[{"time": one}] for one in values], pa.list_(pa.struct([("time", pa.int64())])))
        keys = [f"k{number}" for number in range(len(values))]
        return pa.table([keys, pa.array([ts] * len(values)), numbers.cast(time), parts.cast(part)], schema=schema)

    write_arrow(path, rows(1, moments), "insert")
    last = rows(2, moments[::-1])
    write_arrow(path, last, "upsert")
    if table_type == "MERGE_ON_READ":
        services_arrow(path, configs={"hoodie.compact.inline.max.delta.commits": "1"}).run("compaction")
    assert read_arrow(path).sort_by("id").equals(last)
    if properties is not PARTIAL:
        changes = read_changes(path, "earliest")
        updates = changes.filter(pa.compute.equal(changes["op"], "u"))["after"].combine_chunks()
        assert pa.Table.from_struct_array(updates).sort_by("id").equals(last)
    assert check_table(path, deep=True) == ()
