"""Tables that keep a change feed: what each logging mode writes beside the data, and what it leaves to be derived."""

from hudi_conformance.recipes_apache.catalogue import recipe
from hudi_conformance.recipes_apache.orders import deletes, orders
from hudi_conformance.recipes_apache.writer import EVENT_TIME, TableWriter

_COW = ("table-version-9", "cow", "base-parquet", "log-cdc", "cdc", "merge-event-time")
_MOR = ("table-version-9", "mor", "base-parquet", "log-avro", "log-cdc", "cdc", "merge-event-time")


def _change_feed(mode: str) -> dict[str, str]:
    return {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": mode}


def _history(table: TableWriter, mode: str) -> None:
    table.configure({**EVENT_TIME, **_change_feed(mode)})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late"), *deletes((4,), 150)])
    table.delete(orders((3,), 300, "delete"))
    table.upsert([*orders((8,), 100, "new"), *orders((0,), 300, "again")])
    table.write(orders((1, 9), 400, "overwritten"), "insert_overwrite")


@recipe(
    "v9/apache_cow_changes_key_only",
    bundle="1.1.1",
    title="A change feed of operations and keys: both images come from the base files",
    features=_COW,
)
def key_only(table: TableWriter) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, a mixed upsert, one partition overwritten."""
    _history(table, "OP_KEY_ONLY")


@recipe(
    "v9/apache_cow_changes_before",
    bundle="1.1.1",
    title="A change feed with before images: after images come from the base files",
    features=_COW,
)
def before(table: TableWriter) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, a mixed upsert, one partition overwritten."""
    _history(table, "DATA_BEFORE")


@recipe(
    "v9/apache_cow_changes_before_after",
    bundle="1.1.1",
    title="A change feed with both images, a file group emptied, a partition dropped",
    features=_COW,
)
def before_after(table: TableWriter) -> None:
    """Insert, upserts, a delete, one partition overwritten, all keys of a group deleted, a partition dropped."""
    _history(table, "DATA_BEFORE_AFTER")
    table.delete(orders((0, 2, 6, 8), 500, "all of one group"))
    table.write(orders((1,), 500, "dropped"), "delete_partition")


@recipe(
    "v9/apache_mor_changes",
    bundle="1.1.1",
    title="Merge-on-read with a change feed: log appends, a compaction, a delete",
    features=(*_MOR, "log-delete"),
)
def merge_on_read(table: TableWriter) -> None:
    """Insert, two upserts into logs, a compaction, an upsert with a late row, a delete; both images are logged."""
    table.configure({**EVENT_TIME, **_change_feed("DATA_BEFORE_AFTER")})
    table.write(orders(range(6), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late"), *deletes((4,), 150)])
    table.upsert(orders((0, 3), 300, "again"))
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((0, 5), 400, "after the compaction"), *orders((1,), 150, "late"), *orders((6,), 100, "new")])
    table.delete(orders((3,), 1, "delete"))
