"""File groups that plans of services hold while they are pending.

Clauses: CP-003, LC-002.
"""

from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import CompactionPlan
from hudi_format.timeline.plans import parse_compaction_plan, parse_requested_replace

from hudi_spark.state.commits import GroupId, refuse_escape
from hudi_spark.state.timeline import Instant, Timeline

COMPACTION, LOG_COMPACTION = "compaction", "logcompaction"
_CLUSTERINGS = ("replacecommit", "clustering")


def planned_groups(storage: Storage, timeline: Timeline) -> frozenset[GroupId]:
    """The file groups of all pending compactions, log compactions and clusterings.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a plan does not parse; PATH_ESCAPES_TABLE.

    Clauses: CP-003, LC-002.

    """
    pending = [one for one in timeline.instants if not one.is_completed]
    compacted = (one for one in pending if one.action in {COMPACTION, LOG_COMPACTION})
    clustered = (one for one in pending if one.action in _CLUSTERINGS)
    empty: frozenset[GroupId] = frozenset()
    return empty.union(
        *(groups_of_plan(compaction_plan_of(storage, one)) for one in compacted),
        *(_clustered(storage, one) for one in clustered),
    )


def compaction_plan_of(storage: Storage, instant: Instant) -> CompactionPlan:
    """The plan of a pending compaction or log compaction.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when it does not parse; PATH_ESCAPES_TABLE.

    Clauses: TL-033, SL-007.

    """
    file = instant.files.get("REQUESTED", instant.file)
    plan = parse_compaction_plan(storage.read(file), file)
    for one in plan.operations:
        for path in (one.partition_path, one.data_file_path, *one.delta_file_paths):
            refuse_escape(storage, path or "")
    return plan


def groups_of_plan(plan: CompactionPlan) -> frozenset[GroupId]:
    """The file groups of a plan.

    Clauses: CP-005.
    """
    return frozenset((one.partition_path or "", one.file_id or "") for one in plan.operations)


def _clustered(storage: Storage, instant: Instant) -> frozenset[GroupId]:
    """The groups of a clustering; other writes that replace groups have no plan."""
    file = instant.files.get("REQUESTED")
    data = b"" if file is None else storage.read(file)
    plan = parse_requested_replace(data, file or "").clustering_plan if data else None
    groups = () if plan is None else plan.input_groups
    return frozenset((one.partition_path or "", one.file_id or "") for group in groups for one in group.slices)
