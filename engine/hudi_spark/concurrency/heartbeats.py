"""Heartbeats of the writes of this process, and whether those of other processes go on.

A write beats from before its requested file until it has completed or was given up: `.hoodie/.heartbeat/<requested>`,
written anew each interval. Apache Hudi's are empty and tell by their age; ours name process and lock as well, so that
on one computer a process that has ended is known to be dead at once.

Without a lock that processes share, only one of them may write. Each puts its heartbeat first and looks for others'
after: of two that begin at once at least one sees the other, and is refused. Whoever saw nobody then need not look
again: who came later has seen it.

Clauses: MK-005, LK-002, LK-006, OW-008.
"""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from hudi_format.errors import FormatError
from hudi_format.json_text import read_json
from hudi_format.storage import FileStatus, Storage
from hudi_format.table.markers import HEARTBEATS_FOLDER, heartbeat_instant

from hudi_spark.concurrency.effects import Effects, afterwards
from hudi_spark.errors import HudiError, Reason
from hudi_spark.options import Options

_BOOT: Final = "/proc/sys/kernel/random/boot_id"
_NAMESPACE: Final = "/proc/self/ns/pid"
_STARTED: Final = 19
# No system counts its processes further than with 32 bits.
_PID: Final = re.compile("[0-9]{1,9}")
_S3: Final = ("s3", "s3a", "s3n")


@dataclass(frozen=True, slots=True)
class Process:
    """A process anywhere: the computer and its start, the number, and when it began where the system shows."""

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


_INTERVAL: Final = "hoodie.client.heartbeat.interval_in_ms"
_MISSES: Final = "hoodie.client.heartbeat.tolerable.misses"
_FEWEST_SECONDS: Final = 0.02


@dataclass(slots=True)
class HeartbeatRenewal:
    """The heartbeat of one write of this process."""

    effects: Effects
    requested: str
    interval: float
    content: bytes
    beaten: float = field(default_factory=time.monotonic)
    looked: bool = False
    lapsed: bool = False

    def beat(self) -> None:
        """Renew it, unless somebody has taken it away: who took the write for dead."""
        path = f"{HEARTBEATS_FOLDER}/{self.requested}"
        if not self.effects.storage.exists(path):
            self.lapsed = True
            return
        self.effects.write_heartbeat(self.requested, self.content)
        self.beaten = time.monotonic()


class _Heartbeats:
    """Those of this process; one thread renews them all, from the first on."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._beating: dict[tuple[str, str], HeartbeatRenewal] = {}
        self._thread: threading.Thread | None = None
        self._changed = threading.Event()

    def add(self, renewal: HeartbeatRenewal) -> None:
        with self._lock:
            self._beating[table_key(renewal.effects.storage.base), renewal.requested] = renewal
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="hudi-heartbeats", daemon=True)
                self._thread.start()
        self._changed.set()

    def find(self, base: str, requested: str) -> HeartbeatRenewal | None:
        return self._beating.get((table_key(base), requested))

    def remove(self, base: str, requested: str) -> None:
        """No beat comes after this."""
        with self._lock:
            self._beating.pop((table_key(base), requested), None)

    def forget(self) -> None:
        """In a forked process: the heartbeats are its parent's."""
        self.__init__()  # type: ignore[misc]

    def _run(self) -> None:
        while True:
            self._changed.wait(self._rest())
            self._changed.clear()
            for renewal in list(self._beating.values()):
                self._beat(renewal)

    def _rest(self) -> float | None:
        """Seconds until the next beat is due; None where nothing beats."""
        now = time.monotonic()
        due = [
            renewal.beaten + renewal.interval - now for renewal in list(self._beating.values()) if not renewal.lapsed
        ]
        return max(_FEWEST_SECONDS, min(due)) if due else None

    def _beat(self, renewal: HeartbeatRenewal) -> None:
        with self._lock:
            known = self.find(renewal.effects.storage.base, renewal.requested) is renewal
            due = time.monotonic() >= renewal.beaten + renewal.interval
            if known and due and not renewal.lapsed:
                # A beat that fails is missed; the next one may succeed.
                with suppress(Exception):
                    renewal.beat()
                renewal.beaten = max(renewal.beaten, time.monotonic() - renewal.interval / 2)


_HEARTBEATS: Final = _Heartbeats()
os.register_at_fork(after_in_child=_HEARTBEATS.forget)


