"""Faults of a storage: which ones the format's assumptions exclude, shown by what they break, and which it stands."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from hudi_model.actions import State
from hudi_model.effects import CreateInstant
from hudi_model.tables import Table
from hudi_model_tools.explore import Moves, explore
from hudi_model_tools.programs import Act
from hudi_model_tools.protocol import (
    Move,
    Process,
    Protocol,
    Shared,
    World,
    crash,
    make_ready,
    may_crash,
    perform_act,
    placed,
)
from hudi_model_tools.store import Store

from hudi_conformance.verification.properties import laws
from hudi_conformance.verification.properties.concurrency import steps_of
from hudi_conformance.verification.properties.histories import EVENT_TIME, Shape
from hudi_conformance.verification.properties.registry import Counterexample, model_property
from hudi_conformance.verification.properties.scenarios import SCENARIOS, Scenario, writer

ONE_FAULT = "released readings; bounds of the scenario; one fault, then the storage is sound"
Fault: TypeAlias = Callable[[World, int, Store], Iterator[Move]]
"""What may go wrong in a turn of the process at a place of a world."""


def torn_puts(world: World, place: int, store: Store) -> Iterator[Move]:
    """A process dies while it puts a completed file: the name is there, and nothing under it."""
    process = world.processes[place]
    done = act_of(process, world.shared, world.shared.table.value, store)
    if done and isinstance(done[0], CreateInstant) and done[0].entry.state is State.COMPLETED:
        torn = CreateInstant(replace(done[0].entry, content=None))
        table = replace(world.shared.table.value, timeline=(*world.shared.table.value.timeline, torn.entry))
        shared = replace(world.shared, table=store.keep(table))
        crashed = crash(placed(world, place, done[1], shared), place, store)
        yield Move(process, (torn,), crashed, is_crash=True)


def stale_listings(world: World, place: int, store: Store) -> Iterator[Move]:
    """A process lists the timeline, and misses the file that was put last."""
    process, table = world.processes[place], world.shared.table.value
    if table.timeline and process.program != "reader" and not process.local.value.todo:
        done = act_of(process, world.shared, replace(table, timeline=table.timeline[:-1]), store)
        if done:
            yield Move(process, (done[0],), faulted(placed(world, place, *done[1:])))


def late_errors(world: World, place: int, store: Store) -> Iterator[Move]:
    """An effect takes place, and its process is informed that it failed: it lets go and takes back what it did."""
    process = world.processes[place]
    done = act_of(process, world.shared, world.shared.table.value, store)
    if done and process.program == "writer" and may_crash(done[1]) and is_stored(done[0]):
        local = replace(done[1].local.value, todo=())
        failed = replace(done[1], program="refused" if local.holds else "abort", step=0, local=store.keep(local))
        yield Move(process, (done[0],), faulted(placed(world, place, failed, done[2])))


def act_of(process: Process, shared: Shared, seen: Table, store: Store) -> tuple[Act, Process, Shared] | None:
    """What a process does next, if it sees this table."""
    ready = make_ready(process, seen)
    return ready and perform_act(*ready, shared, store)


def is_stored(act: Act) -> bool:
    """Whether an act is one of the storage's."""
    return isinstance(act, CreateInstant)


def faulted(world: World) -> World:
    """The world in which the one fault has happened; it counts as the one death would."""
    return replace(world, crashes=world.crashes + 1)


def with_faults(protocol: Protocol, fault: Fault, store: Store) -> Moves:
    """The moves of a world, and those with a fault as long as there was none."""

    def moves(world: World) -> tuple[Move, ...]:
        places = range(len(world.processes)) if world.crashes == 0 else ()
        faults = (move for place in places for move in fault(world, place, store))
        return *protocol.moves(world), *faults

    return moves


def explored_with(
    fault: Fault, scenario: Scenario, always: tuple[laws.LawOf, ...], at_rest: tuple[laws.LawOf, ...] = ()
) -> None:
    """Nothing, unless the processes of a scenario break a law once the storage has one fault.

    Raises:
        Counterexample: with the shortest way there.

    """
    store = Store()
    start = scenario.start(store)
    # Each act is a turn of its own: a fault may fall between any two.
    moves = with_faults(Protocol(store, 0, whole=True), fault, store)
    found = explore(start, moves, [law(start) for law in always], [law(start) for law in at_rest])
    if found.broken:
        table = found.steps[-1].world.shared.table.value if found.steps else None
        raise Counterexample(f"{scenario.name}: {found.broken}", table, steps_of(start, found.steps))


RIVALS = Scenario(
    "rivals",
    "Two optimistic writers of one row; the newer version comes with the one or the other.",
    Shape(9, "COPY_ON_WRITE", EVENT_TIME),
    (writer("one", 3), writer("two", 2)),
    writes=1,
)


@model_property(
    "PO-340",
    "A torn put of a completed file leaves a table that can be read",
    "SA-001",
    refuted=True,
    holds_instead="PO-262",
    assumptions=ONE_FAULT,
    exhaustive=True,
)
def _torn_put() -> None:
    explored_with(torn_puts, RIVALS, (laws.answers,))


@model_property(
    "PO-341",
    "A listing of the timeline that misses the newest file loses no record",
    "SA-002",
    refuted=True,
    holds_instead="PO-262",
    assumptions=ONE_FAULT,
    exhaustive=True,
)
def _stale_listing() -> None:
    explored_with(stale_listings, RIVALS, (laws.answers,))


@model_property(
    "PO-342",
    "A put that takes place and is reported as failed loses nothing: what completed stays, what did not is taken back",
    "SA-003 SA-005 OW-009",
    broken_by="abort-without-looking",
    assumptions=ONE_FAULT,
    exhaustive=True,
)
def _late_error() -> None:
    always = (laws.answers, laws.nothing_uncommitted, laws.readers)
    explored_with(late_errors, SCENARIOS["writers"], always, (laws.nothing_left,))
