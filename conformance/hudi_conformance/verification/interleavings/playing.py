"""A path of the coarse graph played through the adapter protocol, every answer held to the model's state."""

import itertools
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows, RowsError, read_answer, write_rows
from hudi_model.rejection import Rejection
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model_tools.protocol import World

from hudi_conformance.bridge.asking import ask
from hudi_conformance.runner.session import Reply, Session
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
from hudi_conformance.verification.interleavings.reading import READS, told
from hudi_conformance.verification.interleavings.scenarios import COLUMNS, Schedule, Service, Writer

LIMIT_S = 120.0
_OPS = {BEGIN: "begin_write", STAGE: "stage_write", COMMIT: "commit_write", ABORT: "abort_write"}
# Wider than what one act takes of the clock.
_STEP_MS = 1000


@dataclass(frozen=True, slots=True)
class Failure:
    """The step (from 1) at which a player differs from the model, what was asked, and both answers."""

    player: str
    step: int
    move: str
    asked: str
    expected: Any
    got: Any
    said: str = ""

    def __str__(self) -> str:
        lines = (f"  model: {self.expected}", f"  {self.player}: {self.got}")
        said = (f"  it said: {self.said}",) if self.said else ()
        return "\n".join((f"step {self.step} ({self.move}), {self.asked}:", *lines, *said))


@dataclass(slots=True)
class Player:
    """A process that plays: its table, and whose instants are whose."""

    name: str
    session: Session
    folder: Path
    takes_now: bool = True
    skipped: frozenset[str] = frozenset()
    names: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    said: str = ""
    """The whole of what it refused last."""

    @property
    def table(self) -> Path:
        """Where its table is."""
        return self.folder / "table"

    def out(self) -> Path:
        """A new folder for one answer."""
        found = self.folder / f"out-{next(self.numbers)}"
        found.mkdir()
        return found

    def asks(self, op: str, params: Mapping[str, Any]) -> tuple[str, Any]:
        """The word of an answer (`result`, `rejected`, ...) and what it holds: rows, a value, a reason."""
        out = self.out()
        heard = self.session.ask(op, self.table, params, out, LIMIT_S)
        if not isinstance(heard, Reply):
            return "broken", str(heard)[:800]
        message = heard.message
        if "rejected" in message:
            self.said = str(message["rejected"]["message"])[:800]
            return "rejected", message["rejected"]["reason"]
        if "unsupported" in message:
            return "unsupported", message["unsupported"]["feature"]
        if "errored" in message:
            return "errored", str(message["errored"]["message"])[:800]
        return "result", _content(message["result"], out)


def _content(result: Mapping[str, Any], out: Path) -> Any:
    if "rows_file" not in result:
        return result.get("value")
    try:
        return read_answer(out, result["rows_file"])
    except RowsError as error:
        return str(error)


@dataclass(frozen=True, slots=True)
class Game:
    """A scenario, its graph, and a folder with the bytes that every play begins with."""

    schedule: Schedule
    graph: Graph[World, CoarseMove]
    first: Path

    def play(self, path: Sequence[Edge[CoarseMove]], player: Player, read: frozenset[int]) -> Failure | None:
        """Play a path; after the edges whose numbers are in `read` every reader's answer is compared.

        An unsupported feature ends a path as a failure does: nothing here may be passed over.
        """
        shutil.copytree(self.first, player.table)
        for step, edge in enumerate(path, start=1):
            found = self._step(edge, player, step)
            if found is None and edge.number in read:
                found = self._reads(edge, player, step)
            if found is not None:
                return found
        return None

    def _step(self, edge: Edge[CoarseMove], player: Player, step: int) -> Failure | None:
        move = edge.move
        word, content = player.asks(*self._request(move, player, step))
        got = _outcome(word, content, move)
        if word == "result" and content.get("requested"):
            player.names[content["requested"]] = move.process
        expected = f"rejected {move.refused}" if move.refused else _expected(self.graph.states[edge.target], move)
        if got != expected:
            return Failure(player.name, step, str(move), "outcome", expected, got, player.said)
        if move.refused and move.act == STAGE:
            player.asks("abort_write", {"txn": move.process})  # some have done so themselves
        return None

    def _request(self, move: CoarseMove, player: Player, step: int) -> tuple[str, dict[str, Any]]:
        actor = self.schedule.actor(move.process)
        params: dict[str, Any] = {"configs": self.schedule.configs(actor)}
        if player.takes_now:
            params["now"] = tick(_STEP_MS * step)
        if isinstance(actor, Service):
            if move.act == SCHEDULE:
                return "schedule", {**params, "service": actor.asked}
            return "execute", {**params, "requested": _instant_of(player, actor.name)}
        return _OPS[move.act], {**params, **self._write(actor, move, player)}

    def _write(self, actor: Writer, move: CoarseMove, player: Player) -> dict[str, Any]:
        asked = {"txn": actor.name, "operation": "upsert"}
        if move.act not in (BEGIN, STAGE):
            return asked
        file = player.folder / f"{actor.name}.jsonl"
        write_rows(file, Rows(COLUMNS, (actor.row(),)))
        return {**asked, "input": str(file)}

    def _reads(self, edge: Edge[CoarseMove], player: Player, step: int) -> Failure | None:
        world = self.graph.states[edge.target]
        for op, params in READS:
            if op in player.skipped:
                continue
            expected = expected_read(world, op, params)
            word, content = player.asks(op, params)
            got = told(op, content, player.names) if word == "result" else f"{word} {content}"
            if got != expected:
                return Failure(player.name, step, str(edge.move), op, expected, got, player.said)
        return None


def _instant_of(player: Player, name: str) -> str:
    return next(instant for instant, owner in player.names.items() if owner == name)


def _outcome(word: str, content: Any, move: CoarseMove) -> str:
    """An outcome in one text: done with an action, begun, planned, refused with a reason."""
    if word != "result":
        return f"{word} {content}"
    if move.act in (COMMIT, EXECUTE):
        return f"done {content['action']}"
    return "under way" if content["requested"] else "nothing"


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
    return {one.name: one.mind.value.instant for one in world.processes if one.mind.value.instant}


def expected_read(world: World, op: str, params: Mapping[str, Any]) -> Any:
    """What the model's readers answer in a state."""
    names = {instant: name for name, instant in instants(world).items()}
    table: Table = world.shared.table.value
    try:
        return told(op, ask(table, op, params).content, names)
    except Rejection as rejection:
        return f"rejected {rejection.reason.value}"
