"""Tables on which table services ran or were planned: compaction, log compaction, cleaning, savepoint, metadata."""

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    before_all,
    chunk,
    file_slices,
    filtered_after_merging,
    first_commit,
    last_but_one,
    meta_fields,
    since_first,
    timeline,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, TableWriter

_LOGS = ("base-parquet", "log-avro")
_METADATA = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}


def query_pending_compaction(table: WrittenTable) -> None:
    """Logs before and after the request of a compaction that nobody ran."""
    old = table.version == 6
    table.snapshot("snapshot", "both parts are read over the old base file", "RD-008", "pending-slice-not-joined")
    base_files_only(table, "optimized-empty-under-compaction")
    clauses = "RD-008 LF-016" if old else "RD-008 RD-010"
    last_but_one(table, "the delete is not there yet", clauses, "pending-slice-not-joined")
    file_slices(table, "pending-slice-not-joined", "RD-008")
    timeline(table, clauses="TL-001 TL-004" if old else "TL-004 TL-001")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_pending_compaction",
    by="1.1.1",
    title="A pending compaction with logs before and after its request",
    features=(*_LOGS, "log-delete", "merge-event-time"),
    queries=query_pending_compaction,
)
@kept(
    "v6/apache_mor_pending_compaction",
    by="0.15.0",
    title="Version 6, a pending compaction with logs before and after its request",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_pending_compaction,
)
def pending_compaction(table: TableWriter) -> None:
    """Insert, upsert, schedule a compaction that nobody runs, upsert and delete.

    In version 6 the later logs are named by the compaction's instant.
    """
    table.order_by_event_time()
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "before"), *orders((3,), 50, "late")])
    table.schedule_compaction()
    table.upsert([*orders((1, 2, 4), 300, "after"), *orders((0,), 150, "after, late")])
    table.upsert([*deletes((5,), 400), *orders((8, 9), 400, "new")])


def query_compacted(table: WrittenTable) -> None:
    """A completed compaction, logs after it."""
    old = table.version == 6
    clauses = "RD-004 RD-006" if old else "RD-004 RD-005"
    kills = "oldest-base-file" if old else "deletes-ignored"
    table.snapshot("snapshot", "compacted base files and newer logs are merged", clauses, kills)
    first_commit(table)
    base_files_only(table)
    file_slices(table, "oldest-base-file", clauses)
    timeline(table, clauses="TL-006" if old else "TL-006 TL-008")
    if old:
        chunk(table, 0, 1, "what one write brought, by requested time", "IN-001 IN-003 IN-004", "range-begin-ignored")
        table.incremental("0", None, "incremental-all", "the whole table", "IN-002", "event-time-ignores-ordering")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def query_compacted_and_pending(table: WrittenTable) -> None:
    """One compaction completed, logs after it, a second compaction pending."""
    table.snapshot(
        "snapshot", "the pending compaction's slice joins the one before", "RD-004 RD-008", "deletes-ignored"
    )
    first_commit(table)
    base_files_only(table, "optimized-empty-under-compaction")
    file_slices(table, "oldest-base-file", "RD-008 RD-005")
    timeline(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_compacted",
    by="1.1.1",
    title="A completed compaction, logs after it, and a second compaction pending",
    features=(*_LOGS, "log-delete", "merge-event-time"),
    queries=query_compacted_and_pending,
)
@kept(
    "v8/apache_mor_compacted",
    by="1.1.1",
    title="Version 8, a completed compaction and logs after it",
    features=(*_LOGS, "log-delete", "merge-event-time"),
    queries=query_compacted,
)
@kept(
    "v6/apache_mor_compacted",
    by="0.15.0",
    title="Version 6, a completed compaction and logs after it",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_compacted,
)
def compacted(table: TableWriter) -> None:
    """Insert, upsert, compact, upsert and delete; in version 9 then one more compaction that nobody runs."""
    table.order_by_event_time()
    _compacted(table)
    if table.version == 9:
        table.schedule_compaction()


def _compacted(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "before"), *orders((3,), 50, "late"), *deletes((6,), 200)])
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((1, 4), 300, "after"), *orders((0,), 150, "after, late")])
    table.delete(orders((5,), 1, "delete"))


def query_log_compaction(table: WrittenTable) -> None:
    """Three logs merged by a log compaction, one after it."""
    table.snapshot("snapshot", "merged blocks stand for their sources", "LF-019", "event-time-ignores-ordering")
    first_commit(table)
    base_files_only(table)
    file_slices(table, clauses="RD-005 LF-019")
    timeline(table, clauses="TL-006")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_log_compaction",
    by="1.1.1",
    title="Logs replaced by one log compaction, and a log after it",
    features=(*_LOGS, "log-compaction", "merge-event-time"),
    queries=query_log_compaction,
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


def query_cleaned(table: WrittenTable) -> None:
    """Five commits, cleaned to the files that the newest two need; the metadata table is on."""
    table.snapshot("snapshot", "the newest base files are read", "RD-004 RD-011", "oldest-base-file")
    before_all(table)
    table.as_of(
        table.commits[-2],
        "as-of-cleaned",
        "a commit whose files were partly cleaned is refused, not answered in part",
        "RD-014",
        "cleaned-range-answered",
    )
    timeline(table)
    chunk(table, 0, 1, "rows that were replaced since can no longer be derived", "IN-007", "range-answered-in-part")
    table.incremental(
        "0", None, "incremental-all", "the newest rows tell when they were written", "IN-007", "oldest-base-file"
    )
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_cleaned",
    by="1.1.1",
    title="Copy-on-write, cleaned: only the files of the newest two commits are kept; the metadata table is on",
    features=("base-parquet", "merge-event-time"),
    queries=query_cleaned,
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


def query_metadata_table(table: WrittenTable) -> None:
    """The metadata table on; one compaction of the data."""
    table.snapshot("snapshot", "the data table is read, whatever the metadata table holds", "RD-004", "deletes-ignored")
    base_files_only(table)
    file_slices(table, "oldest-base-file")
    timeline(table, clauses="TL-006 TL-021")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_metadata_table",
    by="1.1.1",
    title="Merge-on-read with the metadata table on, one compaction of the data",
    features=(*_LOGS, "log-delete", "merge-event-time"),
    queries=query_metadata_table,
)
def metadata_table(table: TableWriter) -> None:
    """Insert, upsert, compact and upsert again, each step with its deltacommit in the metadata table."""
    table.configure({**EVENT_TIME, **_METADATA})
    _compacted(table)


def query_restored(table: WrittenTable) -> None:
    """A restore to a savepoint took two upserts back; one more followed."""
    table.snapshot("snapshot", "what the restore undid left no trace", "TL-017 MG-003", "event-time-ignores-ordering")
    first_commit(table)
    file_slices(table, clauses="RD-005 TL-017")
    timeline(table, "lowest-state-rules one-action-an-instant", "TL-010 TL-017")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_restored",
    by="1.1.1",
    title="Begun as version 8, upgraded to 9 by its savepoint, restored to it; later writes have left the timeline",
    features=(*_LOGS, "merge-event-time"),
    queries=query_restored,
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
