"""Tables that keep a change feed: what each logging mode writes beside the data, and what it leaves to be derived."""

from collections.abc import Sequence

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED, TableWriter

_COW = ("table-version-9", "cow", "base-parquet", "log-cdc", "cdc", "merge-event-time")
_MOR = ("table-version-9", "mor", "base-parquet", "log-avro", "log-cdc", "cdc", "merge-event-time")


def _configure(table: TableWriter, mode: str) -> None:
    """Without the decimal column, which the change query of 1.1.1 does not render."""
    feed = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}
    table.schema = "id string, region string, ts bigint, note string, _hoodie_is_deleted boolean"
    table.configure({**EVENT_TIME, **feed})


def _rows(*chosen: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [(*row[:4], row[5]) for rows in chosen for row in rows]


def _history(table: TableWriter, mode: str) -> None:
    _configure(table, mode)
    table.configure(NOT_PARTITIONED)
    table.write(_rows(orders(range(8), 100, "first")), "insert")
    table.upsert(_rows(orders((0, 1), 200, "update"), orders((2,), 50, "late"), deletes((4,), 150)))
    table.delete(_rows(orders((3,), 300, "delete")))
    table.upsert(_rows(orders((8,), 100, "new"), orders((0,), 300, "again")))


@recipe(
    "v9/apache_cow_changes_key_only",
    bundle="1.1.1",
    title="A change feed of operations and keys: both images come from the base files",
    features=_COW,
)
def key_only(table: TableWriter) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert that also inserts; not partitioned."""
    _history(table, "OP_KEY_ONLY")


@recipe(
    "v9/apache_cow_changes_before",
    bundle="1.1.1",
    title="A change feed with before images: after images come from the base files",
    features=_COW,
)
def before(table: TableWriter) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert that also inserts; not partitioned."""
    _history(table, "DATA_BEFORE")


@recipe(
    "v9/apache_cow_changes_before_after",
    bundle="1.1.1",
    title="A change feed with both images, a file group emptied, a partition overwritten",
    features=_COW,
)
def before_after(table: TableWriter) -> None:
    """Insert, an upsert, one partition overwritten, then all keys of the other partition's file group deleted."""
    _configure(table, "DATA_BEFORE_AFTER")
    table.write(_rows(orders(range(4), 100, "first")), "insert")
    table.upsert(_rows(orders((0, 1), 200, "update"), orders((2,), 50, "late")))
    table.write(_rows(orders((1, 9), 400, "overwritten")), "insert_overwrite")
    table.delete(_rows(orders((0, 2), 500, "all of one group")))


@recipe(
    "v9/apache_mor_changes",
    bundle="1.1.1",
    title="Merge-on-read with a change feed: log appends, a compaction, a delete",
    features=(*_MOR, "log-delete"),
)
def merge_on_read(table: TableWriter) -> None:
    """Insert, two upserts into logs, a compaction, an upsert with a late row, a delete; not partitioned."""
    _configure(table, "DATA_BEFORE_AFTER")
    table.configure(NOT_PARTITIONED)
    table.write(_rows(orders(range(6), 100, "first")), "insert")
    table.upsert(_rows(orders((0, 1), 200, "update"), orders((2,), 50, "late"), deletes((4,), 150)))
    table.upsert(_rows(orders((0, 3), 300, "again")))
    table.schedule_compaction()
    table.compact()
    table.upsert(
        _rows(orders((0, 5), 400, "after the compaction"), orders((1,), 150, "late"), orders((6,), 100, "new"))
    )
    table.delete(_rows(orders((3,), 1, "delete")))
