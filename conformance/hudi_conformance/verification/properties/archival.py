"""What must hold of archival: at every effect, after every crash."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from hudi_model import history
from hudi_model.actions import Action, Content, State, TimelineEntry
from hudi_model.effects import DeleteInstant, Effects, perform
from hudi_model.history import full_timeline
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Rejection
from hudi_model.services import archival
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import WRITE_ACTIONS, entries_by_action
from hudi_model_tools import transitions

from hudi_conformance.verification.properties.registry import Counterexample, model_property
from hudi_conformance.verification.properties.scenario_tables import (
    BEYOND,
    BY_VERSIONS,
    SETTINGS,
    TableBuilder,
    grown,
    layout_of,
    scenario_tables,
    stages,
    steps_of,
    table_of_events,
    version_of,
)


def _done(table: Table) -> list[tuple[InstantTime, Action, Content, InstantTime | None]]:
    done = (one for one in full_timeline(table) if one.state is State.COMPLETED)
    return [(one.requested, one.action, one.content, one.completed) for one in done]


def _plans(table: Table) -> dict[InstantTime, Content]:
    archived = {one.requested: one.plan for one in history.history_instants(table.history, layout_of(table))}
    requested = (one for one in table.timeline if one.state is State.REQUESTED)
    return {**{one.requested: one.content for one in requested}, **archived}


def _rows(table: Table) -> list[tuple[InstantTime, Action]]:
    if layout_of(table) == 1:
        return [(one.requested, one.action) for one in table.history.archived_log]
    return [(one.requested, one.action) for file in history.current_files(table.history) for one in file.instants]


def _reported_once(table: Table, before: Table, steps: tuple[str, ...]) -> None:
    if _done(table) != _done(before):
        raise Counterexample("the whole timeline is another one", table, steps)
    if any(count > 1 for count in Counter(_rows(table)).values()):
        raise Counterexample("the history holds an action twice", table, steps)
    if _plans(table) != _plans(before):
        raise Counterexample("a plan is lost", table, steps)


@model_property(
    "PO-101",
    "Each completed action is in the whole timeline once, with its plan, whenever archival dies and is done again",
    "AR-001 AR-002 AR-010 HS-001 HS-007 HS-008 HS-010",
    broken_by="timeline-deleted-before-the-history archived-again manifest-names-the-new-file-only "
    "history-forgets-completion history-forgets-plans history-not-listed",
    exhaustive=True,
)
def _once_after_every_crash() -> None:
    for table in scenario_tables():
        first = archival.archive(table, SETTINGS)
        for number, left in stages(table, first):
            _reported_once(left, table, steps_of(first, number))
            again = archival.archive(left, SETTINGS)
            _reported_once(perform(left, again), table, (*steps_of(first, number), "-- again --"))
    _once_after_two_crashes("wwwkwwwwww", 9)
    _once_after_two_crashes("wwwkwww", 6)


def _once_after_two_crashes(events: str, version: int) -> None:
    """A crash, two more writes, and another crash: at every pair of effects."""
    table = table_of_events(events, version)
    first = archival.archive(table, SETTINGS)
    for number, left in stages(table, first):
        longer, whole = grown(left, events + "ww"), grown(table, events + "ww")
        second = archival.archive(longer, SETTINGS)
        for later, again in stages(longer, second):
            _reported_once(again, whole, (*steps_of(first, number), "two writes", *steps_of(second, later)))


@model_property(
    "PO-102",
    "Archival changes no answer, whenever it dies",
    "AR-001 AR-005 AR-007 AR-009 AR-011 TL-018",
    broken_by="archived-past-pending archived-before-replaced-files-are-gone rollback-archived-with-leftovers "
    "completed-files-go-first newest-actions-go-first",
    exhaustive=True,
)
def _no_answer_changes() -> None:
    for table, settings in product(scenario_tables(), (SETTINGS, BEYOND, BY_VERSIONS)):
        rows = _answer(table)
        effects = archival.archive(table, settings)
        for number, left in stages(table, effects):
            if _answer(left) != rows:
                raise Counterexample(f"the rows are {_answer(left)} and were {rows}", left, steps_of(effects, number))


def _answer(table: Table) -> object:
    try:
        return sorted((row["id"], row["note"]) for row in read_snapshot(table).rows)
    except Rejection as refused:
        return refused.reason


@model_property(
    "PO-103",
    "Archival removes no file of a pending action, nothing that a savepoint keeps, and no savepoint",
    "AR-001 AR-004 AR-006",
    broken_by="savepoints-do-not-stop-archival pending-actions-archived",
    exhaustive=True,
)
def _pending_and_saved_stay() -> None:
    for table, settings in product(scenario_tables(), (SETTINGS, BEYOND, BY_VERSIONS)):
        left = perform(table, archival.archive(table, settings))
        saved = {one.requested for one in table.timeline if one.action is Action.SAVEPOINT}
        done = {one.requested for one in table.timeline if one.state is State.COMPLETED}
        needed = [one for one in table.timeline if one.requested in saved or one.requested not in done]
        lost = [one.name for one in needed if one not in left.timeline]
        if lost:
            raise Counterexample(f"archival removed {', '.join(lost)}", left)


@model_property(
    "PO-105",
    "The order in which actions completed is not affected by archival",
    "AR-001 HS-007 TL-013 TL-024",
    broken_by="history-forgets-completion timeline-deleted-before-the-history",
    exhaustive=True,
)
def _completion_order_stays() -> None:
    for table in scenario_tables():
        effects = archival.archive(table, SETTINGS)
        for number, left in stages(table, effects):
            if _completion_order(left) != _completion_order(table):
                raise Counterexample("actions completed in another order", left, steps_of(effects, number))


def _completion_order(table: Table) -> list[InstantTime]:
    """By completion; as released, a missing completion time is the requested one, before version 8 all of them."""
    data = [one for one in full_timeline(table) if one.action in WRITE_ACTIONS and one.state is State.COMPLETED]
    if any(one.completed is None for one in data) and version_of(table) >= 8:
        return []
    return [one.requested for one in sorted(data, key=lambda one: (one.completed or one.requested, one.requested))]


@model_property(
    "PO-109",
    "An archival that is done again without a look into the history writes no action twice, as in the release",
    "AR-002",
    refuted=True,
    holds_instead="PO-101",
    exhaustive=True,
)
def _again_without_a_look() -> None:
    table = table_of_events("wwwkwwww")
    for number, left in stages(table, _blind(table)):
        longer = grown(left, "wwwkwwwwww")
        _reported_once(perform(longer, _blind(longer)), grown(table, "wwwkwwwwww"), steps_of(_blind(table), number))


def _blind(table: Table) -> Effects:
    """As released: what is old is written, then removed, whatever the history holds."""
    chosen = {(one.requested, one.action) for one in archival.actions_to_archive(open_table(table), SETTINGS, None)}
    groups = [one for one in entries_by_action(table.timeline) if archival.identities(one) & chosen]
    rows = tuple(archival.archived(one) for one in groups)
    file = history.history_file(rows, 0)
    if not rows or file.name in history.current_manifest(table.history).files:
        return archival.removal(groups)
    return (*archival.publish(table, rows, 0), *archival.removal(groups))


@model_property(
    "PO-110",
    "Deleting a savepoint changes no answer",
    "AR-014 TL-018",
    refuted=True,
    holds_instead="PO-111",
    assumptions="hoodie.archive.beyond.savepoint is set",
    exhaustive=True,
)
def _savepoint_deleted_after_a_gap() -> None:
    _savepoint_deleted(BEYOND)


@model_property(
    "PO-111",
    "Deleting a savepoint that archival has not passed changes no answer",
    "AR-006 AR-014 TL-018",
    broken_by="archived-beyond-savepoints",
    exhaustive=True,
)
def _savepoint_deleted_before_a_gap() -> None:
    _savepoint_deleted(SETTINGS)


def _savepoint_deleted(settings: Mapping[str, str]) -> None:
    for events in ("wwswwwwww", "wswwwwwww", "wwwswwwww"):
        table = table_of_events(events)
        left = perform(table, archival.archive(table, settings))
        kept = tuple(one for one in left.timeline if one.action is not Action.SAVEPOINT)
        freed = replace(left, timeline=kept)
        if _answer(freed) != _answer(table):
            message = f"without the savepoint the rows are {_answer(freed)} and were {_answer(table)}"
            raise Counterexample(message, freed, (*events, "archival", "the savepoint is deleted"))


@model_property(
    "PO-113",
    "An interrupted archival leaves a timeline without faults",
    "TL-003 AR-010 AR-011",
    broken_by="timeline-deleted-before-the-history completed-files-go-first",
    exhaustive=True,
)
def _no_faults_after_a_crash() -> None:
    for table in scenario_tables():
        effects = archival.archive(table, SETTINGS)
        for number, left in stages(table, effects):
            archived = (one.requested for one in history.history_instants(left.history, layout_of(left)))
            faults = transitions.timeline_faults(left.timeline, archived)
            halves = [one for one in left.timeline if one.state is not State.COMPLETED and _is_old(one, left)]
            if faults or halves:
                raise Counterexample(f"{faults or halves}", left, steps_of(effects, number))


def _is_old(entry: TimelineEntry, table: Table) -> bool:
    """Whether the history holds an action that seems to be pending."""
    archived = {one.requested for one in history.history_instants(table.history, layout_of(table))}
    done = {one.requested for one in table.timeline if one.state is State.COMPLETED}
    return entry.requested in archived and entry.requested not in done


@model_property(
    "PO-114",
    "Archival keeps what completed after the metadata table's last compaction, and all of it before the first",
    "AR-008",
    broken_by="archived-before-the-metadata-table-compacts",
    exhaustive=True,
)
def _metadata_table_first() -> None:
    table = table_of_events("wwwwwwww")
    for compacted in range(30):
        metadata = TableBuilder(9, [], [], clock=compacted)
        metadata.write(Action.COMPACTION)
        last = metadata.entries[0].requested
        for guarded in (replace(table, metadata=metadata.table()), replace(table, metadata=table_of_events(""))):
            bound = last if guarded.metadata and guarded.metadata.timeline else ""
            left = perform(guarded, archival.archive(guarded, SETTINGS)).timeline
            gone = [one for one in table.timeline if one not in left]
            early = [one.name for one in gone if one.completed and one.completed > bound]
            if early:
                raise Counterexample(f"archival removed {', '.join(sorted(early))}", guarded)


@model_property(
    "PO-115",
    "Markers of an archived action are gone before its files are",
    "AR-009",
    broken_by="timeline-deleted-before-the-history",
    exhaustive=True,
)
def _markers_first() -> None:
    for table in scenario_tables():
        effects = archival.archive(table, SETTINGS)
        names = [one.name for one in effects if isinstance(one, DeleteInstant)]
        for number, left in stages(table, effects):
            present = {one.requested for one in left.timeline}
            orphans = [one for one in left.markers if one.instant not in present and names]
            if orphans:
                raise Counterexample(f"the markers of {orphans[0].instant} are left", left, steps_of(effects, number))
