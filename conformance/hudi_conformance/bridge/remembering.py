"""Files and tables that were read before: who writes and reads a table asks for the same ones many times."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

from hudi_format.storage import LocalStorage, ReadOnlyStorage, Storage

_Params = ParamSpec("_Params")
_File = TypeVar("_File")
_Place = tuple[str, str, int, int, int]
_Bytes = tuple[str, bytes]
_Table = TypeVar("_Table")
_Entry = tuple[str, int, int, int]
_SMALL: Final = 1_000_000
_MOST: Final = 2_000
_MOST_TABLES: Final = 4
_MOST_ENTRIES: Final = 2_000
_CLOCK_TICK_NS: Final = 50_000_000
"""Longer than the steps in which a file system counts time: what changes within one may keep its times."""
_reads_files_anew = False
_reads_tables_anew = False


class Remembered(Generic[_Params, _File]):
    """A reader of files that keeps what it made of them: of the same file unchanged, and of one with the same bytes."""

    def __init__(self, read: Callable[Concatenate[Storage, str, _Params], _File]) -> None:
        self._read = read
        self._held: dict[_Place | _Bytes, _File] = {}

    def __call__(self, storage: Storage, path: str, *positional: _Params.args, **named: _Params.kwargs) -> _File:
        """The file as a value; a path says already what else is informed of it."""
        place = None if _reads_files_anew else _place(storage, path)
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


class RememberedTables(Generic[_Table]):
    """The last tables that were loaded, each as long as nothing below its folder changes."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[frozenset[_Entry], _Table]] = {}

    def __call__(self, storage: Storage, load: Callable[[], _Table]) -> _Table:
        """The table in a storage; `load` is called where it is not known."""
        entries = None if _reads_tables_anew or not _is_local(storage) else _entries(storage.base)
        if entries is None:
            return load()
        held = self._held.pop(storage.base, None)
        if held is None or held[0] != entries:
            # What changes from here on has a later time than any of these; what changed just now may not have.
            settled = max((one[3] for one in entries), default=0) + _CLOCK_TICK_NS < time.time_ns()
            held = entries, load()
            if not settled or _entries(storage.base) != entries:
                return held[1]
        self._held[storage.base] = held
        if len(self._held) > _MOST_TABLES:
            del self._held[next(iter(self._held))]
        return held[1]


@contextmanager
def reading_anew(*, files: bool = True) -> Iterator[None]:
    """Within the block no table counts that was loaded before, nor a file; with `files` false, files do.

    Nothing is kept of what is read anew: a mutant may be at the bytes, or at what loading asks the model.
    """
    global _reads_files_anew, _reads_tables_anew
    before = _reads_files_anew, _reads_tables_anew
    _reads_files_anew, _reads_tables_anew = files or _reads_files_anew, True
    try:
        yield
    finally:
        _reads_files_anew, _reads_tables_anew = before


def _place(storage: Storage, path: str) -> _Place | None:
    """What a small local file is known by; every change of its bytes or times moves the last part."""
    if not _is_local(storage):
        return None
    try:
        status = os.stat(storage.resolve(path))  # noqa: PTH116 - a resolved name, not a path to build on
    except (OSError, ValueError):
        return None
    key = (storage.base, path, status.st_ino, status.st_size, status.st_ctime_ns)
    return key if status.st_size <= _SMALL else None


def _is_local(storage: Storage) -> bool:
    while isinstance(storage, ReadOnlyStorage):
        storage = storage.storage
    return isinstance(storage, LocalStorage)


def _entries(base: str) -> frozenset[_Entry] | None:
    """Every file and folder below one, by path, inode, size and time of change; None where links lead on, or for many.

    A folder has no size or time: what matters of it is what is in it.
    """
    found: list[_Entry] = []
    folders = [base]
    try:
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_symlink() or len(found) >= _MOST_ENTRIES:
                        return None
                    if entry.is_dir():
                        folders.append(entry.path)
                        found.append((entry.path, 0, 0, 0))
                    else:
                        status = entry.stat()
                        found.append((entry.path, status.st_ino, status.st_size, status.st_ctime_ns))
    except OSError:
        return None
    return frozenset(found)
