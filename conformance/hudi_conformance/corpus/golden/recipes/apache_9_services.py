"""Questions to the version 9 tables on which Apache Hudi ran table services, or failed."""

from hudi_conformance.corpus.golden.questions import WrittenTable, written
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    before_all,
    check,
    chunk,
    exact_request,
    file_slices,
    filtered_after_merging,
    first_commit,
    last_but_one,
    meta_fields,
    since_first,
    timeline,
    up_to_last_but_one,
)


@written("v9/apache_cow_cleaned")
def cleaned(table: WrittenTable) -> None:
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
    chunk(table, 0, 1, "rows that were replaced since cannot be told any more", "IN-007", "range-answered-in-part")
    table.incremental(
        "0", None, "incremental-all", "the newest rows tell when they were written", "IN-007", "oldest-base-file"
    )
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_cow_delete_partition")
def delete_partition(table: WrittenTable) -> None:
    """One partition deleted, then written again with fewer rows."""
    table.snapshot("snapshot", "the deleted partition holds the new rows only", "RD-003", "replaced-group-visible")
    table.as_of(
        table.after(1), "as-of-before-delete", "the old groups are read", "RD-003", "replaced-group-hidden-too-early"
    )
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table, clauses="TL-003 TL-008")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_cow_failed_write")
def cow_failed_write(table: WrittenTable) -> None:
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


@written("v9/apache_mor_clustered")
def clustered(table: WrittenTable) -> None:
    """One clustering completed, another only requested."""
    table.snapshot("snapshot", "what the completed clustering replaced is hidden", "RD-003", "replaced-group-visible")
    table.as_of(
        table.after(2),
        "as-of-before-clustering",
        "the old groups are read",
        "RD-003",
        "replaced-group-hidden-too-early",
    )
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table, clauses="TL-006 TL-001")
    chunk(table, 2, 3, "clustering brings no rows", "IN-005", "range-begin-ignored")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_compacted")
def compacted(table: WrittenTable) -> None:
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


@written("v9/apache_mor_garbage_between_blocks")
def garbage_between_blocks(table: WrittenTable) -> None:
    """Bytes that are no block between the two blocks of one log file."""
    table.snapshot(
        "snapshot",
        "the delete block behind the garbage is read",
        "LF-011 RD-013",
        "corrupt-block-stops-file corrupt-block-without-warning",
    )
    first_commit(table)
    base_files_only(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_insert_overwrite")
def insert_overwrite(table: WrittenTable) -> None:
    """One partition with logs overwritten, logs on what replaced it."""
    table.snapshot("snapshot", "the overwritten groups are hidden, logs and all", "RD-003", "replaced-group-visible")
    table.as_of(
        table.after(2), "as-of-before-overwrite", "the old groups are read", "RD-003", "replaced-group-hidden-too-early"
    )
    base_files_only(table)
    file_slices(table, "replaced-group-visible", "RD-003")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_log_compaction")
def log_compaction(table: WrittenTable) -> None:
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


@written("v9/apache_mor_metadata_table")
def metadata_table(table: WrittenTable) -> None:
    """The metadata table on; one compaction of the data."""
    table.snapshot("snapshot", "the data table is read, whatever the metadata table holds", "RD-004", "deletes-ignored")
    base_files_only(table)
    file_slices(table, "oldest-base-file")
    timeline(table, clauses="TL-006 TL-021")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_overlapping_writers")
def overlapping_writers(table: WrittenTable) -> None:
    """Non-blocking writers: the first to begin is the last to complete, over the same keys."""
    table.snapshot("snapshot", "the order of the two logs has two readings", "RD-007 RD-005", "log-order-reversed")
    last_but_one(table, "of the overlapping writes the later request stands", "RD-007 RD-010")
    base_files_only(table)
    file_slices(table, clauses="RD-007")
    timeline(table, clauses="TL-011 TL-013")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_pending_compaction")
def pending_compaction(table: WrittenTable) -> None:
    """Logs before and after the request of a compaction that nobody ran."""
    table.snapshot("snapshot", "both parts are read over the old base file", "RD-008", "pending-slice-not-joined")
    base_files_only(table, "optimized-empty-under-compaction")
    last_but_one(table, "the delete is not there yet", "RD-008 RD-010", "pending-slice-not-joined")
    file_slices(table, "pending-slice-not-joined", "RD-008")
    timeline(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_rolled_back")
def rolled_back(table: WrittenTable) -> None:
    """A failed upsert rolled back, one more upsert, and a last one that died and stays."""
    table.snapshot("snapshot", "neither failed write is read", "TL-017 RD-002", "inflight-counts-as-committed")
    first_commit(table)
    file_slices(table, "inflight-counts-as-committed", "RD-002")
    timeline(table, clauses="TL-017 TL-004")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_torn_log")
def torn_log(table: WrittenTable) -> None:
    """The newest log of one slice is cut inside its block."""
    table.snapshot(
        "snapshot", "the torn block is skipped with a warning", "LF-010 RD-013", "corrupt-block-without-warning"
    )
    last_but_one(table, "before the torn write all is whole", "LF-010 RD-010")
    base_files_only(table)
    file_slices(table, clauses="LF-010 RD-005")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
