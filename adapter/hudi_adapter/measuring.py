"""How much Parquet and Arrow bytes become when they are decoded, found before they are.

Few bytes may stand for very many: compressed pages and buffers, values that a dictionary holds once, lists of nulls.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pyarrow.types as kinds

from hudi_adapter.limits import COLUMNS, DECODED_BYTES, VALUES

_MAGIC = b"ARROW1\0\0"
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_COLUMN_CHUNKS = 100_000
_DELTA_BYTE_ARRAY = 7


class TooLargeError(ValueError):
    """More than the limits of an answer."""


def parquet_table(data: bytes) -> pa.Table:
    """The table of a Parquet file.

    Raises:
        TooLargeError: it is beyond a limit.
        ArrowException: it does not parse.

    """
    file = pa.parquet.ParquetFile(pa.BufferReader(data))
    _check_pages(file, data)
    # Words of a dictionary are measured before they are written out for each row.
    words = [column.path for column in _leaves(file) if column.physical_type == "BYTE_ARRAY"]
    _check_table(pa.parquet.ParquetFile(pa.BufferReader(data), read_dictionary=words).read(use_threads=False))
    return file.read(use_threads=False)


def arrow_table(data: bytes) -> pa.Table:
    """The table of an Arrow file or stream.

    Raises:
        TooLargeError: it is beyond a limit.
        ArrowException: it does not parse, or its offsets lie outside of its buffers.

    """
    # A file is a stream between a word at its beginning and an index at its end.
    stream = pa.py_buffer(data)[len(_MAGIC) :] if data.startswith(_MAGIC) else pa.py_buffer(data)
    _check_messages(stream)
    table = pa.ipc.open_stream(stream).read_all()
    table.validate()
    # Before the texts are looked at: many rows may share a long one.
    _check_table(table)
    table.validate(full=True)
    return table


class _Room:
    """What is left of the limits."""

    def __init__(self) -> None:
        self.values, self.bytes = VALUES, DECODED_BYTES

    def take(self, values: int, size: int) -> None:
        if values < 0 or size < 0:
            raise TooLargeError(f"a size is negative: {values} values, {size} bytes")
        self.values -= values
        self.bytes -= size
        if self.values < 0:
            raise TooLargeError(f"more than {VALUES} values in all rows and columns")
        if self.bytes < 0:
            raise TooLargeError(f"more than {DECODED_BYTES} bytes when decoded")


def _check_table(table: pa.Table) -> None:
    """Hold the rows, as logical values, against the limits."""
    if table.num_columns > COLUMNS:
        raise TooLargeError(f"more than {COLUMNS} columns")
    room = _Room()
    room.take(table.num_rows * max(1, table.num_columns), 0)
    room = _Room()
    for column in table.columns:
        for chunk in column.chunks:
            room.take(*_measure(chunk))


def _measure(array: pa.Array) -> tuple[int, int]:
    """Values at all levels, and bytes without a dictionary or shared text."""
    kind, count = array.type, len(array)
    if kinds.is_dictionary(kind):
        return _measure_words(array)
    if kinds.is_string_view(kind) or kinds.is_binary_view(kind):
        lengths = memoryview(array.buffers()[1]).cast("B").cast("i")
        return count, sum(max(0, one) for one in lengths[4 * array.offset : 4 * (array.offset + count) : 4])
    if kinds.is_struct(kind):
        inner = [array.field(number) for number in range(kind.num_fields)]
    elif kinds.is_map(kind):
        inner = [array.keys, array.items]
    elif kinds.is_nested(kind) and hasattr(array, "values"):
        inner = [array.values]
    else:
        return count, array.nbytes
    measured = [_measure(one) for one in inner]
    return count + sum(values for values, _ in measured), sum(size for _, size in measured)


def _measure_words(array: pa.DictionaryArray) -> tuple[int, int]:
    words, count = array.dictionary, len(array)
    kind = words.type
    if kinds.is_string(kind) or kinds.is_binary(kind) or kinds.is_large_string(kind) or kinds.is_large_binary(kind):
        return count, int(pc.sum(pc.binary_length(words).take(array.indices)).as_py() or 0)
    # Of words of other types the longest is not looked for: each row may hold all of them.
    values, size = _measure(words)
    return (count, 16 * count) if kinds.is_primitive(kind) else (count * max(1, values), count * size)


# Parquet: the header of each page says what the page becomes.


def _leaves(file: pa.parquet.ParquetFile) -> Iterator[Any]:
    return (file.schema.column(number) for number in range(len(file.schema)))


def _check_pages(file: pa.parquet.ParquetFile, data: bytes) -> None:
    metadata, leaves, room = file.metadata, list(_leaves(file)), _Room()
    if len(leaves) > COLUMNS or len(leaves) * metadata.num_row_groups > _COLUMN_CHUNKS:
        raise TooLargeError(f"more than {COLUMNS} columns, or {_COLUMN_CHUNKS} pieces of columns")
    room.take(metadata.num_rows * max(1, len(leaves)), 0)
    room = _Room()
    for group in range(metadata.num_row_groups):
        for number, leaf in enumerate(leaves):
            width = leaf.length if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0
            for page in _pages(metadata.row_group(group).column(number), data):
                values, size = page.get("values", 0), page["size"]
                room.take(values, max(size, values * width))
                if page.get("encoding") == _DELTA_BYTE_ARRAY and values * size > DECODED_BYTES:
                    raise TooLargeError(f"more than {DECODED_BYTES} bytes when decoded")


def _pages(chunk: Any, data: bytes) -> Iterator[dict[str, int]]:
    """The pages of a column chunk: what each becomes, in bytes and in values, and its encoding."""
    if chunk.num_values == 0:
        return
    words = chunk.dictionary_page_offset if chunk.has_dictionary_page else None
    at = words if words and 0 < words < chunk.data_page_offset else chunk.data_page_offset
    end = at + chunk.total_compressed_size
    if not 0 <= at <= end <= len(data):
        raise TooLargeError("a column lies outside of the file")
    while at < end:
        header, at = _thrift_struct(data, at)
        size, stored = header.get(2), header.get(3)
        if not isinstance(size, int) or not isinstance(stored, int) or size < 0 or stored < 0:
            raise TooLargeError("the header of a page has no size")
        at += stored
        page = {"size": size}
        for field, encoding in ((5, 2), (8, 4)):
            statistics = header.get(field)
            if isinstance(statistics, dict):
                page |= {"values": _count(statistics, 1), "encoding": _count(statistics, encoding)}
        yield page


def _count(found: dict[int, Any], field: int) -> int:
    value = found.get(field)
    if not isinstance(value, int):
        raise TooLargeError("the header of a page does not count its values")
    return value


def _thrift_struct(data: bytes, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """Integers and structs of a struct in Thrift's compact form, by field; the rest is passed over."""
    if depth > 8:
        raise TooLargeError("the header of a page is nested too deeply")
    found: dict[int, Any] = {}
    field = 0
    while data[at]:
        kind, step = data[at] & 15, data[at] >> 4
        at += 1
        if step:
            field += step
        else:
            field, at = _zigzag(data, at)
        found[field], at = _thrift_value(data, at, kind, depth)
    return found, at + 1


