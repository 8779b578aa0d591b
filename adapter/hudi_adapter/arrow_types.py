"""Logical types to and from Arrow types."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.types as kinds

from hudi_adapter.logical_types import (
    DecimalType,
    ListType,
    LogicalType,
    LogicalTypeError,
    MapType,
    Primitive,
    StructType,
    parse_type,
    type_name,
)

_ARROW: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "time-millis": pa.time32("ms"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
}

_PLAIN: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (kinds.is_boolean, "boolean"),
    (lambda kind: kinds.is_signed_integer(kind) and kind.bit_width <= 32, "int32"),
    (lambda kind: kinds.is_unsigned_integer(kind) and kind.bit_width <= 16, "int32"),
    (kinds.is_int64, "int64"),
    (kinds.is_uint32, "int64"),
    (lambda kind: kinds.is_float16(kind) or kinds.is_float32(kind), "float32"),
    (kinds.is_float64, "float64"),
    (lambda kind: kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind), "string"),
    (lambda kind: kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_binary_view(kind), "binary"),
    (kinds.is_fixed_size_binary, "binary"),
    (kinds.is_date, "date"),
    (kinds.is_time32, "time-millis"),
    (kinds.is_time64, "time-micros"),
)


def logical_type(arrow_type: pa.DataType) -> str:
    """Name of the logical type of an Arrow type, whatever its physical width.

    Raises:
        LogicalTypeError: the type has no logical counterpart.

    """
    return type_name(_logical(arrow_type))


def arrow_type(logical: str | LogicalType) -> pa.DataType:
    """The Arrow type in which rows of this logical type are held.

    Raises:
        LogicalTypeError: the text names no logical type, or a decimal is wider than Arrow's widest.

    """
    kind = parse_type(logical) if isinstance(logical, str) else logical
    if isinstance(kind, Primitive):
        return _ARROW[kind.name]
    if isinstance(kind, DecimalType):
        return _decimal(kind)
    if isinstance(kind, ListType):
        return pa.list_(arrow_type(kind.element))
    if isinstance(kind, MapType):
        return pa.map_(pa.string(), arrow_type(kind.value))
    return pa.struct([pa.field(name, arrow_type(field)) for name, field in kind.fields])


def _decimal(kind: DecimalType) -> pa.DataType:
    try:
        return (pa.decimal128 if kind.precision <= 38 else pa.decimal256)(kind.precision, kind.scale)
    except ValueError as error:
        raise LogicalTypeError(f"{type_name(kind)}: {error}") from error


def _logical(kind: pa.DataType) -> LogicalType:
    if kinds.is_dictionary(kind):
        return _logical(kind.value_type)
    return _nested(kind) if kinds.is_nested(kind) else _flat(kind)


def _nested(kind: pa.DataType) -> LogicalType:
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        return ListType(_logical(kind.value_type))
    if kinds.is_map(kind) and _logical(kind.key_type) == Primitive("string"):
        return MapType(_logical(kind.item_type))
    if kinds.is_struct(kind):
        return StructType(tuple((field.name, _logical(field.type)) for field in kind))
    raise LogicalTypeError(f"Arrow type {kind} has no logical type")


def _flat(kind: pa.DataType) -> LogicalType:
    if kinds.is_decimal(kind):
        return DecimalType(kind.precision, kind.scale)
    if kinds.is_timestamp(kind):
        return Primitive(_timestamp_name(kind))
    for matches, name in _PLAIN:
        if matches(kind):
            return Primitive(name)
    raise LogicalTypeError(f"Arrow type {kind} has no logical type")


def _timestamp_name(kind: pa.DataType) -> str:
    precision = "millis" if kind.unit in {"s", "ms"} else "micros"
    return f"{'local-' if kind.tz is None else ''}timestamp-{precision}"
