"""Questions to the version 6 tables that Apache Hudi wrote."""

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


@written("v6/apache_cow_insert_overwrite")
def cow_insert_overwrite(table: WrittenTable) -> None:
    """Two inserts, one partition overwritten, an upsert into the group that came instead."""
    table.snapshot("snapshot", "the overwritten partition holds the new rows only", "RD-003", "replaced-group-visible")
    table.as_of(
        table.after(2), "as-of-before-overwrite", "the old groups are read", "RD-003", "replaced-group-hidden-too-early"
    )
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_cow_upserts")
def cow_upserts(table: WrittenTable) -> None:
    """Two inserts, upserts with late rows, rows that mark themselves deleted, a delete operation."""
    table.snapshot("snapshot", "the newest base file of each group is read", "RD-004 TT-001", "oldest-base-file")
    one_partition = {"filter": ["region", "=", "north"], "columns": ["id", "ts"]}
    table.snapshot("one-partition", "only rows of it are there", "RD-012 RD-004", "oldest-base-file", **one_partition)
    first_commit(table)
    exact_request(table, "as-of-exclusive as-of-reads-everything")
    file_slices(table, "oldest-base-file")
    timeline(table)
    meta_fields(table)


@written("v6/apache_mor_all_types")
def all_types(table: WrittenTable) -> None:
    """Every logical type, in base files and log blocks, with nulls."""
    table.snapshot("snapshot", "values come back in their logical types", "BF-001 LF-007", "commit-time-by-ordering")
    last_but_one(table, "the nulls of the last upsert are not there yet", "RD-010 LF-016")
    base_files_only(table)
    description(table, "MG-009 DM-003", "mode-always-event-time")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_mor_clustered")
def clustered(table: WrittenTable) -> None:
    """Logs and base files clustered together, then an upsert."""
    table.snapshot("snapshot", "replaced groups are hidden", "RD-003", "replaced-group-visible")
    table.as_of(
        table.after(2),
        "as-of-before-clustering",
        "the old groups are read",
        "RD-003",
        "replaced-group-hidden-too-early",
    )
    file_slices(table, "replaced-group-visible", "RD-003")
    timeline(table, clauses="TL-006 TL-007")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_mor_commit_time")
def commit_time(table: WrittenTable) -> None:
    """Upserts whose ordering values fall, under the payload that overwrites; a delete, and the key again."""
    table.snapshot("snapshot", "the last write of a key stands", "MG-002 MG-009", "commit-time-by-ordering")
    first_commit(table)
    last_but_one(table, "the deleted key is not back yet", "MG-005 LF-016")
    base_files_only(table)
    description(table, "MG-009 MG-001", "mode-always-event-time")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table, "incremental-unmerged")


@written("v6/apache_mor_compacted")
def compacted(table: WrittenTable) -> None:
    """A completed compaction, logs after it."""
    table.snapshot("snapshot", "compacted base files and newer logs are merged", "RD-004 RD-006", "oldest-base-file")
    first_commit(table)
    base_files_only(table)
    file_slices(table, "oldest-base-file", "RD-004 RD-006")
    timeline(table, clauses="TL-006")
    chunk(table, 0, 1, "what one write brought, by requested time", "IN-001 IN-003 IN-004", "range-begin-ignored")
    table.incremental("0", None, "incremental-all", "the whole table", "IN-002", "event-time-ignores-ordering")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_mor_event_time")
def event_time(table: WrittenTable) -> None:
    """Late rows, deletes with and without ordering value, a deleted key again; written by release 0.15."""
    table.snapshot(
        "snapshot",
        "ordering values and deletes decide",
        "MG-003 MG-005 MG-006 MG-013",
        "event-time-ignores-ordering deletes-ignored",
    )
    first_commit(table)
    last_but_one(table, "the returning key is not back yet", "MG-005 LF-016")
    base_files_only(table)
    file_slices(table, clauses="RD-006 RD-007")
    description(table, "MG-009 PR-006", "mode-always-commit-time")
    some_columns(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")


@written("v6/apache_mor_event_time_by_1_1")
def event_time_by_1_1(table: WrittenTable) -> None:
    """The same steps by release 1.1.1, asked to write version 6: properties carry names of both times."""
    table.snapshot(
        "snapshot",
        "ordering values and deletes decide",
        "MG-003 MG-005 MG-006 MG-013",
        "event-time-ignores-ordering deletes-ignored",
    )
    first_commit(table)
    last_but_one(table, "the returning key is not back yet", "MG-005 LF-016")
    base_files_only(table)
    description(table, "PR-006 MG-009", "mode-always-commit-time")
    some_columns(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")


@written("v6/apache_mor_failed_write")
def failed_write(table: WrittenTable) -> None:
    """Insert, upsert, an upsert that died."""
    table.snapshot(
        "snapshot", "blocks of the failed instant are not read", "LF-016 RD-002", "uncommitted-block-visible"
    )
    first_commit(table)
    base_files_only(table)
    timeline(table, clauses="TL-002 TL-004")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_mor_pending_compaction")
def pending_compaction(table: WrittenTable) -> None:
    """Logs before and after the request of a compaction that nobody ran."""
    table.snapshot("snapshot", "both parts are read over the old base file", "RD-008", "pending-slice-not-joined")
    base_files_only(table, "optimized-empty-under-compaction")
    last_but_one(table, "the delete is not there yet", "RD-008 LF-016", "pending-slice-not-joined")
    file_slices(table, "pending-slice-not-joined", "RD-008")
    timeline(table, clauses="TL-001 TL-004")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v6/apache_mor_rollback_block")
def rollback_block(table: WrittenTable) -> None:
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


@written("v6/apache_mor_torn_log")
def torn_log(table: WrittenTable) -> None:
    """One log file cut inside its block, whole ones after it."""
    table.snapshot(
        "snapshot", "the torn block is skipped with a warning", "LF-010 RD-013", "corrupt-block-without-warning"
    )
    first_commit(table)
    base_files_only(table)
    file_slices(table, clauses="LF-010 RD-006")
    check(table, "the torn block is told as a warning", "LF-010 RD-013", "violations-never")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
