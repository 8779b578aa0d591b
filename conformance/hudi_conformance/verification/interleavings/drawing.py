"""One interleaving, drawn: the turns of its processes in words, and the timeline that they leave as a picture."""

from collections.abc import Sequence
from itertools import pairwise

from hudi_model.queries import list_timeline
from hudi_model_tools.protocol import World

from hudi_conformance.drawing.timeline_drawing import timeline_svg
from hudi_conformance.runner.markdown import markdown_table
from hudi_conformance.verification.interleavings.fine import FineMove
from hudi_conformance.verification.interleavings.graph import Edge, Graph
from hudi_conformance.verification.interleavings.scenarios import InterleavingScenario


def picture(scenario: InterleavingScenario, graph: Graph[World, FineMove], path: Sequence[Edge[FineMove]]) -> str:
    """The timeline at the end of a path, each action from its request to its completion."""
    table = graph.states[path[-1].target].shared.table.value
    return timeline_svg(list_timeline(table), f"One interleaving of {scenario.name}")


def lanes(scenario: InterleavingScenario, path: Sequence[Edge[FineMove]]) -> list[str]:
    """A table of turns, a column for each process."""
    names = [one.name for one in scenario.actors]
    rows: list[list[object]] = []
    for number, edge in enumerate(path, start=1):
        text = "<br>".join(" ".join(label) for label in edge.move.labels)
        rows.append([number, *(text if name == edge.move.process else "" for name in names)])
    return list(markdown_table(["turn", *names], rows))


def most_changes(paths: Sequence[Sequence[Edge[FineMove]]]) -> Sequence[Edge[FineMove]]:
    """The path whose turns go from one process to another most often."""
    return max(paths, key=lambda path: sum(one.move.process != two.move.process for one, two in pairwise(path)))
