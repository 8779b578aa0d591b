"""Writes whose process is gone, and who rolls them back: the next write, or the next clean."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.options.resolving import Options
from hudi_spark.services.rollback.liveness import is_alive
from hudi_spark.services.rollback.rolling_back import RollingBack
from hudi_spark.services.rollback.strays import over, stray_instants, sweep
from hudi_spark.services.rollback.timeline_entries import ROLLBACK, begun_rollbacks, is_service_plan
from hudi_spark.state.timeline import DATA_ACTIONS, Instant, Timeline, load_timeline

Policy = Literal["EAGER", "LAZY", "NEVER"]

POLICY: Final = "hoodie.clean.failed.writes.policy"
_CONCURRENCY: Final = "hoodie.write.concurrency.mode"
_ALONE: Final = "SINGLE_WRITER"


def policy_of(options: Options) -> Policy:
    """Who rolls failed writes back: as the options say; else the next write of who writes alone, else the clean.

    Clauses: RB-001.
    """
    if not options.given(POLICY) and options.text(_CONCURRENCY).upper() != _ALONE:
        return "LAZY"
    told = options.text(POLICY).upper()
    return "LAZY" if told == "LAZY" else "NEVER" if told == "NEVER" else "EAGER"


def failed_writes(work: TableWork, timeline: Timeline) -> tuple[Instant, ...]:
    """The pending writes that nobody is at any more, the youngest first.

    Clauses: RB-001, RB-002.
    """
    pending = (one for one in timeline.instants if one.action in DATA_ACTIONS and not one.is_completed)
    writes = (one for one in pending if not is_service_plan(work.storage, one))
    dead = (one for one in writes if not is_alive(work, one.requested))
    return tuple(sorted(dead, key=lambda one: one.requested, reverse=True))


@dataclass(frozen=True, slots=True)
class Look:
    """A table looked at without its lock: the instants that have markers or a heartbeat, and after them the timeline.

    Clauses: MK-001, MK-005.
    """

    strays: frozenset[str]
    timeline: Timeline


def look(work: TableWork, policy: Policy) -> Look:
    """What there is to see; strays only where they are the affair of who asks.

    Clauses: RB-001.
    """
    strays = stray_instants(work.storage) if policy_of(work.options) == policy else frozenset()
    return Look(strays, work.timeline())


def roll_back_failed_writes(work: TableWork, policy: Policy, seen: Look | None = None) -> tuple[Outcome, ...]:
    """Roll back what dead writers left, where that is the affair of who asks: EAGER before a write, LAZY in a clean.

    It is nobody's affair where the policy is NEVER, whoever asks.
    Rollbacks that somebody left are finished, too, and side effects of actions that are over go. `seen`: a look that
    was taken just now; without the lock it tells only whether there is anything to do.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST.

    Clauses: RB-001, RB-002, RB-004, RB-010, CN-016.

    """
    if policy == "NEVER" or policy_of(work.options) != policy or not _is_any(work, seen or look(work, policy)):
        return ()
    with work.lock(ROLLBACK) as holding:
        rolling = RollingBack(work, holding, work.snapshot())
        outcomes = tuple(_rolled_back(work, rolling))
        strays = stray_instants(work.storage)
        sweep(work, over(work, strays, load_timeline(work.storage, rolling.snapshot.configuration)))
        return outcomes


def _rolled_back(work: TableWork, rolling: RollingBack) -> Iterator[Outcome]:
    timeline = rolling.without_idle()
    dead = {one.requested: one for one in failed_writes(work, timeline)}
    # Who carries a plan out again does not mind that an earlier attempt at it was being taken back.
    begun = {one.undone: one for one in begun_rollbacks(work.storage, timeline) if not is_alive(work, one.undone)}
    for requested in sorted({*dead, *begun}, reverse=True):
        yield rolling.finish(begun[requested]) if requested in begun else rolling.undo(dead[requested])


def _is_any(work: TableWork, seen: Look) -> bool:
    """Whether there is anything to do."""
    timeline = seen.timeline
    return bool(failed_writes(work, timeline) or timeline.pending(ROLLBACK) or over(work, seen.strays, timeline))
