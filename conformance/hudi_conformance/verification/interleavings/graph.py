"""Graphs of states, and few paths that together go over every edge."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Move = TypeVar("Move")
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Edge(Generic[Move]):
    """A move from one state to another, both by their numbers."""

    number: int
    source: int
    target: int
    move: Move


@dataclass(slots=True)
class Graph(Generic[State, Move]):
    """States from 0 (the start) on, in the order in which they were found, and the edges that leave each."""

    states: list[State] = field(default_factory=list)
    leaving: list[list[Edge[Move]]] = field(default_factory=list)

    def edges(self) -> Iterator[Edge[Move]]:
        """All edges."""
        for edges in self.leaving:
            yield from edges

    def count(self) -> int:
        """How many edges there are."""
        return sum(map(len, self.leaving))


def graph_of(start: State, moves: Callable[[State], Iterable[tuple[Move, State]]]) -> Graph[State, Move]:
    """Every state that can be reached, breadth first."""
    graph: Graph[State, Move] = Graph([start], [[]])
    known, waiting, edges = {start: 0}, deque([start]), 0
    while waiting:
        state = waiting.popleft()
        for move, target in moves(state):
            if target not in known:
                known[target] = len(graph.states)
                graph.states.append(target)
                graph.leaving.append([])
                waiting.append(target)
            graph.leaving[known[state]].append(Edge(edges, known[state], known[target], move))
            edges += 1
    return graph


class Cover(Generic[State, Move]):
    """Paths from the start to where nothing can happen any more that together go over every edge.

    Each path goes over as many new edges as any could. The graph has no circles: every move is progress. An edge that
    turns out to be impossible is barred while the paths are requested; what is reached over it alone is left out.
    """

    def __init__(self, graph: Graph[State, Move]) -> None:
        self.graph = graph
        self.fresh = {edge.number for edge in graph.edges()}
        self.barred: set[int] = set()
        self._order = in_order(graph)[::-1]

    def __iter__(self) -> Iterator[tuple[Edge[Move], ...]]:
        """The paths, as long as one goes over a new edge."""
        while path := self._freshest():
            if not any(edge.number in self.fresh for edge in path):
                return
            self.fresh -= {edge.number for edge in path}
            yield path

    def bar(self, path: Sequence[Edge[Move]], step: int) -> None:
        """The edge at a step (from 0) of a path is impossible; those from there on have not been gone over by it."""
        self.fresh |= {edge.number for edge in path[step:]}
        self.barred.add(path[step].number)
        self.fresh -= self.barred

    def _freshest(self) -> tuple[Edge[Move], ...]:
        """The path with the most edges that are on none yet."""
        worth: dict[int, int] = {}
        best: dict[int, Edge[Move]] = {}
        for state in self._order:
            if not self.graph.leaving[state]:
                worth[state] = 0
            for edge in self.graph.leaving[state]:
                if edge.target not in worth or edge.number in self.barred:
                    continue
                value = worth[edge.target] + (edge.number in self.fresh)
                if value > worth.get(state, -1):
                    worth[state], best[state] = value, edge
        path, state = [], 0
        while state in best:
            path.append(best[state])
            state = best[state].target
        return tuple(path)


def cover(graph: Graph[State, Move]) -> tuple[tuple[Edge[Move], ...], ...]:
    """Paths that go over every edge."""
    return tuple(Cover(graph))


def in_order(graph: Graph[State, Move]) -> list[int]:
    """The states, each after all those from which an edge leads to it.

    Raises:
        ValueError: the graph has a circle.

    """
    entering = [0] * len(graph.states)
    for edge in graph.edges():
        entering[edge.target] += 1
    ready, found = deque(number for number, count in enumerate(entering) if not count), list[int]()
    while ready:
        found.append(ready.popleft())
        for edge in graph.leaving[found[-1]]:
            entering[edge.target] -= 1
            if not entering[edge.target]:
                ready.append(edge.target)
    if len(found) != len(graph.states):
        raise ValueError("the graph has a circle")
    return found
