"""A path of the fine graph played by the engine, in one process: its actors are threads that take turns.

After each turn a reader's snapshot is the model's, at the end every read and every outcome, and the trace of what all
processes did is in an order that the model explains.
"""

import itertools
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_adapter.protocol import Request, RowsAnswer, ValueAnswer
from hudi_adapter.rows import Rows, arrow_of_rows, read_rows, rows_of_arrow
from hudi_conformance.bridge.storing import store
from hudi_conformance.corpus.traces import describe_refusal, fault_of_line
from hudi_conformance.runner.normalized_answers import InstantNames
from hudi_conformance.verification.interleavings.executing import expected_read
from hudi_conformance.verification.interleavings.fine import FineMove, Label
from hudi_conformance.verification.interleavings.graph import Edge, Graph
from hudi_conformance.verification.interleavings.reading import READS, comparable
from hudi_conformance.verification.interleavings.scenarios import COLUMNS, Actor, InterleavingScenario, Service
from hudi_format.storage import LocalStorage
from hudi_model.time import tick
from hudi_model_tools.accepts import accepts
from hudi_model_tools.protocol import World
from hudi_spark import HudiError, read_arrow
from hudi_spark.testing import (
    RELEASED,
    Hooks,
    InProcess,
    SetClock,
    TableServices,
    TableWriter,
    TraceFile,
    WriteRequest,
)
from hudi_spark_adapter.adapter import adapter_of
from hudi_spark_adapter.executors import InProcess as Answering
from turnstile import LockHeldError, StuckError, Turnstile

# Later than every time of the first writes.
_NOW = tick(1000)
_SNAPSHOT = READS[0]
_WITHOUT_METADATA = {"hoodie.metadata.enable": "false"}


@dataclass(frozen=True, slots=True)
class Difference:
    """The turn (from 1) after which the engine differs from the model, what was looked at, and both sides."""

    round_number: int
    move: str
    what: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"turn {self.round_number} ({self.move}), {self.what}:\n  model:  {self.expected}\n  engine: {self.got}"


@dataclass(slots=True)
class Played:
    """What came of a path: how it differs, if so; acts that the engine does not have, effects that it has besides."""

    difference: Difference | None = None
    missing: Counter[Label] = field(default_factory=Counter)
    more: Counter[Label] = field(default_factory=Counter)
    trace: str = ""
    held: bool = False
    """Whether it came to a turn in which the engine, other than the model, needs a lock that another process holds."""
    rounds: int = 0


