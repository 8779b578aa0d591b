"""Legal histories: how an action may move between states, and what a sound timeline looks like."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.contents import RollbackPlan
from hudi_model.rejection import Rejection
from hudi_model.time import InstantTime
from hudi_model.timeline import (
    COMPLETES_AS,
    Timeline,
    completed_action,
    entries_by_action,
    second_completions,
    timeline_fault,
)

Moves: TypeAlias = Mapping[State | None, tuple[State, ...]]

MOVES_OF_SAVEPOINTS: Moves = {None: (State.INFLIGHT,), State.INFLIGHT: (State.INFLIGHT, State.COMPLETED)}
LEGAL_MOVES: Moves = {
    None: (State.REQUESTED,),
    State.REQUESTED: (State.INFLIGHT,),
    State.INFLIGHT: (State.REQUESTED, State.INFLIGHT, State.COMPLETED),
}
"""None is an action that is not on the timeline yet. A process that fails goes back, or simply tries again."""


def is_legal_move(action: Action, before: State | None, after: State) -> bool:
    """Whether an action may go from one state to another; a savepoint starts inflight.

    Clauses: TL-003, TL-010, TL-025.
    """
    moves = MOVES_OF_SAVEPOINTS if action is Action.SAVEPOINT else LEGAL_MOVES
    return after in moves.get(before, ())


def may_complete(timeline: Timeline, requested: InstantTime) -> bool:
    """Whether an action is still its process's to complete: it is inflight, and no pending rollback is to undo it.

    Who asks holds the table's lock until the action has completed.

    Clauses: TL-023.
    """
    own = [one for one in timeline.instants if one.requested == requested and one.action is not Action.SAVEPOINT]
    done = {one.requested for one in timeline.entries if one.state is State.COMPLETED}
    plans = (one.content for one in timeline.entries if one.requested not in done)
    targets = {plan.target for plan in plans if isinstance(plan, RollbackPlan)}
    return [one.state for one in own] == [State.INFLIGHT] and requested not in targets


def is_legal_history(action: Action, states: Iterable[State]) -> bool:
    """Whether an action may go through these states in this order, from nothing.

    Clauses: TL-003.
    """
    way = (None, *states)
    return all(is_legal_move(action, before, after) for before, after in pairwise(way) if after is not None)


def timeline_faults(entries: Iterable[TimelineEntry], archived: Iterable[InstantTime] = ()) -> tuple[Rejection, ...]:
    """What a timeline shows that no legal history leaves behind; archival may have begun to remove what is archived.

    Clauses: TL-003, TL-006, TL-011, TL-012.
    """
    found = tuple(entries)
    groups = entries_by_action(found)
    leaving = {*archived, *(one.requested for one in groups[0][:1])} if groups else set()
    states = (fault for group in groups if group[0].requested not in leaving for fault in skipped_states(group))
    return (*states, *(fault for group in groups for fault in action_faults(group)), *shared_completions(found))


def skipped_states(group: tuple[TimelineEntry, ...]) -> tuple[Rejection, ...]:
    """A state below the highest one that no entry records; a savepoint starts inflight.

    Clauses: TL-003, TL-010.
    """
    newest = max(group, key=lambda entry: entry.state)
    lowest = State.INFLIGHT if newest.action is Action.SAVEPOINT else State.REQUESTED
    missing = sorted({state for state in State if lowest <= state < newest.state} - {entry.state for entry in group})
    detail = f"the action is {newest.state.name} and was never {', '.join(state.name for state in missing)}"
    return (timeline_fault("TL-003", newest, detail),) if missing else ()


def action_faults(group: tuple[TimelineEntry, ...]) -> Iterator[Rejection]:
    """Entries of one instant that are of two actions, or completed too early, twice, or under the wrong name.

    Clauses: TL-005, TL-006, TL-011, TL-012.
    """
    kinds = sorted({completed_action(entry.action) for entry in group})
    if len(kinds) > 1:
        yield timeline_fault("TL-005", group[0], f"{' and '.join(kinds)} share one instant")
    for one in group:
        if one.state is State.COMPLETED and one.action in COMPLETES_AS:
            yield timeline_fault("TL-006", one, f"a {one.action} completes as {completed_action(one.action)}")
        if one.completed is not None and one.completed <= one.requested:
            yield timeline_fault("TL-011", one, f"completed at {one.completed}, requested at {one.requested}")
    yield from second_completions(group)


def shared_completions(entries: Iterable[TimelineEntry]) -> Iterator[Rejection]:
    """Entries whose completion time another action has had.

    Clauses: TL-012.
    """
    seen: dict[InstantTime, TimelineEntry] = {}
    for entry in sorted(entries, key=lambda one: (one.requested, one.action)):
        first = seen.setdefault(entry.completed, entry) if entry.completed else entry
        if first.requested != entry.requested:
            yield timeline_fault("TL-012", entry, f"{first.name} completed at the same time")
