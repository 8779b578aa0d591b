"""Avro records of flat schemas as Arrow columns, column by column: no value becomes a Python object.

A cursor stands in every record at once and moves from field to field. Whatever is not plain, nested types or bytes that
do not decode, is not decoded here at all: who reads the records one by one says what is wrong with them.
"""

from collections.abc import Callable, Collection, Mapping
from itertools import compress
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hudi_format.avro.pieces import Bytes, Numbers
from hudi_format.avro.schemas import AvroSchema, with_names_resolved

# Around the bytes, so that a value may be read in the width of the widest without looking where the bytes end.
_MARGIN: Final = 16
_ROWS_AT_ONCE: Final = 16_384
_MAXIMUM_VARINT_BYTES: Final = 10
_SEVEN_BITS: Final = 7
_INLINE_BYTES: Final = 12
_DECIMAL_BYTES: Final = 16
_LARGEST_OFFSET: Final = 2**31 - 1
_INT: Final = np.iinfo(np.int32)
_Read = Callable[["_Cursor", AvroSchema, pa.DataType, NDArray[np.bool_] | None], Any]
"""What is made of the values of one field: an array, or nothing where they are passed."""


class _NotPlainError(ValueError):
    """These records are not for this decoder."""


def decode_flat_rows(  # noqa: PLR0917 - bytes, where records stand in them, what they hold, what is wanted
    data: bytes,
    starts: Numbers,
    ends: Numbers,
    schema: AvroSchema,
    target: pa.Schema,
    wanted: Collection[str] | None = None,
) -> Any:
    """The records that stand in the bytes from `starts` to `ends`, as a table in the columns of `target`.

    `target` is the Arrow schema of the Avro schema; of its columns only those that are wanted are made, all by default.
    The bytes of the others are walked over: where they do not lead to the end of a record, it does not decode. None
    where a type is nested, and where some record does not decode.

    Clauses: LF-007.
    """
    if len(data) > _LARGEST_OFFSET - 2 * _MARGIN:
        return None
    around = b"\0" * _MARGIN
    padded = np.frombuffer(b"".join((around, data, around)), np.uint8)
    fields = with_names_resolved(schema)["fields"]
    chosen = [wanted is None or one.name in wanted for one in target]
    answered = pa.schema([one for one, is_wanted in zip(target, chosen, strict=True) if is_wanted])
    batches = []
    try:
        for first in range(0, len(starts), _ROWS_AT_ONCE):
            span = slice(first, first + _ROWS_AT_ONCE)
            cursor = _Cursor(padded, starts[span] + _MARGIN, ends[span] + _MARGIN)
            columns = [
                _column(cursor, field["type"], one.type, _values if is_wanted else _passed)
                for field, one, is_wanted in zip(fields, target, chosen, strict=True)
            ]
            cursor.expect_end()
            batches.append(pa.RecordBatch.from_arrays(list(compress(columns, chosen)), schema=answered))
    except (_NotPlainError, pa.ArrowInvalid):
        return None
    return pa.Table.from_batches(batches, answered)


