"""Instants: how times are written and compared."""

import datetime as dt
from typing import NewType

from hudi_model.rejection import Reason, Rejection

InstantTime = NewType("InstantTime", str)
"""Decimal digits, compared as text."""

EPOCH = dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc)
"""Where the explorer's tick 0 lies."""

SECONDS_DIGITS = 14
"""The old form: yyyyMMddHHmmss."""

BOOTSTRAPS = ("00000000000001", "00000000000002")
"""The instants of a bootstrap, of meta fields alone and of whole rows; they are no moments."""

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
        seconds = dt.datetime.strptime(digits[:SECONDS_DIGITS], "%Y%m%d%H%M%S").replace(tzinfo=dt.timezone.utc)
        return seconds + dt.timedelta(milliseconds=int(digits[SECONDS_DIGITS:MILLISECONDS_DIGITS]))
    except ValueError:
        raise Rejection(Reason.INSTANT_MALFORMED, "TM-002", instant, "the digits are no date") from None
