"""Where the tables of a run lie while it lasts."""

import os
import tempfile
from pathlib import Path
from typing import Final

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a fresh folder with a random name is made in it
_ENOUGH: Final = 2 << 30
_TOLD: Final = ("TMPDIR", "TEMP", "TMP")


def work_folder(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """A folder that goes away at the end: in memory where a machine offers 2 GiB of it, else where TMPDIR says.

    A run makes and removes tens of thousands of small files, and a disk is a third of the in-process model's time.
    """
    return tempfile.TemporaryDirectory(prefix=prefix, dir=_in_memory())


def _in_memory() -> Path | None:
    """The folder in memory; None where somebody has said where temporary files go, or there is none of use."""
    if any(os.environ.get(name) for name in _TOLD) or not os.access(_MEMORY, os.W_OK | os.X_OK):
        return None
    free = os.statvfs(_MEMORY)
    return _MEMORY if free.f_bavail * free.f_frsize >= _ENOUGH else None
