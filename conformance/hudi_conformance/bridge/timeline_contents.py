"""Contents of timeline files as values of the model."""

from collections.abc import Callable, Mapping

from hudi_format.avro.files import read_container
from hudi_format.avro.schemas import record_schema
from hudi_format.metadata.record_schemas import RECORD_NAME
from hudi_format.names import TimelineFileName
from hudi_format.table.internal_schema import LATEST_SCHEMA_KEY, parse_internal_schema
from hudi_format.timeline import commit_metadata, plans
from hudi_model import metadata
from hudi_model.actions import (
    CleanMetadata,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Content,
    OtherContent,
    RollbackMetadata,
    WriteStat,
)
from hudi_model.files import Schema, SchemaVersion
from hudi_model.rejection import Reason
from hudi_model.time import InstantTime

from hudi_conformance.bridge.damage import decoded_or_damaged
from hudi_conformance.bridge.plan_contents import DECODERS
from hudi_conformance.bridge.schemas import model_schema, schema_version

SCHEMA_KEY = "schema"
COMMIT_ACTIONS = ("commit", "deltacommit", "replacecommit")
_UNPLANNED = ("commit", "deltacommit")
_PLANNED = ("compaction", "logcompaction")


def load_content(data: bytes, file: str, name: TimelineFileName) -> Content:
    """What a timeline file holds: None when empty, `Damaged` when it does not parse."""
    if not data:
        return None
    decode = _decoder(name)
    return decoded_or_damaged(lambda: decode(data, file), "TL-014", Reason.TIMELINE_FILE_CORRUPT)


def _decoder(name: TimelineFileName) -> Callable[[bytes, str], Content]:
    if name.action in COMMIT_ACTIONS and name.state != "REQUESTED":
        return _commit
    if name.action in _UNPLANNED:
        return _nothing_planned
    if name.action in _PLANNED and name.state == "REQUESTED":
        return _compaction_plan
    found = DECODERS.get((name.action, name.state))
    if found is None and name.state == "COMPLETED":
        return _RESULTS.get(name.action, _other)
    return found or _other


def _commit(data: bytes, file: str) -> CommitMetadata:
    return commit_content(commit_metadata.parse_commit_metadata(data, file), file)


def _nothing_planned(data: bytes, file: str) -> OtherContent:
    """The request of a commit, which plans nothing: a downgrade of released writers leaves empty metadata in it."""
    _commit(data, file)
    return OtherContent()


def commit_content(found: commit_metadata.CommitMetadata, file: str) -> CommitMetadata:
    """What a commit did."""
    extra = dict(found.extra)
    text = extra.pop(SCHEMA_KEY, None)
    return CommitMetadata(
        operation=found.operation_type,
        compacted=found.compacted,
        write_stats=tuple(map(_write_stat, found.write_stats)),
        replaced=frozenset((part, file_id) for part, ids in found.replaced_file_ids.items() for file_id in ids),
        schema=_schema(text, file) if text else None,
        extra=extra,
        identified=_identified(extra.get(LATEST_SCHEMA_KEY), file),
    )


def _identified(text: str | None, file: str) -> SchemaVersion | None:
    return schema_version(parse_internal_schema(text, file)) if text else None


def _schema(text: str, file: str) -> Schema:
    """The columns of a commit's schema; the entries of a metadata table have those of the model."""
    avro = record_schema(text, file, clause="DM-003")
    return metadata.SCHEMA if avro.get("name") == RECORD_NAME else model_schema(avro)


def _write_stat(stat: commit_metadata.WriteStat) -> WriteStat:
    return WriteStat(
        partition=stat.partition_path or "",
        file_id=stat.file_id or "",
        path=stat.path,
        previous_instant=stat.prev_commit,
        writes=stat.num_writes or 0,
        inserts=stat.num_inserts or 0,
        updates=stat.num_update_writes or 0,
        deletes=stat.num_deletes or 0,
        size=stat.file_size_in_bytes or 0,
        change_logs=tuple(sorted(stat.cdc_stats or ())),
        slice_files=_slice_files(stat) if stat.base_file else (),
    )


def _slice_files(stat: commit_metadata.WriteStat) -> tuple[str, ...]:
    own = (stat.path or "").rpartition("/")[2]
    return (stat.base_file or "", *(name for name in stat.log_files or () if name != own))


def _compaction_plan(data: bytes, file: str) -> CompactionPlan:
    return CompactionPlan(tuple(map(_operation, plans.parse_compaction_plan(data, file).operations)))


def _operation(operation: plans.CompactionOperation) -> CompactionOperation:
    return CompactionOperation(
        partition=operation.partition_path or "",
        file_id=operation.file_id or "",
        base_instant=InstantTime(operation.base_instant_time or ""),
        base_file=operation.data_file_path,
        log_files=tuple(operation.delta_file_paths),
    )


def _clean(data: bytes, file: str) -> CleanMetadata:
    return clean_content(plans.parse_clean_metadata(data, file))


def clean_content(found: plans.CleanMetadata) -> CleanMetadata:
    """What a clean did."""
    return CleanMetadata(found.earliest_commit_to_retain or None, _deleted(found.partition_metadata))


def _rollback(data: bytes, file: str) -> RollbackMetadata:
    return rollback_content(plans.parse_rollback_metadata(data, file))


def rollback_content(found: plans.RollbackMetadata) -> RollbackMetadata:
    """What a rollback undid."""
    instants = tuple(InstantTime(instant) for instant in found.commits_rollback)
    return RollbackMetadata(instants, _deleted(found.partition_metadata))


def _restore(data: bytes, file: str) -> RollbackMetadata:
    found = plans.parse_restore_metadata(data, file)
    undone = [rollback_content(one) for many in found.hoodie_restore_metadata.values() for one in many]
    instants = tuple(InstantTime(instant) for instant in found.instants_to_rollback)
    return RollbackMetadata(instants, frozenset(pair for one in undone for pair in one.deleted_files))


def _deleted(partitions: Mapping[str, plans.CleanPartition | plans.RollbackPartition]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (partition, path.rpartition("/")[2])
        for partition, done in partitions.items()
        for path in done.success_delete_files
    )


def _other(data: bytes, file: str) -> OtherContent:
    read_container(data, file)
    return OtherContent()


_RESULTS: Mapping[str, Callable[[bytes, str], Content]] = {
    "clean": _clean,
    "rollback": _rollback,
    "restore": _restore,
}
