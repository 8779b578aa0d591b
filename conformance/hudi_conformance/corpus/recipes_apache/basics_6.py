"""Table version 6, the one most tables in the world still have: by Apache Hudi 0.15.0, and by 1.1.1 asked for 6."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED, TableWriter, payload

_BUNDLE = "0.15.0"
_COW = ("table-version-6", "cow", "base-parquet")
_MOR = ("table-version-6", "mor", "base-parquet", "log-avro", "log-delete")


@recipe(
    "v6/apache_cow_upserts",
    bundle=_BUNDLE,
    title="Version 6, copy-on-write: upserts, late rows, deletes of both kinds",
    features=_COW,
)
def cow_upserts(table: TableWriter) -> None:
    """Two inserts, an upsert in which some rows are late, rows that mark themselves deleted, a delete operation."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7,), 300, "delete"))
    table.upsert(orders((4, 12), 120, "back"))


@recipe(
    "v6/apache_mor_event_time",
    bundle=_BUNDLE,
    title="Version 6, merge-on-read, DefaultHoodieRecordPayload: late rows, soft and hard deletes, a key that returns",
    features=(*_MOR, "payload-DefaultHoodieRecordPayload"),
)
def mor_event_time(table: TableWriter) -> None:
    """Two inserts, logs with newer and late rows, deletes with and without ordering value, a deleted key again."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _history(table)


@recipe(
    "v6/apache_mor_event_time_by_1_1",
    bundle="1.1.1",
    title="Version 6 as Apache Hudi 1.1.1 writes it on request, merge-on-read, event time",
    features=(*_MOR, "payload-DefaultHoodieRecordPayload"),
)
def mor_event_time_by_1_1(table: TableWriter) -> None:
    """The steps of mor_event_time with the newer bundle: properties carry names of both times."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _history(table)


@recipe(
    "v6/apache_mor_commit_time",
    bundle=_BUNDLE,
    title="Version 6, merge-on-read, OverwriteWithLatestAvroPayload, not partitioned",
    features=(*_MOR, "payload-OverwriteWithLatestAvroPayload"),
)
def mor_commit_time(table: TableWriter) -> None:
    """Upserts whose ts falls, a delete and a second insert of its key; each key in at most one log after the base."""
    table.configure({**EVENT_TIME, **NOT_PARTITIONED, **payload("OverwriteWithLatestAvroPayload")})
    table.write(orders(range(6), 100, "first"), "insert")
    table.write(orders(range(6, 10), 100, "second"), "insert")
    table.upsert(orders((0, 1, 2, 6), 50, "older ts, later write"))
    table.delete(orders((3, 7), 10, "delete"))
    table.upsert([*orders((4,), 300, "update"), *deletes((5,), 1)])


def _history(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7, 8), 300, "delete"))
    table.upsert([*orders((8,), 90, "back, low"), *orders((4,), 160, "back, high"), *orders((5,), 120, "back, late")])
