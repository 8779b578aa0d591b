"""What a process may be killed over, or meet a faulty storage in: writes and services, each on a table made for it.

A program can be run again where it was left: a service carries out the plans that wait, then plans anew.
"""

import atexit
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hudi_format.storage import LocalStorage, Storage
from hudi_spark import TableDefinition, read_arrow
from hudi_spark.testing import (
    Effects,
    Hook,
    InlineServices,
    InProcess,
    NoHook,
    TableServices,
    TableWriter,
    WriteRequest,
    create_table,
    load_table,
)

SCHEMA = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64()), ("fare", pa.float64())])
AVRO = {
    "type": "record",
    "name": "rides_record",
    "fields": [
        {"name": name, "type": ["null", kind], "default": None}
        for name, kind in (("id", "string"), ("city", "string"), ("ts", "long"), ("fare", "double"))
    ],
}
OPTIONS = {
    "hoodie.metadata.enable": "true",
    "hoodie.parquet.small.file.limit": "0",
    # What the metadata table has not compacted is not archived.
    "hoodie.metadata.compact.max.delta.commits": "2",
}
DUE: Mapping[str, str] = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "1",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.timeline.compaction.batch.size": "2",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
PLANS = {
    "compaction": ("compaction",),
    "logcompaction": ("logcompaction",),
    "clustering": ("clustering", "replacecommit"),
    "clean": ("clean",),
    "indexing": ("indexing",),
}
Row = tuple[str, str, int, float]
Run = Callable[[TableWriter], None]


@dataclass(frozen=True, slots=True)
class Program:
    """Something to run on a table of a version and a type: `name` says what. `configs`: options of its table."""

    version: int
    kind: str
    name: str
    run: Run = field(repr=False, compare=False)
    configs: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"v{self.version}-{'cow' if self.kind == COW else 'mor'}-{self.name}"


def writer_of(storage: Storage, hook: Hook | None = None, configs: Mapping[str, str] = OPTIONS) -> TableWriter:
    """A writer in this process."""
    return TableWriter(storage, InProcess(), configs, hook=hook or NoHook(), lifecycle=InlineServices())


def rows_of(rows: list[Row]) -> pa.Table:
    """Rows in the table's columns."""
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def answers(table: Path) -> list[Row]:
    """The snapshot, sorted."""
    rows: list[Row] = sorted(tuple(row[name] for name in SCHEMA.names) for row in read_arrow(table).to_pylist())
    return rows


def completed(table: Path) -> int:
    """How many actions of the timeline are completed."""
    _, timeline = load_table(LocalStorage(table))
    return sum(one.state == "COMPLETED" for one in timeline.instants)


def made(table: Path, program: Program) -> None:
    """Rows in two partitions, one of them updated often, so that every service finds something to do."""
    services = tuple(name for name in _BEFORE.get(program.name, ()) if program.kind == MOR or name not in _LOGGED)
    shutil.copytree(_made(program.version, program.kind, services, tuple(program.configs.items())), table)


@cache
def _made(version: int, kind: str, services: tuple[str, ...], configs: tuple[tuple[str, str], ...]) -> Path:
    """A table that many programs begin with; it is gone when this process ends."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    storage = LocalStorage(Path(folder.name))
    definition = TableDefinition(
        name="rides",
        schema=AVRO,
        table_type=kind,
        table_version=version,
        record_key=("id",),
        partition_by=("city",),
        ordering=("ts",),
        configs=OPTIONS,
    )
    create_table(Effects(storage), definition)
    writer = writer_of(storage, configs={**OPTIONS, **dict(configs)})
    first = [("r1", "oslo", 1, 1.0), ("r2", "oslo", 1, 2.0), ("ř3", "lima", 1, 3.0)]
    writer.write(WriteRequest("insert", rows_of(first)))
    for ts in range(2, 7):
        writer.write(WriteRequest("upsert", rows_of([("r2", "oslo", ts, 4.0 + ts)])))
        for name in services if ts == _HALFWAY else ():
            SERVICES[name](writer)
    return Path(folder.name)


def write(operation: str, rows: list[Row], partitions: tuple[str, ...] = ()) -> Run:
    """A write; one that is run again writes the same rows."""

    def run(writer: TableWriter) -> None:
        writer.write(WriteRequest(operation, rows_of(rows) if rows else None, partitions=partitions))

    return run


def service(name: str) -> Run:
    """A planned service: plans that wait are carried out first."""

    def run(writer: TableWriter) -> None:
        services = TableServices(writer)
        _, timeline = load_table(writer.storage)
        waiting = [one for one in timeline.instants if one.action in PLANS[name] and not one.is_completed]
        for one in waiting:
            services.execute(one.requested, DUE)
        services.run(name, DUE)

    return run


def called(name: str) -> Run:
    """A service that is one call, without parameters."""

    def run(writer: TableWriter) -> None:
        getattr(TableServices(writer), name)(configs=DUE)

    return run


WRITES: Mapping[str, Run] = {
    "insert": write("insert", [("n1", "oslo", 1, 1.0), ("ñ2", "bergen", 1, 1.0)]),
    "upsert": write("upsert", [("r1", "oslo", 5, 9.0), ("n1", "bergen", 1, 1.0)]),
    "delete": write("delete", [("r1", "oslo", 0, 0.0), ("ř3", "lima", 0, 0.0)]),
    "insert_overwrite": write("insert_overwrite", [("n1", "oslo", 1, 1.0)]),
    "delete_partition": write("delete_partition", [], ("oslo",)),
}
SERVICES: Mapping[str, Run] = {
    **{name: service(name) for name in PLANS},
    "archive": called("archive"),
}
_LOGGED = ("compaction", "logcompaction")
# A clean deletes slices, of which there is one until a compaction; what a clean may need is not archived.
_BEFORE = {"clean": ("compaction",), "archive": ("compaction", "clean")}
_HALFWAY = 4


def programs() -> Iterator[Program]:
    """Every program on every version and type that it is for."""
    for version, kind in product((6, 8, 9), (COW, MOR)):
        for name, run in (*WRITES.items(), *SERVICES.items()):
            if kind == MOR or name not in _LOGGED:
                yield Program(version, kind, name, run)


PROGRAMS = {str(one): one for one in programs()}
