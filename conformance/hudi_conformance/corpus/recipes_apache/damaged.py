"""Tables that Apache Hudi wrote and that a named edit then damaged, as a crash or a bad disk would."""

from pathlib import Path

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    check,
    file_slices,
    filtered_after_merging,
    first_commit,
    last_but_one,
    meta_fields,
    since_first,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, RecipeError, TableWriter

_LOGS = ("base-parquet", "log-avro", "log-corrupt")
_MAGIC = b"#HUDI#"


def query_torn_log(table: WrittenTable) -> None:
    """The newest log of one slice is cut inside its block."""
    old = table.version == 6
    table.snapshot(
        "snapshot", "the torn block is skipped with a warning", "LF-010 RD-013", "corrupt-block-without-warning"
    )
    if old:
        first_commit(table)
    else:
        last_but_one(table, "before the torn write all is whole", "LF-010 RD-010")
    base_files_only(table)
    file_slices(table, clauses="LF-010 RD-006" if old else "LF-010 RD-005")
    if old:
        check(table, "the torn block is reported as a warning", "LF-010 RD-013", "violations-never")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_torn_log",
    by="1.1.1",
    title="The last log of one slice is cut inside its block; the same commit's log of the other region is whole",
    features=(*_LOGS, "merge-event-time"),
    queries=query_torn_log,
)
@kept(
    "v6/apache_mor_torn_log",
    by="0.15.0",
    title="Version 6, a log cut inside its block and whole logs after it",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_torn_log,
    given="One log file cut inside its block, whole ones after it.",
)
def torn_log(table: TableWriter) -> None:
    """Insert and two upserts, the newest log of region north cut to two thirds of its length; in version 6 one more."""
    table.order_by_event_time()
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    table.upsert([*orders((0, 4), 300, "second"), *orders((3,), 300, "second, süd")])
    cut(newest_log(table.path / "region=north"))
    if table.version == 6:
        table.upsert([*orders((2,), 250, "after"), *orders((6,), 20, "late after")])


def query_garbage_between_blocks(table: WrittenTable) -> None:
    """Bytes that are no block between the two blocks of one log file."""
    table.snapshot(
        "snapshot",
        "the delete block behind the garbage is read",
        "LF-011 RD-013",
        "corrupt-block-stops-file corrupt-block-without-warning",
    )
    first_commit(table)
    base_files_only(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_garbage_between_blocks",
    by="1.1.1",
    title="Garbage behind a block makes that block corrupt too; the reader finds the one after it",
    features=(*_LOGS, "log-delete", "merge-event-time"),
    queries=query_garbage_between_blocks,
)
def garbage_between_blocks(table: TableWriter) -> None:
    """Insert and two upserts, the second with a delete block; 45 bytes are then put between its two blocks."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    gone = [each._replace(deleted=True) for each in orders((6, 7), 300, "gone")]
    table.upsert([*orders((0, 4), 300, "second"), *gone])
    insert_garbage(newest_log(table.path / "region=north"))


def newest_log(partition: Path) -> Path:
    """The log file whose name sorts last by instant and version."""
    logs = [path for path in partition.iterdir() if ".log." in path.name and not path.name.endswith(".crc")]
    return max(logs, key=lambda path: path.name.split("_", 1)[1])


def cut(log: Path) -> None:
    """Keep the first two thirds of a file."""
    data = log.read_bytes()
    _without_side_file(log).write_bytes(data[: len(data) * 2 // 3])


def insert_garbage(log: Path) -> None:
    """Put bytes that are no block, one of them a stray magic, before the second block of a log file."""
    data = log.read_bytes()
    second = data.find(_MAGIC, len(_MAGIC))
    if second < 0:
        raise RecipeError(f"{log.name} holds one block only")
    garbage = b"\x00garbage\xff" * 3 + _MAGIC + b"no block here"
    _without_side_file(log).write_bytes(data[:second] + garbage + data[second:])


def _without_side_file(log: Path) -> Path:
    log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
    return log
