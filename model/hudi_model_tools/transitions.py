"""Legal histories: how an action may move between states, and what a sound timeline looks like."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.rejection import Reason, Rejection
from hudi_model.time import InstantTime
from hudi_model.timeline import COMPLETES_AS, completed_action, entries_by_action, identity, second_completions

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
    return (fault_of("TL-003", newest, detail),) if missing else ()


def action_faults(group: tuple[TimelineEntry, ...]) -> Iterator[Rejection]:
    """Entries of one instant that are of two actions, or completed too early, twice, or under the wrong name.

    Clauses: TL-005, TL-006, TL-011, TL-012.
    """
    kinds = sorted({completed_action(entry.action) for entry in group})
    actions_requested = {completed_action(entry.action) for entry in group if entry.state is not State.COMPLETED}
    done = {entry.action: entry for entry in group if entry.state is State.COMPLETED}
    if len(actions_requested) == 1 and len(done) == 1 and len(kinds) > 1:
        (kind,), ((action, entry),) = actions_requested, done.items()
        yield fault_of("TL-006", entry, f"what was requested to complete as {kind} completed as {action}")
    elif len(kinds) > 1:
        yield fault_of("TL-005", group[0], f"{' and '.join(kinds)} share one instant")
    for one in group:
        if one.state is State.COMPLETED and one.action in COMPLETES_AS:
            yield fault_of("TL-006", one, f"a {one.action} completes as {completed_action(one.action)}")
        if one.completed is not None and one.completed <= one.requested:
            yield fault_of("TL-011", one, f"completed at {one.completed}, requested at {one.requested}")
    yield from second_completions(group)


def shared_completions(entries: Iterable[TimelineEntry]) -> Iterator[Rejection]:
    """Entries whose completion time another action has had.

    Clauses: TL-012.
    """
    seen: dict[InstantTime, TimelineEntry] = {}
    for entry in sorted(entries, key=lambda one: (one.requested, one.action)):
        first = seen.setdefault(entry.completed, entry) if entry.completed else entry
        if identity(first.requested, first.action) != identity(entry.requested, entry.action):
            yield fault_of("TL-012", entry, f"{first.name} completed at the same time")


def fault_of(clause: str, entry: TimelineEntry, detail: str) -> Rejection:
    """What a file of the timeline shows against a clause."""
    return Rejection(Reason.INSTANT_MALFORMED, clause, entry.name, detail)
