"""Savepoints made and deleted.

inflight    empty
completed   by partition the names of the files that a snapshot as of the saved write reads
"""

from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.names import TimelineFileName
from hudi_format.storage import Storage
from hudi_format.timeline.plans import SavepointMetadata, SavepointPartition, serialise_savepoint_metadata

from hudi_spark.clock import milliseconds_of
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.entries import delete_entries
from hudi_spark.errors import HudiError
from hudi_spark.locks.holding import Holding
from hudi_spark.services.savepoints.retained import refuse_cleaned_since
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.listing import stored_files
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot, snapshot_at
from hudi_spark.state.timeline import Axis, Instant, Timeline, load_timeline

SAVEPOINT: Final = "savepoint"
_OPERATION: Final = "SAVEPOINT"


def savepoint(work: TableWork, instant: str | None = None, comment: str = "", by: str = "") -> Outcome:
    """Keep what a snapshot as of a completed write reads, of the newest one where none is named.

    Raises:
        HudiError: INSTANT_NOT_FOUND for a write that is not on the timeline or has not completed; RANGE_NOT_RETAINED
            for one whose files a clean may have removed; CONFIG_INVALID for one that is saved already.

    Clauses: SR-001, SR-002, TL-010.

    """
    with work.lock(SAVEPOINT) as holding:
        configuration, timeline = (snapshot := work.snapshot()).configuration, snapshot.timeline
        saved = completed_write(timeline, instant)
        if any(one.requested == saved.requested for one in timeline.completed(SAVEPOINT)):
            raise _refused(f"the {saved.action} {saved.requested} is saved already")
        refuse_cleaned_since(work.storage, timeline, saved.requested)
        remove_half_made(work, configuration, timeline, saved.requested)
        files = files_as_of(work, snapshot, saved)
        return _saved(work, holding, configuration, saved.requested, _content(work, files, comment, by))


def delete_savepoint(work: TableWork, instant: str) -> Outcome:
    """End a savepoint: what it kept is cleaned like other files. One that was never whole goes as well.

    Raises:
        HudiError: INSTANT_NOT_FOUND.

    Clauses: SR-003.

    """
    with work.lock(SAVEPOINT):
        configuration = work.snapshot().configuration
        timeline = load_timeline(work.storage, configuration)
        found = [one for one in timeline.instants if one.is_savepoint and one.requested == instant]
        if not found:
            message, hint = f"there is no savepoint {instant}", "look at the timeline for savepoints"
            raise HudiError(Reason.INSTANT_NOT_FOUND, "SR-003", message, hint=hint)
        delete_entries(work.effects, configuration, found[0])
        return Outcome(instant, None, SAVEPOINT, "DELETE_SAVEPOINT")


def remove_half_made(work: TableWork, configuration: TableConfiguration, timeline: Timeline, but: str = "") -> None:
    """Savepoints go whose maker, or whose deleter, died over them; under the lock nobody is at one.

    Clauses: SR-003.
    """
    for one in timeline.pending(SAVEPOINT):
        if one.requested != but:
            delete_entries(work.effects, configuration, one)


def completed_write(timeline: Timeline, instant: str | None) -> Instant:
    """The completed write of a time, or the newest one.

    Raises:
        HudiError: INSTANT_NOT_FOUND.

    Clauses: SR-001, SR-004.

    """
    done = timeline.completed_data()
    found = [one for one in done if instant in (None, one.requested)]
    if not found:
        message = "nothing has completed" if instant is None else f"no write {instant} has completed on the timeline"
        hint = "name a commit, deltacommit or replacecommit that the active timeline has as completed"
        raise HudiError(Reason.INSTANT_NOT_FOUND, "SR-001", message, hint=hint)
    return found[-1]


def files_as_of(work: TableWork, snapshot: Snapshot, saved: Instant) -> dict[str, tuple[str, ...]]:
    """By partition the names of the files that the table needs to be what it was at a write.

    Time travel goes by the requested time, a restore by the completion; where writes overlap both are kept.

    Clauses: SR-002, SR-005.
    """
    slices = _slices(work.storage, work, snapshot, saved.requested, "requested")
    if saved.completed is not None and _overlap(snapshot.timeline, saved):
        slices += _slices(work.storage, work, snapshot, saved.completed, "completed")
    found: dict[str, dict[str, None]] = {}
    for one in slices:
        paths = (*([one.base_file] if one.base_file else []), *one.log_files)
        found.setdefault(one.partition, {}).update(dict.fromkeys(path.rpartition("/")[2] for path in paths))
    return {partition: tuple(names) for partition, names in found.items()}


def _overlap(timeline: Timeline, saved: Instant) -> bool:
    """Whether a write was requested after the saved one and completed before it."""
    return any(
        one.requested > saved.requested and one.at("completed") <= saved.at("completed")
        for one in timeline.completed_data()
    )


def _slices(storage: Storage, work: TableWork, snapshot: Snapshot, time: str, axis: Axis) -> tuple[FileSlice, ...]:
    table = (snapshot.configuration, snapshot.timeline)
    return snapshot_at(storage, table, work.readings, time, axis, listing=stored_files(storage)).slices


def _content(work: TableWork, files: dict[str, tuple[str, ...]], comment: str, by: str) -> SavepointMetadata:
    partitions = {partition: SavepointPartition(partition, names) for partition, names in sorted(files.items())}
    return SavepointMetadata(by, milliseconds_of(work.clock.instant()), comment, partitions)


def _saved(
    work: TableWork, holding: Holding, configuration: TableConfiguration, requested: str, content: SavepointMetadata
) -> Outcome:
    """Clauses: TL-010, LK-004."""
    timeline = load_timeline(work.storage, configuration)
    begun = any(one.requested == requested and one.is_savepoint for one in timeline.instants)
    if not begun:
        work.effects.create_instant(configuration, TimelineFileName(requested, SAVEPOINT, "INFLIGHT"))
    completed = work.time(timeline) if configuration.has_completion_times else None
    name = TimelineFileName(requested, SAVEPOINT, "COMPLETED", completed)
    holding.complete(configuration, name, serialise_savepoint_metadata(content))
    return Outcome(requested, completed, SAVEPOINT, _OPERATION)


def _refused(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "SR-001", message, hint="delete the savepoint first to make it anew")
