"""The lock of a table: its provider, its numbered claims, and what may be done only while it is held.

A lease can end while its holder is paused, at any instruction, also between its last look at the lock and the put of a
completed file. No look can prevent that; a number can. Below `.hoodie/.locks/claims` lies a sequence of files, each put
only if absent, so that of all who want a number one has it:

entry     who takes the lock puts the next number, before it reads the timeline that its checks go by; and who lets go
          of it puts one above a request, which it may withdraw from now on
claim     who puts a timeline file that others rely on (a completed file, a plan) puts the next number first, with the
          name and the content of the file

A holder's next number is the one after its own last. Where somebody else has taken the lock meanwhile, that number is
gone, and the late holder receives LOCK_LOST before anything of it counts. Whoever enters first carries out the claim
that it finds on top, so a claim is the moment at which an action counts: a holder that is paused after it finds its
file put already, with the same content, and one that died there has completed.

Only the greatest number says anything, since nobody puts a number without having carried out what lay below. Numbers
far below the greatest are removed. A holder paused for so long that its next number was used and removed again may put
it once more: it sees greater ones then, and knows; others never look at it.

What a late holder may still do is the one effect that it was about to have. Data and log files carry its instant, which
does not complete; instants, markers and files that it was rolling back are those of failed writes, that the next holder
rolls back too. Its metadata table's deltacommit needs a claim to complete. Three late effects are not fenced by
numbers: a replaced file (properties, the history's version) is the older one until the next replacement; a metadata
table that was about to be dropped goes, and is made anew; and a completed file comes back whose action somebody rolled
back or archived between its holder's last look at the numbers and its put.

Writers of this process take turns by a lock inside it; where the options name a provider, the one that has its turn
takes the provider's lock as well, in this order. A thread that holds the lock may request it again.

Clauses: LK-001, OW-030, LK-002, OW-004, LK-006, LK-003.
"""

import json
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hudi_format.errors import FormatError
from hudi_format.hashing import HashBits, hash_id
from hudi_format.names import TimelineFileName, TimelineLayout, parse_timeline_file_name
from hudi_format.storage import LocalStorage, Storage

from hudi_spark.concurrency.effects import Effects, afterwards, fence_of, fenced, traced_process
from hudi_spark.concurrency.heartbeats import reject_unknown_writers, table_key
from hudi_spark.concurrency.lock_provider import Lease, LockProvider, lost, malformed, read_lock_object, unavailable
from hudi_spark.concurrency.storage_lock import StorageLockProvider
from hudi_spark.errors import HudiError, OutcomeUnknownError, Reason
from hudi_spark.options import Options
from hudi_spark.table_state import TableConfiguration, load_configuration

