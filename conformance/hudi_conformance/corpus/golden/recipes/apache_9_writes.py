"""Questions to the version 9 tables on which Apache Hudi only wrote."""

from hudi_conformance.corpus.golden.questions import WrittenTable, written
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
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


@written("v9/apache_cow_bulk_insert")
def bulk_insert(table: WrittenTable) -> None:
    """Two bulk inserts by rows into three groups, then an upsert; no partitions."""
    table.snapshot("snapshot", "the newest base file of each group is read", "RD-004", "oldest-base-file")
    first_commit(table)
    exact_request(table)
    file_slices(table, "oldest-base-file")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_cow_late_data")
def cow_late_data(table: WrittenTable) -> None:
    """Late rows, rows that mark themselves deleted, a delete operation."""
    table.snapshot("snapshot", "the newest base file of each group is read", "RD-004", "oldest-base-file")
    first_commit(table)
    last_but_one(table, "the delete operation has not been requested", "RD-010")
    exact_request(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_added_column")
def added_column(table: WrittenTable) -> None:
    """A column came with the third write; base files and logs before lack it."""
    table.snapshot(
        "snapshot",
        "older rows have nulls in the new column",
        "DM-003 DM-004 LF-022",
        "schema-of-oldest-commit missing-column-refused",
    )
    first_commit(table)
    base_files_only(table)
    description(table, "DM-003", "schema-of-oldest-commit")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_all_types")
def all_types(table: WrittenTable) -> None:
    """Every logical type, in base files and log blocks, with nulls; ordered by a timestamp."""
    table.snapshot(
        "snapshot", "values come back in their logical types", "BF-001 LF-007", "event-time-ignores-ordering"
    )
    last_but_one(table, "the nulls of the last upsert are not there yet", "RD-010")
    base_files_only(table)
    description(table, "DM-003", "mode-always-commit-time")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_commit_time")
def commit_time(table: WrittenTable) -> None:
    """No ordering field: upserts, a delete and its key again; no partitions."""
    table.snapshot("snapshot", "the last write of a key stands", "MG-002 MG-001", "log-order-reversed")
    first_commit(table)
    last_but_one(table, "the deleted key is not back yet", "MG-005 RD-010", "deletes-ignored")
    base_files_only(table)
    description(table, "MG-012 MG-001", "mode-always-event-time")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table, "incremental-unmerged")


@written("v9/apache_mor_composite_key")
def composite_key(table: WrittenTable) -> None:
    """Keys of two fields with null parts, partitions of two levels with encoded characters."""
    table.snapshot(
        "snapshot", "late rows lose key by key", "DM-002 MG-003 PR-021 SL-020 SL-021", "event-time-ignores-ordering"
    )
    first_commit(table)
    file_slices(table, clauses="SL-003 SL-002")
    description(table, "DM-002", "mode-always-commit-time")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_event_time")
def event_time(table: WrittenTable) -> None:
    """Late rows, deletes with and without ordering value, a deleted key again."""
    table.snapshot(
        "snapshot",
        "ordering values and deletes decide",
        "MG-003 MG-005 MG-006 MG-013",
        "event-time-ignores-ordering deletes-ignored",
    )
    first_commit(table)
    last_but_one(table, "the returning key is not back yet", "MG-005 RD-010")
    exact_request(table)
    base_files_only(table)
    file_slices(table, clauses="RD-005 RD-007")
    description(table, "MG-012 PR-006", "mode-always-commit-time")
    some_columns(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")


@written("v9/apache_mor_log_only")
def log_only(table: WrittenTable) -> None:
    """Bucket index; updates and deletes in logs, one compaction, a partition that came later."""
    table.snapshot("snapshot", "logs before and after the compaction are merged", "RD-005 RD-017", "deletes-ignored")
    first_commit(table)
    base_files_only(table)
    file_slices(table, "logs-join-newest-slice", "RD-005")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_small_files")
def small_files(table: WrittenTable) -> None:
    """Deltacommits that rewrite small base files, logs before and after."""
    table.snapshot(
        "snapshot",
        "a base file that a deltacommit wrote opens a slice",
        "RD-016",
        "deltacommit-base-file-opens-no-slice",
    )
    first_commit(table)
    base_files_only(table)
    file_slices(table, "oldest-base-file", "RD-016")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_mor_two_ordering_fields")
def two_ordering_fields(table: WrittenTable) -> None:
    """Upserts and deletes that win and lose on the first and on the second ordering field."""
    table.snapshot("snapshot", "the second field decides where the first ties", "MG-007", "first-ordering-field-only")
    first_commit(table)
    last_but_one(table, "the last write is not there yet", "MG-007 RD-010")
    base_files_only(table)
    description(table, "MG-007 PR-006", "first-ordering-field-only")
    meta_fields(table)
    filtered_after_merging(table, "event-time-ignores-ordering")
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