class _Cursor:
    """A position in each record."""

    def __init__(self, data: NDArray[np.uint8], at: Numbers, ends: Numbers) -> None:
        self.data = data
        self.at = at
        self.ends = ends

    def __len__(self) -> int:
        return len(self.at)

    def of(self, rows: Numbers) -> "_Cursor":
        """The same for some of the records."""
        return _Cursor(self.data, self.at[rows], self.ends[rows])

    def move(self, widths: Numbers | int) -> Numbers:
        """Where the cursor stands; it moves on by so many bytes."""
        before = self.at
        self.at = before + widths
        if np.any(self.at > self.ends):
            raise _NotPlainError
        return before

    def expect_end(self) -> None:
        if np.any(self.at != self.ends):
            raise _NotPlainError

    def bytes(self, width: int) -> Bytes:
        """So many bytes of each record."""
        return self.window(self.move(width), width)

    def window(self, at: Numbers, width: int) -> Bytes:
        """The bytes at some places, wherever the cursor stands."""
        if not width:
            return np.empty((len(at), 0), np.uint8)
        # One gather of values so wide: an index for each byte would be eight times as large as the bytes.
        places = np.ndarray(len(self.data) - width + 1, f"V{width}", self.data, strides=(1,))
        found: Bytes = places[at].view(np.uint8).reshape(len(at), width)
        return found

    def varints(self) -> Numbers:
        """Zigzag numbers."""
        first = self.data[self.move(1)]
        values = (first & 0x7F).astype(np.uint64)
        going = np.flatnonzero(first > 0x7F)
        for shift in range(1, _MAXIMUM_VARINT_BYTES):
            if not len(going):
                break
            following = self.data[self.at[going]]
            if shift == _MAXIMUM_VARINT_BYTES - 1 and np.any(following > 1):
                raise _NotPlainError
            values[going] |= (following & 0x7F).astype(np.uint64) << np.uint64(_SEVEN_BITS * shift)
            self.at[going] += 1
            if np.any(self.at > self.ends):
                raise _NotPlainError
            going = going[following > 0x7F]
        found: Numbers = (values >> np.uint64(1)).view(np.int64) ^ -(values & np.uint64(1)).view(np.int64)
        return found

    def pass_varints(self) -> None:
        """Numbers of any value."""
        going = np.flatnonzero(self.data[self.move(1)] > 0x7F)
        for _ in range(1, _MAXIMUM_VARINT_BYTES):
            if not len(going):
                return
            following = self.data[self.at[going]]
            self.at[going] += 1
            if np.any(self.at > self.ends):
                raise _NotPlainError
            going = going[following > 0x7F]
        if len(going):
            raise _NotPlainError

    def spans(self) -> tuple[Numbers, Numbers]:
        """Place and length of bytes after their length."""
        lengths = self.varints()
        if np.any(lengths < 0) or np.any(lengths > self.ends - self.at):
            raise _NotPlainError
        return self.move(lengths), lengths


def _column(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, read: _Read) -> Any:
    """What `read` makes of one field of all records, after which the cursor stands behind it."""
    if not isinstance(schema, list):
        return read(cursor, schema, kind, None)
    branches = cursor.bytes(1)[:, 0]
    if np.any(branches & 1) or np.any(branches >= 2 * len(schema)):
        raise _NotPlainError
    if kind == pa.null():
        return pa.nulls(len(cursor))
    (place,) = (index for index, branch in enumerate(schema) if branch != "null")
    valid = branches == 2 * place
    if valid.all():
        return read(cursor, schema[place], kind, None)
    rows = np.flatnonzero(valid)
    inner = cursor.of(rows)
    found = read(inner, schema[place], kind, valid)
    cursor.at[rows] = inner.at
    return found


def _passed(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: NDArray[np.bool_] | None) -> None:
    """The cursor moves behind the values; nothing is made of them."""
    plain = schema if isinstance(schema, str) else schema["type"]
    if not isinstance(plain, str):
        _passed(cursor, plain, kind, valid)
    elif plain in _WIDTHS:
        cursor.move(_WIDTHS[plain])
    elif plain == "fixed":
        cursor.move(int(schema["size"]))
    elif plain in {"int", "long", "enum"}:
        cursor.pass_varints()
    elif plain in {"bytes", "string"}:
        cursor.spans()
    else:
        raise _NotPlainError


def _values(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: NDArray[np.bool_] | None) -> pa.Array:
    """The values of those records that have one; `valid` says which of all records these are."""
    plain = schema if isinstance(schema, str) else schema["type"]
    if not isinstance(plain, str):
        return _values(cursor, plain, kind, valid)
    if plain == "null":
        return pa.nulls(len(cursor))
    reader = _READERS.get(plain)
    if reader is None:
        raise _NotPlainError
    return reader(cursor, schema, kind, valid)


def _numbers(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: Any) -> pa.Array:
    values = cursor.varints()
    del schema
    if kind.bit_width == _INT.bits:
        if np.any(values < _INT.min) or np.any(values > _INT.max):
            raise _NotPlainError
        return _fixed_width(values.astype(np.int32), kind, valid)
    return _fixed_width(values, kind, valid)


def _floats(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: Any) -> pa.Array:
    del schema
    width = kind.bit_width // 8
    return _fixed_width(cursor.bytes(width).view(f"<f{width}")[:, 0], kind, valid)