PROVIDER: Final = "hoodie.write.lock.provider"
_WAIT: Final = "hoodie.write.lock.wait_time_ms"
_CLIENT_TRIES: Final = "hoodie.write.lock.client.num_retries"
_BETWEEN_TRIES: Final = "hoodie.write.lock.client.wait_time_ms_between_retry"
_BACK_OFF: Final = "hoodie.write.lock.wait_time_ms_between_retry"
_GREATEST_BACK_OFF: Final = "hoodie.write.lock.max_wait_time_ms_between_retry"
_ATTEMPTS: Final = "hoodie.write.lock.num_retries"
_SHORTEST: Final = 0.1


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a lock is requested: `tries` times `wait` seconds, with a pause in between; all times in seconds.

    Within a try the pause between two questions grows from `back_off` to `greatest`, doubled at most `doublings` times.
    """

    wait: float
    tries: int
    between: float
    back_off: float
    greatest: float
    doublings: int

    def pauses(self, random_part: random.Random) -> Iterator[float]:
        """Seconds to wait before each further question of one try, until its time is over."""
        deadline = time.monotonic() + self.wait
        longest = self.back_off
        for attempt in range(1_000_000):
            left = deadline - time.monotonic()
            if left <= 0:
                return
            yield min(left, longest * random_part.uniform(_SHORTEST, 1))
            longest = min(self.greatest, longest * 2) if attempt < self.doublings else longest


def patience_of(options: Options) -> Patience:
    """How long the options let a lock be requested.

    Clauses: LK-001.
    """
    return Patience(
        wait=options.number(_WAIT) / 1000,
        tries=max(0, options.number(_CLIENT_TRIES)) + 1,
        between=options.number(_BETWEEN_TRIES) / 1000,
        back_off=max(1, options.number(_BACK_OFF)) / 1000,
        greatest=max(1, options.number(_GREATEST_BACK_OFF)) / 1000,
        doublings=options.number(_ATTEMPTS),
    )


CLAIMS_FOLDER: Final = ".hoodie/.locks/claims"
_DIGITS: Final = 20
_GREATEST: Final = 10**_DIGITS - 1
_NAME: Final = re.compile(f"[0-9]{{{_DIGITS}}}")
_KEPT: Final = 32
_TRIES: Final = 100
_FIELDS: Final = ("holder", "path", "folder", "parameters")
# Completion times are in the names of the second layout only.
_LAYOUTS: Final[Mapping[bool, tuple[TimelineLayout, ...]]] = {False: (1,), True: (2,)}


@dataclass(frozen=True, slots=True)
class Claim:
    """One number: an entry has no path; `parameters` are those of the effect, `folder` whose timeline it is."""

    holder: str
    path: str = ""
    folder: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    content: bytes = field(default=b"", repr=False)

    def encoded(self) -> bytes:
        """A line of JSON, then the content of the file."""
        head = {"holder": self.holder, "path": self.path, "folder": self.folder, "parameters": dict(self.parameters)}
        return json.dumps(head, ensure_ascii=False).encode() + b"\n" + self.content


def parse_claim(data: bytes, file: str) -> Claim:
    """The claim that a file holds.

    Raises:
        HudiError: LOCK_UNAVAILABLE where it is none, or claims what is no file of the timeline it names.

    Clauses: LK-002.

    """
    head, _, content = data.partition(b"\n")
    form = read_lock_object(head, file)
    holder, path, folder, parameters = (form.get(name) for name in _FIELDS)
    if not (
        isinstance(holder, str) and isinstance(path, str) and isinstance(folder, str) and isinstance(parameters, dict)
    ):
        raise malformed(
            file, f"holder, path, folder and parameters are {holder!r:.40}, {path!r:.40}, {folder!r:.40}, ..."
        )
    claim = Claim(holder, path, folder, parameters, content)
    if path and not _claims_an_instant(claim):
        raise malformed(file, f"it claims {path[:200]!r}, no file of a timeline")
    return claim


def _claims_an_instant(claim: Claim) -> bool:
    """Whether a claim is of a file that its effect creates: one of the timeline of the table, or of one inside it."""
    parameters = claim.parameters
    within, _, name = claim.path.rpartition("/")
    try:
        named = [parse_timeline_file_name(name, layout, name) for layout in _LAYOUTS[name.count("_") > 0]]
    except FormatError:
        return False
    same = any(
        one and (one.requested, one.state) == (parameters.get("requested"), parameters.get("state")) for one in named
    )
    inside = f"{within}/".startswith(f"{claim.folder}/.hoodie/" if claim.folder else ".hoodie/")
    return same and inside and all(isinstance(one, str) for one in parameters.values())


def numbers(storage: Storage) -> list[int]:
    """The numbers that are taken, in order; files of other names are no claims."""
    names = (status.path.rpartition("/")[2] for status in storage.list_files(CLAIMS_FOLDER, recursive=False))
    return sorted(int(name) for name in names if _NAME.fullmatch(name))


def enter(effects: Effects, holder: str) -> int:
    """The number of a new holder; what the one before it claimed and did not put is there then.

    Called with the lock, before anything is read that its checks go by.

    Raises:
        HudiError: LOCK_UNAVAILABLE where the claim on top is none, or no number above it can be had.

    Clauses: LK-002.

    """
    storage = effects.storage
    for _ in range(_TRIES):
        taken = numbers(storage)
        number = taken[-1] + 1 if taken else 1
        with suppress(FileNotFoundError):
            if taken:
                path = _path(taken[-1])
                _carry_out(effects, parse_claim(storage.read(path), path))
            if number <= _GREATEST and put(storage, number, Claim(holder)):
                _forget(storage, taken)
                return number
    raise malformed(_path(number), "the next number cannot be had")


def put(storage: Storage, number: int, claim: Claim) -> bool:
    """Whether the number is this holder's now, and nobody has gone on beyond it.

    Clauses: LK-002, SA-001.
    """
    return storage.put_if_absent(_path(number), claim.encoded()) and numbers(storage)[-1:] == [number]


def is_put(storage: Storage, number: int, claim: Claim) -> bool:
    """Whether the number is taken by this very claim, of whose put an error was reported."""
    return storage.exists(_path(number)) and storage.read(_path(number)) == claim.encoded()


def was_carried_out(effects: Effects, claim: Claim) -> bool:
    """Whether the file of a claim is there with its content: somebody has put it for its holder."""
    try:
        return effects.storage.read(claim.path) == claim.content
    except FileNotFoundError:
        return False


def _carry_out(effects: Effects, claim: Claim) -> None:
    """The file of a claim appears, unless its action was taken off the timeline."""
    storage = effects.storage
    if not claim.path or storage.exists(claim.path):
        return
    if claim.parameters["state"] == "COMPLETED" and not _is_pending(storage, claim):
        return
    there = effects.inside(claim.folder) if claim.folder else effects
    there.finish_instant(claim.path.removeprefix(f"{claim.folder}/"), claim.content, claim.parameters)


def _is_pending(storage: Storage, claim: Claim) -> bool:
    """Whether files of the action's earlier states are there."""
    folder = claim.path.rpartition("/")[0]
    names = (status.path.rpartition("/")[2] for status in storage.list_files(folder, recursive=False))
    requested = claim.parameters["requested"]
    return any(name.startswith(f"{requested}.") and name.endswith((".inflight", ".requested")) for name in names)


