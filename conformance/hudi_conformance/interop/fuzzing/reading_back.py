"""Tables of the array: written by one adapter, read by others, continued by others, all held against the model."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hudi_adapter.rows import Rows

from hudi_conformance.corpus.table_shapes import Step, TableShape
from hudi_conformance.interop.fuzzing.array import ArrayRow
from hudi_conformance.interop.fuzzing.running import LIMIT_S
from hudi_conformance.runner.adapter_pool import AdapterClient
from hudi_conformance.runner.adapters_config import find_adapter
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.session import Session
from hudi_conformance.runner.step_executor import Answer, Kind, StepExecutor

SAME = "same"


@dataclass(frozen=True, slots=True)
class RowResult:
    """What came of one row: the writer's word, each reader's, and each reader's after each continuing writer.

    A word is `same`, `unsupported: ...`, or what differs. Keys of `continued` are `writer, read by reader`.
    """

    row: str
    features: Mapping[str, str]
    written: str
    read: Mapping[str, str]
    continued: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Participants:
    """Who plays: the model, the writer, readers by name, writers that go on with the table by name."""

    model: AdapterClient
    writer: AdapterClient
    readers: Mapping[str, AdapterClient]
    continuing: Mapping[str, AdapterClient]


def run_row(row: ArrayRow, participants: Participants, folder: Path) -> RowResult:
    """Run one row below an empty folder."""
    return _Run(row, participants, folder).result()


class _Run:
    def __init__(self, row: ArrayRow, participants: Participants, folder: Path) -> None:
        self.row, self.participants, self.folder = row, participants, folder
        self.shape: TableShape = row.case.shape
        self.model = StepExecutor.below(folder / "model", participants.model, LIMIT_S)
        self.written = StepExecutor.below(folder / "written", participants.writer, LIMIT_S)

    def result(self) -> RowResult:
        for who, executor in (("the model", self.model), ("the writer", self.written)):
            executor.table.mkdir(parents=True)
            word = _word_of(executor.request("create_table", self.shape.create_params()))
            word = word or self._go_on(executor, self.row.case.steps)
            if word:
                return RowResult(self.row.name, self.row.features, f"{who}: {word}", {}, {})
        expected = _snapshot(self.model)
        read = {name: self._read(expected, self.written, one) for name, one in self.participants.readers.items()}
        continued = dict(self._continued()) if self.participants.continuing else {}
        return RowResult(self.row.name, self.row.features, SAME, read, continued)

    def _continued(self) -> Iterator[tuple[str, str]]:
        """Each writer goes on with a copy of the table; every reader reads what it left."""
        steps = [continuing_step(self.row)]
        self._go_on(self.model, steps)
        expected = _snapshot(self.model)
        for number, (writer, adapter) in enumerate(self.participants.continuing.items()):
            copy = StepExecutor.below(self.folder / f"continued-{number}", adapter, LIMIT_S)
            shutil.copytree(self.written.table, copy.table)
            word = self._go_on(copy, steps)
            for reader, reading in self.participants.readers.items():
                yield f"{writer}, read by {reader}", word or self._read(expected, copy, reading)

    def _go_on(self, executor: StepExecutor, steps: Sequence[Step]) -> str:
        for number, step in enumerate(steps, start=1):
            word = _word_of(executor.request("write", step.params(self.shape), step.input()))
            if word:
                return f"step {number}, {step.operation}: {word}"
        return ""

    @staticmethod
    def _read(expected: Rows | str, executor: StepExecutor, reader: AdapterClient) -> str:
        """The word on what a reader answers about the table of a player."""
        found = _snapshot(replace(executor, adapter=reader))
        if isinstance(expected, str) or isinstance(found, str):
            return found if isinstance(found, str) else f"the model: {expected}"
        return "; ".join(compare_rows(expected, found)[:3]) or SAME


def _snapshot(executor: StepExecutor) -> Rows | str:
    answer = executor.request("read_snapshot", {})
    return answer.rows if answer.rows is not None else _word_of(answer) or "a value, where rows are asked"


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


def _word_of(answer: Answer) -> str:
    """Empty where there is a result; else the refusal, or what is not supported."""
    match answer.kind:
        case Kind.RESULT:
            return ""
        case Kind.UNSUPPORTED:
            return f"unsupported: {answer.reason}"
        case Kind.REJECTED:
            native = [line for line in answer.detail.splitlines() if not line.startswith("\t")]
            return f"refused, {answer.reason}: {_ends([answer.message, *native[1:]])}"
        case Kind.ERRORED:
            return f"error: {_ends(answer.message.split(' <- '))}"
        case _:
            return answer.message[:200]


def _ends(causes: Sequence[str]) -> str:
    """The first and the last of several causes, shortened."""
    endings = [cause.strip()[:250] for cause in causes if cause.strip()]
    return " ... ".join(dict.fromkeys((endings[0], endings[-1])))


@contextmanager
def played_by(
    model: str, writer: str, readers: Sequence[str], continuing: Sequence[str], root: Path
) -> Iterator[Participants]:
    """Adapters started by name; one that reads and writes is one process."""
    with ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hudi-array-logs-")))
        names = dict.fromkeys((model, writer, *readers, *continuing))
        sessions = {
            name: stack.enter_context(Session(find_adapter(name, root).command, logs / f"{number}.log"))
            for number, name in enumerate(names)
        }
        yield Participants(
            sessions[model],
            sessions[writer],
            {name: sessions[name] for name in readers},
            {name: sessions[name] for name in continuing},
        )


def differs(result: RowResult) -> bool:
    """Whether a word is neither that all is the same nor that something is not supported."""
    words = (result.written, *result.read.values(), *result.continued.values())
    return any(word != SAME and not word.startswith("unsupported") for word in words)


def describe_row(result: RowResult) -> str:
    """One line where all is well, and one more for every word that is not `same`."""
    words = {"written": result.written, **result.read, **result.continued}
    others = [f"  {who}: {word}" for who, word in words.items() if word != SAME]
    features = ", ".join(result.features.values())
    return "\n".join([f"{result.row} ({features}): {len(words) - len(others)} of {len(words)} same", *others])
