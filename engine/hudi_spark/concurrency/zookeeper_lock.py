"""A lock in ZooKeeper, in the layout of Curator's InterProcessMutex: Apache Hudi and this engine exclude each other.

Each contender makes an ephemeral node `<id>-lock-<sequence>` below the lock's path; the lowest sequence holds the lock.
A node goes with its session: a failed process keeps the lock for a session's time, and a stopped one loses it then.

Clauses: LK-001, LK-002.
"""

import queue
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, LockTimeout
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.recipe.lock import Lock

from hudi_spark.concurrency.heartbeats import this_process
from hudi_spark.concurrency.lock_provider import Lease, lost, unavailable

_PORT: Final = re.compile(r":\d+")
_HINT: Final = "look at hoodie.write.lock.zookeeper.url and .port, and whether the server runs; write again"
_LEAST: Final = 0.05
_FAILURES: Final = (KazooException, KazooTimeoutError, OSError)


class CuratorLock(Lock):  # type: ignore[misc]
    """kazoo's lock, with the names that Curator gives to nodes."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES: ClassVar[list[str]] = ["-lock-"]


def servers(url: str, port: str) -> str:
    """The servers of a connection text, each with its port; a chroot stays at the end."""
    names, slash, chroot = url.partition("/")
    each = [name if _PORT.search(name) or not port else f"{name}:{port}" for name in names.split(",")]
    return ",".join(each) + slash + chroot


@dataclass(slots=True)
class ZooKeeperLockProvider:
    """A lock at a path; times in seconds."""

    hosts: str
    path: str
    session_seconds: float
    connection_seconds: float
    leased: bool = True
    doubtful: bool = False
    _client: Any = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """Servers and path."""
        return f"zookeeper://{self.hosts}{self.path}"

    def take(self, holder: str, seconds: float) -> Lease | None:
        """The lock.

        Clauses: LK-001.
        """
        client = self._connected()
        lock = CuratorLock(client, self.path, identifier=f"{holder} {this_process()}")
        waits = max(seconds, _LEAST)
        try:
            taken = _within(waits + self.connection_seconds, lambda: lock.acquire(timeout=waits))
        except LockTimeout:
            return None
        except _FAILURES as error:
            raise unavailable(self.place, f"{type(error).__name__} {error}".strip(), _HINT) from None
        return _ZooKeeperLease(self, client, lock) if taken else None

    def close(self) -> None:
        """Ends the session, and with it whatever lock it still has."""
        client, self._client = self._client, None
        if client is not None:
            client.stop()
            client.close()

    def _connected(self) -> Any:
        if self._client is None:
            client = KazooClient(self.hosts, timeout=self.session_seconds)
            try:
                client.start(timeout=self.connection_seconds)
            except _FAILURES as error:
                client.stop()
                client.close()
                raise unavailable(self.place, f"no answer: {error}", _HINT) from None
            self._client = client
        return self._client


@dataclass(frozen=True, slots=True)
class _ZooKeeperLease:
    provider: ZooKeeperLockProvider
    client: Any
    lock: CuratorLock

    def confirm(self) -> None:
        """Asks the server whether the node is there and is this session's."""
        node = f"{self.provider.path}/{self.lock.node}"
        try:
            pending = self.client.exists_async(node) if self.lock.is_acquired else None
            found = None if pending is None else pending.get(timeout=self.provider.connection_seconds)
        except _FAILURES as error:
            raise lost(self.provider.place, f"its server does not tell whether it is held: {error}") from None
        session = self.client.client_id
        if found is None or session is None or found.owner_session_id != session[0]:
            raise lost(self.provider.place, "the session ended")

    def release(self) -> None:
        try:
            _within(self.provider.connection_seconds, self.lock.release)
        except _FAILURES:
            # The session's end takes the node away.
            return


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """What a call answers, which by itself would wait for a silent server without end."""
    answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            answers.put((None, error))

    threading.Thread(target=run, name="hudi-zookeeper", daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise KazooTimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return answer