def _forget(storage: Storage, taken: list[int]) -> None:
    for number in taken[:-_KEPT]:
        storage.delete(_path(number))


def _path(number: int) -> str:
    return f"{CLAIMS_FOLDER}/{number:0{_DIGITS}d}"


_ZOOKEEPER: Final = "hoodie.write.lock.zookeeper."
_DYNAMODB: Final = "hoodie.write.lock.dynamodb."
_FILE: Final = "hoodie.write.lock.filesystem."
_STORAGE: Final = "hoodie.write.lock.storage."
_SUFFIXES: Final = ("lockprovider", "based")
_DEFAULT_FOLDER: Final = ".hoodie"
_IMPLICIT_KEY: Final = "lock_key"
_KNOWN: Final = (
    "InProcess, FileSystemBased, ZookeeperBased, DynamoDBBased or StorageBased, each with LockProvider after it"
)


def provider_of(storage: Storage, options: Options) -> LockProvider | None:
    """The provider that the options name; None for one that only this process has, and where none is named.

    Raises:
        HudiError: CONFIG_INVALID for a provider that is none, or one that this engine refuses; for missing keys.

    Clauses: LK-001, LK-006.

    """
    name = options.text(PROVIDER)
    if not name:
        return None
    short = _short(name)
    if short in _REFUSED:
        raise _invalid(f"{PROVIDER} = {name}: {_REFUSED[short]}", "use ZooKeeper, DynamoDB or the storage-based lock")
    if short not in _MAKERS:
        raise _invalid(f"{PROVIDER} = {name} is no lock provider", f"choose {_KNOWN}")
    try:
        return _MAKERS[short](storage, options)
    except ModuleNotFoundError as missing:
        message = f"{PROVIDER}: the lock provider needs the package {missing.name}"
        raise _invalid(message, f"pip install {missing.name}") from missing


def place_of(storage: Storage, options: Options) -> str:
    """The place of the lock that the options name; empty for one that only this process has.

    Raises:
        HudiError: as `provider_of`.

    Clauses: LK-006.

    """
    provider = provider_of(storage, options)
    return "" if provider is None else provider.place


def _short(name: str) -> str:
    """The class's own name in lower case, without what all of them have in common."""
    short = name.rpartition(".")[2].lower().replace("_", "").replace("-", "")
    for suffix in _SUFFIXES:
        short = short.replace(suffix, "")
    return short


def _none(storage: Storage, options: Options) -> None:
    del storage, options


