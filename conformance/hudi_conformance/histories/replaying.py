"""The committed writes of a history, one after another, in the model: what a reader may see after each."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hudi_adapter.rows import Rows, write_rows
from hudi_model import writers
from hudi_model.tables import Table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.asking import ask
from hudi_conformance.bridge.loading import load
from hudi_conformance.bridge.writing import Session, request_of
from hudi_conformance.histories.records import Written
from hudi_conformance.histories.settings import Setting


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

    def snapshot(self, number: int) -> Rows:
        """What a reader sees after that many writes."""
        return _rows(ask(self.tables[number], "read_snapshot", {}).content)

    def incremental(self, number: int, begin: str, end: str) -> Rows:
        """What changed in a range, read after that many writes."""
        return _rows(ask(self.tables[number], "read_incremental", {"begin": begin, "end": end}).content)


def replay(setting: Setting, committed: Sequence[Committed]) -> Replay:
    """Every write done by the model, alone, at the times that it had."""
    with tempfile.TemporaryDirectory(prefix="hudi-replay-") as folder:
        table = _created(setting, Path(folder) / "table")
        tables = [table]
        for number, one in enumerate(committed):
            file = Path(folder) / f"{number}.jsonl"
            write_rows(file, one.written.drawn.rows)
            params = {"operation": one.written.drawn.operation, "input": str(file), "configs": _configs(setting)}
            request = request_of(table, params)
            table = writers.write(table, request, InstantTime(one.written.requested), InstantTime(one.completed))
            tables.append(table)
    return Replay(tuple(committed), tuple(tables))


def _created(setting: Setting, path: Path) -> Table:
    path.mkdir()
    Session().run("create_table", path, setting.create_params())
    return load(path)


def _configs(setting: Setting) -> dict[str, str]:
    return setting.write_configs()


def _rows(content: object) -> Rows:
    assert isinstance(content, Rows)
    return content
