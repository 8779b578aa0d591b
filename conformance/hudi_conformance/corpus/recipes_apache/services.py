"""Tables on which table services ran or were planned: compaction, log compaction, cleaning, savepoint, metadata."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, TableWriter, payload

_LOGS = ("mor", "base-parquet", "log-avro")
_METADATA = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}


@recipe(
    "v6/apache_mor_pending_compaction",
    bundle="0.15.0",
    title="Version 6, a pending compaction with logs before and after its request",
    features=("table-version-6", *_LOGS, "payload-DefaultHoodieRecordPayload"),
)
def pending_compaction_6(table: TableWriter) -> None:
    """Insert, upsert, schedule a compaction, upsert and delete: the later logs are named by the compaction instant."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _pending_compaction(table)


@recipe(
    "v9/apache_mor_pending_compaction",
    bundle="1.1.1",
    title="A pending compaction with logs before and after its request",
    features=("table-version-9", *_LOGS, "log-delete", "merge-event-time"),
)
def pending_compaction_9(table: TableWriter) -> None:
    """Insert, upsert, schedule a compaction, upsert and delete, with nobody to run the compaction."""
    table.configure(EVENT_TIME)
    _pending_compaction(table)


def _pending_compaction(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "before"), *orders((3,), 50, "late")])
    table.schedule_compaction()
    table.upsert([*orders((1, 2, 4), 300, "after"), *orders((0,), 150, "after, late")])
    table.upsert([*deletes((5,), 400), *orders((8, 9), 400, "new")])


@recipe(
    "v6/apache_mor_compacted",
    bundle="0.15.0",
    title="Version 6, a completed compaction and logs after it",
    features=("table-version-6", *_LOGS, "payload-DefaultHoodieRecordPayload"),
)
def compacted_6(table: TableWriter) -> None:
    """Insert, upsert, compact, upsert and delete."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _compacted(table)


@recipe(
    "v8/apache_mor_compacted",
    bundle="1.1.1",
    title="Version 8, a completed compaction and logs after it",
    features=("table-version-8", *_LOGS, "log-delete", "merge-event-time"),
)
def compacted_8(table: TableWriter) -> None:
    """Insert, upsert, compact, upsert and delete."""
    table.configure(EVENT_TIME)
    _compacted(table)


@recipe(
    "v9/apache_mor_compacted",
    bundle="1.1.1",
    title="A completed compaction, logs after it, and a second compaction pending",
    features=("table-version-9", *_LOGS, "log-delete", "merge-event-time"),
)
def compacted_9(table: TableWriter) -> None:
    """Insert, upsert, compact, upsert and delete, then one more compaction that nobody runs."""
    table.configure(EVENT_TIME)
    _compacted(table)
    table.schedule_compaction()


def _compacted(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "before"), *orders((3,), 50, "late"), *deletes((6,), 200)])
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((1, 4), 300, "after"), *orders((0,), 150, "after, late")])
    table.delete(orders((5,), 1, "delete"))


@recipe(
    "v9/apache_mor_log_compaction",
    bundle="1.1.1",
    title="Logs replaced by one log compaction, and a log after it",
    features=("table-version-9", *_LOGS, "log-compaction", "merge-event-time"),
)
def log_compaction(table: TableWriter) -> None:
    """Insert, three upserts of the same file groups, a log compaction inside the fourth, one upsert more."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert(orders((0, 1, 2, 3), 200, "update"))
    table.upsert([*orders((0, 1), 300, "again"), *orders((2,), 150, "late")])
    table.upsert(
        orders((4, 5), 300, "third"),
        hoodie__log__compaction__inline="true",
        hoodie__log__compaction__enable="true",
        hoodie__log__compaction__blocks__threshold="2",
    )
    table.upsert([*orders((0,), 250, "late after"), *orders((3,), 400, "after")])


@recipe(
    "v9/apache_cow_cleaned",
    bundle="1.1.1",
    title="Copy-on-write, cleaned: only the files of the newest two commits are kept; the metadata table is on",
    features=("table-version-9", "cow", "base-parquet", "merge-event-time"),
)
def cleaned(table: TableWriter) -> None:
    """Insert and four upserts with the metadata table on; the cleaner runs inside the last."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert(orders((0, 1, 2), 200, "second"))
    table.upsert([*orders((0, 3), 300, "third"), *orders((1,), 50, "late")])
    table.upsert(deletes((4, 5), 400))
    table.upsert(
        orders((0, 1), 500, "last"),
        hoodie__clean__automatic="true",
        hoodie__clean__commits__retained="1",
        hoodie__clean__max__commits="1",
    )


@recipe(
    "v9/apache_mor_metadata_table",
    bundle="1.1.1",
    title="Merge-on-read with the metadata table on, one compaction of the data",
    features=("table-version-9", *_LOGS, "log-delete", "merge-event-time"),
)
def metadata_table(table: TableWriter) -> None:
    """Insert, upsert, compact and upsert again, each step with its deltacommit in the metadata table."""
    table.configure({**EVENT_TIME, **_METADATA})
    _compacted(table)


@recipe(
    "v9/apache_mor_restored",
    bundle="1.1.1",
    title="Begun as version 8, upgraded to 9 by its savepoint, restored to it; later writes have left the timeline",
    features=("table-version-9", *_LOGS, "merge-event-time"),
)
def restored(table: TableWriter) -> None:
    """Insert and upsert as version 8, savepoint (which upgrades), two upserts, restore to the savepoint, one upsert."""
    table.configure({**EVENT_TIME, "hoodie.write.table.version": "8"})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "kept"), *orders((2,), 50, "late")])
    saved = table.instants()[-1]
    table.call("create_savepoint", commit_time=saved)
    table.upsert(orders((0, 3, 8), 300, "undone"))
    table.upsert(orders((4, 5), 300, "undone too"))
    table.call("rollback_to_savepoint", instant_time=saved)
    table.upsert([*orders((3,), 150, "after"), *orders((9,), 150, "new")])
