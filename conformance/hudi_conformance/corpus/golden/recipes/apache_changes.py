"""Questions on ranges and changes to tables that Apache Hudi wrote."""

from hudi_conformance.corpus.golden.questions import WrittenTable, written
from hudi_conformance.corpus.golden.usual import (
    filtered_after_merging,
    meta_fields,
    since_first,
    timeline,
    up_to_last_but_one,
)


def _feed(table: WrittenTable, kills: str) -> None:
    table.changes("0", None, "changes", "every change that any write made", "CD-002 CD-003 CD-008 CD-009", kills)
    table.changes(
        table.after(1),
        None,
        "changes-since",
        "the changes of the writes after the second",
        "CD-003 CD-005 CD-010",
        "range-begin-ignored",
    )
    table.changes("0", table.after(0), "changes-first", "new files are inserts", "CD-005", "later-rows-compete")
    table.incremental(
        table.after(0),
        table.after(2),
        "incremental",
        "the rows of two writes, once each",
        "IN-001",
        "range-begin-ignored",
    )
    table.snapshot("snapshot", "change logs change no row", "LF-018 CD-010", "oldest-base-file")


@written("v9/apache_cow_changes_key_only")
def key_only(table: WrittenTable) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert that also inserts; keys are logged."""
    _feed(table, "logged-images-only before-is-after one-change-log")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_cow_changes_before")
def before(table: WrittenTable) -> None:
    """Insert, an upsert with a late row and a soft delete, a delete, an upsert; rows before are logged."""
    _feed(table, "logged-images-only one-change-log")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@written("v9/apache_cow_changes_before_after")
def before_after(table: WrittenTable) -> None:
    """An insert, an upsert, a partition overwritten, all keys of a file group deleted; both rows are logged."""
    _feed(table, "one-change-log")
    table.changes(
        table.after(1),
        table.after(2),
        "changes-overwritten",
        "rows of the replaced group are deleted, those of the new one inserted",
        "CD-005",
        "gone-rows-untold",
    )
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")


@written("v9/apache_mor_changes")
def merge_on_read(table: WrittenTable) -> None:
    """An insert, two upserts into logs, a compaction that logs changes, an upsert with a late row, a delete."""
    table.changes(
        "0",
        None,
        "changes",
        "what the logs changed, and nothing for the compaction",
        "CD-004 CD-005 CD-007",
        "services-change-rows copied-rows-are-changes gone-rows-untold",
    )
    table.changes(
        table.after(2),
        table.after(3),
        "changes-compaction",
        "a compaction changes nothing",
        "CD-007",
        "services-change-rows",
    )
    table.incremental(
        table.after(2),
        table.after(3),
        "incremental-compaction",
        "a compaction brings no rows",
        "IN-005",
        "range-begin-ignored",
    )
    table.incremental(
        table.after(3),
        table.after(4),
        "incremental-late-row",
        "as released the row that lost against the compacted one is answered; by the text it is not",
        "IN-004",
        "range-begin-ignored",
    )
    table.incremental(
        "0", None, "incremental-all", "the whole table", "IN-002 IN-003", "event-time-ignores-ordering deletes-ignored"
    )
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
