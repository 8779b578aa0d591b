"""Rules of the bytes of the timeline and its history, broken."""

from dataclasses import replace
from typing import Any

from hudi_format.errors import FormatError, Reason
from hudi_format.timeline.commit_metadata import CommitMetadata, ContentKind
from hudi_format.timeline.history import HistoryFileName
from hudi_format.timeline.plan_values import CompactionPlan

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "stat-paths-within-partitions",
    "SL-008",
    "The path of a write stat begins below its partition.",
    "hudi_format.timeline.commit_metadata._of_stored",
)
def _stat_paths_within_partitions(original: Function) -> Function:
    def shorter(stored: Any) -> CommitMetadata:
        found: CommitMetadata = original(stored)
        stats = (replace(one, path=one.path and one.path.rpartition("/")[2]) for one in found.write_stats)
        return replace(found, write_stats=tuple(stats))

    return shorter


@mutant(
    "json-on-the-timeline-refused",
    "TL-014",
    "A file of the timeline is empty or Avro, and never JSON.",
    "hudi_format.timeline.commit_metadata.content_kind",
)
def _json_on_the_timeline_refused(original: Function) -> Function:
    def empty_or_avro(data: bytes, file: str) -> ContentKind:
        kind: ContentKind = original(data, file)
        if kind == "json":
            raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-014", file, 0, "this is no Avro")
        return kind

    return empty_or_avro


@mutant(
    "bare-records-refused",
    "TL-030",
    "The contents of the history's rows are containers, as files of the timeline are.",
    "hudi_format.timeline.headerless.with_header",
)
def _bare_records_refused(_: Function) -> Function:
    return lambda data, _action, _file: data


def _without_replaced(original: Function, start: bytes) -> Function:
    """What commits that begin so say of the groups they replace is not read."""

    def parsed(data: bytes, file: str) -> CommitMetadata:
        found: CommitMetadata = original(data, file)
        return replace(found, replaced_file_ids={}) if data.startswith(start) else found

    return parsed


@mutant(
    "replaced-groups-of-json-unread",
    "TL-019",
    "What a commit in JSON says of replaced file groups is not read.",
    "hudi_format.timeline.commit_metadata.parse_commit_metadata",
)
def _replaced_groups_of_json_unread(original: Function) -> Function:
    return _without_replaced(original, b"{")


@mutant(
    "replaced-groups-of-avro-unread",
    "TL-020",
    "What a commit in Avro says of replaced file groups is not read.",
    "hudi_format.timeline.commit_metadata.parse_commit_metadata",
)
def _replaced_groups_of_avro_unread(original: Function) -> Function:
    return _without_replaced(original, b"Obj")


@mutant(
    "history-of-one-level",
    "TL-030",
    "Only files of the lowest level belong to the history.",
    "hudi_format.timeline.history.parse_history_name",
)
def _history_of_one_level(original: Function) -> Function:
    def lowest(name: str) -> HistoryFileName | None:
        found: HistoryFileName | None = original(name)
        return found if found and found.level == 0 else None

    return lowest


@mutant(
    "version-file-counts-from-one",
    "TL-031",
    "The version file holds the number of the manifest that comes next.",
    "hudi_format.timeline.history.parse_version",
)
def _version_file_counts_from_one(original: Function) -> Function:
    return lambda data, file: original(data, file) - 1


@mutant(
    "archived-logs-by-another-name",
    "TL-032",
    "The names of archived logs begin with `.archived.`.",
    "hudi_format.timeline.archived_log.is_archived_log",
)
def _archived_logs_by_another_name(_: Function) -> Function:
    return lambda name: name.startswith(".archived.")


@mutant(
    "plans-are-empty",
    "TL-033",
    "The requested file of a compaction holds nothing that is read.",
    "hudi_format.timeline.plans.parse_compaction_plan",
)
def _plans_are_empty(_: Function) -> Function:
    return lambda _data, _file: CompactionPlan(())
