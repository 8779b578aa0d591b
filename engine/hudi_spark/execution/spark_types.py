"""Arrow types as Spark has them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hudi_spark.errors import UnsupportedFeature

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_SPARK_DECIMAL_DIGITS = 38

_NAMES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (pa.types.is_boolean, "BooleanType"),
    (pa.types.is_int8, "ByteType"),
    (pa.types.is_int16, "ShortType"),
    (pa.types.is_int32, "IntegerType"),
    (pa.types.is_int64, "LongType"),
    (pa.types.is_float32, "FloatType"),
    (pa.types.is_float64, "DoubleType"),
    (pa.types.is_string, "StringType"),
    (pa.types.is_binary, "BinaryType"),
    (pa.types.is_date32, "DateType"),
    (pa.types.is_null, "NullType"),
)


def wire_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns in types that Spark takes from Arrow: times of day as numbers, timestamps in microseconds."""
    return pa.schema([pa.field(field.name, wire_type(field.type)) for field in schema])


def wire_type(kind: pa.DataType) -> pa.DataType:
    """The Arrow type in which values of a type go to Spark."""
    if pa.types.is_time(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, wire_type(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", wire_type(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(wire_type(kind.key_type), pa.field("value", wire_type(kind.item_type)))
    return kind


def contains_time(kind: pa.DataType) -> bool:
    """Whether a type has a time of day in it, which Spark's Parquet reader refuses."""
    if pa.types.is_struct(kind):
        return any(contains_time(field.type) for field in kind)
    if pa.types.is_list(kind):
        return contains_time(kind.value_type)
    if pa.types.is_map(kind):
        return contains_time(kind.item_type)
    return bool(pa.types.is_time(kind))


def spark_schema(schema: pa.Schema) -> "StructType":
    """The Spark schema of a wire schema.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    from pyspark.sql import types  # noqa: PLC0415 - pyspark is optional

    return types.StructType([types.StructField(field.name, spark_type(field.type)) for field in schema])


def spark_type(kind: pa.DataType) -> "DataType":
    """The Spark type of a wire type.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    from pyspark.sql import types  # noqa: PLC0415 - pyspark is optional

    nested = _nested_type(kind, types)
    if nested is not None:
        return nested
    if pa.types.is_timestamp(kind):
        return types.TimestampType() if kind.tz is not None else types.TimestampNTZType()
    if pa.types.is_decimal(kind) and kind.precision <= _SPARK_DECIMAL_DIGITS:
        return types.DecimalType(kind.precision, kind.scale)
    for matches, name in _NAMES:
        if matches(kind):
            return getattr(types, name)()
    raise UnsupportedFeature("spark-type", f"Spark has no type for {kind}; use read_arrow")


def _nested_type(kind: pa.DataType, types: Any) -> Any:
    if pa.types.is_struct(kind):
        return types.StructType([types.StructField(field.name, spark_type(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return types.ArrayType(spark_type(kind.value_type))
    if pa.types.is_map(kind):
        return types.MapType(spark_type(kind.key_type), spark_type(kind.item_type))
    return None
