"""What readers and writers need of the place where a table's files lie."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from hudi_format.errors import FormatError, Reason


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file: path relative to the base, bytes, modification time in epoch milliseconds."""

    path: str
    size: int
    modified_ms: int


class Storage(Protocol):
    """Files of one table below its base path; a storage can be pickled and opens itself again elsewhere.

    Paths are relative to the base, `/` between the parts, and never leave it.
    Writes appear whole or not at all.

    Clauses: SA-001, SA-002, SL-007.
    """

    base: str

    def resolve(self, path: str) -> str:
        """The place of `path`; FormatError PATH_ESCAPES_TABLE when it is outside the base."""

    def uri(self, path: str = "") -> str:
        """Absolute URI of `path` for engines that open files themselves."""

    def list_files(self, folder: str = "", *, recursive: bool = True, skip: tuple[str, ...] = ()) -> list[FileStatus]:
        """Files below `folder`, sorted by path, without folders whose relative path is in `skip`; none if absent."""

    def list_folders(self, folder: str = "") -> list[str]:
        """Folders directly below `folder`, relative to the base, sorted; none if absent."""

    def list_no_files(self, folder: str = "") -> list[str]:
        """What lies directly below `folder` and can be read as no file, sorted; none if absent, or in an object store.

        A folder, a pipe, a device, a link that leads nowhere.
        """

    def list_no_folders(self, paths: Iterable[str]) -> list[str]:
        """What is in the place of `paths`, or of folders above them, and is no folder; none in an object store."""

    def read(self, path: str) -> bytes:
        """All bytes of a file; FileNotFoundError when absent."""

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; FileNotFoundError when absent."""

    def size(self, path: str) -> int:
        """Bytes of a file; FileNotFoundError when absent."""

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write a new file whole; False, with the old one untouched, when one is there."""

    def put(self, path: str, data: bytes) -> None:
        """Write or replace a file whole."""

    def delete(self, path: str) -> None:
        """Remove a file; nothing happens when it is absent."""

    def delete_folder(self, folder: str) -> None:
        """Remove a folder and all below it; nothing happens when it is absent."""

    def sweep(self, older_than: float) -> int:
        """Remove what puts left that ended with their process that many seconds ago; how many files went."""


def inner_parts(path: str) -> tuple[str, ...]:
    """The names on the way from the base to `path`.

    Raises:
        FormatError: PATH_ESCAPES_TABLE for an absolute path, a `..` part or a NUL.

    Clauses: SL-007.

    """
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise escapes(path)
    return parts


def escapes(path: str) -> FormatError:
    """The error for a path that leaves the table."""
    hint = "metadata may only name files below the table's base path"
    return FormatError(Reason.PATH_ESCAPES_TABLE, "SL-007", path, None, "the path leaves the table", hint)