def _file(storage: Storage, options: Options) -> LockProvider:
    from hudi_spark.concurrency.file_lock import FileLockProvider  # noqa: PLC0415 - filelock is optional

    named = options.text(f"{_FILE}path")
    if not named and not isinstance(storage, LocalStorage):
        raise _invalid("a file lock needs a local file system", "use StorageBasedLockProvider for object stores")
    folder = Path(named.removeprefix("file://")) if named else Path(storage.resolve(_DEFAULT_FOLDER))
    return FileLockProvider(folder, options.number(f"{_FILE}expire"))


def _zookeeper(storage: Storage, options: Options) -> LockProvider:
    key = options.text(f"{_ZOOKEEPER}lock_key") or _table_name(storage)
    return _zookeeper_at(options, f"{options.required(f'{_ZOOKEEPER}base_path').rstrip('/')}/{key}")


def _zookeeper_implicit(storage: Storage, options: Options) -> LockProvider:
    return _zookeeper_at(options, f"/tmp/{_place_id(storage)}/{_IMPLICIT_KEY}")  # noqa: S108 - a path in ZooKeeper


def _zookeeper_at(options: Options, path: str) -> LockProvider:
    from hudi_spark.concurrency.zookeeper_lock import (  # noqa: PLC0415 - kazoo is optional
        ZooKeeperLockProvider,
        servers,
    )

    hosts = servers(options.required(f"{_ZOOKEEPER}url"), options.text(f"{_ZOOKEEPER}port"))
    session = options.number(f"{_ZOOKEEPER}session_timeout_ms") / 1000
    return ZooKeeperLockProvider(hosts, path, session, options.number(f"{_ZOOKEEPER}connection_timeout_ms") / 1000)


def _dynamodb(storage: Storage, options: Options) -> LockProvider:
    return _dynamodb_at(options, options.text(f"{_DYNAMODB}partition_key") or _table_name(storage))


def _dynamodb_implicit(storage: Storage, options: Options) -> LockProvider:
    return _dynamodb_at(options, _place_id(storage))


def _dynamodb_at(options: Options, key: str) -> LockProvider:
    from hudi_spark.concurrency.dynamodb_lock import (  # noqa: PLC0415 - boto3 is optional
        DynamoDbLockProvider,
        LockTable,
    )

    endpoint = options.text(f"{_DYNAMODB}endpoint_url")
    table = LockTable(
        name=options.required(f"{_DYNAMODB}table"),
        region=options.text(f"{_DYNAMODB}region"),
        endpoint=endpoint if "://" in endpoint or not endpoint else f"https://{endpoint}",
        billing=options.text(f"{_DYNAMODB}billing_mode"),
        read_capacity=options.number(f"{_DYNAMODB}read_capacity"),
        write_capacity=options.number(f"{_DYNAMODB}write_capacity"),
        creation_seconds=options.number(f"{_DYNAMODB}table_creation_timeout") / 1000,
    )
    return DynamoDbLockProvider(table, key, options.number(_WAIT) / 1000)


def _storage(storage: Storage, options: Options) -> LockProvider:
    validity = options.number(f"{_STORAGE}validity.timeout.secs")
    renewal = options.number(f"{_STORAGE}renew.interval.secs")
    if validity <= renewal:
        hint = f"let {_STORAGE}validity.timeout.secs be several times {_STORAGE}renew.interval.secs"
        raise _invalid("a lease that ends before it is renewed is none", hint)
    return StorageLockProvider(storage, validity, renewal)


def _table_name(storage: Storage) -> str:
    return load_configuration(storage).name


def _place_id(storage: Storage) -> str:
    """The id that Apache Hudi makes of a table's place; it writes s3 for s3a, and a local path without its scheme."""
    base = storage.base
    place = f"s3://{base.removeprefix('s3a://')}" if base.startswith("s3a://") else base
    return hash_id(place.encode(), HashBits.BITS_64).hex().upper()


def _invalid(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "LK-001", message, hint=hint)


