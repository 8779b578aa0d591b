"""Files of a metadata table: base files and log blocks, HFiles as releases write them, and Avro blocks.

Avro block   int32 version, int32 count, then per record int32 length, Avro binary
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from hudi_format.base.bloom_filters import TYPE_CODE, build_bloom_filter, encode_bloom_filter
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.hfile.reader import open_hfile
from hudi_format.hfile.writer import write_hfile
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block
from hudi_format.log.deletes import DeleteRecord, encode_deletes
from hudi_format.log.hfiles import log_origin
from hudi_format.metadata.codec import (
    decode_metadata_record,
    encode_metadata_record,
    metadata_schema_text,
    reading_metadata_schema,
)
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import MetadataRecord

_HEAD = struct.Struct(">ii")
_LENGTH = struct.Struct(">i")
_AVRO_VERSIONS = (1, 2, 3)


def decode_metadata_block(block: RawBlock, file: str) -> tuple[MetadataRecord, ...]:
    """All records of an HFile or Avro block, in their order.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content does not decode.
        UnsupportedFormat: a block of another type.

    Clauses: MT-018, LF-007, LF-026.

    """
    origin = log_origin(block, file)
    if block.type is BlockType.HFILE_DATA:
        entries: Iterable[tuple[bytes, bytes]] = open_hfile(block.content, origin).entries()
    elif block.type is BlockType.AVRO_DATA:
        entries = ((b"", value) for value in _avro_records(block, file))
    else:
        raise UnsupportedFormat(f"metadata-block-{block.type.name.lower()}", file)
    schema = reading_metadata_schema(block.header.get(HeaderKey.SCHEMA, ""), origin)
    return tuple(decode_metadata_record(key, value, schema, origin) for key, value in entries)


def metadata_block(
    instant: str,
    records: Iterable[MetadataRecord],
    release: SchemaRelease = SchemaRelease.V1_1,
    header: Mapping[HeaderKey, str] | None = None,
) -> bytes:
    """An HFile block of records.

    Raises:
        ValueError: two records have one key, or one has no form in the release's schema.

    Clauses: MT-018, LF-026.

    """
    text = metadata_schema_text(release)
    content = write_hfile(_entries(records, release), {"schema": text.encode()})
    entries = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: text, **(header or {})}
    return encode_block(BlockType.HFILE_DATA, entries, content)


def metadata_delete_block(instant: str, partition: str, keys: Iterable[str]) -> bytes:
    """A delete block for keys of a partition; without keys the block that opens a file group.

    Clauses: LF-008, MT-017.
    """
    deletes = [DeleteRecord(key, partition) for key in keys]
    return encode_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: instant}, encode_deletes(deletes))


def metadata_base_file(records: Iterable[MetadataRecord], release: SchemaRelease = SchemaRelease.V1_1) -> bytes:
    """A base file of records, with the bounds of their keys and a bloom filter.

    Raises:
        ValueError: two records have one key, or one has no form in the release's schema.

    Clauses: MT-018, BF-002.

    """
    entries = _entries(records, release)
    info = {"schema": metadata_schema_text(release).encode()}
    keys = [key.decode() for key, _ in entries]
    bloom = build_bloom_filter(keys, max(len(keys), 1))
    info["bloomFilterTypeCode"] = TYPE_CODE.encode()
    if keys:
        info |= {"minRecordKey": entries[0][0], "maxRecordKey": entries[-1][0]}
    return write_hfile(entries, info, {"bloomFilter": encode_bloom_filter(bloom).encode()})


def _entries(records: Iterable[MetadataRecord], release: SchemaRelease) -> list[tuple[bytes, bytes]]:
    entries = sorted((record.key.encode(), encode_metadata_record(record, release)) for record in records)
    if any(one == following for (one, _), (following, _) in pairwise(entries)):
        raise ValueError("two records have one key")
    return entries


def _avro_records(block: RawBlock, file: str) -> Iterator[bytes]:
    content, position = block.content, _HEAD.size
    version, count = _HEAD.unpack_from(content) if len(content) >= _HEAD.size else (0, 0)
    if version not in _AVRO_VERSIONS or not 0 <= count <= (len(content) - _HEAD.size) // _LENGTH.size:
        raise _corrupt(block, file, 0, f"version {version} of Avro content with {count} records is none")
    for _ in range(count):
        begin = position + _LENGTH.size
        length = _LENGTH.unpack_from(content, position)[0] if begin <= len(content) else -1
        if not 0 <= length <= len(content) - begin:
            raise _corrupt(block, file, position, f"a record declares {length} bytes")
        position = begin + length
        yield content[begin:position]
    if position != len(content):
        raise _corrupt(block, file, position, f"{len(content) - position} bytes stand after the last record")


def _corrupt(block: RawBlock, file: str, position: int, message: str) -> FormatError:
    return FormatError(Reason.LOG_CONTENT_CORRUPT, "LF-007", file, block.content_offset + position, message)
