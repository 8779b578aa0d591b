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


_MANY_VALUES: Final = 32
# A set takes nan for equal and two zeros for different; decimals may differ in scale.
_NOT_HASHED: Final = frozenset(
    kind.id for kind in (pa.float16(), pa.float32(), pa.float64(), pa.decimal128(1), pa.decimal256(1))
)


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
    logical = result_type(column, schema)
    if not isinstance(form, str | list | dict):
        # Arrow would cut a fraction off, and take a number for a day.
        if form is not None and not _takes(logical, form):
            raise _invalid(f"{column.name}: {form!r} is no {logical}")
        return form
    try:
        return decode_value(form, logical)
    except ValueFormError as error:
        raise _invalid(f"{column.name}: {error}") from error


def _takes(logical: str, form: float) -> bool:
    """Whether a truth value or a number that JSON holds as such is one of the logical type."""
    family = logical.partition("(")[0]
    if isinstance(form, bool):
        return family == "boolean"
    return family in ("float32", "float64") or (isinstance(form, int) and family in ("int32", "int64", "decimal"))


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
    """One operand of many, two by two: Arrow walks expressions by recursion, and a long chain ends the process."""
    while len(operands) > 1:
        pairs = [operands[at : at + 2] for at in range(0, len(operands), 2)]
        operands = [combine(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return operands[0]


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
    """Equalities, so that a null on either side leaves the answer unknown.

    Many values are looked up in a set, where its equality is that of `=`; beside it stay equalities that may be null.
    """
    if not condition.value:
        return pc.and_kleene(pc.is_null(left), pc.is_valid(left))
    scalars = [_scalar(form, condition.column, schema, kind) for form in condition.value]
    known = [scalar for scalar in scalars if scalar.is_valid]
    if len(known) <= _MANY_VALUES or known[0].type.id in _NOT_HASHED:
        return _fold(pc.or_kleene, [pc.equal(left, scalar) for scalar in scalars])
    found = pc.is_in(left, value_set=pa.array([scalar.as_py() for scalar in known], known[0].type))
    telling = [known[0], *(scalar for scalar in scalars if not scalar.is_valid)][:2]
    return _fold(pc.or_kleene, [found, *(pc.equal(left, scalar) for scalar in telling)])


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
    for column in _columns(condition):
        if column.function == "from_unixtime" and not pa.types.is_integer(schema.field(column.name).type):
            raise _invalid(f"from_unixtime takes an integer column, not {column.name}")
    try:
        mask(condition, schema.empty_table())
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _invalid(str(error)) from error


def _invalid(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "RD-012", f"the filter cannot be used: {message}")
