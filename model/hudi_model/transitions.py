"""Legal histories: how an action may move between states, and what a sound timeline looks like."""

from collections.abc import Iterable
from dataclasses import dataclass

from hudi_model.contents import RollbackPlan
from hudi_model.time import InstantTime
from hudi_model.timeline import (
    COMPLETES_AS,
    Action,
    State,
    Timeline,
    TimelineEntry,
    completed_action,
    entries_by_action,
)

LEGAL_MOVES: frozenset[tuple[State | None, State]] = frozenset(
    {
        (None, State.REQUESTED),
        (State.REQUESTED, State.INFLIGHT),
        (State.INFLIGHT, State.REQUESTED),
        (State.INFLIGHT, State.INFLIGHT),
        (State.INFLIGHT, State.COMPLETED),
    }
)
"""None is an action that is not on the timeline yet. A process that fails goes back, or simply tries again."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A clause that a timeline breaks, the file that shows it, and what is wrong."""

    clause: str
    where: str
    detail: str


def is_legal_move(action: Action, before: State | None, after: State) -> bool:
    """Whether an action may go from one state to another; a savepoint starts inflight.

    Clauses: TL-003, TL-010, TL-025.
    """
    if action is Action.SAVEPOINT:
        return (before, after) in ((None, State.INFLIGHT), *LEGAL_MOVES) and State.REQUESTED not in (before, after)
    return (before, after) in LEGAL_MOVES


def may_complete(timeline: Timeline, requested: InstantTime) -> bool:
    """Whether an action is still its process's to complete: it is inflight, and no pending rollback is to undo it.

    Who asks holds the table's lock until the action has completed.

    Clauses: TL-023.
    """
    own = [one for one in timeline.instants if one.requested == requested and one.action is not Action.SAVEPOINT]
    rollbacks = (one for one in timeline.instants if one.action is Action.ROLLBACK and one.state is not State.COMPLETED)
    pending = {one.requested for one in rollbacks}
    plans = (one.content for one in timeline.entries if one.requested in pending)
    targets = {plan.target for plan in plans if isinstance(plan, RollbackPlan)}
    return [one.state for one in own] == [State.INFLIGHT] and requested not in targets


def is_legal_history(action: Action, states: Iterable[State]) -> bool:
    """Whether an action may go through these states in this order, from nothing.

    Clauses: TL-003.
    """
    before: State | None = None
    for state in states:
        if not is_legal_move(action, before, state):
            return False
        before = state
    return True


def timeline_faults(entries: Iterable[TimelineEntry], archived: Iterable[InstantTime] = ()) -> tuple[Fault, ...]:
    """What a timeline shows that no legal history leaves behind; archival may have begun to remove what is archived.

    Clauses: TL-003, TL-006, TL-011, TL-012.
    """
    found = tuple(entries)
    groups = entries_by_action(found)
    leaving = {*archived, *(one.requested for one in groups[0][:1])} if groups else set()
    faults = [fault for group in groups for fault in action_faults(group, leaving=group[0].requested in leaving)]
    return (*faults, *shared_completions(found))


def action_faults(group: tuple[TimelineEntry, ...], *, leaving: bool) -> tuple[Fault, ...]:
    """What is wrong with the entries of one action; archival may have begun to remove them.

    Clauses: TL-003, TL-005, TL-006, TL-011, TL-012.
    """
    skipped = () if leaving else skipped_states(group)
    return (*skipped, *mixed_actions(group), *early_completions(group), *second_completions(group))


def skipped_states(group: tuple[TimelineEntry, ...]) -> tuple[Fault, ...]:
    """A state below the highest one that no entry records.

    Clauses: TL-003, TL-010.
    """
    newest = max(group, key=lambda entry: entry.state)
    expected = {state for state in State if state <= newest.state}
    if newest.action is Action.SAVEPOINT:
        expected.discard(State.REQUESTED)
    missing = sorted(expected - {entry.state for entry in group})
    detail = f"the action is {newest.state.name} and was never {', '.join(state.name for state in missing)}"
    return (Fault("TL-003", newest.name, detail),) if missing else ()


def mixed_actions(group: tuple[TimelineEntry, ...]) -> tuple[Fault, ...]:
    """Entries of one instant that do not belong to one action, or a completed one under the wrong name.

    Clauses: TL-005, TL-006.
    """
    kinds = sorted({completed_action(entry.action) for entry in group})
    mixed = [Fault("TL-005", group[0].name, f"{' and '.join(kinds)} share one instant")] if len(kinds) > 1 else []
    wrong = (one for one in group if one.state is State.COMPLETED and one.action in COMPLETES_AS)
    named = [Fault("TL-006", one.name, f"a {one.action} completes as {completed_action(one.action)}") for one in wrong]
    return (*mixed, *named)


def early_completions(group: tuple[TimelineEntry, ...]) -> tuple[Fault, ...]:
    """Entries that completed no later than they were requested.

    Clauses: TL-011.
    """
    return tuple(
        Fault("TL-011", entry.name, f"completed at {entry.completed}, requested at {entry.requested}")
        for entry in group
        if entry.completed is not None and entry.completed <= entry.requested
    )


def second_completions(group: tuple[TimelineEntry, ...]) -> tuple[Fault, ...]:
    """Entries that complete an action which another entry has completed already.

    Clauses: TL-012.
    """
    completed = [entry for entry in group if entry.state is State.COMPLETED]
    return tuple(Fault("TL-012", entry.name, f"{completed[0].name} completed it too") for entry in completed[1:])


def shared_completions(entries: tuple[TimelineEntry, ...]) -> tuple[Fault, ...]:
    """Entries whose completion time another action has had.

    Clauses: TL-012.
    """
    seen: dict[InstantTime, TimelineEntry] = {}
    faults = []
    for entry in sorted(entries, key=lambda one: (one.requested, one.action)):
        if entry.completed is None:
            continue
        first = seen.setdefault(entry.completed, entry)
        if (first.requested, first.action) != (entry.requested, entry.action) and first.requested != entry.requested:
            faults.append(Fault("TL-012", entry.name, f"{first.name} completed at the same time"))
    return tuple(faults)
