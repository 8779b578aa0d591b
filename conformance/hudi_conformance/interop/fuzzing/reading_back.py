"""Tables of the array: written by one adapter, read by others, continued by others, all held against the model."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows, RowsError, read_answer, write_rows

from hudi_conformance.corpus.table_shapes import Step, TableShape
from hudi_conformance.interop.fuzzing.array import ArrayRow
from hudi_conformance.interop.fuzzing.playing import LIMIT_S
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.session import Heard, Reply, Session

SAME = "same"


@dataclass(frozen=True, slots=True)
class Told:
    """What came of one row: the writer's word, each reader's, and each reader's after each continuing writer.

    A word is `same`, `unsupported: ...`, or what differs. Keys of `continued` are `writer, read by reader`.
    """

    row: str
    features: Mapping[str, str]
    written: str
    read: Mapping[str, str]
    continued: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cast:
    """Who plays: the model, the writer, readers by name, writers that go on with the table by name."""

    model: Session
    writer: Session
    readers: Mapping[str, Session]
    continuing: Mapping[str, Session]


def told_of(row: ArrayRow, cast: Cast, folder: Path) -> Told:
    """Play one row below an empty folder."""
    return _Play(row, cast, folder).told()


class _Play:
    def __init__(self, row: ArrayRow, cast: Cast, folder: Path) -> None:
        self.row, self.cast, self.folder = row, cast, folder
        self.shape: TableShape = row.case.shape
        self.numbers = iter(range(1_000_000))

    def told(self) -> Told:
        model, table = self._table("model"), self._table("written")
        for session, path in ((self.cast.model, model), (self.cast.writer, table)):
            word = self._written(session, path, self.row.case.steps)
            if word:
                who = "the model" if session is self.cast.model else "the writer"
                return Told(self.row.name, self.row.features, f"{who}: {word}", {}, {})
        expected = self._snapshot(self.cast.model, model)
        read = {name: self._word(expected, self._snapshot(one, table)) for name, one in self.cast.readers.items()}
        continued = dict(self._continued(model, table)) if self.cast.continuing else {}
        return Told(self.row.name, self.row.features, SAME, read, continued)

    def _continued(self, model: Path, table: Path) -> Iterator[tuple[str, str]]:
        """Each writer goes on with a copy of the table; every reader reads what it left."""
        steps = [continuing_step(self.row)]
        self._go_on(self.cast.model, model, steps)
        expected = self._snapshot(self.cast.model, model)
        for writer, session in self.cast.continuing.items():
            copy = self.folder / f"continued-{next(self.numbers)}" / "table"
            shutil.copytree(table, copy)
            word = self._go_on(session, copy, steps)
            for reader, reading in self.cast.readers.items():
                yield f"{writer}, read by {reader}", word or self._word(expected, self._snapshot(reading, copy))

    def _written(self, session: Session, table: Path, steps: Sequence[Step]) -> str:
        created = _word_of(self._ask(session, "create_table", table, self.shape.create_params()))
        return created or self._go_on(session, table, steps)

    def _go_on(self, session: Session, table: Path, steps: Sequence[Step]) -> str:
        for number, step in enumerate(steps, start=1):
            rows, file = step.input(), None
            if rows is not None:
                file = self.folder / f"input-{next(self.numbers)}.jsonl"
                write_rows(file, rows)
            word = _word_of(self._ask(session, "write", table, step.params(self.shape, file)))
            if word:
                return f"step {number}, {step.operation}: {word}"
        return ""

    def _snapshot(self, session: Session, table: Path) -> Rows | str:
        out_dir = self.folder / f"out-{next(self.numbers)}"
        heard = self._ask(session, "read_snapshot", table, {}, out_dir)
        word = _word_of(heard)
        if word or not isinstance(heard, Reply):
            return word
        result = heard.message["result"]
        if "rows_file" not in result:
            return "a value, where rows are asked"
        try:
            return read_answer(out_dir, result["rows_file"])
        except RowsError as error:
            return str(error)

    def _word(self, expected: Rows | str, found: Rows | str) -> str:
        if isinstance(expected, str) or isinstance(found, str):
            return found if isinstance(found, str) else f"the model: {expected}"
        differences = compare_rows(expected, found)
        return "; ".join(differences[:3]) or SAME

    def _ask(
        self, session: Session, op: str, table: Path, params: Mapping[str, Any], out_dir: Path | None = None
    ) -> Heard:
        out_dir = out_dir or self.folder / f"out-{next(self.numbers)}"
        out_dir.mkdir(parents=True)
        return session.ask(op, table, params, out_dir, LIMIT_S)

    def _table(self, name: str) -> Path:
        path = self.folder / name / "table"
        path.mkdir(parents=True)
        return path


def continuing_step(row: ArrayRow) -> Step:
    """An upsert of every row that the first step brought, in new versions where it was last, and of one new row."""
    first, places = row.case.steps[0], _last_places(row)
    changes = {"ts": 9, "note": "went on", "fare": 0.5}
    found = [dict(zip((name for name, _ in first.columns), one, strict=True)) for one in first.rows or ()]
    rows = [{**one, **places[_key_of(row, one)], **changes} for one in found]
    rows.append({**rows[0], "id": "new", "number": 77})
    return Step("upsert", first.columns, tuple(tuple(one[name] for name, _ in first.columns) for one in rows))


def _last_places(row: ArrayRow) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The partition's columns of each key, as the last step said that brought it."""
    shape, places = row.case.shape, {}
    for step in row.case.steps:
        for values in step.rows or ():
            one = dict(zip((name for name, _ in step.columns), values, strict=True))
            places[_key_of(row, one)] = {name: one[name] for name in shape.partition_by}
    return places


