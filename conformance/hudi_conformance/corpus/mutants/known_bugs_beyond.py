"""Documented defects of properties, change feeds, writers, services and indexes; see specs/known-bugs.toml."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from hudi_model.actions import Action
from hudi_model.blocks import blocks_of, place_log_compacted, without_rolled_back
from hudi_model.files import BaseFile, FileSlice, GroupId, LogFile, Record
from hudi_model.merge_rules import Version
from hudi_model.queries import Answer, Selection
from hudi_model.rejection import Reason, Rejection
from hudi_model.retention import refuse_unretained
from hudi_model.schemas import table_schema
from hudi_model.slicing import group_of
from hudi_model.tables import History, Table, View, visible_commits
from hudi_model.time import InstantTime
from hudi_model.timeline import commit_metadata

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "absent-history-refused", "HS-001", "The loss of a table's history cannot be noticed.", "history.history_instants"
)
def _absent_history_refused(original: Function) -> Function:
    def demanding(history: History, layout: int = 2) -> Any:
        if history == History():
            raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "HS-002", "_version_", "there is no such file")
        return original(history, layout)

    return demanding


@mutant(
    "backup-is-preferred",
    "PR-004",
    "The backup is taken where there is one, sound or not.",
    "configuration.valid_properties",
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
    "Partitions are left out whose folder is not the value that a filter requests.",
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
    "deletes-need-a-change-log",
    "CD-005",
    "A write that says of deletes must have logged its changes.",
    "incremental.logged_changes",
)
def _deletes_need_a_change_log(original: Function) -> Function:
    def demanding(opened: Any, write: Any) -> Any:
        if any(one.deletes and not one.change_logs for one in commit_metadata(write).write_stats):
            raise Rejection(Reason.LOG_FILE_MISSING, "CD-003", str(write.requested), "there should be a change log")
        return original(opened, write)

    return demanding


@mutant("first-change-log-alone", "CD-003", "Of a write's change logs the first is read.", "incremental.logged_changes")
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
    return lambda change, *given: original(replace(change, partial=True), *given)


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
    "Actions do not update the metadata table.",
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
    "every-rollback-has-one-token",
    "RB-007 SL-023",
    "Logs of commands all have one write token.",
    "effects.log_file_name",
)
def _every_rollback_has_one_token(original: Function) -> Function:
    def constant(file_id: str, instant: str, version: int, token: str, *rest: Any, **more: Any) -> str:
        is_command = token.startswith("1-") and token.endswith("-1")
        name: str = original(file_id, instant, version, "1-0-1" if is_command else token, *rest, **more)
        return name

    return constant


@mutant(
    "late-deletes-win-in-base-files",
    "MG-018 MG-006",
    "Where a base file is written anew a row that is marked as deleted goes, however late the mark comes.",
    "staging.base_file",
)
def _late_deletes_win_in_base_files(original: Function) -> Function:
    def deleting(view: View, change: Any, *rest: Any) -> Any:
        final = (replace(one, ordering=None) if one.is_delete else one for one in change.versions)
        return original(view, replace(change, versions=tuple(final)), *rest)

    return deleting


@mutant(
    "deletes-lose-within-a-batch",
    "OW-019 PL-006",
    "Of the rows of one write with the same key no delete is what is left.",
    "tagging.combined",
)
def _deletes_lose_within_a_batch(original: Function) -> Function:
    def without_deletes(view: View, many: list[Any]) -> Any:
        return original(view, [one for one in many if not one[1].is_delete] or many)

    return without_deletes


@mutant(
    "deletes-complete-rows",
    "MG-025 OW-019",
    "A row that follows a delete of the same write takes the values of the delete where it has none, its mark too.",
    "tagging.version_of_record",
)
def _deletes_complete_rows(original: Function) -> Function:
    def with_data(record: Any, key: str, rule: Any, **more: Any) -> Any:
        version = original(record, key, rule, **more)
        return replace(version, record=record, deleted=True) if version.record is None else version

    return with_data


_PLACE = 2
"""So many parts has what the record index says of a key: partition and file group."""


@mutant(
    "new-keys-unindexed",
    "IX-021 MT-005",
    "The record index learns of keys that it has, and of no others.",
    "metadata.difference",
)
def _new_keys_unindexed(original: Function) -> Function:
    def known_only(stored: Mapping[str, Any], held: Mapping[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = original(stored, held)
        places = stored and all(isinstance(one, list) and len(one) == _PLACE for one in stored.values())
        return {key: value for key, value in changed.items() if key in stored} if places else changed

    return known_only


@mutant(
    "indexing-is-unknown-before-version-8",
    "VR-006",
    "A downgrade stops at an action that has built an index.",
    "upgrades.in_layout",
)
def _indexing_is_unknown_before_version_8(original: Function) -> Function:
    def strict(table: Table, entry: Any, layout: int, *rest: Any) -> Any:
        if layout == 1 and entry.action is Action.INDEXING:
            raise Rejection(Reason.INSTANT_MALFORMED, "TL-008", entry.name, "no action of this name is known")
        return original(table, entry, layout, *rest)

    return strict


@mutant(
    "rollback-of-a-removed-write-is-left",
    "RB-004",
    "A pending rollback is left alone where its write has left the timeline.",
    "services.rollback.pending_rollback",
)
def _rollback_of_a_removed_write_is_left(original: Function) -> Function:
    def of_known(table: Table, target: InstantTime) -> InstantTime | None:
        found: InstantTime | None = original(table, target)
        return found if any(one.requested == target for one in table.timeline) else None

    return of_known


@mutant(
    "ranges-end-with-what-is-retained",
    "IN-007",
    "A range is refused that ends before the moment which a clean kept.",
    "incremental.slices_of_range",
)
def _ranges_end_with_what_is_retained(original: Function) -> Function:
    def retained(view: View, time_range: Any) -> tuple[FileSlice, ...]:
        if time_range.end is not None:
            refuse_unretained(view.table.timeline, time_range.end)
        found: tuple[FileSlice, ...] = original(view, time_range)
        return found

    return retained


@mutant(
    "cleaned-change-logs-are-lost",
    "CD-006",
    "A change log that is not there is lost, also where a clean deleted it.",
    "incremental.logged_changes",
)
def _cleaned_change_logs_are_lost(original: Function) -> Function:
    def lost(opened: Any, write: Any) -> Any:
        try:
            return original(opened, write)
        except Rejection as error:
            raise Rejection(Reason.LOG_FILE_MISSING, "CD-003", str(write.requested), "it is not there") from error

    return lost


@mutant(
    "reading-stops-at-a-later-block",
    "LF-016 RD-010",
    "What a log holds behind the first block that does not count is not read.",
    "reading.effective_blocks",
)
def _reading_stops_at_a_later_block(_: Function) -> Function:
    def stopping(logs: tuple[LogFile, ...], counts: Function) -> Any:
        scanned = without_rolled_back(block for log in logs for block in blocks_of(log))
        return place_log_compacted(tuple(takewhile(lambda block: counts(block.instant), scanned)))

    return stopping
