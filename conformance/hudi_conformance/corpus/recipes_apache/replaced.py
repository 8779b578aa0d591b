"""Tables with replaced file groups: insert overwrite, delete partition, clustering."""

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    chunk,
    file_slices,
    filtered_after_merging,
    meta_fields,
    since_first,
    timeline,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, TableWriter


def query_cow_insert_overwrite(table: WrittenTable) -> None:
    """Two inserts, one partition overwritten, an upsert into the group that came instead."""
    table.snapshot("snapshot", "the overwritten partition holds the new rows only", "RD-003", "replaced-group-visible")
    _as_of_before(table, 2, "overwrite")
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def query_mor_insert_overwrite(table: WrittenTable) -> None:
    """One partition with logs overwritten, logs on what replaced it."""
    table.snapshot("snapshot", "the overwritten groups are hidden, logs and all", "RD-003", "replaced-group-visible")
    _as_of_before(table, 2, "overwrite")
    base_files_only(table)
    file_slices(table, "replaced-group-visible", "RD-003")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def _as_of_before(table: WrittenTable, number: int, what: str) -> None:
    then = "the old groups are read"
    table.as_of(table.after(number), f"as-of-before-{what}", then, "RD-003", "replaced-group-hidden-too-early")


@kept(
    "v9/apache_mor_insert_overwrite",
    by="1.1.1",
    title="Merge-on-read: one partition with logs overwritten, one kept, logs on the new file group",
    features=("base-parquet", "log-avro", "merge-event-time"),
    queries=query_mor_insert_overwrite,
)
@kept(
    "v6/apache_cow_insert_overwrite",
    by="0.15.0",
    title="Version 6, copy-on-write: one partition overwritten, one kept",
    features=("base-parquet",),
    queries=query_cow_insert_overwrite,
)
def insert_overwrite(table: TableWriter) -> None:
    """Two inserts, an upsert, insert_overwrite with rows of one partition only, an upsert of what replaced it."""
    table.order_by_event_time()
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 2, 8), 200, "update"), *orders((3,), 50, "late")])
    table.write(orders((0, 4, 20), 150, "overwrite"), "insert_overwrite")
    table.upsert([*orders((0,), 120, "late after"), *orders((20, 5), 300, "after")])


def query_delete_partition(table: WrittenTable) -> None:
    """One partition deleted, then written again with fewer rows."""
    table.snapshot("snapshot", "the deleted partition holds the new rows only", "RD-003", "replaced-group-visible")
    _as_of_before(table, 1, "delete")
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table, clauses="TL-003 TL-008")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_delete_partition",
    by="1.1.1",
    title="Copy-on-write: one partition deleted, then written again with fewer rows",
    features=("base-parquet", "merge-event-time"),
    queries=query_delete_partition,
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


# By version: what hides the old groups, and the clauses of the timeline.
_HIDDEN = {
    6: ("replaced groups are hidden", "TL-006 TL-007"),
    8: ("replaced groups are hidden", "TL-006 TL-008"),
    9: ("what the completed clustering replaced is hidden", "TL-006 TL-001"),
}


def query_clustered(table: WrittenTable) -> None:
    """One clustering completed, another only requested."""
    then, clauses = _HIDDEN[table.version]
    table.snapshot("snapshot", then, "RD-003", "replaced-group-visible")
    _as_of_before(table, 2, "clustering")
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table, clauses=clauses)
    if table.version > 6:
        chunk(table, 2, 3, "clustering brings no rows", "IN-005", "range-begin-ignored")
    if table.version == 8:
        chunk(table, 1, 3, "rows are of the write that brought them", "IN-005 IN-003", "rewritten-rows-are-new")
    meta_fields(table)
    if table.version != 8:  # which is copy-on-write
        filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_clustered",
    by="1.1.1",
    title="Merge-on-read: one clustering completed, one only requested",
    features=("base-parquet", "log-avro", "merge-event-time"),
    queries=query_clustered,
)
@kept(
    "v8/apache_cow_clustered",
    by="1.0.2",
    title="Version 8, copy-on-write: four file groups clustered into two, an upsert after it",
    features=("base-parquet", "merge-event-time"),
    queries=query_clustered,
    given="Four groups clustered into two, then an upsert.",
)
@kept(
    "v6/apache_mor_clustered",
    by="0.15.0",
    title="Version 6, merge-on-read: logs and base files clustered together, an upsert after it",
    features=("base-parquet", "log-avro", "payload-DefaultHoodieRecordPayload"),
    queries=query_clustered,
    given="Logs and base files clustered together, then an upsert.",
)
def clustered(table: TableWriter) -> None:
    """Two inserts, a late upsert, clustering of everything, one upsert; in version 9 inserts, and a plan that waits."""
    table.order_by_event_time()
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 2, 8), 200, "update"), *orders((3,), 50, "late")])
    table.cluster()
    if table.version == 9:
        table.write(orders((12, 13), 100, "third"), "insert")
    table.upsert([*orders((0, 9), 300, "after"), *orders((1,), 50, "late after")])
    if table.version == 9:
        table.cluster("schedule")
