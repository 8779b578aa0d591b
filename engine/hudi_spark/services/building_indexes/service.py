"""The service `indexing`: planned, then carried out.

Clauses: IG-001, IG-005, IG-007.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_format.errors import FormatError
from hudi_format.names import TimelineFileName
from hudi_format.timeline.plans import IndexCommit, IndexPlan, serialise_index_commit, serialise_index_plan

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.indexing.planned import INDEXING, index_plan
from hudi_spark.services.building_indexes.building import build_index, give_up
from hudi_spark.services.building_indexes.planning import covered, last_contiguous_write, plan_indexing
from hudi_spark.services.service import ServicePlan
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant

_OPERATION = "INDEX"


@dataclass(frozen=True, slots=True)
class Indexing:
    """Builds indexes of an existing table.

    Clauses: IG-001, IG-006.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> ServicePlan | None:
        """The indexes to build; None where there are all that are asked for.

        Clauses: IG-001, IG-002.
        """
        plan = plan_indexing(work, snapshot, asked)
        return None if plan is None else ServicePlan(INDEXING, serialise_index_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is an indexing."""
        del work
        return pending.action == INDEXING

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Build what was planned, one index after the other; each is used as soon as it is whole.

        Raises:
            HudiError: CONFIG_INVALID for an index that the table cannot have; what was built goes, the plan waits.

        Clauses: IG-003, IG-004, IG-005, IG-007.

        """
        plan = index_plan(work.storage, pending)
        if pending.state == "REQUESTED":
            with work.lock(pending.requested):
                configuration = work.snapshot().configuration
                name = TimelineFileName(pending.requested, INDEXING, "INFLIGHT")
                work.effects.create_instant(configuration, name)
        try:
            for one in plan.index_partition_infos:
                build_index(work, one.metadata_partition_path or "")
        except (HudiError, FormatError, UnsupportedFeature):
            self._take_back(work, pending, plan)
            raise
        return self._complete(work, pending, plan)

    def _complete(self, work: TableWork, pending: Instant, plan: IndexPlan) -> Outcome:
        """Clauses: IG-004, IG-005."""
        with work.lock(pending.requested) as holding:
            snapshot = work.snapshot()
            upto = last_contiguous_write(snapshot.timeline) or pending.requested
            infos = tuple(covered(one.metadata_partition_path or "", upto) for one in plan.index_partition_infos)
            timed = snapshot.configuration.has_completion_times
            completed = work.time(snapshot.timeline, pending.requested) if timed else None
            name = TimelineFileName(pending.requested, INDEXING, "COMPLETED", completed)
            content = serialise_index_commit(IndexCommit(index_partition_infos=infos))
            holding.complete(snapshot.configuration, name, content)
        return Outcome(pending.requested, completed, INDEXING, _OPERATION)

    def _take_back(self, work: TableWork, pending: Instant, plan: IndexPlan) -> None:
        """Clauses: IG-007."""
        give_up(work, tuple(one.metadata_partition_path or "" for one in plan.index_partition_infos))
        with work.lock(pending.requested):
            name = TimelineFileName(pending.requested, INDEXING, "INFLIGHT")
            work.effects.delete_instant(work.snapshot().configuration, name)
