"""Small tables for table services: rows as (key, day, ts, note), writes and services at a test's tick."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from hudi_model.creation import create_table
from hudi_model.effects import perform
from hudi_model.files import Field, Record, Schema
from hudi_model.queries import read_snapshot
from hudi_model.requests import Operation, Request
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.writers import write

SCHEMA = Schema((Field("id", "string"), Field("day", "string"), Field("ts", "long"), Field("note", "string")))
EAGER = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "1",
    "hoodie.clean.fileversions.retained": "1",
}
VERSIONS = "KEEP_LATEST_FILE_VERSIONS"

Row = tuple[str, str, int, str | None]


def new_table(table_type: str = "MERGE_ON_READ", version: int = 9, **more: str) -> Table:
    """An empty table, partitioned by day; underscores in a name's words stand for dots."""
    properties = {
        "hoodie.table.name": "t",
        "hoodie.table.type": table_type,
        "hoodie.table.version": str(version),
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "day",
        "hoodie.table.ordering.fields" if version == 9 else "hoodie.table.precombine.field": "ts",
    }
    return create_table({**properties, **{name.replace("_", "."): value for name, value in more.items()}}, SCHEMA)


def record(row: Row) -> Record:
    return Record(dict(zip(("id", "day", "ts", "note"), row, strict=True)))


def upsert(table: Table, now: int, *rows: Row, **settings: str) -> Table:
    """An upsert that is requested at a tick and completes five later."""
    return written(table, Operation.UPSERT, now, *rows, **settings)


def written(table: Table, operation: Operation, now: int, *rows: Row, **settings: str) -> Table:
    given = {name.replace("_", "."): value for name, value in settings.items()}
    return write(table, Request(operation, tuple(map(record, rows)), settings=given), tick(now), tick(now + 5))


def scheduled(table: Table, service: ModuleType, now: int, settings: Mapping[str, str] = EAGER) -> Table:
    return perform(table, service.schedule(table, tick(now), settings))


def serviced(table: Table, service: ModuleType, now: int, settings: Mapping[str, str] = EAGER) -> Table:
    """A service that is planned at a tick and completes five later."""
    table = scheduled(table, service, now, settings)
    return perform(table, service.execute(table, tick(now), tick(now + 5)))


def content(table: Table, now: int, state: str) -> Any:
    """What the timeline file of an action in a state holds."""
    return next(one.content for one in table.timeline if one.requested == tick(now) and one.state.name == state)


def names(table: Table) -> set[str]:
    """The names of all data files."""
    return {one.name for one in table.base_files} | {one.name for one in table.log_files}


def rows(table: Table) -> list[Row]:
    found = read_snapshot(table).rows
    return sorted(((row["id"], row["day"], row["ts"], row["note"]) for row in found), key=repr)  # type: ignore[misc]
