"""What log blocks hold.

Avro data   int32 version, int32 count, then per record int32 length, Avro binary
HFile data  a whole HFile, see log_hfiles
command     nothing; the header says all
Parquet     a whole Parquet file
"""

import io
import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa

from hudi_format.avro.flat_reading import decode_flat_rows
from hudi_format.avro.pieces import Numbers
from hudi_format.avro.schemas import raw_reading_schema, reading_schema, record_schema, schema_text, writing_schema
from hudi_format.base.parquet_bytes import chosen_names, read_parquet
from hudi_format.errors import DECODING_ERRORS, FormatError, Reason, UnsupportedFormat, refusing
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block
from hudi_format.log.deletes import DeleteRecord, decode_deletes, encode_deletes
from hudi_format.log.hfiles import decode_hfile_records
from hudi_format.schemas import arrow_schema

DATA_VERSION = 3
ROLLBACK_BLOCK = "0"

# Versions 1 to 3 share the layout; version 0 had no record count.
_READ_VERSIONS = (1, 2, 3)
_HEAD = struct.Struct(">ii")
_ROWS = (BlockType.AVRO_DATA, BlockType.HFILE_DATA)
_LENGTH = struct.Struct(">i")
_MICROSECONDS_A_DAY = 86_400_000_000
# From so many on, records are read faster column by column.
_MANY_RECORDS = 100
# So much content is copied to decode blocks together.
_BYTES_TOGETHER = 1 << 26


@dataclass(frozen=True, slots=True)
class RollbackCommand:
    """A rollback `instant` that undoes the blocks of `target`.

    Clauses: LF-009.
    """

    instant: str
    target: str


def decode_avro_records(block: RawBlock, file: str) -> list[dict[str, Any]]:
    """The records of an Avro or HFile data block as Python values, read by the schema in the block's header.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content does not decode; LIMIT_EXCEEDED for an unbounded schema.
        UnsupportedFormat: a block of another type.

    Clauses: LF-007, LF-013.

    """
    schema = record_schema(_schema_of(block, file, _ROWS), file, Reason.LOG_CONTENT_CORRUPT)
    with _refusing_schema(file):
        readable = reading_schema(schema)
    return _decode(block, readable, file)


def decode_avro_arrow(
    block: RawBlock, file: str, types: Sequence[BlockType] = _ROWS, wanted: Collection[str] | None = None
) -> pa.Table:
    """The records of an Avro or HFile data block, or of another type that is requested, with the types of its schema.

    `wanted`: of which columns, all by default; of the others only the lengths are looked at where records are many.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content does not decode; LIMIT_EXCEEDED for an unbounded schema.
        UnsupportedFormat: a block of another type, or a column type that Arrow cannot hold.

    Clauses: LF-007, LF-013.

    """
    form = _block_form(block, file, types)
    target = form.arrow
    (table,) = _decode_columns([block], form, wanted) or [None]
    records = _decode(block, form.readable, file) if table is None else []
    with refusing(Reason.LOG_CONTENT_CORRUPT, "LF-013", file, block.content_offset, "a value does not fit its type"):
        if table is None:
            columns = [pa.array([record[field.name] for record in records], field.type) for field in target]
            table = _chosen(pa.Table.from_arrays(columns, schema=target), wanted)
        _refuse_impossible_times(table)
    return table


@dataclass(frozen=True, slots=True)
class _Form:
    """What the schema of a block makes of its records: as it is, as Arrow has it, as the library reads by it."""

    avro: Mapping[str, Any]
    arrow: pa.Schema
    readable: Any


def _block_form(block: RawBlock, file: str, types: Sequence[BlockType]) -> _Form:
    """Clauses: LF-022."""
    text = _schema_of(block, file, types)
    try:
        return _known_form(text)
    except (FormatError, UnsupportedFormat):
        # The same again, with the name of the file in the error.
        return _form(text, file)


