"""The plan of a restore: what came after a write, and whether there is a way back."""

from collections.abc import Iterable

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage
from hudi_format.timeline.plans import InstantInfo, RestorePlan, parse_savepoint_metadata

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import joined
from hudi_spark.errors import HudiError
from hudi_spark.services.savepoints.retained import refuse_cleaned_since
from hudi_spark.services.savepoints.saving import SAVEPOINT, completed_write, files_as_of
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.history import archived_since
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import WRITE_ACTIONS, Instant, Timeline


def restore_plan(work: TableWork, snapshot: Snapshot, to: str) -> RestorePlan:
    """Everything to undo so that a table is what it was at a completed write.

    Raises:
        HudiError: INSTANT_NOT_FOUND for a write that is not on the timeline; CONFIG_INVALID for a savepoint that would
            lose its write; RANGE_NOT_RETAINED where files that are needed are gone, or later writes were archived.

    Clauses: SR-004, SR-005, SR-006.

    """
    configuration, timeline = snapshot.configuration, snapshot.timeline
    target = completed_write(timeline, to)
    undone = later(configuration, timeline.instants, target)
    _refuse_saved(timeline, undone)
    archived = archived_since(work.storage, configuration, target.requested)
    _refuse_archived(later(configuration, archived, target), timeline)
    _refuse_gone(work, snapshot, target)
    order = sorted(undone, key=_age, reverse=True)
    return RestorePlan(tuple(InstantInfo(one.requested, one.action) for one in order), 2, target.requested)


def later(configuration: TableConfiguration, instants: Iterable[Instant], target: Instant) -> tuple[Instant, ...]:
    """The writes and services that a restore to a write undoes.

    Clauses: SR-005.
    """
    writes = (one for one in instants if one.action in WRITE_ACTIONS and one.requested != target.requested)
    return tuple(one for one in writes if _is_later(configuration, one, target))


def _is_later(configuration: TableConfiguration, one: Instant, target: Instant) -> bool:
    compacts = one.was_compaction or (one.action == "commit" and configuration.table_type == "MERGE_ON_READ")
    if not configuration.has_completion_times or compacts:
        return one.requested > target.requested
    return not one.is_completed or one.at("completed") > target.at("completed")


def _age(one: Instant) -> tuple[bool, str]:
    """Pending actions are the youngest, then goes what completed last.

    Clauses: SR-006.
    """
    return not one.is_completed, one.at("completed")


def _refuse_saved(timeline: Timeline, undone: Iterable[Instant]) -> None:
    """Clauses: SR-004."""
    going = {one.requested for one in undone}
    for one in timeline.instants:
        if one.is_savepoint and one.requested in going:
            message = f"the write {one.requested} that would be undone is saved"
            raise HudiError(Reason.CONFIG_INVALID, "SR-004", message, one.file, hint="delete its savepoint first")


def _refuse_archived(archived: Iterable[Instant], timeline: Timeline) -> None:
    """Clauses: SR-004."""
    active = {one.requested for one in timeline.instants if not one.is_savepoint}
    for one in archived:
        if one.requested not in active:
            message = f"the {one.action} {one.requested}, which came after, has been archived"
            hint = "restore to a later write"
            raise HudiError(Reason.RANGE_NOT_RETAINED, "SR-004", message, one.file, hint=hint)


def _refuse_gone(work: TableWork, snapshot: Snapshot, target: Instant) -> None:
    """Nothing while all is there that the restored table will read.

    A savepoint that was made after a clean does not name what that took: so commits are asked as well.

    Clauses: SR-001, SR-004.
    """
    saved = _saved_files(work.storage, snapshot.timeline, target)
    if saved is None:
        refuse_cleaned_since(work.storage, snapshot.timeline, target.requested)
    for path in saved or ():
        if not work.storage.exists(path):
            message = f"a file that the savepoint {target.requested} keeps is gone"
            raise HudiError(Reason.RANGE_NOT_RETAINED, "SR-004", message, path, hint="restore to a later write")
    files_as_of(work, snapshot, target)


def _saved_files(storage: Storage, timeline: Timeline, target: Instant) -> tuple[str, ...] | None:
    """Paths of the files that the savepoint of a write names; None where there is no savepoint."""
    for one in timeline.completed(SAVEPOINT):
        if one.requested == target.requested:
            partitions = parse_savepoint_metadata(storage.read(one.file), one.file).partition_metadata
            return tuple(
                joined(within, name) for within, kept in partitions.items() for name in kept.savepoint_data_file
            )
    return None
