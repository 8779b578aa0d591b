"""Questions to the version 8 tables that Apache Hudi wrote."""

from hudi_conformance.corpus.golden.questions import WrittenTable, written
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    check,
    chunk,
    description,
    exact_request,
    file_slices,
    filtered_after_merging,
    first_commit,
    last_but_one,
    meta_fields,
    since_first,
    some_columns,
    timeline,
    up_to_last_but_one,
)


@written("v8/apache_cow_all_types")
def all_types(table: WrittenTable) -> None:
    """Every logical type in base files, with nulls."""
    table.snapshot("snapshot", "values come back in their logical types", "BF-001", "oldest-base-file")
    first_commit(table)
    description(table, "DM-003", "mode-always-commit-time")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v8/apache_cow_clustered")
def clustered(table: WrittenTable) -> None:
    """Four groups clustered into two, then an upsert."""
    table.snapshot("snapshot", "replaced groups are hidden", "RD-003", "replaced-group-visible")
    table.as_of(
        table.after(2),
        "as-of-before-clustering",
        "the old groups are read",
        "RD-003",
        "replaced-group-hidden-too-early",
    )
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table, clauses="TL-006 TL-008")
    chunk(table, 2, 3, "clustering brings no rows", "IN-005", "range-begin-ignored")
    chunk(table, 1, 3, "rows are of the write that brought them", "IN-005 IN-003", "rewritten-rows-are-new")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v8/apache_cow_deletes")
def deletes(table: WrittenTable) -> None:
    """Late rows, rows that mark themselves deleted, a delete operation; folders without field names."""
    table.snapshot("snapshot", "the newest base file of each group is read", "RD-004", "oldest-base-file")
    first_commit(table)
    last_but_one(table, "the delete operation has not been requested", "RD-010")
    exact_request(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v8/apache_mor_commit_time")
def commit_time(table: WrittenTable) -> None:
    """Upserts whose ordering values fall, commit time ordering, a delete and its key again."""
    table.snapshot("snapshot", "the last write of a key stands", "MG-002", "commit-time-by-ordering")
    first_commit(table)
    last_but_one(table, "the deleted key is not back yet", "MG-005 RD-010")
    base_files_only(table)
    description(table, "MG-012 MG-001", "mode-always-event-time")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table, "incremental-unmerged")


@written("v8/apache_mor_compacted")
def compacted(table: WrittenTable) -> None:
    """A completed compaction, logs after it."""
    table.snapshot("snapshot", "compacted base files and newer logs are merged", "RD-004 RD-005", "deletes-ignored")
    first_commit(table)
    base_files_only(table)
    file_slices(table, "oldest-base-file", "RD-004 RD-005")
    timeline(table, clauses="TL-006 TL-008")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v8/apache_mor_event_time")
def event_time(table: WrittenTable) -> None:
    """Late rows, deletes with and without ordering value, a deleted key again; written by release 1.0.2."""
    table.snapshot(
        "snapshot",
        "ordering values and deletes decide",
        "MG-003 MG-005 MG-006",
        "event-time-ignores-ordering deletes-ignored",
    )
    first_commit(table)
    last_but_one(table, "the returning key is not back yet", "MG-005 RD-010")
    exact_request(table)
    base_files_only(table)
    file_slices(table, clauses="RD-005 RD-007")
    some_columns(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v8/apache_mor_failed_write")
def failed_write(table: WrittenTable) -> None:
    """Insert, upsert, an upsert that died."""
    table.snapshot("snapshot", "files of the failed instant are not read", "RD-002", "inflight-counts-as-committed")
    first_commit(table)
    base_files_only(table)
    check(table, "leftovers of the failed write are no violation", "RD-002", "leftovers-are-violations")
    timeline(table, clauses="TL-002 TL-004")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_restored")
def savepoint_restore(table: WrittenTable) -> None:
    """A restore to a savepoint took two upserts back; one more followed."""
    table.snapshot("snapshot", "what the restore undid left no trace", "TL-017 MG-003", "event-time-ignores-ordering")
    first_commit(table)
    file_slices(table, clauses="RD-005 TL-017")
    timeline(table, "lowest-state-rules one-action-an-instant", "TL-010 TL-017")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
