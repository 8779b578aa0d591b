"""Small files that were read before: who writes and reads one table, or copies of it, looks at the same ones again."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

from hudi_format.storage import LocalStorage, Storage

_Params = ParamSpec("_Params")
_File = TypeVar("_File")
_Place = tuple[str, str, int, int, int]
_Bytes = tuple[str, bytes]
_SMALL: Final = 100_000
_MOST: Final = 2_000
_reads_anew = False


class Remembered(Generic[_Params, _File]):
    """A reader of files that keeps what it made of them: of the same file unchanged, and of one with the same bytes."""

    def __init__(self, read: Callable[Concatenate[Storage, str, _Params], _File]) -> None:
        self._read = read
        self._held: dict[_Place | _Bytes, _File] = {}

    def __call__(self, storage: Storage, path: str, *positional: _Params.args, **named: _Params.kwargs) -> _File:
        """The file as a value; a path says already what else is informed of it."""
        place = None if _reads_anew else _place(storage, path)
        if place is None:
            return self._read(storage, path, *positional, **named)
        if place not in self._held:
            if len(self._held) >= _MOST:
                self._held.clear()
            same = path, blake2b(storage.read(path)).digest()
            value = self._held[same] if same in self._held else self._read(storage, path, *positional, **named)
            if _place(storage, path) != place:
                # Another file has that name by now: which of the two was read is not known.
                return value
            self._held[same] = self._held[place] = value
        return self._held[place]


@contextmanager
def reading_anew() -> Iterator[None]:
    """Within the block nothing that was read before counts, and nothing is kept: a mutant may be at the bytes."""
    global _reads_anew  # noqa: PLW0603 - all readers of the process at once
    before, _reads_anew = _reads_anew, True
    try:
        yield
    finally:
        _reads_anew = before


def _place(storage: Storage, path: str) -> _Place | None:
    """What a small local file is known by; every change of its bytes or times moves the last part."""
    if not isinstance(storage, LocalStorage):
        return None
    try:
        status = os.stat(storage.resolve(path))  # noqa: PTH116 - a resolved name, not a path to build on
    except (OSError, ValueError):
        return None
    key = (storage.base, path, status.st_ino, status.st_size, status.st_ctime_ns)
    return key if status.st_size <= _SMALL else None
