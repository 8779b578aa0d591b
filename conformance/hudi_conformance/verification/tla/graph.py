"""Graphs of states: what can be reached, and by which actions."""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hudi_conformance.verification.tla.expressions import ExpressionError, Function, parse_value

State: TypeAlias = Function
"""A state: the value of every variable."""
Edge: TypeAlias = tuple[State, str, State]
TEXT = r'"(?:[^"\\]|\\.)*"'
# TLC of today adds a tooltip to states, and to the names of actions what they were taken with.
NODE = re.compile(
    rf"^(?P<number>-?\d+) \[label=(?P<state>{TEXT})(?:,tooltip={TEXT})?(?P<first>,style = filled)?\]", re.MULTILINE
)
EDGE = re.compile(rf"^(?P<before>-?\d+) -> (?P<after>-?\d+) \[label=(?P<action>{TEXT})", re.MULTILINE)
VARIABLE = re.compile(r"(?:^|\n)(?:/\\ )?(?P<name>\w+) = ")


@dataclass(frozen=True, slots=True)
class Graph:
    """The states that can be reached, those it begins with, and the steps between them with their actions."""

    initial: frozenset[State]
    states: frozenset[State]
    edges: frozenset[Edge]

    def ways(self) -> "Ways":
        """A shortest way to every state that the edges lead to."""
        after: dict[State, list[tuple[str, State]]] = {}
        for before, action, state in self.edges:
            after.setdefault(before, []).append((action, state))
        came: dict[State, tuple[State, str] | None] = dict.fromkeys(self.initial)
        depths, border = dict.fromkeys(self.initial, 0), deque(self.initial)
        while border:
            state = border.popleft()
            for action, beyond in after.get(state, ()):
                if beyond not in came:
                    came[beyond], depths[beyond] = (state, action), depths[state] + 1
                    border.append(beyond)
        return Ways(came, depths)


@dataclass(frozen=True, slots=True)
class Ways:
    """How each state is reached: the state before it and the action, and the number of steps from the beginning."""

    came: Mapping[State, tuple[State, str] | None]
    depths: Mapping[State, int]

    def steps_to(self, wanted: State) -> tuple[tuple[str, State], ...]:
        """The actions and the states after them; none where it begins."""
        return tuple(_way_back(wanted, self.came))[::-1]


def _way_back(state: State, came: Mapping[State, tuple[State, str] | None]) -> Iterator[tuple[str, State]]:
    while (step := came.get(state)) is not None:
        yield step[1], state
        state = step[0]


def read_dump(text: str) -> Graph:
    """The graph that TLC dumped (`-dump dot,actionlabels`), the TLC of 2020 and that of today alike.

    Raises:
        ExpressionError: a state is not as TLC prints it, or a step leads to a state that is not there.

    """
    found = {match["number"]: match for match in NODE.finditer(text)}
    states = {number: parse_state(_unquoted(match["state"])) for number, match in found.items()}
    edges = [
        (match["before"], _unquoted(match["action"]).partition("(")[0], match["after"]) for match in EDGE.finditer(text)
    ]
    if lone := {number for before, _, after in edges for number in (before, after)} - set(states):
        raise ExpressionError(f"the graph has steps to or from {len(lone)} states that it does not show")
    return Graph(
        initial=frozenset(states[number] for number, match in found.items() if match["first"]),
        states=frozenset(states.values()),
        edges=frozenset((states[before], action, states[after]) for before, action, after in edges),
    )


def parse_state(text: str) -> State:
    """A state as TLC prints it, a conjunct for each variable.

    Raises:
        ExpressionError: a value is not as TLC prints it.

    """
    starts = list(VARIABLE.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    values = ((start["name"], parse_value(text[start.end() : end])) for start, end in zip(starts, ends, strict=True))
    return Function(frozenset(values))


def _unquoted(label: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], label[1:-1])
