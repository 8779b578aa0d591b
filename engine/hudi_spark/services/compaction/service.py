"""Compaction as a service: planned under the lock, carried out a task a slice, completed as a commit.

Clauses: CP-001, CP-002, CP-006, CP-010, CP-012.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_format.timeline.commit_metadata import CommitMetadata
from hudi_format.timeline.plans import serialise_compaction_plan

from hudi_spark.committing.completing import Completion, nothing_to_check
from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.execution.tasks import ReadContext
from hudi_spark.files.base import base_file_form
from hudi_spark.files.changes import change_form
from hudi_spark.files.written import WRITTEN_SCHEMA, WrittenFile, from_rows
from hudi_spark.indexing.column_statistics import StatisticsPlan, statistics_plan
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.services.attempts import Attempt
from hudi_spark.services.compaction.forms import place_of, stated_schemas, with_operation_field
from hudi_spark.services.compaction.planned_slices import PlannedSlice, planned_slices, snapshot_of_plan
from hudi_spark.services.compaction.planning import plan_compaction
from hudi_spark.services.compaction.rewriting import Rewriting
from hudi_spark.services.service import ServicePlan
from hudi_spark.state.pending_plans import COMPACTION, compaction_plan
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant
from hudi_spark.writing.contents import metadata_content

_COMMIT, _OPERATION = "commit", "COMPACT"


@dataclass(frozen=True, slots=True)
class Compaction:
    """Slices with logs become base files.

    Clauses: CP-001, CP-002.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be compacted now; None where nothing is, or where it is not due.

        Raises:
            HudiError: CONFIG_INVALID for a copy-on-write table, an unknown trigger, a strategy that does not fit.
            UnsupportedFeature: compaction-strategy.

        Clauses: CP-001, CP-003, CP-005, CP-008, CP-009, CP-013.

        """
        del asked
        plan = plan_compaction(work, snapshot)
        return None if plan is None else ServicePlan(COMPACTION, serialise_compaction_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a compaction."""
        del work
        return pending.action == COMPACTION

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry out a compaction that is requested, or that somebody left inflight.

        Raises:
            HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING for a file that the plan names; INSTANT_NOT_FOUND,
                WRITE_CONFLICT where somebody else was faster; the plan waits as before.

        Clauses: CP-002, CP-004, CP-005, CP-006, CP-007, CP-010.

        """
        plan = compaction_plan(work.storage, pending)
        attempt = Attempt(work, COMPACTION, pending.requested)
        with attempt.inflight():
            snapshot = work.snapshot()
            planned = snapshot_of_plan(snapshot, plan, pending.requested)
            context, slices = planned_slices(work, planned, plan)
            written = _rewritten(work, planned, context, slices, pending.requested)
            stats = tuple(one.stat for one in written)
            metadata = CommitMetadata(_OPERATION, True, stats, extra=stated_schemas(planned))
            content = metadata_content(snapshot.configuration, _COMMIT, metadata)
            finished = FinishedWrite(pending.requested, _COMMIT, _OPERATION, written)
            completion = Completion(finished, content, requested_as=COMPACTION)
            completed = attempt.complete(snapshot, completion, nothing_to_check)
        return Outcome(pending.requested, completed, _COMMIT, _OPERATION, stats)


def _rewritten(
    work: TableWork, planned: Snapshot, context: ReadContext, slices: tuple[PlannedSlice, ...], requested: str
) -> tuple[WrittenFile, ...]:
    """The new base files, one for each slice; one job on Spark."""
    configuration, options = planned.configuration, work.options
    state = state_of_table(work.storage, planned, options)
    dropped = configuration.partition_by if configuration.partitions.columns_dropped else ()
    form = base_file_form(state.schema.avro, options, drops=dropped)
    rewriting = Rewriting(
        read=context,
        place=place_of(work, configuration, requested),
        form=replace(form, avro=with_operation_field(form.avro, context.schema)),
        changes=change_form(configuration, state.schema.avro, options),
        statistics=statistics_plan(state) or StatisticsPlan((), "V1"),
        has_completion_times=configuration.has_completion_times,
    )
    return from_rows(work.executor.tasks(slices, rewriting, WRITTEN_SCHEMA).gathered())
