"""A rollback that somebody asks for."""

from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.names import LogFileName, parse_data_file_name

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.entries import delete_entries
from hudi_spark.errors import HudiError
from hudi_spark.services.rollback.liveness import is_alive
from hudi_spark.services.rollback.rolling_back import RollingBack
from hudi_spark.services.rollback.timeline_entries import ROLLBACK, BegunRollback, begun_rollbacks, is_service_plan
from hudi_spark.state.timeline import WRITE_ACTIONS, Instant, load_timeline

_CLAUSE: Final = "RB-005"


def roll_back(work: TableWork, instant: str, *, unschedule: bool = False) -> Outcome:
    """Take back an action that has not completed.

    Of a table service the attempt is taken back, and its plan stays; with `unschedule` the plan goes, too.

    Raises:
        HudiError: INSTANT_NOT_FOUND; CONFIG_INVALID for what has completed, for a plan that nobody has begun, for a
            write that is under way.

    Clauses: RB-003, RB-005, RB-008.

    """
    with work.lock(ROLLBACK) as holding:
        rolling = RollingBack(work, holding, work.snapshot())
        found = _found(work, rolling, instant)
        if isinstance(found, BegunRollback):
            return rolling.finish(found)
        _refuse(work, found, unschedule=unschedule)
        if found.state == "REQUESTED" and unschedule:
            return _unscheduled(work, rolling, found)
        outcome = rolling.undo(found)
        if unschedule:
            _unscheduled(work, rolling, found)
        return outcome


def _found(work: TableWork, rolling: RollingBack, instant: str) -> Instant | BegunRollback:
    """The action to roll back, or the rollback of it that somebody left when the action was off the timeline."""
    timeline = load_timeline(work.storage, rolling.snapshot.configuration)
    known = [one for one in timeline.instants if one.requested == instant and not one.is_savepoint]
    if known:
        return known[0]
    for one in begun_rollbacks(work.storage, timeline):
        if one.undone == instant:
            return one
    message = f"the timeline has no action {instant}"
    raise HudiError(Reason.INSTANT_NOT_FOUND, _CLAUSE, message, hint="look at the timeline for what is pending")


def _refuse(work: TableWork, found: Instant, *, unschedule: bool) -> None:
    """Nothing when the action can be rolled back.

    Clauses: RB-002, RB-005, RB-008.
    """
    named = f"the {found.action} {found.requested}"
    if found.is_completed:
        raise _invalid(f"{named} has completed", "a restore to an earlier write undoes it and all that came after it")
    if found.action not in WRITE_ACTIONS:
        raise _invalid(f"{named} is no write", "it is carried out again by whoever does such work next")
    is_plan = is_service_plan(work.storage, found)
    if found.state == "REQUESTED" and is_plan and not unschedule:
        raise _invalid(
            f"{named} is a plan that nobody has begun", "execute it, or take it off the timeline: unschedule"
        )
    if not is_plan and is_alive(work, found.requested):
        raise _invalid(f"{named} is under way", "its writer aborts it; once that is dead its heartbeat ends")


def _unscheduled(work: TableWork, rolling: RollingBack, found: Instant) -> Outcome:
    """A plan leaves the timeline.

    Clauses: RB-008.
    """
    _refuse_logged(work, found)
    delete_entries(work.effects, rolling.snapshot.configuration, found, ("REQUESTED",))
    return Outcome(found.requested, None, found.action, "UNSCHEDULE")


def _refuse_logged(work: TableWork, found: Instant) -> None:
    """Before version 8 later writes log to the slices that a compaction opens, on the word of its plan.

    Clauses: RB-008, CP-003.
    """
    if not found.was_compaction:
        return
    names = (parse_data_file_name(one.path.rpartition("/")[2]) for one in work.storage.list_files(skip=(".hoodie",)))
    if any(isinstance(one, LogFileName) and one.instant == found.requested for one in names):
        message = f"later writes have logged to the slices that the compaction {found.requested} opens"
        raise _invalid(message, "execute the compaction")


def _invalid(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, _CLAUSE, message, hint=hint)
