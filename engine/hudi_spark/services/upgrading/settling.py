"""A table at rest: nothing pending, no logs in its slices. Versions place logs, and merge them, by different rules.

Clauses: VR-005.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.options.resolving import Options
from hudi_spark.services import running
from hudi_spark.services.rollback.failed_writes import policy_of, roll_back_failed_writes
from hudi_spark.services.rollback.timeline_entries import is_service_plan
from hudi_spark.state.timeline import WRITE_ACTIONS, Instant

_COMPACTION: Final = "compaction"
# Whatever is in logs, however little, and in one plan.
_WHOLE: Final[Mapping[str, str]] = {
    "hoodie.compact.inline.max.delta.commits": "0",
    "hoodie.compact.inline.trigger.strategy": "NUM_COMMITS",
    "hoodie.compaction.strategy": "org.apache.hudi.table.action.compact.strategy.UnBoundedCompactionStrategy",
}
_UNRESTING: Final = (*WRITE_ACTIONS, "rollback", "restore")


def settle(work: TableWork) -> None:
    """Failed writes are rolled back, begun rollbacks finished, plans carried out, then all logs compacted.

    Raises:
        HudiError: what rollback, the plans' services and compaction refuse.

    Clauses: VR-005, RB-001, RB-004.

    """
    roll_back_failed_writes(work, policy_of(work.options))
    for one in _plans(work):
        running.execute(work, one.requested)
    if _has_logs(work):
        whole = replace(work, options=_with(work.options, _WHOLE))
        requested = running.schedule(whole, _COMPACTION)
        if requested is not None:
            running.execute(whole, requested)


def refuse_unsettled(work: TableWork) -> None:
    """Nothing where the table is at rest; asked under the lock.

    Raises:
        HudiError: WRITE_CONFLICT naming what is at work.

    Clauses: VR-005.

    """
    timeline = work.snapshot().timeline
    pending = [f"{one.action} {one.requested}" for one in timeline.instants if _is_unresting(one)]
    if pending:
        message = f"while the version changes nothing may be pending, and there is {', '.join(pending)}"
        raise HudiError(Reason.WRITE_CONFLICT, "VR-005", message, hint="end it, or wait for it, and try again")
    if _has_logs(work):
        message = "another writer appended logs while they were compacted"
        raise HudiError(Reason.WRITE_CONFLICT, "VR-005", message, hint="stop the writers, and try again")


def _plans(work: TableWork) -> tuple[Instant, ...]:
    """What services planned and nobody has finished."""
    timeline = work.snapshot().timeline
    pending = (one for action in WRITE_ACTIONS for one in timeline.pending(action))
    return tuple(sorted((one for one in pending if is_service_plan(work.storage, one)), key=_by_time))


def _by_time(instant: Instant) -> str:
    return instant.requested


def _is_unresting(instant: Instant) -> bool:
    return not instant.is_completed and instant.action in _UNRESTING


def _has_logs(work: TableWork) -> bool:
    return any(one.log_files for one in work.snapshot().slices)


def _with(options: Options, more: Mapping[str, str]) -> Options:
    return replace(options, values={**options.values, **more})
