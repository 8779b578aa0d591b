"""What a filter can be for the rows of a slice: true, false, unknown, or several of these.

Clauses: IX-051, IX-052, IX-053.
"""

from collections.abc import Callable, Sequence
from enum import Flag, auto
from typing import Any, Final

from hudi_adapter.filters import And, Column, Comparison, Filter, Not, Or

from hudi_spark.pruning.facts import Facts

Know = Callable[[Column], Facts]
Literal = Callable[[Any, Column], Any]
"""A filter's form of a value and the column that it is compared with -> the value as Python has it."""


class Outcome(Flag):
    """The answers that a filter may give."""

    NONE = 0
    TRUE = auto()
    FALSE = auto()
    NULL = auto()


ANY: Final = Outcome.TRUE | Outcome.FALSE | Outcome.NULL


def may_hold(condition: Filter, know: Know, literal: Literal) -> bool:
    """Whether the filter can be true for a row of which this is known."""
    return Outcome.TRUE in possible(condition, know, literal)


def possible(condition: Filter, know: Know, literal: Literal) -> Outcome:
    """Everything that the filter can be."""
    match condition:
        case And(parts):
            return _all([possible(part, know, literal) for part in parts], Outcome.TRUE, Outcome.FALSE)
        case Or(parts):
            return _all([possible(part, know, literal) for part in parts], Outcome.FALSE, Outcome.TRUE)
        case Not(part):
            return _negated(possible(part, know, literal))
        case Comparison():
            return _compared(condition, know(condition.column), literal)


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


def _compared(condition: Comparison, facts: Facts, literal: Literal) -> Outcome:
    if condition.operator == "is_null":
        return _when(facts.nulls, facts.values)
    if condition.operator == "is_not_null":
        return _when(facts.values, facts.nulls)
    if condition.operator != "in":
        return _against(condition.operator, literal(condition.value, condition.column), facts)
    if not condition.value:
        return _when(holds=False, fails=facts.nulls or facts.values)
    values = [literal(form, condition.column) for form in condition.value]
    # Of equalities with different values at most one holds: where one is sure, so is the list.
    return _all([_against("=", value, facts) for value in values], Outcome.FALSE, Outcome.TRUE)


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