_MAKERS: Final[Mapping[str, Callable[[Storage, Options], LockProvider | None]]] = {
    "inprocess": _none,
    "filesystem": _file,
    "file": _file,
    "zookeeper": _zookeeper,
    "zookeeperimplicitbasepath": _zookeeper_implicit,
    "dynamodb": _dynamodb,
    "dynamodbimplicitpartitionkey": _dynamodb_implicit,
    "storage": _storage,
}
_REFUSED: Final[Mapping[str, str]] = {
    "hivemetastore": "its locks are reached by Thrift, which this engine does not speak",
    "noop": "it locks nothing",
}


_LOCKS: Final[defaultdict[str, threading.RLock]] = defaultdict(threading.RLock)
_CLAIMED: Final = ("REQUESTED", "COMPLETED")
_SKEW: Final = "hoodie.time.generator.max_expected_clock_skew_ms"
# Holders do not wait in step with one another; nothing depends on the numbers.
_RANDOM: Final = random.Random()  # noqa: S311


@dataclass(slots=True)
class Holding:
    """A lock that is held.

    `lease`: the provider's, None where the lock is this process's alone. `number`: the holder's last claim, where the
    lease may end while it works.

    Clauses: LK-001, LK-002.
    """

    effects: Effects
    holder: str
    lease: Lease | None = None
    number: int | None = None
    _shown: float = field(default=0.0, repr=False)
    _requested: bool = field(default=False, repr=False)

    @property
    def is_shared(self) -> bool:
        """Whether other processes request the same lock."""
        return self.lease is not None

    def confirm(self) -> None:
        """Nothing while the lock is held.

        Raises:
            HudiError: LOCK_LOST when it has ended meanwhile.

        Clauses: LK-002.

        """
        if self.lease is not None:
            self.lease.confirm()

    def prove(self) -> None:
        """Nothing while the lock is held, and nobody else has taken it since: asks the storage.

        Raises:
            HudiError: LOCK_LOST.

        Clauses: LK-002.

        """
        self.confirm()
        if self.overtaken():
            raise self._lost()

    def complete(self, configuration: TableConfiguration, name: TimelineFileName, content: bytes) -> None:
        """The completed file of an action appears: from here on it counts.

        Raises:
            HudiError: LOCK_LOST, and then it does not appear; WRITE_CONFLICT when it is there already.
            OutcomeUnknownError: whether it appears is not known.

        Clauses: LK-002, LK-003, TL-002, OW-010.

        """
        self.confirm()
        self.effects.complete_instant(configuration, name, content)

    def claim(self, path: str, content: bytes, parameters: Mapping[str, Any], folder: str) -> bool:
        """Whether a timeline file has to appear from now on: those that others rely on are claimed first.

        Raises:
            HudiError: LOCK_LOST when somebody else has taken the lock meanwhile; it does not appear.

        Clauses: LK-002.

        """
        if self.number is None or parameters["state"] not in (_CLAIMED if not folder else _CLAIMED[1:]):
            return False
        self.confirm()
        # Whoever puts the file, the effect is this process's.
        claim = Claim(self.holder, path, folder, {**parameters, "process": traced_process()}, content)
        if not self._claimed(claim) and not was_carried_out(self.effects, claim):
            raise self._lost()
        self.number += 1
        self._requested = parameters["state"] == "REQUESTED"
        return True

    def _claimed(self, claim: Claim) -> bool:
        """Whether the next number is this claim's; after an error of the put it is looked for.

        Raises:
            OutcomeUnknownError: nobody knows whether the claim of a completed action is there.

        Clauses: LK-002, OW-010.

        """
        assert self.number is not None
        storage, number = self.effects.storage, self.number + 1
        try:
            return put(storage, number, claim)
        except OSError as error:
            try:
                there = is_put(storage, number, claim)
            except OSError as unread:
                if claim.folder or claim.parameters["state"] != "COMPLETED":
                    raise error from unread
                parameters = claim.parameters
                raise OutcomeUnknownError(
                    parameters["action"], parameters["requested"], claim.path, str(unread)
                ) from error
            if not there:
                raise
            return numbers(storage)[-1] == number

    def leave(self) -> None:
        """A request that was claimed last is behind its holder: the next holder does not put it again.

        Its writer may have withdrawn it by then.

        Clauses: LK-002, OW-009.
        """
        if self.number is not None and self._requested:
            # Where the storage fails, the claim stays on top, as that of a process that died.
            with suppress(OSError):
                put(self.effects.storage, self.number + 1, Claim(self.holder))

    def _lost(self) -> HudiError:
        return lost(self.effects.storage.base, "another process has taken it")

    def overtaken(self) -> bool:
        """Whether somebody has gone on since the last claim.

        Clauses: LK-002.
        """
        return self.number is not None and max(numbers(self.effects.storage), default=0) > self.number

    def showed_time(self) -> None:
        """A time was generated just now: the lock is kept until no other clock shows an earlier one.

        Clauses: TM-004.
        """
        self._shown = time.monotonic()

    def wait_out(self, seconds: float) -> None:
        """Until the last time was generated so many seconds ago.

        Clauses: TM-004.
        """
        if self._shown and self.is_shared:
            time.sleep(max(0.0, self._shown + seconds - time.monotonic()))


