"""Patterns of dates as Joda-Time reads them: `yyyy/MM/dd`, `'year='yyyy`, `yyyyMMddHHmmssSSSZ`.

Built is what a partition path can sensibly have; names are English. Moments are milliseconds since 1970.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.expressions.date_patterns import Part

DAY_MILLISECONDS: Final = 86_400_000
_HOUR, _MINUTE, _SECOND = 3_600_000, 60_000, 1_000
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_TOKEN: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_NUMBERS: Final = "yMdHmsS"
# The finest first: how many milliseconds two moments may differ by and still be written alike.
_STEPS: Final = (("S", 1), ("s", _SECOND), ("m", _MINUTE), ("HhkKa", _HOUR))
_FORMATTED: Final = frozenset("yYxCGMdDweEaHhkKmsSZ")


@lru_cache(maxsize=64)
def parts_of(pattern: str) -> tuple[Part, ...]:
    """The parts of a pattern.

    Raises:
        UnsupportedFeature: a quote that does not end.

    """
    parts: list[Part] = []
    at = 0
    while at < len(pattern):
        found = _TOKEN.match(pattern, at)
        if found is None:
            raise UnsupportedFeature("date-pattern", pattern)
        at = found.end()
        text, letter, quoted = found.group(0), found.group(2), found.group(1)
        if letter is not None:
            parts.append(Part(letter, len(text)))
        else:
            parts.append(Part("", 0, text if quoted is None else quoted.replace("''", "'") or "'"))
    return tuple(parts)


def check_output(pattern: str) -> None:
    """Nothing when moments can be written by a pattern.

    Raises:
        UnsupportedFeature: letters that are not built: names of zones.

    """
    for part in parts_of(pattern):
        if part.letter and (part.letter not in _FORMATTED or (part.letter == "Z" and part.width > 2)):
            raise UnsupportedFeature("date-pattern", pattern)


def step_of(pattern: str) -> int:
    """Milliseconds within which all moments of a zone without daylight saving are written alike."""
    letters = {part.letter for part in parts_of(pattern)}
    return next((step for fine, step in _STEPS if letters & set(fine)), DAY_MILLISECONDS)


def formatted(local: int, offset: int, pattern: str) -> str:
    """A moment as text: `local` is its wall clock and `offset` that of the zone, both in milliseconds."""
    clock = _Clock(local, offset)
    return "".join(part.text if not part.letter else clock.text(part) for part in parts_of(pattern))


class _Clock:
    """A date and a time of day; years before 1 are 0, -1 ..."""

    def __init__(self, local: int, offset: int) -> None:
        self._offset = offset
        self._days, of_day = divmod(local, DAY_MILLISECONDS)
        self.year, self._month, self._day = civil(self._days)
        self._hour, of_hour = divmod(of_day, _HOUR)
        self._minute, of_minute = divmod(of_hour, _MINUTE)
        self._second, self._fraction = divmod(of_minute, _SECOND)

    def text(self, part: Part) -> str:
        """One part."""
        letter, width = part.letter, part.width
        if letter in "yYxC":
            return self._year_text(letter, width)
        if letter == "S":
            return f"{self._fraction:03d}".ljust(width, "0")[:width]
        if letter in "GEaZ" or (letter == "M" and width > 2):
            return self._name(letter, width)
        return _padded(self._number(letter), width)

    def _number(self, letter: str) -> int:
        numbers: dict[str, Callable[[], int]] = {
            "M": lambda: self._month,
            "d": lambda: self._day,
            "D": lambda: self._days - days_from(self.year, 1, 1) + 1,
            "w": lambda: self._week()[1],
            "e": lambda: self._weekday() + 1,
            "H": lambda: self._hour,
            "k": lambda: self._hour or 24,
            "K": lambda: self._hour % 12,
            "h": lambda: self._hour % 12 or 12,
            "m": lambda: self._minute,
            "s": lambda: self._second,
        }
        return numbers[letter]()

    def _year_text(self, letter: str, width: int) -> str:
        era = self.year if self.year > 0 else 1 - self.year
        if letter == "C":
            return _padded(era // 100, width)
        year = {"y": self.year, "Y": era, "x": self._week()[0]}[letter]
        return _padded(abs(year) % 100, 2) if width == 2 else _padded(year, width)

    def _name(self, letter: str, width: int) -> str:
        if letter == "G":
            return "AD" if self.year > 0 else "BC"
        if letter == "a":
            return "AM" if self._hour < 12 else "PM"
        if letter == "Z":
            return _offset_text(self._offset, colon=width == 2)
        name = _MONTHS[self._month - 1] if letter == "M" else _DAYS[self._weekday()]
        return name if width > 3 else name[:3]

    def _weekday(self) -> int:
        return (self._days + 3) % 7

    def _week(self) -> tuple[int, int]:
        """The ISO week's year and its number."""
        thursday = self._days - self._weekday() + 3
        year = civil(thursday)[0]
        return year, (thursday - days_from(year, 1, 1)) // 7 + 1


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970, in the Gregorian calendar before its time, too."""
    era, of_era = divmod(days + 719_468, 146_097)
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def days_from(year: int, month: int, day: int) -> int:
    """The day since 1970 of a date."""
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _padded(number: int, width: int) -> str:
    return f"{'-' if number < 0 else ''}{str(abs(number)).rjust(width, '0')}"


def _offset_text(offset: int, *, colon: bool) -> str:
    hours, minutes = divmod(abs(offset) // _MINUTE, 60)
    return f"{'-' if offset < 0 else '+'}{hours:02d}{':' if colon else ''}{minutes:02d}"


def expression_of(pattern: str) -> str:
    """The regular expression that texts of a pattern match, with a group for each letter.

    A number that another number follows has as many digits as letters; else it may have more or fewer.

    Raises:
        UnsupportedFeature: letters that are not built: names, weeks, years of two digits.

    """
    parts = parts_of(pattern)
    letters = [part.letter for part in parts if part.letter]
    odd = any(part.letter == "y" and part.width == 2 for part in parts)
    if (
        odd
        or len(set(letters)) != len(letters)
        or any(part.letter not in ("", "Z") and not _is_number(part) for part in parts)
    ):
        raise UnsupportedFeature("date-pattern", pattern)
    following = [*parts[1:], Part("", 0)]
    return "^" + "".join(_expression(part, after) for part, after in zip(parts, following, strict=True)) + "$"


def _is_number(part: Part) -> bool:
    return part.letter in _NUMBERS and not (part.letter == "M" and part.width > 2)


def _expression(part: Part, after: Part) -> str:
    if not part.letter:
        return re.escape(part.text)
    if part.letter == "Z":
        return r"(?P<Z>Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
    if part.letter == "S":
        return rf"(?P<S>[0-9]{{1,{part.width}}})"
    if after.letter and _is_number(after):
        return rf"(?P<{part.letter}>[0-9]{{{part.width}}})"
    return rf"(?P<{part.letter}>{'-?[0-9]{1,9}' if part.letter == 'y' else '[0-9]{1,9}'})"


def groups_of(pattern: str) -> Sequence[str]:
    """The letters of a pattern, which are the groups of its expression."""
    return [part.letter for part in parts_of(pattern) if part.letter]
