"""Bytes of timeline files from values of the model."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hudi_format.table.internal_schema import LATEST_SCHEMA_KEY, internal_schema_text
from hudi_format.timeline import commit_metadata, plans
from hudi_model.actions import (
    Action,
    CleanMetadata,
    CleanPlan,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    IndexPlan,
    ReplacePlan,
    RestorePlan,
    RollbackMetadata,
    RollbackPlan,
    SavepointMetadata,
    State,
    TimelineEntry,
    WriteStat,
)

from hudi_conformance.bridge import plan_contents
from hudi_conformance.bridge.schemas import avro_schema, internal_version
from hudi_conformance.bridge.timeline_contents import SCHEMA_KEY

Sizes = Mapping[str, int]


def content_bytes(entry: TimelineEntry, layout: int, table_name: str, sizes: Sizes, base: str = "") -> bytes:
    """A timeline file's bytes under layout 1 or 2. Write stats without size take it from `sizes` (path to bytes).

    `base` is the table's own path, which some plans spell out.

    Raises:
        ValueError: the content is damaged, or of a kind that its action and state do not have.

    """
    match entry.content:
        case None:
            return b""
        case CommitMetadata():
            return _commit(entry, entry.content, layout, table_name, sizes)
        case CompactionPlan(operations):
            return plans.serialise_compaction_plan(plans.CompactionPlan(tuple(map(_operation, operations))))
        case CleanMetadata():
            return _clean(entry, entry.content)
        case RollbackMetadata():
            return _rollback(entry, entry.content)
    return _planned(entry, base)


def _planned(entry: TimelineEntry, base: str) -> bytes:
    match entry.content:
        case ReplacePlan() as plan:
            return plan_contents.replace_plan_bytes(plan, base)
        case CleanPlan() as plan:
            return plan_contents.clean_plan_bytes(plan, base)
        case RollbackPlan() as plan:
            return plan_contents.rollback_plan_bytes(plan)
        case RestorePlan() as plan:
            return plan_contents.restore_plan_bytes(plan, {})
        case SavepointMetadata() as kept:
            return plan_contents.savepoint_bytes(kept)
        case IndexPlan() as plan:
            return plan_contents.index_plan_bytes(plan, completed=entry.state is State.COMPLETED)
    raise ValueError(f"{entry.name}: this content has no bytes")


def _commit(entry: TimelineEntry, content: CommitMetadata, layout: int, table_name: str, sizes: Sizes) -> bytes:
    extra = dict(content.extra or {})
    if content.schema:
        extra[SCHEMA_KEY] = json.dumps(avro_schema(content.schema, table_name), separators=(",", ":"))
    if content.identified:
        extra.setdefault(LATEST_SCHEMA_KEY, internal_schema_text(internal_version(content.identified)))
    metadata = commit_metadata.CommitMetadata(
        operation_type=content.operation,
        compacted=content.compacted,
        write_stats=tuple(_write_stat(stat, layout, sizes) for stat in content.write_stats),
        replaced_file_ids=plan_contents.filed(content.replaced),
        extra=extra,
    )
    if layout == 1:
        return commit_metadata.serialise_json(metadata)
    replaces = entry.action is Action.REPLACE_COMMIT and entry.state is State.COMPLETED
    return commit_metadata.serialise_avro(metadata, replace=replaces)


def _write_stat(stat: WriteStat, layout: int, sizes: Sizes) -> commit_metadata.WriteStat:
    name = (stat.path or "").rpartition("/")[2]
    return commit_metadata.WriteStat(
        file_id=stat.file_id,
        path=stat.path,
        prev_commit=stat.previous_instant,
        num_writes=stat.writes,
        num_deletes=stat.deletes,
        num_update_writes=stat.updates,
        num_inserts=stat.inserts,
        total_write_bytes=stat.size or sizes.get(stat.path or "", 0),
        total_write_errors=0,
        partition_path=stat.partition,
        file_size_in_bytes=stat.size or sizes.get(stat.path or "", 0),
        cdc_stats={path: sizes.get(path, 0) for path in stat.change_logs} or None,
        **(_log_fields(name, layout, stat.slice_files) if name.startswith(".") else {}),
    )


def _log_fields(name: str, layout: int, joined: Sequence[str]) -> dict[str, Any]:
    version = name.partition(".log.")[2].partition("_")[0]
    files = {"base_file": "".join(joined[:1]), "log_files": (*joined[1:], name)}
    fields = {"log_version": int(version), "log_offset": 0, **files}
    return fields if layout == 1 else {**fields, "total_log_files": 0}


def _operation(operation: CompactionOperation) -> plans.CompactionOperation:
    return plans.CompactionOperation(
        base_instant_time=operation.base_instant,
        delta_file_paths=operation.log_files,
        data_file_path=operation.base_file,
        file_id=operation.file_id,
        partition_path=operation.partition,
        metrics={},
    )


def _clean(entry: TimelineEntry, content: CleanMetadata) -> bytes:
    files = plan_contents.filed(content.deleted_files)
    done = {part: plans.CleanPartition(part, success_delete_files=names) for part, names in files.items()}
    metadata = plans.CleanMetadata(
        start_clean_time=entry.requested,
        total_files_deleted=len(content.deleted_files),
        earliest_commit_to_retain=content.earliest_to_retain or "",
        partition_metadata=done,
    )
    return plans.serialise_clean_metadata(metadata)


def _rollback(entry: TimelineEntry, content: RollbackMetadata) -> bytes:
    files = plan_contents.filed(content.deleted_files)
    done = {part: plans.RollbackPartition(part, success_delete_files=names) for part, names in files.items()}
    metadata = plans.RollbackMetadata(
        start_rollback_time=entry.requested,
        total_files_deleted=len(content.deleted_files),
        commits_rollback=content.rolled_back,
        partition_metadata=done,
        instants_rollback=tuple(plans.InstantInfo(instant, "deltacommit") for instant in content.rolled_back),
    )
    if entry.action is Action.ROLLBACK:
        return plans.serialise_rollback_metadata(metadata)
    restore = plans.RestoreMetadata(
        start_restore_time=entry.requested,
        instants_to_rollback=content.rolled_back,
        hoodie_restore_metadata={entry.requested: (metadata,)},
    )
    return plans.serialise_restore_metadata(restore)
