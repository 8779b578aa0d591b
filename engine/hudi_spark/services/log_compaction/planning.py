"""The plan of a log compaction.

Clauses: LC-001, LC-002, LC-003, LC-008.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import CompactionPlan, CompactionStrategy

from hudi_spark.committing.work import TableWork
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.merging.log_records import is_partial
from hudi_spark.merging.log_scan import scan_logs
from hudi_spark.options.resolving import Options
from hudi_spark.services.compaction.candidates import candidates, operations
from hudi_spark.services.compaction.planning import awaits_writes, left_out, refuse_copy_on_write
from hudi_spark.services.compaction.triggers import deltacommits_since, last_of
from hudi_spark.state.pending_plans import LOG_COMPACTION
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline, Visibility

_THRESHOLD: Final = "hoodie.log.compaction.blocks.threshold"
_COMPACTOR: Final = CompactionStrategy("org.apache.hudi.table.action.compact.LogCompactionExecutionHelper", {}, 1)
_COUNTED: Final = pa.schema([("number", pa.int64()), ("blocks", pa.int64()), ("whole", pa.bool_())])


def plan_log_compaction(work: TableWork, snapshot: Snapshot) -> CompactionPlan | None:
    """What a log compaction is to do now; None where no slice has enough logs or blocks.

    Raises:
        HudiError: CONFIG_INVALID for a copy-on-write table.

    Clauses: LC-001, LC-002, LC-003, LC-008.

    """
    refuse_copy_on_write(snapshot, "compacted")
    least = work.options.number(_THRESHOLD)
    if awaits_writes(snapshot):
        return None
    found = candidates(work, snapshot)
    could = tuple(one for one in found.slices if not _has_gap(one, snapshot))
    taken = _with_enough(work, snapshot, could, least)
    if not taken:
        return None
    planned, possible = operations(work, snapshot, taken), operations(work, snapshot, found.slices)
    missing = left_out(possible, planned, found)
    return CompactionPlan(
        planned, {}, strategy=_COMPACTOR, preserve_hoodie_metadata=True, missing_schedule_partitions=missing
    )


def is_due_inline(timeline: Timeline, options: Options) -> bool:
    """Whether a writer is to compact logs by itself: a plan waits, or enough deltacommits came since the last one.

    A slice has as many logs afterwards as before: by their number alone every write would compact them again.

    Clauses: LC-008.
    """
    logged = [one for one in timeline.instants if _was_log_compaction(one)]
    last = (last_of(timeline), logged[-1] if logged else None)
    enough = min(len(deltacommits_since(timeline, one)) for one in last) >= options.number(_THRESHOLD)
    return enough or bool(timeline.pending(LOG_COMPACTION))


def _was_log_compaction(instant: Instant) -> bool:
    return any(".logcompaction." in path.rpartition("/")[2] for path in instant.files.values())


def _has_gap(one: FileSlice, snapshot: Snapshot) -> bool:
    """Whether a write that began before the newest log may still put a block between those that are there.

    Clauses: LC-003.
    """
    pending = [one.requested for one in snapshot.timeline.pending("deltacommit")]
    return bool(pending) and max(_instants(one), default="") > min(pending)


def _instants(one: FileSlice) -> list[str]:
    names = [parse_data_file_name(path.rpartition("/")[2]) for path in one.log_files]
    return [name.instant for name in names if isinstance(name, LogFileName)]


def _with_enough(work: TableWork, snapshot: Snapshot, slices: Sequence[FileSlice], least: int) -> tuple[FileSlice, ...]:
    """The slices with enough log files or blocks, and no partial updates; one job on Spark.

    Partial updates need the row below to become one: they stay as they are until a compaction.

    Clauses: LC-008, LF-025.
    """
    counting = _Counting(work.storage, snapshot.visibility)
    counted = work.executor.tasks(tuple(enumerate(slices)), counting, _COUNTED).gathered()
    chosen = [
        number
        for number, blocks, whole in zip(*(column.to_pylist() for column in counted.columns), strict=True)
        if whole and max(len(slices[number].log_files), blocks) >= least
    ]
    return tuple(slices[number] for number in sorted(chosen))


@dataclass(frozen=True, slots=True)
class _Counting:
    """Counts the blocks of a slice that count."""

    storage: Storage
    visibility: Visibility

    def __call__(self, numbered: tuple[int, FileSlice], identity: TaskIdentity) -> pa.Table:
        """Number of the slice, of its blocks, and whether all of them hold whole rows."""
        del identity
        number, one = numbered
        blocks = scan_logs(self.storage, one.log_files, self.visibility).blocks
        whole = not any(is_partial(block) for block in blocks)
        return pa.table([[number], [len(blocks)], [whole and bool(blocks)]], schema=_COUNTED)
