"""Table version 8: by Apache Hudi 1.0.2, and by 1.1.1 asked for 8."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED, TableWriter, payload

_COW = ("table-version-8", "cow", "base-parquet")
_MOR = ("table-version-8", "mor", "base-parquet", "log-avro", "log-delete", "record-positions")


@recipe(
    "v8/apache_cow_deletes",
    bundle="1.0.2",
    title="Version 8, copy-on-write, event time, folders without field names: late rows and deletes",
    features=(*_COW, "merge-event-time"),
)
def cow_deletes(table: TableWriter) -> None:
    """Two inserts, an upsert in which some rows are late, rows that mark themselves deleted, a delete operation."""
    table.configure({**EVENT_TIME, "hoodie.datasource.write.hive_style_partitioning": "false"})
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7,), 300, "delete"))


@recipe(
    "v8/apache_mor_event_time",
    bundle="1.0.2",
    title="Version 8, merge-on-read, event time: late rows, soft and hard deletes, a key that returns",
    features=(*_MOR, "merge-event-time"),
)
def mor_event_time(table: TableWriter) -> None:
    """Two inserts, logs with newer and late rows, deletes with and without ordering value, a deleted key again."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7, 8), 300, "delete"))
    table.upsert([*orders((4,), 160, "back, high"), *orders((5,), 120, "back, late")])


@recipe(
    "v8/apache_mor_commit_time",
    bundle="1.1.1",
    title="Version 8 as Apache Hudi 1.1.1 writes it on request, merge-on-read, commit time, not partitioned",
    features=(*_MOR, "merge-commit-time"),
)
def mor_commit_time(table: TableWriter) -> None:
    """An ordering field and a payload that ignores it; upserts whose ts falls, a delete, its key again."""
    table.configure({**EVENT_TIME, **NOT_PARTITIONED, **payload("OverwriteWithLatestAvroPayload")})
    table.write(orders(range(6), 100, "first"), "insert")
    table.write(orders(range(6, 10), 100, "second"), "insert")
    table.upsert(orders((0, 1, 2, 6), 50, "older ts, later write"))
    table.delete(orders((3, 7), 10, "delete"))
    table.upsert([*orders((3,), 5, "back"), *orders((4,), 300, "update"), *deletes((5,), 1)])
