"""Rules of which files and slices are read, broken."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hudi_model.actions import Action
from hudi_model.files import BaseFile, FileSlice, GroupId, LogFile
from hudi_model.slicing import pending_compactions, snapshot_slices
from hudi_model.tables import OpenTable, Readings, View
from hudi_model.time import InstantTime, at_or_before
from hudi_model.timeline import completed_data, is_committed

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("as-of-reads-everything", "RD-010", "A read time is ignored.", "tables.view_at")
def _as_of_reads_everything(original: Function) -> Function:
    def latest(table: OpenTable, _read_time: InstantTime | None, readings: Readings) -> View:
        found: View = original(table, None, readings)
        return found

    return latest


@mutant("as-of-exclusive", "RD-010", "A read time excludes the instant it names.", "tables.is_within")
def _as_of_exclusive(_: Function) -> Function:
    return lambda view, instant: view.limit is None or instant < view.limit


@mutant("replaced-group-visible", "RD-003", "Replaced file groups are read.", "tables.replaced_groups")
def _replaced_group_visible(_: Function) -> Function:
    return lambda _view: frozenset()


@mutant(
    "replaced-group-hidden-too-early",
    "RD-003",
    "A group is hidden also before the commit that replaced it.",
    "tables.replaced_groups",
)
def _replaced_group_hidden_too_early(original: Function) -> Function:
    def at_any_time(view: View) -> frozenset[GroupId]:
        found: frozenset[GroupId] = original(replace(view, timeline=view.table.timeline, limit=None))
        return found

    return at_any_time


@mutant("replaced-by-file-id", "SL-025", "A replaced file id is hidden in every partition.", "tables.replaced_groups")
def _replaced_by_file_id(original: Function) -> Function:
    def everywhere(view: View) -> frozenset[GroupId]:
        ids = {file_id for _, file_id in original(view)}
        files: list[BaseFile | LogFile] = [*view.table.state.base_files, *view.table.state.log_files]
        return frozenset((file.partition, file.file_id) for file in files if file.file_id in ids)

    return everywhere


@mutant(
    "uncommitted-base-file-visible",
    "RD-002",
    "Base files of any instant are read.",
    "slicing.committed_base_files",
)
def _uncommitted_base_file_visible(_: Function) -> Function:
    def every(_view: View, base_files: Iterable[BaseFile]) -> dict[InstantTime, BaseFile]:
        return {base.instant: base for base in base_files}

    return every


@mutant(
    "greatest-write-token-counts",
    "SL-023",
    "Of several attempts the one with the greatest write token is read.",
    "slicing.committed_base_files",
)
def _greatest_write_token_counts(_: Function) -> Function:
    def last_by_name(view: View, base_files: Iterable[BaseFile]) -> dict[InstantTime, BaseFile]:
        ranked = sorted(base_files, key=lambda base: base.name)
        return {base.instant: base for base in ranked if is_committed(view.timeline, base.instant)}

    return last_by_name


@mutant("oldest-base-file", "RD-004", "The oldest base file of a group is read.", "slicing.committed_base_files")
def _oldest_base_file(original: Function) -> Function:
    def oldest(view: View, base_files: Iterable[BaseFile]) -> dict[InstantTime, BaseFile]:
        found: dict[InstantTime, BaseFile] = original(view, base_files)
        return {instant: found[instant] for instant in sorted(found)[:1]}

    return oldest


@mutant(
    "deltacommit-base-file-opens-no-slice",
    "RD-016",
    "Once a group has a base file, only compactions open slices.",
    "slicing.committed_base_files",
)
def _deltacommit_base_file_opens_no_slice(original: Function) -> Function:
    def compacted(view: View, base_files: Iterable[BaseFile]) -> dict[InstantTime, BaseFile]:
        found: dict[InstantTime, BaseFile] = original(view, base_files)
        actions = {one.requested: one.action for one in completed_data(view.timeline)}
        first = min(found, default=None)
        kept = (one for one in found if one == first or actions.get(one) is not Action.DELTA_COMMIT)
        return {instant: found[instant] for instant in kept}

    return compacted


@mutant("log-only-slice-skipped", "RD-017", "A slice without base file is not read.", "slicing.snapshot_slices")
def _log_only_slice_skipped(original: Function) -> Function:
    return lambda view: tuple(one for one in original(view) if one.base_file is not None)


@mutant(
    "v8-log-by-name", "RD-005", "A log joins the slice that was open when it was requested.", "slicing.slice_of_log"
)
def _v8_log_by_name(_: Function) -> Function:
    def by_name(_view: View, log: LogFile, boundaries: Iterable[InstantTime]) -> InstantTime:
        return max((one for one in boundaries if at_or_before(one, log.instant)), default=log.instant)

    return by_name


@mutant("logs-join-newest-slice", "RD-005 RD-006", "Every log joins the newest slice.", "slicing.slice_of_log")
def _logs_join_newest_slice(_: Function) -> Function:
    def newest(_view: View, log: LogFile, boundaries: Iterable[InstantTime]) -> InstantTime:
        return max(boundaries, default=log.instant)

    return newest


@mutant("log-order-by-text", "RD-007", "Logs are ordered by the text of their names.", "slicing.in_merge_order")
def _log_order_by_text(_: Function) -> Function:
    return lambda _view, logs: tuple(sorted(logs, key=lambda log: log.name))


@mutant("log-order-reversed", "RD-007", "The newest log is merged first.", "slicing.in_merge_order")
def _log_order_reversed(original: Function) -> Function:
    return lambda view, logs: tuple(reversed(original(view, logs)))


@mutant(
    "pending-slice-not-joined",
    "RD-008",
    "The slice that a pending compaction opened is read without the one before.",
    "slicing.join",
)
def _pending_slice_not_joined(_: Function) -> Function:
    return lambda _view, _older, newer: newer


@mutant(
    "optimized-empty-under-compaction",
    "RD-015",
    "A group under a pending compaction has no base file to read.",
    "queries.optimized_slices",
)
def _optimized_empty_under_compaction(original: Function) -> Function:
    def free_groups(view: View) -> tuple[FileSlice, ...]:
        pending = pending_compactions(view.timeline)
        return tuple(one for one in original(view) if (one.partition, one.file_id) not in pending)

    return free_groups


@mutant(
    "optimized-reads-logs", "RD-009 TT-003", "Logs are merged under a read-optimized query.", "queries.optimized_slices"
)
def _optimized_reads_logs(_: Function) -> Function:
    return snapshot_slices


@mutant(
    "missing-base-file-skipped",
    "RD-011",
    "A base file that storage lacks is left out.",
    "retention.refuse_missing",
)
def _missing_base_file_skipped(_: Function) -> Function:
    return lambda *_: None


@mutant(
    "missing-log-file-skipped",
    "RD-018",
    "A log file that storage lacks is left out.",
    "retention.refuse_missing_logs",
)
def _missing_log_file_skipped(_: Function) -> Function:
    return lambda *_: None


@mutant(
    "lost-timeline-is-a-new-table",
    "TL-022",
    "Data files without a timeline answer no rows.",
    "retention.refuse_lost_timeline",
)
def _lost_timeline_is_a_new_table(_: Function) -> Function:
    return lambda _view: None


@mutant(
    "cleaned-range-answered",
    "RD-014",
    "A time before the cleaned range is answered with what is left.",
    "retention.refuse_unretained",
)
def _cleaned_range_answered(_: Function) -> Function:
    return lambda _timeline, _read_time: None


@mutant(
    "pending-clean-overlooked",
    "RD-014",
    "A file that a clean deleted before it completed is taken for a lost one.",
    "retention.planned_removals",
)
def _pending_clean_overlooked(_: Function) -> Function:
    return lambda _timeline: frozenset()


@mutant("escaping-path-accepted", "SL-007", "A path may leave the table.", "retention.inner_path")
def _escaping_path_accepted(_: Function) -> Function:
    return lambda path: path


@mutant("plans-name-anything", "SL-007", "What a plan names is a data file.", "services.plans.foreign")
def _plans_name_anything(_: Function) -> Function:
    return lambda _files: ()


@mutant("change-feed-logs-read", "LF-018", "Logs of the change feed are read as data.", "slicing.data_logs")
def _change_feed_logs_read(_: Function) -> Function:
    return lambda view: view.table.state.log_files if view.configuration.merge_on_read else ()


@mutant(
    "other-formats-unread",
    "BF-010 BF-011",
    "Base files are those of the format that the properties name.",
    "slicing.committed_base_files",
)
def _other_formats_unread(original: Function) -> Function:
    def of_one_format(view: View, base_files: Iterable[BaseFile]) -> Any:
        format_name = view.configuration.properties.get("hoodie.table.base.file.format", "parquet").lower()
        return original(view, [one for one in base_files if one.extension == format_name])

    return of_one_format


@mutant("logs-are-not-rows", "TT-002", "The rows of a table are those of its base files.", "slicing.data_logs")
def _logs_are_not_rows(_: Function) -> Function:
    return lambda _view: ()


@mutant("groups-over-partitions", "SL-003", "A file id names one file group of the table.", "slicing.group_of")
def _groups_over_partitions(_: Function) -> Function:
    return lambda file: ("", file.file_id)


@mutant("partitions-are-one-folder-deep", "SL-020", "A partition is its last folder.", "slicing.group_of")
def _partitions_are_one_folder_deep(_: Function) -> Function:
    return lambda file: (file.partition.rpartition("/")[2], file.file_id)


@mutant(
    "slices-forget-archived-completions",
    "RD-005 HS-007",
    "A log whose write was archived counts as completed when it was requested.",
    "slicing.completed_at",
)
def _slices_forget_archived_completions(original: Function) -> Function:
    def forgetting(view: View, requested: InstantTime) -> InstantTime:
        is_active = any(one.requested == requested for one in view.table.timeline.entries)
        found: InstantTime = original(view, requested) if is_active else requested
        return found

    return forgetting