def holding_of(base: str) -> Holding | None:
    """The lock of a table, where this thread holds it."""
    found = fence_of(base)
    return found if isinstance(found, Holding) else None


@contextmanager
def table_lock(effects: Effects, options: Options, holder: str) -> Iterator[Holding]:
    """Holds the lock of a table, by the provider that the options name; without one, among this process's writers.

    Raises:
        HudiError: LOCK_UNAVAILABLE when it is not given in the time to wait, when its server does not answer, and
            without a provider when another process writes; CONFIG_INVALID for a provider that there is not.

    Clauses: LK-001, LK-003, LK-006, TM-004.

    """
    base = effects.storage.base
    held = holding_of(base)
    if held is not None:
        yield held
        return
    patience = patience_of(options)
    provider = provider_of(effects.storage, options)
    with ExitStack() as stack:
        mutex = _LOCKS[table_key(base)]
        if not mutex.acquire(timeout=patience.wait * patience.tries + patience.between * (patience.tries - 1)):
            raise unavailable(base, "another writer of this process holds it", "write again when that one has ended")
        stack.callback(mutex.release)
        holding = _entered(stack, effects, options, provider, holder)
        with effects.record("take_lock", holder=holder):
            pass
        try:
            with fenced(base, holding):
                yield holding
        finally:
            # What was done under the lock is done, or has failed, whatever becomes of the lock now.
            with afterwards("release_lock"):
                holding.leave()
            holding.wait_out(options.number(_SKEW) / 1000)
            with afterwards("release_lock"), effects.record("release_lock", holder=holder):
                pass


def _entered(
    stack: ExitStack, effects: Effects, options: Options, provider: LockProvider | None, holder: str
) -> Holding:
    """The lock taken, and what its last holder left undone done; `stack` lets it go."""
    reject_unknown_writers(effects.storage, options, provider.place if provider else "", holder)
    if provider is None:
        return Holding(effects, holder)
    stack.callback(_let_go, provider.close)
    lease = _taken(provider, patience_of(options), holder)
    stack.callback(_let_go, lease.release)
    holding = Holding(effects, holder, lease)
    if provider.leased:
        with fenced(effects.storage.base, holding):
            holding.number = enter(effects, holder)
        holding.confirm()
    return holding


def _let_go(step: Callable[[], None]) -> None:
    with afterwards("release_lock"):
        step()


def _taken(provider: LockProvider, patience: Patience, holder: str) -> Lease:
    """The provider's lock, requested again and again until patience ends and its holder is known to live.

    Clauses: LK-001.
    """
    began = time.monotonic()
    for pause, left in _questions(provider, patience):
        time.sleep(pause)
        lease = provider.take(holder, left)
        if lease is not None:
            return lease
    seconds = time.monotonic() - began
    raise unavailable(provider.place, f"another process holds it, {seconds:.3g} s long", "write again later")


def _questions(provider: LockProvider, patience: Patience) -> Iterator[tuple[float, float]]:
    """Seconds to wait before each question, and those that are left of its try then."""
    for number in range(patience.tries):
        before = patience.between if number else 0.0
        deadline = time.monotonic() + before + patience.wait
        yield before, patience.wait
        for pause in patience.pauses(_RANDOM):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            yield min(pause, left), max(0.0, left - pause)
    while provider.doubtful:
        yield patience.back_off, 0.0
