"""The end of an HFile: trailer and file info, both messages in the form of protocol buffers.

trailer    8 magic, varint length, message, zeros, and in the last 4 bytes the version; 4096 bytes in all
file info  `PBUF`, varint length, message of repeated pairs {1: name, 2: value}
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

from hudi_format.hfile.blocks import Codec, Origin
from hudi_format.hfile.sources import HFileSource

TRAILER_BYTES: Final = 4096
_MAGIC = b'TRABLK"$'
_INFO_MAGIC = b"PBUF"
_VERSION = 3
_MINOR_VERSION_SHIFT = 24
_NUMBER = struct.Struct(">I")
_LONGEST_VARINT = 10
_WORD = 2**64 - 1
_VARINT, _BYTES = 0, 2
_FIXED_WIDTHS = {1: 8, 5: 4}
# The numbers of the fields of `Trailer`, in their order; of them those that every writer gives.
_NUMBERS = (1, 2, 3, 5, 6, 7, 8, 9, 10)
_NEEDED = (1, 2, 5, 6, 7, 8)
_CODEC = 12
_OTHER_CODECS = {0: "lzo", 3: "snappy", 4: "lz4", 5: "bzip2", 6: "zstd"}
_COMPARATOR = b"org.apache.hudi.io.storage.HoodieHBaseKVComparator"

Field = tuple[int, int | bytes]


@dataclass(frozen=True, slots=True)
class Trailer:
    """Where the parts of an HFile stand and how many there are."""

    file_info_offset: int
    root_index_offset: int
    unpacked_bytes: int
    data_index_count: int
    meta_index_count: int
    entry_count: int
    index_levels: int
    first_data_offset: int
    last_data_offset: int
    codec: Codec


def parse_trailer(source: HFileSource, origin: Origin) -> Trailer:
    """The trailer of a whole file.

    Raises:
        FormatError: the origin's reason when it is none.
        UnsupportedFormat: another major version, or a packing that is neither gzip nor none.

    """
    start = source.size - TRAILER_BYTES
    data = source.read(start, TRAILER_BYTES) if start >= 0 else b""
    if len(data) != TRAILER_BYTES or not data.startswith(_MAGIC):
        raise origin.corrupt(max(start, 0), "no HFile trailer stands at the end")
    (version,) = _NUMBER.unpack_from(data, TRAILER_BYTES - _NUMBER.size)
    if version % (1 << _MINOR_VERSION_SHIFT) != _VERSION:
        raise origin.unsupported()
    return _trailer(data, start, origin)


def encode_trailer(trailer: Trailer) -> bytes:
    """The bytes of a trailer in the form of the native writer, which leaves field 4 out."""
    values = (getattr(trailer, each.name) & _WORD for each in fields(trailer))
    message = b"".join(map(_encode_number, _NUMBERS, values))
    message += _encode_bytes(11, _COMPARATOR) + _encode_number(_CODEC, trailer.codec)
    head = _MAGIC + encode_varint(len(message)) + message
    return head.ljust(TRAILER_BYTES - _NUMBER.size, b"\0") + _NUMBER.pack(_VERSION)


def parse_file_info(content: bytes, offset: int, origin: Origin) -> dict[str, bytes]:
    """The names and values of a file info block, in their order.

    Raises:
        FormatError: the origin's reason when it is none.

    """
    if not content.startswith(_INFO_MAGIC):
        raise origin.corrupt(offset, "the file info does not begin with its magic")
    return dict(_pairs(content, offset, origin) if len(content) <= TRAILER_BYTES else _each(content, offset, origin))


def encode_file_info(info: Mapping[str, bytes]) -> bytes:
    """The content of a file info block, names in the order of the mapping."""
    pairs = [_encode_bytes(1, name.encode()) + _encode_bytes(2, value) for name, value in info.items()]
    message = b"".join(_encode_bytes(1, pair) for pair in pairs)
    return _INFO_MAGIC + encode_varint(len(message)) + message


def encode_varint(value: int) -> bytes:
    """A number in groups of seven bits, the least first."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))


# The files of a metadata table are opened for each query that it serves.
@lru_cache(maxsize=256)
def _trailer(data: bytes, offset: int, origin: Origin) -> Trailer:
    message = _delimited(data, len(_MAGIC), TRAILER_BYTES - _NUMBER.size, origin, offset)
    numbers = {number: value for number, value in _fields(message, offset, origin) if isinstance(value, int)}
    missing = [number for number in _NEEDED if number not in numbers]
    if missing:
        raise origin.corrupt(offset, f"the HFile trailer lacks the fields {missing}")
    codec = numbers.get(_CODEC, Codec.NONE)
    if codec not in set(Codec):
        raise origin.unsupported(_OTHER_CODECS.get(codec, ""))
    info, root, unpacked, blocks, metas, entries, levels, first, last = (numbers.get(one, 0) for one in _NUMBERS)
    return Trailer(info, root, unpacked, blocks, metas, entries, levels, first, last, Codec(codec))


@lru_cache(maxsize=256)
def _pairs(content: bytes, offset: int, origin: Origin) -> tuple[tuple[str, bytes], ...]:
    return tuple(_each(content, offset, origin))


def _each(content: bytes, offset: int, origin: Origin) -> Iterator[tuple[str, bytes]]:
    message = _delimited(content, len(_INFO_MAGIC), len(content), origin, offset)
    return (_pair(pair, offset, origin) for number, pair in _fields(message, offset, origin) if number == 1)


def _pair(pair: int | bytes, offset: int, origin: Origin) -> tuple[str, bytes]:
    found = dict(_fields(pair, offset, origin)) if isinstance(pair, bytes) else {}
    name, value = found.get(1), found.get(2, b"")
    if not isinstance(name, bytes) or not isinstance(value, bytes):
        raise origin.corrupt(offset, "an entry of the file info is no pair of name and value")
    return name.decode(errors="replace"), value


def _delimited(data: bytes, start: int, end: int, origin: Origin, offset: int = 0) -> bytes:
    length, begin = _varint(data, start, end, offset, origin)
    if length > end - begin:
        raise origin.corrupt(offset + start, f"a message declares {length} bytes, {end - begin} are left")
    return data[begin : begin + length]


def _fields(message: bytes, offset: int, origin: Origin) -> list[Field]:
    fields: list[Field] = []
    position = 0
    while position < len(message):
        tag, position = _varint(message, position, len(message), offset, origin)
        number, wire = tag >> 3, tag & 7
        value: int | bytes
        if wire == _VARINT:
            value, position = _varint(message, position, len(message), offset, origin)
        else:
            length = _FIXED_WIDTHS.get(wire, -1)
            if wire == _BYTES:
                length, position = _varint(message, position, len(message), offset, origin)
            if not 0 <= length <= len(message) - position:
                raise origin.corrupt(offset, f"field {number} of a message does not parse")
            value, position = message[position : position + length], position + length
        fields.append((number, value))
    return fields


def _varint(data: bytes, start: int, end: int, offset: int, origin: Origin) -> tuple[int, int]:
    value = 0
    for index, byte in enumerate(data[start : min(end, start + _LONGEST_VARINT)]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value & _WORD, start + index + 1
    raise origin.corrupt(offset + start, "a number of a message does not end")


def _encode_number(number: int, value: int) -> bytes:
    return encode_varint(number << 3 | _VARINT) + encode_varint(value)


def _encode_bytes(number: int, value: bytes) -> bytes:
    return encode_varint(number << 3 | _BYTES) + encode_varint(len(value)) + value
