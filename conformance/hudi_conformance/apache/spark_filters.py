"""The protocol's filters as Spark SQL conditions."""

from collections.abc import Callable
from typing import Any

from hudi_adapter.filters import And, Comparison, Filter, Not, Or

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_FUNCTIONS = {"day": "dayofmonth"}
_TRIMMING = frozenset({"trim", "ltrim", "rtrim"})


def spark_condition(frame: Any, condition: Filter) -> Any:
    """The filter as a column expression over `frame`."""
    match condition:
        case And(parts):
            return _joined(frame, parts, lambda left, right: left & right)
        case Or(parts):
            return _joined(frame, parts, lambda left, right: left | right)
        case Not(part):
            return ~spark_condition(frame, part)
        case Comparison():
            return _comparison(frame, condition)


def _joined(frame: Any, parts: tuple[Filter, ...], join: Callable[[Any, Any], Any]) -> Any:
    first, *others = (spark_condition(frame, part) for part in parts)
    for other in others:
        first = join(first, other)
    return first


def _comparison(frame: Any, condition: Comparison) -> Any:
    column = _column(frame, condition)
    kind = _kind(frame, condition)
    if condition.operator == "is_null":
        return column.isNull()
    if condition.operator == "is_not_null":
        return column.isNotNull()
    if condition.operator == "in":
        return column.isin([_literal(value, kind) for value in condition.value])
    return OPERATORS[condition.operator](column, _literal(condition.value, kind))


def _column(frame: Any, condition: Comparison) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415  only with a session

    column, name = frame[condition.column.name], condition.column.function
    if name == "identity":
        return column
    operands = [column, *map(functions.lit, condition.column.arguments)]
    # Spark's words for trimming take the letters first.
    turned = name in _TRIMMING and len(operands) > 1
    return functions.call_function(_FUNCTIONS.get(name, name), *(reversed(operands) if turned else operands))


def _kind(frame: Any, condition: Comparison) -> str | None:
    """Spark's name of the column's type; None under a function, whose result compares with the plain JSON value."""
    if condition.column.function != "identity":
        return None
    return str(frame.schema[condition.column.name].dataType.simpleString())


def _literal(value: Any, kind: str | None) -> Any:
    from pyspark.sql import functions  # noqa: PLC0415  only with a session

    if kind is None or value is None:
        return functions.lit(value)
    if kind == "binary":
        return functions.unhex(functions.lit(value))
    return functions.lit(value).cast(kind)
