"""The filter grammar on Arrow data: as an expression for Parquet, and as a mask of rows."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.filters.functions import FUNCTIONS, apply, complaint, invalid, plain_values, scalar_of
from hudi_spark.filters.grammar import (
    And,
    Column,
    Comparison,
    Filter,
    FilterError,
    Not,
    Or,
    columns_of,
    no_column,
    parse_filter,
)
from hudi_spark.filters.sql import parse_sql

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
_MANY_VALUES: Final = 32
# A set takes nan for equal and two zeros for different; decimals may differ in scale.
_NOT_HASHED: Final = frozenset(
    kind.id for kind in (pa.float16(), pa.float32(), pa.float64(), pa.decimal128(1), pa.decimal256(1))
)


def filter_of(form: Any, schema: pa.Schema) -> Filter:
    """The filter that a request's form stands for, its columns known and its values of their types.

    `form`: SQL text, or lists of the filter grammar, or tuples as PyArrow and pandas take them.

    Raises:
        HudiError: CONFIG_INVALID for anything else.

    Clauses: RD-012.

    """
    if isinstance(form, pc.Expression):
        raise invalid(f"Arrow does not show what {str(form)[:60]} is made of; give SQL text, or a list")
    try:
        condition = parse_sql(form, schema) if isinstance(form, str) else parse_filter(form, FUNCTIONS)
    except FilterError as error:
        raise invalid(str(error)) from error
    _check(condition, schema)
    return condition


def expression(condition: Filter, schema: pa.Schema) -> pc.Expression:
    """The filter over named fields, for a Parquet reader."""
    return _evaluate(condition, schema, pc.field)


def mask(condition: Filter, table: pa.Table) -> pa.ChunkedArray:
    """For each row whether the filter holds; null where it is unknown."""
    return _evaluate(condition, table.schema, table.column)


def matching(condition: Filter, table: pa.Table) -> pa.Table:
    """The rows for which the filter holds."""
    return table.filter(mask(condition, table))


def pushable(condition: Filter, files_columns: pa.Schema, schema: pa.Schema) -> Filter | None:
    """The part of a filter that a Parquet reader can apply to a file: implied by the whole, or None.

    Left out are functions, columns that the file lacks or holds in another type, and what not-a-number meets: the
    bounds of a row group leave it out, and the reader would skip it.

    Clauses: RD-012, DM-004.
    """
    if isinstance(condition, And):
        kept = tuple(
            one for one in (pushable(part, files_columns, schema) for part in condition.parts) if one is not None
        )
        return And(kept) if kept else None
    whole = all(_is_readable(column, files_columns, schema) for column in _columns(condition))
    return condition if whole and not _may_want_nan(condition, schema) else None


def _may_want_nan(condition: Filter, schema: pa.Schema) -> bool:
    """Whether not-a-number may meet a filter: it is unequal to all, and fails what a filter negates."""
    match condition:
        case And(parts) | Or(parts):
            return any(_may_want_nan(part, schema) for part in parts)
        case Not():
            return any(pa.types.is_floating(schema.field(one.name).type) for one in _columns(condition))
        case Comparison(column=column, operator=operator):
            return operator == "!=" and pa.types.is_floating(schema.field(column.name).type)


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
    left = apply(column, operand(column.name))
    if condition.operator == "is_null":
        return pc.is_null(left)
    if condition.operator == "is_not_null":
        return pc.is_valid(left)
    if condition.operator == "in":
        return _is_in(left, condition, schema)
    return _COMPARE[condition.operator](left, scalar_of(condition.value, column, schema))


def _is_in(left: Operand, condition: Comparison, schema: pa.Schema) -> Operand:
    """Equalities, so that a null on either side leaves the answer unknown.

    Many values are looked up in a set, where its equality is that of `=`; beside it stay equalities that may be null.
    """
    if not condition.value:
        return pc.and_kleene(pc.is_null(left), pc.is_valid(left))
    many = plain_values(condition.value, condition.column, schema) if len(condition.value) > _MANY_VALUES else None
    if many is not None:
        return pc.or_kleene(pc.is_in(left, value_set=many), pc.equal(left, many[0]))
    scalars = [scalar_of(form, condition.column, schema) for form in condition.value]
    known = [scalar for scalar in scalars if scalar.is_valid]
    if len(known) <= _MANY_VALUES or known[0].type.id in _NOT_HASHED:
        return _fold(pc.or_kleene, [pc.equal(left, scalar) for scalar in scalars])
    found = pc.is_in(left, value_set=pa.array([scalar.as_py() for scalar in known], known[0].type))
    samples = [known[0], *(scalar for scalar in scalars if not scalar.is_valid)][:2]
    return _fold(pc.or_kleene, [found, *(pc.equal(left, scalar) for scalar in samples)])


def _check(condition: Filter, schema: pa.Schema) -> None:
    unknown = sorted(columns_of(condition) - set(schema.names))
    if unknown:
        raise invalid(no_column(unknown[0], schema.names))
    for column in _columns(condition):
        wrong = complaint(column, schema.field(column.name).type)
        if wrong is not None:
            raise invalid(f"{column.name}: {wrong}")
    try:
        mask(condition, schema.empty_table())
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise invalid(str(error)) from error
