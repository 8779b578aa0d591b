"""What a lock provider is."""

from typing import Protocol

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError


class Lease(Protocol):
    """A lock that was given."""

    def confirm(self) -> None:
        """Nothing while it is held.

        Raises:
            HudiError: LOCK_LOST when it has ended meanwhile, or when nobody can tell.

        Clauses: LK-002.

        """

    def release(self) -> None:
        """Let go; one that was lost already stays as it is."""


class LockProvider(Protocol):
    """Gives one lock, to one holder at a time.

    `place` names the lock for people, and is the same for all who share it. `leased`: whether the lock may end while
    its holder lives, so that holders number what they do (`locks.claims`). `doubtful`: whether the holder may have died
    without a sign of it yet, so that the lock is asked for until there is one, or a sign of life.

    Clauses: LK-001, LK-002.
    """

    @property
    def place(self) -> str:
        """Which lock it is."""

    @property
    def leased(self) -> bool:
        """Whether it may end while its holder lives."""

    @property
    def doubtful(self) -> bool:
        """Whether nobody can say yet that the holder lives."""

    def take(self, holder: str, seconds: float) -> Lease | None:
        """The lock, or None where somebody else holds it; does not wait for a holder longer than `seconds`.

        Raises:
            HudiError: LOCK_UNAVAILABLE when the provider cannot be asked.

        Clauses: LK-001.

        """

    def close(self) -> None:
        """Give back connections."""


def unavailable(place: str, message: str, hint: str = "") -> HudiError:
    """The error for a lock that cannot be had."""
    told = f"the lock {place}: {message}"
    return HudiError(Reason.LOCK_UNAVAILABLE, "LK-001", told, hint=hint or "look whether its server runs; write again")


def lost(place: str, message: str) -> HudiError:
    """The error for a lock that ended while it was needed."""
    hint = "write again; where this repeats, let the lease be longer"
    return HudiError(Reason.LOCK_LOST, "LK-002", f"the lock {place}: {message}", hint=hint)
