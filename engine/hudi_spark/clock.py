"""Where a writer's instants come from."""

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol

_FORM: Final = "%Y%m%d%H%M%S"
_MILLISECOND: Final = timedelta(milliseconds=1)


class Clock(Protocol):
    """Generates instants; each is greater than every one before it."""

    def instant(self, after: str = "") -> str:
        """An instant of 17 digits, greater than `after` and than every instant that this clock gave out."""


@dataclass(slots=True)
class SystemClock:
    """The time of this computer in the table's time zone; it never goes back.

    Clauses: TM-001, TM-003.
    """

    zone: tzinfo | None = UTC
    _last: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def instant(self, after: str = "") -> str:
        """The time now, or one millisecond after the last instant where that is later."""
        with self._lock:
            now = instant_text(datetime.now(UTC).astimezone(self.zone))
            least = max(self._last, after)
            self._last = now if now > least else next_instant(least)
            return self._last


@dataclass(slots=True)
class SetClock:
    """A clock that stands still until asked: instants follow one another by a millisecond, from `now` on."""

    now: str
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def instant(self, after: str = "") -> str:
        """The next instant."""
        with self._lock:
            found = max(self.now, next_instant(after)) if after else self.now
            self.now = next_instant(found)
            return found


def instant_text(moment: datetime) -> str:
    """A moment as an instant of 17 digits.

    Clauses: TM-001.
    """
    return f"{moment.strftime(_FORM)}{moment.microsecond // 1000:03d}"


def next_instant(instant: str) -> str:
    """The instant one millisecond later; of more than 17 digits the first 17 count.

    Clauses: TM-001.
    """
    return instant_text(_moment(instant) + _MILLISECOND)


def milliseconds_of(instant: str) -> int:
    """An instant as milliseconds since 1970, by UTC.

    Clauses: TM-001.
    """
    return round(_moment(instant).timestamp() * 1000)


def _moment(instant: str) -> datetime:
    padded = (instant + "999")[:17] if len(instant) == len("yyyyMMddHHmmss") else instant[:17]
    return datetime.strptime(padded[:14], _FORM).replace(microsecond=int(padded[14:17]) * 1000, tzinfo=UTC)
