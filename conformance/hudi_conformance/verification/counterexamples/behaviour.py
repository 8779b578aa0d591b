"""A way to something wrong: who did what, step by step, and the state after each step."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from hudi_conformance.verification.counterexamples.variables import (
    holder_of,
    instants_of,
    processes_of,
    who_moved,
    word_of,
)
from hudi_conformance.verification.tla.expressions import Value, show
from hudi_conformance.verification.tla.values import difference

Instants: TypeAlias = tuple[Mapping[str, Any], ...]
"""A timeline as `list_timeline` answers it."""
Variables: TypeAlias = tuple[tuple[str, str], ...]
"""Variables, each with a text."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A state: the timeline, who holds the lock, and every variable as TLA+ spells its value."""

    timeline: Instants = ()
    holder: str = ""
    variables: Variables = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step: who took it, its effects in words, what it changed, the state after it."""

    who: str
    what: tuple[str, ...]
    after: Situation
    changed: Variables = ()
    dies: bool = False


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What is wrong, where and by whom it was found, and a shortest way there."""

    wrong: str
    place: str
    found_by: str
    processes: tuple[str, ...]
    start: Situation
    steps: tuple[Step, ...]

    @property
    def last(self) -> Situation:
        """The state in which it is wrong."""
        return self.steps[-1].after if self.steps else self.start

    @property
    def title(self) -> str:
        """One line about it."""
        return f"{self.place}, found by {self.found_by} in {len(self.steps)} steps"

    def as_json(self) -> dict[str, Any]:
        """The same in plain values."""
        return asdict(self)


def behaviour_of_json(found: Mapping[str, Any]) -> Behaviour:
    """What `as_json` made."""
    steps = (
        Step(one["who"], tuple(one["what"]), _situation(one["after"]), _pairs(one["changed"]), one["dies"])
        for one in found["steps"]
    )
    return Behaviour(
        found["wrong"],
        found["place"],
        found["found_by"],
        tuple(found["processes"]),
        _situation(found["start"]),
        tuple(steps),
    )


def behaviour_of_states(
    wrong: str, place: str, found_by: str, states: Iterable[tuple[str, Mapping[str, Value]]]
) -> Behaviour:
    """A behaviour of what led to each state, the empty word where nobody says, and the values of its variables."""
    (_, first), *rest = states
    processes = processes_of(first)
    steps, before = [], first
    for action, values in rest:
        if values:
            steps.append(_step(action, before, values, processes))
            before = values
        else:
            # TLC's own words for what repeats or ends; no variable changes.
            steps.append(Step("", (action,), situation_of(before)))
    return Behaviour(wrong, place, found_by, processes, situation_of(first), tuple(steps))


def situation_of(values: Mapping[str, Value]) -> Situation:
    """A state of a module."""
    variables = tuple((name, show(value)) for name, value in values.items())
    return Situation(instants_of(values), holder_of(values), variables)


def changes(before: Mapping[str, Value], after: Mapping[str, Value]) -> Variables:
    """The variables that differ, and how."""
    return tuple(
        (name, difference(show(before[name]) if name in before else None, show(value)))
        for name, value in after.items()
        if before.get(name) != value
    )


def _step(action: str, before: Mapping[str, Value], after: Mapping[str, Value], processes: tuple[str, ...]) -> Step:
    who = who_moved(before, after, processes)
    changed = changes(before, after)
    word = word_of(who, after)
    what = action or word or ", ".join(f"{name} changes" for name, _ in changed) or "nothing changes"
    return Step(who, (what,), situation_of(after), changed, dies=action == "Crash" or word == "crashed")


def _situation(found: Mapping[str, Any]) -> Situation:
    return Situation(tuple(found["timeline"]), found["holder"], _pairs(found["variables"]))


def _pairs(pairs: Iterable[Iterable[str]]) -> Variables:
    return tuple((name, text) for name, text in pairs)
