"""Locks: one holder at a time, for as long as its lease runs; one for the table, or one for each file group."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_model.files import GroupId
from hudi_model.rejection import Reason, Rejection
from hudi_model.time import InstantTime


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
