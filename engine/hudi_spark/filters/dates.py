"""Dates and timestamps on Arrow columns: the calendar, patterns, and Spark's functions of them.

Built are the numeric letters y M d H m s S and quoted text; other letters depend on language or calendar.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import UnsupportedFeature

Whole = Any
"""An Arrow array or chunked array of whole numbers."""

_SHIFT: Final = 30_000
"""Cycles of 400 years added so that no year is negative: Arrow divides towards zero."""
_CYCLE_DAYS: Final = 146_097
_EPOCH_DAYS: Final = 719_468
_LEAST_DAY, _GREATEST_DAY = -(2**31), 2**31 - 1


def days_of(year: Whole, month: Whole, day: Whole) -> Whole:
    """Days since 1970 as `date32`; null where a part is null, or where there is no such day."""
    valid = _and(
        pc.and_kleene(pc.greater_equal(month, 1), pc.less_equal(month, 12)),
        pc.and_kleene(pc.greater_equal(day, 1), pc.less_equal(day, _month_length(year, month))),
    )
    days = _days(year, month, day)
    fits = pc.and_kleene(pc.greater_equal(days, _LEAST_DAY), pc.less_equal(days, _GREATEST_DAY))
    return pc.cast(pc.cast(nulled(days, _and(valid, fits)), pa.int32()), pa.date32())


def _days(year: Whole, month: Whole, day: Whole) -> Whole:
    """March is the first month of this count, so that a leap day comes last."""
    early = pc.cast(pc.less_equal(month, 2), pa.int64())
    shifted = pc.add(pc.subtract(year, early), _SHIFT * 400)
    cycle = pc.divide(shifted, 400)
    of_cycle = pc.subtract(shifted, pc.multiply(cycle, 400))
    from_march = pc.add(pc.subtract(month, 3), pc.multiply(early, 12))
    of_year = pc.add(pc.divide(pc.add(pc.multiply(from_march, 153), 2), 5), pc.subtract(day, 1))
    leaps = pc.subtract(pc.divide(of_cycle, 4), pc.divide(of_cycle, 100))
    of_cycle_days = pc.add(pc.add(pc.multiply(of_cycle, 365), leaps), of_year)
    whole = pc.multiply(pc.subtract(cycle, _SHIFT), _CYCLE_DAYS)
    return pc.subtract(pc.add(whole, of_cycle_days), _EPOCH_DAYS)


def year_of(date: Any) -> Any:
    """The year of days; Arrow's own goes wrong beyond 32,767."""
    shifted = pc.add(pc.cast(pc.cast(date, pa.int32()), pa.int64()), _EPOCH_DAYS + _SHIFT * _CYCLE_DAYS)
    cycle = pc.divide(shifted, _CYCLE_DAYS)
    day = pc.subtract(shifted, pc.multiply(cycle, _CYCLE_DAYS))
    leaps = pc.subtract(pc.subtract(pc.divide(day, 1460), pc.divide(day, 36_524)), pc.negate(pc.divide(day, 146_096)))
    year = pc.divide(pc.subtract(day, leaps), 365)
    of_year = pc.add(pc.multiply(year, 365), pc.subtract(pc.divide(year, 4), pc.divide(year, 100)))
    month = pc.divide(pc.add(pc.multiply(pc.subtract(day, of_year), 5), 2), 153)
    late = pc.cast(pc.greater_equal(month, 10), pa.int64())
    return pc.add(pc.add(year, late), pc.subtract(pc.multiply(cycle, 400), _SHIFT * 400))


def _month_length(year: Whole, month: Whole) -> Whole:
    lengths = pa.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], pa.int64())
    place = pc.min_element_wise(pc.max_element_wise(pc.subtract(month, 1), 0), 11)
    leap = pc.and_kleene(_divides(year, 4), pc.or_kleene(pc.invert(_divides(year, 100)), _divides(year, 400)))
    extra = pc.cast(pc.and_kleene(pc.equal(month, 2), leap), pa.int64())
    return pc.add(pc.take(lengths, place), extra)


def _divides(year: Whole, by: int) -> Any:
    return pc.equal(pc.subtract(year, pc.multiply(pc.divide(year, by), by)), 0)


