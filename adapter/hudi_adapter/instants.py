"""Instants as the protocol writes them: 17 digits to the millisecond, or 14 to the second."""

import datetime as dt

MILLISECOND_DIGITS = 17
SECOND_DIGITS = 14


class InstantFormError(ValueError):
    """A text that is no instant."""


def normal_instant(text: object) -> str:
    """The 17-digit form; the 14-digit form names the last millisecond of its second.

    Raises:
        InstantFormError: not 14 or 17 digits, or no moment of the calendar.

    Clauses: TM-001, TM-002.

    """
    if not isinstance(text, str) or not text.isascii() or not text.isdigit():
        raise InstantFormError(f"{text!r:.60} is no instant: 14 or 17 digits")
    if len(text) not in {SECOND_DIGITS, MILLISECOND_DIGITS}:
        raise InstantFormError(f"{text!r:.60} has {len(text)} digits, an instant has 14 or 17")
    _moment(text[:SECOND_DIGITS], text)
    return text if len(text) == MILLISECOND_DIGITS else f"{text}999"


def _moment(seconds: str, text: str) -> dt.datetime:
    try:
        return dt.datetime.strptime(seconds, "%Y%m%d%H%M%S").replace(tzinfo=dt.timezone.utc)
    except ValueError as error:
        raise InstantFormError(f"{text!r} is no moment of the calendar") from error
