"""A restored table is what it was; who stops on the way is followed; where there is no way back nothing is changed."""

from dataclasses import replace
from pathlib import Path

import pytest
from hudi_format.storage import LocalStorage
from hudi_format.timeline.plans import (
    CleanMetadata,
    CleanPartition,
    SavepointPartition,
    parse_restore_metadata,
    parse_restore_plan,
    parse_savepoint_metadata,
    serialise_clean_metadata,
    serialise_savepoint_metadata,
)
from hudi_spark import HudiError, ServiceWarning, check_table
from hudi_spark.errors import Reason
from hudi_spark.testing import InProcess, WriteRequest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollback_tables import KINDS, SOAK, Undoable, rows, stopped

TOGETHER = {
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
}
LATER = (
    "upsert",
    "delete",
    "insert_overwrite",
    "delete_partition",
    "bulk_insert",
    "dead",
    "rolled_back",
    "compaction",
    "compacted",
    "clustered",
)


def go_on(table: Undoable, step: str) -> None:
    """One thing that happens after the write that is restored to."""
    if step in {"upsert", "bulk_insert"}:
        table.write(step, rows([1, 2, 40], 7, 7.0))
    elif step == "delete":
        table.write(step, rows([1, 5]))
    elif step == "insert_overwrite":
        table.write(step, rows([4], 8, 8.0))
    elif step == "delete_partition":
        table.write(step, partitions=("north",))
    elif step == "compaction" and table.table_type == "MERGE_ON_READ":
        table.services().schedule("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    elif step == "compacted" and table.table_type == "MERGE_ON_READ":
        table.services().run("compaction", {"hoodie.compact.inline.max.delta.commits": "1"})
    elif step == "clustered":
        table.services().run("clustering", {"hoodie.clustering.inline.max.commits": "1"})
    elif step in {"dead", "rolled_back"}:
        table.failed_write()
        if step == "rolled_back":
            table.services().roll_back_failed_writes()


@pytest.mark.slow
@pytest.mark.timeout(7200 if SOAK else 300)
@settings(max_examples=300 if SOAK else 7, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(KINDS),
    later=st.lists(st.sampled_from(LATER), min_size=1, max_size=4),
    is_saved=st.booleans(),
    stops=st.lists(st.integers(0, 40), max_size=2),
)
def test_a_restored_table_is_what_it_was(
    tmp_path_factory: pytest.TempPathFactory, kind: tuple[int, str], later: list[str], is_saved: bool, stops: list[int]
):
    """Rows and files are those of the write, whatever came after it and wherever the restore was stopped."""
    table = Undoable(tmp_path_factory.mktemp("table"), *kind)
    before, files = table.found(), table.data_files()
    if is_saved:
        table.services().savepoint(table.second)
    for step in later:
        go_on(table, step)
    for number in stops:
        if not stopped(lambda hook: table.services(hook).restore(table.second, saved=is_saved), number):
            break
    table.services().restore(table.second, saved=is_saved)
    assert table.found() == before
    assert files <= table.data_files()
    if table.version > 6 or table.table_type == "COPY_ON_WRITE":
        assert files == table.data_files()
    assert table.timeline.completed_data()[-1].requested == table.second
    assert table.actions("rollback") == []
    table.refuse_leftovers()
    table.write("upsert", rows([1, 70], 9, 9.0))
    assert table.found() == sorted([*(one for one in before if one[0] != "k1"), ("k1", 9.0), ("k70", 9.0)])
    table.refuse_leftovers()


@pytest.mark.parametrize("version", [6, 8])
def test_a_restore_records_what_it_undid(tmp_path: Path, version: int):
    """Plan and result name the later writes, the youngest first, and the files that went."""
    table = Undoable(tmp_path, version, "COPY_ON_WRITE")
    undone = [str(table.write("upsert", rows([n], 6, 6.0)).requested) for n in (1, 2)]
    outcome = table.services().restore(table.second)
    (one,) = table.actions("restore")
    plan = parse_restore_plan((tmp_path / one.files["REQUESTED"]).read_bytes(), "plan")
    done = parse_restore_metadata((tmp_path / one.file).read_bytes(), "done")
    assert [each.commit_time for each in plan.instants_to_rollback] == undone[::-1]
    assert plan.savepoint_to_restore_timestamp == table.second
    assert done.instants_to_rollback == tuple(undone[::-1])
    assert set(done.hoodie_restore_metadata) == set(undone)
    assert sum(len(names) for names in outcome.deleted.values()) == len(undone)


def test_a_write_finishes_a_restore_that_stopped(tmp_path: Path):
    """Nobody needs to know that one had begun."""
    table = Undoable(tmp_path, 9, "MERGE_ON_READ")
    before = table.found()
    for _ in range(3):
        table.write("upsert", rows([1, 2], 6, 6.0))
    assert stopped(lambda hook: table.services(hook).restore(table.second), 9)
    table.take_back_leftovers()
    assert table.found() == before
    table.refuse_leftovers()


@pytest.mark.parametrize("stop", [4, 6, 9])
def test_a_savepoint_keeps_nothing_that_a_stopped_restore_undoes(tmp_path: Path, stop: int):
    """What is saved is there also when the next write has come."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    before = table.found()
    table.write("upsert", rows([1, 2], 6, 6.0))
    assert stopped(lambda hook: table.services(hook).restore(table.second), stop)
    assert table.services().savepoint().requested == table.second
    assert table.found() == before
    table.take_back_leftovers()
    assert [str(one) for one in check_table(tmp_path, deep=True)] == []


@pytest.mark.parametrize("stop", [6, 9])
@pytest.mark.parametrize("version", [6, 9])
@pytest.mark.parametrize("service", ["compaction", "clustering"])
def test_no_service_brings_back_what_a_stopped_restore_undoes(tmp_path: Path, service: str, version: int, stop: int):
    """Neither at once nor when the next write has come."""
    table = Undoable(tmp_path, version, "MERGE_ON_READ")
    before = table.found()
    table.write("upsert", rows([1, 2], 6, 6.0))
    assert stopped(lambda hook: table.services(hook).restore(table.second), stop)
    table.services().run(
        service, {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.clustering.inline.max.commits": "1"}
    )
    assert table.found() == before
    table.take_back_leftovers()
    assert table.found() == before
    assert [str(one) for one in check_table(tmp_path, deep=True)] == []


@pytest.mark.parametrize("stop", [4, 9, 12])
@pytest.mark.parametrize("version", [6, 9])
@pytest.mark.parametrize("service", ["clean", "archive"])
def test_what_a_stopped_restore_goes_back_to_is_neither_cleaned_nor_archived(
    tmp_path: Path, service: str, version: int, stop: int
):
    """Without a savepoint nothing else keeps it."""
    table = Undoable(tmp_path, version, "COPY_ON_WRITE")
    before = table.found()
    for ordering in range(6, 10):
        table.write("upsert", rows([0, 1, 2], ordering, 6.0))
    assert stopped(lambda hook: table.services(hook).restore(table.second), stop)
    kept = {"hoodie.clean.commits.retained": "1"}
    limits = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
    if service == "clean":
        table.services().clean(kept)
    else:
        table.services().archive({**kept, **limits})
    table.take_back_leftovers()
    assert table.found() == before
    assert [str(one) for one in check_table(tmp_path, deep=True)] == []


def test_a_stopped_restore_is_continued(tmp_path: Path):
    """Asked for again it is the same action."""
    table = Undoable(tmp_path, 8, "COPY_ON_WRITE")
    table.write("upsert", rows([1, 2], 6, 6.0))
    assert stopped(lambda hook: table.services(hook).restore(table.second), 9)
    (pending,) = table.actions("restore")
    assert table.services().restore(table.second).requested == pending.requested
    assert [one.state for one in table.actions("restore")] == ["COMPLETED"]


def test_a_restore_without_a_plan_is_dropped_with_a_warning(tmp_path: Path):
    """Whoever died over its file had undone nothing, old releases wrote none; one damaged later may be half done."""
    table = Undoable(tmp_path, 8, "COPY_ON_WRITE")
    before, folder = table.found(), tmp_path / ".hoodie/timeline"
    (folder / "20250101000001000.restore.requested").write_bytes(b"Obj")
    (folder / "20250101000001001.restore.inflight").write_bytes(b"")
    with pytest.warns(ServiceWarning) as warned:
        table.take_back_leftovers()
    for name in ("20250101000001000.restore.requested", "20250101000001001.restore.inflight"):
        assert any(f"{folder / name}" in str(one.message) for one in warned)
    assert table.actions("restore") == []
    assert table.found() == before


def test_there_is_no_way_back_past_another_savepoint(tmp_path: Path):
    """Its write would be lost: it is to be deleted first."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    later = str(table.write("upsert", rows([1], 6, 6.0)).requested)
    table.services().savepoint(later)
    files = table.files()
    with pytest.raises(HudiError, match="is saved") as refused:
        table.services().restore(table.second)
    assert refused.value.reason == Reason.CONFIG_INVALID
    assert table.files() == files
    table.services().delete_savepoint(later)
    table.services().restore(table.second)


def test_there_is_no_way_back_to_what_is_gone(tmp_path: Path):
    """A write that is not there, one without the savepoint that is asked for, one whose files are gone."""
    table = Undoable(tmp_path, 8, "COPY_ON_WRITE")
    table.services().savepoint(table.second)
    later = str(table.write("upsert", rows([1], 6, 6.0)).requested)
    for instant, is_saved in (("20200101000000000", False), (later, True)):
        with pytest.raises(HudiError) as refused:
            table.services().restore(instant, saved=is_saved)
        assert refused.value.reason == Reason.INSTANT_NOT_FOUND
    kept = next(path for path in sorted(table.data_files()) if table.second in path)
    LocalStorage(tmp_path).delete(kept)
    files = table.files()
    with pytest.raises(HudiError, match="is gone") as gone:
        table.services().restore(table.second)
    assert gone.value.reason == Reason.RANGE_NOT_RETAINED
    assert table.files() == files


def test_there_is_no_way_back_to_what_a_clean_took(tmp_path: Path):
    """A release saves what a clean that counts versions has been at: the savepoint names what was left."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    table.services().savepoint(table.second)
    (saved,) = table.actions("savepoint")
    content = parse_savepoint_metadata((tmp_path / saved.file).read_bytes(), saved.file)
    lost = next(path for path in sorted(table.data_files()) if table.second in path)
    partition, _, name = lost.rpartition("/")
    kept = tuple(one for one in content.partition_metadata[partition].savepoint_data_file if one != name)
    left = {**content.partition_metadata, partition: SavepointPartition(partition, kept)}
    saved_after = serialise_savepoint_metadata(replace(content, partition_metadata=left))
    (tmp_path / saved.file).write_bytes(saved_after)
    LocalStorage(tmp_path).delete(lost)
    clean = int(table.second) + 500
    done = CleanMetadata(
        str(clean), partition_metadata={partition: CleanPartition(partition, success_delete_files=(name,))}
    )
    for state in (f"{clean}.clean.requested", f"{clean}.clean.inflight"):
        (tmp_path / ".hoodie/timeline" / state).write_bytes(b"")
    (tmp_path / f".hoodie/timeline/{clean}_{clean + 1}.clean").write_bytes(serialise_clean_metadata(done))
    files = table.files()
    with pytest.raises(HudiError, match="a clean deleted") as refused:
        table.services().restore(table.second)
    assert refused.value.reason == Reason.RANGE_NOT_RETAINED
    assert table.files() == files


def test_there_is_no_way_back_past_an_archived_write_that_completed_late(tmp_path: Path):
    """It was requested before the write to go back to, and is archived while that one is not; its rows came after."""
    table = Undoable(tmp_path, 9, "MERGE_ON_READ", {"hoodie.metadata.enable": "false", **TOGETHER})
    request = WriteRequest("upsert", rows([101], 9, 9.0))
    late = table.writer(executor=InProcess()).begin(request)
    late.stage(request)
    target = table.write("upsert", rows([1], 5, 5.0)).requested
    late.commit()
    for n in range(4):
        table.write("upsert", rows([0], 20 + n))
    kept = {"hoodie.keep.min.commits": "5", "hoodie.keep.max.commits": "6", "hoodie.clean.commits.retained": "2"}
    left = table.services().archive({**kept, "hoodie.compact.inline.max.delta.commits": "1"})
    assert late.requested in left
    assert target not in left
    files = table.files()
    with pytest.raises(HudiError, match="has been archived") as refused:
        table.services().restore(target)
    assert refused.value.reason == Reason.RANGE_NOT_RETAINED
    assert table.files() == files


@pytest.mark.parametrize("version", [6, 9])
def test_there_is_no_way_back_past_archived_writes(tmp_path: Path, version: int):
    """What they wrote is no longer known one by one."""
    table = Undoable(tmp_path, version, "COPY_ON_WRITE", {"hoodie.metadata.enable": "false"})
    table.services().savepoint(table.second)
    for n in range(6):
        table.write("upsert", rows([n], 10 + n, 6.0))
    kept = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    beyond = {**kept, "hoodie.archive.beyond.savepoint": "true"}
    table.services().clean(beyond)
    assert table.services().archive(beyond)
    files = table.files()
    with pytest.raises(HudiError, match="has been archived") as refused:
        table.services().restore(table.second)
    assert refused.value.reason == Reason.RANGE_NOT_RETAINED
    assert table.files() == files
