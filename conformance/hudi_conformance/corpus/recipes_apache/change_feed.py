"""Tables that keep a change feed: what each logging mode writes beside the data, and what it leaves to be derived."""

from collections.abc import Sequence

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    filtered_after_merging,
    meta_fields,
    since_first,
    timeline,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED, TableWriter

_COW = ("base-parquet", "log-cdc", "cdc", "merge-event-time")
_MOR = ("base-parquet", "log-avro", "log-cdc", "cdc", "merge-event-time")


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


def _query_feed(table: WrittenTable, kills: str) -> None:
    table.changes("0", None, "changes", "every change that any write made", "CD-002 CD-003 CD-008 CD-009", kills)
    table.changes(
        table.after(1),
        None,
        "changes-since",
        "the changes of the writes after the second",
        "CD-003 CD-005 CD-010",
        "range-begin-ignored",
    )
    table.changes("0", table.after(0), "changes-first", "new files are inserts", "CD-005", "later-rows-compete")
    table.incremental(
        table.after(0),
        table.after(2),
        "incremental",
        "the rows of two writes, once each",
        "IN-001",
        "range-begin-ignored",
    )
    table.snapshot("snapshot", "change logs change no row", "LF-018 CD-010", "oldest-base-file")


def query_key_only(table: WrittenTable) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert that also inserts; keys are logged."""
    _query_feed(table, "logged-images-only before-is-after one-change-log")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_changes_key_only",
    by="1.1.1",
    title="A change feed of operations and keys: both images come from the base files",
    features=_COW,
    queries=query_key_only,
)
def key_only(table: TableWriter) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert that also inserts; not partitioned."""
    _history(table, "OP_KEY_ONLY")


def query_before(table: WrittenTable) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert; rows before are logged."""
    _query_feed(table, "logged-images-only one-change-log")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_changes_before",
    by="1.1.1",
    title="A change feed with before images: after images come from the base files",
    features=_COW,
    queries=query_before,
)
def before(table: TableWriter) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert that also inserts; not partitioned."""
    _history(table, "DATA_BEFORE")


def query_before_after(table: WrittenTable) -> None:
    """An insert, an upsert, a partition overwritten, all keys of a file group deleted; both rows are logged."""
    _query_feed(table, "one-change-log")
    table.changes(
        table.after(1),
        table.after(2),
        "changes-overwritten",
        "rows of the replaced group are deleted, those of the new one inserted",
        "CD-005",
        "deleted-rows-unreported",
    )
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")


@kept(
    "v9/apache_cow_changes_before_after",
    by="1.1.1",
    title="A change feed with both images, a file group emptied, a partition overwritten",
    features=_COW,
    queries=query_before_after,
)
def before_after(table: TableWriter) -> None:
    """Insert, an upsert, one partition overwritten, then all keys of the other partition's file group deleted."""
    _configure(table, "DATA_BEFORE_AFTER")
    table.write(_rows(orders(range(4), 100, "first")), "insert")
    table.upsert(_rows(orders((0, 1), 200, "update"), orders((2,), 50, "late")))
    table.write(_rows(orders((1, 9), 400, "overwritten")), "insert_overwrite")
    table.delete(_rows(orders((0, 2), 500, "all of one group")))


def query_merge_on_read(table: WrittenTable) -> None:
    """An insert, two upserts into logs, a compaction that logs changes, an upsert with a late row, a delete."""
    table.changes(
        "0",
        None,
        "changes",
        "what the logs changed, and nothing for the compaction",
        "CD-004 CD-005 CD-007",
        "services-change-rows copied-rows-are-changes deleted-rows-unreported",
    )
    table.changes(
        table.after(2),
        table.after(3),
        "changes-compaction",
        "a compaction changes nothing",
        "CD-007",
        "services-change-rows",
    )
    table.incremental(
        table.after(2),
        table.after(3),
        "incremental-compaction",
        "a compaction brings no rows",
        "IN-005",
        "range-begin-ignored",
    )
    table.incremental(
        table.after(3),
        table.after(4),
        "incremental-late-row",
        "as released the row that lost against the compacted one is answered; by the text it is not",
        "IN-004",
        "range-begin-ignored",
    )
    table.incremental(
        "0", None, "incremental-all", "the whole table", "IN-002 IN-003", "event-time-ignores-ordering deletes-ignored"
    )
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_changes",
    by="1.1.1",
    title="Merge-on-read with a change feed: log appends, a compaction, a delete",
    features=(*_MOR, "log-delete"),
    queries=query_merge_on_read,
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