def _key_of(row: ArrayRow, values: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(values[name] for name in row.case.shape.record_key)


def _word_of(heard: Heard) -> str:
    """Empty where there is a result; else the refusal, or what is not supported."""
    if not isinstance(heard, Reply):
        return f"{heard}"[:200]
    message = heard.message
    if "result" in message:
        return ""
    if "unsupported" in message:
        return f"unsupported: {message['unsupported']['feature']}"
    if "rejected" in message:
        refusal = message["rejected"]
        native = [line for line in str(refusal.get("native", "")).splitlines() if not line.startswith("\t")]
        return f"refused, {refusal['reason']}: {_ends([refusal['message'], *native[1:]])}"
    return f"error: {_ends(str(message['errored']['message']).split(' <- '))}"


def _ends(causes: Sequence[str]) -> str:
    """The first and the last of several causes, shortened."""
    told = [cause.strip()[:250] for cause in causes if cause.strip()]
    return " ... ".join(dict.fromkeys((told[0], told[-1])))


@contextmanager
def played_by(model: str, writer: str, readers: Sequence[str], continuing: Sequence[str], root: Path) -> Iterator[Cast]:
    """Adapters started by name; one that reads and writes is one process."""
    with ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hudi-array-logs-")))
        names = dict.fromkeys((model, writer, *readers, *continuing))
        sessions = {
            name: stack.enter_context(Session(find_adapter(name, root).command, logs / f"{number}.log"))
            for number, name in enumerate(names)
        }
        yield Cast(
            sessions[model],
            sessions[writer],
            {name: sessions[name] for name in readers},
            {name: sessions[name] for name in continuing},
        )


def differs(told: Told) -> bool:
    """Whether a word is neither that all is the same nor that something is not supported."""
    words = (told.written, *told.read.values(), *told.continued.values())
    return any(word != SAME and not word.startswith("unsupported") for word in words)


def told_line(told: Told) -> str:
    """One line where all is well, and one more for every word that is not `same`."""
    words = {"written": told.written, **told.read, **told.continued}
    others = [f"  {who}: {word}" for who, word in words.items() if word != SAME]
    features = ", ".join(told.features.values())
    return "\n".join([f"{told.row} ({features}): {len(words) - len(others)} of {len(words)} same", *others])
