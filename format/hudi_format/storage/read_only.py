"""A storage, or a folder of it, that cannot be written: what only looks at a table is given this one."""

from collections.abc import Iterable
from dataclasses import replace

from hudi_format.storage.interface import FileStatus, Storage


class ReadOnlyStorage:
    """The files below a folder of another storage; every write is refused before it reaches the other.

    Clauses: SL-007.
    """

    def __init__(self, storage: Storage, folder: str = "") -> None:
        self.storage = storage
        self._folder = folder
        self.base = f"{storage.base}/{folder}" if folder else storage.base

    def resolve(self, path: str) -> str:
        """The place of `path`; FormatError PATH_ESCAPES_TABLE when it is outside the base."""
        return self.storage.resolve(self._within(path))

    def uri(self, path: str = "") -> str:
        """Absolute URI of `path`."""
        return self.storage.uri(self._within(path))

    def list_files(self, folder: str = "", *, recursive: bool = True, skip: tuple[str, ...] = ()) -> list[FileStatus]:
        """Files below `folder`, sorted by path; none if absent."""
        skipped = tuple(map(self._within, skip))
        found = self.storage.list_files(self._within(folder), recursive=recursive, skip=skipped)
        return [replace(status, path=self._without(status.path)) for status in found]

    def list_folders(self, folder: str = "") -> list[str]:
        """Folders directly below `folder`, sorted; none if absent."""
        return [self._without(path) for path in self.storage.list_folders(self._within(folder))]

    def list_no_files(self, folder: str = "") -> list[str]:
        """What is no file directly below `folder`, sorted; none if absent."""
        return [self._without(path) for path in self.storage.list_no_files(self._within(folder))]

    def list_no_folders(self, paths: Iterable[str]) -> list[str]:
        """What is in the place of `paths`, or of folders above them, and is no folder."""
        return [self._without(path) for path in self.storage.list_no_folders(map(self._within, paths))]

    def read(self, path: str) -> bytes:
        """All bytes of a file; FileNotFoundError when absent."""
        return self.storage.read(self._within(path))

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; FileNotFoundError when absent."""
        return self.storage.read_range(self._within(path), offset, length)

    def size(self, path: str) -> int:
        """Bytes of a file; FileNotFoundError when absent."""
        return self.storage.size(self._within(path))

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return self.storage.exists(self._within(path))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """PermissionError, always."""
        raise self._refused("put", path, len(data))

    def put(self, path: str, data: bytes) -> None:
        """PermissionError, always."""
        raise self._refused("put", path, len(data))

    def delete(self, path: str) -> None:
        """PermissionError, always."""
        raise self._refused("delete", path)

    def delete_folder(self, folder: str) -> None:
        """PermissionError, always."""
        raise self._refused("delete", folder)

    def sweep(self, older_than: float) -> int:
        """PermissionError, always."""
        raise self._refused("sweep", f"what is older than {older_than} s")

    def _refused(self, operation: str, path: str, size: int = 0) -> PermissionError:
        return PermissionError(f"this storage is only read: {operation} {self._within(path)} ({size} bytes)")

    def _within(self, path: str) -> str:
        return f"{self._folder}/{path}".strip("/") if self._folder else path

    def _without(self, path: str) -> str:
        return path[len(self._folder) + 1 :] if self._folder else path
