"""The bytes of a rows file: of a regular file, never more than the limit, never waited for."""

import errno
import os
import stat
from pathlib import Path, PurePosixPath

from hudi_adapter.limits import FILE_BYTES


class FileError(ValueError):
    """What is named is no regular file, cannot be opened, or is too large."""


def bytes_of(path: Path) -> bytes:
    """All bytes of a file, which may be a link.

    Raises:
        FileError: as the class says.

    """
    try:
        return _read(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except (OSError, ValueError) as error:
        raise FileError(_words(error)) from error


def bytes_inside(folder: Path, name: str) -> bytes:
    """All bytes of a file below a folder; neither it nor a folder on the way may be a link.

    Raises:
        FileError: as the class says, or the name leads out of the folder.

    """
    *above, last = PurePosixPath(name).parts or ("",)
    if name.startswith("/") or ".." in (*above, last):
        raise FileError("the name leads out of the folder that was given")
    closed = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    opened: list[int] = []
    try:
        opened.append(os.open(folder, closed | os.O_DIRECTORY))
        for part in above:
            opened.append(os.open(part, closed | os.O_DIRECTORY, dir_fd=opened[-1]))
        return _read(os.open(last, closed, dir_fd=opened[-1]))
    except (OSError, ValueError) as error:
        raise FileError(_words(error)) from error
    finally:
        for one in opened:
            os.close(one)


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FileError("is no regular file")
        # It may have grown since, or its size be a lie.
        data = file.read(FILE_BYTES + 1) if status.st_size <= FILE_BYTES else b""
    if status.st_size > FILE_BYTES or len(data) > FILE_BYTES:
        raise FileError(f"is larger than {FILE_BYTES} bytes")
    return data


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return "is a link" if error.errno == errno.ELOOP else str(error.strerror)
    return str(error)
