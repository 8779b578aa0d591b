"""Tables with writes that died after their files and before their commit; rolled back, or left as they were."""

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    check,
    exact_request,
    file_slices,
    filtered_after_merging,
    first_commit,
    meta_fields,
    since_first,
    timeline,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import TableWriter

_LOGS = ("base-parquet", "log-avro")


def query_rollback_block(table: WrittenTable) -> None:
    """A failed upsert that command blocks took back, then others."""
    table.snapshot(
        "snapshot", "the failed write left no trace in the rows", "LF-015 TL-017", "rollbacks-and-commits-ignored"
    )
    first_commit(table)
    file_slices(table, clauses="RD-006 LF-015")
    timeline(table, clauses="TL-017")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v6/apache_mor_rollback_block",
    by="0.15.0",
    title="Version 6, a failed write undone by rollback blocks",
    features=(*_LOGS, "log-rollback", "payload-DefaultHoodieRecordPayload"),
    queries=query_rollback_block,
)
def rollback_block(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies, an upsert that first rolls it back, one more."""
    _failed_then_rolled_back(table)
    table.upsert([*orders((2, 4), 250, "last"), *deletes((5,), 250)])


def query_failed_write(table: WrittenTable) -> None:
    """Insert, upsert, an upsert that died."""
    if table.version == 6:
        then = "blocks of the failed instant are not read"
        table.snapshot("snapshot", then, "LF-016 RD-002", "uncommitted-block-visible")
    else:
        then = "files of the failed instant are not read"
        table.snapshot("snapshot", then, "RD-002", "inflight-counts-as-committed")
    first_commit(table)
    base_files_only(table)
    if table.version > 6:
        check(table, "leftovers of the failed write are no violation", "RD-002", "leftovers-are-violations")
    timeline(table, clauses="TL-002 TL-004")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


def query_cow_failed_write(table: WrittenTable) -> None:
    """Insert, upsert, an upsert that died after its base files were written."""
    table.snapshot(
        "snapshot", "newer base files without a commit are not read", "RD-002", "uncommitted-base-file-visible"
    )
    file_slices(table, "uncommitted-base-file-visible", "RD-002")
    exact_request(table)
    check(table, "leftovers of the failed write are no violation", "RD-002", "leftovers-are-violations")
    timeline(table, clauses="TL-009 TL-004")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_failed_write",
    by="1.1.1",
    title="Copy-on-write, a failed write left as it died: newer base files without a commit",
    features=("base-parquet", "merge-event-time"),
    queries=query_cow_failed_write,
)
@kept(
    "v8/apache_mor_failed_write",
    by="1.0.2",
    title="Version 8, a failed write left as it died: logs and a base file without a commit",
    features=(*_LOGS, "merge-event-time"),
    queries=query_failed_write,
)
@kept(
    "v6/apache_mor_failed_write",
    by="0.15.0",
    title="Version 6, a failed write left as it died: its log blocks are of no committed instant",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_failed_write,
)
def failed_write(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies; nothing after it."""
    table.order_by_event_time()
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    table.fail([*orders((0, 1, 3), 300, "never"), *orders((30, 31), 300, "never new")])


def query_rolled_back(table: WrittenTable) -> None:
    """A failed upsert rolled back, one more upsert, and a last one that died and stays."""
    table.snapshot("snapshot", "neither failed write is read", "TL-017 RD-002", "inflight-counts-as-committed")
    first_commit(table)
    file_slices(table, "inflight-counts-as-committed", "RD-002")
    timeline(table, clauses="TL-017 TL-004")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_rolled_back",
    by="1.1.1",
    title="A failed write undone: its files and its instant are gone, a rollback stands in the timeline",
    features=(*_LOGS, "merge-event-time"),
    queries=query_rolled_back,
)
def rolled_back(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies, an upsert that first rolls it back, a last one that dies and stays."""
    _failed_then_rolled_back(table)
    table.fail([*orders((2, 4), 250, "never"), *orders((30,), 250, "never new")])


def _failed_then_rolled_back(table: TableWriter) -> None:
    failed_write(table)
    table.upsert([*orders((0, 3), 210, "after"), *orders((6,), 20, "late after")])
