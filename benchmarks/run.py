"""The engine in-process, the engine on Spark, Apache Hudi and hudi-rs, on two generated tables, in one run.

python benchmarks/run.py [--slices 8] [--rows 50000] [--rounds 3] [--apache 1.1.1]

Prints the best time of each reader for each question, and its ratio to the engine in-process. Both Spark readers share
one session.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_conformance.peers.bundles import bundle_jar
from hudi_format.base.files import write_base_file
from hudi_format.log.content import data_block
from hudi_format.names import BaseFileName, LogFileName, TimelineFileName, timeline_file_name
from hudi_format.schemas import META_FIELDS, arrow_schema, with_meta_fields
from hudi_format.table.partition_metafile import PartitionMetafile, serialise_partition_metafile
from hudi_format.table.properties import serialise_properties, table_checksum
from hudi_format.timeline.commit_metadata import CommitMetadata, WriteStat, serialise_avro
from hudi_spark import HudiTable, read_arrow
from hudi_spark.adapter_executors import local_session

COLUMNS = [("id", "string"), ("ts", "long"), *((f"number{n}", "double") for n in range(8)), ("note", "string")]
SCHEMA = {
    "type": "record",
    "name": "bench_record",
    "namespace": "hoodie.bench",
    "fields": [{"name": name, "type": ["null", kind], "default": None} for name, kind in COLUMNS],
}
STORED = with_meta_fields(SCHEMA)
BASE, LOG = "20250101000000000", "20250101000001000"
PROPERTIES = {
    "hoodie.table.name": "bench",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.table.version": "8",
    "hoodie.table.initial.version": "8",
    "hoodie.timeline.layout.version": "2",
    "hoodie.timeline.path": "timeline",
    "hoodie.timeline.history.path": "history",
    "hoodie.table.checksum": str(table_checksum(None, "bench")),
    "hoodie.table.recordkey.fields": "id",
    "hoodie.table.precombine.field": "ts",
    "hoodie.table.partition.fields": "",
    "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
    "hoodie.table.base.file.format": "PARQUET",
    "hoodie.populate.meta.fields": "true",
    "hoodie.table.timeline.timezone": "UTC",
}

Question = Callable[[], int]


def build_table(base: Path, slices: int, rows: int, kind: str = "MERGE_ON_READ") -> None:
    """Slices of one base file each; merge-on-read, every second one has a log that updates one row in twenty."""
    timeline = base / ".hoodie" / "timeline"
    (timeline / "history").mkdir(parents=True)
    (base / ".hoodie" / "hoodie.properties").write_bytes(
        serialise_properties({**PROPERTIES, "hoodie.table.type": kind})
    )
    metafile = PartitionMetafile(BASE, 0)
    (base / ".hoodie_partition_metadata").write_bytes(serialise_partition_metafile(metafile))
    stats: dict[str, list[WriteStat]] = {BASE: [], LOG: []}
    for group in range(slices):
        name = str(BaseFileName(f"file{group}-0", "0-1-0", BASE, "parquet"))
        base_file = write_base_file(base_rows(group, rows, name), STORED, rows_a_group=rows // 10, bloom_entries=0)
        (base / name).write_bytes(base_file)
        stats[BASE].append(WriteStat(file_id=f"file{group}-0", path=name, prev_commit="null", partition_path=""))
        if group % 2 and kind == "MERGE_ON_READ":
            name = str(LogFileName(f"file{group}-0", LOG, 1, "0-2-0"))
            updates = base_rows(group, rows, f"file{group}-0").slice(0, rows // 20).to_pylist()
            (base / name).write_bytes(data_block(LOG, updates, STORED))
            stats[LOG].append(WriteStat(file_id=f"file{group}-0", path=name, prev_commit=LOG, partition_path=""))
    for instant, written in stats.items():
        if written:
            write_commit(timeline, instant, tuple(written), "deltacommit" if kind == "MERGE_ON_READ" else "commit")


def base_rows(group: int, rows: int, file: str) -> pa.Table:
    """Rows of one slice, meta columns filled."""
    keys = [f"key{group:03d}{row:08d}" for row in range(rows)]
    columns: dict[str, Any] = dict(
        zip(META_FIELDS, ([BASE] * rows, keys, keys, [""] * rows, [file] * rows), strict=True)
    )
    columns |= {"id": keys, "ts": list(range(rows)), "note": [f"note {row % 1000}" for row in range(rows)]}
    columns |= {f"number{n}": [row / (n + 1) for row in range(rows)] for n in range(8)}
    return pa.Table.from_pydict(columns, arrow_schema(STORED))


def write_commit(timeline: Path, instant: str, stats: tuple[WriteStat, ...], action: str) -> None:
    """The three files of a completed write."""
    metadata = CommitMetadata("UPSERT", write_stats=stats, extra={"schema": json.dumps(SCHEMA)})
    completed = str(int(instant) + 500)
    contents = {"REQUESTED": b"", "INFLIGHT": b"", "COMPLETED": serialise_avro(metadata)}
    for state, data in contents.items():
        name = TimelineFileName(instant, action, state, completed if state == "COMPLETED" else None)  # type: ignore[arg-type]
        (timeline / timeline_file_name(name, 2)).write_bytes(data)


def in_process(path: Path) -> dict[str, Question]:
    """Questions to `read_arrow`."""
    return {
        "all rows": lambda: read_arrow(path).num_rows,
        "two columns": lambda: read_arrow(path, columns=["id", "number0"]).num_rows,
        "one row in a hundred": lambda: read_arrow(path, filter=["ts", "<", 500]).num_rows,
    }


def on_spark(path: Path) -> dict[str, Question]:
    """Questions to `HudiTable`; a hash over all columns keeps Spark from leaving columns out."""
    table = HudiTable(local_session("benchmark"), path)

    def rows(**query: Any) -> int:
        totals = table.snapshot(**query).selectExpr("count(1) AS found", "sum(xxhash64(*)) AS total")
        return int(totals.collect()[0]["found"])

    return {
        "all rows": rows,
        "two columns": lambda: rows(columns=["id", "number0"]),
        "one row in a hundred": lambda: rows(filter=["ts", "<", 500]),
    }


def apache_hudi(path: Path) -> dict[str, Question]:
    """The same questions to Apache Hudi's reader."""
    table = local_session("benchmark").read.format("hudi").load(str(path)).drop(*META_FIELDS)

    def rows(frame: Any) -> int:
        totals = frame.selectExpr("count(1) AS found", "sum(xxhash64(*)) AS total")
        return int(totals.collect()[0]["found"])

    return {
        "all rows": lambda: rows(table),
        "two columns": lambda: rows(table.select("id", "number0")),
        "one row in a hundred": lambda: rows(table.filter("ts < 500")),
    }


