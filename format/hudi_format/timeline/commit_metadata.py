"""What a data commit wrote: JSON before table version 8, an Avro container from 8 on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hudi_format.avro.files import MAGIC, SYNC_MARKER, read_container, write_container
from hudi_format.avro.values import from_record, to_record
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.json_text import pretty_json, read_json
from hudi_format.timeline.timeline_schemas import commit_metadata as commit_metadata_schema

ContentKind = Literal["empty", "json", "avro"]

NO_PREVIOUS_COMMIT = "null"

# Version 6 leaves these out of the JSON; the order of the rest is the order there.
_JSON_STAT_ORDER = (
    "fileId",
    "path",
    "cdcStats",
    "prevCommit",
    "numWrites",
    "numDeletes",
    "numUpdateWrites",
    "numInserts",
    "totalWriteBytes",
    "totalWriteErrors",
    "tempPath",
    "partitionPath",
    "totalLogRecords",
    "totalLogFilesCompacted",
    "totalLogSizeCompacted",
    "totalUpdatedRecordsCompacted",
    "totalLogBlocks",
    "totalCorruptLogBlock",
    "totalRollbackBlocks",
    "fileSizeInBytes",
    "minEventTime",
    "maxEventTime",
    "runtimeStats",
)
_JSON_RUNTIME_ORDER = ("totalScanTime", "totalUpsertTime", "totalCreateTime")
_JSON_LOG_STAT_ORDER = ("logVersion", "logOffset", "baseFile", "logFiles")
_COUNTS_WRITTEN_AS_ZERO = frozenset(
    name for name in _JSON_STAT_ORDER if name.startswith(("num", "total")) or name == "fileSizeInBytes"
)


@dataclass(frozen=True, slots=True)
class RuntimeStats:
    """Milliseconds that a write handle spent."""

    total_scan_time: int | None = None
    total_create_time: int | None = None
    total_upsert_time: int | None = None


@dataclass(frozen=True, slots=True)
class WriteStat:
    """One file that a commit wrote, in the field order of table versions 8 and 9.

    `path` is relative to the table base and includes the partition.
    `prev_commit` of a new file is the text `null`.

    Clauses: TL-019, TL-020, SL-008.
    """

    file_id: str | None = None
    path: str | None = None
    prev_commit: str | None = None
    num_writes: int | None = None
    num_deletes: int | None = None
    num_update_writes: int | None = None
    total_write_bytes: int | None = None
    total_write_errors: int | None = None
    partition_path: str | None = None
    total_log_records: int | None = None
    total_log_files: int | None = None
    total_updated_records_compacted: int | None = None
    num_inserts: int | None = None
    total_log_blocks: int | None = None
    total_corrupt_log_block: int | None = None
    total_rollback_blocks: int | None = None
    file_size_in_bytes: int | None = None
    log_version: int | None = None
    log_offset: int | None = None
    base_file: str | None = None
    log_files: tuple[str, ...] | None = None
    cdc_stats: Mapping[str, int] | None = None
    prev_base_file: str | None = None
    min_event_time: int | None = None
    max_event_time: int | None = None
    runtime_stats: RuntimeStats | None = None
    total_log_files_compacted: int | None = None
    total_log_read_time_ms: int | None = None
    total_log_size_compacted: int | None = None
    temp_path: str | None = None
    num_updates: int | None = None


@dataclass(frozen=True, slots=True)
class CommitMetadata:
    """The content of a commit, deltacommit or replacecommit.

    Clauses: TL-019, TL-020.
    """

    operation_type: str | None = None
    compacted: bool = False
    write_stats: tuple[WriteStat, ...] = ()
    replaced_file_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The record as files hold it."""

    partition_to_write_stats: Mapping[str, tuple[WriteStat, ...]] = field(default_factory=dict)
    compacted: bool = False
    extra_metadata: Mapping[str, str] = field(default_factory=dict)
    operation_type: str | None = None
    partition_to_replace_file_ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def content_kind(data: bytes, file: str) -> ContentKind:
    """Which of the three forms a timeline file has.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for anything else.

    Clauses: TL-014.

    """
    if not data:
        return "empty"
    if data.startswith(MAGIC):
        return "avro"
    if data.lstrip()[:1] == b"{":
        return "json"
    raise FormatError(
        Reason.TIMELINE_FILE_CORRUPT, "TL-014", file, 0, f"the file begins with {data[:4]!r}: neither JSON nor Avro"
    )


