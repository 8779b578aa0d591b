"""Values of a file's column as values of the table's: part by part, each widened where the table's type is wider."""

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.schemas.promotions import promoted
from hudi_spark.schemas.sources import ELEMENT, VALUE, Source


class Incompatible(Exception):  # noqa: N818 - an answer within this package, turned into a typed error
    """A value that the table's type cannot hold: the place within the column, the two types."""

    def __init__(self, place: str, found: pa.DataType, wanted: pa.DataType) -> None:
        super().__init__(f"{place} is {found} in the file and {wanted} in the table")


def brought(column: pa.ChunkedArray, wanted: pa.DataType, source: Source) -> pa.ChunkedArray:
    """A column in the table's type.

    Raises:
        Incompatible: it cannot be widened without loss.

    Clauses: DM-004, DM-021.

    """
    if column.type == wanted and source.parts is None:
        return column
    place = f"column {source.name!r}"
    return pa.chunked_array([_array(chunk, wanted, source, place) for chunk in column.chunks], wanted)


def brought_text(text: str | None, wanted: pa.DataType) -> pa.Scalar:
    """A value that was written as text, such as in a partition's path.

    Raises:
        Incompatible: it is no text of that type.

    Clauses: DM-022.

    """
    if text is None or pa.types.is_string(wanted):
        return pa.scalar(text, wanted)
    try:
        return pa.scalar(text, pa.string()).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise Incompatible("the value", pa.string(), wanted) from error


def _array(array: pa.Array, wanted: pa.DataType, source: Source, place: str) -> pa.Array:
    if array.type == wanted and source.parts is None:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    if not (pa.types.is_nested(array.type) or pa.types.is_nested(wanted)):
        return _leaf(array, wanted, place)
    whole = pa.concat_arrays([array, array.slice(0, 0)]) if array.offset else array
    if pa.types.is_struct(array.type) and pa.types.is_struct(wanted):
        return _struct(whole, wanted, source, place)
    if _is_list(array.type) and pa.types.is_list(wanted):
        return _list(whole, wanted, source, place)
    if pa.types.is_map(array.type) and pa.types.is_map(wanted):
        return _map(whole, wanted, source, place)
    raise Incompatible(place, array.type, wanted)


def _struct(array: pa.StructArray, wanted: pa.StructType, source: Source, place: str) -> pa.Array:
    parts = [_part(array, field, source.part(field.name), f"{place}.{field.name}") for field in wanted]
    if not parts:
        return pa.array([{} if valid else None for valid in array.is_valid().to_pylist()], wanted)
    return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=array.is_null())


def _part(array: pa.StructArray, wanted: pa.Field, source: Source, place: str) -> pa.Array:
    index = -1 if source.name is None else array.type.get_field_index(source.name)
    if index < 0:
        return pa.nulls(len(array), wanted.type)
    return _array(array.field(index), wanted.type, source, place)


def _list(array: pa.ListArray, wanted: pa.ListType, source: Source, place: str) -> pa.Array:
    values = _array(array.values, wanted.value_type, source.part(ELEMENT), f"{place}.element")
    return pa.ListArray.from_arrays(array.offsets.cast(pa.int32()), values, type=wanted, mask=array.is_null())


def _map(array: pa.MapArray, wanted: pa.MapType, source: Source, place: str) -> pa.Array:
    keys = _array(array.keys, wanted.key_type, Source(None), f"{place}.key")
    items = _array(array.items, wanted.item_type, source.part(VALUE), f"{place}.value")
    return pa.MapArray.from_arrays(array.offsets, keys, items, type=wanted, mask=array.is_null())


def _leaf(array: pa.Array, wanted: pa.DataType, place: str) -> pa.Array:
    try:
        other = promoted(array, wanted)
        if other is not None:
            return other
        if _widens(array.type, wanted):
            return pc.cast(array, wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise Incompatible(place, array.type, wanted) from error
    raise Incompatible(place, array.type, wanted)


def _widens(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of one type is one of the other, or Arrow's cast tells value by value."""
    if pa.types.is_integer(found) and pa.types.is_integer(wanted):
        return bool(found.bit_width <= wanted.bit_width)
    return any(belongs(found) and belongs(wanted) for belongs in _FAMILIES)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


_FAMILIES = (
    _is_text,
    pa.types.is_decimal,
    pa.types.is_timestamp,
    pa.types.is_time,
    pa.types.is_date,
)
