"""How much a task reads, for an executor that packs small tasks together."""

from collections.abc import Iterable
from typing import Final

from hudi_format.storage import LocalStorage, Storage

# What opening a file costs, as bytes that could be read meanwhile.
OPENING_BYTES: Final = 1 << 20
_REMOTE_BYTES: Final = 1 << 24


def bytes_to_read(storage: Storage, paths: Iterable[str | None]) -> int:
    """Bytes of files, with what opening each costs; None among them is no file.

    The size of a file that is not on a local disk is a guess, since each answer is a request.
    """
    return sum(OPENING_BYTES + _size(storage, path) for path in paths if path is not None)


def _size(storage: Storage, path: str) -> int:
    if not isinstance(storage, LocalStorage):
        return _REMOTE_BYTES
    try:
        return storage.size(path)
    except OSError:  # the task that reads it says why it is gone
        return 0
