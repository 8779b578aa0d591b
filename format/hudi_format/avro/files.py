r"""Avro object container files, the form of timeline files from table version 8 on and of every plan.

Obj\\x01 | map: avro.schema, avro.codec? | 16 sync bytes | blocks: count, length, records, sync bytes
"""

import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import fastavro

from hudi_format.avro.schemas import AvroSchema, parse_avro_schema, reading_schema, schema_text, writing_schema
from hudi_format.errors import FormatError, Reason, UnsupportedFormat, refusing
from hudi_format.limits import rows_limit, values_limit

MAGIC = b"Obj\x01"
SYNC_MARKER = b"hudi-conformance"

_UNREAD_CODECS = ("snappy", "bzip2", "xz", "zstandard", "lz4")
_MAXIMUM_VARINT_BYTES = 10


def read_container(
    data: bytes, file: str, reason: str = Reason.TIMELINE_FILE_CORRUPT, clause: str = "TL-014"
) -> tuple[AvroSchema, list[dict[str, Any]]]:
    """Writer schema and records of an object container file.

    Raises:
        FormatError: `reason` when it is none; LIMIT_EXCEEDED when few bytes become very many.
        UnsupportedFormat: a codec other than null and deflate, which no Hudi writer uses here.

    """
    cursor = _Cursor(data, file, reason, clause)
    cursor.expect(MAGIC, "the file does not begin with Obj\\x01")
    metadata = dict(cursor.byte_map())
    sync = cursor.take(16)
    codec = metadata.get("avro.codec", b"null")
    if "avro.schema" not in metadata:
        raise cursor.error("the header has no avro.schema")
    with refusing(reason, clause, file, None, "the header's schema is no text"):
        text = metadata["avro.schema"].decode()
    schema = parse_avro_schema(text, file, reason, clause)
    with refusing(reason, clause, file, None, "the header's schema cannot be read by"):
        readable = reading_schema(schema)
    records: list[dict[str, Any]] = []
    while not cursor.at_end():
        count, offset, block = cursor.block(codec)
        if len(records) + count > rows_limit(len(data)):
            raise cursor.exceeded(f"{len(data)} bytes declare over {len(records)} records")
        records.extend(_records(readable, count, block, cursor, offset))
        cursor.expect(sync, "the sync marker after a block differs from the header's")
    return schema, records


def write_container(
    schema: AvroSchema, records: Sequence[Mapping[str, Any]], sync_marker: bytes = SYNC_MARKER
) -> bytes:
    """An object container file of one block: the same bytes for the same records."""
    body = io.BytesIO()
    writable = writing_schema(schema)
    for record in records:
        fastavro.schemaless_writer(body, writable, record)
    header = MAGIC + _long(1) + _bytes(b"avro.schema") + _bytes(schema_text(schema).encode()) + _long(0) + sync_marker
    content = body.getvalue()
    if not records:
        return header
    return header + _long(len(records)) + _bytes(content) + sync_marker


def _records(schema: AvroSchema, count: int, block: bytes, cursor: "_Cursor", offset: int) -> Iterator[dict[str, Any]]:
    if count > len(block):
        raise cursor.error(f"a block of {len(block)} bytes declares {count} records", offset)
    stream = io.BytesIO(block)
    for _ in range(count):
        with refusing(cursor.reason, cursor.clause, cursor.file, offset + stream.tell(), "a record does not decode"):
            record = fastavro.schemaless_reader(stream, schema, None)
        if not isinstance(record, dict):
            raise cursor.error("the container does not hold records", offset)
        yield record
    if stream.tell() != len(block):
        raise cursor.error("bytes are left after the last record of a block", offset + stream.tell())


class _Cursor:
    """A position in the bytes of a container file."""

    def __init__(self, data: bytes, file: str, reason: str, clause: str) -> None:
        self.file = file
        self.reason = reason
        self.clause = clause
        self._data = data
        self._position = 0
        self._unpackable = values_limit(len(data))

    def at_end(self) -> bool:
        return self._position == len(self._data)

    def error(self, message: str, offset: int | None = None) -> FormatError:
        return FormatError(self.reason, self.clause, self.file, self._position if offset is None else offset, message)

    def exceeded(self, message: str) -> FormatError:
        return FormatError(Reason.LIMIT_EXCEEDED, self.clause, self.file, self._position, message)

    def take(self, length: int) -> bytes:
        if length < 0 or length > len(self._data) - self._position:
            raise self.error(f"{length} bytes are declared, {len(self._data) - self._position} are left")
        taken = self._data[self._position : self._position + length]
        self._position += length
        return taken

    def expect(self, expected: bytes, message: str) -> None:
        if self._data[self._position : self._position + len(expected)] != expected:
            raise self.error(message)
        self._position += len(expected)

    def long(self) -> int:
        """A zigzag varint."""
        value = 0
        for index in range(_MAXIMUM_VARINT_BYTES):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise self.error("a number is longer than 10 bytes")

    def byte_map(self) -> Iterator[tuple[str, bytes]]:
        """Entries of a map of bytes."""
        while count := self.long():
            if count < 0:
                count = -count
                self.long()
            for _ in range(count):
                key = self.take(self.long())
                yield key.decode("utf-8", "replace"), self.take(self.long())

    def block(self, codec: bytes) -> tuple[int, int, bytes]:
        """Record count, offset and unpacked bytes of the next block."""
        count, length = self.long(), self.long()
        if count < 0:
            raise self.error(f"a block declares {count} records")
        offset = self._position
        return count, offset, self._unpack(codec, self.take(length))

    def _unpack(self, codec: bytes, data: bytes) -> bytes:
        if codec == b"null":
            return data
        if codec == b"deflate":
            return self._inflate(data)
        name = codec.decode("ascii", "replace")
        if name in _UNREAD_CODECS:
            raise UnsupportedFormat(f"avro-codec-{name}", self.file)
        raise self.error(f"the codec {name!r} is unknown")

    def _inflate(self, data: bytes) -> bytes:
        unpacker = zlib.decompressobj(-15)
        try:
            unpacked = unpacker.decompress(data, max(self._unpackable, 1))
        except zlib.error as error:
            raise self.error(f"a block does not inflate: {error}") from error
        if unpacker.unconsumed_tail:
            raise self.exceeded(f"{len(self._data)} bytes unpack to over {values_limit(len(self._data))}")
        if not unpacker.eof:
            raise self.error("a block ends inside its packed data")
        self._unpackable -= len(unpacked)
        return unpacked


def _long(value: int) -> bytes:
    encoded, rest = bytearray(), (value << 1) ^ (value >> 63)
    while rest > 0x7F:
        encoded.append((rest & 0x7F) | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def _bytes(value: bytes) -> bytes:
    return _long(len(value)) + value