def _and(first: Any, second: Any) -> Any:
    return pc.and_kleene(first, second)


def nulled(values: Any, keep: Any) -> Any:
    """The values where `keep` holds, null elsewhere."""
    return pc.if_else(keep, values, pa.scalar(None, values.type))


def floor_divided(values: Whole, by: int) -> Whole:
    """Whole quotients, rounded down."""
    quotient = pc.divide(values, by)
    rest = pc.subtract(values, pc.multiply(quotient, by))
    return pc.subtract(quotient, pc.cast(pc.less(rest, 0), pa.int64()))


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


_BLANKS: Final = "".join(chr(code) for code in range(33)) + "\x7f"
_DATE: Final = r"^(?P<y>[+-]?[0-9]{4,7})(?:-(?P<m>[0-9]{1,2})(?:-(?P<d>[0-9]{1,2})(?:[ T](?s:.*))?)?)?$"
_TIME: Final = (
    r"^(?P<date>[+-]?[0-9]{4,6}(?:-[0-9]{1,2})?|[+-]?[0-9]{4,6}-[0-9]{1,2}-[0-9]{1,2})"
    r"(?:[ T](?P<h>[0-9]{1,2})(?::(?P<m>[0-9]{1,2})(?::(?P<s>[0-9]{1,2})(?:\.(?P<f>[0-9]*))?"
    r" ?(?P<zone>Z|UTC|[+-][0-9]{1,2}:[0-9]{1,2})?)?)?)?$"
)
_MONTH_AND_TIME: Final = r"^[+-]?[0-9]{4,6}(?:-[0-9]{1,2})?[ T]"
_OTHER_ZONE: Final = r"^(?:[+-]?[0-9]{4,6}-[0-9]{1,2}-[0-9]{1,2}[ T]|T?)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}|^T?[0-9]{1,2}:"
_MOST_ZONE_MINUTES: Final = 18 * 60


def as_date(column: Any) -> Any:
    """Dates, the days of timestamps, and texts as Spark casts them."""
    kind = column.type
    if pa.types.is_date32(kind):
        return column
    if pa.types.is_timestamp(kind):
        days = floor_divided(as_moment(column), DAY_MICROSECONDS)
        return pc.cast(pc.cast(days, pa.int32()), pa.date32())
    return _date_of_text(pc.utf8_trim(column, _BLANKS))


def _date_of_text(texts: Any) -> Any:
    found = pc.extract_regex(texts, _DATE)
    year = pc.cast(pc.utf8_ltrim(pc.struct_field(found, "y"), "+"), pa.int64())
    return days_of(year, _number(found, "m", "1"), _number(found, "d", "1"))


def _number(found: Any, name: str, default: str) -> Any:
    text = pc.struct_field(found, name)
    return pc.cast(pc.if_else(pc.equal(text, ""), default, text), pa.int64())


def as_moment(column: Any) -> Any:
    """Microseconds since 1970: of dates their midnight, of texts as Spark casts them."""
    kind = column.type
    if pa.types.is_date32(kind):
        return pc.multiply(pc.cast(pc.cast(column, pa.int32()), pa.int64()), DAY_MICROSECONDS)
    if not pa.types.is_timestamp(kind):
        return _moment_of_text(pc.utf8_trim(column, _BLANKS))
    count = pc.cast(column, pa.int64())
    if kind.unit == "ns":
        return floor_divided(count, 1000)
    return pc.multiply(count, {"us": 1, "ms": 1_000, "s": 1_000_000}[kind.unit])


