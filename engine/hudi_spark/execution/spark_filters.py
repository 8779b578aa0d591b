"""The filter grammar as a Spark column, so that Spark pushes it into its own Parquet scan."""

import datetime as dt
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from hudi_adapter import filters
from hudi_adapter.filters import And, Comparison, Filter, Not, Or

from hudi_spark.execution.spark_types import spark_type, wire_type
from hudi_spark.expressions.functions import function_of
from hudi_spark.expressions.literals import value_of

if TYPE_CHECKING:
    from pyspark.sql import Column

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Without a length the text from a position on.
_LONGEST: Final = 2**31 - 1
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - local timestamps have no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def spark_column(condition: Filter, schema: pa.Schema) -> "Column":
    """The filter over the columns of a DataFrame.

    Clauses: RD-012.
    """
    match condition:
        case And(parts):
            return reduce(operator.and_, (spark_column(part, schema) for part in parts))
        case Or(parts):
            return reduce(operator.or_, (spark_column(part, schema) for part in parts))
        case Not(part):
            return ~spark_column(part, schema)
        case Comparison():
            return _comparison(condition, schema)


def _comparison(condition: Comparison, schema: pa.Schema) -> "Column":
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    column = condition.column
    left = _applied(column)
    if condition.operator == "is_null":
        return left.isNull()
    if condition.operator == "is_not_null":
        return left.isNotNull()
    kind = schema.field(column.name).type if function_of(column).result is None else None
    if condition.operator == "in":
        values = [_literal(value_of(form, column, schema), kind) for form in condition.value]
        return left.isin(values) if values else functions.lit(col=False)
    return _COMPARE[condition.operator](left, _literal(value_of(condition.value, column, schema), kind))


def _applied(column: filters.Column) -> "Column":
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    values = functions.col(quoted(column.name))
    given = [functions.lit(one) for one in column.arguments]
    match column.function:
        case "identity":
            return values
        case "substring":
            position = given[0] if given else functions.lit(1)
            return functions.call_function("substring", values, position, *(given[1:] or [functions.lit(_LONGEST)]))
        case "trim" | "ltrim" | "rtrim":
            # Spark's own order: the characters stand before the text.
            return functions.call_function(column.function, *given, values)
        case _:
            return functions.call_function(column.function, values, *given)


def quoted(name: str) -> str:
    """A column name in which dots and backticks are plain characters."""
    return "`" + name.replace("`", "``") + "`"


def _literal(value: Any, kind: pa.DataType | None) -> "Column":
    """A literal of the column's type; times of day are numbers in Spark."""
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    if isinstance(value, dt.time):
        return functions.lit(_of_day(value) // (1000 if kind == pa.time32("ms") else 1))
    if isinstance(value, dt.datetime):
        micros = (value.astimezone(dt.UTC).replace(tzinfo=None) - _EPOCH) // _MICROSECOND if value.tzinfo else None
        return functions.expr(f"timestamp_micros({micros})") if micros is not None else _local(value)
    literal = functions.lit(value)
    # Decimals of another scale compare by value.
    return literal if kind is None or pa.types.is_decimal(kind) else literal.cast(spark_type(wire_type(kind)))


def _local(value: dt.datetime) -> "Column":
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    return functions.lit(value.isoformat(sep=" ", timespec="microseconds")).cast("timestamp_ntz")


def _of_day(value: dt.time) -> int:
    return (dt.datetime.combine(_EPOCH.date(), value) - _EPOCH) // _MICROSECOND
