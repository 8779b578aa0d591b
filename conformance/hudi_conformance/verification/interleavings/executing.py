"""A path of the coarse graph played through the adapter protocol, every answer held to the model's state."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows
from hudi_model.rejection import Rejection
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model_tools.protocol import World

from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.runner.normalized_answers import InstantNames
from hudi_conformance.runner.step_executor import Answer, Failure, StepExecutor
from hudi_conformance.verification.interleavings.coarse import (
    ABORT,
    BEGIN,
    COMMIT,
    EXECUTE,
    SCHEDULE,
    STAGE,
    CoarseMove,
)
from hudi_conformance.verification.interleavings.graph import Edge, Graph
from hudi_conformance.verification.interleavings.reading import READS, comparable
from hudi_conformance.verification.interleavings.scenarios import COLUMNS, InterleavingScenario, Writer

LIMIT_S = 120.0
_OPS = {BEGIN: "begin_write", STAGE: "stage_write", COMMIT: "commit_write", ABORT: "abort_write"}
# Wider than what one act takes of the clock.
_STEP_MS = 1000


@dataclass(frozen=True, slots=True)
class Interleavings:
    """A scenario, its graph, and a folder with the bytes that every path begins with.

    `sets_clock`: whether the adapter takes the time of each act from here.
    """

    schedule: InterleavingScenario
    graph: Graph[World, CoarseMove]
    first: Path
    sets_clock: bool = True

    def run(self, path: Sequence[Edge[CoarseMove]], executor: StepExecutor, read: frozenset[int]) -> Failure | None:
        """Take a path; after the edges whose numbers are in `read` every reader's answer is compared.

        An unsupported feature ends a path as a failure does: nothing here may be passed over.
        """
        shutil.copytree(self.first, executor.table)
        for step, edge in enumerate(path, start=1):
            found = self._step(edge, executor, step)
            if found is None and edge.number in read:
                found = self._reads(edge, executor, step)
            if found is not None:
                return found
        return None

    def _step(self, edge: Edge[CoarseMove], executor: StepExecutor, step: int) -> Failure | None:
        move = edge.move
        answer = executor.request(*self._request(move, executor, step))
        if answer.value.get("requested"):
            executor.names.add(answer.value["requested"], move.process)
        expected = f"rejected {move.refused}" if move.refused else _expected(self.graph.states[edge.target], move)
        found = _outcome(answer, move)
        if found != expected:
            return Failure(step, f"outcome of {move}", _differences(executor, expected, found, answer))
        if move.refused and move.act == STAGE:
            executor.request("abort_write", {"txn": move.process})  # some have done so themselves
        return None

    def _request(self, move: CoarseMove, executor: StepExecutor, step: int) -> tuple[str, dict[str, Any], Rows | None]:
        actor = self.schedule.actor(move.process)
        params: dict[str, Any] = {"configs": self.schedule.configs(actor)}
        if self.sets_clock:
            params["now"] = tick(_STEP_MS * step)
        if isinstance(actor, Writer):
            rows = Rows(COLUMNS, (actor.row(),)) if move.act in (BEGIN, STAGE) else None
            return _OPS[move.act], {**params, "txn": actor.name, "operation": "upsert"}, rows
        if move.act == SCHEDULE:
            return "schedule", {**params, "service": actor.requested}, None
        return "execute", {**params, "requested": executor.names.instants[actor.name]}, None

    def _reads(self, edge: Edge[CoarseMove], executor: StepExecutor, step: int) -> Failure | None:
        world = self.graph.states[edge.target]
        for op, params in READS:
            expected = expected_read(world, op, params)
            answer = executor.request(op, params)
            found = comparable(op, answer.content, executor.names) if answer.is_result else _refusal(answer)
            if found != expected:
                return Failure(step, f"{op} after {edge.move}", _differences(executor, expected, found, answer))
        return None


def _differences(executor: StepExecutor, expected: Any, found: Any, answer: Answer) -> tuple[str, ...]:
    reported = (f"it said: {answer.message[:800]}",) if answer.message else ()
    return f"model: {expected}", f"{executor.name}: {found}", *reported


def _outcome(answer: Answer, move: CoarseMove) -> str:
    """An outcome in one text: done with an action, begun, planned, refused with a reason."""
    if not answer.is_result:
        return _refusal(answer)
    if move.act in (COMMIT, EXECUTE):
        return f"done {answer.value['action']}"
    return "under way" if answer.value["requested"] else "nothing"


def _refusal(answer: Answer) -> str:
    return f"{answer.kind} {answer.reason}".rstrip()


def _expected(world: World, move: CoarseMove) -> str:
    if move.act not in (COMMIT, EXECUTE):
        return "under way"
    instant = instants(world)[move.process]
    done = next(
        one for one in world.shared.table.value.timeline if one.requested == instant and one.state.name == "COMPLETED"
    )
    return f"done {done.action.value}"


def instants(world: World) -> dict[str, str]:
    """The requested time of each actor's action, by the actor's name."""
    return {one.name: one.local.value.instant for one in world.processes if one.local.value.instant}


def expected_read(world: World, op: str, params: Mapping[str, Any]) -> Any:
    """What the model's readers answer in a state."""
    names = InstantNames()
    for name, instant in instants(world).items():
        names.add(instant, name)
    table: Table = world.shared.table.value
    try:
        return comparable(op, evaluate(table, op, params).content, names)
    except Rejection as rejection:
        return f"rejected {rejection.reason.value}"
