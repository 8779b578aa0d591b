"""What the timeline may get wrong: its names, its contents, and what its actions say of each other."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from hudi_model.actions import Action, Instant, RollbackMetadata, RollbackPlan, State, TimelineEntry
from hudi_model.configuration import Configuration
from hudi_model.files import Damaged
from hudi_model.metadata import BEFORE_ALL
from hudi_model.tables import ArchivedInstant, History, Table
from hudi_model.time import InstantTime, widen
from hudi_model.timeline import DATA_ACTIONS, Timeline

from hudi_model_tools.checks.finding import Severity, Violation, error, violation_of, warning
from hudi_model_tools.transitions import timeline_faults

PLANNED = frozenset(
    {Action.CLEAN, Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.ROLLBACK, Action.RESTORE}
    | {Action.INDEXING}
)
"""Actions whose requested file is never empty."""
FULLY_UNDONE = frozenset({Action.COMMIT, Action.DELTA_COMMIT})
"""Actions of which a rollback leaves nothing; services stay planned."""


def timeline_violations(table: Table) -> tuple[Violation, ...]:
    """Names that look like an instant and are none, and what no legal history leaves behind.

    Clauses: TL-003, TL-005, TL-006, TL-011, TL-012, TL-016.
    """
    faults = timeline_faults(table.timeline, (row.requested for row in archived_rows(table.history)))
    return (*(violation_of(one) for one in table.malformed), *(violation_of(one) for one in faults))


def archived_rows(history: History) -> Iterator[ArchivedInstant]:
    """What archival wrote, current or not."""
    yield from history.archived_log
    for file in history.files:
        yield from file.instants


def content_violations(table: Table) -> Iterator[Violation]:
    """Timeline files whose content does not parse, and completed ones that are empty.

    What an inflight file holds is never read, and damage there is only worth a look.

    Clauses: TL-014, TL-015, TL-033.
    """
    for entry in table.timeline:
        if isinstance(entry.content, Damaged):
            severity = Severity.WARNING if entry.state is State.INFLIGHT else Severity.ERROR
            yield replace(violation_of(entry.content, severity), where=entry.name)
        elif entry.content is None and entry.state is State.COMPLETED:
            clause = "TL-015" if entry.action in DATA_ACTIONS else "TL-033"
            yield error(clause, entry.name, "the completed action is empty")


def action_violations(
    configuration: Configuration, timeline: Timeline, archived: Iterable[Instant]
) -> Iterator[Violation]:
    """What sound files of the timeline say that cannot be together.

    Clauses: TL-010, TL-023, TL-024, TL-025, CL-003, CN-006, RB-004, RB-009, SR-001, SR-006.
    """
    past = tuple(archived)
    yield from times_used_twice(timeline.entries)
    yield from plans_that_lack(timeline)
    yield from saved_without_a_write(timeline, past)
    yield from rollbacks_that_wait(timeline)
    yield from undone_and_there(timeline)
    if not configuration.rules.mode_is_persisted:
        for entry in (one for one in timeline.entries if one.action is Action.CLUSTERING):
            yield error("CL-003", entry.name, "before version 8 a clustering is requested as replacecommit")


def times_used_twice(entries: Iterable[TimelineEntry]) -> Iterator[Violation]:
    """[New in v8] A completion time at which something was requested; those of a metadata table's start count up.

    Clauses: TL-024, MT-021.
    """
    listed = tuple(one for one in entries if not one.requested.startswith(BEFORE_ALL))
    requested = {one.requested: one.name for one in listed if one.action is not Action.SAVEPOINT}
    for one in listed:
        if one.completed in requested and one.completed != one.requested:
            yield error("TL-024", one.name, f"{requested[one.completed]} was requested when it completed")


def plans_that_lack(timeline: Timeline) -> Iterator[Violation]:
    """Services that wait to be carried out, and nobody can tell what they are to do; a second clean that waits.

    Clauses: TL-025, CN-006, RD-008.
    """
    waiting = {(one.requested, one.action): one for one in timeline.instants if one.state is not State.COMPLETED}
    requested = {(one.requested, one.action): one for one in timeline.entries if one.state is State.REQUESTED}
    for key, entry in requested.items():
        # A reader that lacks a compaction's plan refuses the table, and says so.
        if key in waiting and entry.content is None and entry.action in PLANNED - {Action.COMPACTION}:
            yield error("TL-025", entry.name, f"the {entry.action} waits and its plan is empty")
    cleans = [entry.name for key, entry in sorted(requested.items()) if key in waiting and key[1] is Action.CLEAN]
    for name in cleans[1:]:
        yield warning("CN-006", name, f"{cleans[0]} waits too, and at most one clean should")


def saved_without_a_write(timeline: Timeline, archived: Iterable[Instant]) -> Iterator[Violation]:
    """A savepoint that no longer has the write it keeps, or that began like another action.

    Clauses: SR-001, TL-010.
    """
    kept = {widen(one.requested) for one in (*timeline.instants, *archived) if is_completed_write(one)}
    for entry in (one for one in timeline.entries if one.action is Action.SAVEPOINT):
        if entry.state is State.REQUESTED:
            yield error("TL-010", entry.name, "a savepoint has no requested file")
        elif entry.state is State.COMPLETED and widen(entry.requested) not in kept:
            yield error("SR-001", entry.name, "no completed write has the instant that it saves")


def is_completed_write(one: Instant) -> bool:
    """Whether an action brought files into the table."""
    return one.state is State.COMPLETED and one.action in DATA_ACTIONS


def rollbacks_that_wait(timeline: Timeline) -> Iterator[Violation]:
    """Two rollbacks that wait for one write, and one that waits for a write that has completed; a restore may do so.

    Clauses: RB-004, RB-005, TL-023.
    """
    waiting = {one.requested for one in timeline.instants if one.state is not State.COMPLETED}
    restoring = any(one.action is Action.RESTORE and one.requested in waiting for one in timeline.instants)
    targets: dict[InstantTime, list[str]] = defaultdict(list)
    for entry in timeline.entries:
        if entry.requested in waiting and isinstance(entry.content, RollbackPlan):
            targets[entry.content.target].append(entry.name)
    done = {one.requested: one.completed for one in timeline.instants if is_completed_write(one)}
    for target, names in targets.items():
        if len(names) > 1:
            yield error("RB-004", names[1], f"{names[0]} waits to roll back {target} too")
        if target in done and not restoring:
            # A write that completes later completes while somebody rolls it back.
            clause = "TL-023" if (done[target] or target) > names[0].partition(".")[0] else "RB-005"
            yield error(clause, names[0], f"the write {target} that it is to roll back has completed")


def undone_and_there(timeline: Timeline) -> Iterator[Violation]:
    """Writes that a completed rollback or restore undid and that stand there; one that waits may be tried again.

    Clauses: RB-008, RB-009, SR-006, TL-017.
    """
    there = {one.requested: one for one in timeline.instants if one.action in FULLY_UNDONE}
    undone = ((one, instant) for one in timeline.instants for instant in undone_by(one))
    for one, instant in undone:
        if found := there.get(instant):
            where = f"{found.requested}.{found.action}"
            if one.action is Action.RESTORE and found.state is State.COMPLETED:
                yield error("SR-006", where, f"the restore {one.requested} undid it")
            elif one.action is Action.ROLLBACK and found.state is not State.COMPLETED:
                yield warning("RB-009", where, f"the rollback {one.requested} undid it, and it waits")


def undone_by(one: Instant) -> tuple[InstantTime, ...]:
    """The instants that a completed rollback or restore undid."""
    return one.content.rolled_back if isinstance(one.content, RollbackMetadata) else ()
