"""The committed writes of a stress run, one after another, in the model: what a reader may see after each."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hudi_adapter.rows import Rows, write_rows
from hudi_model import writers
from hudi_model.tables import Table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.loading import load
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.bridge.writing import Session, request_of
from hudi_conformance.interop.stress.records import Written
from hudi_conformance.interop.stress.settings import Setting


@dataclass(frozen=True, slots=True)
class Committed:
    """A write that completed, and when: before version 8 the time is only the order."""

    written: Written
    completed: str


@dataclass(frozen=True, slots=True)
class Replay:
    """The model's table before the first write and after each one, in the order of their completion."""

    committed: tuple[Committed, ...]
    tables: tuple[Table, ...]
    _known: dict[tuple[int, str, tuple[tuple[str, str], ...]], Rows] = field(default_factory=dict, repr=False)

    def answer(self, number: int, op: str, params: Mapping[str, str]) -> Rows:
        """What a reader sees after that many writes; each answer is found once."""
        key = (number, op, tuple(sorted(params.items())))
        if key not in self._known:
            rows = evaluate(self.tables[number], op, params).content
            assert isinstance(rows, Rows)
            self._known[key] = rows
        return self._known[key]

    def last(self) -> Rows:
        """The rows after all writes."""
        return self.answer(len(self.committed), "read_snapshot", {})


def replay(setting: Setting, committed: Sequence[Committed]) -> Replay:
    """Every write done by the model, alone, at the times that it had."""
    with tempfile.TemporaryDirectory(prefix="hudi-replay-") as folder:
        table = _created(setting, Path(folder) / "table")
        tables = [table]
        for number, one in enumerate(committed):
            file = Path(folder) / f"{number}.jsonl"
            write_rows(file, one.written.made.rows)
            params = {"operation": one.written.made.operation, "input": str(file), "configs": setting.write_configs()}
            request = request_of(table, params)
            table = writers.write(table, request, InstantTime(one.written.requested), InstantTime(one.completed))
            tables.append(table)
    return Replay(tuple(committed), tuple(tables))


def _created(setting: Setting, path: Path) -> Table:
    path.mkdir()
    Session().run("create_table", path, setting.create_params())
    return load(path)
