"""The functions that filters and expression indexes have, and the values that filters compare with.

Clauses: IX-041.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from hudi_spark.errors import HudiError, Reason
from hudi_spark.filters import dates, texts
from hudi_spark.filters.grammar import Column
from hudi_spark.filters.literals import LiteralError, decode_literal, type_name

_Takes = Callable[[pa.DataType], bool]
_DATE: Final = pa.date32()


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one column.

    `arguments`: types of what may follow the column, of which `required` must.
    `options`: the names that an index definition gives the arguments. `result`: its type, or None for the column's.
    `zoned`: whether for instants the result depends on the time zone. `grows`: greater values never give smaller
    results, for columns that it takes but texts.
    """

    evaluate: Callable[..., Any]
    takes: _Takes
    result: pa.DataType | None
    arguments: tuple[type, ...] = ()
    required: int = 0
    options: tuple[str, ...] = ()
    zoned: bool = False
    grows: bool = False


def _identity(column: Any) -> Any:
    return column


def _substring(column: Any, position: int = 1, length: int = 2**31 - 1) -> Any:
    """The protocol's filters give no positions: then the text from the first character on."""
    return texts.substring(column, position, length)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_moment(kind: pa.DataType) -> bool:
    return _is_text(kind) or bool(pa.types.is_timestamp(kind) or pa.types.is_date32(kind))


def _has_length(kind: pa.DataType) -> bool:
    return _is_text(kind) or bool(pa.types.is_binary(kind))


def _is_anything(_: pa.DataType) -> bool:
    return True


def _part(evaluate: Callable[..., Any], *, grows: bool = False) -> Function:
    return Function(evaluate, _is_moment, pa.int32(), zoned=True, grows=grows)


def _text(evaluate: Callable[..., Any], *options: str, required: int = 0, types: tuple[type, ...] = ()) -> Function:
    return Function(evaluate, _is_text, pa.string(), types or (str,) * len(options), required, options)


def _moment(
    evaluate: Callable[..., Any], result: pa.DataType, required: int = 0, *, grows: bool = False, zoned: bool = True
) -> Function:
    return Function(evaluate, _is_moment, result, (str,), required, ("format",), zoned=zoned, grows=grows)


def _shift(evaluate: Callable[..., Any]) -> Function:
    # Days at the end of the count wrap around, so that greater ones may give smaller results.
    return Function(evaluate, _is_moment, _DATE, (int,), 1, ("days",), zoned=True)


FUNCTIONS: Final[Mapping[str, Function]] = {
    "identity": Function(_identity, _is_anything, None, grows=True),
    "year": _part(dates.year, grows=True),
    "month": _part(dates.month),
    "day": _part(dates.day),
    "hour": _part(dates.hour),
    "date_format": _moment(dates.date_format, pa.string(), 1),
    "from_unixtime": Function(
        dates.from_unixtime, pa.types.is_integer, pa.string(), (str,), 0, ("format",), zoned=True
    ),
    "unix_timestamp": _moment(dates.unix_timestamp, pa.int64(), grows=True),
    "to_date": _moment(dates.to_date, _DATE, grows=True),
    "to_timestamp": _moment(dates.to_timestamp, pa.timestamp("us", "UTC"), grows=True),
    "date_add": _shift(dates.date_add),
    "date_sub": _shift(dates.date_sub),
    "lower": _text(texts.lower),
    "upper": _text(texts.upper),
    "substring": _text(_substring, "pos", "len", types=(int, int)),
    "trim": _text(texts.trim, "trimString"),
    "ltrim": _text(texts.ltrim, "trimString"),
    "rtrim": _text(texts.rtrim, "trimString"),
    "length": Function(texts.length, _has_length, pa.int32()),
    "regexp_replace": _text(texts.regexp_replace, "pattern", "replacement", required=2),
    "regexp_extract": _text(texts.regexp_extract, "pattern", "idx", required=1, types=(str, int)),
    "split": Function(texts.split, _is_text, pa.list_(pa.string()), (str,), 1, ("pattern",)),
}


def function_of(column: Column) -> Function:
    """The function of a filter's column."""
    return FUNCTIONS[column.function]


def apply(column: Column, operand: Any) -> Any:
    """The values of a filter's column: those of the table's column after the function.

    Raises:
        UnsupportedFeature: a pattern, or texts, that are not built.

    """
    return function_of(column).evaluate(operand, *column.arguments)


def complaint(column: Column, kind: pa.DataType) -> str | None:
    """What is wrong with a function of a column of this type, or None."""
    function = function_of(column)
    if not function.takes(kind):
        return f"{column.function} takes no column of type {kind}"
    given: Sequence[Any] = column.arguments
    if not function.required <= len(given) <= len(function.arguments):
        return f"{column.function} takes {function.required} to {len(function.arguments)} values after the column"
    for value, wanted in zip(given, function.arguments, strict=False):
        if isinstance(value, bool) or not isinstance(value, wanted):
            return f"{column.function} takes {wanted.__name__}, not {value!r}"
    return None


_FLOATS = ("float32", "float64")


def compared_type(column: Column, schema: pa.Schema) -> pa.DataType:
    """The Arrow type of a filter's column after its function."""
    result = function_of(column).result
    return schema.field(column.name).type if result is None else result


def value_of(form: Any, column: Column, schema: pa.Schema) -> Any:
    """A filter's value as a Python value of the compared type.

    Raises:
        HudiError: CONFIG_INVALID when it has another type.

    Clauses: RD-012.

    """
    kind = compared_type(column, schema)
    try:
        name = type_name(kind)
        if isinstance(form, str | list | dict):
            return decode_literal(form, kind)
    except LiteralError as error:
        raise invalid(f"{column.name}: {error}") from error
    # Arrow would cut a fraction off, and take a number for a day.
    if form is not None and not _takes(name, form):
        raise invalid(f"{column.name}: {form!r} is no {name}")
    return form


def scalar_of(form: Any, column: Column, schema: pa.Schema) -> pa.Scalar:
    """A filter's value as an Arrow scalar that compares with the column's values.

    Raises:
        HudiError: CONFIG_INVALID when it has another type.

    Clauses: RD-012.

    """
    value = value_of(form, column, schema)
    # Decimals of another scale compare by value.
    if isinstance(value, Decimal):
        return pa.scalar(value)
    kind = compared_type(column, schema)
    whole = isinstance(value, int) and not isinstance(value, bool) and pa.types.is_integer(kind)
    # A number beyond the column's type is none of its values, and compares with all of them.
    return pa.scalar(value, pa.int64() if whole and function_of(column).result else kind)


def _takes(name: str, form: float) -> bool:
    """Whether a truth value or a number, given as such, is of the type of this name."""
    family = name.partition("(")[0]
    if isinstance(form, bool):
        return family == "boolean"
    return family in _FLOATS or (isinstance(form, int) and family in ("int32", "int64", "decimal"))


def invalid(message: str) -> HudiError:
    """A filter that cannot be used."""
    return HudiError(Reason.CONFIG_INVALID, "RD-012", f"the filter cannot be used: {message}")
