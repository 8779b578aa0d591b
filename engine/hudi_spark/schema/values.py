"""Values of a file's columns as values of the table's, each widened where the table's type is wider."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.table.internal_schema import ArrayType, ColumnType, InternalField, MapType, RecordType

# Within these powers of ten Java writes a number without exponent.
_PLAIN_FROM, _PLAIN_BELOW = -3, 7
# A month or day of one digit, which the regular expressions of Arrow cannot look around.
_LONE_DIGIT = r"-([0-9])\b"
# The digits of the widest decimal, so that no rounding but the last happens.
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def promoted(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """Values of another kind in the type the table has now, or None where no such promotion leads there.

    A narrow float becomes the wide one of the same shortest digits: 0.1 stays 0.1. An integer becomes the nearest
    float, and a number or text the nearest decimal of the table's scale, halves away from zero.

    Raises:
        ArrowInvalid: a text that is no such value, a number with more digits than the decimal has.

    Clauses: DM-004, DM-021.

    """
    found = array.type
    if pa.types.is_floating(wanted):
        return _as_float(array, wanted)
    if pa.types.is_string(wanted):
        return _as_text(array)
    if pa.types.is_decimal(wanted) and not pa.types.is_binary(found):
        return _as_decimal(array, wanted)
    if pa.types.is_date(wanted) and pa.types.is_string(found):
        padded = pc.replace_substring_regex(array, _LONE_DIGIT, r"-0\1")
        return pc.replace_substring_regex(padded, _LONE_DIGIT, r"-0\1").cast(wanted)
    return None


def _as_float(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_float32(array.type) and pa.types.is_float64(wanted):
        return array.cast(pa.string()).cast(wanted)
    # Java's promotion of large integers rounds, too.
    return pc.cast(array, wanted, safe=False) if pa.types.is_integer(array.type) else None


def _as_text(array: pa.Array) -> pa.Array | None:
    found = array.type
    if pa.types.is_floating(found):
        return pa.array([text and java_text(text) for text in array.cast(pa.string()).to_pylist()], pa.string())
    plain = pa.types.is_integer(found) or pa.types.is_decimal(found) or pa.types.is_date32(found)
    return array.cast(pa.string()) if plain else None


def _as_decimal(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    found = array.type
    if not (pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_string(found)):
        return None
    texts = array.cast(pa.string()).to_pylist()
    try:
        return pa.array(_rounded(texts, wanted.scale), wanted)
    except ArithmeticError as error:
        raise pa.ArrowInvalid(f"a value is no {wanted}") from error


def _rounded(texts: Iterable[str | None], scale: int) -> list[Decimal | None]:
    step = Decimal(1).scaleb(-scale)
    return [None if text is None else Decimal(text).quantize(step, context=_EXACT) for text in texts]


def java_text(number: str) -> str:
    """A float's shortest digits in the form in which Java writes it: 7.0, 1.0E10, NaN.

    Clauses: DM-004.
    """
    value = Decimal(number)
    sign = "-" if value.is_signed() else ""
    if value.is_nan():
        return "NaN"
    if value.is_infinite():
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
    power = value.adjusted()
    if _PLAIN_FROM <= power < _PLAIN_BELOW:
        return sign + _plain(digits, power)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{digits[power + 1 :] or '0'}"


ELEMENT, VALUE = "element", "value"


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a column in a file.

    `name` is None where the file cannot hold the column. `parts`: those of a struct by the table's names, those of a
    list and of the values of a map under `element` and `value`; None where they are found by their own names.

    Clauses: DM-004, DM-021.
    """

    name: str | None
    parts: "Sources | None" = None

    def part(self, name: str) -> "Source":
        """The place of a part of the column."""
        return Source(name) if self.parts is None else self.parts.get(name, Source(name))


Sources = Mapping[str, Source]


def sources_by_id(
    schema: pa.Schema, current: tuple[InternalField, ...], written: tuple[InternalField, ...]
) -> dict[str, Source]:
    """The place of each column of a table in a file of an older schema.

    A column that the table's own ids do not know, such as a meta field of a writer's, is found by its name.

    Clauses: DM-021.
    """
    return _of_fields(schema, current, written)


def _of_fields(
    wanted: pa.Schema | pa.StructType, current: tuple[InternalField, ...], written: tuple[InternalField, ...]
) -> dict[str, Source]:
    ids = {field.name: field for field in current}
    then = {field.id: field for field in written}
    return {field.name: _of_field(field, ids.get(field.name), then) for field in wanted}


def _of_field(wanted: pa.Field, current: InternalField | None, then: Mapping[int, InternalField]) -> Source:
    if current is None:
        return Source(wanted.name)
    written = then.get(current.id)
    if written is None:
        return Source(None)
    return Source(written.name, _parts(wanted.type, current.type, written.type))


def _parts(wanted: pa.DataType, current: ColumnType, written: ColumnType) -> Sources | None:
    if pa.types.is_struct(wanted) and isinstance(current, RecordType) and isinstance(written, RecordType):
        return _of_fields(wanted, current.fields, written.fields)
    if pa.types.is_list(wanted) and isinstance(current, ArrayType) and isinstance(written, ArrayType):
        return {ELEMENT: Source(ELEMENT, _parts(wanted.value_type, current.element, written.element))}
    if pa.types.is_map(wanted) and isinstance(current, MapType) and isinstance(written, MapType):
        return {VALUE: Source(VALUE, _parts(wanted.item_type, current.value, written.value))}
    return None


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
