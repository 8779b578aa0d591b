"""Clustering by a writer, after its commit.

Clauses: CL-008.
"""

from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.services import running
from hudi_spark.state.pending_plans import pending_clusterings

_SERVICE: Final = "clustering"
_CLUSTER: Final = "hoodie.clustering.inline"
_SCHEDULE: Final = "hoodie.clustering.schedule.inline"
_BESIDE: Final = "hoodie.clustering.async.enabled"


def cluster_inline(work: TableWork) -> None:
    """What the options ask for: cluster, plans that wait first; or only plan, unless a plan waits.

    Raises:
        HudiError: as the service.

    Clauses: CL-003, CL-008.

    """
    inline, schedules = (work.options.flag(key) for key in (_CLUSTER, _SCHEDULE))
    if inline:
        running.run(work, _SERVICE)
    elif (schedules or work.options.flag(_BESIDE)) and not _one_waits(work):
        running.schedule(work, _SERVICE)


def refuse_contradiction(work: TableWork) -> None:
    """Nothing, unless the options ask for both: to cluster, and only to plan it; that is refused before the write.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: CL-008.

    """
    if work.options.flag(_CLUSTER) and work.options.flag(_SCHEDULE):
        message = f"{_CLUSTER} and {_SCHEDULE} are both true"
        raise HudiError(Reason.CONFIG_INVALID, "CL-008", message, hint="a writer either clusters or only plans it")


def finish_clustering(work: TableWork) -> None:
    """What a writer that clusters left when it died is carried out by the next one that does, before it writes.

    The groups of a plan that waits take no updates: without this the next write to them would be refused.

    Raises:
        HudiError: as the service.

    Clauses: CL-003, CL-008, OW-011.

    """
    if work.options.flag(_CLUSTER) and _one_waits(work):
        running.finish_waiting(work, _SERVICE)


def _one_waits(work: TableWork) -> bool:
    return bool(pending_clusterings(work.storage, work.timeline()))
