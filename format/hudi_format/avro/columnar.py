"""Arrow rows as Avro records, column by column: no value becomes a Python object.

Each column becomes pieces, arrays of bytes that give a value's encoding when they are put one after the other, and one
kernel of Arrow's puts the pieces of all columns together, row by row.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_format.avro.pieces import constant, expanded, fixed_width, joined, lengths_of, texts, varints
from hudi_format.avro.schemas import AvroSchema, with_names_resolved
from hudi_format.avro.unscaled import fixed_decimals, minimal_decimals
from hudi_format.schemas import arrow_schema, is_decimal

# The pieces of so many rows stay in a processor's cache.
ROWS_AT_ONCE: Final = 16_384
_BYTES_AT_ONCE: Final = 64 * 1024 * 1024
_RECORDS: Final = ("record", "error")


def encode_rows(rows: pa.Table, schema: AvroSchema) -> pa.ChunkedArray:
    """Each row as an Avro record of the schema: large binary, in pieces of some thousand rows.

    The rows have the schema's columns by name; other types that Arrow casts safely are cast.

    Raises:
        ValueError: a column is missing, or a value does not fit the schema: a null where none may stand, another
            symbol than the enum's, bytes of another length than the fixed type's.
        UnsupportedFormat: the schema has a type with no column form.

    Clauses: LF-007.

    """
    return pa.chunked_array([joined(pieces) for pieces in _pieces_of_rows(rows, schema)], pa.large_binary())


def encode_framed_rows(rows: pa.Table, schema: AvroSchema) -> pa.ChunkedArray:
    """The same, each record after its length as four bytes, as data blocks hold them.

    Raises:
        ValueError: as `encode_rows`.
        UnsupportedFormat: as `encode_rows`.

    Clauses: LF-007.

    """
    framed = []
    for pieces in _pieces_of_rows(rows, schema):
        total = np.sum([lengths_of(piece) for piece in pieces], axis=0)
        framed.append(joined([fixed_width(total.astype(">i4").view(np.uint8).reshape(-1, 4)), *pieces]))
    return pa.chunked_array(framed, pa.large_binary())


def encode_values(values: pa.Array, schema: AvroSchema, head: bytes = b"") -> list[pa.LargeBinaryArray]:
    """Values of one type, in the Arrow type that stands for it, each after `head`, in pieces that follow one another.

    Raises:
        ValueError: a value does not fit the schema.

    Clauses: LF-007.

    """
    return _pieces(values, with_names_resolved(schema), head)


def _pieces_of_rows(rows: pa.Table, schema: AvroSchema) -> Iterator[list[pa.LargeBinaryArray]]:
    """The pieces of each batch of rows."""
    resolved = with_names_resolved(schema)
    # Nulls are looked at when values are encoded: inside of a row that is null, any column is.
    target = pa.schema([_nullable(one) for one in arrow_schema(schema)])
    fitting = rows.select(target.names).replace_schema_metadata(None).cast(target)
    average = max(1, rows.nbytes // max(1, rows.num_rows))
    at_once = max(1, min(ROWS_AT_ONCE, _BYTES_AT_ONCE // average))
    for batch in fitting.combine_chunks().to_batches(at_once):
        # A record without fields takes no bytes, and the rows are counted by the pieces.
        yield _fields(batch.columns, resolved, b"") or [constant(b"", batch.num_rows)]


def _nullable(field: pa.Field) -> pa.Field:
    """The field with every value in it nullable."""
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_nullable(one) for one in kind])
    elif pa.types.is_list(kind):
        kind = pa.list_(_nullable(kind.value_field))
    elif pa.types.is_map(kind):
        kind = pa.map_(kind.key_type, _nullable(kind.item_field))
    return pa.field(field.name, kind)


def _fields(columns: Sequence[pa.Array], schema: Mapping[str, Any], head: bytes) -> list[pa.LargeBinaryArray]:
    pieces: list[pa.LargeBinaryArray] = []
    for column, field in zip(columns, schema["fields"], strict=True):
        pieces += _pieces(column, field["type"], b"" if pieces else head)
    return pieces


def _pieces(values: pa.Array, schema: AvroSchema, head: bytes = b"") -> list[pa.LargeBinaryArray]:
    """The pieces of a column; the first begins with `head`, the bytes before each value."""
    if isinstance(schema, list):
        return _union(values, schema, head)
    kind = schema if isinstance(schema, str) else schema["type"]
    if not isinstance(kind, str):
        return _pieces(values, kind, head)
    if kind == "null":
        return [constant(head, len(values))]
    if values.null_count:
        raise ValueError(f"{values.null_count} values of type {kind} are null, which the schema does not allow")
    if kind in _NESTED:
        return _NESTED[kind](values, schema, head)
    if isinstance(schema, dict) and kind in ("bytes", "fixed") and is_decimal(schema):
        return _decimals(values, schema, head)
    return _PRIMITIVE[kind](values, schema, head)


def _union(values: pa.Array, branches: Sequence[AvroSchema], head: bytes) -> list[pa.LargeBinaryArray]:
    """Nulls as the number of their branch, other values after that of theirs."""
    kept = [index for index, branch in enumerate(branches) if branch != "null"]
    if not kept:
        return [constant(head + b"\0", len(values))]
    inner = head + _branch(kept[0])
    if not values.null_count:
        return _pieces(values, branches[kept[0]], inner)
    if len(kept) == len(branches):
        raise ValueError(f"{values.null_count} values are null, which the schema does not allow")
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    nulls = expanded(constant(head + _branch(branches.index("null")), values.null_count), ~valid)
    return [nulls, *(expanded(piece, valid) for piece in _pieces(values.drop_null(), branches[kept[0]], inner))]


def _record(values: pa.Array, schema: Mapping[str, Any], head: bytes) -> list[pa.LargeBinaryArray]:
    return _fields(values.flatten(), schema, head) or [constant(head, len(values))]


def _array(values: pa.Array, schema: Mapping[str, Any], head: bytes) -> list[pa.LargeBinaryArray]:
    return _listed(values, _pieces(values.flatten(), schema["items"]), head)


def _map(values: pa.Array, schema: Mapping[str, Any], head: bytes) -> list[pa.LargeBinaryArray]:
    first, last = values.offsets[0].as_py(), values.offsets[-1].as_py()
    keys, items = values.keys[first:last], values.items[first:last]
    entries = [*texts(keys, b""), *_pieces(items, schema["values"])]
    return _listed(values, entries, head)


def _listed(values: pa.Array, pieces: Sequence[pa.LargeBinaryArray], head: bytes) -> list[pa.LargeBinaryArray]:
    """Lists: how many items, the items, and an end unless the number was that already."""
    items = joined(pieces)
    offsets = values.offsets.to_numpy().astype(np.int64)
    offsets -= offsets[0]
    counts = np.diff(offsets)
    starts = np.frombuffer(items.buffers()[1], np.int64)[items.offset : items.offset + len(items) + 1]
    inside = pa.Array.from_buffers(
        pa.large_binary(), len(values), [None, pa.py_buffer(starts[offsets]), items.buffers()[2]]
    )
    ends = expanded(constant(b"\0", int(np.count_nonzero(counts))), counts > 0)
    return [varints(counts, head), inside, ends]


def _decimals(values: pa.Array, schema: Mapping[str, Any], head: bytes) -> list[pa.LargeBinaryArray]:
    if schema["type"] == "fixed":
        return [fixed_width(fixed_decimals(values, int(schema["size"])), head)]
    return [minimal_decimals(values, head)]


def _numbers(values: pa.Array, _: Any, head: bytes) -> list[pa.LargeBinaryArray]:
    width = values.type.bit_width
    plain = values.view(pa.int32() if width == 32 else pa.int64())
    return [varints(plain.to_numpy().astype(np.int64), head)]


def _floats(values: pa.Array, _: Any, head: bytes) -> list[pa.LargeBinaryArray]:
    width = values.type.bit_width // 8
    return [fixed_width(values.to_numpy().astype(f"<f{width}").view(np.uint8).reshape(-1, width), head)]


def _booleans(values: pa.Array, _: Any, head: bytes) -> list[pa.LargeBinaryArray]:
    return [fixed_width(values.cast(pa.uint8()).to_numpy().reshape(-1, 1), head)]


def _texts(values: pa.Array, _: Any, head: bytes) -> list[pa.LargeBinaryArray]:
    return texts(values, head)


def _fixed(values: pa.Array, schema: Mapping[str, Any], head: bytes) -> list[pa.LargeBinaryArray]:
    plain = values.cast(pa.large_binary())
    if np.any(lengths_of(plain) != schema["size"]):
        raise ValueError(f"a value of {schema['name']} has not the {schema['size']} bytes of the fixed type")
    return [constant(head, len(values)), plain]


def _symbols(values: pa.Array, schema: Mapping[str, Any], head: bytes) -> list[pa.LargeBinaryArray]:
    found = pc.index_in(values, pa.array(schema["symbols"], pa.string()))
    if found.null_count:
        raise ValueError(f"a value of {schema['name']} is none of the symbols of the enum")
    return _numbers(found, None, head)


def _branch(index: int) -> bytes:
    return bytes([2 * index])


_NESTED: Final = {"record": _record, "error": _record, "array": _array, "map": _map}
_PRIMITIVE: Final = {
    "boolean": _booleans,
    "int": _numbers,
    "long": _numbers,
    "float": _floats,
    "double": _floats,
    "bytes": _texts,
    "string": _texts,
    "fixed": _fixed,
    "enum": _symbols,
}
