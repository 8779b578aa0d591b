"""Locks with a lease, one for the table or one for each file group; and times from skewed clocks that never collide."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_model.files import GroupId
from hudi_model.rejection import Reason, Rejection
from hudi_model.time import InstantTime, moment_of, tick


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a lock, and until when if it is not renewed."""

    holder: str
    until: InstantTime


def acquire(lease: Lease | None, holder: str, now: InstantTime, until: InstantTime) -> Lease:
    """The lock as its new holder has it; its own holder renews it so.

    Writers take the table's to finish, services to plan and again to finish, readers never.

    Raises: LOCK_UNAVAILABLE while another's lease runs.

    Clauses: LK-001, LK-002, LK-003, LK-004.
    """
    if lease and lease.holder != holder and now <= lease.until:
        raise Rejection(Reason.LOCK_UNAVAILABLE, "LK-001", "the lock", f"{lease.holder} holds it until {lease.until}")
    return Lease(holder, until)


def refuse_lost(lease: Lease | None, holder: str, now: InstantTime) -> None:
    """Nothing, unless someone acts as holder whose lease ended or who let go.

    Raises: LOCK_LOST.

    Clauses: LK-002.
    """
    if lease is None or lease.holder != holder or now > lease.until:
        raise Rejection(Reason.LOCK_LOST, "LK-002", "the lock", f"{holder} does not hold it at {now}")


def acquire_groups(
    held: Mapping[GroupId, Lease], groups: Iterable[GroupId], holder: str, now: InstantTime, until: InstantTime
) -> Mapping[GroupId, Lease]:
    """The locks of file groups as a pessimistic writer takes them before it writes: all or none, always in order.

    Raises: LOCK_UNAVAILABLE.

    Clauses: LK-005.
    """
    return {**held, **{one: acquire(held.get(one), holder, now, until) for one in sorted(groups)}}


def refuse_far_ahead(newest: InstantTime | None, now: InstantTime, bound: int) -> None:
    """A writer goes on after a timeline's newest instant when that is at most `bound` milliseconds after its clock.

    Clauses: TM-008.
    """
    if newest is None:
        return
    ahead = moment_of(newest) - moment_of(now)
    if ahead > dt.timedelta(milliseconds=bound):
        raise Rejection(Reason.CONFIG_INVALID, "TM-008", newest, f"{ahead} after the clock, which shows {now}")


@dataclass(frozen=True, slots=True)
class Generation:
    """A time taken from a local clock, and the true tick at which its taker may let go of the lock."""

    instant: InstantTime
    released: int


def generate_waiting(true_tick: int, skew: int, bound: int) -> Generation:
    """A time from a clock that runs `skew` off, inside a lock that is held until the uncertainty has passed.

    Any two clocks differ by `bound` milliseconds at most.
    Whoever takes the lock at or after `released` reads a later time, however slow its clock.

    Clauses: TM-003, TM-004.
    """
    return Generation(tick(true_tick + skew), true_tick + uncertainty(bound))


def uncertainty(bound: int) -> int:
    """How long to hold the lock: the greatest difference of two clocks, and one tick more so that times differ.

    Clauses: TM-004.
    """
    return bound + 1


def generate_serially(arrivals: tuple[tuple[int, int], ...], bound: int) -> tuple[InstantTime, ...]:
    """The times that processes get which arrive at true ticks with skewed clocks and take one lock in turn.

    Clauses: TM-003, TM-005.
    """
    free_at = 0
    instants = []
    for arrival, skew in sorted(arrivals):
        generation = generate_waiting(max(arrival, free_at), skew, bound)
        free_at = generation.released
        instants.append(generation.instant)
    return tuple(instants)
