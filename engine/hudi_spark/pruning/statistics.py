"""What column statistics say, in the values that filters compare: only where kind and column's type agree.

Clauses: IX-053, MT-011, MT-013, MT-014.
"""

import datetime as dt
import math
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as kinds
from hudi_format.metadata.records import ColumnStats
from hudi_format.metadata.wrapped_values import ValueKind, Wrapped, plain_value

from hudi_spark.pruning.facts import UNKNOWN, Facts

_FIRST_SURROGATE: Final = "\ud800"
# Digits behind the point that a bound of version V1 keeps.
_PLAIN_SCALE: Final = 15
_UNIT_KINDS: Final = {"ms": "MILLIS", "us": "MICROS"}


def facts_of(stats: ColumnStats | None, kind: pa.DataType) -> Facts:
    """What a file's statistics say of a column that the table holds in this type.

    Absent bounds say nothing: writers have counted values without bounds as nulls. Only where Parquet always has
    bounds of a type's values do they mean that there are no values.
    """
    if stats is None or stats.is_deleted or stats.null_count is None or stats.value_count is None:
        return UNKNOWN
    if stats.minimum is None and stats.maximum is None:
        bare = stats.value_count == 0 or (_always_bounded(kind) and stats.null_count == stats.value_count)
        return Facts(values=False, unordered=False) if bare else UNKNOWN
    least, greatest = _bound(stats.minimum, stats, kind), _bound(stats.maximum, stats, kind)
    if least is None or greatest is None or least > greatest:
        return Facts(nulls=stats.null_count > 0)
    # Writers leave not-a-number out of bounds, and out of the count of nulls.
    return Facts(least, greatest, nulls=stats.null_count > 0, unordered=kinds.is_floating(kind))


def _always_bounded(kind: pa.DataType) -> bool:
    return bool(kinds.is_integer(kind) or kinds.is_date32(kind) or kinds.is_boolean(kind))


def _bound(wrapped: Wrapped | None, stats: ColumnStats, kind: pa.DataType) -> Any:
    """The value of a bound, or None where it is not surely one of the column's type."""
    if wrapped is None:
        return None
    try:
        value = plain_value(wrapped, stats.value_type)
    except ValueError:
        return None
    plain = stats.value_type is None or stats.value_type.kind is ValueKind.V1
    named = wrapped.wrapper if plain or stats.value_type is None else stats.value_type.kind.name
    return value if _agrees(value, named, kind, plain=plain) else None


def _agrees(value: Any, named: str, kind: pa.DataType, *, plain: bool) -> bool:
    if kinds.is_boolean(kind):
        return isinstance(value, bool)
    if kinds.is_integer(kind):
        return isinstance(value, int) and not isinstance(value, bool)
    if kinds.is_float32(kind) or kinds.is_float64(kind):
        wanted = "FLOAT" if kinds.is_float32(kind) else "DOUBLE"
        return named.upper() == wanted and isinstance(value, float) and not math.isnan(value)
    if kinds.is_string(kind) or kinds.is_large_string(kind):
        # Bounds of logs are in the order of UTF-16, which from here on is not that of the characters.
        return isinstance(value, str) and all(one < _FIRST_SURROGATE for one in value)
    return _agrees_beyond(value, named, kind, plain=plain)


def _agrees_beyond(value: Any, named: str, kind: pa.DataType, *, plain: bool) -> bool:
    if kinds.is_date32(kind):
        return isinstance(value, dt.date) and not isinstance(value, dt.datetime)
    if kinds.is_decimal(kind):
        return isinstance(value, Decimal) and not (plain and kind.scale > _PLAIN_SCALE)
    if not kinds.is_timestamp(kind) or not isinstance(value, dt.datetime):
        return False
    if plain:
        return bool(kind.unit == "us" and kind.tz is not None)
    zoned = (value.tzinfo is not None) == (kind.tz is not None)
    return zoned and named.endswith(_UNIT_KINDS.get(kind.unit, "none"))
