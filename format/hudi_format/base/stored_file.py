"""Files of a storage as streams for Arrow, whose threads may outlast the read that used them."""

import atexit
import io
import time
from typing import Final
from weakref import WeakSet

import pyarrow as pa

from hudi_format.storage import Storage

SMALL: Final = 1 << 20
"""Bytes that are read sooner than several ranges of them."""
_TAIL: Final = 1 << 16
"""Bytes at the end that are read at once: Arrow requests as many where it looks for a footer."""
_LENT: Final = WeakSet["_StoredFile"]()
"""Streams that a thread of Arrow may still hold."""
_LONGEST_WAIT: Final = 2.0
"""Seconds; whoever keeps a stream open until the end does not need more."""


def open_stored(storage: Storage, path: str) -> io.RawIOBase | pa.NativeFile:
    """A file of a storage as a stream; a small one is read at once, and Arrow needs no interpreter for its bytes.

    Raises:
        FileNotFoundError: it is not there, or goes while the stream is read.

    """
    size = storage.size(path)
    return as_native(storage.read_range(path, 0, size)) if size <= SMALL else _StoredFile(storage, path, size)


def as_native(source: bytes | io.RawIOBase | pa.NativeFile) -> pa.NativeFile:
    """Bytes or a stream as a file of Arrow."""
    if isinstance(source, pa.NativeFile):
        return source
    return pa.BufferReader(_owned(source)) if isinstance(source, bytes) else pa.PythonFile(source, mode="r")


def _owned(data: bytes) -> pa.Buffer:
    """The bytes in Arrow's memory: its threads may drop them when the interpreter has ended."""
    owned = pa.allocate_buffer(len(data))
    pa.FixedSizeBufferWriter(owned).write(data)
    return owned


class _StoredFile(io.RawIOBase):
    """A file of a storage as a stream, so that only the ranges that its reader requests are read."""

    def __init__(self, storage: Storage, path: str, size: int) -> None:
        super().__init__()
        self._storage = storage
        self._path = path
        self._size = size
        self._position = 0
        self._tail = b""
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
        begin = max(self._size - _TAIL, 0)
        if wanted and self._position >= begin:
            self._tail = self._tail or self._storage.read_range(self._path, begin, self._size - begin)
            data = self._tail[self._position - begin :][:wanted]
        else:
            data = self._storage.read_range(self._path, self._position, wanted) if wanted else b""
        self._position += len(data)
        return data


@atexit.register
def _await_release() -> None:
    """A thread of Arrow that drops a stream while the interpreter ends would end the process as a crash."""
    last = time.monotonic() + _LONGEST_WAIT
    while len(_LENT) and time.monotonic() < last:
        time.sleep(0.001)