def _moment_of_text(texts: Any) -> Any:
    found = pc.extract_regex(texts, _TIME)
    _refuse_zones(texts, found)
    # A time stands after a whole date only.
    dated = pc.invert(pc.match_substring_regex(texts, _MONTH_AND_TIME))
    date = _date_of_text(pc.struct_field(found, "date"))
    hour, minute, second = (_number(found, name, "0") for name in "hms")
    micros = pc.cast(pc.utf8_slice_codeunits(pc.utf8_rpad(pc.struct_field(found, "f"), 6, "0"), 0, 6), pa.int64())
    offset = _zone_minutes(pc.struct_field(found, "zone"))
    valid = pc.and_kleene(dated, pc.and_kleene(pc.less_equal(hour, 23), pc.less_equal(minute, 59)))
    valid = pc.and_kleene(pc.and_kleene(valid, pc.less_equal(second, 59)), pc.is_valid(date))
    seconds = pc.add(pc.multiply(pc.subtract(pc.add(pc.multiply(hour, 60), minute), offset), 60), second)
    of_day = pc.add(pc.multiply(seconds, 1_000_000), micros)
    return nulled(pc.add(as_moment(date), of_day), pc.and_kleene(valid, pc.is_valid(offset)))


def _refuse_zones(texts: Any, found: Any) -> None:
    """Spark takes more forms: times without a date, and zones by their names."""
    other = pc.and_kleene(pc.is_null(found), pc.is_valid(texts))
    if pc.any(pc.and_kleene(other, pc.match_substring_regex(texts, _OTHER_ZONE))).as_py():
        raise UnsupportedFeature("timestamp-text", "times without a date, or with a zone's name")


def _zone_minutes(zones: Any) -> Any:
    parts = pc.extract_regex(zones, r"^(?P<sign>[+-])(?P<h>[0-9]{1,2}):(?P<m>[0-9]{1,2})$")
    hours, minutes = (_number(parts, name, "0") for name in "hm")
    total = pc.add(pc.multiply(hours, 60), minutes)
    total = nulled(total, pc.and_kleene(pc.less_equal(minutes, 59), pc.less_equal(total, _MOST_ZONE_MINUTES)))
    signed = pc.if_else(pc.equal(pc.struct_field(parts, "sign"), "-"), pc.negate(total), total)
    plain = pc.is_in(zones, value_set=pa.array(["", "Z", "UTC"]))
    return pc.if_else(plain, pa.scalar(0, pa.int64()), signed)


def _stamps(column: Any) -> Any:
    return pc.cast(as_moment(column), pa.timestamp("us"))


def year(column: Any) -> Any:
    """Spark's `year`."""
    return year_of(as_date(column))


def month(column: Any) -> Any:
    """Spark's `month`."""
    return pc.month(as_date(column))


def day(column: Any) -> Any:
    """Spark's `dayofmonth`."""
    return pc.day(as_date(column))


def hour(column: Any) -> Any:
    """Spark's `hour`."""
    return pc.hour(_stamps(column))


def date_format(column: Any, pattern: str) -> Any:
    """Spark's `date_format`."""
    return formatted(as_moment(column), pattern)


def from_unixtime(column: Any, pattern: str = DEFAULT_PATTERN) -> Any:
    """Spark's `from_unixtime`; seconds beyond Spark's timestamps wrap around as there."""
    return formatted(pc.multiply(pc.cast(column, pa.int64()), 1_000_000), pattern)


def unix_timestamp(column: Any, pattern: str = DEFAULT_PATTERN) -> Any:
    """Spark's `unix_timestamp`; the pattern is for texts."""
    texts = not (pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type))
    # Fractions of a second go towards zero, before 1970 upwards.
    return pc.divide(parsed(column, pattern) if texts else as_moment(column), 1_000_000)


def to_timestamp(column: Any, pattern: str | None = None) -> Any:
    """Spark's `to_timestamp`."""
    texts = not (pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type))
    moments = parsed(column, pattern) if texts and pattern is not None else as_moment(column)
    return pc.cast(moments, pa.timestamp("us", "UTC"))


def to_date(column: Any, pattern: str | None = None) -> Any:
    """Spark's `to_date`."""
    texts = not (pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type))
    if not texts or pattern is None:
        return as_date(column)
    return as_date(pc.cast(parsed(column, pattern), pa.timestamp("us")))


def date_add(column: Any, days: int) -> Any:
    """Spark's `date_add`; days beyond its dates wrap around as there."""
    counted = pc.cast(as_date(column), pa.int32())
    return pc.cast(pc.add(counted, pa.scalar(days, pa.int32())), pa.date32())


def date_sub(column: Any, days: int) -> Any:
    """Spark's `date_sub`."""
    return date_add(column, -days)
