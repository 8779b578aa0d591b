"""Moments as text by a pattern such as `yyyy-MM-dd HH:mm:ss`, and back, as Spark's formatter reads patterns.

Built are the numeric letters y M d H m s S and quoted text; other letters depend on language or calendar.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.expressions.calendar import days_of, floor_divided, nulled, year_of

DEFAULT_PATTERN: Final = "yyyy-MM-dd HH:mm:ss"
DAY_MICROSECONDS: Final = 86_400_000_000
_WIDTHS: Final = {"y": (1, 2, 4), "M": (1, 2), "d": (1, 2), "H": (1, 2), "m": (1, 2), "s": (1, 2)}
_FRACTION_DIGITS: Final = 9
_PART: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
# Spark's formatter gives these a meaning or refuses them.
_RESERVED: Final = frozenset("[]{}#")


@dataclass(frozen=True, slots=True)
class Part:
    """A letter and how often it stands, or literal text where the letter is empty."""

    letter: str
    width: int
    text: str = ""


@lru_cache(maxsize=64)
def parts_of(pattern: str) -> tuple[Part, ...]:
    """The parts of a pattern.

    Raises:
        UnsupportedFeature: letters that are not built.

    """
    parts: list[Part] = []
    at = 0
    while at < len(pattern):
        found = _PART.match(pattern, at)
        if found is None or found.group(0) in _RESERVED:
            raise UnsupportedFeature("date-pattern", pattern)
        at = found.end()
        parts.append(_part(found, pattern))
    return tuple(parts)


def _part(found: re.Match[str], pattern: str) -> Part:
    text, letter = found.group(0), found.group(2)
    if letter is None:
        quoted = found.group(1)
        return Part("", 0, text if quoted is None else quoted.replace("''", "'") or "'")
    known = len(text) <= _FRACTION_DIGITS if letter == "S" else len(text) in _WIDTHS.get(letter, ())
    if not known:
        raise UnsupportedFeature("date-pattern", pattern)
    return Part(letter, len(text))


def formatted(moments: Any, pattern: str) -> Any:
    """Microseconds since 1970 as text."""
    values = _Fields(moments)
    texts = [values.text(part) for part in parts_of(pattern)]
    if not texts:
        return pc.if_else(pc.is_valid(moments), "", pa.scalar(None, pa.string()))
    present = pc.if_else(pc.is_valid(moments), "", pa.scalar(None, pa.string()))
    return pc.binary_join_element_wise(present, *texts, "")


class _Fields:
    """The calendar fields of moments."""

    def __init__(self, moments: Any) -> None:
        self._moments = moments
        self._stamps = pc.cast(moments, pa.timestamp("us"))

    def text(self, part: Part) -> Any:
        """One part of the formatted text."""
        if not part.letter:
            return part.text
        if part.letter == "S":
            return self._fraction(part.width)
        if part.letter == "y":
            return self._year(part.width)
        parts = {"M": pc.month, "d": pc.day, "H": pc.hour, "m": pc.minute, "s": pc.second}
        return _padded(parts[part.letter](self._stamps), part.width)

    def _year(self, width: int) -> Any:
        """Years before 1 are 0, -1 ...; beyond four digits a sign stands before them, too."""
        days = floor_divided(self._moments, DAY_MICROSECONDS)
        year = year_of(pc.cast(pc.cast(days, pa.int32()), pa.date32()))
        size = pc.abs(year)
        if width == 2:
            return _padded(pc.subtract(size, pc.multiply(pc.divide(size, 100), 100)), 2)
        beyond = pc.if_else(pc.greater(year, 9999), "+", "") if width == 4 else ""
        sign = pc.if_else(pc.less(year, 0), "-", beyond)
        return pc.binary_join_element_wise(sign, _padded(size, width), "")

    def _fraction(self, width: int) -> Any:
        whole = floor_divided(self._moments, 1_000_000)
        digits = _padded(pc.subtract(self._moments, pc.multiply(whole, 1_000_000)), 6)
        return pc.utf8_slice_codeunits(pc.binary_join_element_wise(digits, "000", ""), 0, width)


def _padded(numbers: Any, width: int) -> Any:
    return pc.utf8_lpad(pc.cast(numbers, pa.string()), width, "0")


def parsed(texts: Any, pattern: str) -> Any:
    """Microseconds since 1970 that texts stand for; null where a text does not fit the pattern.

    Raises:
        UnsupportedFeature: letters, or combinations of them, that are not built.

    """
    parts = parts_of(pattern)
    letters = [part.letter for part in parts if part.letter]
    if len(set(letters)) != len(letters) or any(part.letter == "y" and part.width == 2 for part in parts):
        raise UnsupportedFeature("date-pattern", pattern)
    found = pc.extract_regex(texts, "^" + "".join(_expression(part) for part in parts) + "$")
    values = {letter: pc.struct_field(found, letter) for letter in letters}
    numbers = {
        letter: pc.cast(pc.utf8_ltrim(text, "+"), pa.int64()) for letter, text in values.items() if letter != "S"
    }
    date = days_of(_or(numbers, "y", found, 1970), _or(numbers, "M", found, 1), _or(numbers, "d", found, 1))
    fraction = pc.utf8_rpad(values["S"], 6, "0") if "S" in values else None
    micros = _or({} if fraction is None else {"S": _cut(fraction)}, "S", found, 0)
    return _moment(date, numbers, micros, found)


def _expression(part: Part) -> str:
    if not part.letter:
        return re.escape(part.text) if part.text.isascii() else part.text
    if part.letter == "S":
        return rf"(?P<S>[0-9]{{1,{part.width}}})"
    if part.letter == "y":
        return r"(?P<y>[0-9]{4}|\+[0-9]{5,6}|-[0-9]{4,6})" if part.width == 4 else r"(?P<y>-?[0-9]{1,6})"
    return rf"(?P<{part.letter}>[0-9]{{{'2' if part.width == 2 else '1,9'}}})"


def _cut(digits: Any) -> Any:
    return pc.cast(pc.utf8_slice_codeunits(digits, 0, 6), pa.int64())


def _or(numbers: dict[str, Any], letter: str, found: Any, default: int) -> Any:
    if letter in numbers:
        return numbers[letter]
    return pc.if_else(pc.is_valid(found), pa.scalar(default, pa.int64()), pa.scalar(None, pa.int64()))


def _moment(date: Any, numbers: dict[str, Any], micros: Any, found: Any) -> Any:
    hour, minute, second = (_or(numbers, letter, found, 0) for letter in "Hms")
    valid = pc.and_kleene(pc.less_equal(hour, 23), pc.and_kleene(pc.less_equal(minute, 59), pc.less_equal(second, 59)))
    seconds = pc.add(pc.multiply(hour, 3600), pc.add(pc.multiply(minute, 60), second))
    of_day = pc.add(pc.multiply(seconds, 1_000_000), micros)
    days = pc.cast(pc.cast(date, pa.int32()), pa.int64())
    return nulled(pc.add(pc.multiply(days, DAY_MICROSECONDS), of_day), valid)