def _form(text: str, file: str) -> _Form:
    schema = record_schema(text, file, Reason.LOG_CONTENT_CORRUPT)
    target = arrow_schema(text, file)
    with _refusing_schema(file):
        return _Form(schema, target, raw_reading_schema(schema))


@lru_cache(maxsize=64)
def _known_form(text: str) -> _Form:
    """The form of a schema that many blocks have."""
    return _form(text, "")


def _chosen(table: pa.Table, wanted: Collection[str] | None) -> pa.Table:
    return table if wanted is None else table.select(chosen_names(table.schema, wanted))


def _decode_columns(
    blocks: Sequence[RawBlock], form: _Form, wanted: Collection[str] | None
) -> Sequence[pa.Table] | None:
    """Many records of one flat schema at once; None for few, for others, and for bytes that do not decode."""
    content = b"".join(block.content for block in blocks)
    begins, ends, counts, first = [], [], [], 0
    for block in blocks:
        spans = _record_spans(block)
        if spans is None:
            return None
        begins.append(spans[0] + first)
        ends.append(spans[1] + first)
        counts.append(len(spans[0]))
        first += len(block.content)
    if sum(counts) < _MANY_RECORDS:
        return None
    chosen = None if wanted is None else frozenset(chosen_names(form.arrow, wanted))
    rows = decode_flat_rows(content, np.concatenate(begins), np.concatenate(ends), form.avro, form.arrow, chosen)
    if rows is None:
        return None
    return [rows.slice(last - count, count) for last, count in zip(accumulate(counts), counts, strict=True)]


def _record_spans(block: RawBlock) -> tuple[Numbers, Numbers] | None:
    """Where the records of an Avro data block begin and end; None where its content is none."""
    content = block.content
    version, count = _HEAD.unpack_from(content) if len(content) >= _HEAD.size else (0, 0)
    fits = 0 <= count <= (len(content) - _HEAD.size) // _LENGTH.size
    if block.type is BlockType.HFILE_DATA or version not in _READ_VERSIONS or not fits:
        return None
    starts, position, length_at = [], _HEAD.size, _LENGTH.unpack_from
    try:
        for _ in range(count):
            (length,) = length_at(content, position)
            starts.append(position := position + _LENGTH.size)
            position += length
    except struct.error:
        return None
    begins = np.array(starts, np.int64)
    ends = np.append(begins[1:] - _LENGTH.size, position)[:count]
    return (begins, ends) if position == len(content) and np.all(begins <= ends) else None


def decode_parquet_block(block: RawBlock, file: str, wanted: Collection[str] | None = None) -> pa.Table:
    """The records of a Parquet data block, in the columns that are wanted, all by default.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content is no Parquet file.

    Clauses: LF-013, LF-027.

    """
    return read_parquet(block.content, file, block.content_offset, Reason.LOG_CONTENT_CORRUPT, "LF-013", wanted)


def decode_arrow(block: RawBlock, file: str, wanted: Collection[str] | None = None) -> pa.Table:
    """The records of a data block of any built type, in the columns that are wanted, all by default.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT when the content does not decode.
        UnsupportedFormat: log-cdc; log-hfile for an HFile of another version or packing.

    """
    if block.type is BlockType.PARQUET_DATA:
        return decode_parquet_block(block, file, wanted)
    return decode_avro_arrow(block, file, wanted=wanted)


