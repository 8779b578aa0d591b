"""Days and their parts as Arrow arithmetic, in the proleptic Gregorian calendar that Spark counts by."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

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
