"""Tables with replaced file groups: insert overwrite, delete partition, clustering."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, TableWriter, payload


@recipe(
    "v6/apache_cow_insert_overwrite",
    bundle="0.15.0",
    title="Version 6, copy-on-write: one partition overwritten, one kept",
    features=("table-version-6", "cow", "base-parquet"),
)
def insert_overwrite_6(table: TableWriter) -> None:
    """Two inserts, insert_overwrite with rows of one partition only, one upsert into the new file group."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _insert_overwrite(table)


@recipe(
    "v9/apache_mor_insert_overwrite",
    bundle="1.1.1",
    title="Merge-on-read: one partition with logs overwritten, one kept, logs on the new file group",
    features=("table-version-9", "mor", "base-parquet", "log-avro", "merge-event-time"),
)
def insert_overwrite_9(table: TableWriter) -> None:
    """Two inserts, logs, insert_overwrite with rows of one partition only, logs on what replaced it."""
    table.configure(EVENT_TIME)
    _insert_overwrite(table)


def _insert_overwrite(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 2, 8), 200, "update"), *orders((3,), 50, "late")])
    table.write(orders((0, 4, 20), 150, "overwrite"), "insert_overwrite")
    table.upsert([*orders((0,), 120, "late after"), *orders((20, 5), 300, "after")])


@recipe(
    "v9/apache_cow_delete_partition",
    bundle="1.1.1",
    title="Copy-on-write: one partition deleted, then written again with fewer rows",
    features=("table-version-9", "cow", "base-parquet", "merge-event-time"),
)
def delete_partition(table: TableWriter) -> None:
    """Insert and late upsert, delete_partition of the non-ASCII partition, insert of two of its keys."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2, 3), 50, "late")])
    table.write(
        orders((1,), 1, "ignored"),
        "delete_partition",
        hoodie__datasource__write__partitions__to__delete="region=süd",
    )
    table.write(orders((1, 9), 10, "again"), "insert")


@recipe(
    "v8/apache_cow_clustered",
    bundle="1.0.2",
    title="Version 8, copy-on-write: four file groups clustered into two, an upsert after it",
    features=("table-version-8", "cow", "base-parquet", "merge-event-time"),
)
def clustered_8(table: TableWriter) -> None:
    """Two inserts, a late upsert, clustering of everything, one upsert."""
    table.configure(EVENT_TIME)
    _before_clustering(table)
    table.cluster()
    table.upsert([*orders((0, 9), 300, "after"), *orders((1,), 50, "late after")])


@recipe(
    "v6/apache_mor_clustered",
    bundle="0.15.0",
    title="Version 6, merge-on-read: logs and base files clustered together, an upsert after it",
    features=("table-version-6", "mor", "base-parquet", "log-avro", "payload-DefaultHoodieRecordPayload"),
)
def clustered_6(table: TableWriter) -> None:
    """Two inserts, a late upsert into logs, clustering of everything, one upsert."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _before_clustering(table)
    table.cluster()
    table.upsert([*orders((0, 9), 300, "after"), *orders((1,), 50, "late after")])


@recipe(
    "v9/apache_mor_clustered",
    bundle="1.1.1",
    title="Merge-on-read: one clustering completed, one only requested",
    features=("table-version-9", "mor", "base-parquet", "log-avro", "merge-event-time"),
)
def clustered_9(table: TableWriter) -> None:
    """Two inserts, a late upsert into logs, clustering of everything, two inserts more, clustering requested."""
    table.configure(EVENT_TIME)
    _before_clustering(table)
    table.cluster()
    table.write(orders((12, 13), 100, "third"), "insert")
    table.upsert([*orders((0, 9), 300, "after"), *orders((1,), 50, "late after")])
    table.cluster("schedule")


def _before_clustering(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 2, 8), 200, "update"), *orders((3,), 50, "late")])
