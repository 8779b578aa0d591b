"""A writer that is killed (-9) before any of its effects leaves a table that answers as before it, or as after."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import read_arrow
from hudi_spark.creation.creating import create_table
from hudi_spark.creation.definition import TableDefinition
from hudi_spark.effects.helper import Effects
from hudi_spark.flows.in_process import InProcess
from hudi_spark.state.snapshots import load_table
from hudi_spark.writing.writer import TableWriter, WriteRequest
from pyarrow import feather

WRITER = Path(__file__).with_name("killed_writer.py")
SOAK = "HUDI_CONFORMANCE_SOAK"
SAMPLED = 2
SCHEMA = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64()), ("fare", pa.float64())])
AVRO = {
    "type": "record",
    "name": "rides_record",
    "fields": [
        {"name": name, "type": ["null", kind], "default": None}
        for name, kind in (("id", "string"), ("city", "string"), ("ts", "long"), ("fare", "double"))
    ],
}
OPTIONS = {"hoodie.metadata.enable": "true", "hoodie.parquet.small.file.limit": "0"}
Row = tuple[str, str, int, float]


@dataclass(frozen=True, slots=True)
class CommitPath:
    """A way to commit: version, table type, and what is written to a table that has rows in two partitions."""

    version: int
    kind: str
    operation: str

    def __str__(self) -> str:
        return f"v{self.version}-{'cow' if self.kind == 'COPY_ON_WRITE' else 'mor'}-{self.operation}"


WRITES: Mapping[str, list[Row]] = {
    "insert": [("n1", "oslo", 1, 1.0), ("ñ2", "bergen", 1, 1.0)],
    "upsert": [("r1", "oslo", 5, 9.0), ("n1", "bergen", 1, 1.0)],
    "delete": [("r1", "oslo", 0, 0.0), ("ř3", "lima", 0, 0.0)],
    "insert_overwrite": [("n1", "oslo", 1, 1.0)],
    "delete_partition": [],
}
PATHS = [CommitPath(*one) for one in product((6, 8, 9), ("COPY_ON_WRITE", "MERGE_ON_READ"), WRITES)]


def rows_of(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def answers(table: Path) -> list[Row]:
    rows: list[Row] = sorted(tuple(row[name] for name in SCHEMA.names) for row in read_arrow(table).to_pylist())
    return rows


def completed(table: Path) -> int:
    """How many actions of the timeline are completed."""
    _, timeline = load_table(LocalStorage(table))
    return sum(one.state == "COMPLETED" for one in timeline.instants)


def made(table: Path, path: CommitPath) -> None:
    """Rows in two partitions, one of them updated, so that there are logs where the type has any."""
    definition = TableDefinition(
        name="rides",
        schema=AVRO,
        table_type=path.kind,
        table_version=path.version,
        record_key=("id",),
        partition_by=("city",),
        ordering=("ts",),
        configs=OPTIONS,
    )
    create_table(Effects(LocalStorage(table)), definition)
    writer = TableWriter(LocalStorage(table), InProcess(), OPTIONS)
    first = [("r1", "oslo", 1, 1.0), ("r2", "oslo", 1, 2.0), ("ř3", "lima", 1, 3.0)]
    writer.write(WriteRequest("insert", rows_of(first)))
    writer.write(WriteRequest("upsert", rows_of([("r2", "oslo", 2, 4.0)])))


class Writers:
    """The process that forks writers which die."""

    def __init__(self) -> None:
        command = [sys.executable, str(WRITER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def status(self, request: Mapping[str, Any]) -> int:
        """How a writer's process ended: 0 where it ran through."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    process = Writers()
    yield process
    process.close()


def request_of(path: CommitPath, table: Path, effect: int) -> dict[str, Any]:
    rows = WRITES[path.operation]
    file = table.parent / f"{path.operation}.arrow"
    if rows:
        feather.write_feather(rows_of(rows), file, compression="uncompressed")
    partitions = [] if rows else ["oslo"]
    given = {"table": str(table), "operation": path.operation, "input": str(file) if rows else None}
    return {**given, "partitions": partitions, "configs": OPTIONS, "effect": effect}


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_killed_writer_leaves_all_or_nothing(path: CommitPath, writers: Writers, tmp_path: Path):
    """Before each of a write's effects the process is killed; the table answers as before the write, or as after where
    its completing effect had happened; the next write works, and both are there."""
    table = tmp_path / "table"
    made(table, path)
    before, count = answers(table), completed(table)
    after_table = tmp_path / "after" / "table"
    shutil.copytree(table, after_table)
    assert writers.status(request_of(path, after_table, 100_000)) == 0
    after = answers(after_table)
    assert after != before
    effects = int((tmp_path / "after" / "effects").read_text(encoding="ascii"))
    assert effects > 3

    for number in chosen(effects, path):
        copy = tmp_path / f"killed-{number}" / "table"
        shutil.copytree(table, copy)
        assert writers.status(request_of(path, copy, number)) == -9, f"effect {number} of {effects}"
        held = after if completed(copy) > count else before
        assert answers(copy) == held, f"killed before effect {number} of {effects}"
        next_row = ("z9", "oslo", 1, 7.0)
        TableWriter(LocalStorage(copy), InProcess(), OPTIONS).write(WriteRequest("upsert", rows_of([next_row])))
        assert answers(copy) == sorted([*held, next_row]), f"the next write after {number} of {effects}"
        shutil.rmtree(copy.parent)


def chosen(effects: int, path: CommitPath) -> list[int]:
    """Every effect in soak; else a few, others for each path, so that all paths together see every place."""
    if os.environ.get(SOAK, "") not in {"", "0"}:
        return list(range(effects))
    stride = max(1, effects // SAMPLED)
    return list(range(PATHS.index(path) % stride, effects, stride))
