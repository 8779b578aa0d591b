"""Instants: how times are written and compared, and how processes come by times that never collide."""

import datetime as dt
from dataclasses import dataclass
from typing import NewType

from hudi_model.rejection import Reason, Rejection

InstantTime = NewType("InstantTime", str)
"""Decimal digits, compared as text."""

EPOCH = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
"""Where the explorer's tick 0 lies."""

SECONDS_DIGITS = 14
"""The old form: yyyyMMddHHmmss."""

MILLISECONDS_DIGITS = 17
"""The current form: yyyyMMddHHmmssSSS."""


def tick(number: int) -> InstantTime:
    """The instant `number` milliseconds after the first of January 2025."""
    return instant_of(EPOCH + dt.timedelta(milliseconds=number))


def instant_of(moment: dt.datetime) -> InstantTime:
    """A moment as an instant of 17 digits."""
    return InstantTime(moment.strftime("%Y%m%d%H%M%S") + f"{moment.microsecond // 1000:03d}")


def is_instant(text: str) -> bool:
    """Whether a text is an instant: ASCII digits and nothing else, of any length.

    Clauses: TM-001.
    """
    return text.isascii() and text.isdigit()


def compare(left: InstantTime, right: InstantTime) -> int:
    """Negative, zero or positive, as text compares: a prefix comes before what it begins.

    Clauses: TM-001, TL-024.
    """
    return (left > right) - (left < right)


def at_or_before(left: InstantTime, right: InstantTime) -> bool:
    """Whether `left` is not later than `right`."""
    return compare(left, right) <= 0


def query_instant(text: str) -> InstantTime:
    """The instant that a question names, in 17 digits; 14 digits name the last millisecond of their second.

    Raises: INSTANT_MALFORMED where it is neither, or no moment of the calendar.

    Clauses: TM-001, TM-002.
    """
    if is_instant(text) and len(text) in (SECONDS_DIGITS, MILLISECONDS_DIGITS):
        moment_of(InstantTime(text))
        return widen(InstantTime(text))
    raise Rejection(Reason.INSTANT_MALFORMED, "TM-001", "as_of", f"{text!r} is not 14 or 17 digits")


def widen(instant: InstantTime) -> InstantTime:
    """The moment an instant stands for, in 17 digits: the old form means the last millisecond of its second.

    Clauses: TM-002.
    """
    return InstantTime(instant + "999") if len(instant) == SECONDS_DIGITS else instant


def moment_of(instant: InstantTime) -> dt.datetime:
    """The moment an instant stands for, in the table's own zone.

    Raises: INSTANT_MALFORMED where the digits are no date.

    Clauses: TM-002.
    """
    digits = widen(instant)
    try:
        seconds = dt.datetime.strptime(digits[:SECONDS_DIGITS], "%Y%m%d%H%M%S").replace(tzinfo=dt.UTC)
        return seconds + dt.timedelta(milliseconds=int(digits[SECONDS_DIGITS:MILLISECONDS_DIGITS]))
    except ValueError:
        raise Rejection(Reason.INSTANT_MALFORMED, "TM-002", instant, "the digits are no date") from None


def generate_shared(last: InstantTime | None, now: InstantTime) -> InstantTime:
    """The next time of one generator that all processes share: its clock, pushed past the last time it gave.

    Clauses: TM-003.
    """
    if last is None or last < now:
        return now
    return instant_of(moment_of(last) + dt.timedelta(milliseconds=1))


def refuse_far_ahead(newest: InstantTime | None, now: InstantTime, bound: int) -> None:
    """A writer goes on after a timeline's newest instant when that is at most `bound` milliseconds after its clock.

    Clauses: TM-008.
    """
    if newest is None:
        return
    ahead = moment_of(newest) - moment_of(now)
    if ahead > dt.timedelta(milliseconds=bound):
        raise Rejection(Reason.CONFIG_INVALID, "TM-008", newest, f"{ahead} after the clock, which shows {now}")


@dataclass(frozen=True, slots=True)
class Generation:
    """A time taken from a local clock, and the true tick at which its taker may let go of the lock."""

    instant: InstantTime
    released: int


def generate_waiting(true_tick: int, skew: int, bound: int) -> Generation:
    """A time from a clock that runs `skew` off, inside a lock that is held until the uncertainty has passed.

    Any two clocks differ by `bound` milliseconds at most.
    Whoever takes the lock at or after `released` reads a later time, however slow its clock.

    Clauses: TM-003, TM-004.
    """
    return Generation(tick(true_tick + skew), true_tick + uncertainty(bound))


def uncertainty(bound: int) -> int:
    """How long to hold the lock: the greatest difference of two clocks, and one tick more so that times differ.

    Clauses: TM-004.
    """
    return bound + 1


def generate_in_turn(arrivals: tuple[tuple[int, int], ...], bound: int) -> tuple[InstantTime, ...]:
    """The times that processes get which arrive at true ticks with skewed clocks and take one lock in turn.

    Clauses: TM-003, TM-005.
    """
    free_at = 0
    instants = []
    for arrival, skew in sorted(arrivals):
        generation = generate_waiting(max(arrival, free_at), skew, bound)
        free_at = generation.released
        instants.append(generation.instant)
    return tuple(instants)
