"""Files of a metadata table out of columns: keys beside the bytes of their records, no record a Python object.

Most records of the large indexes hold the same: all keys of one file group have one place. So the bytes of a record are
made once, by `record_bytes`, and repeated.
"""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_format.base.bloom_filters import TYPE_CODE, build_bloom_filter, encode_bloom_filter
from hudi_format.hfile.writer import write_hfile_columns
from hudi_format.log.blocks import BlockType, HeaderKey, block_parts, encode_block
from hudi_format.log.columnar import delete_content
from hudi_format.metadata.codec import encode_metadata_record, metadata_schema_text
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import Content, MetadataRecord, RecordType

# Large indexes are written often: half of the time for an eighth more room.
_LEVEL: Final = 1


def record_bytes(kind: RecordType, content: Content, release: SchemaRelease = SchemaRelease.V1_1) -> bytes:
    """The bytes of a record of this content under any key.

    Raises:
        ValueError: it has no form in the release's schema.

    Clauses: MT-018.

    """
    return encode_metadata_record(MetadataRecord("", kind, content), release)


def in_key_order(entries: pa.Table) -> pa.Table:
    """Rows in the order of their `key`, as the bytes of keys compare."""
    # Texts compare by code points, which is the order of their bytes.
    return entries.take(pc.array_sort_indices(entries.column("key")))


def columns_block(
    instant: str,
    keys: pa.ChunkedArray,
    values: pa.ChunkedArray,
    release: SchemaRelease = SchemaRelease.V1_1,
    header: Mapping[HeaderKey, str] | None = None,
) -> bytes:
    """An HFile block of records whose keys rise.

    Raises:
        ValueError: keys do not rise in the order of their bytes.

    Clauses: MT-018, LF-026.

    """
    text = metadata_schema_text(release)
    content = write_hfile_columns(keys, values, {"schema": text.encode()}, level=_LEVEL)
    entries = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: text, **(header or {})}
    return encode_block(BlockType.HFILE_DATA, entries, content)


def columns_delete_block(
    instant: str, partition: str, keys: pa.ChunkedArray, header: Mapping[HeaderKey, str] | None = None
) -> bytes:
    """A delete block for keys of a partition of the metadata table.

    Clauses: LF-008, MT-017.
    """
    content = delete_content(keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys, partition)
    parts = block_parts(BlockType.DELETE, {HeaderKey.INSTANT_TIME: instant, **(header or {})}, content)
    return b"".join(parts)


def columns_base_file(
    keys: pa.ChunkedArray, values: pa.ChunkedArray, release: SchemaRelease = SchemaRelease.V1_1
) -> bytes:
    """A base file of records whose keys rise, with the bounds of the keys and a bloom filter.

    Raises:
        ValueError: keys do not rise in the order of their bytes.

    Clauses: MT-018, BF-002.

    """
    info = {"schema": metadata_schema_text(release).encode(), "bloomFilterTypeCode": TYPE_CODE.encode()}
    if len(keys):
        info |= {"minRecordKey": keys[0].as_py().encode(), "maxRecordKey": keys[-1].as_py().encode()}
    bloom = encode_bloom_filter(build_bloom_filter(keys, max(len(keys), 1)))
    return write_hfile_columns(keys, values, info, {"bloomFilter": bloom.encode()}, level=_LEVEL)
