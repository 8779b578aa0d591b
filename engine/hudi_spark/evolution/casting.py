"""Rows brought to the schema of a write, losing nothing: what does not fit is refused, by column."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.evolution.arrow_types import is_listed, plain
from hudi_spark.schemas.promotions import promoted

_CLAUSE = "DM-004"
_FAILURES = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError)


def brought(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows in the columns of a schema: cast, in its order, null where they lack a column.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that the column cannot hold, a null in a required one.

    Clauses: DM-004.

    """
    columns = [_column(rows, field) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    index = rows.schema.get_field_index(field.name)
    if index < 0:
        column = pa.chunked_array([pa.nulls(rows.num_rows, field.type)], field.type)
    elif rows.column(index).type == field.type:
        column = rows.column(index)
    else:
        chunks = [_array(chunk, field.type, field.name) for chunk in rows.column(index).chunks]
        column = pa.chunked_array(chunks, field.type)
    if not field.nullable and column.null_count:
        raise _null(field.name)
    return column


def _array(array: pa.Array, wanted: pa.DataType, place: str) -> pa.Array:
    array = _plain_values(array)
    if array.type == wanted:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    whole = pa.concat_arrays([array, array.slice(0, 0)]) if array.offset else array
    if pa.types.is_struct(array.type) and pa.types.is_struct(wanted):
        return _struct(whole, wanted, place)
    if is_listed(array.type) and pa.types.is_list(wanted):
        return _list(whole, wanted, place)
    if pa.types.is_map(array.type) and pa.types.is_map(wanted):
        return _map(whole, wanted, place)
    return _leaf(array, wanted, place)


def _plain_values(array: pa.Array) -> pa.Array:
    """The values themselves of a dictionary, of run lengths, of an extension type."""
    while array.type != plain(array.type):
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            array = array.storage
    return array


def _struct(array: pa.StructArray, wanted: pa.StructType, place: str) -> pa.Array:
    # Flattened, a part is null wherever its struct is.
    held = dict(zip([field.name for field in array.type], array.flatten(), strict=True))
    parts = [_part(array, held.get(field.name), field, f"{place}.{field.name}") for field in wanted]
    return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=array.is_null())


def _part(array: pa.StructArray, held: pa.Array | None, wanted: pa.Field, place: str) -> pa.Array:
    part = pa.nulls(len(array), wanted.type) if held is None else _array(held, wanted.type, place)
    if not wanted.nullable and pc.any(pc.and_not(part.is_null(), array.is_null())).as_py():
        raise _null(place)
    return part


def _list(array: pa.Array, wanted: pa.ListType, place: str) -> pa.Array:
    # One layout of lists for all: what the lists hold, one after the other, and how much each of them holds.
    held = array.flatten()
    values = _array(held, wanted.value_type, f"{place}.element")
    _refuse_nulls(held, wanted.value_field, f"{place}.element")
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values, type=wanted, mask=array.is_null())


def _map(array: pa.MapArray, wanted: pa.MapType, place: str) -> pa.Array:
    keys = _array(array.keys, wanted.key_type, f"{place}.key")
    items = _array(array.items, wanted.item_type, f"{place}.value")
    _refuse_nulls(items, wanted.item_field, f"{place}.value")
    return pa.MapArray.from_arrays(array.offsets, keys, items, type=wanted, mask=array.is_null())


def _refuse_nulls(values: pa.Array, wanted: pa.Field, place: str) -> None:
    if not wanted.nullable and values.null_count:
        raise _null(place)


def _leaf(array: pa.Array, wanted: pa.DataType, place: str) -> pa.Array:
    try:
        return _cast(array, wanted)
    except _FAILURES as error:
        message = f"column {place!r} has a value of {array.type} that {wanted} cannot hold: {error}"
        hint = f"cast the column to {wanted} as you want it rounded, or widen the table's column first"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint=hint) from error


def _cast(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    found = array.type
    for holds, way in _WAYS:
        if holds(found, wanted):
            return way(array, wanted)
    return pc.cast(array, wanted)


def _through_text(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """A number's shortest digits as a decimal; Arrow refuses digits that the decimal has no place for."""
    return array.cast(pa.string()).cast(wanted)


def _as_promoted(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """As an older file's values are read in the table's newer type."""
    other = promoted(array, wanted)
    return pc.cast(array, wanted) if other is None else other


def _of_whole_days(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    days = array.cast(wanted)
    if not days.cast(array.type).equals(array):
        raise pa.ArrowInvalid("a time of day would be lost")
    return days


_WAYS: tuple[tuple[Callable[[pa.DataType, pa.DataType], bool], Callable[[pa.Array, pa.DataType], pa.Array]], ...] = (
    (lambda found, wanted: pa.types.is_decimal(wanted) and not pa.types.is_decimal(found), _through_text),
    (lambda found, wanted: pa.types.is_string(wanted) and not _is_text(found), _as_promoted),
    (lambda found, wanted: pa.types.is_date(wanted) and _is_text(found), _as_promoted),
    # A float's shortest digits, as releases write it: 0.1 stays 0.1.
    (lambda found, wanted: pa.types.is_float32(found) and pa.types.is_float64(wanted), _as_promoted),
    (lambda found, _: pa.types.is_date64(found), _of_whole_days),
)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _null(place: str) -> HudiError:
    message = f"column {place!r} is required, and a row has none"
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint="fill the column")
