"""Log compaction as a service: planned under the lock, carried out a task a slice, completed as a deltacommit.

Clauses: LC-001, LC-002, LC-006.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage
from hudi_format.timeline.plans import CompactionPlan, serialise_compaction_plan

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.files.log_form import log_form
from hudi_spark.services.compaction.carrying_out import Kind, Shared, carry_out
from hudi_spark.services.compaction.forms import with_operation_field
from hudi_spark.services.log_compaction.appending import Appending
from hudi_spark.services.log_compaction.planning import plan_log_compaction
from hudi_spark.services.service import ServicePlan
from hudi_spark.state.pending_plans import LOG_COMPACTION, compaction_plan, groups_of_plan, refuse_foreign_slices
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline


def _appending(shared: Shared) -> Appending:
    """Clauses: LC-001."""
    state, read = shared.state, shared.read
    form = log_form(state.configuration, state.schema.avro, state.options, read.rule)
    form = replace(form, avro=with_operation_field(form.avro, read.schema))
    return Appending(read, shared.place, form, shared.statistics)


_KIND: Final = Kind("deltacommit", "LOG_COMPACT", _appending)


@dataclass(frozen=True, slots=True)
class LogCompaction:
    """The blocks of slices become one log file each.

    Clauses: LC-001.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be compacted now; None where nothing is.

        Raises:
            HudiError: CONFIG_INVALID for a copy-on-write table.

        Clauses: LC-001, LC-002, LC-003, LC-008.

        """
        del asked
        plan = plan_log_compaction(work, snapshot)
        return None if plan is None else ServicePlan(LOG_COMPACTION, serialise_compaction_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a log compaction."""
        del work
        return pending.action == LOG_COMPACTION

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry out a log compaction that is requested, or that somebody left inflight.

        Raises:
            HudiError: LOG_FILE_MISSING for a file that the plan names; WRITE_CONFLICT where a compaction was planned
                for one of its groups; INSTANT_NOT_FOUND where somebody else was faster. The plan waits as before.
            UnsupportedFeature: log-compaction-of-partial-updates, for a plan that somebody else made.
            FormatError: PATH_ESCAPES_TABLE for a plan that names other than data files of partitions.

        Clauses: LC-001, LC-003, LC-004, LC-006, LC-007, SL-007.

        """
        plan = compaction_plan(work.storage, pending)
        refuse_foreign_slices(plan, pending.file)
        check = partial(refuse_later_compactions, work.storage, pending.requested, plan)
        return carry_out(work, pending, plan, _KIND, check)


def refuse_later_compactions(storage: Storage, requested: str, plan: CompactionPlan, timeline: Timeline) -> None:
    """Nothing unless a compaction was planned after the log compaction for one of its groups.

    Its base file may hold newer rows than the log, which would stand above it.

    Raises:
        HudiError: WRITE_CONFLICT naming the compaction.

    Clauses: LC-002, LC-003.

    """
    later = (one for one in timeline.instants if one.was_compaction and one.requested > requested)
    for one in later:
        shared = groups_of_plan(compaction_plan(storage, one)) & groups_of_plan(plan)
        if shared:
            named = ", ".join("/".join(part for part in group if part) for group in sorted(shared)[:3])
            hint = "roll the log compaction back: the compaction takes its logs up"
            message = f"the compaction {one.requested} was planned for the same file groups: {named}"
            raise HudiError(Reason.WRITE_CONFLICT, "LC-002", message, one.file, hint=hint)
