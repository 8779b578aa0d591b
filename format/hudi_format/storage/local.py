"""Tables on a local file system.

Writes go to a temporary file first, then a hard link (put-if-absent) or a rename (put).
"""

import errno
import os
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from hudi_format.storage.interface import FileStatus, escapes, inner_parts

_TEMPORARY = ".hudi-put-"


class LocalStorage:
    """A table on a local file system. What is a folder and no link is taken to stay so while the object is used.

    Clauses: SA-001, SA-002, SL-007.
    """

    def __init__(self, base: Path) -> None:
        self._root = Path(os.path.realpath(base))
        self.base = str(self._root)
        # Each look at a folder would cost a thread its turn.
        self._folders: set[str] = set()

    def __getstate__(self) -> dict[str, object]:
        """What a task is given: it looks for itself."""
        return {**self.__dict__, "_folders": set()}

    def resolve(self, path: str) -> str:
        """Absolute path of `path` with links followed.

        Raises:
            FormatError: PATH_ESCAPES_TABLE for an absolute path, a `..` part, a NUL, or a link that leaves the base.

        Clauses: SL-007.

        """
        parts = inner_parts(path)
        try:
            resolved = self._followed(parts)
        except (OSError, ValueError) as error:
            raise escapes(path) from error
        if resolved != self.base and not resolved.startswith(self.base.rstrip("/") + "/"):
            raise escapes(path)
        return resolved

    def _followed(self, parts: Sequence[str]) -> str:
        """The place of names below the base, whose own links are followed already: most often there are no others."""
        place = self.base.rstrip("/")
        for part in parts:
            place = f"{place}/{part}"
            if place in self._folders:
                continue
            kind = _kind(place)
            if kind is None:
                # What is not there leads nowhere else.
                return "/".join((self.base.rstrip("/"), *parts))
            if kind not in (stat.S_IFREG, stat.S_IFDIR):
                return os.path.realpath(self._root.joinpath(*parts))
            if kind == stat.S_IFDIR:
                self._folders.add(place)
        return place or self.base

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

    def list_no_files(self, folder: str = "") -> list[str]:
        """Folders, pipes, devices and links that lead nowhere, directly below `folder`."""
        others = (entry for entry in self._entries(folder) if not _is_file(entry))
        # Where a folder does not know the kinds of its entries, what vanished meanwhile looks like no file.
        return sorted(_join(folder, entry.name) for entry in others if os.path.lexists(entry.path))

    def list_no_folders(self, paths: Iterable[str]) -> list[str]:
        """What is in the place of `paths`, or of folders above them, and is no folder."""
        each = ("/".join(parts[: length + 1]) for parts in map(inner_parts, paths) for length in range(len(parts)))
        return sorted({path for path in each if _is_no_folder(self.resolve(path))})

    def read(self, path: str) -> bytes:
        """All bytes of a file."""
        with open(self.resolve(path), "rb", opener=_open_at_once) as stream:
            return stream.read()

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`."""
        with open(self.resolve(path), "rb", opener=_open_at_once) as stream:
            stream.seek(offset)
            return stream.read(length)

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return os.stat(self.resolve(path)).st_size  # noqa: PTH116 - as in `read`

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
            temporary.unlink(missing_ok=True)

    def put(self, path: str, data: bytes) -> None:
        """Write to a temporary file, then rename it over the name.

        Clauses: SA-001.
        """
        target = Path(self.resolve(path))
        temporary = _write_temporary(target, data)
        try:
            _forget_checksum(target)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def delete(self, path: str) -> None:
        """Remove a file if it is there."""
        target = Path(self.resolve(path))
        target.unlink(missing_ok=True)
        _forget_checksum(target)

    def delete_folder(self, folder: str) -> None:
        """Remove a folder below the base; links in it go, what they lead to stays.

        Raises:
            FormatError: PATH_ESCAPES_TABLE for the base itself, or a folder outside of it.

        Clauses: SL-007.

        """
        found = self.resolve(folder)
        if found == self.base:
            raise escapes(folder)
        if Path(found).is_dir():
            shutil.rmtree(found)
        self._folders.clear()

    def sweep(self, older_than: float) -> int:
        """Remove what puts left whose process died in them, when nothing was written to it for so many seconds.

        How many files went. Nobody else lists them.

        Clauses: SA-001.
        """
        before, swept = time.time() - older_than, 0
        for folder, _, names in os.walk(self.base):
            for name in names:
                left = Path(folder, name)
                with suppress(FileNotFoundError):
                    if name.startswith(_TEMPORARY) and left.lstat().st_mtime < before:
                        left.unlink()
                        swept += 1
        return swept

    def _walk(self, folder: str, *, recursive: bool, skip: tuple[str, ...]) -> Iterator[FileStatus]:
        for entry in self._entries(folder):
            path = _join(folder, entry.name)
            if path in skip:
                continue
            if self._is_folder(entry, path):
                if recursive:
                    yield from self._walk(path, recursive=True, skip=skip)
            elif _is_file(entry) and not entry.name.startswith(_TEMPORARY):
                # What disappears while the folder is listed is not listed: a clean or a rollback may be at work.
                with suppress(FileNotFoundError):
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
                raise escapes(path)
        return _leads(entry.is_dir)


def _kind(place: str) -> int | None:
    """The kind of a file, folder or link; None for nothing, 0 where looking fails."""
    try:
        return stat.S_IFMT(os.lstat(place).st_mode)
    except FileNotFoundError:
        return None
    except OSError:
        return 0


def _is_no_folder(place: str) -> bool:
    """Whether something is there, and can hold no files."""
    return _kind(place) not in (None, 0, stat.S_IFDIR)


def _open_at_once(place: str, flags: int) -> int:
    """The descriptor of a file; a pipe or a device, from which a read may never end, is refused.

    Raises:
        OSError: EINVAL for a pipe, a socket or a device.

    """
    found = os.open(place, flags | getattr(os, "O_NONBLOCK", 0))
    kind = os.fstat(found).st_mode
    if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
        return found
    os.close(found)
    raise OSError(errno.EINVAL, "a pipe or a device is in the place of a file", place)


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


def _forget_checksum(target: Path) -> None:
    """Remove what Hadoop's local file system keeps beside a file: it would refuse the next content by it."""
    (target.parent / f".{target.name}.crc").unlink(missing_ok=True)


def _write_temporary(target: Path, data: bytes) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f"{_TEMPORARY}{uuid.uuid4().hex}"
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _join(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if folder else name
