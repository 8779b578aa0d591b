"""The type a column of Arrow rows gets in a table: as Spark's rows get theirs, without loss, or refused by name."""

from collections.abc import Iterable
from typing import Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.table.internal_schema import ArrayType, ColumnType, InternalField, MapType, PrimitiveType, RecordType

from hudi_spark.errors import HudiError
from hudi_spark.evolution.avro_form import fixed_size

NOTHING: Final = PrimitiveType("null")
"""The type of a column of nulls: any type that the table has, none of its own."""

_MAXIMUM_PRECISION: Final = 38
_UNSIGNED_LONG: Final = pa.decimal128(20, 0)
_NO_ID: Final = -1


def columns_of_arrow(fields: Iterable[pa.Field]) -> tuple[InternalField, ...]:
    """The columns that rows bring; without ids.

    Integers of up to 32 bits are ints, unsigned ones the next wider type (64 bits: 20 digits), texts and bytes of any
    width plain ones, times of day and instants count microseconds; instants with a zone are in UTC.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a type that a table cannot hold, with the column's name.

    Clauses: DM-003, DM-004.

    """
    return tuple(InternalField(_NO_ID, field.name, field.nullable, _type(field.type, field.name)) for field in fields)


def plain(kind: pa.DataType) -> pa.DataType:
    """What a dictionary, run lengths or an extension encode; other types are themselves."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return plain(kind.storage_type)
    return kind


def is_listed(kind: pa.DataType) -> bool:
    """Whether values are lists, of whichever layout."""
    layouts = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    return any(belongs(kind) for belongs in layouts)


def _type(kind: pa.DataType, place: str) -> ColumnType:
    kind = plain(kind)
    if pa.types.is_struct(kind):
        if not kind.num_fields:
            raise _refused(place, kind, "give the struct a field")
        inner = (InternalField(_NO_ID, one.name, one.nullable, _type(one.type, f"{place}.{one.name}")) for one in kind)
        return RecordType(tuple(inner))
    if is_listed(kind):
        return ArrayType(_NO_ID, _type(kind.value_type, f"{place}.element"), kind.value_field.nullable)
    if pa.types.is_map(kind):
        return _map(kind, place)
    return _primitive(kind, place)


def _map(kind: pa.MapType, place: str) -> MapType:
    key = _type(kind.key_type, f"{place}.key")
    if key != PrimitiveType("string"):
        raise _refused(f"{place}.key", kind.key_type, "keys of maps are texts: cast them")
    return MapType(_NO_ID, key, _NO_ID, _type(kind.item_type, f"{place}.value"), kind.item_field.nullable)


def _primitive(kind: pa.DataType, place: str) -> PrimitiveType:
    if pa.types.is_decimal(kind):
        return _decimal(kind, place)
    if pa.types.is_timestamp(kind):
        return PrimitiveType("local-timestamp-micros" if kind.tz is None else "timestamp")
    if pa.types.is_time(kind):
        return PrimitiveType("time")
    if pa.types.is_uint64(kind):
        return _decimal(_UNSIGNED_LONG, place)
    for belongs, name in _NAMES:
        if belongs(kind):
            return PrimitiveType(name)
    raise _refused(place, kind, "cast it to a type that Avro has")


def _decimal(kind: pa.DataType, place: str) -> PrimitiveType:
    if kind.precision > _MAXIMUM_PRECISION or not 0 <= kind.scale <= kind.precision:
        raise _refused(place, kind, f"at most {_MAXIMUM_PRECISION} digits, none of them left out")
    return PrimitiveType("decimal_fixed", kind.precision, kind.scale, fixed_size(kind.precision))


def _refused(place: str, kind: pa.DataType, hint: str) -> HudiError:
    message = f"column {place!r} is {kind}, which a table cannot hold"
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint=hint)


def _is_int(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) and (kind.bit_width < 32 or pa.types.is_int32(kind)))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    widths = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(belongs(kind) for belongs in widths)


_NAMES: Final = (
    (pa.types.is_null, NOTHING.name),
    (pa.types.is_boolean, "boolean"),
    (_is_int, "int"),
    (pa.types.is_integer, "long"),
    (pa.types.is_float16, "float"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_date, "date"),
    (_is_text, "string"),
    (_is_binary, "binary"),
)
