"""The timeline: actions, their states, and the instants that a folder of timeline files records."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from hudi_model.actions import Action, CommitMetadata, Content, Instant, RollbackMetadata, State, TimelineEntry
from hudi_model.files import Damaged
from hudi_model.rejection import Reason, Rejection
from hudi_model.time import InstantTime, at_or_before

COMPLETES_AS = {
    Action.COMPACTION: Action.COMMIT,
    Action.LOG_COMPACTION: Action.DELTA_COMMIT,
    Action.CLUSTERING: Action.REPLACE_COMMIT,
}
"""The actions whose completed file bears another name than the files before it."""

DATA_ACTIONS = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})
"""The completed actions that bring files into the table."""

WRITE_ACTIONS = DATA_ACTIONS | COMPLETES_AS.keys()


@dataclass(frozen=True, slots=True)
class Timeline:
    """All actions by requested time, and the entries they were recorded in."""

    instants: tuple[Instant, ...]
    entries: tuple[TimelineEntry, ...]
    start: InstantTime | None
    """The first write that no savepoint keeps; what is older may have left the timeline."""
    later: frozenset[InstantTime] = frozenset()
    """Actions that had not been requested at the moment that the timeline is of."""
    archived: frozenset[InstantTime] = frozenset()
    """The completed writes of the history."""


def completed_action(action: Action) -> Action:
    """The action under which an action completes.

    Clauses: TL-006.
    """
    return COMPLETES_AS.get(action, action)


def timeline_of(entries: Iterable[TimelineEntry]) -> Timeline:
    """The timeline that entries record.

    Raises: INSTANT_MALFORMED where one instant completed twice.

    Clauses: TL-004, TL-005, TL-012.
    """
    found = tuple(entries)
    for group in entries_by_action(found):
        refuse_second_completion(group)
    instants = collapse(found)
    return Timeline(instants, found, start_of(instants))


def entries_of_layout(entries: Iterable[TimelineEntry], layout: int) -> tuple[TimelineEntry, ...]:
    """The entries that lie in the folder of a layout: an upgrade that stopped leaves completed ones in both.

    Clauses: VR-006.
    """
    return tuple(one for one in entries if one.state < State.COMPLETED or (one.completed is None) == (layout == 1))


def entries_by_action(entries: Iterable[TimelineEntry]) -> tuple[tuple[TimelineEntry, ...], ...]:
    """The entries of each action together, by requested time.

    Clauses: TL-005, TL-010.
    """
    ordered = sorted(entries, key=lambda one: identity(one.requested, one.action))
    return tuple(tuple(group) for _, group in groupby(ordered, lambda one: identity(one.requested, one.action)))


def identity(requested: InstantTime, action: Action) -> tuple[InstantTime, str]:
    """What names an action: its time, and its kind where a write may have that time too. Clauses: TL-005, TL-010."""
    return requested, action if action in (Action.CLEAN, Action.SAVEPOINT) else ""


def refuse_second_completion(group: tuple[TimelineEntry, ...]) -> None:
    """Nothing, unless one action has two completed entries.

    Raises: INSTANT_MALFORMED.

    Clauses: TL-012.
    """
    for fault in second_completions(group):
        raise fault


def second_completions(group: tuple[TimelineEntry, ...]) -> tuple[Rejection, ...]:
    """Entries that complete an action which another entry has completed already.

    Clauses: TL-012.
    """
    completed = [entry for entry in group if entry.state is State.COMPLETED]
    detail = f"{completed[0].name} completed it too" if completed else ""
    return tuple(Rejection(Reason.INSTANT_MALFORMED, "TL-012", one.name, detail) for one in completed[1:])


def collapse(entries: Iterable[TimelineEntry]) -> tuple[Instant, ...]:
    """Each action once, in the highest state that an entry records.

    Clauses: TL-004.
    """
    highest = (max(group, key=lambda entry: entry.state) for group in entries_by_action(entries))
    return tuple(Instant(one.requested, one.action, one.state, one.completed, one.content) for one in highest)


def start_of(instants: tuple[Instant, ...]) -> InstantTime | None:
    """The first write on the timeline; writes kept by a savepoint may stand before a gap: where all are, the last.

    Clauses: TL-018.
    """
    saved = {instant.requested for instant in instants if instant.action is Action.SAVEPOINT}
    writes = {one.requested for one in instants if one.action in WRITE_ACTIONS}
    return min(writes - saved, default=max(writes & saved, default=None))


def completed_actions(timeline: Timeline, *actions: Action) -> tuple[Instant, ...]:
    """The completed actions of some kinds, by requested time."""
    return tuple(one for one in timeline.instants if one.state is State.COMPLETED and one.action in actions)


def completion(instant: Instant) -> InstantTime:
    """When an instant completed; before version 8 that is not recorded and the requested time stands for it.

    Clauses: TL-013.
    """
    return instant.completed or instant.requested


def completed_data(timeline: Timeline) -> tuple[Instant, ...]:
    """The completed data actions in the order in which they took effect.

    Clauses: TL-013.
    """
    return tuple(sorted(completed_actions(timeline, *DATA_ACTIONS), key=lambda one: (completion(one), one.requested)))


def completion_time(timeline: Timeline, requested: InstantTime) -> InstantTime:
    """When the write requested then completed; its own instant where the timeline does not tell."""
    own = (one for one in timeline.instants if one.requested == requested and one.action in DATA_ACTIONS)
    return next((completion(one) for one in own if one.state is State.COMPLETED), requested)


def is_committed(timeline: Timeline, requested: InstantTime) -> bool:
    """Whether what a write requested then left in storage counts.

    It does if the write completed, or if it is older than the timeline and no rollback on it undid the write.

    Clauses: TL-017, TL-018, RD-002.
    """
    states = {one.state for one in timeline.instants if one.requested == requested and one.action in WRITE_ACTIONS}
    if states:
        return State.COMPLETED in states
    is_older = timeline.start is not None and requested < timeline.start and requested not in timeline.later
    return is_older and requested not in rolled_back(timeline)


def rolled_back(timeline: Timeline) -> frozenset[InstantTime]:
    """The instants that completed rollbacks and restores undid; a write that was tried again since may be archived.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: TL-017.
    """
    done = ((one, valid_content(one)) for one in completed_actions(timeline, Action.ROLLBACK, Action.RESTORE))
    undone = ((by.action, one) for by, did in done if isinstance(did, RollbackMetadata) for one in did.rolled_back)
    return frozenset(one for action, one in undone if action is Action.RESTORE or one not in timeline.archived)


def valid_content(instant: Instant) -> Content:
    """The content of an instant's file.

    Raises: what the damage says, TIMELINE_FILE_CORRUPT most often.
    """
    if isinstance(instant.content, Damaged):
        raise instant.content.refusal()
    return instant.content


def commit_metadata(instant: Instant) -> CommitMetadata:
    """What a completed data action did.

    Raises: TIMELINE_FILE_CORRUPT where the content does not parse or is empty.

    Clauses: TL-015.
    """
    content = valid_content(instant)
    if not isinstance(content, CommitMetadata):
        where = f"{instant.requested}.{instant.action}"
        detail = f"the completed action is {'empty' if content is None else 'no commit metadata'}"
        raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "TL-015", where, detail)
    return content


def timeline_up_to(timeline: Timeline, read_time: InstantTime) -> Timeline:
    """The timeline as it stood at a moment: later requests are gone, later completions have not happened.

    Clauses: RD-010, TL-018.
    """
    done = (one for one in timeline.entries if at_or_before(one.completed or one.requested, read_time))
    return with_entries(replace(timeline, start=timeline.start and min(timeline.start, read_time)), done)


def with_entries(timeline: Timeline, entries: Iterable[TimelineEntry]) -> Timeline:
    """A timeline as if only these of its entries were there."""
    kept = tuple(entries)
    gone = {one.requested for one in timeline.entries} - {one.requested for one in kept}
    return replace(timeline, instants=collapse(kept), entries=kept, later=timeline.later | gone)