def _thrift_value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in {1, 2}:
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind in {4, 5, 6}:
        return _zigzag(data, at)
    if kind == 7:
        return None, at + 8
    if kind == 8:
        length, at = _varint(data, at)
        return None, at + length
    if kind == 12:
        return _thrift_struct(data, at, depth + 1)
    raise TooLargeError(f"the header of a page holds a field of kind {kind}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for number in range(10):
        byte = data[at + number]
        value |= (byte & 127) << (7 * number)
        if byte < 128:
            return value, at + number + 1
    raise TooLargeError("a number in the header of a page does not end")


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


# Arrow: the metadata of each message, a FlatBuffer, names the buffers of its body.


def _check_messages(stream: pa.Buffer) -> None:
    room = _Room()
    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(stream))
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return
        try:
            _check_message(bytes(message.metadata), message.body, room)
        except (struct.error, IndexError) as error:
            raise TooLargeError(f"the metadata of a message does not parse: {error}") from error


def _check_message(metadata: bytes, body: pa.Buffer | None, room: _Room) -> None:
    root = _number("<I", metadata, 0)
    kind, header = _number("<B", metadata, _field(metadata, root, 1)), _table(metadata, root, 2)
    if kind == _DICTIONARY_BATCH:
        header = _table(metadata, header, 1)
    elif kind != _RECORD_BATCH:
        return
    compressed = _field(metadata, header, 3) != 0
    for at in _structs(metadata, header, 1):
        room.take(_number("<q", metadata, at), 0)
    for at in _structs(metadata, header, 2):
        offset, length = _number("<q", metadata, at), _number("<q", metadata, at + 8)
        if compressed and length >= 8 and body is not None and offset >= 0:
            stated = _number("<q", body, offset)
            length = length - 8 if stated == -1 else stated
        room.take(0, length)


def _number(form: str, data: Any, at: int) -> int:
    if at < 0:
        raise IndexError(at)
    value: int = struct.unpack_from(form, data, at)[0]
    return value


def _field(data: bytes, table: int, number: int) -> int:
    """Where a table's field is; 0 where it has none."""
    entries = table - _number("<i", data, table)
    place = 4 + 2 * number
    offset = _number("<H", data, entries + place) if place < _number("<H", data, entries) else 0
    return table + offset if offset else 0


def _table(data: bytes, table: int, number: int) -> int:
    at = _field(data, table, number)
    if not at:
        raise IndexError(number)
    return at + _number("<I", data, at)


def _structs(data: bytes, table: int, number: int) -> Iterator[int]:
    """Where each struct of a vector is, 16 bytes long."""
    at = _field(data, table, number)
    if at:
        at += _number("<I", data, at)
        yield from range(at + 4, at + 4 + 16 * _number("<I", data, at), 16)
