"""A module beside the model: the sets of states and of steps, and the lengths of counterexamples."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hudi_conformance.verification.agreement.model_graphs import model_graph, shortest_violation
from hudi_conformance.verification.tla.expressions import show
from hudi_conformance.verification.tla.graph import Edge, Graph, State
from hudi_conformance.verification.tla.manifest import Agreement
from hudi_conformance.verification.tla.tlc import dump_graph, run_tlc
from hudi_conformance.verification.tla.values import difference


@dataclass(frozen=True, slots=True)
class Compared:
    """What an agreement came to: how many states, how many steps by action; what differs, nothing where all agrees."""

    agreement: Agreement
    states: int = 0
    actions: Mapping[str, int] = field(default_factory=dict)
    length: int | None = None
    """Steps of the shortest counterexample, where one is wanted."""
    differs: tuple[str, ...] = ()


def compare(folder: Path, agreement: Agreement) -> Compared:
    """Run both and compare.

    Raises:
        ManifestError: the run does not fit its module, or TLC could not reach all states.

    """
    return compare_violations(folder, agreement) if agreement.law else compare_graphs(folder, agreement)


def compare_graphs(folder: Path, agreement: Agreement) -> Compared:
    """The same states, the same steps."""
    checked = dump_graph(folder, agreement.run)
    model = model_graph(agreement, next(iter(checked.initial)))
    actions = Counter(action for _, action, _ in checked.edges)
    return Compared(
        agreement, len(checked.states), dict(sorted(actions.items())), differs=(*differing(checked, model),)
    )


def compare_violations(folder: Path, agreement: Agreement) -> Compared:
    """Both find the rule broken, by ways of the same length."""
    result, found = run_tlc(folder, agreement.run), shortest_violation(agreement)
    length = len(result.finding.trace) - 1 if result.finding else 0
    differs = [f"TLC: {result.fault}"] if result.fault else []
    differs += [] if found.broken else [f"the model keeps the law {agreement.law}"]
    if not differs and length != len(found.steps):
        differs += [f"TLC's counterexample has {length} steps, the model's {len(found.steps)}"]
    return Compared(agreement, length=length, differs=tuple(differs))


def differing(checked: Graph, model: Graph) -> Iterator[str]:
    """What differs, in lines: the first state or step that only one has, and the ways there in both."""
    if checked.initial != model.initial:
        yield from beginning(*(min(one.initial, key=show) for one in (checked, model)))
        return
    for name, one, other in (("TLC", checked, model), ("the model", model, checked)):
        lone = one.edges - other.edges
        if lone:
            yield from first_lone_step(name, one, other, lone)
            yield f"steps of {name} alone: {dict(sorted(Counter(action for _, action, _ in lone).items()))}"


def beginning(checked: State, model: State) -> Iterator[str]:
    """The variables in which the first states differ."""
    yield "the first states differ:"
    ours, theirs = checked.mapping(), model.mapping()
    for variable in sorted(ours, key=str):
        if ours[variable] != theirs[variable]:
            yield f"  {variable}: TLC {show(ours[variable])}"
            yield f"  {' ' * len(str(variable))}  model {show(theirs[variable])}"


def first_lone_step(name: str, one: Graph, other: Graph, lone: Iterable[Edge]) -> Iterator[str]:
    """The step that only one has which is reached first, the way there, and what the other does instead."""
    ways = one.ways()
    shared = [edge for edge in lone if edge[0] in other.states]
    before, action, after = min(shared, key=lambda edge: (ways.depths[edge[0]], edge[1], show(edge[2])))
    way = ways.steps_to(before)
    yield f"only {name} has this step, {action}, after {len(way)} steps:"
    yield from describe_path(next(iter(one.initial)), (*way, (action, after)))
    instead = sorted(found for found in other.edges if found[0] == before and found[1] == action)
    for _, _, state in instead:
        yield f"    where the other's {action} leads to {changed(before, state)}"
    if not instead:
        names = sorted({found[1] for found in other.edges if found[0] == before})
        yield f"    where the other has {', '.join(names) or 'nothing'}"


def describe_path(state: State, way: Iterable[tuple[str, State]]) -> Iterator[str]:
    """Steps with what each changes."""
    for number, (action, after) in enumerate(way, start=1):
        yield f"    {number:>3} {action}: {changed(state, after)}"
        state = after


def changed(before: State, after: State) -> str:
    """The variables that a step changes."""
    old, new = before.mapping(), after.mapping()
    names = sorted((str(name) for name in new if new[name] != old[name]), key=str)
    return "; ".join(f"{name} {difference(show(old[name]), show(new[name]))}" for name in names)
