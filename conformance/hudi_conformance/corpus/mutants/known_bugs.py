"""Documented defects of readers, put into the model: logs, merging, slices, ranges; see specs/known-bugs.toml."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hudi_model.blocks import Change, blocks_of
from hudi_model.files import BaseFile, Block, DataBlock, DeleteBlock, FileSlice, LogFile, Record, RollbackBlock, Schema
from hudi_model.incremental import TimeRange
from hudi_model.merge_rules import Version, is_greater
from hudi_model.rejection import Reason, Rejection
from hudi_model.schemas import without_meta_fields
from hudi_model.slicing import pending_compactions, snapshot_slices
from hudi_model.tables import View, is_within, view_at, visible_commits
from hudi_model.time import InstantTime
from hudi_model.timeline import commit_metadata, is_committed

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "late-rollback-block-ignored",
    "LF-015",
    "A command block whose own instant is after the read time does nothing.",
    "reading.log_versions",
)
def _late_rollback_block_ignored(original: Function) -> Function:
    def early(view: View, found: FileSlice, *rest: Any) -> tuple[Version, ...]:
        logs = tuple(
            replace(
                log,
                blocks=tuple(
                    one for one in blocks_of(log) if not isinstance(one, RollbackBlock) or is_within(view, one.instant)
                ),
            )
            for log in found.log_files
        )
        versions: tuple[Version, ...] = original(view, replace(found, log_files=logs), *rest)
        return versions

    return early


@mutant(
    "rollback-drops-any-previous-block",
    "LF-015",
    "A command block drops the block before it, be it torn.",
    "blocks.without_rolled_back",
)
def _rollback_drops_any_previous_block(_: Function) -> Function:
    def previous(blocks: Iterable[Block]) -> tuple[Change, ...]:
        kept: list[Block] = []
        for block in blocks:
            if not isinstance(block, RollbackBlock):
                kept.append(block)
            elif kept:
                kept.pop()
        return tuple(one for one in kept if isinstance(one, DataBlock | DeleteBlock))

    return previous


@mutant(
    "rollback-drops-later-blocks",
    "LF-015",
    "A command block drops blocks of its target wherever they stand.",
    "blocks.without_rolled_back",
)
def _rollback_drops_later_blocks(_: Function) -> Function:
    def anywhere(blocks: Iterable[Block]) -> tuple[Change, ...]:
        found = tuple(blocks)
        gone = {one.target for one in found if isinstance(one, RollbackBlock)}
        return tuple(one for one in found if isinstance(one, DataBlock | DeleteBlock) and one.instant not in gone)

    return anywhere


@mutant(
    "repeated-blocks-dropped",
    "LF-016 RD-007",
    "Of the blocks of one instant the first log's are taken, the others are thought to be repeated.",
    "blocks.effective_blocks",
)
def _repeated_blocks_dropped(original: Function) -> Function:
    def first_only(logs: Iterable[LogFile], counts: Any) -> tuple[Change, ...]:
        seen, kept = set[InstantTime](), []
        for log in logs:
            blocks = blocks_of(log)
            kept.append(replace(log, blocks=tuple(one for one in blocks if getattr(one, "instant", "") not in seen)))
            seen |= {one.instant for one in blocks if isinstance(one, DataBlock)}
        found: tuple[Change, ...] = original(kept, counts)
        return found

    return first_only


@mutant(
    "delete-without-ordering-is-final",
    "MG-005",
    "Nothing comes back after a delete without ordering value.",
    "merging.merge_by_event_time",
)
def _delete_without_ordering_is_final(original: Function) -> Function:
    return lambda older, newer: older if older.is_delete and older.ordering is None else original(older, newer)


@mutant(
    "older-delete-not-compared",
    "MG-006",
    "What follows a delete wins, whatever its ordering value.",
    "merging.merge_by_event_time",
)
def _older_delete_not_compared(original: Function) -> Function:
    return lambda older, newer: newer if older.is_delete else original(older, newer)


@mutant(
    "null-ordering-is-least",
    "MG-011",
    "A version without ordering value loses to any that has one.",
    "merging.merge_by_event_time",
)
def _null_ordering_is_least(original: Function) -> Function:
    def least(older: Version, newer: Version) -> Version:
        if newer.ordering is None and older.ordering is not None and not newer.is_delete:
            return older
        found: Version = original(older, newer)
        return found

    return least


@mutant(
    "null-ordering-is-zero",
    "MG-011",
    "What follows a version without ordering value is compared with zero.",
    "merging.merge_by_event_time",
)
def _null_ordering_is_zero(original: Function) -> Function:
    def compared(older: Version, newer: Version) -> Version:
        if older.ordering is None and not older.is_delete and is_greater((0,), newer.ordering or ()):
            return older
        found: Version = original(older, newer)
        return found

    return compared


@mutant(
    "null-among-orderings-is-none",
    "MG-011",
    "A version one of whose ordering values is null has none.",
    "merge_rules.ordering_of",
)
def _null_among_orderings_is_none(original: Function) -> Function:
    def whole(*given: Any) -> Any:
        found = original(*given)
        return None if None in (found or ()) else found

    return whole


@mutant(
    "second-row-of-a-key-dropped", "DM-001", "Of the rows of one key in a base file one is kept.", "merging.merge_slice"
)
def _second_row_of_a_key_dropped(original: Function) -> Function:
    def once(rule: Any, rows: Iterable[Version], *rest: Any) -> tuple[Record, ...]:
        by_key = {one.key: one for one in rows}
        found: tuple[Record, ...] = original(rule, by_key.values(), *rest)
        return found

    return once


@mutant(
    "slice-of-failed-first-log-hidden",
    "RD-002 RD-017",
    "A group without base file is hidden where its first log was never committed.",
    "slicing.slices_of",
)
def _slice_of_failed_first_log_hidden(original: Function) -> Function:
    def anchored(view: View, bases: tuple[BaseFile, ...], logs: tuple[LogFile, ...], pending: Any) -> Any:
        first = min(logs, key=lambda log: log.instant, default=None)
        if first and not bases and not is_committed(view.timeline, first.instant):
            return ()
        return original(view, bases, logs, pending)

    return anchored


@mutant(
    "newest-commit-has-the-schema",
    "DM-003",
    "The newest commit has the columns, or there are none.",
    "schemas.table_schema",
)
def _newest_commit_has_the_schema(_: Function) -> Function:
    def newest(view: View) -> Schema:
        schema = commit_metadata(visible_commits(view)[-1]).schema
        return without_meta_fields(schema or Schema(()))

    return newest


@mutant(
    "narrow-columns-refused",
    "DM-004",
    "A base file whose commit had another type for a column than the table has now is refused.",
    "reading.read_slice",
)
def _narrow_columns_refused(original: Function) -> Function:
    def strict(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
        types = {field.name: field.type for field in schema.fields}
        own = (commit_metadata(one).schema for one in visible_commits(view) if one.requested == found.base_instant)
        for field in (field for one in own if one for field in one.fields):
            if types.get(field.name, field.type) != field.type:
                raise Rejection(Reason.SCHEMA_INCOMPATIBLE, "DM-004", found.file_id, f"{field.name} is {field.type}")
        rows: tuple[Record, ...] = original(view, found, schema)
        return rows

    return strict


@mutant(
    "range-cut-after-merging",
    "IN-003 IN-004",
    "All that is there is merged, then rows of other writes are left out.",
    "incremental.slices_of_range",
)
def _range_cut_after_merging(_: Function) -> Function:
    def whole(view: View, time_range: TimeRange) -> tuple[FileSlice, ...]:
        slices = snapshot_slices(view_at(view.table, None, view.readings))
        return tuple(replace(one, log_files=tuple(_as_of(log, time_range) for log in one.log_files)) for one in slices)

    return whole


def _as_of(log: LogFile, time_range: TimeRange) -> LogFile:
    """The log with blocks that no end of a range leaves out, while their rows still say when they were written."""
    blocks = (
        replace(one, instant=min(one.instant, time_range.end or one.instant)) if isinstance(one, DataBlock) else one
        for one in blocks_of(log)
    )
    return replace(log, blocks=tuple(blocks))


@mutant(
    "logs-end-with-the-slice-instant",
    "IN-001 IN-003",
    "Of the logs of a slice nothing is read that is younger than the slice's own instant.",
    "incremental.slices_of_range",
)
def _logs_end_with_the_slice_instant(original: Function) -> Function:
    def bounded(*question: Any) -> tuple[FileSlice, ...]:
        found: tuple[FileSlice, ...] = original(*question)
        return tuple(
            replace(one, log_files=tuple(_older(log, one.base_instant) for log in one.log_files)) for one in found
        )

    return bounded


def _older(log: LogFile, instant: InstantTime) -> LogFile:
    return replace(log, blocks=tuple(one for one in blocks_of(log) if getattr(one, "instant", instant) <= instant))


@mutant(
    "partition-column-from-folder",
    "SL-021 DM-031",
    "The partition column's value is the name of the folder that a row lies in.",
    "reading.read_slice",
)
def _partition_column_from_folder(original: Function) -> Function:
    def named(view: View, found: FileSlice, schema: Schema) -> tuple[Record, ...]:
        last = found.partition.rpartition("/")[2].rpartition("=")[2]
        rows: tuple[Record, ...] = original(view, found, schema)
        columns = view.configuration.partition_by
        return tuple(Record({**row.values, **dict.fromkeys(columns, last)}) for row in rows)

    return named


@mutant(
    "groups-under-compaction-dropped",
    "IN-005 RD-008",
    "A range has no rows of file groups for which a compaction is pending.",
    "incremental.slices_of_range",
)
def _groups_under_compaction_dropped(original: Function) -> Function:
    def nothing(view: View, *rest: Any) -> tuple[FileSlice, ...]:
        pending, slices = pending_compactions(view.timeline), original(view, *rest)
        return tuple(one for one in slices if (one.partition, one.file_id) not in pending)

    return nothing
