"""Instants as a reader of a picture needs them: where they stand in time and how they are written on an axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

SECONDS_DIGITS = 14
MILLIS_DIGITS = 17
COMPLETED = "COMPLETED"
INFLIGHT = "INFLIGHT"


@dataclass(frozen=True, slots=True)
class Drawn:
    """One instant of a `list_timeline` answer, ready to be drawn."""

    requested: str
    completed: str | None
    action: str
    state: str

    @property
    def is_complete(self) -> bool:
        """Whether the action took effect."""
        return self.state == COMPLETED

    @property
    def moments(self) -> tuple[str, ...]:
        """The one or two points in time that the instant names."""
        return (self.requested,) if self.completed is None else (self.requested, self.completed)


def drawn_instants(timeline: Sequence[Mapping[str, Any]]) -> tuple[Drawn, ...]:
    """The instants of a `list_timeline` answer, in the order of their request; any value is taken as text."""
    instants = [
        Drawn(
            requested=str(entry.get("requested", "")),
            completed=None if entry.get("completed") is None else str(entry["completed"]),
            action=str(entry.get("action", "")),
            state=str(entry.get("state", "")),
        )
        for entry in timeline
    ]
    return tuple(sorted(instants, key=lambda instant: order_of(instant.requested)))


def order_of(moment: str) -> str:
    """The text by which a moment is compared: digits, the seconds form at the end of its second.

    Clauses: TM-001, TM-002.
    """
    return moment + "999" if len(moment) == SECONDS_DIGITS and moment.isdecimal() else moment


def clock_time(moment: str) -> datetime | None:
    """The calendar time of a moment, or None where it names none (a bootstrap instant, a damaged name)."""
    digits = order_of(moment)
    if not (digits.isascii() and digits.isdecimal() and len(digits) >= MILLIS_DIGITS):
        return None
    try:
        seconds = datetime.strptime(digits[:SECONDS_DIGITS], "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return seconds + timedelta(milliseconds=int(digits[SECONDS_DIGITS:MILLIS_DIGITS]))


def readable(moment: str) -> str:
    """A moment in full, as people write times: `2025-01-01 00:00:01.000`, or its own text where it is no time."""
    time = clock_time(moment)
    if time is None:
        return moment
    written = f"{time:%Y-%m-%d %H:%M:%S}"
    return written if len(moment) == SECONDS_DIGITS else f"{written}.{time.microsecond // 1000:03d}"


def day_of(moment: str) -> str:
    """The calendar day of a moment, empty where it names none."""
    time = clock_time(moment)
    return "" if time is None else f"{time:%Y-%m-%d}"


def axis_text(moment: str, day: str, *, fine: bool) -> str:
    """A short label: the clock, milliseconds when `fine`, and the date unless it is the given `day`."""
    time = clock_time(moment)
    if time is None:
        return shortened(moment, 14)
    clock = f"{time:%H:%M:%S}" + (f".{time.microsecond // 1000:03d}" if fine else "")
    return clock if day_of(moment) == day else f"{time:%m-%d} {clock}"


def elapsed(first: str, second: str) -> timedelta | None:
    """The time between two moments, or None where one of them is no time."""
    start, end = clock_time(first), clock_time(second)
    return None if start is None or end is None else end - start


def elapsed_text(span: timedelta) -> str:
    """A span in its greatest fitting unit: `250 ms`, `4 s`, `12 min`, `3 h`, `5 d`."""
    seconds = span.total_seconds()
    if abs(seconds) < 1:
        return f"{round(seconds * 1000)} ms"
    for unit, size, limit in (("s", 1, 120), ("min", 60, 90), ("h", 3600, 48)):
        if abs(seconds) < size * limit:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 86400:.3g} d"


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis where it is longer than the limit."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
