"""Savepoints hold what a snapshot as of a write reads, until they are deleted; what may be cleaned is not saved."""

from pathlib import Path
from typing import Any

import pytest
from hudi_format.timeline.plans import (
    ActionInstant,
    CleanerPlan,
    CleanMetadata,
    SavepointMetadata,
    parse_savepoint_metadata,
    serialise_clean_metadata,
    serialise_cleaner_plan,
)
from hudi_spark import HudiError
from hudi_spark.errors import Reason
from hudi_spark.testing import InProcess, WriteRequest
from rollback_tables import KINDS, Undoable, rows, stopped


def saved(table: Undoable) -> SavepointMetadata:
    """What the one savepoint of a table holds."""
    (one,) = table.actions("savepoint")
    assert one.is_completed
    return parse_savepoint_metadata((table.path / one.file).read_bytes(), one.file)


@pytest.mark.parametrize(("version", "kind"), KINDS)
def test_a_savepoint_names_the_files_of_its_write(tmp_path: Path, version: int, kind: str):
    """Base files and logs by partition, of the slices that a snapshot read then, whatever came after."""
    table = Undoable(tmp_path, version, kind)
    newest: dict[str, list[str]] = {}
    for path in sorted(table.data_files()):
        partition, _, name = path.rpartition("/")
        newest.setdefault(partition, []).append(name)
    table.write("upsert", rows([1, 2, 7], 5, 5.0))
    outcome = table.services().savepoint(table.second, "before the change")
    held = saved(table)
    assert held.comments == "before the change"
    assert (outcome.requested, outcome.action) == (table.second, "savepoint")
    for partition, kept in held.partition_metadata.items():
        bases = {name.partition("_")[0]: name for name in newest[partition] if name.endswith(".parquet")}
        logs = {name for name in newest[partition] if ".log." in name}
        # Before version 8 the name of a log does not tell which write added it to the slice.
        later = {name for name in kept.savepoint_data_file if ".log.2_" in name and version == 6}
        assert set(kept.savepoint_data_file) - later == {*bases.values(), *logs}
    assert set(held.partition_metadata) == {"north", "süd"}


@pytest.mark.parametrize("version", [6, 8])
def test_a_savepoint_names_no_log_of_a_write_that_may_still_fail(tmp_path: Path, version: int):
    """Where the write is given up its log goes, and the savepoint is whole all the same."""
    table, given = Undoable(tmp_path, version, "MERGE_ON_READ"), WriteRequest("upsert", rows([1, 2, 7], 5, 5.0))
    started = table.writer(executor=InProcess()).begin(given)
    started.stage(given)
    table.services().savepoint(table.second)
    started.abort()
    for partition, kept in saved(table).partition_metadata.items():
        assert [name for name in kept.savepoint_data_file if not (tmp_path / partition / name).exists()] == []


def test_the_newest_write_is_saved_where_none_is_named(tmp_path: Path):
    """And only once."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    assert table.services().savepoint().requested == table.second
    with pytest.raises(HudiError, match="saved already") as refused:
        table.services().savepoint(table.second)
    assert refused.value.reason == Reason.CONFIG_INVALID


@pytest.mark.parametrize("comment", [5, None, b"why", "\ud800"])
def test_a_comment_that_no_file_can_hold_is_refused_before_anything_is_written(tmp_path: Path, comment: Any):
    """It ended in an error of Python when the savepoint was half made, and left it pending."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    with pytest.raises(HudiError, match="the comment of a savepoint is") as refused:
        table.services().savepoint(table.second, comment)
    assert refused.value.reason == Reason.CONFIG_INVALID
    assert not table.actions("savepoint")
    assert table.services().savepoint(table.second, "å").requested == table.second


def test_what_is_not_there_is_not_saved(tmp_path: Path):
    """Neither an unknown time, nor a pending write, nor the end of a savepoint that is none."""
    table = Undoable(tmp_path, 8, "MERGE_ON_READ")
    failed = table.failed_write()
    for instant in ("20200101000000000", failed):
        with pytest.raises(HudiError, match="no write") as refused:
            table.services().savepoint(instant)
        assert refused.value.reason == Reason.INSTANT_NOT_FOUND
    with pytest.raises(HudiError, match="no savepoint") as missing:
        table.services().delete_savepoint(table.second)
    assert missing.value.reason == Reason.INSTANT_NOT_FOUND


@pytest.mark.parametrize("pending", [True, False])
@pytest.mark.parametrize("counts_versions", [True, False])
def test_a_cleaned_write_is_not_saved(tmp_path: Path, pending: bool, counts_versions: bool):
    """A clean, done or planned, that keeps files for later writes only may have taken what this one read."""
    table = Undoable(tmp_path, 9, "COPY_ON_WRITE")
    first = table.timeline.completed_data()[0].requested
    folder, clean = tmp_path / ".hoodie/timeline", f"{int(table.second) + 500}"
    kept = None if counts_versions else ActionInstant(table.second, "commit", "COMPLETED")
    policy = "KEEP_LATEST_FILE_VERSIONS" if counts_versions else "KEEP_LATEST_COMMITS"
    (folder / f"{clean}.clean.requested").write_bytes(serialise_cleaner_plan(CleanerPlan(kept, table.second, policy)))
    if not pending:
        (folder / f"{clean}.clean.inflight").write_bytes(b"")
        done = CleanMetadata(clean, earliest_commit_to_retain="" if counts_versions else table.second)
        (folder / f"{clean}_{int(clean) + 1}.clean").write_bytes(serialise_clean_metadata(done))
    with pytest.raises(HudiError, match="savepoint of a cleaned instant") as refused:
        table.services().savepoint(first)
    assert refused.value.reason == Reason.RANGE_NOT_RETAINED
    assert table.actions("savepoint") == []
    table.services().savepoint(table.second)


@pytest.mark.parametrize("version", [6, 9])
def test_a_savepoint_that_stopped_is_made_or_ended_by_who_comes_next(tmp_path: Path, version: int):
    """Before any effect of making it, and of deleting it; a half one keeps nothing and is in nobody's way."""
    table = Undoable(tmp_path, version, "MERGE_ON_READ")
    for number in range(12):
        if not stopped(lambda hook: table.services(hook).savepoint(), number):
            break
        if table.timeline.completed("savepoint"):
            break
        table.write("upsert", rows([1], 5, 5.0))
    for number in range(12):
        instant = table.actions("savepoint")[0].requested
        if not stopped(lambda hook, at=instant: table.services(hook).delete_savepoint(at), number):
            break
        if not table.actions("savepoint"):
            break
    assert table.actions("savepoint") == []
    table.refuse_leftovers()