def decode_arrows(
    blocks: Sequence[RawBlock], files: Sequence[str], wanted: Collection[str] | None = None
) -> Sequence[pa.Table]:
    """The same of each of several blocks; records of one Avro schema are decoded together, as they are few in each."""
    alike: dict[tuple[str, int], list[int]] = {}
    size = 0
    for place, block in enumerate(blocks):
        if block.type is BlockType.AVRO_DATA:
            size += len(block.content)
            alike.setdefault((block.header.get(HeaderKey.SCHEMA, ""), size // _BYTES_TOGETHER), []).append(place)
    found: dict[int, pa.Table] = {}
    for (text, _), places in alike.items():
        found |= zip(places, _decoded_together([blocks[place] for place in places], text, wanted), strict=False)
    return [
        found[place] if place in found else decode_arrow(block, file, wanted)
        for place, (block, file) in enumerate(zip(blocks, files, strict=True))
    ]


def _decoded_together(blocks: Sequence[RawBlock], schema: str, wanted: Collection[str] | None) -> Sequence[pa.Table]:
    """The records of blocks of one schema; nothing where some do not decode: one by one they say which, and why."""
    try:
        tables = _decode_columns(blocks, _known_form(schema), wanted) or ()
        for table in tables:
            _refuse_impossible_times(table)
    except (FormatError, UnsupportedFormat, ValueError):
        return ()
    return tables


def decode_records(block: RawBlock, file: str) -> list[dict[str, Any]]:
    """The same as Python values."""
    if block.type is not BlockType.PARQUET_DATA:
        return decode_avro_records(block, file)
    table = decode_parquet_block(block, file)
    with refusing(Reason.LOG_CONTENT_CORRUPT, "LF-013", file, block.content_offset, "a value has no Python form"):
        rows: list[dict[str, Any]] = table.to_pylist(maps_as_pydicts="strict")
    return rows


def decode_command(block: RawBlock, file: str) -> RollbackCommand:
    """The rollback that a command block requests.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for another command, content, or a missing instant.

    Clauses: LF-009.

    """
    command = block.header.get(HeaderKey.COMMAND_BLOCK_TYPE)
    target = block.header.get(HeaderKey.TARGET_INSTANT_TIME)
    instant = block.header.get(HeaderKey.INSTANT_TIME)
    if block.type is not BlockType.COMMAND or command != ROLLBACK_BLOCK or block.content:
        raise _corrupt("LF-009", file, block.offset, f"the command {command!r} is unknown")
    if target is None or instant is None:
        raise _corrupt("LF-009", file, block.offset, "a rollback block names no instant")
    return RollbackCommand(instant, target)


def encode_avro_records(records: Iterable[Mapping[str, Any]], schema: Any) -> bytes:
    """The content of an Avro data block.

    Clauses: LF-007.
    """
    writable = writing_schema(schema)
    encoded = [_encode(record, writable) for record in records]
    return _HEAD.pack(DATA_VERSION, len(encoded)) + b"".join(_LENGTH.pack(len(one)) + one for one in encoded)


def data_block(
    instant: str,
    records: Iterable[Mapping[str, Any]],
    schema: Any,
    header: Mapping[HeaderKey, str] | None = None,
) -> bytes:
    """A whole Avro data block; `header` adds entries to instant and schema.

    Clauses: LF-001, LF-007.
    """
    entries = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: schema_text(schema), **(header or {})}
    return encode_block(BlockType.AVRO_DATA, entries, encode_avro_records(records, schema))


def delete_block(
    instant: str,
    deletes: Sequence[DeleteRecord],
    schema: Any = None,
    header: Mapping[HeaderKey, str] | None = None,
) -> bytes:
    """A whole delete block; the schema in its header only informs.

    Clauses: LF-001, LF-008.
    """
    entries = {HeaderKey.INSTANT_TIME: instant, **(header or {})}
    if schema is not None:
        entries[HeaderKey.SCHEMA] = schema_text(schema)
    return encode_block(BlockType.DELETE, entries, encode_deletes(deletes))


def rollback_block(instant: str, target: str) -> bytes:
    """A whole command block.

    Clauses: LF-001, LF-009.
    """
    entries = {
        HeaderKey.INSTANT_TIME: instant,
        HeaderKey.TARGET_INSTANT_TIME: target,
        HeaderKey.COMMAND_BLOCK_TYPE: ROLLBACK_BLOCK,
    }
    return encode_block(BlockType.COMMAND, entries, b"")


def _schema_of(block: RawBlock, file: str, types: Sequence[BlockType]) -> str:
    """The text of the schema in a data block's header.

    Clauses: LF-022.
    """
    if block.type is BlockType.CDC_DATA and block.type not in types:
        raise UnsupportedFormat("log-cdc", file)
    if block.type not in types:
        raise _corrupt("LF-007", file, block.offset, f"a block of type {block.type.name} holds no Avro records")
    text = block.header.get(HeaderKey.SCHEMA)
    if text is None:
        raise _corrupt("LF-007", file, block.offset, "the data block has no schema in its header")
    return text


def _refusing_schema(file: str) -> AbstractContextManager[None]:
    return refusing(Reason.LOG_CONTENT_CORRUPT, "LF-007", file, None, "the schema cannot be read by")


def _decode(block: RawBlock, schema: Any, file: str) -> list[Any]:
    if block.type is BlockType.HFILE_DATA:
        return decode_hfile_records(block, schema, file)
    return _decode_avro(block, schema, file)


def _decode_avro(block: RawBlock, schema: Any, file: str) -> list[Any]:
    count = _record_count(block, file)
    content, stream = block.content, io.BytesIO(block.content)
    position = _HEAD.size
    records = []
    for index in range(count):
        length = _record_length(block, position, file)
        position += _LENGTH.size
        stream.seek(position)
        try:
            records.append(fastavro.schemaless_reader(stream, schema, None))
        except DECODING_ERRORS as error:
            message = f"record {index} does not decode: {type(error).__name__} {error}"
            raise _corrupt("LF-013", file, block.content_offset + position, message) from error
        if stream.tell() != position + length:
            message = f"record {index} declares {length} bytes and takes {stream.tell() - position}"
            raise _corrupt("LF-013", file, block.content_offset + position, message)
        position += length
    if position != len(content):
        message = f"{len(content) - position} bytes stand after the last record"
        raise _corrupt("LF-007", file, block.content_offset + position, message)
    return records


def _record_count(block: RawBlock, file: str) -> int:
    if len(block.content) < _HEAD.size:
        raise _corrupt("LF-007", file, block.content_offset, "the content ends inside version and record count")
    version, count = _HEAD.unpack_from(block.content)
    if version not in _READ_VERSIONS:
        raise _corrupt("LF-007", file, block.content_offset, f"version {version} of Avro content is unknown")
    if not 0 <= count <= (len(block.content) - _HEAD.size) // _LENGTH.size:
        message = f"{count} records are declared in {len(block.content)} bytes"
        raise _corrupt("LF-007", file, block.content_offset + 4, message)
    return int(count)


def _record_length(block: RawBlock, position: int, file: str) -> int:
    left = len(block.content) - position - _LENGTH.size
    length = _LENGTH.unpack_from(block.content, position)[0] if left >= 0 else -1
    if not 0 <= length <= left:
        message = f"a record declares {length} bytes, {left} are left"
        raise _corrupt("LF-007", file, block.content_offset + position, message)
    return int(length)


def _encode(record: Mapping[str, Any], schema: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, record)
    return stream.getvalue()


def _refuse_impossible_times(table: pa.Table) -> None:
    """Arrow keeps any number as a time of day; only those within a day are times."""
    for column in table.columns:
        if pa.types.is_time(column.type) and len(column):
            day = _MICROSECONDS_A_DAY if column.type.unit == "us" else _MICROSECONDS_A_DAY // 1000
            numbers = column.cast(pa.int64() if column.type.unit == "us" else pa.int32()).drop_null().to_numpy()
            if len(numbers) and (numbers.min() < 0 or numbers.max() >= day):
                raise ValueError("a time of day is not within a day")


def _corrupt(clause: str, file: str, offset: int, message: str) -> FormatError:
    return FormatError(Reason.LOG_CONTENT_CORRUPT, clause, file, offset, message)


__all__ = [
    "DeleteRecord",
    "RollbackCommand",
    "data_block",
    "decode_arrow",
    "decode_arrows",
    "decode_avro_arrow",
    "decode_avro_records",
    "decode_command",
    "decode_deletes",
    "decode_parquet_block",
    "decode_records",
    "delete_block",
    "encode_avro_records",
    "encode_deletes",
    "rollback_block",
]
