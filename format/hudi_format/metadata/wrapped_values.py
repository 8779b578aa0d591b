"""The bounds of column statistics: values in wrappers that name their kind, and what kind of column they bound.

V1  the wrapper alone says the kind: a date in `Date`, a decimal in `Decimal` with 15 digits behind the point
V2  a value type stands beside the bounds, and the wrapper holds a bare number, text or bytes
"""

import datetime as dt
import decimal
import uuid
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

# The records of the union, in its order; from 1.0 on with LocalDate, from 1.1 on with Array.
WRAPPERS: Final = (
    "Boolean",
    "Int",
    "Long",
    "Float",
    "Double",
    "Bytes",
    "String",
    "Date",
    "Decimal",
    "TimeMicros",
    "TimestampMicros",
    "LocalDate",
    "Array",
)

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - moments without a zone have this one
_DAY = dt.date(1970, 1, 1)
_MICROSECONDS = {"MILLIS": 1000, "MICROS": 1}
_NANOSECONDS_A_MICROSECOND = 1000
# Wide enough to shift the point of any decimal without rounding it.
_EXACT = decimal.Context(prec=1000)


class ValueKind(IntEnum):
    """The kinds of columns that statistics of index version V2 name.

    Clauses: IX-004.
    """

    V1 = 0
    NULL = 1
    BOOLEAN = 2
    INT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    BYTES = 8
    FIXED = 9
    DECIMAL = 10
    UUID = 11
    DATE = 12
    TIME_MILLIS = 13
    TIME_MICROS = 14
    TIMESTAMP_MILLIS = 15
    TIMESTAMP_MICROS = 16
    TIMESTAMP_NANOS = 17
    LOCAL_TIMESTAMP_MILLIS = 18
    LOCAL_TIMESTAMP_MICROS = 19
    LOCAL_TIMESTAMP_NANOS = 20


@dataclass(frozen=True, slots=True)
class ValueType:
    """The kind of a column; for decimals `detail` is `precision,scale`.

    Clauses: IX-004.
    """

    kind: ValueKind
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A value as it stands in its wrapper: numbers bare, a decimal as such, several values as a tuple of `Wrapped`."""

    wrapper: str
    value: Any


def plain_value(wrapped: Wrapped | None, value_type: ValueType | None = None) -> Any:
    """The value that a wrapper means, as Python has it: date, time, datetime (UTC or local), Decimal, UUID, bytes.

    Moments that Python cannot hold are given as None, which is what is known of them.

    Raises:
        ValueError: wrapper and value type do not go together.

    Clauses: MT-011, MT-023, IX-004.

    """
    if wrapped is None:
        return None
    try:
        if value_type is None or value_type.kind is ValueKind.V1:
            return _of_wrapper(wrapped)
        return _of_kind(value_type, wrapped.value)
    except OverflowError:
        return None
    except (TypeError, AttributeError, decimal.InvalidOperation) as error:
        raise ValueError(f"{wrapped} is no value of the type {value_type}") from error


def _of_wrapper(wrapped: Wrapped) -> Any:
    value = wrapped.value
    match wrapped.wrapper:
        case "Date" | "LocalDate":
            return _DAY + dt.timedelta(days=value)
        case "TimeMicros":
            return _time(value)
        case "TimestampMicros":
            return _moment(value).replace(tzinfo=dt.timezone.utc)
        case "Array":
            return tuple(plain_value(item) for item in value)
        case _:
            return value


def _of_kind(value_type: ValueType, value: Any) -> Any:
    name = value_type.kind.name
    _, _, unit = name.rpartition("_")
    match value_type.kind:
        case ValueKind.DECIMAL:
            return _decimal(value, value_type.detail or "")
        case ValueKind.UUID:
            return uuid.UUID(value)
        case ValueKind.DATE:
            return _DAY + dt.timedelta(days=value)
        case ValueKind.TIME_MILLIS | ValueKind.TIME_MICROS:
            return _time(value * _MICROSECONDS[unit])
    if "TIMESTAMP" not in name:
        return value
    moment = _moment(value // _NANOSECONDS_A_MICROSECOND if unit == "NANOS" else value * _MICROSECONDS[unit])
    return moment if name.startswith("LOCAL") else moment.replace(tzinfo=dt.timezone.utc)


def _decimal(value: bytes, detail: str) -> decimal.Decimal:
    _, _, scale = detail.partition(",")
    return decimal.Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-int(scale), _EXACT)


def _moment(microseconds: int) -> dt.datetime:
    return _EPOCH + dt.timedelta(microseconds=microseconds)


def _time(microseconds: int) -> dt.time:
    moment = _moment(microseconds)
    if moment.date() != _DAY:
        raise ValueError(f"{microseconds} microseconds are not within a day")
    return moment.time()
