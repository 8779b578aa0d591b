"""The filter grammar on Arrow data: as an expression for Parquet, and as a mask of rows."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.arrow_types import logical_type
from hudi_adapter.filters import And, Column, Comparison, Filter, FilterError, Not, Or, columns_of, parse_filter
from hudi_adapter.reasons import Reason
from hudi_adapter.values import ValueFormError, decode_value

from hudi_spark.errors import HudiError

Operand = Any
"""An Arrow array, a chunked array, or a `pyarrow.compute.Expression`."""

_COMPARE: Final[Mapping[str, Callable[[Operand, Operand], Operand]]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def _identity(operand: Operand) -> Operand:
    return operand


def _from_unixtime(operand: Operand) -> Operand:
    seconds = pc.cast(pc.cast(operand, pa.int64()), pa.timestamp("s"))
    return pc.strftime(seconds, format="%Y-%m-%d %H:%M:%S")


_FUNCTIONS: Final[Mapping[str, Callable[[Operand], Operand]]] = {
    "identity": _identity,
    # The grammar gives no positions: the substring from the first character on.
    "substring": _identity,
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
    "hour": pc.hour,
    "lower": pc.utf8_lower,
    "upper": pc.utf8_upper,
    "from_unixtime": _from_unixtime,
}
_RESULTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("year", "month", "day", "hour"), "int64"),
    **dict.fromkeys(("lower", "upper", "from_unixtime"), "string"),
}


def filter_of(form: Any, schema: pa.Schema) -> Filter:
    """The filter that a request's form stands for, its columns known and its values of their types.

    Raises:
        HudiError: CONFIG_INVALID for anything else.

    Clauses: RD-012.

    """
    try:
        condition = parse_filter(form)
    except FilterError as error:
        raise _invalid(str(error)) from error
    _check(condition, schema)
    return condition


def expression(condition: Filter, schema: pa.Schema) -> pc.Expression:
    """The filter over named fields, for a Parquet reader."""
    return _evaluate(condition, schema, pc.field)


def mask(condition: Filter, table: pa.Table) -> pa.ChunkedArray:
    """For each row whether the filter holds; null where it is unknown."""
    return _evaluate(condition, table.schema, table.column)


def matching(condition: Filter | None, table: pa.Table) -> pa.Table:
    """The rows for which the filter holds."""
    return table if condition is None else table.filter(mask(condition, table))


def result_type(column: Column, schema: pa.Schema) -> str:
    """Logical type of a column after its function."""
    return _RESULTS.get(column.function) or logical_type(schema.field(column.name).type)


def value_of(form: Any, column: Column, schema: pa.Schema) -> Any:
    """A filter's value as a Python value of the compared type.

    Raises:
        HudiError: CONFIG_INVALID when it has another type.

    """
    if not isinstance(form, str | list | dict):
        return form
    try:
        return decode_value(form, result_type(column, schema))
    except ValueFormError as error:
        raise _invalid(f"{column.name}: {error}") from error


def pushable(condition: Filter, files_columns: pa.Schema, schema: pa.Schema) -> Filter | None:
    """The part of a filter that a Parquet reader can apply to a file: implied by the whole, or None.

    Left out are functions, and columns that the file lacks or holds in another type.

    Clauses: RD-012, DM-004.
    """
    match condition:
        case And(parts):
            kept = tuple(one for one in (pushable(part, files_columns, schema) for part in parts) if one is not None)
            return And(kept) if kept else None
        case Or() | Not():
            whole = all(_is_readable(column, files_columns, schema) for column in _columns(condition))
            return condition if whole else None
        case Comparison(column=column):
            return condition if _is_readable(column, files_columns, schema) else None


def _columns(condition: Filter) -> list[Column]:
    match condition:
        case And(parts) | Or(parts):
            return [column for part in parts for column in _columns(part)]
        case Not(part):
            return _columns(part)
        case Comparison(column=column):
            return [column]


def _is_readable(column: Column, files_columns: pa.Schema, schema: pa.Schema) -> bool:
    index = files_columns.get_field_index(column.name)
    same = index >= 0 and files_columns.field(index).type == schema.field(column.name).type
    return same and column.function == "identity"


def _evaluate(condition: Filter, schema: pa.Schema, operand: Callable[[str], Operand]) -> Operand:
    match condition:
        case And(parts):
            return _fold(pc.and_kleene, [_evaluate(part, schema, operand) for part in parts])
        case Or(parts):
            return _fold(pc.or_kleene, [_evaluate(part, schema, operand) for part in parts])
        case Not(part):
            return pc.invert(_evaluate(part, schema, operand))
        case Comparison():
            return _compare(condition, schema, operand)


def _fold(combine: Callable[[Operand, Operand], Operand], operands: list[Operand]) -> Operand:
    folded = operands[0]
    for operand in operands[1:]:
        folded = combine(folded, operand)
    return folded


def _compare(condition: Comparison, schema: pa.Schema, operand: Callable[[str], Operand]) -> Operand:
    column = condition.column
    left = _FUNCTIONS[column.function](operand(column.name))
    if condition.operator == "is_null":
        return pc.is_null(left)
    if condition.operator == "is_not_null":
        return pc.is_valid(left)
    kind = schema.field(column.name).type if column.function not in _RESULTS else None
    if condition.operator == "in":
        return _is_in(left, condition, schema, kind)
    return _COMPARE[condition.operator](left, _scalar(condition.value, column, schema, kind))


def _is_in(left: Operand, condition: Comparison, schema: pa.Schema, kind: pa.DataType | None) -> Operand:
    """A chain of equalities, so that a null on either side leaves the answer unknown."""
    if not condition.value:
        return pc.and_kleene(pc.is_null(left), pc.is_valid(left))
    equalities = [pc.equal(left, _scalar(form, condition.column, schema, kind)) for form in condition.value]
    return _fold(pc.or_kleene, equalities)


def _scalar(form: Any, column: Column, schema: pa.Schema, kind: pa.DataType | None) -> pa.Scalar:
    value = value_of(form, column, schema)
    # Decimals of another scale compare by value.
    if isinstance(value, Decimal):
        return pa.scalar(value)
    return pa.scalar(value, kind or pa.type_for_alias("int64" if isinstance(value, int) else "string"))


def _check(condition: Filter, schema: pa.Schema) -> None:
    unknown = sorted(columns_of(condition) - set(schema.names))
    if unknown:
        raise _invalid(f"the table has no column {unknown[0]!r}; it has {', '.join(schema.names)}")
    try:
        mask(condition, schema.empty_table())
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _invalid(str(error)) from error


def _invalid(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "RD-012", f"the filter cannot be used: {message}")
