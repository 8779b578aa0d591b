"""Instants as callers write them become the digits of a timeline.

digits        yyyyMMddHHmmssSSS, or yyyyMMddHHmmss for the end of that second
text          yyyy-MM-dd HH:mm:ss[.SSS], yyyy-MM-dd for its midnight; in the timeline's time zone unless it has its own
values        `datetime` and `date`: with a time zone converted to the timeline's, without one in the timeline's
"""

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, overload

from hudi_format.compat import datetime_of
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason, boundary
from hudi_spark.table_state.configuration import TableConfiguration, load_configuration

InstantLike = str | dt.date
"""Digits, text of a date or a time, `datetime` (which is a `date`), or `date`."""

EARLIEST: Final = "earliest"
"""The begin of a range that is open there."""

_SECOND_DIGITS: Final = 14
_MILLISECOND_DIGITS: Final = 17
# What a bootstrap's commits have for a time: of meta fields alone, and of whole records.
_BOOTSTRAPS: Final = ("00000000000001", "00000000000002")
_ZONE_KEY: Final = "hoodie.table.timeline.timezone"
_TEXT: Final = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?", re.ASCII | re.IGNORECASE
)


def as_of_time(text: str | None) -> str | None:
    """The instant that digits name, in 17 of them.

    Raises:
        HudiError: INSTANT_MALFORMED.

    Clauses: TM-001, TM-002.

    """
    if text is None or text in _BOOTSTRAPS:
        return text
    if not isinstance(text, str) or not text.isascii() or not text.isdigit():
        raise _no_instant(f"{text!r:.60} is no instant")
    if len(text) not in (_SECOND_DIGITS, _MILLISECOND_DIGITS):
        raise _no_instant(f"{text!r:.60} has {len(text)} digits, an instant has 14 or 17")
    try:
        dt.datetime.strptime(text[:_SECOND_DIGITS], "%Y%m%d%H%M%S").replace(tzinfo=dt.timezone.utc)
    except ValueError as error:
        raise _no_instant(f"{text!r} is no moment of the calendar") from error
    # The 14-digit form names the last millisecond of its second.
    return text if len(text) == _MILLISECOND_DIGITS else f"{text}999"


def is_open(begin: object) -> bool:
    """Whether the begin of a range leaves it open: `earliest`, or nothing but zeros.

    Clauses: IN-002.
    """
    return begin == EARLIEST or (isinstance(begin, str) and begin != "" and not begin.strip("0"))


@dataclass(frozen=True, slots=True)
class GivenInstants:
    """The digits of instants that callers of the public functions of a table wrote, None for none.

    `storage`: as of `instant_digits`. `table`: what errors name.

    Raises:
        HudiError: as `instant_digits`.

    Clauses: TM-001, TM-002.

    """

    storage: Callable[[], Storage]
    table: object = ""

    @overload
    def __call__(self, given: InstantLike) -> str: ...

    @overload
    def __call__(self, given: InstantLike | None) -> str | None: ...

    def __call__(self, given: InstantLike | None) -> str | None:
        """The digits of one."""
        with boundary(self.table):
            return None if given is None else instant_digits(given, self.storage)


def instant_digits(given: InstantLike, storage: Callable[[], Storage]) -> str:
    """The digits of an instant that a caller wrote; digits and `earliest` stay as they are.

    `storage` opens the table, whose properties say which time zone its timeline has; it is called only for what has a
    time zone of its own. Text of whole seconds names the first millisecond of the second, a date its midnight, as in
    released implementations; what is finer than milliseconds is cut off.

    Raises:
        HudiError: INSTANT_MALFORMED for text or a value that names no moment; the reasons of a refused table.

    Clauses: TM-001, TM-002.

    """
    if isinstance(given, str):
        if given.isdigit() or given == EARLIEST:
            return given
        given = _moment_of(given)
    if isinstance(given, dt.datetime):
        return _of_moment(given, storage)
    if isinstance(given, dt.date):
        return _of_moment(dt.datetime.combine(given, dt.time()), storage)
    raise _no_instant(f"{given!r:.60} is a {type(given).__name__}, no instant")


def _moment_of(text: str) -> dt.datetime:
    if not _TEXT.fullmatch(text):
        raise _no_instant(f"{text!r:.60} is no instant")
    try:
        return datetime_of(text.upper())
    except ValueError as error:
        raise _no_instant(f"{text!r:.60} is no moment of the calendar") from error


def _of_moment(moment: dt.datetime, storage: Callable[[], Storage]) -> str:
    if moment.utcoffset() is not None:
        try:
            moment = moment.astimezone(timeline_zone(load_configuration(storage())))
        except (OverflowError, ValueError) as error:
            raise _no_instant(f"{moment} is outside of the calendar in the timeline's time zone") from error
    # `strftime` does not fill years before 1000 with zeros.
    return f"{moment.year:04d}{moment:%m%d%H%M%S}{moment.microsecond // 1000:03d}"


def timeline_zone(configuration: TableConfiguration) -> dt.tzinfo | None:
    """The time zone of a table's timeline: UTC, or None for that of this computer.

    Clauses: TM-001.
    """
    return dt.timezone.utc if configuration.properties.get(_ZONE_KEY, "").strip().upper() == "UTC" else None


def _no_instant(message: str) -> HudiError:
    hint = (
        "give yyyyMMddHHmmssSSS or yyyyMMddHHmmss, 'yyyy-MM-dd HH:mm:ss[.SSS]', 'yyyy-MM-dd', ISO 8601 with a time "
        "zone such as '2025-01-31T12:00:00+01:00', a datetime or a date; where a range begins also 'earliest'"
    )
    return HudiError(Reason.INSTANT_MALFORMED, "TM-001", message, hint=hint)
