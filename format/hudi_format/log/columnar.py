"""Contents of log blocks made of Arrow columns: data without a Python object a row, and lists of deletes.

Content is given in parts, bytes and buffers, that follow one another.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_format.avro.columnar import encode_values
from hudi_format.avro.pieces import constant, expanded, joined, texts, varints
from hudi_format.hfile.writer import write_hfile_columns
from hudi_format.log.content import DATA_VERSION
from hudi_format.log.deletes import DELETE_VERSION, WRAPPERS

OrderingColumn = tuple[str, pa.Array]
"""The name of a wrapper (`Long`, `String`, ...) and an ordering field's values."""

_HEAD = struct.Struct(">ii")
# The branch of nullable fields that is not null.
_SECOND_BRANCH: Final = b"\x02"


def avro_content(framed: pa.ChunkedArray) -> list[Any]:
    """The content of an Avro data block of records that stand after their lengths.

    Clauses: LF-007.
    """
    return [_HEAD.pack(DATA_VERSION, len(framed)), *(_data(chunk) for chunk in framed.chunks)]


def hfile_content(keys: pa.Array, encoded: pa.Array, schema: str) -> bytes:
    """The content of an HFile data block: record keys in any order beside their encoded records, the schema as text.

    Raises:
        ValueError: two records have one key.

    Clauses: LF-026.

    """
    order = pc.array_sort_indices(keys.cast(pa.large_binary()))
    return write_hfile_columns(keys.take(order), encoded.take(order), {"schema": schema.encode()})


def parts_within(encoded: pa.ChunkedArray, most_bytes: int) -> Iterator[tuple[int, int]]:
    """First row and number of rows of parts that keep to so many bytes, as far as single rows do."""
    lengths = pc.binary_length(encoded).to_numpy()
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + most_bytes, side="right")))
        yield start, end - start
        start = end


def delete_content(keys: pa.Array, partition: str, ordering: Sequence[OrderingColumn] = ()) -> list[Any]:
    """The content of a delete block: keys of one partition, and the ordering values that they compete with.

    `ordering`: for each ordering field its wrapper and values. A key with a null in one of them, and every key where
    there are no such fields, has no ordering value.

    Clauses: LF-008, LF-017.
    """
    rows, text = len(keys), partition.encode()
    path = constant(_SECOND_BRANCH + _number(len(text)) + text, rows)
    records = joined([*texts(keys, _SECOND_BRANCH), path, *_ordering(ordering, rows)])
    payload = [_number(rows) if rows else b"", _data(records), b"\0"]
    size = sum(memoryview(part).nbytes for part in payload)
    return [_HEAD.pack(DELETE_VERSION, size), *payload]


def _ordering(columns: Sequence[OrderingColumn], rows: int) -> list[pa.LargeBinaryArray]:
    """The union of wrappers: that of the values, or the int 0."""
    there = np.full(rows, bool(columns))
    for _, values in columns:
        there &= values.is_valid().to_numpy(zero_copy_only=False)
    kept = [(name, values.filter(pa.array(there))) for name, values in columns]
    nothing = constant(_branch("Int") + b"\0", int(np.count_nonzero(~there)))
    return [expanded(nothing, ~there), *(expanded(piece, there) for piece in _wrapped(kept))]


def _wrapped(columns: Sequence[OrderingColumn]) -> list[pa.LargeBinaryArray]:
    if not columns:
        return [constant(b"", 0)]
    if len(columns) == 1:
        return _value(*columns[0])
    # ArrayWrapper: the second branch of its only field, an array of one block.
    rows = len(columns[0][1])
    items = [piece for name, values in columns for piece in _value(name, values)]
    head = constant(_branch("Array") + _SECOND_BRANCH + _number(len(columns)), rows)
    return [head, *items, constant(b"\0", rows)]


def _value(name: str, values: pa.Array) -> list[pa.LargeBinaryArray]:
    return encode_values(values, WRAPPERS[name], _branch(name))


def _branch(name: str) -> bytes:
    """The number of a wrapper in the union, in which null comes first and several values come last."""
    return _number([*WRAPPERS, "Array"].index(name) + 1)


def _number(value: int) -> bytes:
    return bytes(varints(np.array([value], np.int64)).buffers()[2])


def _data(piece: pa.LargeBinaryArray) -> pa.Buffer:
    """The bytes of all rows."""
    offsets = np.frombuffer(piece.buffers()[1], np.int64)
    start, end = int(offsets[piece.offset]), int(offsets[piece.offset + len(piece)])
    return piece.buffers()[2].slice(start, end - start)
