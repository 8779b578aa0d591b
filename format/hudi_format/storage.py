"""Files of one table below its base path.

Paths are relative to the base, `/` between the parts, and never leave it.
Writes appear whole or not at all: a temporary file first, then a hard link (put-if-absent) or a rename (put).
"""

import errno
import os
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import quote, unquote

from hudi_format.errors import FormatError, Reason

_TEMPORARY = ".hudi-put-"


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file: path relative to the base, bytes, modification time in epoch milliseconds."""

    path: str
    size: int
    modified_ms: int


class Storage(Protocol):
    """What readers and writers need of a storage.

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


class LocalStorage:
    """A table on a local file system.

    Clauses: SA-001, SA-002, SL-007.
    """

    def __init__(self, base: Path) -> None:
        self._root = Path(os.path.realpath(base))
        self.base = str(self._root)

    def resolve(self, path: str) -> str:
        """Absolute path of `path` with links followed.

        Raises:
            FormatError: PATH_ESCAPES_TABLE for an absolute path, a `..` part, a NUL, or a link that leaves the base.

        Clauses: SL-007.

        """
        parts = PurePosixPath(path).parts
        if path.startswith("/") or ".." in parts or "\0" in path:
            raise _escapes(path)
        try:
            resolved = os.path.realpath(self._root.joinpath(*parts))
        except (OSError, ValueError) as error:
            raise _escapes(path) from error
        if resolved != self.base and not resolved.startswith(self.base.rstrip("/") + "/"):
            raise _escapes(path)
        return resolved

    def uri(self, path: str = "") -> str:
        """`file:///…` with everything but letters, digits and `/-._~=` percent-encoded."""
        return "file://" + quote(self.resolve(path), safe="/-._~=")

    def list_files(self, folder: str = "", *, recursive: bool = True, skip: tuple[str, ...] = ()) -> list[FileStatus]:
        """Files below `folder`, sorted by path; temporary files of unfinished puts are left out."""
        return sorted(self._walk(folder, recursive=recursive, skip=skip), key=lambda status: status.path)

    def list_folders(self, folder: str = "") -> list[str]:
        """Folders directly below `folder`."""
        paths = ((entry, _join(folder, entry.name)) for entry in self._entries(folder))
        return sorted(path for entry, path in paths if self._is_folder(entry, path))

    def read(self, path: str) -> bytes:
        """All bytes of a file."""
        return Path(self.resolve(path)).read_bytes()

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`."""
        with Path(self.resolve(path)).open("rb") as stream:
            stream.seek(offset)
            return stream.read(length)

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return Path(self.resolve(path)).stat().st_size

    def exists(self, path: str) -> bool:
        """Whether a file or folder is there."""
        return Path(self.resolve(path)).exists()

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write to a temporary file, then link it to its name: the link fails when the name is taken.

        Clauses: SA-001.
        """
        target = Path(self.resolve(path))
        temporary = _write_temporary(target, data)
        try:
            os.link(temporary, target)
        except FileExistsError:
            return False
        else:
            return True
        finally:
            temporary.unlink()

    def put(self, path: str, data: bytes) -> None:
        """Write to a temporary file, then rename it over the name.

        Clauses: SA-001.
        """
        target = Path(self.resolve(path))
        temporary = _write_temporary(target, data)
        try:
            temporary.replace(target)
        except OSError:
            temporary.unlink()
            raise

    def delete(self, path: str) -> None:
        """Remove a file if it is there."""
        Path(self.resolve(path)).unlink(missing_ok=True)

    def _walk(self, folder: str, *, recursive: bool, skip: tuple[str, ...]) -> Iterator[FileStatus]:
        for entry in self._entries(folder):
            path = _join(folder, entry.name)
            if self._is_folder(entry, path):
                if recursive and path not in skip:
                    yield from self._walk(path, recursive=True, skip=skip)
            elif _is_file(entry) and not entry.name.startswith(_TEMPORARY):
                status = entry.stat()
                yield FileStatus(path, status.st_size, status.st_mtime_ns // 1_000_000)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.resolve(folder)) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _is_folder(self, entry: os.DirEntry[str], path: str) -> bool:
        """Whether an entry is a folder; a link that leaves the table or leads back above itself is refused."""
        if entry.is_symlink():
            target = Path(self.resolve(path))
            if target.is_dir() and Path(entry.path).is_relative_to(target):
                raise _escapes(path)
        return _leads(entry.is_dir)


def open_storage(base: str | Path) -> Storage:
    """The storage that holds the table at `base`: a local path or a `file:` URI.

    Raises:
        ValueError: another scheme than `file:`, or a `file:` URI that names a host.

    """
    return LocalStorage(_local_path(base))


def _local_path(base: str | Path) -> Path:
    text = str(base)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", text)
    if isinstance(base, Path) or scheme is None:
        return Path(base)
    if scheme[1].lower() != "file":
        raise ValueError(f"no storage is built for {scheme[1]}: {text}")
    rest = text[len("file:") :]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host not in ("", "localhost"):
            raise ValueError(f"a file URI cannot name the host {host}: {text}")
        rest = slash + path
    return Path(unquote(rest))


def _is_file(entry: os.DirEntry[str]) -> bool:
    return _leads(entry.is_file)


def _leads(question: Callable[[], bool]) -> bool:
    """The answer of a directory entry; a link that leads round in a circle is neither a file nor a folder."""
    try:
        return question()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return False
        raise


def _write_temporary(target: Path, data: bytes) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f"{_TEMPORARY}{uuid.uuid4().hex}"
    with temporary.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    return temporary


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if folder else name


def _escapes(path: str) -> FormatError:
    hint = "metadata may only name files below the table's base path"
    return FormatError(Reason.PATH_ESCAPES_TABLE, "SL-007", path, None, "the path leaves the table", hint)
