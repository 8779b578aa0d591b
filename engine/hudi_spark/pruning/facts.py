"""What is known of a column's values in one file slice, and what a filter can be for its rows.

Clauses: IX-053, MT-011, MT-013, MT-014, IX-051, IX-052.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Flag, auto
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as kinds
from hudi_format.metadata.records import ColumnStats
from hudi_format.metadata.wrapped_values import ValueKind, Wrapped, plain_value

from hudi_spark.filters import And, Column, Comparison, Filter, Not, Or


@dataclass(frozen=True, slots=True)
class Facts:
    """Bounds of a column's values, or of a function's results, in all rows that a slice may answer.

    `minimum` and `maximum` are None where no bound is known. `nulls` and `values`: whether any may be there.
    `absent`: values that are certainly not there. `unordered`: whether not-a-number may be there, which bounds leave
    out, and which Spark takes for greater than all numbers.

    Clauses: IX-052, IX-053.
    """

    minimum: Any = None
    maximum: Any = None
    nulls: bool = True
    values: bool = True
    absent: frozenset[Any] = field(default_factory=frozenset)
    unordered: bool = True

    def beside(self, other: "Facts") -> "Facts":
        """What holds of the rows of either.

        Clauses: IX-054.
        """
        if not other.values:
            return replace(self, nulls=self.nulls or other.nulls)
        if not self.values:
            return replace(other, nulls=self.nulls or other.nulls)
        return Facts(
            _either(min, self.minimum, other.minimum),
            _either(max, self.maximum, other.maximum),
            nulls=self.nulls or other.nulls,
            values=True,
            absent=self.absent & other.absent,
            unordered=self.unordered or other.unordered,
        )

    def narrowed(self, other: "Facts") -> "Facts":
        """What holds where both are known of the same rows."""
        return Facts(
            _both(max, self.minimum, other.minimum),
            _both(min, self.maximum, other.maximum),
            nulls=self.nulls and other.nulls,
            values=self.values and other.values,
            absent=self.absent | other.absent,
            unordered=self.unordered and other.unordered,
        )

    def may_be(self, value: Any) -> bool:
        """Whether a value may be among them."""
        return (
            self.values
            and value not in self.absent
            and self.may_reach(value, up=True, or_be=True)
            and (self.may_reach(value, up=False, or_be=True))
        )

    def may_reach(self, value: Any, *, up: bool, or_be: bool) -> bool:
        """Whether something greater (`up`) or less than a value may be there, or the value itself."""
        bound = self.maximum if up else self.minimum
        if not self.values or bound is None:
            return self.values
        return bool((bound > value if up else bound < value) or (or_be and bound == value))

    def is_only(self, value: Any) -> bool:
        """Whether no other value than this one can be there."""
        return self.minimum is not None and self.maximum is not None and bool(self.minimum == value == self.maximum)


UNKNOWN: Final = Facts()
NOTHING: Final = Facts(nulls=False, values=False, unordered=False)


def together(facts: Iterable[Facts]) -> Facts:
    """What holds of the rows of all."""
    found = NOTHING
    for one in facts:
        found = found.beside(one)
    return found


def _either(choose: Any, first: Any, second: Any) -> Any:
    return None if first is None or second is None else choose(first, second)


def _both(choose: Any, first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return choose(first, second)


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
    if least is None or greatest is None or least > greatest or _stand_for_none(least, greatest, kind):
        return Facts(nulls=stats.null_count > 0)
    # Writers leave not-a-number out of bounds, and out of the count of nulls.
    return Facts(least, greatest, nulls=stats.null_count > 0, unordered=kinds.is_floating(kind))


def _stand_for_none(least: Any, greatest: Any, kind: pa.DataType) -> bool:
    """Whether these are what released writers state where Parquet has no bounds, as of floats with a not-a-number."""
    return bool(kinds.is_floating(kind) and least == greatest == 0)


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


Know = Callable[[Column], Facts]
ValuesOf = Callable[[Comparison], Sequence[Any]]
"""The values that a comparison compares with, as Python has them: several for a list."""


class Outcome(Flag):
    """The answers that a filter may give."""

    NONE = 0
    TRUE = auto()
    FALSE = auto()
    NULL = auto()


ANY: Final = Outcome.TRUE | Outcome.FALSE | Outcome.NULL


def may_hold(condition: Filter, know: Know, values_of: ValuesOf) -> bool:
    """Whether the filter can be true for a row of which this is known."""
    return Outcome.TRUE in possible(condition, know, values_of)


def possible(condition: Filter, know: Know, values_of: ValuesOf) -> Outcome:
    """Everything that the filter can be."""
    match condition:
        case And(parts):
            return _all([possible(part, know, values_of) for part in parts], Outcome.TRUE, Outcome.FALSE)
        case Or(parts):
            return _all([possible(part, know, values_of) for part in parts], Outcome.FALSE, Outcome.TRUE)
        case Not(part):
            return _negated(possible(part, know, values_of))
        case Comparison():
            return _compared(condition, know(condition.column), values_of)


def _all(parts: Sequence[Outcome], neutral: Outcome, winning: Outcome) -> Outcome:
    """A junction: the winning answer of one part wins, the neutral one needs all, null is what is left."""
    found = Outcome.NONE
    if any(winning in part for part in parts):
        found |= winning
    if all(neutral in part for part in parts):
        found |= neutral
    if any(Outcome.NULL in part for part in parts) and all(part & (neutral | Outcome.NULL) for part in parts):
        found |= Outcome.NULL
    return found


def _negated(one: Outcome) -> Outcome:
    kept = one & Outcome.NULL
    if Outcome.TRUE in one:
        kept |= Outcome.FALSE
    if Outcome.FALSE in one:
        kept |= Outcome.TRUE
    return kept


def _compared(condition: Comparison, facts: Facts, values_of: ValuesOf) -> Outcome:
    if condition.operator == "is_null":
        return _when(facts.nulls, facts.values)
    if condition.operator == "is_not_null":
        return _when(facts.values, facts.nulls)
    if condition.operator != "in":
        return _against(condition.operator, values_of(condition)[0], facts)
    if not condition.value:
        return _when(holds=False, fails=facts.nulls or facts.values)
    # Of equalities with different values at most one holds: where one is sure, so is the list.
    parts = [_against("=", value, facts) for value in _unlike(values_of(condition), facts)]
    return _all(parts, Outcome.FALSE, Outcome.TRUE)


def _unlike(values: Sequence[Any], facts: Facts) -> Sequence[Any]:
    """Of many values those that a comparison may answer differently: one that may be there, one that may not."""
    found: dict[bool, Any] = {}
    odd = []
    try:
        for value in values:
            if value is None or value != value:  # noqa: PLR0124 - not-a-number
                odd.append(value)
            elif len(found) < 2:
                found.setdefault(facts.may_be(value), value)
    except TypeError:
        return values
    return [*found.values(), *odd]


def _when(holds: bool, fails: bool) -> Outcome:
    return (Outcome.TRUE if holds else Outcome.NONE) | (Outcome.FALSE if fails else Outcome.NONE)


def _against(operator: str, value: Any, facts: Facts) -> Outcome:
    """A comparison with one value; what does not compare is left open."""
    if value is None:
        return Outcome.NULL if facts.nulls or facts.values else Outcome.NONE
    unknown = Outcome.NULL if facts.nulls else Outcome.NONE
    # Readers differ on how nothing-at-all compares with numbers.
    if value != value:  # noqa: PLR0124 - only not-a-number is unlike itself
        return ANY
    if facts.values and facts.unordered:
        # Not-a-number is unlike every number, and for Spark greater.
        unknown |= Outcome.FALSE if operator in ("=", "<", "<=") else Outcome.TRUE | Outcome.FALSE
    try:
        return unknown | _ranged(operator, value, facts)
    except TypeError:
        return ANY


def _ranged(operator: str, value: Any, facts: Facts) -> Outcome:
    match operator:
        case "=":
            return _when(facts.may_be(value), facts.values and not facts.is_only(value))
        case "!=":
            return _when(facts.values and not facts.is_only(value), facts.may_be(value))
        case "<":
            return _when(_reach(facts, value, up=False, or_be=False), _reach(facts, value, up=True, or_be=True))
        case "<=":
            return _when(_reach(facts, value, up=False, or_be=True), _reach(facts, value, up=True, or_be=False))
        case ">":
            return _when(_reach(facts, value, up=True, or_be=False), _reach(facts, value, up=False, or_be=True))
        case _:
            return _when(_reach(facts, value, up=True, or_be=True), _reach(facts, value, up=False, or_be=False))


def _reach(facts: Facts, value: Any, *, up: bool, or_be: bool) -> bool:
    return facts.may_reach(value, up=up, or_be=or_be)
