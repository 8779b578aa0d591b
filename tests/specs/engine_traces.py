"""Traces that the engine leaves: writes and all services of small tables, one after another."""

import json
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from hudi_format.storage import LocalStorage
from hudi_spark import TableDefinition, create_arrow
from hudi_spark.testing import (
    Effect,
    Hook,
    Hooks,
    InProcess,
    SetClock,
    TableServices,
    TableWriter,
    TraceFile,
    WriteRequest,
)

SCHEMA = pa.schema([("id", pa.string()), ("region", pa.string()), ("ts", pa.int64())])
EAGER = {
    "hoodie.metadata.enable": "true",
    "hoodie.compact.inline.max.delta.commits": "2",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
    "hoodie.timeline.compaction.batch.size": "2",
}
ALONE = {"hoodie.clean.failed.writes.policy": "EAGER"}


class DiedError(Exception):
    """A writer has stopped."""


class CrashesAfter:
    """Stops a writer after the first effect of a name; it has none after that."""

    def __init__(self, name: str) -> None:
        self.name, self.crashed = name, False

    def before(self, effect: Effect) -> None:
        """Failed processes do nothing."""
        del effect
        if self.crashed:
            raise DiedError

    def after(self, effect: Effect) -> None:
        """Stop where it is the one."""
        if effect.name == self.name and not effect.folder:
            self.crashed = True
            raise DiedError


class TracedTable:
    """A table, and the trace of whatever is done to it."""

    def __init__(self, folder: Path, version: int, table_type: str) -> None:
        self.table, self.trace, self.logged = folder / "table", folder / "trace.ndjson", table_type == "MERGE_ON_READ"
        create_arrow(
            self.table,
            TableDefinition(
                name="trips",
                schema=SCHEMA,
                table_type=table_type,
                table_version=version,
                record_key=("id",),
                partition_by=("region",),
                ordering=("ts",),
            ),
        )
        self.clock = SetClock("20250101000000000")

    def writer(self, process: str, *hooks: Hook) -> TableWriter:
        """A process that writes."""
        hooks_of_writer = Hooks((*hooks, TraceFile(str(self.trace), process)))
        return TableWriter(LocalStorage(self.table), InProcess(), EAGER, clock=self.clock, hook=hooks_of_writer)

    def write(self, *keys: int, operation: str = "upsert", process: str = "writer", crashes_at: str = "") -> None:
        """A write, which may die on the way; its lease ends with it."""
        rows = [{"id": f"k{key}", "region": "north" if key % 2 else "south", "ts": 1} for key in keys]
        request = WriteRequest(operation, pa.Table.from_pylist(rows, SCHEMA), configs=ALONE)
        with suppress(DiedError):
            self.writer(process, *([CrashesAfter(crashes_at)] if crashes_at else [])).write(request)

    def services(self, process: str = "keeper") -> TableServices:
        """A process that runs services."""
        return TableServices(self.writer(process))

    def lines(self) -> tuple[dict[str, str], ...]:
        """The trace."""
        return tuple(map(json.loads, self.trace.read_text(encoding="utf-8").splitlines()))


def served_table(folder: Path, version: int, table_type: str) -> TracedTable:
    """Writes, every service between them, a death, a savepoint to which the table is restored, and archivals."""
    table = TracedTable(folder, version, table_type)
    services = table.services()
    for _ in range(3):
        table.write(1, 2, 3)
        if table.logged:
            services.run("logcompaction")
    services.run("compaction" if table.logged else "clean")
    table.write(1, crashes_at="put_marker")
    services.roll_back_failed_writes(ALONE)
    saved = services.savepoint().requested
    table.write(4, 5)
    table.write(1, 4, crashes_at="put_log_file" if table.logged else "put_base_file")
    table.write(5, operation="delete")
    services.restore(saved, saved=True)
    services.delete_savepoint(saved)
    for key in range(5):
        table.write(key, key + 1, key + 2)
        services.run(("clustering", "compaction")[key % 2 and table.logged])
        services.clean()
        services.archive()
    return table
