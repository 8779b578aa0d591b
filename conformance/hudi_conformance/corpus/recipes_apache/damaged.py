"""Tables that Apache Hudi wrote and that a named edit then damaged, as a crash or a bad disk would."""

from pathlib import Path

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, RecipeError, TableWriter, payload

_LOGS = ("mor", "base-parquet", "log-avro", "log-corrupt")
_MAGIC = b"#HUDI#"


@recipe(
    "v9/apache_mor_torn_log",
    bundle="1.1.1",
    title="The last log of one slice is cut inside its block; the same commit's log of the other region is whole",
    features=("table-version-9", *_LOGS, "merge-event-time"),
)
def torn_log(table: TableWriter) -> None:
    """Insert and two upserts; then the newest log of region north is cut to two thirds of its length."""
    table.configure(EVENT_TIME)
    _two_upserts(table)
    cut(newest_log(table.path / "region=north"))


@recipe(
    "v6/apache_mor_torn_log",
    bundle="0.15.0",
    title="Version 6, a log cut inside its block and whole logs after it",
    features=("table-version-6", *_LOGS, "payload-DefaultHoodieRecordPayload"),
)
def torn_log_6(table: TableWriter) -> None:
    """Insert and two upserts, the newest log of region north is cut to two thirds of its length, one more upsert."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _two_upserts(table)
    cut(newest_log(table.path / "region=north"))
    table.upsert([*orders((2,), 250, "after"), *orders((6,), 20, "late after")])


@recipe(
    "v9/apache_mor_garbage_between_blocks",
    bundle="1.1.1",
    title="Garbage behind a block makes that block corrupt too; the reader finds the one after it",
    features=("table-version-9", *_LOGS, "log-delete", "merge-event-time"),
)
def garbage_between_blocks(table: TableWriter) -> None:
    """Insert and two upserts, the second with a delete block; 45 bytes are then put between its two blocks."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    gone = [each._replace(deleted=True) for each in orders((6, 7), 300, "gone")]
    table.upsert([*orders((0, 4), 300, "second"), *gone])
    insert_garbage(newest_log(table.path / "region=north"))


def _two_upserts(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    table.upsert([*orders((0, 4), 300, "second"), *orders((3,), 300, "second, süd")])


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