def _booleans(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: Any) -> pa.Array:
    del schema
    values = cursor.bytes(1)[:, 0]
    if np.any(values > 1):
        raise _NotPlainError
    return _fixed_width(values, pa.uint8(), valid).cast(kind)


def _texts(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: Any) -> pa.Array:
    """Arrow gathers them from views: place and length, or a short text itself."""
    at, lengths = cursor.spans()
    if pa.types.is_decimal(kind):
        return _decimals(cursor, at, lengths, kind, valid)
    del schema
    views = np.zeros((len(at), 4 + _INLINE_BYTES), np.uint8)
    views[:, :4] = lengths.astype("<i4").view(np.uint8).reshape(-1, 4)
    begins = cursor.window(at, _INLINE_BYTES)
    views[:, 4:] = np.where(np.arange(_INLINE_BYTES) < lengths[:, None], begins, 0)
    long = np.flatnonzero(lengths > _INLINE_BYTES)
    views[long, 8:12] = 0
    views[long, 12:] = at[long].astype("<i4").view(np.uint8).reshape(-1, 4)
    stored = _scattered(views, valid)
    buffers = [_bitmap(valid), pa.py_buffer(stored), pa.py_buffer(cursor.data)]
    return pa.Array.from_buffers(pa.binary_view(), len(stored), buffers).cast(pa.binary()).cast(kind)


def _fixed(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: Any) -> pa.Array:
    size = int(schema["size"])
    at = cursor.move(size)
    if pa.types.is_decimal(kind):
        return _decimals(cursor, at, np.full(len(at), size), kind, valid)
    values = _scattered(cursor.window(at, size), valid)
    offsets = np.arange(len(values) + 1, dtype=np.int32) * np.int32(size)
    buffers = [_bitmap(valid), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)


def _symbols(cursor: _Cursor, schema: AvroSchema, kind: pa.DataType, valid: Any) -> pa.Array:
    values = cursor.varints()
    if np.any(values < 0) or np.any(values >= len(schema["symbols"])):
        raise _NotPlainError
    return pa.array(schema["symbols"], kind).take(_fixed_width(values, pa.int64(), valid))


def _decimals(cursor: _Cursor, at: Numbers, lengths: Numbers, kind: pa.DataType, valid: Any) -> pa.Array:
    """The unscaled numbers, in little-endian bytes of the width that Arrow has."""
    if kind.byte_width != _DECIMAL_BYTES or np.any(lengths > _DECIMAL_BYTES):
        raise _NotPlainError
    ending = cursor.window(at + lengths - _DECIMAL_BYTES, _DECIMAL_BYTES)
    negative = (cursor.data[at] > 0x7F) & (lengths > 0)
    sign = np.where(negative, np.uint8(0xFF), np.uint8(0))[:, None]
    number = np.where(np.arange(_DECIMAL_BYTES) < _DECIMAL_BYTES - lengths[:, None], sign, ending)
    stored = _scattered(number[:, ::-1], valid)
    found = pa.Array.from_buffers(kind, len(stored), [_bitmap(valid), pa.py_buffer(np.ascontiguousarray(stored))])
    found.validate(full=True)
    return found


def _fixed_width(values: NDArray[Any], kind: pa.DataType, valid: Any) -> pa.Array:
    stored = np.ascontiguousarray(_scattered(values, valid))
    return pa.Array.from_buffers(kind, len(stored), [_bitmap(valid), pa.py_buffer(stored)])


def _scattered(values: NDArray[Any], valid: Any) -> NDArray[Any]:
    """The values at the places of their records, zeros at the others."""
    if valid is None:
        return values
    everywhere = np.zeros((len(valid), *values.shape[1:]), values.dtype)
    everywhere[valid] = values
    return everywhere


def _bitmap(valid: Any) -> pa.Buffer | None:
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))


_WIDTHS: Final = {"null": 0, "boolean": 1, "float": 4, "double": 8}

_READERS: Final[Mapping[str, Callable[[_Cursor, AvroSchema, pa.DataType, Any], pa.Array]]] = {
    "int": _numbers,
    "long": _numbers,
    "float": _floats,
    "double": _floats,
    "boolean": _booleans,
    "bytes": _texts,
    "string": _texts,
    "fixed": _fixed,
    "enum": _symbols,
}
