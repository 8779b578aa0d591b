"""Table states in a few words: instants by number, rows as (key, ts, value)."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hudi_model.actions import (
    Action,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Content,
    State,
    TimelineEntry,
    WriteStat,
)
from hudi_model.files import BaseFile, Block, Damaged, DataBlock, Delete, DeleteBlock, Field, LogFile, Record, Schema
from hudi_model.rejection import Reason
from hudi_model.tables import Table
from hudi_model.time import InstantTime, tick

SCHEMA = Schema((Field("id", "string"), Field("ts", "int64"), Field("value", "string")))
PARTITION = "day=1"
GROUP = "f1"

Row = tuple[str, int | None, str]


def at(number: float) -> InstantTime:
    """The instant of a test's second `number`."""
    return tick(round(number * 1000))


def record(row: Row, commit: InstantTime, **more: Any) -> Record:
    key, ts, value = row
    meta = {"_hoodie_commit_time": commit, "_hoodie_record_key": key, "_hoodie_partition_path": PARTITION}
    return Record({**meta, "id": key, "ts": ts, "value": value, **more})


def base(
    number: float, *rows: Row, file_id: str = GROUP, partition: str = PARTITION, writer: str = "0-0-0"
) -> BaseFile:
    name = f"{file_id}_{writer}_{at(number)}.parquet"
    records = tuple(record(row, at(number)) for row in rows)
    return BaseFile(partition, file_id, writer, at(number), "parquet", name, records)


def data(number: float, *rows: Row, compacted: Iterable[float] = ()) -> DataBlock:
    instants = tuple(at(one) for one in compacted)
    return DataBlock(at(number), tuple(record(row, at(number)) for row in rows), False, instants, SCHEMA)


def deletes(number: float, *pairs: tuple[str, Any]) -> DeleteBlock:
    return DeleteBlock(at(number), tuple(Delete(key, PARTITION, ordering) for key, ordering in pairs))


def log(
    number: float,
    *blocks: Block,
    version: int = 1,
    writer: str = "0-0-0",
    file_id: str = GROUP,
    partition: str = PARTITION,
    cdc: bool = False,
) -> LogFile:
    name = f".{file_id}_{at(number)}.log.{version}_{writer}" + (".cdc" if cdc else "")
    return LogFile(partition, file_id, at(number), version, writer, cdc, name, blocks)


def entry(
    number: float, action: str, state: str = "COMPLETED", completed: float | None = None, content: Content = None
) -> TimelineEntry:
    done = at(completed) if completed is not None else None
    name = f"{at(number)}{'_' + done if done else ''}.{action}.{state.lower()}"
    return TimelineEntry(at(number), Action(action), State[state], done, content, name)


def stat(file: BaseFile | LogFile) -> WriteStat:
    return WriteStat(file.partition, file.file_id, f"{file.partition}/{file.name}")


def commit(
    number: float,
    *files: BaseFile | LogFile,
    action: str = "deltacommit",
    completed: float | None = None,
    replaced: Iterable[tuple[str, str]] = (),
    schema: Schema | None = SCHEMA,
    operation: str = "UPSERT",
    version: int = 9,
) -> tuple[TimelineEntry, ...]:
    """A completed action with its earlier states; half a second long by default."""
    requested_as = {"commit": "commit", "deltacommit": "deltacommit", "replacecommit": "replacecommit"}[action]
    metadata = CommitMetadata(operation, False, tuple(map(stat, files)), frozenset(replaced), schema, {})
    done = (completed if completed is not None else number + 0.5) if version >= 8 else None
    return (
        entry(number, requested_as, "REQUESTED"),
        entry(number, requested_as, "INFLIGHT"),
        entry(number, action, "COMPLETED", done, metadata),
    )


def failed(number: float, action: str = "deltacommit") -> tuple[TimelineEntry, ...]:
    return entry(number, action, "REQUESTED"), entry(number, action, "INFLIGHT")


def pending_compaction(number: float, *groups: tuple[str, str]) -> tuple[TimelineEntry, ...]:
    operations = tuple(CompactionOperation(*group, at(0), None, ()) for group in groups or [(PARTITION, GROUP)])
    return entry(number, "compaction", "REQUESTED", content=CompactionPlan(operations)), entry(
        number, "compaction", "INFLIGHT"
    )


def completed_compaction(number: float, file: BaseFile, completed: float) -> tuple[TimelineEntry, ...]:
    metadata = CommitMetadata("COMPACT", True, (stat(file),), frozenset(), SCHEMA, {})
    pending = pending_compaction(number, (file.partition, file.file_id))
    return (*pending, entry(number, "commit", "COMPLETED", completed, metadata))


def properties(version: int = 9, table_type: str = "MERGE_ON_READ", **more: str) -> dict[str, str]:
    """Properties of a table ordered by `ts`; underscores in a name's words stand for dots."""
    found = {
        "hoodie.table.name": "t",
        "hoodie.table.type": table_type,
        "hoodie.table.version": str(version),
        "hoodie.table.checksum": str(zlib.crc32(b".t")),
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.ordering.fields": "ts",
    }
    found.update({name.replace("_", "."): value for name, value in more.items()})
    return {name: value for name, value in found.items() if value}


def table(
    timeline: Iterable[tuple[TimelineEntry, ...]],
    files: Iterable[BaseFile | LogFile] = (),
    settings: Mapping[str, str] | None = None,
) -> Table:
    found = tuple(files)
    return Table(
        settings if settings is not None else properties(),
        None,
        tuple(one for many in timeline for one in many),
        tuple(one for one in found if isinstance(one, BaseFile)),
        tuple(one for one in found if isinstance(one, LogFile)),
    )


def damaged(reason: Reason, clause: str) -> Damaged:
    return Damaged(reason, clause, "a file", "garbage", 7)


def with_records(file: BaseFile, records: Any) -> BaseFile:
    return replace(file, records=records)


def rows(answer: Any) -> list[Row]:
    return sorted((row["id"], row["ts"], row["value"]) for row in answer.rows)
