"""Which process this is, and whether another one on this computer still runs.

Clauses: MK-005, LK-002.
"""

import os
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_BOOT: Final = "/proc/sys/kernel/random/boot_id"
_NAMESPACE: Final = "/proc/self/ns/pid"
_STARTED: Final = 19
# No system counts its processes further than with 32 bits.
_PID: Final = re.compile("[0-9]{1,9}")
_S3: Final = ("s3", "s3a", "s3n")


@dataclass(frozen=True, slots=True)
class Process:
    """A process anywhere: the computer and its start, the number, and when it began where the system tells."""

    host: str
    pid: int
    began: str = ""

    def __str__(self) -> str:
        return f"{self.host}|{self.pid}|{self.began}"

    @property
    def is_ours(self) -> bool:
        """Whether it is this process."""
        return self == this_process()

    def has_ended(self) -> bool:
        """Whether it ran on this computer and does no longer; of other computers nothing is known."""
        if self.host != host():
            return False
        began = _began(self.pid)
        return began is None or bool(began and self.began != began)


def this_process() -> Process:
    """The process that asks."""
    return Process(host(), os.getpid(), _began(os.getpid()) or "")


def parse_process(text: str) -> Process | None:
    """The process that a text names; None for other texts."""
    host_text, _, rest = text.rpartition("|")[0].rpartition("|")
    began = text.rpartition("|")[2]
    return Process(host_text, int(rest), began) if host_text and _PID.fullmatch(rest) else None


def table_key(base: str) -> str:
    """What all paths of one table have in common within a process: a bucket has several schemes."""
    scheme, separator, rest = base.partition("://")
    return f"s3{separator}{rest}" if scheme.lower() in _S3 else base


@cache
def host() -> str:
    """The computer since it was started, and the part of it whose processes this one sees."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path(_BOOT).read_text().strip())
    with suppress(OSError):
        parts.append(str(Path(_NAMESPACE).readlink()))
    return " ".join(parts)


def _began(pid: int) -> str | None:
    """When a process of this computer began, empty where the system does not tell; None where there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        # There is no such process, it ended while its file was read, or the system keeps others' files from us.
        return _by_signal(pid)
    # A process that has ended and is not yet waited for still has a number.
    return None if fields[0] in "ZX" else fields[_STARTED]


def _by_signal(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return ""
    return ""
