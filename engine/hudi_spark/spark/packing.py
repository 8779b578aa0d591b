"""Pieces of work packed into tasks of Spark by bytes, as Spark packs files."""

from collections.abc import Sequence
from typing import Final, TypeVar

_Task = TypeVar("_Task")

_MOST_BYTES: Final = 1 << 27
# What is read while Spark starts a task, which costs up to a tenth of a second.
_LEAST_BYTES: Final = 1 << 24
# Of a piece whose size nobody knows: eight go together.
UNKNOWN_BYTES: Final = 1 << 24


def packed(tasks: Sequence[_Task], sizes: Sequence[int], cores: int) -> list[list[_Task]]:
    """Tasks packed by the bytes that they read or write.

    A pack is no larger than 128 MiB unless it is one task, and each core has two, unless they are smaller than what
    could be read while a task starts. The order stays.
    """
    most = min(_MOST_BYTES, max(sum(sizes) // (2 * cores), _LEAST_BYTES))
    packs: list[list[_Task]] = []
    room = 0
    for task, size in zip(tasks, sizes, strict=True):
        if not packs or size > room:
            packs.append([])
            room = most
        packs[-1].append(task)
        room -= size
    return packs
