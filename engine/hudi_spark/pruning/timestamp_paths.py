"""Partition paths that a timestamp generator wrote: the range of numbers that leads to one path.

Clauses: DM-033.
"""

import calendar
import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_PREFIXES: Final = (
    "hoodie.keygen.timebased.",
    "hoodie.deltastreamer.keygen.timebased.",
    "hoodie.streamer.keygen.timebased.",
)
_UNITS: Final = {
    "UNIX_TIMESTAMP": 1,
    "EPOCHMILLISECONDS": 1_000,
    "EPOCHMICROSECONDS": 1_000_000,
}
_SCALARS: Final = {"SECONDS": 1, "MILLISECONDS": 1_000, "MICROSECONDS": 1_000_000}
_LETTERS: Final = {"yyyy": "year", "MM": "month", "dd": "day", "HH": "hour"}
_FIRST: Final = (("year", 1970), ("month", 1), ("day", 1), ("hour", 0))
_ORDER: Final = ("year", "month", "day", "hour")
_TOKEN: Final = re.compile(r"yyyy|MM|dd|HH|hh|[^A-Za-z']+|'[^']*'|.")
_UTC: Final = ("", "UTC", "GMT", "Z", "Etc/UTC", "GMT+0:00", "UTC+0:00")


@dataclass(frozen=True, slots=True)
class TimestampPaths:
    """How paths are read.

    `expression` matches a path; `fields` are the parts of the date that it has, coarsest first; `scale` is how many
    of the column's units a second has.
    """

    expression: re.Pattern[str]
    fields: tuple[str, ...]
    scale: int

    def bounds(self, text: str) -> tuple[int, int] | None:
        """The least and the greatest number whose moment is written so, or None."""
        found = self.expression.fullmatch(text)
        if found is None:
            return None
        try:
            year, month, day, hour = (int(found[name]) if name in self.fields else at for name, at in _FIRST)
            begin = dt.datetime(year, month, day, hour, tzinfo=dt.UTC)
            end = begin + self._length(begin)
        except (ValueError, OverflowError):
            return None
        least, beyond = (calendar.timegm(one.timetuple()) for one in (begin, end))
        # Writers round fractions of a second towards zero: before 1970 that is up.
        return (least - (least <= 0)) * self.scale, beyond * self.scale - 1

    def _length(self, begin: dt.datetime) -> dt.timedelta:
        finest = self.fields[-1]
        if finest == "year":
            return dt.timedelta(days=366 if calendar.isleap(begin.year) else 365)
        if finest == "month":
            return dt.timedelta(days=calendar.monthrange(begin.year, begin.month)[1])
        return dt.timedelta(days=1) if finest == "day" else dt.timedelta(hours=1)


def timestamp_paths(properties: Mapping[str, str]) -> TimestampPaths | None:
    """How numbers became paths, where that is a range of numbers for each path: in UTC, by year, month, day, hour."""
    scale = _scale(properties)
    zones = (time_setting(properties, "timezone"), time_setting(properties, "output.timezone"))
    if scale is None or any(zone not in _UTC for zone in zones):
        return None
    tokens = _TOKEN.findall(time_setting(properties, "output.dateformat"))
    pieces = [_piece(token) for token in tokens]
    fields = tuple(_LETTERS[token] for token in tokens if token in _LETTERS)
    if not fields or None in pieces or sorted(fields, key=_ORDER.index) != list(_ORDER[: len(fields)]):
        return None
    ordered = tuple(sorted(fields, key=_ORDER.index))
    return TimestampPaths(re.compile("".join(piece for piece in pieces if piece is not None)), ordered, scale)


def _scale(properties: Mapping[str, str]) -> int | None:
    kind = time_setting(properties, "timestamp.type").upper()
    if kind == "SCALAR":
        return _SCALARS.get(time_setting(properties, "timestamp.scalar.time.unit").upper())
    return _UNITS.get(kind)


def _piece(word: str) -> str | None:
    if word in _LETTERS:
        return f"(?P<{_LETTERS[word]}>[0-9]{{{len(word)}}})"
    if word.startswith("'") and len(word) > 1:
        return re.escape(word[1:-1])
    return None if word[0].isalpha() or word == "'" else re.escape(word)


def time_setting(properties: Mapping[str, str], key: str) -> str:
    """A setting of the timestamp key generator, under whichever of its names it is given; empty where it is not."""
    return next((properties[prefix + key].strip() for prefix in _PREFIXES if prefix + key in properties), "")
