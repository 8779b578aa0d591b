"""A clean carried out from its plan: files deleted in tasks, emptied partitions removed, then it completes.

Clauses: CN-006, CN-009, CN-011, CN-012.
"""

from collections.abc import Mapping
from functools import partial
from time import monotonic
from typing import Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.names import TimelineFileName, is_partition_metafile
from hudi_format.timeline.plans import (
    CleanerPlan,
    CleanMetadata,
    CleanPartition,
    parse_clean_metadata,
    parse_cleaner_plan,
    serialise_clean_metadata,
)

from hudi_spark.committing.completing import Completion, complete_locked, nothing_to_check
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.entries import delete_entries
from hudi_spark.effects.helper import Effects, joined, timeline_path
from hudi_spark.errors import HudiError
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.pending_plans import files_to_clean
from hudi_spark.state.timeline import DATA_ACTIONS, Instant, Timeline, load_timeline

CLEAN: Final = "clean"
_LAST_VERSION_WITH_PLAN_TWICE: Final = 8
_FILES_A_TASK: Final = 500
_NOTHING: Final = pa.schema([pa.field("deleted", pa.int64())])
Names = Mapping[str, tuple[str, ...]]
"""By partition the names of files."""


def carry_out(work: TableWork, pending: Instant) -> Outcome | None:
    """What a pending clean asks for is done, again where it was begun; None for one that asks for nothing at all.

    Files that are gone are no failure, and the completed entry names all planned files as deleted.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST, WRITE_CONFLICT where the clean was taken off the timeline meanwhile.
        FormatError: TIMELINE_FILE_CORRUPT when the plan does not parse; PATH_ESCAPES_TABLE.
        UnsupportedFeature: a plan that deletes files of the table that this one was bootstrapped from.

    Clauses: CN-009, CN-011, CN-012.

    """
    began, snapshot = monotonic(), work.snapshot()
    data = _plan_bytes(work, pending)
    if not data:
        _drop_empty(work, snapshot.configuration, pending)
        return None
    file = pending.files.get("REQUESTED", pending.file)
    plan = parse_cleaner_plan(data, file)
    doomed = files_to_clean(work.storage, plan, file)
    _go_inflight(work, snapshot.configuration, pending, data)
    _delete(work, pending.requested, doomed)
    with work.lock(CLEAN) as holding:
        timeline = load_timeline(work.storage, snapshot.configuration)
        if (done := _completed(timeline, pending)) is not None:
            return _outcome(work, done)
        emptied = _remove_partitions(work.effects, timeline, pending.requested, plan)
        metadata = _metadata(pending, plan, doomed, emptied, int((monotonic() - began) * 1000))
        finished = FinishedWrite(pending.requested, CLEAN, CLEAN, deleted=doomed, emptied=emptied)
        completion = Completion(finished, serialise_clean_metadata(metadata))
        completed = complete_locked(work, holding, snapshot, completion, nothing_to_check)
    work.effects.sweep()
    return Outcome(pending.requested, completed, CLEAN, CLEAN, deleted=doomed)


def _plan_bytes(work: TableWork, pending: Instant) -> bytes:
    """The plan; where a crash left the requested file empty, the inflight one may have it.

    Clauses: CN-009.
    """
    files = [pending.files[state] for state in ("REQUESTED", "INFLIGHT") if state in pending.files]
    return next((data for data in map(work.storage.read, files) if data), b"")


def _drop_empty(work: TableWork, configuration: TableConfiguration, pending: Instant) -> None:
    """A clean whose files a crash left empty asks for nothing: it goes, as released.

    Clauses: CN-012.
    """
    with work.lock(CLEAN):
        delete_entries(work.effects, configuration, pending)


def _go_inflight(work: TableWork, configuration: TableConfiguration, pending: Instant, data: bytes) -> None:
    """Up to version 8 the inflight file repeats the plan: older releases take it from there.

    Another process may carry out the same plan, and have begun a moment before: both may go on.

    Clauses: CN-006, CN-009, CN-012, TL-033.
    """
    if pending.state != "REQUESTED":
        return
    content = data if configuration.version <= _LAST_VERSION_WITH_PLAN_TWICE else b""
    name = TimelineFileName(pending.requested, CLEAN, "INFLIGHT")
    try:
        work.effects.create_instant(configuration, name, content)
    except HudiError as error:
        if error.reason is not Reason.WRITE_CONFLICT or not work.storage.exists(timeline_path(configuration, name)):
            raise


def _delete(work: TableWork, requested: str, doomed: Names) -> None:
    """Clauses: CN-009, CN-012."""
    files = [(partition, name) for partition, names in sorted(doomed.items()) for name in names]
    tasks = [files[start : start + _FILES_A_TASK] for start in range(0, len(files), _FILES_A_TASK)]
    work.executor.tasks(tasks, partial(_delete_files, work.effects, requested), _NOTHING).gathered()


def _delete_files(effects: Effects, requested: str, files: list[tuple[str, str]], identity: TaskIdentity) -> pa.Table:
    """What one task deletes; what is gone already is no failure."""
    del identity
    present = [pair for pair in files if effects.storage.exists(joined(*pair))]
    for partition, name in present:
        effects.delete_data_file(requested, partition, name)
    return pa.table({"deleted": [len(present)]}, schema=_NOTHING)


def _remove_partitions(effects: Effects, timeline: Timeline, requested: str, plan: CleanerPlan) -> tuple[str, ...]:
    """Planned partitions that hold nothing any more stop being partitions, unless a write is under way.

    Called under the lock, so that no write begins here that has seen the partition.

    Clauses: CN-011.
    """
    if any(not one.is_completed and one.action in DATA_ACTIONS for one in timeline.instants):
        return ()
    return tuple(
        partition
        for partition in plan.partitions_to_be_deleted
        if partition and _removed(effects, requested, partition)
    )


def _removed(effects: Effects, requested: str, partition: str) -> bool:
    """Clauses: CN-011."""
    names = [status.path.rpartition("/")[2] for status in effects.storage.list_files(partition, recursive=False)]
    if not all(is_partition_metafile(name) for name in names):
        return False
    for name in names:
        effects.delete_partition_metafile(requested, partition, name)
    return True


def _metadata(
    pending: Instant, plan: CleanerPlan, doomed: Names, emptied: tuple[str, ...], milliseconds: int
) -> CleanMetadata:
    """What the completed entry says.

    Clauses: CN-009, CN-012.
    """
    earliest = plan.earliest_instant_to_retain
    partitions = {
        partition: CleanPartition(partition, plan.policy, names, names, (), partition in emptied)
        for partition, names in doomed.items()
    }
    return CleanMetadata(
        start_clean_time=pending.requested,
        time_taken_in_millis=milliseconds,
        total_files_deleted=sum(len(names) for names in doomed.values()),
        earliest_commit_to_retain="" if earliest is None else earliest.timestamp,
        last_completed_commit_timestamp=plan.last_completed_commit_timestamp,
        partition_metadata=partitions,
        bootstrap_partition_metadata={},
        extra_metadata=plan.extra_metadata,
    )


def _completed(timeline: Timeline, pending: Instant) -> Instant | None:
    """The same clean, where another process has completed it meanwhile."""
    return next((one for one in timeline.completed(CLEAN) if one.requested == pending.requested), None)


def _outcome(work: TableWork, done: Instant) -> Outcome:
    data = work.storage.read(done.file)
    partitions = parse_clean_metadata(data, done.file).partition_metadata if data else {}
    deleted = {partition: one.success_delete_files for partition, one in partitions.items()}
    return Outcome(done.requested, done.completed, CLEAN, CLEAN, deleted=deleted)