class EngineReplay:
    """A scenario, its graph, and a folder in which the tables of its plays come and go."""

    def __init__(self, scenario: InterleavingScenario, graph: Graph[World, FineMove], folder: Path) -> None:
        self.schedule, self.graph, self.folder = scenario, graph, folder
        self.first, self.table = folder / "first", folder
        store(graph.states[0].shared.table.value, self.first)
        self._reader = adapter_of(Answering(), RELEASED).operations
        self._numbers = itertools.count()
        self._expected: dict[tuple[int, str], Any] = {}

    def replay(self, path: Sequence[Edge[FineMove]]) -> Played:
        """One path, from the first bytes on."""
        self.table = self.folder / f"table-{next(self._numbers)}"
        shutil.copytree(self.first, self.table)
        played = Played()
        trace = self.table.with_suffix(".ndjson")
        processes = self._processes(trace)
        try:
            played.difference = self._rounds(path, processes, played) or self._end(path, processes, trace)
        except LockHeldError:
            played.held = True
        except StuckError as stuck:
            played.difference = Difference(len(path), str(path[-1].move), "progress", "an effect", str(stuck))
        for one in processes.values():
            with suppress(StuckError):
                one.end()
            played.missing += one.missing
            played.more += one.more
        played.trace = trace.read_text(encoding="utf-8") if trace.exists() else ""
        shutil.rmtree(self.table, ignore_errors=True)
        return played

    def _processes(self, trace: Path) -> dict[str, Turnstile]:
        clock, found = SetClock(_NOW), {}
        for actor in self.schedule.actors:
            found[actor.name] = Turnstile(actor.name)
            hook = Hooks((found[actor.name], TraceFile(str(trace), actor.name)))
            writer = TableWriter(LocalStorage(self.table), InProcess(), clock=clock, hook=hook)
            found[actor.name].start(self._phases(actor, writer))
        return found

    def _phases(self, actor: Actor, writer: TableWriter) -> Iterator[str]:
        configs = {**_WITHOUT_METADATA, **self.schedule.configs(actor)}
        if isinstance(actor, Service):
            return _serve(TableServices(writer), actor.requested, configs)
        rows = arrow_of_rows(Rows(COLUMNS, (actor.row(),)))
        return _write(writer, WriteRequest("upsert", rows, configs=configs))

    def _rounds(
        self, path: Sequence[Edge[FineMove]], processes: Mapping[str, Turnstile], played: Played
    ) -> Difference | None:
        for number, edge in enumerate(path, start=1):
            name = edge.move.process
            later = Counter(label for one in path[number:] if one.move.process == name for label in one.move.labels)
            processes[name].turn(edge.move.labels, later)
            changes = self.graph.states[edge.source].shared.table != self.graph.states[edge.target].shared.table
            if changes and (found := self._rows_differ(number, edge, processes)):
                return found
            played.rounds = number
        return None

    def _end(
        self, path: Sequence[Edge[FineMove]], processes: Mapping[str, Turnstile], trace: Path
    ) -> Difference | None:
        number, edge = len(path), path[-1]
        for one in processes.values():
            one.end()
        world = self.graph.states[edge.target]
        expected, got = outcomes(world), {name: one.outcome for name, one in processes.items()}
        if got != expected:
            return Difference(number, str(edge.move), "outcomes", expected, got)
        reads = (self._read(number, edge, processes, *read) for read in READS)
        return next(filter(None, reads), None) or self._order(number, edge, trace)

    def _order(self, number: int, edge: Edge[FineMove], trace: Path) -> Difference | None:
        lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
        refused = accepts(lines, self.graph.states[0].shared.table.value.timeline)
        wrong = next(filter(None, map(fault_of_line, lines)), "") or (describe_refusal(refused) if refused else "")
        return Difference(number, str(edge.move), "trace", "accepted", wrong) if wrong else None

    def _read(
        self, number: int, edge: Edge[FineMove], processes: Mapping[str, Turnstile], op: str, params: Mapping[str, Any]
    ) -> Difference | None:
        names = _names(processes)
        expected = self._state_read(edge.target, op, params)
        got = comparable(op, self._answer(op, params), names)
        return Difference(number, str(edge.move), op, expected, got) if got != expected else None

    def _rows_differ(self, number: int, edge: Edge[FineMove], processes: Mapping[str, Turnstile]) -> Difference | None:
        names = _names(processes)
        expected = self._state_read(edge.target, *_SNAPSHOT)
        try:
            rows = rows_of_arrow(read_arrow(self.table, meta_columns=True))
            got = comparable("read_snapshot", rows, names)
        except HudiError as refusal:
            got = str(refusal)
        return Difference(number, str(edge.move), "read_snapshot", expected, got) if got != expected else None

    def _state_read(self, state: int, op: str, params: Mapping[str, Any]) -> Any:
        if (state, op) not in self._expected:
            self._expected[state, op] = expected_read(self.graph.states[state], op, params)
        return self._expected[state, op]

    def _answer(self, op: str, params: Mapping[str, Any]) -> Any:
        out = self.folder / f"out-{next(self._numbers)}"
        out.mkdir()
        answer = self._reader[op](Request(op, self.table, params, out, 60.0, str(self.table)))
        found = answer.value if isinstance(answer, ValueAnswer) else _rows(answer, out)
        shutil.rmtree(out)
        return found


def _names(processes: Mapping[str, Turnstile]) -> InstantNames:
    names = InstantNames()
    for name, one in processes.items():
        if one.own:
            names.add(one.own, name)
    return names


def _rows(answer: RowsAnswer, out: Path) -> Rows:
    if isinstance(answer.rows, str):
        return read_rows(out / answer.rows)
    return rows_of_arrow(answer.rows) if isinstance(answer.rows, pa.Table) else answer.rows


def _serve(services: TableServices, name: str, configs: Mapping[str, str]) -> Iterator[str]:
    requested = services.schedule(name, configs)
    yield "nothing"
    if requested is not None:
        yield f"done {services.execute(requested, configs).action}"


def _write(writer: TableWriter, request: WriteRequest) -> Iterator[str]:
    started = writer.begin(request)
    yield "begun"
    started.stage(request)
    yield "staged"
    yield f"done {started.commit().action}"


def outcomes(world: World) -> dict[str, str]:
    """How each process of a world at rest came out."""
    return dict(_outcomes(world))


def _outcomes(world: World) -> Iterator[tuple[str, str]]:
    done = {one.requested: one.action.value for one in world.shared.table.value.timeline if one.completed}
    done |= {
        one.requested: one.action.value for one in world.shared.table.value.timeline if one.state.name == "COMPLETED"
    }
    for process in world.processes:
        process_state = process.local.value
        if process_state.refused is not None:
            yield process.name, f"rejected {process_state.refused.value}"
        else:
            yield process.name, f"done {done[process_state.instant]}" if process_state.instant in done else "nothing"
