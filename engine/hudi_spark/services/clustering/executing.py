"""A clustering carried out: inflight, new file groups, completed as a replacecommit.

Clauses: CL-004, CL-005, CL-006, CL-007, CL-009, RB-008.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.timeline.plan_values import ClusteringPlan

from hudi_spark.committing.attempts import give_up
from hudi_spark.committing.completing import Completion
from hudi_spark.committing.conflicts import refuse_conflicts
from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.files.written import WrittenFile
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.services.attempts import Attempt
from hudi_spark.services.clustering.inputs import inputs_of
from hudi_spark.services.clustering.layout import Layout, layout_of
from hudi_spark.services.clustering.planning import SORT_KEY, refuse_unclustered
from hudi_spark.services.clustering.rewriting import reading_of, rewrite
from hudi_spark.services.clustering.strategies import is_file_by_file
from hudi_spark.services.clustering.tasks import Rewriting
from hudi_spark.services.compaction.forms import stated_schemas, with_operation_field
from hudi_spark.state.pending_plans import clustering_plan, groups_of_plan, refuse_foreign_slices
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.contents import completed_metadata, metadata_content
from hudi_spark.writing.operations import Operation
from hudi_spark.writing.planning import context_of_write

ACTION: Final = "replacecommit"
_OPERATION: Final = Operation("bulk_insert", "CLUSTER", bulk=True)
_FILE_BYTES: Final = "hoodie.clustering.plan.strategy.target.file.max.bytes"
_HOWEVER_LARGE: Final = 2**62
# Conflicts after which nobody can carry the plan out.
_GROUPS_WERE_WRITTEN: Final = ("CL-005", "OW-005")


def execute_clustering(work: TableWork, pending: Instant) -> Outcome:
    """Carry out a plan that is requested, or inflight and left by whoever died over it.

    Raises:
        HudiError: WRITE_CONFLICT where its groups were written since, and the plan leaves the timeline, or where
            somebody else has taken it over; CONFIG_INVALID.
        UnsupportedFeature: a strategy that is not built.
        FormatError: PATH_ESCAPES_TABLE for a plan that names other than data files of partitions.

    Clauses: CL-004, CL-005, CL-006, RB-008, SL-007.

    """
    plan = clustering_plan(work.storage, pending)
    if plan is None:
        raise _lost(pending)
    refuse_foreign_slices(plan, pending.file)
    clustering = _Clustering(work, work.snapshot(), pending, plan)
    try:
        return clustering.run()
    except HudiError as error:
        if error.reason is Reason.WRITE_CONFLICT and error.clause in _GROUPS_WERE_WRITTEN:
            give_up(work, clustering.snapshot.configuration, pending.requested)
        raise


@dataclass(frozen=True, slots=True)
class _Clustering:
    """One attempt at a plan."""

    work: TableWork
    snapshot: Snapshot
    pending: Instant
    plan: ClusteringPlan

    def run(self) -> Outcome:
        """Clauses: CL-005, CL-006."""
        refuse_unclustered(self.work.options)
        state = state_of_table(self.work.storage, self.snapshot, self.work.options)
        reading = reading_of(self.work.storage, self.snapshot, self.work.readings, self.work.options)
        rewriting = self._rewriting(state, reading.context.schema)
        inputs = inputs_of(self.plan, self.snapshot, self.pending.requested)
        attempt = Attempt(self.work, self.pending.action, self.pending.requested)
        with attempt.inflight():
            written = rewrite(self.work.executor, self.work.storage, inputs, reading, rewriting)
            replaced = self._replaced()
            completion = self._completion(written, replaced)
            completed = attempt.complete(self.snapshot, completion, self._check)
        stats = tuple(one.stat for one in written)
        return Outcome(self.pending.requested, completed, ACTION, _OPERATION.stored, stats, replaced)

    def _rewriting(self, state: WriterState, stored: pa.Schema) -> Rewriting:
        """`stored`: the columns of the slices, meta fields first."""
        strategy = self.plan.strategy
        params = (strategy.strategy_params if strategy is not None else None) or {}
        layout = self._layout(params, stored)
        told = (_OPERATION, self.pending.requested, state.schema.arrow, self.work.file_ids)
        context = context_of_write(self.work.effects, state, *told)
        alone = strategy is not None and is_file_by_file(strategy.strategy_class_name or "")
        most = _HOWEVER_LARGE if alone else self.work.options.number(_FILE_BYTES)
        avro = with_operation_field(context.form.avro, stored)
        context = replace(context, form=replace(context.form, avro=avro, most_bytes=most), schema=stored)
        return Rewriting(context, layout, preserves=self.plan.preserve_hoodie_metadata is not False)

    def _layout(self, params: Mapping[str, str], stored: pa.Schema) -> Layout:
        named = tuple(name.strip() for name in params.get(SORT_KEY, "").split(",") if name.strip())
        return layout_of(named, stored, self.work.options)

    def _replaced(self) -> Mapping[str, tuple[str, ...]]:
        """Clauses: CL-006."""
        found: dict[str, list[str]] = {}
        for partition, file_id in sorted(groups_of_plan(self.plan)):
            found.setdefault(partition, []).append(file_id)
        return {partition: tuple(ids) for partition, ids in found.items()}

    def _completion(self, written: tuple[WrittenFile, ...], replaced: Mapping[str, tuple[str, ...]]) -> Completion:
        requested, stats = self.pending.requested, tuple(one.stat for one in written)
        metadata = completed_metadata(_OPERATION.stored, stats, replaced, stated_schemas(self.snapshot))
        content = metadata_content(self.snapshot.configuration, ACTION, metadata)
        finished = FinishedWrite(requested, ACTION, _OPERATION.stored, written, replaced)
        return Completion(finished, content, requested_as=self.pending.action)

    def _check(self, timeline: Timeline) -> None:
        """Clauses: CL-005."""
        refuse_conflicts(self.work.storage, self.snapshot, timeline, groups_of_plan(self.plan))


def _lost(pending: Instant) -> HudiError:
    message = f"the plan of the clustering {pending.requested} is gone"
    return HudiError(Reason.TIMELINE_FILE_CORRUPT, "CL-003", message, pending.file, hint="roll the action back")
