"""Clustering as a table service.

Clauses: CL-001, CL-003, CL-008.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_format.timeline.plans import serialise_requested_replace

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.services.clustering.executing import execute_clustering
from hudi_spark.services.clustering.planning import is_due, plan_of
from hudi_spark.services.service import ServicePlan
from hudi_spark.state.pending_plans import clustering_plan
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant


@dataclass(frozen=True, slots=True)
class Clustering:
    """Puts the rows of small files into large ones."""

    def plan(self, work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be clustered now; None where nothing is, or where it is not due.

        Raises:
            HudiError: CONFIG_INVALID.
            UnsupportedFeature: a strategy that is not built, an index of buckets.

        Clauses: CL-001, CL-002, CL-003, CL-008.

        """
        del asked
        if not is_due(work.storage, snapshot, work.options):
            return None
        plan = plan_of(work, snapshot)
        if plan is None:
            return None
        action = "clustering" if snapshot.configuration.has_completion_times else "replacecommit"
        return ServicePlan(action, serialise_requested_replace(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a clustering.

        Clauses: CL-003.
        """
        return clustering_plan(work.storage, pending) is not None

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry a clustering out.

        Raises:
            HudiError: WRITE_CONFLICT where its groups were written since it was planned.

        Clauses: CL-004, CL-005, CL-006.

        """
        return execute_clustering(work, pending)
