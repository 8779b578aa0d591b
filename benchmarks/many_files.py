"""A check of a table of many files, timed: `python benchmarks/many_files.py --files 10000 --writes 100`.

The table is made anew from a seed: half of its files are base files, half are logs on them, in 20 partitions.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hudi_conformance.bridge import store
from hudi_model.actions import Action, CommitMetadata, State, TimelineEntry, WriteStat
from hudi_model.creation import create_table
from hudi_model.effects import base_file_name, log_file_name, new_file_id, timeline_file_name
from hudi_model.files import BaseFile, DataBlock, Field, LogFile, Record, Schema
from hudi_model.slicing import path_of
from hudi_model.tables import Table
from hudi_model.time import InstantTime, tick
from hudi_spark import check_table

SCHEMA = Schema(tuple(Field(name, kind) for name, kind in (("id", "string"), ("region", "string"), ("ts", "int64"))))
PROPERTIES = {
    "hoodie.table.name": "many_files",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.partition.fields": "region",
    "hoodie.table.ordering.fields": "ts",
}
PARTITIONS = 20
ROWS = 3
TOKEN = "0-1-0"  # noqa: S105 - a write token


def many_files(files: int, writes: int, seed: int) -> Table:
    """A table whose writes each left as many files; the first half are inserts, the second updates of them."""
    chance = random.Random(seed)  # noqa: S311 - data of a benchmark
    table = create_table(PROPERTIES, SCHEMA)
    bases, logs, timeline = list[BaseFile](), list[LogFile](), list[TimelineEntry]()
    for number in range(writes):
        instant, share = tick(1000 * (number + 1)), range(files * number // writes, files * (number + 1) // writes)
        made: list[BaseFile | LogFile] = []
        for place in share:
            if place < files - files // 2:
                made.append(base_file(instant, place, chance))
            else:
                made.append(log_on(instant, bases[place - (files - files // 2)], chance))
        bases += (one for one in made if isinstance(one, BaseFile))
        logs += (one for one in made if isinstance(one, LogFile))
        timeline += commit(instant, made)
    return Table(table.properties, None, tuple(timeline), tuple(bases), tuple(logs))


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


def commit(instant: InstantTime, files: list[BaseFile | LogFile]) -> Iterator[TimelineEntry]:
    """The timeline files of a write."""
    done = InstantTime(f"{int(instant) + 500}")
    stats = tuple(WriteStat(one.partition, one.file_id, path_of(one)) for one in files)
    metadata = CommitMetadata("UPSERT", write_stats=stats, schema=SCHEMA, extra={})
    states = ((State.REQUESTED, None, None), (State.INFLIGHT, None, None), (State.COMPLETED, done, metadata))
    for state, completed, content in states:
        name = timeline_file_name(instant, Action.DELTA_COMMIT, state, completed, 2)
        yield TimelineEntry(instant, Action.DELTA_COMMIT, state, completed, content, name)


def measured(path: Path, *, deep: bool) -> dict[str, float | int]:
    """Seconds of the wall and of the processor for one check, and how much it found."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = check_table(path, deep=deep)
    took, used = time.perf_counter() - wall, time.process_time() - cpu
    errors = sum(one.severity == "error" for one in found)
    return {"check_s": round(took, 2), "cpu_s": round(used, 2), "errors": errors}


def main() -> None:
    """Make the table and check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    for name, default in (("files", 10_000), ("writes", 100), ("seed", 9)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--deep", action="store_true", help="rows too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hudi-many-files-") as folder:
        store(many_files(options.files, options.writes, options.seed), Path(folder))
        result = {"files": options.files, "writes": options.writes, "cores": os.cpu_count(), "deep": options.deep}
        print(json.dumps(result | measured(Path(folder), deep=options.deep)))


if __name__ == "__main__":
    main()
