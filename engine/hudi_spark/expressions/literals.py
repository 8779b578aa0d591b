"""The values of a filter in the types that they are compared in."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
from hudi_adapter.arrow_types import arrow_type
from hudi_adapter.filters import Column
from hudi_adapter.reasons import Reason
from hudi_adapter.values import ValueFormError, decode_value

from hudi_spark.errors import HudiError
from hudi_spark.expressions.functions import function_of, result_type

_FLOATS = ("float32", "float64")


def compared_type(column: Column, schema: pa.Schema) -> pa.DataType:
    """The Arrow type of a filter's column after its function."""
    result = function_of(column).result
    return schema.field(column.name).type if result is None else arrow_type(result)


def value_of(form: Any, column: Column, schema: pa.Schema) -> Any:
    """A filter's value as a Python value of the compared type.

    Raises:
        HudiError: CONFIG_INVALID when it has another type.

    Clauses: RD-012.

    """
    logical = result_type(column, schema.field(column.name).type)
    if not isinstance(form, str | list | dict):
        # Arrow would cut a fraction off, and take a number for a day.
        if form is not None and not _takes(logical, form):
            raise invalid(f"{column.name}: {form!r} is no {logical}")
        return form
    try:
        return decode_value(form, logical)
    except ValueFormError as error:
        raise invalid(f"{column.name}: {error}") from error


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


def _takes(logical: str, form: float) -> bool:
    """Whether a truth value or a number that JSON holds as such is one of the logical type."""
    family = logical.partition("(")[0]
    if isinstance(form, bool):
        return family == "boolean"
    return family in _FLOATS or (isinstance(form, int) and family in ("int32", "int64", "decimal"))


def invalid(message: str) -> HudiError:
    """A filter that cannot be used."""
    return HudiError(Reason.CONFIG_INVALID, "RD-012", f"the filter cannot be used: {message}")
