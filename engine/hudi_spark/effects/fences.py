"""What an effect asks for before it happens, while the thread that causes it holds a table's lock.

A lock with a lease may end at any instruction of its holder. So an effect of a holder first confirms the lock, and a
timeline file that others rely on is first claimed: from the claim on it appears, whoever puts it.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

_HELD = threading.local()


class Fence(Protocol):
    """The lock that a thread holds, as effects see it."""

    def confirm(self) -> None:
        """Nothing while the lock is held; HudiError LOCK_LOST after."""

    def claim(self, path: str, content: bytes, told: Mapping[str, Any], folder: str) -> bool:
        """Whether the file, a path below the table, was claimed and has to appear now; False needs no claim.

        Raises:
            HudiError: LOCK_LOST, and then it does not appear.

        """

    def overtaken(self) -> bool:
        """Whether somebody has gone on since the last claim, and so has put its file."""


def fence_of(base: str) -> Fence | None:
    """The lock of a table that this thread holds."""
    found: Fence | None = _fences().get(base)
    return found


@contextmanager
def fenced(base: str, fence: Fence) -> Iterator[None]:
    """Inside, effects of this thread on a table ask its lock."""
    _fences()[base] = fence
    try:
        yield
    finally:
        del _fences()[base]


def _fences() -> dict[str, Fence]:
    if not hasattr(_HELD, "fences"):
        _HELD.fences = {}
    fences: dict[str, Fence] = _HELD.fences
    return fences
