"""Savepoints keep the files of a write whatever cleaning does; a restore undoes what came after one, newest first.

A savepoint is one step. A restore is a service with a plan: `schedule` and `execute` are its own.
"""

from collections.abc import Mapping
from itertools import accumulate, repeat

import hudi_model.effects as durable
from hudi_model.actions import (
    Action,
    CleanMetadata,
    CleanPlan,
    Instant,
    RestorePlan,
    RollbackMetadata,
    SavepointMetadata,
    State,
    TimelineEntry,
)
from hudi_model.effects import DeleteInstant, Effect, Effects, entries_of, entry, forget, generate_shared, perform
from hudi_model.history import full_timeline
from hudi_model.rejection import Reason, Rejection
from hudi_model.retention import refuse_missing, refuse_missing_logs
from hudi_model.services.plans import is_completed, plan_of, request
from hudi_model.services.rollback import plan_for, undo_files
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, OpenTable, Table, View, open_table, view_at
from hudi_model.time import InstantTime
from hudi_model.timeline import WRITE_ACTIONS, Timeline, completed_actions, completed_data, with_entries


def savepoint(table: Table, instant: InstantTime, completed: InstantTime, comment: str = "") -> Effects:
    """A savepoint of a write: the files that a snapshot as of it reads.

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
    slices = (one for view in saved_views(opened, instant) for one in snapshot_slices(view))
    names = ((one.partition, file.name) for one in slices for file in (one.base_file, *one.log_files) if file)
    saved = SavepointMetadata(frozenset(names), comment)
    return (
        entry(table, instant, Action.SAVEPOINT, State.INFLIGHT),
        entry(table, instant, Action.SAVEPOINT, State.COMPLETED, saved, completed),
    )


def saved_views(opened: OpenTable, instant: InstantTime) -> tuple[View, View]:
    """The table as of a write, as a query sees it, and without what a restore to it undoes.

    Clauses: SR-002, SR-005.
    """
    undone = instants_after(opened, instant)
    left = with_entries(opened.timeline, (one for one in opened.timeline.entries if one.requested not in undone))
    return view_at(opened, instant, RELEASED), View(opened, left, None, None, RELEASED)


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


def schedule(table: Table, requested: InstantTime, _settings: Mapping[str, str], savepoint: InstantTime) -> Effects:
    """The plan to go back to a savepoint.

    Raises: INSTANT_NOT_FOUND where there is no such savepoint; CONFIG_INVALID where a later one keeps what would go;
    RANGE_NOT_RETAINED where later writes have left the timeline, or a clean took what the restored table needs.

    Clauses: SR-004, SR-005.
    """
    opened = open_table(table)
    kept = [one.requested for one in completed_actions(opened.timeline, Action.SAVEPOINT)]
    if savepoint not in kept:
        raise Rejection(Reason.INSTANT_NOT_FOUND, "SR-004", savepoint, "there is no such savepoint")
    active, undone = {one.requested for one in opened.timeline.instants}, instants_after(opened, savepoint)
    for later in (one for one in kept if one in undone):
        raise Rejection(Reason.CONFIG_INVALID, "SR-004", later, "a later savepoint is to be deleted first")
    for one in full_timeline(table):
        if one.requested > savepoint and one.requested not in active and one.action in WRITE_ACTIONS:
            raise Rejection(Reason.RANGE_NOT_RETAINED, "SR-004", one.requested, "a later write has been archived")
    refuse_cleaned(opened, savepoint)
    return request(table, requested, Action.RESTORE, RestorePlan(savepoint, undone))


def refuse_cleaned(opened: OpenTable, savepoint: InstantTime) -> None:
    """Nothing, unless storage lacks a file of the saved state: a release may save what a clean has been at.

    Raises: RANGE_NOT_RETAINED; BASE_FILE_MISSING, LOG_FILE_MISSING where no clean took it.

    Clauses: SR-004, RD-011, RD-018.
    """
    for view in saved_views(opened, savepoint):
        slices = snapshot_slices(view)
        refuse_missing(view, slices)
        refuse_missing_logs(view, slices)


def instants_after(opened: OpenTable, savepoint: InstantTime) -> tuple[InstantTime, ...]:
    """The writes and services after the one that a savepoint keeps, newest first, pending ones before all.

    Before version 8 they were requested later. [Modified in v8] They completed later, or have not. Compactions go by
    their request in every version: logs that completed after it lie on top of what they made.

    Clauses: SR-005.
    """
    writes = [one for one in opened.timeline.instants if one.action in WRITE_ACTIONS]
    saved = next(one for one in writes if one.requested == savepoint)
    by_request = opened.configuration.rules.logs_name_their_slice
    compactions = {Action.COMPACTION, Action.COMMIT} if opened.configuration.merge_on_read else set()

    def is_after(one: Instant) -> bool:
        if by_request or compactions & {one.action, saved.action}:
            return one.requested > savepoint
        return one.completed is None or one.completed > (saved.completed or savepoint)

    after = [one for one in writes if is_after(one)]
    newest = sorted(after, key=lambda one: (one.completed or one.requested, one.requested), reverse=True)
    return tuple(one.requested for one in sorted(newest, key=lambda one: one.state))


def execute(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
    """The planned restore, from wherever an earlier attempt stopped. Rollbacks after the savepoint go last.

    Raises: INSTANT_NOT_FOUND.

    Clauses: SR-006, SR-009, SR-012.
    """
    plan = plan_of(table, requested, RestorePlan)
    if is_completed(table, requested):
        return ()
    effects: list[Effect] = [entry(table, requested, Action.RESTORE, State.INFLIGHT), *dropped_metadata(table)]
    for one in plan.instants:
        effects += undo(perform(table, effects), one, requested)
    done = entry(table, requested, Action.RESTORE, State.COMPLETED, RollbackMetadata(plan.instants), completed)
    later = [one for one in table.timeline if one.action is Action.ROLLBACK and one.requested > plan.savepoint]
    later.sort(key=lambda one: (one.requested, -one.state))
    return (*effects, done, *(durable.DeleteInstant(one.name) for one in later))


def pending_restores(table: Table) -> tuple[tuple[InstantTime, InstantTime], ...]:
    """The restores that wait, oldest first, each with the savepoint that it goes back to.

    Clauses: SR-013.
    """
    plans = sorted((one.requested, one.content) for one in table.timeline if isinstance(one.content, RestorePlan))
    return tuple((one, plan.savepoint) for one, plan in plans if not is_completed(table, one))


def restore(
    table: Table, savepoint: InstantTime, requested: InstantTime, completed: InstantTime, settings: Mapping[str, str]
) -> Effects:
    """A whole restore. Those that stopped are finished first; where one goes back to this savepoint, that is all.

    Raises: as `schedule`.

    Clauses: SR-004, SR-006, SR-013.
    """
    effects: Effects = ()
    waiting, times = pending_restores(table), accumulate(repeat(completed), lambda last, _: generate_shared(last, last))
    for one, _ in waiting:
        effects += execute(perform(table, effects), one, next(times))
    if any(target == savepoint for _, target in waiting):
        return effects
    effects += schedule(perform(table, effects), requested, settings, savepoint)
    return (*effects, *execute(perform(table, effects), requested, next(times)))


def dropped_metadata(table: Table) -> Effects:
    """The end of the metadata table: first the properties let go of it. A writer makes it anew.

    Clauses: SR-012, VR-011.
    """
    if table.metadata is None:
        return ()
    stated = open_table(table).configuration.properties
    kept = {name: value for name, value in stated.items() if not name.startswith("hoodie.table.metadata.partitions")}
    return durable.PutProperties(kept), durable.CommitMetadataTable(None)


def undo(table: Table, instant: InstantTime, requested: InstantTime) -> Effects:
    """One action undone: its completed entry goes, then its files, of a compaction the whole slice, then the rest.

    Clauses: SR-006, SR-007.
    """
    own, going = entries_of(table, instant), forget(table, instant)
    if not own:
        return ()
    published = sum(one.state is State.COMPLETED for one in own)
    files = undo_files(table, plan_for(table, instant, by_markers=False, whole=True), requested)
    ended = (durable.DeleteMarkers(instant), durable.WriteHeartbeat(instant, None))
    return (*going[:published], *files, *going[published:], *ended)
