"""What must hold of times, of the timeline's history and of who may complete an action."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations, product

from hudi_model import conflicts, effects, history
from hudi_model.actions import Action, CommitMetadata, RollbackMetadata, RollbackPlan, State
from hudi_model.effects import perform
from hudi_model.rejection import Rejection
from hudi_model.services import archival
from hudi_model.tables import ArchivedInstant, History, Table
from hudi_model.time import tick
from hudi_model.timeline import timeline_of
from hudi_model_tools import locks
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check
from hudi_conformance.verification.properties.scenario_tables import (
    SETTINGS,
    TableBuilder,
    stages,
    steps_of,
    table_of_events,
)


@model_property(
    "PO-100",
    "Times of processes that take one lock in turn are unique and increase, while clocks differ by the bound at most",
    "TM-003 TM-004 TM-005 TL-012",
    broken_by="wait-no-longer-than-the-skew times-without-a-lock",
    assumptions="the lock is held for longer than the greatest difference of two clocks",
    exhaustive=True,
)
def _times_increase() -> None:
    bound = 2
    moments = [*product(range(3), range(bound + 1))]
    for arrivals in product(moments, repeat=3):
        instants = locks.generate_serially(arrivals, bound)
        if list(instants) != sorted(set(instants)):
            raise Counterexample(f"processes that arrive at {arrivals} get {instants}")
    last = None
    for now in (5, 5, 3, 9, 8):
        given_time = effects.generate_shared(last, tick(now))
        if last is not None and given_time <= last:
            raise Counterexample(f"the shared generator gives {given_time} after {last}")
        last = given_time


_ROWS = st.lists(st.integers(0, 40), min_size=1, max_size=24, unique=True)


def _row(number: int) -> ArchivedInstant:
    return ArchivedInstant(tick(number), tick(100 - number), Action.COMMIT, None)


@model_property(
    "PO-104",
    "Merging levels never changes the history",
    "HS-006 HS-009",
    broken_by="merging-loses-a-row manifest-names-the-new-file-only",
)
@property_check
@given(numbers=_ROWS, size=st.integers(1, 3), batch=st.integers(2, 4))
def _merging_changes_nothing(numbers: list[int], size: int, batch: int) -> None:
    chunks = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    table = table_of_events("w")
    for chunk in chunks:
        table = perform(table, archival.publish(table, tuple(map(_row, chunk)), 0))
        merging = archival.merge_levels(table, {"hoodie.timeline.compaction.batch.size": str(batch)})
        for number, left in stages(table, merging):
            if history.history_instants(left.history) != history.history_instants(table.history):
                raise Counterexample("merging changed the history", left, steps_of(merging, number))
        table = perform(table, merging)
    if [one.requested for one in history.history_instants(table.history)] != sorted(tick(one) for one in numbers):
        raise Counterexample("an action is missing from the history", table)


@model_property(
    "PO-106",
    "The name of a history file bounds the requested times in it",
    "HS-005 HS-006",
    broken_by="names-bound-the-first-and-last-row",
)
@property_check
@given(numbers=_ROWS, level=st.integers(0, 3))
def _names_bound_requested_times(numbers: list[int], level: int) -> None:
    file = history.history_file(map(_row, numbers), level)
    least, greatest, _ = file.name.split("_")
    if not all(least <= one.requested <= greatest for one in file.instants):
        raise Counterexample(f"{file.name} holds {', '.join(one.requested for one in file.instants)}")


@model_property(
    "PO-107",
    "The second time in the name of a history file is the greatest completion time in it, as the text says",
    "HS-005",
    refuted=True,
    holds_instead="PO-106",
    exhaustive=True,
)
def _names_bound_completion_times() -> None:
    rows = [
        ArchivedInstant(tick(1), tick(9), Action.COMMIT, None),
        ArchivedInstant(tick(2), tick(3), Action.COMMIT, None),
    ]
    file = history.history_file(rows, 0)
    if max(str(one.completed) for one in file.instants) != file.name.split("_")[1]:
        raise Counterexample(f"{file.name} holds an action that completed at {tick(9)}")


@model_property(
    "PO-108",
    "A reader sees the history of before or after an archival whole, also while the version file is away",
    "HS-002 HS-003 HS-004 HS-011 AR-010 SA-001",
    broken_by="version-swapped-first old-versions-go-at-once manifest-names-the-new-file-only",
    assumptions="the reader takes no longer than one archival",
    exhaustive=True,
)
def _readers_see_whole_versions() -> None:
    table = table_of_events("wwwwwwwwww")
    for _ in range(4):
        effects = archival.archive(table, SETTINGS)
        seen = [left for _, left in stages(table, effects)]
        versions = [history.history_instants(table.history), history.history_instants(seen[-1].history)]
        if any(one not in versions[1] for one in versions[0]):
            raise Counterexample(
                "what was in the history is no longer there", seen[-1], steps_of(effects, len(effects))
            )
        for number, left in enumerate(seen):
            for past in (left.history, replace(left.history, current=None)):
                _reads(past, [one.history for one in seen[number:]], versions, steps_of(effects, number))
        table = _with_writes(seen[-1])


def _with_writes(table: Table) -> Table:
    story = TableBuilder(9, list(table.timeline), list(table.base_files), clock=1000 * (table.history.current or 0))
    for event in "wwww":
        story.add_event(event)
    return replace(table, timeline=tuple(story.entries), base_files=tuple(story.files))


def _reads(seen: History, later: Iterable[History], versions: Sequence[object], steps: tuple[str, ...]) -> None:
    """A reader that found a manifest in one state opens its files in a later one."""
    try:
        manifest = history.current_manifest(seen)
        for one in later:
            manifests = (manifest,) if manifest.version else ()
            alone = replace(one, manifests=manifests, current=manifest.version or None)
            if history.history_instants(alone) not in versions:
                raise Counterexample("a reader sees a history that never was", None, steps)
    except Rejection as refused:
        raise Counterexample(str(refused), None, steps) from None


@model_property(
    "PO-112",
    "What is being rolled back never completes, and what has completed is never rolled back",
    "TL-023 TL-017",
    broken_by="completes-while-rolled-back",
    assumptions="who completes, and who requests a rollback, looks at the timeline under the lock",
    exhaustive=True,
)
def _rolled_back_never_completes() -> None:
    """One writer that wants to complete, one rollback of three steps, in every order."""
    writer, rollback = ("complete",), ("request", "remove", "finish")
    for order in set(permutations((*writer, *rollback))):
        if [one for one in order if one in rollback] == list(rollback):
            _played(order)


def _played(order: tuple[str, ...]) -> None:
    table = table_of_events("wp")
    target = max(one.requested for one in table.timeline)
    story = TableBuilder(9, list(table.timeline), list(table.base_files), clock=50)
    started = tick(40)
    for step in order:
        requested = any(one.requested == started for one in story.entries)
        completed = any(one.requested == target and one.state is State.COMPLETED for one in story.entries)
        if step == "complete" and conflicts.may_complete(timeline_of(story.entries), target):
            story.enter(target, Action.COMMIT, State.COMPLETED, CommitMetadata())
        elif step == "request" and not completed:
            story.enter(started, Action.ROLLBACK, State.REQUESTED, RollbackPlan(target, "commit"))
        elif step == "remove" and requested:
            story.entries = [one for one in story.entries if one.requested != target or one.state is State.COMPLETED]
        elif step == "finish" and requested:
            story.enter(started, Action.ROLLBACK, State.COMPLETED, RollbackMetadata((target,)))
    both = {one.requested for one in story.entries if one.state is State.COMPLETED} >= {target, started}
    if both:
        raise Counterexample("the write has completed and was rolled back", story.table(), order)
