"""Cleaning: old file slices go, and what was replaced long ago.

Clauses: CN-006, CN-009, CN-011, CN-012.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Final

import pyarrow as pa
from hudi_format.names import TimelineFileName, is_partition_metafile
from hudi_format.timeline.plans import (
    CleanerPlan,
    CleanMetadata,
    CleanPartition,
    parse_clean_metadata,
    parse_cleaner_plan,
    serialise_clean_metadata,
    serialise_cleaner_plan,
)

from hudi_spark.concurrency import Effects, beating, delete_entries, is_alive, joined, place_of, timeline_path
from hudi_spark.errors import HudiError, Reason
from hudi_spark.metadata import FinishedWrite
from hudi_spark.read import TaskIdentity
from hudi_spark.services.cleaning_planning import Planned, cleaner_plan, is_due, retains_less_than_all
from hudi_spark.services.restore import after_restores
from hudi_spark.services.rollback import roll_back_failed_writes
from hudi_spark.services.service import ServicePlan
from hudi_spark.table_state import (
    DATA_ACTIONS,
    Instant,
    Snapshot,
    TableConfiguration,
    Timeline,
    files_to_clean,
    load_timeline,
)
from hudi_spark.write import Completion, Outcome, TableWork, complete_locked, nothing_to_check

CLEAN: Final = "clean"
_LAST_VERSION_WITH_PLAN_TWICE: Final = 8
_FILES_A_TASK: Final = 500
_NOTHING: Final = pa.schema([pa.field("deleted", pa.int64())])
Names = Mapping[str, tuple[str, ...]]
"""By partition the names of files."""


def carry_out(work: TableWork, pending: Instant) -> Outcome | None:
    """What a pending clean requests is done, again where it was begun; None for one that requests nothing at all.

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
    """A clean whose files a crash left empty requests nothing: it goes, as released.

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


@dataclass(frozen=True, slots=True)
class Cleaning:
    """The service `clean`.

    Clauses: CN-001, CN-006, CN-009.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> ServicePlan | None:
        """Every file to remove, by the policy of the options; None where nothing is to go, or none is due.

        Raises:
            HudiError: CONFIG_INVALID.

        Clauses: CN-001, CN-006, CN-009.

        """
        del params
        if snapshot.timeline.pending(CLEAN) and not work.options.flag("hoodie.clean.multiple.enabled"):
            return None
        planned = Planned(work.storage, snapshot, work.options, work.clock.instant())
        plan = cleaner_plan(planned) if is_due(planned) else None
        return None if plan is None else ServicePlan(CLEAN, serialise_cleaner_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a clean."""
        del work
        return pending.action == CLEAN

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """The files that a plan names are deleted; again, where who began it died.

        Raises:
            HudiError: LOCK_UNAVAILABLE; INSTANT_NOT_FOUND for a plan without content, which is taken off the timeline.

        Clauses: CN-009, CN-012.

        """
        done = carry_out(work, pending)
        if done is None:
            message = f"the clean {pending.requested} has no plan: whoever requested it died; it is removed"
            raise HudiError(Reason.INSTANT_NOT_FOUND, "CN-012", message, pending.file, hint="schedule a clean")
        return done


def clean(work: TableWork) -> Outcome | None:
    """Cleans that wait are carried out, then what is due now is planned and carried out; the last one's outcome.

    A clean that another process is carrying out is left to it. Where failed writes are left to the clean they are
    rolled back first, and a restore that somebody left is finished: it needs what else would be cleaned.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST; CONFIG_INVALID.

    Clauses: CN-006, CN-009, CN-012, CN-016, RB-001, SR-006.

    """
    roll_back_failed_writes(work, "LAZY")
    timeline = after_restores(work)
    done = [outcome for one in timeline.pending(CLEAN) if (outcome := _carried_out(work, one)) is not None]
    requested = _requested(work, timeline)
    if requested is None:
        return done[-1] if done else None
    own = next((one for one in work.timeline().pending(CLEAN) if one.requested == requested), None)
    return None if own is None else _carried_out(work, own)


def _requested(work: TableWork, timeline: Timeline) -> str | None:
    """The time of a new clean, where one is due."""
    if not retains_less_than_all(timeline, work.options, work.clock.instant()):
        return None
    with work.lock(CLEAN):
        after_restores(work)
        snapshot = work.snapshot()
        plan = Cleaning().plan(work, snapshot, {})
        if plan is None:
            return None
        return work.request(snapshot.configuration, snapshot.timeline, plan.action, plan.content)


def _carried_out(work: TableWork, pending: Instant) -> Outcome | None:
    """Nothing where somebody whose heartbeat is live is at it.

    Clauses: CN-006, MK-005.
    """
    if is_alive(work.storage, work.options, pending.requested):
        return None
    with beating(work.effects, work.options, pending.requested, place_of(work.storage, work.options)):
        return carry_out(work, pending)