def with_bundle(version: str) -> None:
    """Let the session that starts next have Apache Hudi beside it."""
    settings = {
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    }
    given = " ".join(f"--conf {key}={value}" for key, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {bundle_jar(version)} {given} pyspark-shell"


def hudi_rs(path: Path) -> dict[str, Question]:
    """Questions to hudi-rs."""
    from hudi import HudiTableBuilder  # noqa: PLC0415 - a peer, which need not be there

    table = HudiTableBuilder.from_base_uri(str(path)).build()
    return {"all rows": lambda: sum(batch.num_rows for batch in table.read())}


READERS: dict[str, Callable[[Path], dict[str, Question]]] = {
    "engine in-process": in_process,
    "engine on Spark": on_spark,
    "Apache Hudi": apache_hudi,
    "hudi-rs": hudi_rs,
}


def best_time(question: Question, rounds: int) -> tuple[float, int]:
    """The best time of a few rounds, and the rows of the answer."""
    times, rows = [], 0
    for _ in range(rounds):
        started = time.perf_counter()
        rows = question()
        times.append(time.perf_counter() - started)
    return min(times), rows


def main() -> None:
    """Build the tables and ask every reader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slices", type=int, default=8)
    parser.add_argument("--rows", type=int, default=50_000, help="rows of each slice")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts")
    parser.add_argument("--apache", default="1.1.1", help="the release of Apache Hudi that reads, too")
    options = parser.parse_args()
    with_bundle(options.apache)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ"):
            build_table(Path(folder) / kind, options.slices, options.rows, kind)
            logs = f", every second one with a log of {options.rows // 20}" * (kind == "MERGE_ON_READ")
            print(f"{kind}: {options.slices} slices of {options.rows} rows{logs}")
            reference: dict[str, float] = {}
            for name, reader in READERS.items():
                report(name, reader, Path(folder) / kind, options.rounds, reference)


def report(
    name: str, reader: Callable[[Path], dict[str, Question]], path: Path, rounds: int, reference: dict[str, float]
) -> None:
    """Print the times of one reader; the first reader's are the reference."""
    try:
        for question, ask in reader(path).items():
            seconds, rows = best_time(ask, rounds)
            ratio = seconds / reference.setdefault(question, seconds)
            print(f"{name:20} {question:22} {seconds:8.3f} s  x {ratio:5.2f}  {rows} rows")
    except Exception as error:  # noqa: BLE001 - a peer that cannot read the table is a line of the report
        print(f"{name:20} {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
