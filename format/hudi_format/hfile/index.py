"""The inside of HFile blocks: keys, entries, and the two forms of index.

data entry        int32 key length, int32 value length, key, value, and with MVCC a number
key               int16 row length, row, then family, timestamp and type, which say nothing here
root index        per entry int64 offset, int32 block size, number of key bytes, key; the trailer holds the count
other index       int32 count, count + 1 int32 offsets, then entries of int64 offset, int32 block size, key
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hudi_format.avro.pieces import constant, fixed_width, joined, lengths_of
from hudi_format.errors import FormatError, Reason
from hudi_format.hfile.blocks import HFileBlock, Origin

_LENGTHS = struct.Struct(">ii")
_PLACE = struct.Struct(">qi")
_COUNT = struct.Struct(">i")
_ROW_LENGTH = struct.Struct(">H")
# Family of no length, the latest timestamp, the type put.
_KEY_TAIL = bytes((0, 0x7F, *[0xFF] * 7, 4))
_LONGEST_ROW = 2**15 - 1
_SHORT_NUMBER = 127
_NO_MVCC = b"\0"


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A block and a key that is above every row before it and not above its first row."""

    offset: int
    size: int
    key: bytes


def data_entries(block: HFileBlock, origin: Origin, *, with_mvcc: bool) -> Iterator[tuple[bytes, bytes]]:
    """Row and value of each entry of a data block.

    Raises:
        FormatError: the origin's reason where an entry does not fit.

    """
    content, position = block.content, 0
    while position < len(content):
        if position + _LENGTHS.size > len(content):
            raise origin.corrupt(block.offset, "a data block ends inside the lengths of an entry")
        key_length, value_length = _LENGTHS.unpack_from(content, position)
        begin = position + _LENGTHS.size
        middle, end = begin + key_length, begin + key_length + value_length
        if key_length < 0 or value_length < 0 or end > len(content):
            message = f"an entry declares {key_length} and {value_length} bytes, {len(content) - begin} are left"
            raise origin.corrupt(block.offset, message)
        yield _row_of_entry(content[begin:middle], block, origin), content[middle:end]
        position = _number(content, end, block, origin)[1] if with_mvcc else end


def encode_entry(row: bytes, value: bytes) -> bytes:
    """One entry of a data block."""
    key = encode_row(row) + _KEY_TAIL
    return _LENGTHS.pack(len(key), len(value)) + key + value + _NO_MVCC


def encode_entries(rows: pa.LargeBinaryArray, values: pa.LargeBinaryArray) -> pa.LargeBinaryArray:
    """Many entries of data blocks, one for each row and value.

    Raises:
        FormatError: LIMIT_EXCEEDED where a row is longer than its length can say.

    Clauses: MT-024.

    """
    lengths = lengths_of(rows)
    longest = int(lengths.max(initial=0))
    if longest > _LONGEST_ROW:
        raise _too_long(longest)
    heads = np.empty(len(rows), np.dtype([("key", ">i4"), ("value", ">i4"), ("row", ">u2")]))
    heads["key"] = lengths + (_ROW_LENGTH.size + len(_KEY_TAIL))
    heads["value"] = lengths_of(values)
    heads["row"] = lengths
    packed = fixed_width(heads.view(np.uint8).reshape(len(rows), heads.itemsize))
    return joined([packed, rows, constant(_KEY_TAIL, len(rows)), values, constant(_NO_MVCC, len(rows))])


def encode_row(row: bytes) -> bytes:
    """A row behind its length, the form of a key in the native writer's index.

    Raises:
        FormatError: LIMIT_EXCEEDED where the row is longer than its length can say.

    Clauses: MT-024.

    """
    if len(row) > _LONGEST_ROW:
        raise _too_long(len(row))
    return _ROW_LENGTH.pack(len(row)) + row


def _too_long(length: int) -> FormatError:
    message = f"a key of {length} bytes is longer than {_LONGEST_ROW} bytes, the most that an HFile takes"
    hint = "shorten the record key or the indexed value, or turn the index of it off"
    return FormatError(Reason.LIMIT_EXCEEDED, "MT-024", "", None, message, hint)


