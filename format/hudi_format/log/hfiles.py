"""HFile data blocks: a whole HFile, key = record key, value = Avro binary by the schema in the block's header."""

import io
from collections.abc import Iterable, Mapping
from typing import Any, Final

import fastavro

from hudi_format.avro.schemas import schema_text, writing_schema
from hudi_format.errors import DECODING_ERRORS, FormatError, Reason
from hudi_format.hfile.blocks import Origin
from hudi_format.hfile.reader import open_hfile
from hudi_format.hfile.writer import write_hfile
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block

_RECORD_KEY: Final = "_hoodie_record_key"
# The metadata table's records leave their key to the HFile.
_METADATA_RECORD: Final = "HoodieMetadataRecord"
_METADATA_KEY: Final = "key"


def decode_hfile_records(block: RawBlock, schema: Any, file: str) -> list[Any]:
    """The records of an HFile data block, decoded with a schema for fastavro.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content does not decode; LIMIT_EXCEEDED for huge blocks.
        UnsupportedFormat: log-hfile, for an HFile of another version or packing.

    Clauses: LF-013, LF-026.

    """
    origin = log_origin(block, file)
    key_field = _METADATA_KEY if str(schema.get("name", "")).rpartition(".")[2] == _METADATA_RECORD else None
    entries = open_hfile(block.content, origin).entries()
    return [_record(key, value, schema, key_field, origin) for key, value in entries]


def log_origin(block: RawBlock, file: str) -> Origin:
    """How errors inside the HFile of a log block read.

    Clauses: LF-013.
    """
    return Origin(file, Reason.LOG_CONTENT_CORRUPT, "LF-013", "LF-007", block.content_offset, "log-hfile")


def hfile_block(
    instant: str,
    records: Iterable[Mapping[str, Any]],
    schema: Any,
    header: Mapping[HeaderKey, str] | None = None,
    key_field: str = _RECORD_KEY,
) -> bytes:
    """A whole HFile data block, records in the order of their keys' bytes.

    Raises:
        ValueError: two records have one key.

    Clauses: LF-001, LF-005, LF-026.

    """
    text, writable = schema_text(schema), writing_schema(schema)
    entries = sorted((str(record[key_field]).encode(), _encode(record, writable)) for record in records)
    content = write_hfile(entries, {"schema": text.encode()})
    entries_of_header = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: text, **(header or {})}
    return encode_block(BlockType.HFILE_DATA, entries_of_header, content)


def _record(key: bytes, value: bytes, schema: Any, key_field: str | None, origin: Origin) -> Any:
    stream = io.BytesIO(value)
    try:
        record: Any = fastavro.schemaless_reader(stream, schema, None)
        if key_field is not None and record.get(key_field) == "":
            record[key_field] = key.decode()
    except DECODING_ERRORS as error:
        raise _undecodable(key, f"does not decode: {type(error).__name__} {error}", origin) from error
    if stream.tell() != len(value):
        raise _undecodable(key, f"has {len(value)} bytes and takes {stream.tell()}", origin)
    return record


def _undecodable(key: bytes, message: str, origin: Origin) -> FormatError:
    return origin.corrupt(0, f"the record of the key {key[:80]!r} {message}")


def _encode(record: Mapping[str, Any], schema: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, record)
    return stream.getvalue()