def start_heartbeat(effects: Effects, options: Options, requested: str, lock: str) -> None:
    """A write of this process lives from now on; `lock` names the lock that it uses.

    Clauses: MK-005.
    """
    content = json.dumps({"process": str(this_process()), "lock": lock}).encode()
    effects.write_heartbeat(requested, content)
    _HEARTBEATS.add(HeartbeatRenewal(effects, requested, options.number(_INTERVAL) / 1000, content))


def stop_heartbeat(effects: Effects, requested: str) -> None:
    """A write of this process is over, whatever it left in storage: to others it is dead.

    Clauses: MK-005.
    """
    _HEARTBEATS.remove(effects.storage.base, requested)


def remove_heartbeat(effects: Effects, requested: str) -> None:
    """A write of this process has completed or was given up: its heartbeat goes.

    Clauses: MK-005.
    """
    stop_heartbeat(effects, requested)
    if effects.storage.exists(f"{HEARTBEATS_FOLDER}/{requested}"):
        effects.remove_heartbeat(requested)


@contextmanager
def beating(effects: Effects, options: Options, requested: str, lock: str = "") -> Iterator[None]:
    """Work under an instant that was requested before, a plan that is carried out: alive while inside.

    Clauses: MK-005.
    """
    start_heartbeat(effects, options, requested, lock)
    try:
        yield
    finally:
        with afterwards("stop_heartbeat"):
            remove_heartbeat(effects, requested)


def is_alive(storage: Storage, options: Options, requested: str) -> bool:
    """Whether somebody is at work under an instant: a heartbeat of this process, or a live one of another.

    Clauses: MK-005, OW-008.
    """
    if _HEARTBEATS.find(storage.base, requested) is not None:
        return True
    found = [one for one in _heartbeats(storage) if one.path.rpartition("/")[2] == requested]
    return any(_beats(storage, options, one) for one in found)


def reject_unknown_writers(storage: Storage, options: Options, lock: str, requested: str) -> None:
    """Nothing when no other process writes, or all that do use the same lock.

    `requested`: the write that asks; who comes after its first look has seen it, and does not count.

    Raises:
        HudiError: LOCK_UNAVAILABLE naming what to set.

    Clauses: LK-006, MK-005.

    """
    own = _HEARTBEATS.find(storage.base, requested)
    for one in _heartbeats(storage):
        heartbeat = _read_heartbeat(storage, one)
        if heartbeat is None or heartbeat.get("lock", lock) == (lock or None):
            continue
        came_later = own is not None and own.looked and not own.lapsed and heartbeat
        if _beats(storage, options, one) and not came_later:
            raise _unknown_writer(one.path, heartbeat, lock)
    if own is not None:
        own.looked = True


def _heartbeats(storage: Storage) -> Iterator[FileStatus]:
    """The files of the heartbeats' folder that are some; other names are not a write's."""
    listed = storage.list_files(HEARTBEATS_FOLDER, recursive=False)
    return (one for one in listed if heartbeat_instant(one.path.rpartition("/")[2]))


def _read_heartbeat(storage: Storage, status: FileStatus) -> dict[str, str] | None:
    """The content of another process's heartbeat; None for our own, or one that has gone.

    Other content counts as empty: somebody writes.
    """
    try:
        found = read_json(storage.read(status.path) or b"{}", status.path, Reason.LOCK_UNAVAILABLE, "MK-005")
    except FileNotFoundError:
        return None
    except FormatError:
        return {}
    heartbeat = {name: one for name, one in found.items() if isinstance(one, str)} if isinstance(found, dict) else {}
    process = parse_process(heartbeat.get("process", ""))
    return None if process is not None and process.is_ours else heartbeat


def _beats(storage: Storage, options: Options, status: FileStatus) -> bool:
    heartbeat = _read_heartbeat(storage, status)
    if heartbeat is None:
        return False
    process = parse_process(heartbeat.get("process", ""))
    if process is not None and process.host == this_process().host:
        return not process.has_ended()
    tolerated = options.number(_INTERVAL) * (options.number(_MISSES) + 1)
    return time.time_ns() // 1_000_000 - status.modified_ms <= tolerated


def _unknown_writer(path: str, heartbeat: dict[str, str], lock: str) -> HudiError:
    who = heartbeat.get("process", "").replace("|", " ") or "another process"
    theirs = heartbeat.get("lock") or "none that processes share"
    message = (
        f"another process writes this table ({who}): its lock is {theirs}, this one's {lock or 'this process alone'}"
    )
    hint = "give all writers the same hoodie.write.lock.provider and its keys, or write when the other one has ended"
    return HudiError(Reason.LOCK_UNAVAILABLE, "LK-006", message, path, hint=hint)
