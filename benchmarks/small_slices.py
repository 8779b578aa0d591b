"""Tables of many small file slices, made from a seed: base files of a few rows, each with a log on it or none.

They are written as bytes from a state of the model, which takes milliseconds a slice; both sides read them.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from hudi_conformance.bridge import store
from hudi_model.actions import Action, CommitMetadata, State, TimelineEntry, WriteStat
from hudi_model.creation import create_table
from hudi_model.effects import base_file_name, log_file_name, new_file_id, timeline_file_name
from hudi_model.files import BaseFile, DataBlock, Field, LogFile, Record, Schema
from hudi_model.slicing import path_of
from hudi_model.tables import Table
from hudi_model.time import InstantTime, tick

SCHEMA = Schema(tuple(Field(name, kind) for name, kind in (("id", "string"), ("region", "string"), ("ts", "int64"))))
PROPERTIES = {
    "hoodie.table.name": "small_slices",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "region",
    "hoodie.table.ordering.fields": "ts",
}
PARTITIONS = 20
ROWS = 3
TOKEN = "0-1-0"  # noqa: S105 - a write token


def make_small_slices(path: Path, slices: int, writes: int = 20, *, logs: bool = True, seed: int = 9) -> None:
    """A table of so many slices; writes insert them, and as many writes update a row of each where there are logs."""
    chance = random.Random(seed)  # noqa: S311 - data of a benchmark
    table = create_table(PROPERTIES, SCHEMA)
    bases, updates, timeline = list[BaseFile](), list[LogFile](), list[TimelineEntry]()
    for number in range(writes):
        instant = tick(1000 * (number + 1))
        made = [base_file(instant, place, chance) for place in _share(slices, writes, number)]
        timeline += commit(instant, made)
        bases += made
    for number in range(writes if logs else 0):
        instant = tick(1000 * (writes + number + 1))
        added = [log_on(instant, bases[place], chance) for place in _share(slices, writes, number)]
        timeline += commit(instant, added)
        updates += added
    store(Table(table.properties, None, tuple(timeline), tuple(bases), tuple(updates)), path)


def _share(slices: int, writes: int, number: int) -> range:
    return range(slices * number // writes, slices * (number + 1) // writes)


def base_file(instant: InstantTime, place: int, chance: random.Random) -> BaseFile:
    """A new file group with a few rows."""
    partition, file_id = f"region-{chance.randrange(PARTITIONS):02d}", new_file_id(place)
    name = base_file_name(file_id, TOKEN, instant)
    rows = tuple(row(instant, partition, name, f"{place}-{number}", chance) for number in range(ROWS))
    return BaseFile(partition, file_id, TOKEN, instant, "parquet", name, rows)


def log_on(instant: InstantTime, base: BaseFile, chance: random.Random) -> LogFile:
    """A log that changes one row of a base file."""
    name = log_file_name(base.file_id, instant, 1, TOKEN)
    key = str(base.records[0].values["id"]) if isinstance(base.records, tuple) else ""
    block = DataBlock(instant, (row(instant, base.partition, base.file_id, key, chance),), schema=SCHEMA)
    return LogFile(base.partition, base.file_id, instant, 1, TOKEN, cdc=False, name=name, blocks=(block,))


def row(instant: InstantTime, partition: str, file: str, key: str, chance: random.Random) -> Record:
    """A row with its meta fields."""
    meta = (instant, f"{instant}_{key}", key, partition, file)
    names = ("commit_time", "commit_seqno", "record_key", "partition_path", "file_name")
    stored = {f"_hoodie_{name}": value for name, value in zip(names, meta, strict=True)}
    return Record({**stored, "id": key, "region": partition, "ts": chance.randrange(1 << 40)})


def commit(instant: InstantTime, files: Sequence[BaseFile | LogFile]) -> Iterator[TimelineEntry]:
    """The timeline files of a write."""
    done = InstantTime(f"{int(instant) + 500}")
    stats = tuple(WriteStat(one.partition, one.file_id, path_of(one)) for one in files)
    metadata = CommitMetadata("UPSERT", write_stats=stats, schema=SCHEMA, extra={})
    states = ((State.REQUESTED, None, None), (State.INFLIGHT, None, None), (State.COMPLETED, done, metadata))
    for state, completed, content in states:
        name = timeline_file_name(instant, Action.DELTA_COMMIT, state, completed, 2)
        yield TimelineEntry(instant, Action.DELTA_COMMIT, state, completed, content, name)
