"""Where the tables of a run lie while it lasts."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a fresh folder with a random name is made in it
_ENOUGH: Final = 2 << 30
_VARIABLES: Final = ("TMPDIR", "TEMP", "TMP")


@contextlib.contextmanager
def work_folder(prefix: str) -> Iterator[str]:
    """A folder that goes away at the end: in memory where a machine offers 2 GiB of it, else where TMPDIR says.

    A run makes and removes tens of thousands of small files, and a disk is a third of the in-process model's time.
    """
    folder = tempfile.mkdtemp(prefix=prefix, dir=_in_memory())
    try:
        yield folder
    finally:
        removed(Path(folder))


def removed(folder: Path) -> None:
    """Remove a folder with whatever an adapter has left in it; what cannot be removed stays, and stops no run."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            for place, _, _ in os.walk(folder):
                Path(place).chmod(0o700)
            shutil.rmtree(folder, ignore_errors=True)


def _in_memory() -> Path | None:
    """The folder in memory; None where somebody has said where temporary files go, or there is none of use."""
    if any(os.environ.get(name) for name in _VARIABLES) or not os.access(_MEMORY, os.W_OK | os.X_OK):
        return None
    free = os.statvfs(_MEMORY)
    return _MEMORY if free.f_bavail * free.f_frsize >= _ENOUGH else None
