"""Spark's functions of dates and timestamps on Arrow columns, in a session whose time zone is UTC."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.expressions.calendar import days_of, floor_divided, nulled, year_of
from hudi_spark.expressions.date_patterns import DAY_MICROSECONDS, DEFAULT_PATTERN, formatted, parsed

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
