"""The filter grammar: from lists, as callers write them, to values that a reader can walk."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hudi_spark.errors import suggested

_OPERATORS: Final = frozenset({"=", "!=", "<", "<=", ">", ">=", "in", "is_null", "is_not_null"})
_UNARY: Final = frozenset({"is_null", "is_not_null"})
_MAX_DEPTH: Final = 64


class FilterError(ValueError):
    """A filter that is not in the grammar."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, with a function applied to it unless that is `identity`; `arguments` follow the column."""

    name: str
    function: str = "identity"
    arguments: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """`value` is a literal of the column's type; a list for `in`, None for the unary operators."""

    column: Column
    operator: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class And:
    """All hold."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one holds."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """It does not hold; unknown (a comparison with null) stays unknown."""

    part: "Filter"


Filter = Comparison | And | Or | Not


def parse_filter(form: Any, functions: Collection[str]) -> Filter:
    """The filter that `[column, operator, value]`, `["and"|"or", f, ...]` or `["not", f]` stands for.

    In place of a column may stand `["fn", name, column, argument ...]`, with one of `functions`. Filters of PyArrow and
    pandas are taken too: a tuple `(column, operator, value)`, a list of tuples that all hold, a list of such lists of
    which one holds; `==` and `not in` among their operators. A comparison with null is unknown, as in SQL: `not in`
    chooses no row whose column is null.

    Raises:
        FilterError: the form is not in the grammar.

    """
    return _parse(_of_tuples(form), 0, functions)


def _of_tuples(form: Any) -> Any:
    if isinstance(form, tuple) and len(form) == 3:
        column, operator, value = form
        values = list(value) if isinstance(value, tuple | set | frozenset) else value
        if operator == "not in":
            return ["not", [column, "in", values]]
        return [column, "=" if operator == "==" else operator, values]
    if isinstance(form, list) and form and _is_of_tuples(form):
        return ["and", *map(_of_tuples, form)]
    if isinstance(form, list) and form and all(isinstance(one, list) and one and _is_of_tuples(one) for one in form):
        return ["or", *map(_of_tuples, form)]
    return form


def _is_of_tuples(forms: list[Any]) -> bool:
    return all(isinstance(one, tuple) for one in forms)


def no_column(name: str, columns: Sequence[str], place: str = "") -> str:
    """Why a filter on a column that is not among a table's is refused; `place` says where in its text."""
    shown = suggested(name, columns, f"it has {', '.join(columns)}")
    return f"the table has no column {name!r}{place}; {shown}"


def columns_of(condition: Filter) -> frozenset[str]:
    """Names of the columns that a filter reads."""
    match condition:
        case Comparison(column=column):
            return frozenset({column.name})
        case And(parts) | Or(parts):
            return frozenset().union(*(columns_of(part) for part in parts))
        case Not(part):
            return columns_of(part)


def _parse(form: Any, depth: int, functions: Collection[str]) -> Filter:
    if depth > _MAX_DEPTH:
        raise FilterError(f"a filter nests at most {_MAX_DEPTH} deep")
    if not isinstance(form, list) or not form:
        raise FilterError(f"{form!r:.80} is no filter: [column, operator, value], [and|or, ...] or [not, f]")
    # A column may be called "and": a comparison has an operator in the second place, a junction has a list.
    if form[0] in ("and", "or", "not") and not _is_operator(form):
        return _junction(form[0], form[1:], depth, functions)
    return _comparison(form, functions)


def _is_operator(form: list[Any]) -> bool:
    return len(form) > 1 and isinstance(form[1], str) and form[1] in _OPERATORS


def _junction(word: str, forms: Sequence[Any], depth: int, functions: Collection[str]) -> Filter:
    parts = tuple(_parse(form, depth + 1, functions) for form in forms)
    if word == "not":
        if len(parts) != 1:
            raise FilterError(f"`not` takes one filter, not {len(parts)}")
        return Not(parts[0])
    if not parts:
        raise FilterError(f"`{word}` takes at least one filter")
    return And(parts) if word == "and" else Or(parts)


def _comparison(form: list[Any], functions: Collection[str]) -> Comparison:
    if not _is_operator(form):
        raise FilterError(f"{form!r:.80}: the second place holds one of {' '.join(sorted(_OPERATORS))}")
    operator = form[1]
    if len(form) != (2 if operator in _UNARY else 3) and not (operator in _UNARY and form[2:] == [None]):
        raise FilterError(f"{form!r:.80}: `{operator}` takes {'no value' if operator in _UNARY else 'one value'}")
    value = form[2] if len(form) > 2 else None
    if operator == "in" and not isinstance(value, list):
        raise FilterError(f"{form!r:.80}: `in` takes a list")
    return Comparison(_column(form[0], functions), operator, value)


def _column(form: Any, functions: Collection[str]) -> Column:
    if isinstance(form, str) and form:
        return Column(form)
    if isinstance(form, list) and len(form) >= 3 and form[0] == "fn" and isinstance(form[2], str):
        name, arguments = form[1], form[3:]
        if not isinstance(name, str) or name not in functions:
            raise FilterError(f"{name!r:.60} is no function: {' '.join(sorted(functions))}")
        if all(isinstance(one, str | int) for one in arguments):
            return Column(form[2], name, tuple(arguments))
    raise FilterError(f'{form!r:.80} is no column: a name, or ["fn", function, name]')
