"""A lock in the table's own storage, by conditional writes: no server beside it.

In object stores it is Apache Hudi 1.1's StorageBasedLockProvider: `.hoodie/.locks/table_lock.json` says who holds the
lock until when, and is replaced only as the version that was read. Apache Hudi has none for local file systems; there
the versions are files of their own, numbered, each put only if absent, and the greatest counts.

A lease is renewed while its holder works. It has ended for others when half a second more than its time is over, and
for its holder half a second before: clocks may differ by that.

Clauses: LK-001, LK-002, SA-001.
"""

import json
import re
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from hudi_format.storage import ObjectStorage, Storage

from hudi_spark.concurrency.heartbeats import parse_process, this_process
from hudi_spark.concurrency.lock_provider import Lease, Renewal, lost, malformed, read_lock_object, unavailable

LOCK_FILE: Final = ".hoodie/.locks/table_lock.json"
_LOCAL: Final = ".hoodie/.locks/table_lock"
_DRIFT_MS: Final = 500
_KEPT: Final = 16
_DIGITS: Final = 20
_GREATEST: Final = 10**_DIGITS - 1
_NUMBERED: Final = re.compile(rf"(?P<number>[0-9]{{{_DIGITS}}})\.json")
_LOOKS: Final = 100
_HINT: Final = "the storage has to know conditional writes; look at its options and the network"


@dataclass(frozen=True, slots=True)
class LockState:
    """What the lock's file says; times in epoch milliseconds."""

    owner: str
    valid_until: int
    expired: bool = False

    def encoded(self) -> bytes:
        """JSON, as Apache Hudi has it."""
        form = {"expired": self.expired, "validUntil": self.valid_until, "owner": self.owner}
        return json.dumps(form).encode()

    def is_free(self, now_ms: int) -> bool:
        """Whether nobody holds it: given back, ended, or held by a process of this computer that has ended."""
        process = parse_process(self.owner.rpartition(" by ")[2])
        has_ended = process is not None and process.has_ended()
        return self.expired or has_ended or now_ms > self.valid_until + _DRIFT_MS


def parse_lock_state(data: bytes, file: str) -> LockState:
    """What a lock's file says.

    Raises:
        HudiError: LOCK_UNAVAILABLE where it is no JSON object of these values.

    Clauses: LK-001.

    """
    form = read_lock_object(data, file)
    owner, valid_until, expired = (form.get(name) for name in ("owner", "validUntil", "expired"))
    if not isinstance(owner, str) or type(valid_until) is not int or not isinstance(expired, bool):
        raise malformed(file, f"owner {owner!r:.40}, validUntil {valid_until!r:.40}, expired {expired!r:.40}")
    return LockState(owner, valid_until, expired)


class Register(Protocol):
    """One value that is replaced only as the version that was read."""

    def read(self) -> tuple[bytes | None, str]:
        """The value, None where there is none yet, and its version."""

    def swap(self, data: bytes, version: str) -> str | None:
        """The new version; None, and nothing has changed, where the value is no longer of that version."""

    def file(self, version: str) -> str:
        """The file that holds the value of a version, as messages name it."""


@dataclass(frozen=True, slots=True)
class ObjectRegister:
    """An object, replaced under the condition that its tag is the one that was read."""

    storage: ObjectStorage

    def read(self) -> tuple[bytes | None, str]:
        """The object and its tag."""
        try:
            return self.storage.read_tagged(LOCK_FILE)
        except FileNotFoundError:
            return None, ""

    def swap(self, data: bytes, version: str) -> str | None:
        """Clauses: SA-001."""
        return self.storage.put_if_tagged(LOCK_FILE, data, version)

    def file(self, version: str) -> str:
        """One for all versions."""
        del version
        return LOCK_FILE


