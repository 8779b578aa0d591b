"""Where a writer's instants come from."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import Final, Protocol

from hudi_spark.errors import HudiError, Reason

_FORM: Final = "%Y%m%d%H%M%S"
_MILLISECOND: Final = timedelta(milliseconds=1)

AHEAD_KEY: Final = "hoodie.time.generator.max_timeline_ahead_ms"


class Clock(Protocol):
    """Generates instants; each is greater than every one before it."""

    def in_zone(self, zone: Callable[[], tzinfo | None]) -> "Clock":
        """The same clock with instants of a time zone, None for that of this computer; `zone` is called when needed.

        Clauses: TM-001.
        """

    def instant(self, after: str = "") -> str:
        """An instant of 17 digits, greater than `after` and than every instant that this clock gave out.

        Raises:
            HudiError: CONFIG_INVALID when the clock went back by more than is waited for.

        """

    def wait_past(self, newest: str) -> None:
        """Returns when the clock shows more than the newest instant of other processes.

        Raises:
            HudiError: CONFIG_INVALID when that would take longer than is waited for.

        Clauses: TM-003, TM-004.

        """

    def refuse_far_ahead(self, newest: str, seconds: float) -> None:
        """Refuses a timeline whose newest instant is more than so many seconds ahead of this clock.

        Raises:
            HudiError: CONFIG_INVALID.

        Clauses: TM-008.

        """


@dataclass(slots=True)
class _Shown:
    """What a clock has shown in any time zone: the newest moment, and by zone the last instant."""

    newest: datetime | None = None
    last: dict[tzinfo | None, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(slots=True)
class SystemClock:
    """The time of this computer, in UTC unless it is put `in_zone`; its instants never go back.

    A clock that goes back is waited for, `patience` seconds at most. An hour that the zone has twice goes on after its
    last instant by milliseconds. `now` and `sleep` are what tests put in place.

    Clauses: TM-001, TM-003, TM-004.
    """

    zone: Callable[[], tzinfo | None] = field(default=lambda: timezone.utc, repr=False)
    patience: float = 5.0
    now: Callable[[], datetime] = field(default=lambda: datetime.now(timezone.utc), repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    _shown: _Shown = field(default_factory=_Shown, repr=False)

    def in_zone(self, zone: Callable[[], tzinfo | None]) -> "SystemClock":
        """The same clock in another time zone: both know what either has shown."""
        return replace(self, zone=cache(zone))

    def instant(self, after: str = "") -> str:
        """The time now, or one millisecond after the last instant where that is later."""
        zone = self.zone()
        with self._shown.lock:
            if self._shown.newest is not None:
                self._wait(self._shown.newest, "than this process has seen before")
            self._shown.newest = self.now()
            now = instant_text(self._shown.newest.astimezone(zone))
            least = max(self._shown.last.get(zone, ""), after)
            self._shown.last[zone] = now if now > least else next_instant(least)
            return self._shown.last[zone]

    def wait_past(self, newest: str) -> None:
        """Returns when this computer's clock shows more; an instant that it has given itself is past."""
        if self._is_past(newest):
            return
        self._wait(self._meant(newest, self.patience) + _MILLISECOND, "than the timeline's newest instant")

    def refuse_far_ahead(self, newest: str, seconds: float) -> None:
        """A timeline that another clock has led further than `seconds` into the future is not gone on with."""
        if self._is_past(newest):
            return
        ahead = (self._meant(newest, seconds) - self.now()).total_seconds()
        if ahead > seconds:
            message = f"the timeline's newest instant, {newest}, is {ahead:.1f} s after the clock of this computer"
            hint = f"set the clock that is wrong, here or where it was written; {AHEAD_KEY} allows {seconds * 1000:.0f}"
            raise HudiError(Reason.CONFIG_INVALID, "TM-008", message, hint=hint)

    def _is_past(self, newest: str) -> bool:
        zone = self.zone()
        return newest < max(self._shown.last.get(zone, ""), instant_text(self.now().astimezone(zone)))

    def _meant(self, newest: str, patience: float) -> datetime:
        """The moment of an instant in the clock's time zone, in UTC or the local one where it would lie far ahead.

        Some writers take instants in another time zone than the table states.
        """
        digits, within = _moment(newest).replace(tzinfo=None), self.now() + timedelta(seconds=patience)
        moments = [_in(digits, zone) for zone in (self.zone(), timezone.utc, None)]
        return next((one for one in moments if one <= within), moments[0])

    def _wait(self, until: datetime, than: str) -> None:
        """Clauses: TM-004."""
        behind = (until - self.now()).total_seconds()
        if behind > self.patience:
            hint = "set this computer's clock, or wait until it has caught up"
            message = f"the clock of this computer shows {behind:.1f} s less {than}"
            raise HudiError(Reason.CONFIG_INVALID, "TM-004", message, hint=hint)
        if behind > 0:
            self.sleep(behind)


@dataclass(slots=True)
class SetClock:
    """A clock that stands still until asked: instants follow one another by a millisecond, from `now` on."""

    now: str
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def in_zone(self, _zone: Callable[[], tzinfo | None]) -> "SetClock":
        """The same clock: its instants are digits of no zone."""
        return self

    def instant(self, after: str = "") -> str:
        """The next instant."""
        with self._lock:
            found = max(self.now, next_instant(after)) if after else self.now
            self.now = next_instant(found)
            return found

    def wait_past(self, newest: str) -> None:
        """Nothing: this clock goes on as it is asked."""

    def refuse_far_ahead(self, newest: str, seconds: float) -> None:
        """Nothing: this clock is no one's."""


def instant_text(moment: datetime) -> str:
    """A moment as an instant of 17 digits.

    Clauses: TM-001.
    """
    return f"{moment.strftime(_FORM)}{moment.microsecond // 1000:03d}"


def next_instant(instant: str) -> str:
    """The instant one millisecond later; of more than 17 digits the first 17 count.

    Raises:
        HudiError: INSTANT_MALFORMED.

    Clauses: TM-001.

    """
    try:
        return instant_text(_moment(instant) + _MILLISECOND)
    except OverflowError as error:
        hint = "look at the timeline for a file that is named so: there is no time after it"
        raise HudiError(
            Reason.INSTANT_MALFORMED, "TM-001", f"{instant} is the last of all moments", hint=hint
        ) from error


def milliseconds_of(instant: str) -> int:
    """An instant as milliseconds since 1970, by UTC.

    Clauses: TM-001.
    """
    return round(_moment(instant).timestamp() * 1000)


def _in(digits: datetime, zone: tzinfo | None) -> datetime:
    """The moment of a wall clock's digits, the earlier one of two."""
    return (digits.astimezone() if zone is None else digits.replace(tzinfo=zone)).astimezone(timezone.utc)


def _moment(instant: str) -> datetime:
    """Clauses: TM-001."""
    padded = (instant + "999")[:17] if len(instant) == len("yyyyMMddHHmmss") else instant[:17]
    try:
        return datetime.strptime(padded[:14], _FORM).replace(microsecond=int(padded[14:17]) * 1000, tzinfo=timezone.utc)
    except ValueError as error:
        hint = "look at the timeline for a file that is named so: no writer of Hudi made it"
        raise HudiError(Reason.INSTANT_MALFORMED, "TM-001", f"{instant!r} is no moment", hint=hint) from error
