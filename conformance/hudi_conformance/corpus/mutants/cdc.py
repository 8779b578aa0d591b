"""Rules of change data capture, broken."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hudi_model.actions import Instant
from hudi_model.files import CdcRecord, Record
from hudi_model.incremental import DELETE, UPDATE
from hudi_model.queries import Answer
from hudi_model.tables import OpenTable, Table

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("changes-without-feed", "CD-001", "Changes are derived where no feed is kept.", "incremental.read_changes")
def _without_feed(original: Function) -> Function:
    def willing(table: Table, *arguments: Any) -> Answer:
        properties: Any = table.properties
        found: Answer = original(
            replace(table, properties={**properties, "hoodie.table.cdc.enabled": "true"}), *arguments
        )
        return found

    return willing


@mutant("logged-images-only", "CD-003", "Images that a log leaves out are not looked up.", "incremental.with_images")
def _logged_images_only(_: Function) -> Function:
    return lambda change, _before, _after: change


@mutant("before-is-after", "CD-003 CD-005", "The row before a write is the one after it.", "incremental.view_without")
def _before_is_after(_: Function) -> Function:
    return lambda view, _write: view


@mutant("change-logs-ignored", "CD-003 CD-010", "Change logs are not read.", "incremental.logged_changes")
def _logs_ignored(_: Function) -> Function:
    return lambda _opened, _write: {}


@mutant(
    "one-change-log",
    "CD-003",
    "Of the changes that a write logged for a group the last stands.",
    "incremental.logged_changes",
)
def _one_change(original: Function) -> Function:
    def last(opened: OpenTable, write: Instant) -> dict[Any, tuple[CdcRecord, ...]]:
        return {group: changes[-1:] for group, changes in original(opened, write).items()}

    return last


@mutant("copied-rows-are-changes", "CD-004", "A row that a write copied is updated.", "incremental.derived_changes")
def _copied_rows(original: Function) -> Function:
    def eager(write: Instant, before: dict[str, Record], after: dict[str, Record]) -> Iterator[CdcRecord]:
        found = {one.key: one for one in original(write, before, after)}
        copied = (CdcRecord(UPDATE, key) for key in before if key in after and key not in found)
        return iter((*found.values(), *copied))

    return eager


@mutant(
    "changes-by-commit-time",
    "CD-004 CD-005",
    "Only a row with the commit time of the write is updated by it.",
    "incremental.derived_changes",
)
def _by_commit_time(original: Function) -> Function:
    def named(write: Instant, before: dict[str, Record], after: dict[str, Record]) -> Iterator[CdcRecord]:
        own = {key for key, row in after.items() if row.values.get("_hoodie_commit_time") == write.requested}
        return (one for one in original(write, before, after) if one.operation == DELETE or one.key in own)

    return named


@mutant("deleted-rows-unreported", "CD-005", "Deleted rows are no change.", "incremental.derived_changes")
def _gone_rows_untold(original: Function) -> Function:
    return lambda *arguments: (one for one in original(*arguments) if one.operation != DELETE)


@mutant("every-change-inserts", "CD-005", "A derived change of a row is an insert.", "incremental.derived_changes")
def _every_change_inserts(original: Function) -> Function:
    return lambda *found: (replace(one, operation="i") if one.operation == UPDATE else one for one in original(*found))


@mutant(
    "services-change-rows", "CD-007", "What a compaction logs is counted with the rest.", "incremental.brings_changes"
)
def _services_change_rows(_: Function) -> Function:
    return lambda _write: True


@mutant("last-write-only", "CD-002", "Of the writes of a range only the last is answered.", "incremental.writes_within")
def _last_write_only(original: Function) -> Function:
    return lambda view, time_range: original(view, time_range)[-1:]
