"""The coarse graph: begin, stage, commit, abort of a write; schedule, execute of a service.

An act of it is a run of acts of the model's protocol by one process while the others stand still. Nothing is stated
here but where a run ends: where the process lets go of the lock, or is about to take it, or has no more to do.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from hudi_model_tools.programs import TAKE, Unstored
from hudi_model_tools.protocol import Process, Protocol, World, make_ready, placed
from hudi_model_tools.store import Store

from hudi_conformance.verification.interleavings.graph import Graph, graph_of
from hudi_conformance.verification.interleavings.scenarios import InterleavingScenario

BEGIN: Final = "begin"
STAGE: Final = "stage"
COMMIT: Final = "commit"
ABORT: Final = "abort"
SCHEDULE: Final = "schedule"
EXECUTE: Final = "execute"


@dataclass(frozen=True, slots=True)
class CoarseMove:
    """An act of a process, and the reason for which the model refuses it; empty where it does not."""

    process: str
    act: str
    refused: str = ""

    def __str__(self) -> str:
        text = f"{self.process} {self.act}"
        return f"{text}, refused: {self.refused}" if self.refused else text


Moves = Iterator[tuple[CoarseMove, World]]


def coarse_graph(scenario: InterleavingScenario, *, staged_at_once: bool = False) -> Graph[World, CoarseMove]:
    """All states and acts of a scenario.

    `staged_at_once`: without the orders in which something completes between the begin of a write and its stage. An
    implementation whose writes build on what they find at their stage answers these otherwise, and may.
    """
    store = Store()
    moves = partial(coarse_moves, Protocol(store))
    return graph_of(scenario.start(store), partial(_staged_at_once, moves) if staged_at_once else moves)


def _staged_at_once(moves: Callable[[World], Moves], world: World) -> Moves:
    unstaged = {one.name for one in world.processes if one.step and _act_of(one) == STAGE}
    for move, target in moves(world):
        if move.act not in (COMMIT, EXECUTE) or not unstaged - {move.process}:
            yield move, target


def coarse_moves(protocol: Protocol, world: World) -> Moves:
    """What may happen next."""
    for place, process in enumerate(world.processes):
        if make_ready(process, world.shared.table.value) is None:
            continue
        yield _run(protocol, world, place, _act_of(process))
        if process.program == "writer" and process.step > 0:
            yield _given_up(protocol, world, place)


def _act_of(process: Process) -> str:
    """The name of the run that a process is about to make, by how far it has come."""
    if process.program != "writer":
        return EXECUTE if process.step > 0 else SCHEDULE
    if not process.step:
        return BEGIN
    return COMMIT if process.local.value.write.metadata else STAGE


def _run(protocol: Protocol, world: World, place: int, act: str) -> tuple[CoarseMove, World]:
    """One process's acts up to the end of the run."""
    name, rejected = world.processes[place].name, world.processes[place].local.value.refused
    after = _moved(protocol, world, name)
    while not _ends(after.processes[place], after, act):
        after = _moved(protocol, after, name)
    refused = after.processes[place].local.value.refused
    return CoarseMove(name, act, refused.value if refused and refused != rejected else ""), after


def _moved(protocol: Protocol, world: World, name: str) -> World:
    return next(move.world for move in protocol.moves(world) if move.process.name == name)


def _ends(process: Process, world: World, act: str) -> bool:
    """Whether a run is over."""
    ready = make_ready(process, world.shared.table.value)
    if ready is None:
        return True
    if process.local.value.holds or act in (COMMIT, EXECUTE, ABORT):
        return False
    takes = isinstance(ready[1].todo[0], Unstored) and ready[1].todo[0].name == TAKE
    return takes if act == STAGE else True


def _given_up(protocol: Protocol, world: World, place: int) -> tuple[CoarseMove, World]:
    """A writer that changes its mind: the model's own program of that name."""
    process = replace(world.processes[place], program=ABORT, step=0)
    return _run(protocol, placed(world, place, process, world.shared), place, ABORT)
