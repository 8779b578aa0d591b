"""Holding the lock of a table, and what may be done only while it is held.

Writers of this process take turns by a lock inside it; where the options name a provider, the one that has its turn
takes the provider's lock as well, in this order. A thread that holds the lock may ask for it again.

Clauses: LK-001, LK-002, LK-003, LK-006.
"""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from hudi_format.names import TimelineFileName

from hudi_spark.effects.afterwards import afterwards
from hudi_spark.effects.fences import fence_of, fenced
from hudi_spark.effects.helper import Effects
from hudi_spark.effects.hooks import traced_process
from hudi_spark.errors import HudiError, OutcomeUnknownError
from hudi_spark.locks import claims
from hudi_spark.locks.heartbeats import refuse_strangers
from hudi_spark.locks.processes import table_key
from hudi_spark.locks.providers.choosing import provider_of
from hudi_spark.locks.providers.interface import Lease, LockProvider, lost, unavailable
from hudi_spark.locks.settings import Patience, patience_of
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration

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
        """Whether other processes ask for the same lock."""
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

    def claim(self, path: str, content: bytes, told: Mapping[str, Any], folder: str) -> bool:
        """Whether a timeline file has to appear from now on: those that others rely on are claimed first.

        Raises:
            HudiError: LOCK_LOST when somebody else has taken the lock meanwhile; it does not appear.

        Clauses: LK-002.

        """
        if self.number is None or told["state"] not in (_CLAIMED if not folder else _CLAIMED[1:]):
            return False
        self.confirm()
        # Whoever puts the file, the effect is this process's.
        claim = claims.Claim(self.holder, path, folder, {**told, "process": traced_process()}, content)
        if not self._claimed(claim) and not claims.was_carried_out(self.effects, claim):
            raise self._lost()
        self.number += 1
        self._requested = told["state"] == "REQUESTED"
        return True

    def _claimed(self, claim: claims.Claim) -> bool:
        """Whether the next number is this claim's; after an error of the put it is looked for.

        Raises:
            OutcomeUnknownError: nobody knows whether the claim of a completed action is there.

        Clauses: LK-002, OW-010.

        """
        assert self.number is not None
        storage, number = self.effects.storage, self.number + 1
        try:
            return claims.put(storage, number, claim)
        except OSError as error:
            try:
                there = claims.is_put(storage, number, claim)
            except OSError as unread:
                if claim.folder or claim.told["state"] != "COMPLETED":
                    raise error from unread
                told = claim.told
                raise OutcomeUnknownError(told["action"], told["requested"], claim.path, str(unread)) from error
            if not there:
                raise
            return claims.numbers(storage)[-1] == number

    def leave(self) -> None:
        """A request that was claimed last is behind its holder: whoever comes next does not put it again.

        Its writer may have withdrawn it by then.

        Clauses: LK-002, OW-009.
        """
        if self.number is not None and self._requested:
            # Where the storage fails, the claim stays on top, as that of a process that died.
            with suppress(OSError):
                claims.put(self.effects.storage, self.number + 1, claims.Claim(self.holder))

    def _lost(self) -> HudiError:
        return lost(self.effects.storage.base, "another process has taken it")

    def overtaken(self) -> bool:
        """Whether somebody has gone on since the last claim.

        Clauses: LK-002.
        """
        return self.number is not None and max(claims.numbers(self.effects.storage), default=0) > self.number

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
        with effects.tell("take_lock", holder=holder):
            pass
        try:
            with fenced(base, holding):
                yield holding
        finally:
            # What was done under the lock is done, or has failed, whatever becomes of the lock now.
            with afterwards("release_lock"):
                holding.leave()
            holding.wait_out(options.number(_SKEW) / 1000)
            with afterwards("release_lock"), effects.tell("release_lock", holder=holder):
                pass


def _entered(
    stack: ExitStack, effects: Effects, options: Options, provider: LockProvider | None, holder: str
) -> Holding:
    """The lock taken, and what its last holder left undone done; `stack` lets it go."""
    refuse_strangers(effects.storage, options, provider.place if provider else "", holder)
    if provider is None:
        return Holding(effects, holder)
    stack.callback(_let_go, provider.close)
    lease = _taken(provider, patience_of(options), holder)
    stack.callback(_let_go, lease.release)
    holding = Holding(effects, holder, lease)
    if provider.leased:
        with fenced(effects.storage.base, holding):
            holding.number = claims.enter(effects, holder)
        holding.confirm()
    return holding


def _let_go(step: Callable[[], None]) -> None:
    with afterwards("release_lock"):
        step()


def _taken(provider: LockProvider, patience: Patience, holder: str) -> Lease:
    """The provider's lock, asked for again and again until patience ends and its holder is known to live.

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
