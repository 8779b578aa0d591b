"""Plans of table services that wait: which file groups they are going to rewrite.

Clauses: CL-002, CP-003, OW-011.
"""

from collections.abc import Mapping
from typing import Final

from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import ClusteringPlan
from hudi_format.timeline.plans import parse_compaction_plan, parse_requested_replace

from hudi_spark.state.commits import GroupId, pending_compactions
from hudi_spark.state.timeline import Instant, Timeline

_CLUSTERS: Final = "CLUSTER"
_REQUESTED: Final = "REQUESTED"
_CLUSTERING_ACTIONS: Final = ("clustering", "replacecommit")


def clustering_plan(storage: Storage, instant: Instant) -> ClusteringPlan | None:
    """The plan with which an action was requested; None where it is no clustering.

    Before version 8 the file of a clustering is called as those of overwrites are; what it holds tells.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse.

    Clauses: CL-003, TL-033.

    """
    if instant.archived is not None or instant.action not in _CLUSTERING_ACTIONS or _REQUESTED not in instant.files:
        return None
    file = instant.files[_REQUESTED]
    data = storage.read(file)
    if not data:
        return None
    requested = parse_requested_replace(data, file)
    return requested.clustering_plan if requested.operation_type == _CLUSTERS else None


def planned_groups(plan: ClusteringPlan) -> frozenset[GroupId]:
    """The file groups that a clustering is going to replace.

    Clauses: CL-006.
    """
    slices = (one for group in plan.input_groups for one in group.slices)
    return frozenset((one.partition_path or "", one.file_id or "") for one in slices)


def pending_clusterings(storage: Storage, timeline: Timeline) -> Mapping[GroupId, Instant]:
    """The pending clustering of each file group that has one.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse.

    Clauses: OW-011, CL-002.

    """
    found: dict[GroupId, Instant] = {}
    for instant in timeline.instants:
        if not instant.is_completed and (plan := clustering_plan(storage, instant)) is not None:
            found.update(dict.fromkeys(planned_groups(plan), instant))
    return found


def pending_log_compactions(storage: Storage, timeline: Timeline) -> frozenset[GroupId]:
    """The file groups whose logs a pending log compaction is going to put together.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse.

    Clauses: CL-002.

    """
    files = [one.files.get(_REQUESTED, one.file) for one in timeline.pending("logcompaction")]
    plans = [parse_compaction_plan(storage.read(file), file) for file in files]
    return frozenset((one.partition_path or "", one.file_id or "") for plan in plans for one in plan.operations)


def groups_in_pending_plans(storage: Storage, timeline: Timeline) -> frozenset[GroupId]:
    """The file groups that a pending compaction, log compaction or clustering has planned.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse.

    Clauses: CL-002.

    """
    return frozenset(
        {
            *pending_compactions(storage, timeline),
            *pending_log_compactions(storage, timeline),
            *pending_clusterings(storage, timeline),
        }
    )
