"""Files of a storage as streams for Arrow, whose threads may outlast the read that used them."""

import atexit
import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakSet

from hudi_format.storage import Storage

_LENT: Final = WeakSet["_StoredFile"]()
"""Streams that a thread of Arrow may still hold."""
_LONGEST_WAIT: Final = 2.0
"""Seconds; whoever keeps a stream open until the end does not need more."""


def open_stored(storage: Storage, path: str, missing: Callable[[str], Exception] | None = None) -> io.RawIOBase:
    """A file of a storage as a stream; `missing` makes the error for a file that is not there.

    Raises:
        FileNotFoundError: it is not there, or goes while the stream is read; unless `missing` says otherwise.

    """
    with _present(path, missing):
        return _StoredFile(storage, path, storage.size(path), missing)


@contextmanager
def _present(path: str, missing: Callable[[str], Exception] | None) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        if missing is None:
            raise
        raise missing(path) from error


class _StoredFile(io.RawIOBase):
    """A file of a storage as a stream, so that only the ranges that its reader asks for are read."""

    def __init__(
        self, storage: Storage, path: str, size: int, missing: Callable[[str], Exception] | None = None
    ) -> None:
        super().__init__()
        self._missing = missing
        self._storage = storage
        self._path = path
        self._size = size
        self._position = 0
        _LENT.add(self)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(origin + offset, 0)
        return self._position

    def read(self, size: int = -1) -> bytes:
        left = max(self._size - self._position, 0)
        wanted = left if size < 0 else min(size, left)
        with _present(self._path, self._missing):
            data = self._storage.read_range(self._path, self._position, wanted) if wanted else b""
        self._position += len(data)
        return data


@atexit.register
def _await_release() -> None:
    """A thread of Arrow that drops a stream while the interpreter ends would end the process as a crash."""
    last = time.monotonic() + _LONGEST_WAIT
    while len(_LENT) and time.monotonic() < last:
        time.sleep(0.001)
