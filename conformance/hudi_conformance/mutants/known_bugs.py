"""Documented defects of real implementations, put into the model; see specs/known-bugs.toml."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hudi_model.actions import Action
from hudi_model.blocks import Change, blocks_of
from hudi_model.files import BaseFile, Block, DataBlock, DeleteBlock, FileSlice, GroupId, LogFile, RollbackBlock
from hudi_model.history import History
from hudi_model.incremental import TimeRange
from hudi_model.merge_rules import Version
from hudi_model.queries import Answer, Selection
from hudi_model.records import Record, Schema
from hudi_model.rejection import Reason, Rejection
from hudi_model.schemas import table_schema, without_meta_fields
from hudi_model.slicing import group_of, pending_compactions, snapshot_slices
from hudi_model.time import InstantTime
from hudi_model.timeline import commit_metadata, is_committed
from hudi_model.views import View, is_within, view_at, visible_commits

from hudi_conformance.mutants.registry import Function, mutant


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
    def whole(view: View, asked: TimeRange, _counts: Any) -> tuple[FileSlice, ...]:
        slices = snapshot_slices(view_at(view.table, None, view.readings))
        return tuple(replace(one, log_files=tuple(_as_of(log, asked) for log in one.log_files)) for one in slices)

    return whole


def _as_of(log: LogFile, asked: TimeRange) -> LogFile:
    """The log with blocks that no end of a range leaves out, while their rows still say when they were written."""
    blocks = (
        replace(one, instant=min(one.instant, asked.end or one.instant)) if isinstance(one, DataBlock) else one
        for one in blocks_of(log)
    )
    return replace(log, blocks=tuple(blocks))


@mutant(
    "absent-history-refused", "HS-001", "A table without a history cannot be told whole.", "history.history_instants"
)
def _absent_history_refused(original: Function) -> Function:
    def demanding(history: History, layout: int = 2) -> Any:
        if history == History():
            raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "HS-002", "_version_", "there is no such file")
        return original(history, layout)

    return demanding


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
    "backup-is-preferred",
    "PR-004",
    "The backup is taken where there is one, sound or not.",
    "configuration.sound_properties",
)
def _backup_is_preferred(original: Function) -> Function:
    return lambda main, backup: original(main if backup is None else backup, None)


@mutant("checksum-demanded", "PR-003", "Properties without checksum are refused.", "configuration.checksum_fault")
def _checksum_demanded(original: Function) -> Function:
    def demanding(properties: Mapping[str, str]) -> Rejection | None:
        if "hoodie.table.checksum" not in properties:
            return Rejection(Reason.CHECKSUM_MISMATCH, "PR-003", "hoodie.properties", "there is no checksum")
        found: Rejection | None = original(properties)
        return found

    return demanding


@mutant(
    "partitions-filtered-by-folder",
    "RD-012 DM-033",
    "Partitions are left out whose folder is not the value that a filter asks for.",
    "queries.answer",
)
def _partitions_filtered_by_folder(original: Function) -> Function:
    def pruned(view: View, slices: tuple[FileSlice, ...], selection: Selection) -> Answer:
        match selection.filter:
            case [str() as column, "=", value] if column in view.configuration.partition_by:
                slices = tuple(one for one in slices if one.partition.rpartition("=")[2] == value)
        found: Answer = original(view, slices, selection)
        return found

    return pruned


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
    "deletes-need-a-change-log",
    "CD-005",
    "A write that says of deletes must have logged its changes.",
    "cdc.logged_changes",
)
def _deletes_need_a_change_log(original: Function) -> Function:
    def demanding(opened: Any, write: Any) -> Any:
        if any(one.deletes and not one.change_logs for one in commit_metadata(write).write_stats):
            raise Rejection(Reason.LOG_FILE_MISSING, "CD-003", str(write.requested), "there should be a change log")
        return original(opened, write)

    return demanding


@mutant("first-change-log-alone", "CD-003", "Of a write's change logs the first is read.", "cdc.logged_changes")
def _first_change_log_alone(original: Function) -> Function:
    def first(opened: Any, write: Any) -> Any:
        metadata = commit_metadata(write)
        stats = tuple(replace(one, change_logs=one.change_logs[:1]) for one in metadata.write_stats)
        return original(opened, replace(write, content=replace(metadata, write_stats=stats)))

    return first


@mutant(
    "groups-of-failed-writes-are-buckets",
    "OW-003 OW-023",
    "A bucket's file group may be one that a failed write left.",
    "tagging.committed_groups",
)
def _groups_of_failed_writes_are_buckets(_: Function) -> Function:
    def any_group(view: View) -> tuple[GroupId, ...]:
        files: list[BaseFile | LogFile] = [*view.table.state.base_files, *view.table.state.log_files]
        return tuple(dict.fromkeys(group_of(one) for one in files))

    return any_group


@mutant(
    "buckets-without-base-file-unknown",
    "OW-023",
    "A bucket whose file group has logs only is opened anew.",
    "tagging.committed_groups",
)
def _buckets_without_base_file_unknown(_: Function) -> Function:
    def with_base(view: View) -> tuple[GroupId, ...]:
        return tuple(dict.fromkeys(group_of(one) for one in view.table.state.base_files))

    return with_base


def _parts(key: str) -> Iterator[str]:
    yield from (part.rpartition(":")[2] for part in key.split(","))


@mutant(
    "bucket-of-what-follows-a-colon",
    "OW-022",
    "What stands before a colon in a key is not hashed.",
    "tagging.bucket_of",
)
def _bucket_of_what_follows_a_colon(original: Function) -> Function:
    return lambda values, buckets: original([part for value in values for part in _parts(value)], buckets)


@mutant(
    "file-name-kept", "MF-013", "A row that a service rewrites keeps the name of the file it lay in.", "staging.in_file"
)
def _file_name_kept(original: Function) -> Function:
    return lambda row, name: row if row.values.get("_hoodie_file_name") else original(row, name)


@mutant("inserts-marked-partial", "MG-022", "Every data block is marked as partial.", "staging.blocks_of_change")
def _inserts_marked_partial(original: Function) -> Function:
    return lambda change, schema, requested: original(replace(change, partial=True), schema, requested)


@mutant(
    "keys-have-the-order-of-numbers",
    "MT-011",
    "Texts of digits are ordered as numbers in statistics.",
    "indexes.statistics",
)
def _keys_have_the_order_of_numbers(original: Function) -> Function:
    def numeric(values: Any) -> Any:
        if values and all(isinstance(one, str) and one.isdecimal() for one in values):
            return [min(values, key=int), max(values, key=int), 0, len(values)]
        return original(values)

    return numeric


@mutant(
    "groups-under-compaction-dropped",
    "IN-005 RD-008",
    "A range has no rows of file groups for which a compaction is pending.",
    "incremental.slices_of_range",
)
def _groups_under_compaction_dropped(original: Function) -> Function:
    def idle(view: View, *rest: Any) -> tuple[FileSlice, ...]:
        pending, slices = pending_compactions(view.timeline), original(view, *rest)
        return tuple(one for one in slices if (one.partition, one.file_id) not in pending)

    return idle


@mutant(
    "only-recent-partitions-cleaned",
    "CN-015",
    "A clean looks at partitions that were written since the last one, and at no others.",
    "services.cleaning.removable_files",
)
def _only_recent_partitions_cleaned(original: Function) -> Function:
    def recent(view: View, *rest: Any) -> frozenset[tuple[str, str]]:
        cleans = (one.requested for one in view.timeline.instants if one.action is Action.CLEAN)
        last = max(cleans, default=InstantTime(""))
        writes = (commit_metadata(one) for one in visible_commits(view) if one.requested > last)
        partitions = {stat.partition for one in writes for stat in one.write_stats}
        return frozenset(place for place in original(view, *rest) if place[0] in partitions)

    return recent


@mutant(
    "inserts-into-small-files-merge",
    "OW-012 OW-020",
    "A row inserted into a small file competes with the row of its key.",
    "staging.base_file",
)
def _inserts_into_small_files_merge(original: Function) -> Function:
    return lambda view, change, *rest: original(view, replace(change, appended=False), *rest)


@mutant(
    "metadata-never-updated",
    "MT-003",
    "Actions do not tell the metadata table of themselves.",
    "metadata.with_metadata",
)
def _metadata_never_updated(_: Function) -> Function:
    return lambda _table, effects: effects


@mutant(
    "partial-columns-by-place",
    "OW-025",
    "Values of a partial update are the table's columns from the first on.",
    "staging.stored_row",
)
def _partial_columns_by_place(original: Function) -> Function:
    def placed(view: View, version: Version, *rest: Any) -> Version:
        if version.partial and version.record:
            names = [field.name for field in table_schema(view).fields]
            values = dict(zip(names, version.record.values.values(), strict=False))
            version = replace(version, record=Record(values))
        found: Version = original(view, version, *rest)
        return found

    return placed


@mutant(
    "every-rollback-has-one-token", "RB-007 SL-023", "Logs of commands all have one write token.", "names.log_file_name"
)
def _every_rollback_has_one_token(original: Function) -> Function:
    def constant(file_id: str, instant: str, version: int, token: str, *rest: Any, **more: Any) -> str:
        is_command = token.startswith("1-") and token.endswith("-1")
        name: str = original(file_id, instant, version, "1-0-1" if is_command else token, *rest, **more)
        return name

    return constant
