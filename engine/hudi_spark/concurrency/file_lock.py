"""The lock of a table on a local file system: one that the operating system holds, and Apache Hudi's file beside it.

`<folder>/os.lock`   locked by the operating system: a stopped process still has it, one that died does not
`<folder>/lock`      the file of Apache Hudi's FileSystemBasedLockProvider: whoever could create it holds the lock

The system's lock decides among writers of this engine. The file keeps Apache Hudi out, and is waited for where Apache
Hudi made it. Two limits are Apache Hudi's own: it looks whether the file is there and then creates it, so that it may
overwrite one that appears in between, and a client that is closed removes the file, whoever made it. A lock whose file
has gone or changed is taken for lost. Among writers of both kinds ZooKeeper is the safer choice.

Clauses: LK-001, LK-002.
"""

import json
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from hudi_spark.concurrency.heartbeats import this_process
from hudi_spark.concurrency.lock_provider import Lease, lost, unavailable
from hudi_spark.errors import HudiError

_SYSTEM_LOCK: Final = "os.lock"
_APACHE_FILE: Final = "lock"
_OWN: Final = "hudi-spark"
_LOOK: Final = 0.02
_HINT: Final = "the folder of the lock has to be one that can be written, and the lock a file in it"


@dataclass(frozen=True, slots=True)
class FileLockProvider:
    """A lock below a folder; a file of Apache Hudi's older than `expires_minutes` is nobody's, unless that is 0."""

    folder: Path
    expires_minutes: int = 0
    leased: bool = False
    doubtful: bool = False

    @property
    def place(self) -> str:
        """The file that Apache Hudi knows."""
        return str(self.folder / _APACHE_FILE)

    def take(self, holder: str, seconds: float) -> Lease | None:
        """The lock.

        Clauses: LK-001.
        """
        deadline = time.monotonic() + seconds
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            system = FileLock(self.folder / _SYSTEM_LOCK, thread_local=False)
            system.acquire(timeout=max(0.0, seconds), poll_interval=_LOOK)
        except Timeout:
            return None
        except OSError as error:
            raise unavailable(self.place, str(error), _HINT) from None
        try:
            token = self._create_file(holder, deadline)
        except BaseException:
            system.release()
            raise
        if token is None:
            system.release()
            return None
        return _FileLease(self, system, token)

    def close(self) -> None:
        """Nothing is open."""

    def read(self) -> str | None:
        """What Apache Hudi's file holds; None where it is not there.

        Raises:
            HudiError: LOCK_UNAVAILABLE where it cannot be read.

        """
        try:
            return Path(self.place).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unavailable(self.place, str(error), _HINT) from None

    def _create_file(self, holder: str, deadline: float) -> str | None:
        """The file's content where it is ours now; None where Apache Hudi keeps it until the deadline."""
        token = json.dumps({"by": _OWN, "holder": holder, "process": str(this_process()), "id": uuid.uuid4().hex})
        while not self._created(token):
            found = self.read()
            # The system's lock is held: whoever of this engine made the file has died.
            if found is not None and (f'"by": "{_OWN}"' in found or self._is_old()):
                self._remove()
            if time.monotonic() >= deadline:
                return token if self._created(token) else None
            time.sleep(_LOOK)
        return token

    def _remove(self) -> None:
        try:
            Path(self.place).unlink(missing_ok=True)
        except OSError as error:
            raise unavailable(self.place, str(error), _HINT) from None

    def _created(self, token: str) -> bool:
        whole = self.folder / f".{_APACHE_FILE}.{uuid.uuid4().hex}"
        try:
            whole.write_text(token, encoding="utf-8")
            Path(self.place).hardlink_to(whole)
        except FileExistsError:
            return False
        except OSError as error:
            raise unavailable(self.place, str(error)) from None
        else:
            return True
        finally:
            whole.unlink(missing_ok=True)

    def _is_old(self) -> bool:
        try:
            age = time.time() - Path(self.place).stat().st_mtime
        except OSError:
            return False
        return self.expires_minutes > 0 and age > self.expires_minutes * 60


@dataclass(frozen=True, slots=True)
class _FileLease:
    provider: FileLockProvider
    system: FileLock
    token: str

    def confirm(self) -> None:
        try:
            kept = self.provider.read() == self.token
        except HudiError:
            kept = False
        if not kept:
            raise lost(self.provider.place, "its file is no longer the one that this writer made")

    def release(self) -> None:
        try:
            # What cannot be removed is removed by the one that takes the lock next.
            with suppress(HudiError, OSError):
                if self.provider.read() == self.token:
                    Path(self.provider.place).unlink(missing_ok=True)
        finally:
            self.system.release()
