"""Compaction as a service: planned under the lock, carried out a task a slice, completed as a commit.

Clauses: CP-001, CP-002, CP-006, CP-010, CP-012.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hudi_format.timeline.plans import serialise_compaction_plan

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.files.base import base_file_form
from hudi_spark.files.changes import change_form
from hudi_spark.services.compaction.carrying_out import Kind, Shared, carry_out
from hudi_spark.services.compaction.forms import with_operation_field
from hudi_spark.services.compaction.planning import plan_compaction
from hudi_spark.services.compaction.rewriting import Rewriting
from hudi_spark.services.service import ServicePlan
from hudi_spark.state.pending_plans import COMPACTION, compaction_plan, refuse_foreign_slices
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant


def _rewriting(shared: Shared) -> Rewriting:
    """Clauses: CP-006."""
    configuration, schema, options = shared.state.configuration, shared.state.schema, shared.state.options
    dropped = configuration.partition_by if configuration.partitions.columns_dropped else ()
    form = base_file_form(schema.avro, options, drops=dropped)
    return Rewriting(
        read=shared.read,
        place=shared.place,
        form=replace(form, avro=with_operation_field(form.avro, shared.read.schema)),
        changes=change_form(configuration, schema.avro, options),
        statistics=shared.statistics,
        has_completion_times=configuration.has_completion_times,
    )


_KIND: Final = Kind("commit", "COMPACT", _rewriting)


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
            FormatError: PATH_ESCAPES_TABLE for a plan that names other than data files of partitions.

        Clauses: CP-002, CP-004, CP-005, CP-006, CP-007, CP-010, SL-007.

        """
        plan = compaction_plan(work.storage, pending)
        refuse_foreign_slices(plan, pending.file)
        return carry_out(work, pending, plan, _KIND)
