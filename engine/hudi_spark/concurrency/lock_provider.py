"""What a lock provider is.

Clauses: LK-002.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hudi_format.errors import FormatError
from hudi_format.json_text import read_json

from hudi_spark.errors import HudiError, Reason


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
    without a sign of it yet, so that the lock is tried until there is one, or a sign of life.

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
    text = f"the lock {place}: {message}"
    return HudiError(Reason.LOCK_UNAVAILABLE, "LK-001", text, hint=hint or "look whether its server runs; write again")


def lost(place: str, message: str) -> HudiError:
    """The error for a lock that ended while it was needed."""
    hint = "write again; where this repeats, let the lease be longer"
    return HudiError(Reason.LOCK_LOST, "LK-002", f"the lock {place}: {message}", hint=hint)


def malformed(file: str, message: str) -> HudiError:
    """The error for a file of a lock that does not say who holds it.

    Clauses: LK-001.
    """
    hint = "stop all writers of the table, remove the file, and write again"
    return HudiError(Reason.LOCK_UNAVAILABLE, "LK-001", f"the file is none of a lock: {message}", file, hint=hint)


def read_lock_object(data: bytes, file: str) -> Mapping[str, Any]:
    """The JSON object in a file of a lock.

    Raises:
        HudiError: LOCK_UNAVAILABLE for other bytes.

    Clauses: LK-001.

    """
    try:
        found = read_json(data, file, Reason.LOCK_UNAVAILABLE, "LK-001")
    except FormatError as error:
        raise malformed(file, error.message) from None
    if not isinstance(found, dict):
        raise malformed(file, f"it holds {found!r:.40} instead of a JSON object")
    return found


class Renewal:
    """Calls `renew` each so many seconds until stopped, or until it answers that the lock is lost.

    Clauses: LK-002.
    """

    def __init__(self, renew: Callable[[], bool], seconds: float) -> None:
        self.failed = False
        self._renew = renew
        self._seconds = seconds
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hudi-lock-renewal", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No renewal after this."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(self._seconds):
            if not self._renew():
                self.failed = True
                return
