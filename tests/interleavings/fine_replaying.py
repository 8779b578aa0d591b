"""The paths of a graph of durable effects played by the engine, and what came of them."""

from collections import Counter
from itertools import islice
from pathlib import Path

from engine_replay import EngineReplay, Played
from hudi_conformance.verification.interleavings.fine import Label, fine_graph
from hudi_conformance.verification.interleavings.graph import Cover
from hudi_conformance.verification.interleavings.results import Result, counted
from hudi_conformance.verification.interleavings.scenarios import InterleavingScenario

ADAPTER = "engine-in-process"
UNCOUNTED = {
    "had besides": ("take_lock", "release_lock", "generate_time", "write_heartbeat", "delete_markers"),
    "done without": ("generate_time", "write_heartbeat"),
}
"""The effects by which the engine may differ from the model without being wrong, as `build/pages/schedules.md` says."""


def replay_paths(scenario: InterleavingScenario, folder: Path, *, whole: bool, paths: int | None = None) -> Result:
    """The paths with the most new edges, all where `paths` is None.

    A path that comes to an edge which the engine's own locks make impossible ends there, and the edge is barred.
    """
    graph = fine_graph(scenario, whole=whole)
    cover, replay = Cover(graph), EngineReplay(scenario, graph, folder)
    more, missing, seen, failures, rounds, count = Counter[str](), Counter[str](), set[int](), list[str](), 0, 0
    for count, path in enumerate(islice(cover, paths), start=1):
        played = replay.replay(path)
        if played.held:
            cover.bar(path, played.rounds)
        seen |= {edge.number for edge in path[: played.rounds if played.held else None]}
        rounds += len(path)
        wrong = difference(played)
        failures += [f"path {count}: {wrong}"] if wrong else []
        if not played.held:
            more += kinds(played.more)
            missing += kinds(played.missing)
    grain = "whole" if whole else "joined"
    beyond = 0 if paths else graph.count() - len(seen) - len(cover.barred)
    size = (len(graph.states), graph.count(), len(seen), count, rounds, tuple(failures), len(cover.barred), beyond)
    return Result(scenario.name, grain, ADAPTER, *size, counted(more), counted(missing))


def difference(played: Played) -> str:
    """How a path that was played to its end differs from the model's; the empty text where it does not."""
    if played.difference is not None:
        return str(played.difference)
    if played.held:
        return ""
    for kind, labels in (("had besides", played.more), ("done without", played.missing)):
        wrong = sorted(label for label in labels if label[0] not in UNCOUNTED[kind])
        if wrong:
            return f"{kind}: {wrong}"
    return ""


def kinds(labels: Counter[Label]) -> Counter[str]:
    """How often each kind of effect."""
    found = Counter[str]()
    for label, times in labels.items():
        found[label[0]] += times
    return found
