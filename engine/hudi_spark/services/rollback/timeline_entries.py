"""Entries of the timeline: which rollbacks have begun, and which pending actions are plans."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hudi_format.errors import FormatError
from hudi_format.storage import Storage
from hudi_format.timeline.plans import RollbackPlan

from hudi_spark.state.pending_plans import clustering_plan, rollback_plan
from hudi_spark.state.timeline import Instant, Timeline
from hudi_spark.state.vanishing import PlanGoneError

ROLLBACK: Final = "rollback"
RESTORE: Final = "restore"
_SERVICES: Final = ("compaction", "logcompaction", "clustering")


@dataclass(frozen=True, slots=True)
class BegunRollback:
    """A rollback that somebody requested and did not finish.

    Clauses: RB-004.
    """

    instant: Instant
    plan: RollbackPlan

    @property
    def undone(self) -> str:
        """The instant that it undoes."""
        return "" if self.plan.instant_to_rollback is None else self.plan.instant_to_rollback.commit_time


def begun_rollbacks(storage: Storage, timeline: Timeline) -> tuple[BegunRollback, ...]:
    """The pending rollbacks whose plan can be read; those of the youngest instants first.

    Clauses: RB-001, RB-004.
    """
    begun = (
        BegunRollback(one, plan) for one in timeline.pending(ROLLBACK) if (plan := _plan(storage, one)) is not None
    )
    return tuple(sorted(begun, key=lambda one: one.undone, reverse=True))


def idle_rollbacks(storage: Storage, timeline: Timeline) -> tuple[Instant, ...]:
    """Pending rollbacks that nobody is to carry out.

    Those whose plan cannot be read: what they have removed a new plan passes over. And those of an action that was
    tried again, and has completed: its files count.

    Clauses: RB-004, TL-017.
    """
    completed = {one.requested for one in timeline.instants if one.is_completed and not one.is_savepoint}
    plans = {one.instant.requested: one.undone for one in begun_rollbacks(storage, timeline)}
    pending = timeline.pending(ROLLBACK)
    return tuple(one for one in pending if plans.get(one.requested) is None or plans[one.requested] in completed)


def _plan(storage: Storage, rollback: Instant) -> RollbackPlan | None:
    if "REQUESTED" not in rollback.files:
        return None
    try:
        return rollback_plan(storage, rollback)
    except (FormatError, PlanGoneError):
        return None


def is_service_plan(storage: Storage, instant: Instant) -> bool:
    """Whether a pending action is a plan that a table service made: its attempts are undone, the plan stays.

    Clauses: RB-001, RB-008.
    """
    if instant.action in _SERVICES:
        return True
    with suppress(PlanGoneError):
        return clustering_plan(storage, instant) is not None
    return False
