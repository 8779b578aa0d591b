"""Where an HFile's bytes come from: a log block that is in memory, or a file of which only some ranges are read."""

from typing import Final, Protocol

from hudi_format.errors import base_file_missing
from hudi_format.storage import Storage

_LEAST_RANGE: Final = 64 * 1024


class HFileSource(Protocol):
    """Bytes that can be read in ranges."""

    @property
    def size(self) -> int:
        """How many bytes there are."""

    def read(self, offset: int, length: int) -> bytes:
        """The bytes of a range that lies within the size; fewer when the file was cut since."""


class BytesSource:
    """An HFile that is in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        """The bytes of a range."""
        return self._data[offset : offset + length]


class StoredSource:
    """An HFile of a storage; what was read last is kept, so that a header and its block are one request.

    Raises:
        FormatError: BASE_FILE_MISSING, also where the file goes while it is read.

    Clauses: RD-011.

    """

    def __init__(self, storage: Storage, path: str) -> None:
        self._storage = storage
        self._path = path
        try:
            self._size = storage.size(path)
        except FileNotFoundError as error:
            raise base_file_missing(path) from error
        self._start = 0
        self._held = b""

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        """The bytes of a range, read in pieces of at least 64 KiB; a smaller file is one piece."""
        begin = offset - self._start
        if not 0 <= begin <= begin + length <= len(self._held):
            start = offset if self._size > _LEAST_RANGE else 0
            wanted = min(max(length, _LEAST_RANGE), self._size - start)
            try:
                self._start, self._held = start, self._storage.read_range(self._path, start, wanted)
            except FileNotFoundError as error:
                raise base_file_missing(self._path) from error
            begin = offset - start
        return self._held[begin : begin + length]
