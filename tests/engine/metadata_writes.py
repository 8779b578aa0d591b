"""Drives the metadata table of small tables through actions, as the commit path does, with hooks around the effects."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from engine_tables import TableBuilder, tick
from hudi_format.schemas import arrow_schema
from hudi_format.storage import open_storage
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_spark.testing import (
    RELEASED,
    Effect,
    Effects,
    Executor,
    FinishedWrite,
    Hook,
    InProcess,
    MetadataTable,
    NoHook,
    SetClock,
    TaskIdentity,
    WrittenFile,
    load_snapshot,
    load_table,
    resolve,
    state_of_table,
    update_metadata_table,
    validate_metadata_table,
)

EXECUTOR = InProcess(lambda number: TaskIdentity(number, 7, number))


class Stopped(Exception):  # noqa: N818 - the writer is stopped, it did nothing wrong
    """The writer dies here."""


class StopAt:
    """Stops a writer before the effect of a number, from 0."""

    def __init__(self, number: int) -> None:
        self.left = number

    def before(self, effect: Effect) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stopped(str(effect))

    def after(self, effect: Effect) -> None:
        """Nothing."""


class Writer:
    """Completes actions of a table, the metadata table first."""

    def __init__(self, base: Path, version: int = 9, table_type: str = "MERGE_ON_READ", **options: str) -> None:
        self.table = TableBuilder(base, version, table_type)
        self.options = {key.replace("__", "."): value for key, value in options.items()}
        self.storage = open_storage(base)
        self.executor: Executor = EXECUTOR

    def state(self) -> Any:
        """The table as a write finds it that has the builder's columns."""
        found = state_of_table(self.storage, load_snapshot(self.storage, RELEASED), resolve(self.options))
        schema = replace(found.schema, avro=self.table.schema, arrow=arrow_schema(self.table.schema))
        return replace(found, schema=schema)

    def metadata(self, write: FinishedWrite, hook: Hook | None = None, state: Any = None) -> None:
        """The metadata table's part of an action."""
        clock = SetClock(f"{write.requested[:-3]}500")
        update_metadata_table(
            Effects(self.storage, hook or NoHook()), state or self.state(), write, self.executor, clock
        )

    def commit(
        self,
        n: int,
        stats: Sequence[WriteStat] = (),
        *,
        action: str = "deltacommit",
        operation: str = "UPSERT",
        replaced: Mapping[str, tuple[str, ...]] | None = None,
        hook: Hook | None = None,
    ) -> None:
        """One data action of files that are there."""
        self.table.pending(n, action=action)
        sized = [replace(one, file_size_in_bytes=self.storage.size(one.path or "")) for one in stats]
        written = tuple(WrittenFile(one) for one in sized)
        self.metadata(FinishedWrite(tick(n), action, operation, written, replaced or {}), hook)
        self.table.commit(n, sized, action=action, operation=operation, replaced=replaced, completed=n + 999)

    def findings(self) -> tuple[Any, ...]:
        """What is wrong with the metadata table."""
        return validate_metadata_table(self.storage, EXECUTOR)

    def opened(self) -> MetadataTable | None:
        """The metadata table as readers open it."""
        return MetadataTable.open(self.storage, *load_table(self.storage))


def ids(rows: pa.Table) -> list[str]:
    """The keys of rows."""
    return sorted(rows.column("id").to_pylist())
