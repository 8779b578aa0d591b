"""Small data files that were read before: a process that writes and reads one table looks at the same ones again."""

import os
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from hudi_format.storage import LocalStorage, Storage

_Name = TypeVar("_Name")
_File = TypeVar("_File")
_Key = tuple[str, str, int, int, int]
_SMALL: Final = 100_000
_MOST: Final = 500


class Remembered(Generic[_Name, _File]):
    """A reader of files that keeps what it made of them, as long as the file is the same one and has not changed."""

    def __init__(self, read: Callable[[Storage, str, str, _Name], _File]) -> None:
        self._read = read
        self._held: dict[_Key, _File] = {}

    def __call__(self, storage: Storage, path: str, partition: str, name: _Name) -> _File:
        """The file as a value."""
        key = _key(storage, path)
        if key is None:
            return self._read(storage, path, partition, name)
        if key not in self._held:
            if len(self._held) >= _MOST:
                self._held.clear()
            self._held[key] = self._read(storage, path, partition, name)
        return self._held[key]


def _key(storage: Storage, path: str) -> _Key | None:
    """What a small local file is known by; every change of its bytes or times moves the last part."""
    if not isinstance(storage, LocalStorage):
        return None
    try:
        status = os.stat(storage.resolve(path))  # noqa: PTH116 - a resolved name, not a path to build on
    except (OSError, ValueError):
        return None
    key = (storage.base, path, status.st_ino, status.st_size, status.st_ctime_ns)
    return key if status.st_size <= _SMALL else None
