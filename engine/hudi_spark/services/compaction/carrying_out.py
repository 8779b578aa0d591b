"""A compaction or log compaction carried out: a task for each slice of the plan, then it completes.

Clauses: CP-002, CP-004, CP-006, LC-003, LC-006.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from hudi_format.timeline.commit_metadata import CommitMetadata
from hudi_format.timeline.plan_values import CompactionPlan

from hudi_spark.committing.completing import Check, Completion, nothing_to_check
from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.execution.tasks import ReadContext
from hudi_spark.files.places import Place
from hudi_spark.files.written import WRITTEN_SCHEMA, WrittenFile, from_rows
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.column_statistics import StatisticsPlan, statistics_plan
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.services.attempts import Attempt
from hudi_spark.services.compaction.forms import place_of, stated_schemas
from hudi_spark.services.compaction.planned_slices import PlannedSlice, planned_slices, snapshot_of_plan
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.contents import metadata_content


@dataclass(frozen=True, slots=True)
class Shared:
    """What all tasks of a plan share: how they read, what is known of the table, where files go, and their statistics.

    `state` and `read` are of the snapshot that the plan was made on.

    Clauses: CP-004, LC-003.
    """

    state: WriterState
    read: ReadContext
    place: Place
    statistics: StatisticsPlan


@dataclass(frozen=True, slots=True)
class Kind:
    """What a plan completes as, and the task that one of its slices is.

    Clauses: CP-006, LC-006.
    """

    action: str
    operation: str
    task: Callable[[Shared], Callable[[PlannedSlice, TaskIdentity], pa.Table]]


def carry_out(
    work: TableWork, pending: Instant, plan: CompactionPlan, kind: Kind, check: Check = nothing_to_check
) -> Outcome:
    """Carry out a plan that is requested, or that somebody left inflight.

    Raises:
        HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING for a file that the plan names; INSTANT_NOT_FOUND,
            WRITE_CONFLICT where somebody else was faster, by `check` too; the plan waits as before.

    Clauses: CP-002, CP-006, CP-010, LC-006.

    """
    attempt = Attempt(work, pending.action, pending.requested)
    with attempt.inflight():
        snapshot = work.snapshot()
        planned = snapshot_of_plan(snapshot, plan, pending.requested)
        written = _written(work, planned, plan, kind, pending.requested)
        stats = tuple(one.stat for one in written)
        metadata = CommitMetadata(kind.operation, True, stats, extra=stated_schemas(planned))
        content = metadata_content(snapshot.configuration, kind.action, metadata)
        finished = FinishedWrite(pending.requested, kind.action, kind.operation, written)
        completed = attempt.complete(snapshot, Completion(finished, content, requested_as=pending.action), check)
    return Outcome(pending.requested, completed, kind.action, kind.operation, stats)


def _written(
    work: TableWork, planned: Snapshot, plan: CompactionPlan, kind: Kind, requested: str
) -> tuple[WrittenFile, ...]:
    """The new files, one for each slice; one job on Spark."""
    context, slices = planned_slices(work, planned, plan)
    state = state_of_table(work.storage, planned, work.options)
    place = place_of(work, planned.configuration, requested)
    shared = Shared(state, context, place, statistics_plan(state) or StatisticsPlan((), "V1"))
    return from_rows(work.executor.tasks(slices, kind.task(shared), WRITTEN_SCHEMA).gathered())
