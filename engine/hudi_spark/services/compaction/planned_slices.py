"""The slices of a plan as they were when it was made, and what their tasks share to read them.

Clauses: CP-004, CP-005, LC-003.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import CompactionOperation, CompactionPlan

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import joined
from hudi_spark.errors import HudiError
from hudi_spark.execution.planning import Query, read_context, slice_task
from hudi_spark.execution.tasks import ReadContext, SliceTask
from hudi_spark.schemas.columns import stating_commit
from hudi_spark.schemas.origins import origins_of
from hudi_spark.state.commits import Commit
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class PlannedSlice:
    """One slice of a plan: its operation, and how it is read."""

    operation: CompactionOperation
    read: SliceTask


def snapshot_of_plan(snapshot: Snapshot, plan: CompactionPlan, requested: str) -> Snapshot:
    """The state that a plan was made on: its slices, and of all commits those that had completed then.

    Clauses: CP-004, CP-005.
    """
    before = tuple(one for one in snapshot.commits if _precedes(one, requested))
    known = frozenset(one.instant.requested for one in before)
    counted = replace(snapshot.visibility, visible=snapshot.visibility.visible & known)
    # Archival may have taken all that stated the schema then; a later one has room for the same rows.
    stating = before if stating_commit(before) is not None else snapshot.commits
    return replace(snapshot, commits=stating, visibility=counted, slices=tuple(map(slice_of, plan.operations)))


def slice_of(operation: CompactionOperation) -> FileSlice:
    """The file slice of an operation.

    Clauses: CP-005.
    """
    partition = operation.partition_path or ""
    base = operation.data_file_path
    return FileSlice(
        partition,
        operation.file_id or "",
        operation.base_instant_time or "",
        None if base is None else joined(partition, _name(base)),
        tuple(joined(partition, _name(log)) for log in operation.delta_file_paths),
    )


def planned_slices(
    work: TableWork, planned: Snapshot, plan: CompactionPlan
) -> tuple[ReadContext, tuple[PlannedSlice, ...]]:
    """What the tasks of a plan share, and one description for each; `planned` is the plan's own snapshot.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE; what else reading a table is refused for.

    Clauses: CP-004, RD-012.

    """
    query = Query(meta_columns=True, readings=work.readings, configs=work.options.values)
    context = read_context(work.storage, query, planned)
    origins = origins_of(work.storage, planned)
    tasks = (slice_task(one, context, origins) for one in planned.slices)
    return context, tuple(PlannedSlice(*pair) for pair in zip(plan.operations, tasks, strict=True))


def refuse_missing(storage: Storage, base_file: str | None, log_files: Sequence[str]) -> None:
    """Nothing when all files of a planned slice are there.

    Raises:
        HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING.

    Clauses: CP-005.

    """
    named = [(base_file, Reason.BASE_FILE_MISSING)] if base_file is not None else []
    for path, reason in (*named, *((log, Reason.LOG_FILE_MISSING) for log in log_files)):
        if not storage.exists(path):
            hint = "restore the file; or roll the plan back, and schedule the service again"
            raise HudiError(reason, "CP-005", "the plan names the file and storage lacks it", path, hint=hint)


def _precedes(commit: Commit, requested: str) -> bool:
    """Whether a commit had completed when an action was requested; before version 8 it was requested before."""
    return commit.instant.requested < requested and commit.instant.at("completed") < requested


def _name(path: str) -> str:
    """Plans name files without their folder; some writers put it before them."""
    return path.rpartition("/")[2]
