"""The slices that a plan could take on, as operations of a plan.

Clauses: CP-001, CP-003, CP-005.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from hudi_format.timeline.plan_values import CompactionOperation

from hudi_spark.committing.work import TableWork
from hudi_spark.schemas.origins import Origins, origins_of
from hudi_spark.services.compaction.metrics import metrics_of
from hudi_spark.state.pending_plans import groups_in_pending_plans
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Candidates:
    """Slices with logs, by partition and file id, and the partitions of those that pending plans hold."""

    slices: tuple[FileSlice, ...]
    held: frozenset[str]


def candidates(work: TableWork, snapshot: Snapshot) -> Candidates:
    """The slices with logs that no pending plan holds; called under the lock, so that all their logs have completed.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for a plan that does not parse.

    Clauses: CP-001, CP-003, CP-005.

    """
    logged = [one for one in snapshot.slices if one.log_files]
    planned = groups_in_pending_plans(work.storage, snapshot.timeline)
    free = tuple(one for one in logged if (one.partition, one.file_id) not in planned)
    return Candidates(free, frozenset(one.partition for one in logged if (one.partition, one.file_id) in planned))


def operations(work: TableWork, snapshot: Snapshot, slices: Iterable[FileSlice]) -> tuple[CompactionOperation, ...]:
    """The operations of slices; their partitions are listed for the sizes of files.

    Clauses: CP-005.
    """
    chosen = tuple(slices)
    partitions = sorted({one.partition for one in chosen})
    sizes = {file.path: file.size for name in partitions for file in work.storage.list_files(name, recursive=False)}
    largest = work.options.number("hoodie.parquet.max.file.size")
    origins = origins_of(work.storage, snapshot)
    return tuple(
        CompactionOperation(
            base_instant_time=one.base_instant,
            delta_file_paths=tuple(_name(path) for path in one.log_files),
            data_file_path=None if one.base_file is None else _name(one.base_file),
            file_id=one.file_id,
            partition_path=one.partition,
            metrics=metrics_of(one, sizes, largest),
            bootstrap_file_path=_bootstrapped(one, origins),
        )
        for one in chosen
    )


def _bootstrapped(one: FileSlice, origins: Origins) -> str | None:
    """Where the data of a slice lies that was bootstrapped."""
    external = origins.external(one)
    return None if external is None else external.storage.uri(external.path)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
