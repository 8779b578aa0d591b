"""Table version 9 as Apache Hudi 1.1.1 writes it: the everyday histories."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED, TableWriter

_BUNDLE = "1.1.1"
_COW = ("table-version-9", "cow", "base-parquet")
_MOR = ("table-version-9", "mor", "base-parquet", "log-avro")


@recipe(
    "v9/apache_cow_late_data",
    bundle=_BUNDLE,
    title="Copy-on-write, event time: late rows lose, deletes of both kinds",
    features=(*_COW, "merge-event-time"),
)
def cow_late_data(table: TableWriter) -> None:
    """Two inserts, an upsert in which some rows are late, rows that mark themselves deleted, a delete operation."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7,), 300, "delete"))


@recipe(
    "v9/apache_mor_event_time",
    bundle=_BUNDLE,
    title="Merge-on-read, event time: late rows, soft and hard deletes, a key that returns",
    features=(*_MOR, "log-delete", "record-positions", "merge-event-time"),
)
def mor_event_time(table: TableWriter) -> None:
    """Two inserts, logs with newer and late rows, deletes with and without ordering value, a deleted key again."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7, 8), 300, "delete"))
    table.upsert([*orders((8,), 90, "back, low"), *orders((4,), 160, "back, high"), *orders((5,), 120, "back, late")])


@recipe(
    "v9/apache_mor_commit_time",
    bundle=_BUNDLE,
    title="Merge-on-read, commit time, not partitioned: the last write wins whatever its ts",
    features=(*_MOR, "log-delete", "merge-commit-time"),
)
def mor_commit_time(table: TableWriter) -> None:
    """No ordering field and no partition field; upserts with falling ts, a delete, a second insert of the key."""
    table.configure(NOT_PARTITIONED)
    table.write(orders(range(6), 100, "first"), "insert")
    table.write(orders(range(6, 10), 100, "second"), "insert")
    table.upsert(orders((0, 1, 2, 6), 50, "older ts, later write"))
    table.delete(orders((3, 7), 10, "delete"))
    table.upsert([*orders((3,), 5, "back"), *orders((4,), 300, "update"), *deletes((5,), 1)])
