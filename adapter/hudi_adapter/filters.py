"""The filter grammar of the protocol, from JSON to values that a reader can walk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Union

OPERATORS = frozenset({"=", "!=", "<", "<=", ">", ">=", "in", "is_null", "is_not_null"})
FUNCTIONS = frozenset(
    {
        *("identity", "year", "month", "day", "hour", "date_format", "from_unixtime", "unix_timestamp"),
        *("to_date", "to_timestamp", "date_add", "date_sub", "lower", "upper", "substring", "trim", "ltrim", "rtrim"),
        *("length", "regexp_replace", "regexp_extract"),
    }
)
"""Spark's functions of these names, in UTC."""
_UNARY = frozenset({"is_null", "is_not_null"})
_MAX_DEPTH = 64


class FilterError(ValueError):
    """A filter that is not in the grammar."""


@dataclass(frozen=True)
class Column:
    """A column, with a function applied to it unless that is `identity`; `arguments` follow the column."""

    name: str
    function: str = "identity"
    arguments: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """`value` is in the JSON form of the column's logical type; a list for `in`, None for the unary operators."""

    column: Column
    operator: str
    value: Any = None


@dataclass(frozen=True)
class And:
    """All hold."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class Or:
    """At least one holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class Not:
    """It does not hold; unknown (a comparison with null) stays unknown."""

    part: Filter


Filter = Union[Comparison, And, Or, Not]


def parse_filter(form: Any, more_functions: Collection[str] = ()) -> Filter:
    """The filter that `[column, operator, value]`, `["and"|"or", f, ...]` or `["not", f]` stands for.

    In place of a column may stand `["fn", name, column, argument ...]`; a reader may name functions of its own.

    Raises:
        FilterError: the form is not in the grammar.

    """
    return _parse(form, 0, more_functions)


def columns_of(condition: Filter) -> frozenset[str]:
    """Names of the columns that a filter reads."""
    if isinstance(condition, Comparison):
        return frozenset({condition.column.name})
    if isinstance(condition, Not):
        return columns_of(condition.part)
    return frozenset().union(*map(columns_of, condition.parts))


def _parse(form: Any, depth: int, more: Collection[str]) -> Filter:
    if depth > _MAX_DEPTH:
        raise FilterError(f"a filter nests at most {_MAX_DEPTH} deep")
    if not isinstance(form, list) or not form:
        raise FilterError(f"{form!r:.80} is no filter: [column, operator, value], [and|or, ...] or [not, f]")
    # A column may be called "and": a comparison has an operator in the second place, a junction has a list.
    if form[0] in ("and", "or", "not") and not _is_operator(form):
        return _junction(form[0], form[1:], depth, more)
    return _comparison(form, more)


def _is_operator(form: list[Any]) -> bool:
    return len(form) > 1 and isinstance(form[1], str) and form[1] in OPERATORS


def _junction(word: str, forms: Sequence[Any], depth: int, more: Collection[str]) -> Filter:
    parts = tuple(_parse(form, depth + 1, more) for form in forms)
    if word == "not":
        if len(parts) != 1:
            raise FilterError(f"`not` takes one filter, not {len(parts)}")
        return Not(parts[0])
    if not parts:
        raise FilterError(f"`{word}` takes at least one filter")
    return And(parts) if word == "and" else Or(parts)


def _comparison(form: list[Any], more: Collection[str]) -> Comparison:
    if not _is_operator(form):
        raise FilterError(f"{form!r:.80}: the second place holds one of {' '.join(sorted(OPERATORS))}")
    operator = form[1]
    if len(form) != (2 if operator in _UNARY else 3) and not (operator in _UNARY and form[2:] == [None]):
        raise FilterError(f"{form!r:.80}: `{operator}` takes {'no value' if operator in _UNARY else 'one value'}")
    value = form[2] if len(form) > 2 else None
    if operator == "in" and not isinstance(value, list):
        raise FilterError(f"{form!r:.80}: `in` takes a list")
    return Comparison(_column(form[0], more), operator, value)


def _column(form: Any, more: Collection[str]) -> Column:
    if isinstance(form, str) and form:
        return Column(form)
    if isinstance(form, list) and len(form) >= 3 and form[0] == "fn" and isinstance(form[2], str):
        name, arguments = form[1], form[3:]
        if not isinstance(name, str) or (name not in FUNCTIONS and name not in more):
            raise FilterError(f"{name!r:.60} is no function: {' '.join(sorted(FUNCTIONS.union(more)))}")
        if all(isinstance(one, (str, int)) for one in arguments):
            return Column(form[2], name, tuple(arguments))
    raise FilterError(f'{form!r:.80} is no column: a name, or ["fn", function, name, argument ...]')
