"""An alternation played: each turn's writer writes, then every reader is asked for the rows, and all must agree."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hudi_adapter.rows import Rows, RowsError, read_answer, write_rows

from hudi_conformance.corpus.table_shapes import Step
from hudi_conformance.interop.mixed_writers.cases import ENGINE, Alternation, has_metadata_table
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.session import Reply, Session

LIMIT_S = 180.0
REFEREE: Final = "referee"

_METADATA = "hoodie.metadata.enable"


@dataclass(frozen=True, slots=True)
class Players:
    """The processes that play: the engine, the release, and perhaps a referee with a table of its own.

    The referee does every step on its table, so that a row which a writer loses for both readers is missed.
    """

    engine: Session
    peer: Session
    referee: Session | None = None

    def of_turn(self, who: str) -> Session:
        """The process whose turn it is."""
        return self.engine if who == ENGINE else self.peer


@dataclass(frozen=True, slots=True)
class Failure:
    """The turn (0: the table is made) that went wrong, whose it was, what was asked, and what differs."""

    turn: int
    who: str
    asked: str
    differences: tuple[str, ...]

    @property
    def sort(self) -> tuple[str, str]:
        """What a smaller alternation must share with this one, to fail in the same way."""
        return self.asked, self.who if self.asked.startswith("write") else ""

    def __str__(self) -> str:
        lines = (f"  {line}" for line in self.differences[:12])
        return "\n".join([f"turn {self.turn} by {self.who}, {self.asked}:", *lines])


@dataclass(frozen=True, slots=True)
class Played:
    """What came of an alternation: where it failed, if so; answers that agreed; features that a player lacks."""

    failure: Failure | None
    turns: int
    agreed: int
    unsupported: tuple[str, ...] = ()


def play(alternation: Alternation, players: Players, folder: Path) -> Played:
    """Play below an empty folder, up to the first disagreement or to what a player does not support."""
    game = _Game(alternation, players, folder)
    failure = next(filter(None, game.turns()), None)
    return Played(failure, game.taken, game.agreed, tuple(game.unsupported))


@dataclass(frozen=True, slots=True)
class _Answer:
    """Rows or a value, or in words why there is none."""

    rows: Rows | None = None
    word: str = ""
    unsupported: str = ""


class _Game:
    def __init__(self, alternation: Alternation, players: Players, folder: Path) -> None:
        self.alternation, self.players, self.folder = alternation, players, folder
        self.table, self.own = folder / "shared" / "table", folder / REFEREE / "table"
        self.numbers = itertools.count()
        self.taken = self.agreed = 0
        self.unsupported: dict[str, None] = {}

    def turns(self) -> Iterator[Failure | None]:
        for path in (self.table, self.own):
            path.mkdir(parents=True)
        shape = self.alternation.case.shape
        yield self._done(0, "create_table", shape.create_params(), "create_table")
        for number, step in enumerate(self.alternation.case.steps, start=1):
            if self.unsupported:
                return
            yield self._done(number, "write", step.params(shape, self._input(number, step)), f"write {step.operation}")
            if not self.unsupported:
                self.taken += 1
                yield self._read(number)

    def _input(self, number: int, step: Step) -> Path | None:
        rows = step.input()
        if rows is None:
            return None
        file = self.folder / f"input-{number}.jsonl"
        write_rows(file, rows)
        return file

    def _done(self, number: int, op: str, params: Mapping[str, Any], asked: str) -> Failure | None:
        who = self.alternation.turns[number]
        answer = self._ask(self.players.of_turn(who), op, self.table, params)
        if answer.unsupported:
            self.unsupported[f"{who}: {answer.unsupported}"] = None
            return None
        if answer.word:
            return Failure(number, who, asked, (answer.word,))
        if self.players.referee is not None:
            answer = self._ask(self.players.referee, op, self.own, params)
            if answer.word or answer.unsupported:
                said = answer.word or f"does not support {answer.unsupported}"
                return Failure(number, REFEREE, asked, (said,))
        return None

    def _read(self, number: int) -> Failure | None:
        who = self.alternation.turns[number]
        first, *others = self._readings()
        name, rows = first
        if rows.word or rows.rows is None:
            return Failure(number, who, f"read by {name}", (rows.word,))
        for other, answer in others:
            asked = f"{name} and {other}"
            differences = compare_rows(rows.rows, answer.rows) if answer.rows is not None else (answer.word,)
            if differences:
                return Failure(number, who, asked, differences)
            self.agreed += 1
        return None

    def _readings(self) -> Iterator[tuple[str, _Answer]]:
        """Every reader's rows, with and without the metadata table where there is one."""
        peer = self.alternation.peer
        if self.players.referee is not None:
            yield REFEREE, self._rows(self.players.referee, self.own, {})
        ways = ({_METADATA: "false"}, {_METADATA: "true"}) if has_metadata_table(self.alternation.case) else ({},)
        for configs in ways:
            told = " with the metadata table" if configs.get(_METADATA) == "true" else ""
            yield f"{peer}{told}", self._rows(self.players.peer, self.table, configs)
            yield f"{ENGINE}{told}", self._rows(self.players.engine, self.table, configs)

    def _rows(self, session: Session, table: Path, configs: Mapping[str, str]) -> _Answer:
        return self._ask(session, "read_snapshot", table, {"configs": dict(configs)} if configs else {})

    def _ask(self, session: Session, op: str, table: Path, params: Mapping[str, Any]) -> _Answer:
        out_dir = self.folder / f"out-{next(self.numbers)}"
        out_dir.mkdir()
        heard = session.ask(op, table, params, out_dir, LIMIT_S)
        if not isinstance(heard, Reply):
            return _Answer(word=f"{heard}"[:500])
        message = heard.message
        if "unsupported" in message:
            return _Answer(unsupported=str(message["unsupported"]["feature"]))
        if "rejected" in message:
            said = message["rejected"]
            return _Answer(word=f"refuses, {said['reason']}: {said['message']}"[:1500])
        if "errored" in message:
            return _Answer(word=f"error: {message['errored']['message']}"[:1500])
        return _rows_of(message["result"], out_dir)


def _rows_of(result: Mapping[str, Any], out_dir: Path) -> _Answer:
    if "rows_file" not in result:
        return _Answer()
    try:
        return _Answer(read_answer(out_dir, result["rows_file"]))
    except RowsError as error:
        return _Answer(word=str(error))
