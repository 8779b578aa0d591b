"""Cleaning as a table service: planned and carried out apart, or both after a write."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_adapter.reasons import Reason
from hudi_format.timeline.plans import serialise_cleaner_plan

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.locks.heartbeats import beating, is_alive
from hudi_spark.locks.providers.choosing import place_of
from hudi_spark.services.cleaning.executing import CLEAN, carry_out
from hudi_spark.services.cleaning.planning import Planned, cleaner_plan, is_due, retains_less_than_all
from hudi_spark.services.rollback.failed_writes import roll_back_failed_writes
from hudi_spark.services.service import ServicePlan
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline


@dataclass(frozen=True, slots=True)
class Cleaning:
    """The service `clean`.

    Clauses: CN-001, CN-006, CN-009.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, asked: Mapping[str, Any]) -> ServicePlan | None:
        """Every file to remove, by the policy of the options; None where nothing is to go, or none is due.

        Raises:
            HudiError: CONFIG_INVALID.

        Clauses: CN-001, CN-006, CN-009.

        """
        del asked
        if snapshot.timeline.pending(CLEAN) and not work.options.flag("hoodie.clean.multiple.enabled"):
            return None
        planned = Planned(work.storage, snapshot, work.options, work.clock.instant())
        plan = cleaner_plan(planned) if is_due(planned) else None
        return None if plan is None else ServicePlan(CLEAN, serialise_cleaner_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a clean."""
        del work
        return pending.action == CLEAN

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """The files that a plan names are deleted; again, where who began it died.

        Raises:
            HudiError: LOCK_UNAVAILABLE; INSTANT_NOT_FOUND for a plan without content, which is taken off the timeline.

        Clauses: CN-009, CN-012.

        """
        done = carry_out(work, pending)
        if done is None:
            message = f"the clean {pending.requested} has no plan: whoever requested it died; it is removed"
            raise HudiError(Reason.INSTANT_NOT_FOUND, "CN-012", message, pending.file, hint="schedule a clean")
        return done


def clean(work: TableWork) -> Outcome | None:
    """Cleans that wait are carried out, then what is due now is planned and carried out; the last one's outcome.

    A clean that another process is carrying out is left to it. Where failed writes are left to the clean they are
    rolled back first.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST; CONFIG_INVALID.

    Clauses: CN-006, CN-009, CN-012, CN-016, RB-001.

    """
    roll_back_failed_writes(work, "LAZY")
    timeline = work.timeline()
    done = [outcome for one in timeline.pending(CLEAN) if (outcome := _carried_out(work, one)) is not None]
    requested = _requested(work, timeline)
    if requested is None:
        return done[-1] if done else None
    own = next((one for one in work.timeline().pending(CLEAN) if one.requested == requested), None)
    return None if own is None else _carried_out(work, own)


def _requested(work: TableWork, timeline: Timeline) -> str | None:
    """The time of a new clean, where one is due."""
    if not retains_less_than_all(timeline, work.options, work.clock.instant()):
        return None
    with work.lock(CLEAN):
        snapshot = work.snapshot()
        plan = Cleaning().plan(work, snapshot, {})
        if plan is None:
            return None
        return work.request(snapshot.configuration, snapshot.timeline, plan.action, plan.content)


def _carried_out(work: TableWork, pending: Instant) -> Outcome | None:
    """Nothing where somebody whose heart beats is at it.

    Clauses: CN-006, MK-005.
    """
    if is_alive(work.storage, work.options, pending.requested):
        return None
    with beating(work.effects, work.options, pending.requested, place_of(work.storage, work.options)):
        return carry_out(work, pending)
