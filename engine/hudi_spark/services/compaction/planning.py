"""The plan of a compaction.

Clauses: CP-001, CP-003, CP-005, CP-008, CP-009, CP-013.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from hudi_adapter.reasons import Reason
from hudi_format.timeline.plan_values import CompactionOperation, CompactionPlan

from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.services.compaction.candidates import Candidates, candidates, operations
from hudi_spark.services.compaction.strategies import Choice, chosen
from hudi_spark.services.compaction.triggers import is_due
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Timeline


def plan_compaction(work: TableWork, snapshot: Snapshot) -> CompactionPlan | None:
    """What a compaction is to do now; None where it is not due, or where there is nothing that it may do.

    Raises:
        HudiError: CONFIG_INVALID for a copy-on-write table, an unknown trigger, a strategy that does not fit.
        UnsupportedFeature: compaction-strategy.

    Clauses: CP-001, CP-003, CP-005, CP-008, CP-009, CP-013.

    """
    configuration, timeline = snapshot.configuration, snapshot.timeline
    refuse_copy_on_write(snapshot, "compacted")
    if awaits_writes(snapshot) or not is_due(timeline, configuration, work.options, work.clock.instant):
        return None
    found = candidates(work, snapshot)
    could = operations(work, snapshot, found.slices)
    partitions = tuple(sorted({one.partition for one in snapshot.slices}))
    taken = chosen(Choice(could, partitions, work.options, datetime.now(UTC).date()))
    if not taken:
        return None
    return CompactionPlan(taken, {}, missing_schedule_partitions=left_out(could, taken, found))


def refuse_copy_on_write(snapshot: Snapshot, done: str) -> None:
    """Nothing for a table that has logs.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: CP-001.

    """
    if snapshot.configuration.table_type != "MERGE_ON_READ":
        message = f"only merge-on-read tables are {done}: a copy-on-write table has no logs"
        raise HudiError(Reason.CONFIG_INVALID, "CP-001", message, hint="cluster the table to have larger files")


def awaits_writes(snapshot: Snapshot) -> bool:
    """Whether a plan waits for writes that are pending: version 6 names a log after the slice that its writer found.

    Clauses: CP-009.
    """
    return not snapshot.configuration.has_completion_times and _writes(snapshot.timeline)


def _writes(timeline: Timeline) -> bool:
    return any(one.action == "deltacommit" and not one.is_completed for one in timeline.instants)


def left_out(
    could: Iterable[CompactionOperation], taken: Iterable[CompactionOperation], found: Candidates
) -> tuple[str, ...]:
    """The partitions with something that the plan does not take on: a planner that looks at changes only goes there.

    Clauses: CP-013.
    """
    held = {(one.partition_path, one.file_id) for one in taken}
    left = {one.partition_path or "" for one in could if (one.partition_path, one.file_id) not in held}
    return tuple(sorted(left | found.held))
