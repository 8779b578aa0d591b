"""What compactions and log compactions of the metadata table have in common: their plans, and the slices in them."""

from collections.abc import Iterable
from typing import Final

from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.timeline.commit_metadata import (
    NO_PREVIOUS_COMMIT,
    CommitMetadata,
    RuntimeStats,
    WriteStat,
    serialise_avro,
    serialise_json,
)
from hudi_format.timeline.plans import (
    CompactionOperation,
    CompactionPlan,
    CompactionStrategy,
    serialise_compaction_plan,
)

from hudi_spark.effects.helper import joined
from hudi_spark.indexing.upkeep.merging import Merged
from hudi_spark.indexing.upkeep.own_table import OwnTable
from hudi_spark.state.pending_plans import compaction_plan, refuse_foreign_slices
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.timeline import Instant

_BY_LOGS: Final = "org.apache.hudi.table.action.compact.LogCompactionExecutionHelper"
_BYTES_A_MEGABYTE: Final = 1024 * 1024


def plan_of(own: OwnTable, slices: Iterable[FileSlice], *, of_logs: bool) -> CompactionPlan:
    """The plan of a compaction, or of one of logs, of these slices.

    Clauses: CP-001, TL-033.
    """
    strategy = CompactionStrategy(_BY_LOGS, {}, 1) if of_logs else None
    operations = tuple(_operation(own, one) for one in slices)
    newer = own.layout.has_completion_times
    return CompactionPlan(
        operations,
        extra_metadata={} if newer else None,
        strategy=strategy,
        preserve_hoodie_metadata=of_logs,
        missing_schedule_partitions=() if newer else None,
    )


def plan_bytes(plan: CompactionPlan) -> bytes:
    """The content of the requested file."""
    return serialise_compaction_plan(plan)


def planned_slices(own: OwnTable, pending: Instant) -> tuple[FileSlice, ...]:
    """The slices that a pending plan names.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when the plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: SL-007.

    """
    plan = compaction_plan(own.inside.storage, pending)
    refuse_foreign_slices(plan, pending.files["REQUESTED"])
    return slices_of_plan(plan)


def slices_of_plan(plan: CompactionPlan) -> tuple[FileSlice, ...]:
    """The slices of a plan."""
    return tuple(
        FileSlice(
            one.partition_path or "",
            one.file_id or "",
            one.base_instant_time or "",
            joined(one.partition_path or "", one.data_file_path) if one.data_file_path else None,
            tuple(joined(one.partition_path or "", name) for name in one.delta_file_paths),
        )
        for one in plan.operations
    )


def commit_content(own: OwnTable, operation: str, stats: Iterable[WriteStat]) -> bytes:
    """What the completed file of a compaction holds.

    Clauses: TL-019, TL-020.
    """
    extra = {"schema": own.layout.record_schema}
    metadata = CommitMetadata(operation, compacted=True, write_stats=tuple(stats), extra=extra)
    return serialise_avro(metadata) if own.layout.has_completion_times else serialise_json(metadata)


def stat_of(one: FileSlice, merged: Merged, name: str, size: int, log_bytes: int) -> WriteStat:
    """What a compaction says of a file that it wrote; `log_bytes`: those of the logs that it read.

    Clauses: TL-019, TL-020.
    """
    gone = merged.entries["value"].null_count
    return WriteStat(
        file_id=one.file_id,
        path=joined(one.partition, name),
        prev_commit=one.base_instant or NO_PREVIOUS_COMMIT,
        num_writes=merged.entries.num_rows - gone,
        num_deletes=gone,
        num_update_writes=0,
        num_inserts=0,
        num_updates=0,
        total_write_bytes=size,
        total_write_errors=0,
        partition_path=one.partition,
        total_log_records=merged.read,
        total_updated_records_compacted=merged.read,
        total_log_blocks=merged.blocks,
        total_corrupt_log_block=0,
        total_rollback_blocks=0,
        file_size_in_bytes=size,
        prev_base_file=None if one.base_file is None else one.base_file.rpartition("/")[2],
        runtime_stats=RuntimeStats(0, 0, 0),
        total_log_files_compacted=len(one.log_files),
        total_log_read_time_ms=0,
        total_log_size_compacted=log_bytes,
    )


def _operation(own: OwnTable, one: FileSlice) -> CompactionOperation:
    storage = own.inside.storage
    size = sum(storage.size(path) for path in one.log_files)
    base = 0 if one.base_file is None else storage.size(one.base_file)
    measured = {
        "TOTAL_LOG_FILES": float(len(one.log_files)),
        "TOTAL_LOG_FILES_SIZE": float(size),
        "TOTAL_IO_READ_MB": float((size + base) // _BYTES_A_MEGABYTE),
        "TOTAL_IO_WRITE_MB": float(base // _BYTES_A_MEGABYTE),
        "TOTAL_IO_MB": float((size + 2 * base) // _BYTES_A_MEGABYTE),
    }
    return CompactionOperation(
        base_instant_time=one.base_instant,
        delta_file_paths=tuple(path.rpartition("/")[2] for path in one.log_files),
        data_file_path=None if one.base_file is None else one.base_file.rpartition("/")[2],
        file_id=one.file_id,
        partition_path=one.partition,
        metrics=measured,
    )


def log_name(path: str) -> LogFileName:
    """The parts of a log's name."""
    name = parse_data_file_name(path.rpartition("/")[2])
    if not isinstance(name, LogFileName):
        raise TypeError(f"{path} is no log file")
    return name
