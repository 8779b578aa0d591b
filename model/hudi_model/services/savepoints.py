"""Savepoints: a completed write whose files are kept, whatever cleaning does, until the savepoint is deleted."""

from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.contents import CleanMetadata, CleanPlan, SavepointMetadata
from hudi_model.effects import DeleteInstant, Effects
from hudi_model.readings import RELEASED
from hudi_model.rejection import Reason, Rejection
from hudi_model.services.plans import entry
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline, completed_actions, completed_data
from hudi_model.views import view_at


def savepoint(table: Table, instant: InstantTime, completed: InstantTime, comment: str = "") -> Effects:
    """A savepoint of a write: the files that a snapshot as of its instant reads.

    Raises: INSTANT_NOT_FOUND where no such write completed; CONFIG_INVALID where it is saved already;
    RANGE_NOT_RETAINED where a clean, done or pending, keeps files for later times only.

    Clauses: SR-001, SR-002, TL-010.
    """
    opened = open_table(table)
    if instant not in {one.requested for one in completed_data(opened.timeline)}:
        raise Rejection(Reason.INSTANT_NOT_FOUND, "SR-001", instant, "no write of this instant has completed")
    if instant in {one.requested for one in completed_actions(opened.timeline, Action.SAVEPOINT)}:
        raise Rejection(Reason.CONFIG_INVALID, "SR-001", instant, "the write is saved already")
    if any(instant < kept for one in table.timeline if (kept := kept_from(opened.timeline, one))):
        raise Rejection(Reason.RANGE_NOT_RETAINED, "SR-001", instant, "files of this time may have been cleaned")
    slices = snapshot_slices(view_at(opened, instant, RELEASED))
    names = ((one.partition, file.name) for one in slices for file in (one.base_file, *one.log_files) if file)
    saved = SavepointMetadata(frozenset(names), comment)
    return (
        entry(table, instant, Action.SAVEPOINT, State.INFLIGHT),
        entry(table, instant, Action.SAVEPOINT, State.COMPLETED, saved, completed),
    )


def kept_from(timeline: Timeline, clean: TimelineEntry) -> InstantTime | None:
    """The earliest write as of which a clean, done or planned, leaves the table whole; None of any other entry.

    One that counts versions keeps what the last write before it reads, and says nothing of older ones.

    Clauses: SR-001, CN-004.
    """
    if not isinstance(clean.content, CleanMetadata | CleanPlan):
        return None
    before = (one.requested for one in completed_data(timeline) if one.requested <= clean.requested)
    earliest = clean.content.earliest_to_retain
    return InstantTime(earliest) if earliest else max(before, default=clean.requested)


def delete_savepoint(table: Table, instant: InstantTime) -> Effects:
    """The end of a savepoint: its completed entry goes, then the inflight one.

    Raises: INSTANT_NOT_FOUND.

    Clauses: SR-003.
    """
    own = [one for one in table.timeline if one.requested == instant and one.action is Action.SAVEPOINT]
    if not own:
        raise Rejection(Reason.INSTANT_NOT_FOUND, "SR-003", instant, "there is no such savepoint")
    return tuple(DeleteInstant(one.name) for one in sorted(own, key=lambda one: one.state, reverse=True))
