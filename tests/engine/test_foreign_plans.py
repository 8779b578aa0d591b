"""Plans and markers that name what is no data file of the table: nothing but data files is ever removed for them."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from hudi_format.timeline.plans import (
    CleanerPlan,
    CleanFileInfo,
    InstantInfo,
    RestorePlan,
    RollbackPlan,
    RollbackRequest,
    parse_compaction_plan,
    serialise_cleaner_plan,
    serialise_compaction_plan,
    serialise_restore_plan,
    serialise_rollback_plan,
)
from hudi_spark import HudiError, TableDefinition, check_table, create_arrow, read_arrow, services_arrow, write_arrow

SCHEMA: Final = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64())])
PROPERTIES: Final = ".hoodie/hoodie.properties"
OLD: Final = "20200101000000000"
OTHER: Final = "20210101000000000"
DATA_FILE: Final = "0c7ba4b7-0000-4000-8000-000000000000-0_0-0-1_20250101000000000.parquet"
_COMPACTS: Final = {"hoodie.compact.inline.max.delta.commits": "1"}


def _rows(city: str = "oslo", ts: int = 1) -> pa.Table:
    return pa.table({"id": ["a"], "city": [city], "ts": [ts]}, schema=SCHEMA)


def _table(folder: Path, table_type: Any = "COPY_ON_WRITE") -> Path:
    path = folder / "table"
    keys: Any = {"record_key": ("id",), "partition_by": ("city",), "ordering": ("ts",)}
    create_arrow(str(path), TableDefinition("t", SCHEMA, table_type=table_type, **keys))
    write_arrow(str(path), _rows(), "upsert")
    write_arrow(str(path), _rows(ts=2), "upsert")
    return path


def _put(table: Path, place: str, data: bytes = b"") -> Path:
    target = table / place
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    # Nobody takes it for the heartbeat of a writer that lives.
    os.utime(target, (1, 1))
    return target


@pytest.mark.parametrize(
    ("partition", "name"),
    [
        (".hoodie", "hoodie.properties"),
        (".hoodie/metadata/files", DATA_FILE),
        ("..", "beside.parquet"),
        ("oslo/../../other", DATA_FILE),
        ("oslo", "notes.txt"),
        ("unmarked", DATA_FILE),
    ],
)
def test_a_clean_removes_data_files_of_partitions_only(tmp_path: Path, partition: str, name: str):
    """The plan is refused as a whole, the check reports it, and what it names beside data files stays."""
    table = _table(tmp_path)
    victim = _put(table, f"{partition}/{name}") if name != "hoodie.properties" else table / PROPERTIES
    (old, *_) = sorted((table / "oslo").glob("*.parquet"))
    infos = {
        partition: (CleanFileInfo(f"{table}/{partition}/{name}", is_bootstrap_base_file=False),),
        "oslo": (CleanFileInfo(str(old), is_bootstrap_base_file=False),),
    }
    if partition == "oslo":
        infos = {"oslo": (CleanFileInfo(str(victim), is_bootstrap_base_file=False), *infos["oslo"])}
    _put(
        table,
        f".hoodie/timeline/{OLD}.clean.requested",
        serialise_cleaner_plan(CleanerPlan(file_paths_to_be_deleted_per_partition=infos)),
    )
    with pytest.raises(HudiError) as caught:
        services_arrow(table).clean()
    assert caught.value.reason == "PATH_ESCAPES_TABLE"
    assert victim.is_file()
    assert old.is_file()
    assert "SL-007" in {one.clause for one in check_table(table)}
    assert read_arrow(table).num_rows == 1
    write_arrow(str(table), _rows(ts=3), "upsert", configs={"hoodie.clean.automatic": "false"})
    assert read_arrow(table).column("ts").to_pylist() == [3]


@pytest.mark.parametrize(
    ("action", "undone"),
    [(action, undone) for action in ("rollback", "restore") for undone in ("", "../../oslo")] + [("rollback", OTHER)],
)
def test_a_plan_to_undo_that_nobody_may_carry_out_leaves_the_timeline(tmp_path: Path, action: str, undone: str):
    """Neither properties nor markers and heartbeats of other writes go for it, and the next write goes on."""
    table = _table(tmp_path)
    others = [_put(table, f".hoodie/.temp/{OTHER}x/oslo/x"), _put(table, ".hoodie/.heartbeat/x")]
    target = InstantInfo(undone, "commit")
    request = RollbackRequest(".hoodie", None, None, (str(table / PROPERTIES),), {})
    data = {
        "rollback": serialise_rollback_plan(RollbackPlan(target, (request,))),
        "restore": serialise_restore_plan(RestorePlan((target,), 2, "99990101000000000")),
    }[action]
    plan = _put(table, f".hoodie/timeline/{OLD}.{action}.requested", data)
    assert {one.clause for one in check_table(table)} & {"RB-003", "SL-007"}
    write_arrow(str(table), _rows(ts=3), "upsert")
    assert not plan.exists()
    assert (table / PROPERTIES).is_file()
    assert all(one.is_file() for one in others)
    assert read_arrow(table).column("ts").to_pylist() == [3]


def _of_plan(change: dict[str, Any]) -> Callable[[Path], None]:
    def changed(file: Path) -> None:
        plan = parse_compaction_plan(file.read_bytes(), str(file))
        operations = tuple(replace(one, **change) for one in plan.operations)
        file.write_bytes(serialise_compaction_plan(replace(plan, operations=operations)))

    return changed


@pytest.mark.parametrize(
    "change",
    [
        {"partition_path": ".hoodie"},
        {"partition_path": ".hoodie/metadata/files"},
        {"data_file_path": "hoodie.properties"},
        {"delta_file_paths": ("notes.txt",)},
    ],
)
def test_a_compaction_reads_and_writes_data_files_only(tmp_path: Path, change: dict[str, Any]):
    """It is refused; the table answers, and the plan can be taken off the timeline."""
    table = _table(tmp_path, "MERGE_ON_READ")
    requested = services_arrow(table).schedule("compaction", _COMPACTS)
    assert requested is not None
    (file,) = (table / ".hoodie/timeline").glob("*.compaction.requested")
    _of_plan(change)(file)
    before = {one.relative_to(table) for one in table.rglob("*") if one.is_file()}
    with pytest.raises(HudiError) as caught:
        services_arrow(table).execute(requested)
    assert caught.value.reason == "PATH_ESCAPES_TABLE"
    assert {one.relative_to(table) for one in table.rglob("*") if one.is_file()} == before
    assert "SL-007" in {one.clause for one in check_table(table)}
    assert read_arrow(table).column("ts").to_pylist() == [2]
    services_arrow(table).rollback(requested, unschedule=True)
    assert not file.exists()


def test_a_marker_announces_data_files_only(tmp_path: Path):
    """An attempt at a compaction died; a marker beside those of its files bears the name of the properties."""
    table = _table(tmp_path, "MERGE_ON_READ")
    requested = services_arrow(table).schedule("compaction", _COMPACTS)
    assert requested is not None
    _put(table, f".hoodie/timeline/{requested}.compaction.inflight")
    _put(table, f".hoodie/.temp/{requested}/.hoodie/hoodie.properties.marker.CREATE")
    services_arrow(table).execute(requested)
    assert (table / PROPERTIES).is_file()
    assert read_arrow(table).column("ts").to_pylist() == [2]


@pytest.mark.parametrize("markers", [b"a/x.marker.CREATE\nno marker", b"../../x.parquet.marker.CREATE\n", b"\xff\xfe"])
def test_markers_that_cannot_be_used_keep_no_write_from_being_taken_back(tmp_path: Path, markers: bytes):
    """A listing finds the files of failed processes write, and the next write goes on."""
    table = _table(tmp_path)
    for state in ("requested", "inflight"):
        _put(
            table,
            f".hoodie/timeline/{OLD}.commit.{state}" if state == "requested" else f".hoodie/timeline/{OLD}.{state}",
        )
    left = _put(table, f"oslo/{DATA_FILE.replace('20250101000000000', OLD)}", b"half")
    _put(table, f".hoodie/.temp/{OLD}/MARKERS0", markers)
    write_arrow(str(table), _rows(ts=3), "upsert")
    assert not left.exists()
    assert not (table / ".hoodie/.temp" / OLD).exists()
    assert not (table / ".hoodie/timeline" / f"{OLD}.inflight").exists()


@pytest.mark.parametrize("city", ["a\\b", "..\\victim", "\\", "a\nb", "\x7f", "é" * 127, ".hoodie\\x"])
def test_a_partition_of_any_letters_can_be_written_again(tmp_path: Path, city: str):
    """A backslash is a letter: the row is there, its partition too, and later writes go on."""
    table = _table(tmp_path)
    write_arrow(str(table), _rows(city), "upsert")
    write_arrow(str(table), _rows(city, ts=5), "upsert")
    write_arrow(str(table), _rows("oslo", ts=3), "upsert")
    assert (table / city).is_dir()
    assert sorted(map(tuple, (row.values() for row in read_arrow(table).to_pylist()))) == sorted(
        [("a", city, 5), ("a", "oslo", 3)]
    )
    assert not check_table(table)


@pytest.mark.parametrize("operation", ["upsert", "insert", "bulk_insert", "insert_overwrite"])
@pytest.mark.parametrize(
    "city", ["..", "/a", "a//b", "x\0y", "é" * 128, "/".join(["a" * 200] * 20), "oslo/.hoodie_partition_metadata"]
)
def test_a_partition_that_cannot_be_leaves_nothing(tmp_path: Path, operation: str, city: str):
    """Refused, with not one file of the write in storage."""
    table = _table(tmp_path)
    before = {one.relative_to(table) for one in table.rglob("*")}
    with pytest.raises(HudiError) as caught:
        write_arrow(str(table), pa.concat_tables([_rows("good"), _rows(city)]), operation)
    assert caught.value.reason in {"PATH_ESCAPES_TABLE", "CONFIG_INVALID"}
    assert {one.relative_to(table) for one in table.rglob("*") if one.is_file()} <= before
    write_arrow(str(table), _rows(ts=3), "upsert")


def test_logs_are_merged_in_their_own_order_whatever_the_order_of_the_plan(tmp_path: Path):
    """Plans of others may name the newest log first: a delete there still takes the row that an older log changed."""
    table = _table(tmp_path, "MERGE_ON_READ")
    write_arrow(str(table), _rows(), "delete")
    services = services_arrow(str(table))
    requested = services.schedule("compaction", _COMPACTS)
    assert requested is not None
    (file,) = (table / ".hoodie" / "timeline").glob("*.compaction.requested")
    plan = parse_compaction_plan(file.read_bytes(), str(file))
    reversed_logs = tuple(replace(one, delta_file_paths=one.delta_file_paths[::-1]) for one in plan.operations)
    assert [len(one.delta_file_paths) for one in reversed_logs] == [2]
    file.write_bytes(serialise_compaction_plan(replace(plan, operations=reversed_logs)))
    services.execute(requested)
    assert read_arrow(table).num_rows == 0
    assert not check_table(table, deep=True)