@dataclass(frozen=True, slots=True)
class NumberedRegister:
    """Numbered files: the greatest is the value, and who puts the next one if absent has replaced it.

    The greatest is never removed before a greater one is there; so whoever was stopped for long and puts a number that
    was used and removed sees a greater one beside it.
    """

    storage: Storage

    def read(self) -> tuple[bytes | None, str]:
        """The greatest file and its number.

        Raises:
            HudiError: LOCK_UNAVAILABLE where a file that is listed cannot be read, however often the folder is listed.

        """
        for _ in range(_LOOKS):
            taken = self._numbers()
            if not taken:
                return None, "0"
            with suppress(FileNotFoundError):
                return self.storage.read(_numbered(taken[-1])), str(taken[-1])
            # So many came after it that it was removed.
        raise malformed(_numbered(taken[-1]), "it is listed and cannot be read")

    def swap(self, data: bytes, version: str) -> str | None:
        """Clauses: SA-001."""
        number = int(version) + 1
        if number > _GREATEST:
            raise malformed(_numbered(_GREATEST), "there is no number above it")
        if not self.storage.put_if_absent(_numbered(number), data):
            return None
        taken = self._numbers()
        for old in taken[:-_KEPT]:
            self.storage.delete(_numbered(old))
        return str(number) if taken[-1:] == [number] else None

    def file(self, version: str) -> str:
        """One for each version."""
        return _numbered(int(version))

    def _numbers(self) -> list[int]:
        """In order; files of other names are none of the lock's."""
        listed = self.storage.list_files(_LOCAL, recursive=False)
        names = (_NUMBERED.fullmatch(one.path.rpartition("/")[2]) for one in listed)
        return sorted(int(name["number"]) for name in names if name)


def register_of(storage: Storage) -> Register:
    """The register of a storage."""
    return ObjectRegister(storage) if isinstance(storage, ObjectStorage) else NumberedRegister(storage)


@dataclass(slots=True)
class StorageLockProvider:
    """The lock of the table in a storage; times in seconds."""

    storage: Storage
    validity_seconds: float
    renewal_seconds: float
    leased: bool = True
    doubtful: bool = False

    @property
    def place(self) -> str:
        """The lock's file."""
        return f"{self.storage.base}/{LOCK_FILE}"

    def take(self, holder: str, seconds: float) -> Lease | None:
        """The lock.

        Clauses: LK-001, LK-002.
        """
        del seconds
        register = register_of(self.storage)
        try:
            data, version = register.read()
            if data is not None and not parse_lock_state(data, register.file(version)).is_free(_now_ms()):
                return None
            owner = f"{uuid.uuid4()} {holder} by {this_process()}"
            state = LockState(owner, _now_ms() + int(self.validity_seconds * 1000))
            taken = register.swap(state.encoded(), version)
        except OSError as error:
            raise unavailable(self.place, str(error), _HINT) from None
        return None if taken is None else _StorageLease(self, register, state, taken)

    def close(self) -> None:
        """Nothing is open."""


@dataclass(slots=True)
class _StorageLease:
    provider: StorageLockProvider
    register: Register
    state: LockState
    version: str
    _renewal: Renewal = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._renewal = Renewal(self._renew, self.provider.renewal_seconds)

    def confirm(self) -> None:
        """By the clock: others take the lock only when its time is over."""
        if self._renewal.failed or _now_ms() >= self.state.valid_until - _DRIFT_MS:
            raise lost(self.provider.place, "the lease ended")

    def release(self) -> None:
        self._renewal.stop()
        try:
            self.register.swap(replace(self.state, expired=True).encoded(), self.version)
        except OSError:
            # The lease ends by itself.
            return

    def _renew(self) -> bool:
        renewed = replace(self.state, valid_until=_now_ms() + int(self.provider.validity_seconds * 1000))
        try:
            version = self.register.swap(renewed.encoded(), self.version)
        except OSError:
            # Asked again: the lease still runs for a while.
            return True
        if version is None:
            return False
        self.state, self.version = renewed, version
        return True


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _numbered(number: int) -> str:
    return f"{_LOCAL}/{number:0{_DIGITS}d}.json"
