"""What the model reaches in a scenario, in the variables of a TLA+ module: its states and its steps."""

from collections import deque
from dataclasses import replace

from hudi_model_tools.explore import Exploration
from hudi_model_tools.protocol import Move, Protocol
from hudi_model_tools.store import Store

from hudi_conformance.corpus.traces import effect_name
from hudi_conformance.verification.agreement.projecting import Projection
from hudi_conformance.verification.properties import laws
from hudi_conformance.verification.properties.scenarios import AT_REST, SCENARIOS, Scenario
from hudi_conformance.verification.proving import broken
from hudi_conformance.verification.tla.expressions import Function
from hudi_conformance.verification.tla.graph import Edge, Graph, State
from hudi_conformance.verification.tla.manifest import Agreement, ManifestError


def scenario_of(agreement: Agreement) -> Scenario:
    """The scenario with the processes that take part.

    Raises:
        ManifestError: there is no such scenario or process.

    """
    if agreement.scenario not in SCENARIOS:
        raise ManifestError(f"agreement {agreement.run.name!r}: there is no scenario {agreement.scenario}")
    found = SCENARIOS[agreement.scenario]
    actors = {actor(Store()).name: actor for actor in found.actors}
    if unknown := set(agreement.processes) - set(actors):
        raise ManifestError(f"agreement {agreement.run.name!r}: {agreement.scenario} has no {sorted(unknown)}")
    taken = agreement.processes or tuple(actors)
    return replace(found, actors=tuple(actor for name, actor in actors.items() if name in taken))


def model_graph(agreement: Agreement, module: State) -> Graph:
    """Every state and every step, one durable effect each; `module` is a state whose variables are to be reported."""
    variables = {str(name): value for name, value in module.mapping().items()}
    processes = [str(name) for value in variables.values() if isinstance(value, Function) for name, _ in value.pairs]
    store, scenario = Store(), scenario_of(agreement)
    with broken(agreement.mutant):
        projection = Projection(variables, processes)
        start = scenario.start(store)
        protocol = Protocol(store, agreement.crashes, whole=True)
        known, edges, waiting = {start: projection.state(start)}, set[Edge](), deque([start])
        while waiting:
            world = waiting.popleft()
            for move in protocol.moves(world):
                if move.world not in known:
                    known[move.world] = projection.state(move.world)
                    waiting.append(move.world)
                edge = known[world], action_of(move), known[move.world]
                # That a lease has ended is seen when another takes the lock.
                if not (edge[1] == "Pause" and edge[0] == edge[2]):
                    edges.add(edge)
    return Graph(frozenset({known[start]}), frozenset(known.values()), frozenset(edges))


def action_of(move: Move) -> str:
    """A step as the modules name it: the durable effect, or a death."""
    return "Crash" if move.is_crash else "".join(part.title() for part in effect_name(move.acts[0]).split("_"))


def shortest_violation(agreement: Agreement) -> Exploration:
    """The shortest way to a broken law, one durable effect after the other."""
    law: laws.LawOf = getattr(laws, str(agreement.law))
    at_rest = (law,) if law in AT_REST else ()
    with broken(agreement.mutant):
        return scenario_of(agreement).search(() if at_rest else (law,), at_rest, crashes=agreement.crashes, whole=True)