def root_entries(block: HFileBlock, count: int, origin: Origin, *, exact: bool) -> tuple[IndexEntry, ...]:
    """The entries of a root index, with keys as they stand; `exact` says that nothing may follow them.

    Raises:
        FormatError: the origin's reason where an entry does not fit.

    """
    content, position = block.content, 0
    if count > len(content) // (_PLACE.size + 1):
        raise origin.corrupt(block.offset, f"{count} entries are declared in an index of {len(content)} bytes")
    entries = []
    for _ in range(count):
        if position + _PLACE.size > len(content):
            raise origin.corrupt(block.offset, "a root index ends inside an entry")
        offset, size = _PLACE.unpack_from(content, position)
        length, begin = _number(content, position + _PLACE.size, block, origin)
        if not 0 <= length <= len(content) - begin:
            raise origin.corrupt(block.offset, f"an index key declares {length} bytes")
        entries.append(IndexEntry(offset, size, content[begin : begin + length]))
        position = begin + length
    if exact and position != len(content):
        raise origin.corrupt(block.offset, f"{len(content) - position} bytes stand after the last index entry")
    return tuple(entries)


def encode_root_index(entries: Iterable[IndexEntry]) -> bytes:
    """The content of a root index."""
    return b"".join(_PLACE.pack(one.offset, one.size) + _encode_number(len(one.key)) + one.key for one in entries)


def inner_entries(block: HFileBlock, origin: Origin) -> tuple[IndexEntry, ...]:
    """The entries of an index below the root.

    Raises:
        FormatError: the origin's reason where an entry does not fit.

    """
    content = block.content
    count = _COUNT.unpack_from(content)[0] if len(content) >= _COUNT.size else -1
    begin = _COUNT.size * (count + 2)
    if count < 0 or begin > len(content):
        raise origin.corrupt(block.offset, f"{count} entries are declared in an index of {len(content)} bytes")
    ends = struct.unpack_from(f">{count + 1}i", content, _COUNT.size)
    return tuple(_inner_entry(block, begin + ends[at], begin + ends[at + 1], begin, origin) for at in range(count))


def row_of_key(key: bytes, position: int, origin: Origin) -> bytes:
    """The row of a key, whatever follows it: writers differ on the rest of an index key.

    Raises:
        FormatError: the origin's reason when the key is shorter than it says.

    """
    length = _ROW_LENGTH.unpack_from(key)[0] if len(key) >= _ROW_LENGTH.size else len(key)
    if length > len(key) - _ROW_LENGTH.size:
        raise origin.corrupt(position, f"a key of {len(key)} bytes declares a row of {length}")
    return key[_ROW_LENGTH.size : _ROW_LENGTH.size + length]


def _row_of_entry(key: bytes, block: HFileBlock, origin: Origin) -> bytes:
    row = row_of_key(key, block.offset, origin)
    if len(key) != _ROW_LENGTH.size + len(row) + len(_KEY_TAIL):
        raise origin.corrupt(block.offset, f"a key of {len(key)} bytes holds a row of {len(row)}")
    return row


def _inner_entry(block: HFileBlock, begin: int, end: int, least: int, origin: Origin) -> IndexEntry:
    if not least <= begin <= end - _PLACE.size <= len(block.content) - _PLACE.size:
        raise origin.corrupt(block.offset, "an entry of an index stands outside of it")
    offset, size = _PLACE.unpack_from(block.content, begin)
    return IndexEntry(offset, size, block.content[begin + _PLACE.size : end])


def _number(content: bytes, position: int, block: HFileBlock, origin: Origin) -> tuple[int, int]:
    """A number in Hadoop's form: one byte from -112 to 127, or a byte that states sign and length."""
    head = int.from_bytes(content[position : position + 1], "big", signed=True)
    following = 0 if head >= -112 else (-112 - head if head >= -120 else -120 - head)
    end = position + 1 + following
    if end > len(content):
        raise origin.corrupt(block.offset, "a block ends inside a number")
    if not following:
        return head, end
    value = int.from_bytes(content[position + 1 : end], "big")
    return (value if head >= -120 else ~value), end


def _encode_number(value: int) -> bytes:
    """The same form of a number that is not negative."""
    if value <= _SHORT_NUMBER:
        return bytes((value,))
    width = (value.bit_length() + 7) // 8
    return bytes((256 - 112 - width,)) + value.to_bytes(width, "big")