def parse_commit_metadata(data: bytes, file: str) -> CommitMetadata:
    """The metadata of a commit in either form; an empty file has none and is refused.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it is empty or does not parse.

    Clauses: TL-014, TL-019, TL-020.

    """
    kind = content_kind(data, file)
    if kind == "empty":
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-014", file, None, "the file is empty")
    clause = "TL-020" if kind == "avro" else "TL-019"
    record = _read_avro(data, file) if kind == "avro" else read_json(data, file, Reason.TIMELINE_FILE_CORRUPT, "TL-019")
    with refusing(Reason.TIMELINE_FILE_CORRUPT, clause, file, None, "no commit metadata"):
        return _of_stored(from_record(_Stored, record))


def commit_metadata_of_record(record: Any) -> CommitMetadata:
    """The metadata of a commit in a decoded Avro record, as archived logs nest it.

    Raises:
        ValueError: the record has values of other types.

    Clauses: TL-020, TL-032.

    """
    return _of_stored(from_record(_Stored, record))


def record_of_commit_metadata(metadata: CommitMetadata) -> dict[str, Any]:
    """The Avro record of a commit's metadata, with the replaced groups.

    Clauses: TL-020, TL-032.
    """
    record: dict[str, Any] = {**to_record(_to_stored(metadata)), "version": None}
    return record


def serialise_json(metadata: CommitMetadata) -> bytes:
    """The pretty JSON of table version 6: two blanks, ` : `, no newline at the end.

    Clauses: TL-019.
    """
    record = to_record(_to_stored(metadata))
    ordered = {"partitionToWriteStats": {}, "compacted": metadata.compacted, "extraMetadata": dict(metadata.extra)}
    for partition, stats in record["partitionToWriteStats"].items():
        ordered["partitionToWriteStats"][partition] = [_json_stat(stat) for stat in stats]  # type: ignore[index]
    ordered["operationType"] = metadata.operation_type
    if metadata.replaced_file_ids:
        ordered["partitionToReplaceFileIds"] = record["partitionToReplaceFileIds"]
    return pretty_json(ordered)


def serialise_avro(metadata: CommitMetadata, *, replace: bool = False, sync_marker: bytes = SYNC_MARKER) -> bytes:
    """The Avro container of table versions 8 and 9; `replace` for completed replacecommits.

    Clauses: TL-020.
    """
    record = {**to_record(_to_stored(metadata)), "version": None}
    return write_container(commit_metadata_schema(replace=replace), [record], sync_marker)


def _read_avro(data: bytes, file: str) -> dict[str, Any]:
    schema, records = read_container(data, file, Reason.TIMELINE_FILE_CORRUPT, "TL-020")
    name = schema.get("name") if isinstance(schema, dict) else None
    if str(name).rpartition(".")[2] not in ("HoodieCommitMetadata", "HoodieReplaceCommitMetadata"):
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-020", file, None, f"the file holds {name}, no commit")
    if len(records) != 1:
        message = f"the file holds {len(records)} records instead of one"
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-020", file, None, message)
    return records[0]


def _of_stored(stored: _Stored) -> CommitMetadata:
    """The stats in one sequence; the partition they are filed under is theirs."""
    stats = tuple(
        stat if stat.partition_path == partition else replace(stat, partition_path=partition)
        for partition, filed in stored.partition_to_write_stats.items()
        for stat in filed
    )
    return CommitMetadata(
        stored.operation_type, stored.compacted, stats, stored.partition_to_replace_file_ids, stored.extra_metadata
    )


def _to_stored(metadata: CommitMetadata) -> _Stored:
    filed: dict[str, list[WriteStat]] = {}
    for stat in metadata.write_stats:
        partition = stat.partition_path or ""
        # What a workload profile expects has no path yet, and there the key alone states the partition.
        kept = stat if stat.path is not None else replace(stat, partition_path=None)
        filed.setdefault(partition, []).append(kept)
    by_partition = {partition: tuple(stats) for partition, stats in filed.items()}
    return _Stored(
        by_partition, metadata.compacted, metadata.extra, metadata.operation_type, metadata.replaced_file_ids
    )


def _json_stat(stat: dict[str, Any]) -> dict[str, Any]:
    """A stat with version 6's keys; what a later version added appears when it has a value."""
    ordered = {name: _counted(name, stat[name]) for name in _JSON_STAT_ORDER}
    if stat["runtimeStats"] is not None:
        ordered["runtimeStats"] = {name: stat["runtimeStats"][name] for name in _JSON_RUNTIME_ORDER}
    if stat["logVersion"] is not None:
        ordered |= {name: stat[name] for name in _JSON_LOG_STAT_ORDER} | {"recordsStats": {"val": None}}
    return ordered | {name: value for name, value in stat.items() if name not in ordered and value is not None}


def _counted(name: str, value: Any) -> Any:
    return 0 if value is None and name in _COUNTS_WRITTEN_AS_ZERO else value
