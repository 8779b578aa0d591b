"""The graph at the grain of durable effects, and the labels by which a model's act and an engine's effect are one.

A label is an effect's name with what distinguishes it in its process: the state of a timeline file, the partition
of a data file or a marker, and whose action it belongs to. Names of files, times and ids are each side's own.

Symmetry: two writers whose rows have the same ordering value are distinguished by who moves first. The one that does is
the first of them; paths on which another moves first are the same ones with the names exchanged, and with the names the
two keys and partitions where the writers have one each, for the table holds both alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from hudi_model_tools.protocol import Move, Protocol, World
from hudi_model_tools.store import Store

from hudi_conformance.corpus.traces import Line, lines_of_move
from hudi_conformance.verification.interleavings.graph import Graph, graph_of
from hudi_conformance.verification.interleavings.scenarios import InterleavingScenario, Writer

Label = tuple[str, ...]
_INSTANTS = ("create_instant", "delete_instant")
_FILES = ("put_marker", "put_base_file", "put_log_file", "put_partition_metafile", "delete_data_file")


@dataclass(frozen=True, slots=True)
class FineMove:
    """A turn of a process: the labels of its acts, and the reason for which it is refused in this turn."""

    process: str
    labels: tuple[Label, ...]

    def __str__(self) -> str:
        return f"{self.process}: {', '.join('/'.join(label) for label in self.labels)}"


def fine_graph(scenario: InterleavingScenario, *, whole: bool) -> Graph[World, FineMove]:
    """All states and turns of a scenario.

    `whole`: each effect is a turn of its own; else those that nobody else can see or stop join the one before them.
    """
    store = Store()
    start = scenario.start(store)
    protocol = Protocol(store, whole=whole)
    return graph_of(start, partial(_moves, protocol, start, exchangeable(scenario)))


def exchangeable(scenario: InterleavingScenario) -> tuple[str, ...]:
    """The writers that are one another's images; none where their ordering values distinguish them."""
    writers = [one for one in scenario.actors if isinstance(one, Writer)]
    return tuple(one.name for one in writers) if len({one.ts for one in writers}) == 1 else ()


def _moves(protocol: Protocol, start: World, images: Sequence[str], world: World) -> Iterator[tuple[FineMove, World]]:
    waiting = [one.name for one, first in zip(world.processes, start.processes, strict=True) if one == first]
    behind = [name for name in images if name in waiting][1:]
    for move in protocol.moves(world):
        if move.process.name not in behind:
            yield FineMove(move.process.name, labels_of_move(world, move)), move.world


def labels_of_move(before: World, move: Move) -> tuple[Label, ...]:
    """The labels of a turn's acts, in order."""
    own = next(one.local.value.instant for one in move.world.processes if one.name == move.process.name)
    return tuple(label_of(line, own) for line in lines_of_move(before, move))


def label_of(line: Line | Mapping[str, str], own: str) -> Label:
    """The label of a line of a trace; `own` is the requested time of the process's action."""
    name = str(line["effect"])
    if name in _INSTANTS:
        mine = "own" if line["requested"] == own else str(line["requested"])
        return name, str(line["state"]), mine
    return (name, str(line["partition"])) if name in _FILES else (name,)
