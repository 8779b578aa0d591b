"""The paths of coarse graphs put to an adapter, in tables of their own that come and go."""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hudi_conformance.bridge.storing import store
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import StepExecutor
from hudi_conformance.verification.interleavings.coarse import coarse_graph
from hudi_conformance.verification.interleavings.executing import LIMIT_S, Interleavings
from hudi_conformance.verification.interleavings.graph import cover
from hudi_conformance.verification.interleavings.results import Result
from hudi_conformance.verification.interleavings.scenarios import InterleavingScenario

APACHE = "apache-hudi"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is played: so many paths of each graph, all where it is None; `every`: reads after every step.

    Else reads are compared after edges that no path has gone over before.
    """

    paths: int | None = None
    every: bool = False


def run_all(scenarios: Iterable[InterleavingScenario], adapter: str, bounds: Bounds) -> Iterator[Result]:
    """Every schedule with one adapter, in one process of it."""
    with tempfile.TemporaryDirectory(prefix="hudi-interleavings-") as folder:
        command = find_adapter(adapter, suite_root()).command
        with Session(command, Path(folder) / "log") as session:
            for scenario in scenarios:
                yield run_scenario(scenario, adapter, session, Path(folder), bounds)


def run_scenario(
    scenario: InterleavingScenario, adapter: str, session: Session, folder: Path, bounds: Bounds
) -> Result:
    """One schedule: its graph, the paths that cover it, every path from the same bytes on."""
    graph = coarse_graph(scenario, staged_at_once=adapter.startswith(APACHE))
    first = folder / f"{scenario.name}-first"
    runs = Interleavings(scenario, graph, first, sets_clock=not adapter.startswith(APACHE))
    store(graph.states[0].shared.table.value, first)
    seen: set[int] = set()
    failures, paths, rounds = [], 0, 0
    for path in islice(cover(graph), bounds.paths):
        numbers = frozenset(edge.number for edge in path)
        read = numbers if bounds.every else numbers - seen
        with tempfile.TemporaryDirectory(dir=folder) as place:
            failure = runs.run(path, StepExecutor.below(Path(place), session, LIMIT_S, adapter), read)
        seen |= numbers
        paths, rounds = paths + 1, rounds + len(path)
        failures += [f"path {paths}: {failure}"] if failure else []
    size = len(graph.states), graph.count(), len(seen)
    return Result(scenario.name, "coarse", adapter, *size, paths, rounds, tuple(failures))
