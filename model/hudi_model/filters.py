"""The filter grammar of the protocol: a row matches, does not match, or it is unknown."""

import datetime as dt
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from hudi_model.files import Schema, Value
from hudi_model.rejection import Reason, Rejection

Row = Mapping[str, Value]

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = (*COMPARISONS, "in", "is_null", "is_not_null")

FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "identity": lambda value: value,
    "substring": lambda value: value,
    "year": lambda value: value.year,
    "month": lambda value: value.month,
    "day": lambda value: value.day,
    "hour": lambda value: value.hour,
    "lower": lambda value: value.lower(),
    "upper": lambda value: value.upper(),
    "from_unixtime": lambda value: dt.datetime.fromtimestamp(int(value), dt.UTC).strftime("%Y-%m-%d %H:%M:%S"),
}
"""The grammar gives `substring` no positions: it stands for the whole text."""

NUMBERS = ("int32", "int64", "float32", "float64", "decimal")

RESULTS = {**dict.fromkeys(("year", "month", "day", "hour"), "int64"), "from_unixtime": "string"}

PARSERS: Mapping[str, Callable[[str], Value]] = {
    **dict.fromkeys(("int32", "int64"), int),
    **dict.fromkeys(("float32", "float64"), float),
    **dict.fromkeys(("time-millis", "time-micros"), dt.time.fromisoformat),
    **dict.fromkeys(("timestamp-millis", "timestamp-micros"), dt.datetime.fromisoformat),
    **dict.fromkeys(("local-timestamp-millis", "local-timestamp-micros"), dt.datetime.fromisoformat),
    "decimal": Decimal,
    "binary": bytes.fromhex,
    "date": dt.date.fromisoformat,
}
"""Texts in which values of a type travel; those of other types are the value."""


def matches(form: Any, row: Row, schema: Schema) -> bool:
    """Whether a row is in the answer: a filter that is unknown for it leaves it out.

    Raises: CONFIG_INVALID for a form that is no filter, or a column that does not exist.

    Clauses: RD-012.
    """
    return evaluate(form, row, schema) is True


def check_filter(form: Any, schema: Schema) -> None:
    """Nothing, unless a filter is not in the grammar or names what does not exist.

    Raises: CONFIG_INVALID.

    Clauses: RD-012.
    """
    evaluate(form, {field.name: None for field in schema.fields}, schema)


def evaluate(form: Any, row: Row, schema: Schema) -> bool | None:
    """True, False, or None where a null leaves the filter unknown.

    Raises: CONFIG_INVALID.

    Clauses: RD-012.
    """
    if not isinstance(form, Sequence) or isinstance(form, str) or not form:
        raise invalid(f"{form!r} is no filter")
    if is_junction(form):
        return junction(form[0], [evaluate(part, row, schema) for part in form[1:]])
    word = form[1] if len(form) > 1 else None
    if word not in OPERATORS:
        raise invalid(f"{word!r} is no operator")
    function, name = column_of(form[0])
    own = type_of(name, schema)
    if function == "from_unixtime" and own not in ("int32", "int64"):
        raise invalid(f"from_unixtime of {own}")
    value = None if row[name] is None else applied(function, row[name])
    if word in ("is_null", "is_not_null"):
        return bool((value is None) == (word == "is_null"))
    if len(form) != 3:
        raise invalid(f"`{word}` takes one value")
    return compare_value(word, value, form[2], RESULTS.get(function, own))


def is_junction(form: Sequence[Any]) -> bool:
    """Whether a filter combines others; a column may be called `and`."""
    return form[0] in ("and", "or", "not") and not (len(form) > 1 and form[1] in OPERATORS)


def junction(word: str, parts: list[bool | None]) -> bool | None:
    """Three-valued and, or, not.

    Raises: CONFIG_INVALID for a wrong number of parts.
    """
    if not parts or (word == "not" and len(parts) > 1):
        raise invalid(f"`{word}` of {len(parts)} filters")
    if word == "not":
        return None if parts[0] is None else not parts[0]
    decisive = word == "or"
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def compare_value(word: str, value: Value, form: Any, kind: str) -> bool | None:
    """A value against the one that the filter gives, or against any of a list.

    Raises: CONFIG_INVALID.
    """
    if word == "in":
        if not isinstance(form, list):
            raise invalid("`in` takes a list")
        return junction("or", [compare_value("=", value, one, kind) for one in form]) if form else False
    wanted = literal(form, kind)
    if value is None or wanted is None:
        return None
    try:
        return bool(COMPARISONS[word](value, wanted))
    except TypeError:
        raise invalid(f"{kind} does not compare with {form!r}") from None


def column_of(form: Any) -> tuple[str, str]:
    """The function and the column that a filter's first place names.

    Raises: CONFIG_INVALID.
    """
    if isinstance(form, str):
        return "identity", form
    if isinstance(form, list) and len(form) == 3 and form[0] == "fn" and form[1] in FUNCTIONS:
        return form[1], str(form[2])
    raise invalid(f"{form!r} is no column")


def type_of(name: str, schema: Schema) -> str:
    """The logical type of a column.

    Raises: CONFIG_INVALID.
    """
    for field in schema.fields:
        if field.name == name:
            return field.type
    raise invalid(f"the table has no column {name!r}")


def applied(function: str, value: Value) -> Value:
    """A column's value after the function.

    Raises: CONFIG_INVALID where the value has no such part.
    """
    try:
        result: Value = FUNCTIONS[function](value)
    except (AttributeError, TypeError, ValueError):
        raise invalid(f"{function} of {value!r}") from None
    return result


def literal(form: Any, kind: str) -> Value:
    """A filter's value in a column's type: a text in which rows travel, or a number, truth value or null as such.

    Raises: CONFIG_INVALID.
    """
    family, takes = kind.partition("(")[0], {bool: ("boolean",), int: NUMBERS, float: ("float32", "float64")}
    try:
        if isinstance(form, str):
            return PARSERS.get(family, str)(form)
    except (ValueError, InvalidOperation):
        raise invalid(f"{form!r} is no {kind}") from None
    if form is None or family in takes.get(type(form), ()):
        result: Value = form
        return result
    raise invalid(f"{form!r} is no {kind}")


def invalid(detail: str) -> Rejection:
    """The refusal of a filter."""
    return Rejection(Reason.CONFIG_INVALID, "RD-012", "filter", detail)
