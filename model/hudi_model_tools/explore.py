"""Exhaustive exploration: every order of the processes' acts, every crash, breadth first.

Breadth first means that the first state found to break a law is reached by as few acts as any.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hudi_model_tools.protocol import Move, World

Moves: TypeAlias = Callable[[World], tuple[Move, ...]]
"""What may happen next."""

Law: TypeAlias = Callable[[World], str]
"""What is wrong with a state; the empty text where nothing is."""

Progress: TypeAlias = Callable[[int, int, int], None]
"""Receives of states, transitions and depth, once for each step of the search."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a search saw, and where a law was broken: what is wrong, and a shortest way there."""

    states: int
    transitions: int
    depth: int
    broken: str = ""
    steps: tuple[Move, ...] = ()
    last: World | None = None


def explore(
    start: World, moves: Moves, laws: Iterable[Law], at_rest: Iterable[Law] = (), progress: Progress = lambda *_: None
) -> Exploration:
    """Every state that can be reached, held to the laws; those in which nothing can happen also to `at_rest`."""
    always, finally_ = tuple(laws), tuple(at_rest)
    before: dict[World, World] = {start: start}
    border, depth, transitions = [start], 0, 0
    while border:
        beyond = []
        for world in border:
            found = moves(world)
            broken = next(filter(None, (law(world) for law in (always if found else always + finally_))), "")
            if broken:
                return Exploration(len(before), transitions, depth, broken, way_to(world, before, moves), world)
            transitions += len(found)
            for move in found:
                if move.world not in before:
                    before[move.world] = world
                    beyond.append(move.world)
        progress(len(before), transitions, depth)
        border, depth = beyond, depth + 1
    return Exploration(len(before), transitions, depth - 1)


def way_to(world: World, before: dict[World, World], moves: Moves) -> tuple[Move, ...]:
    """The moves from the start to a state, as it was reached first."""
    steps: list[Move] = []
    while before[world] != world:
        steps.append(next(move for move in moves(before[world]) if move.world == world))
        world = before[world]
    return tuple(reversed(steps))


def project(world: World) -> tuple[object, ...]:
    """A state in plain texts and numbers, for other tools to compare: clock, lock, timeline, files, processes."""
    table = world.shared.table.value
    timeline = sorted((one.requested, one.action.value, one.state.name, one.completed or "") for one in table.timeline)
    files = sorted((one.partition, one.name) for many in (table.base_files, table.log_files) for one in many)
    processes = tuple(
        (one.name, one.program, one.step, len(one.local.value.todo), one.is_alive) for one in world.processes
    )
    return world.shared.clock, world.shared.holder or "", tuple(timeline), tuple(files), processes
