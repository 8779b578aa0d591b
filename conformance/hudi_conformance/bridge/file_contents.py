"""Base files and log files as values of the model."""

from collections.abc import Mapping
from typing import Any, Final

from hudi_adapter.rows import RowsError, rows_of_arrow
from hudi_format.avro.schemas import record_schema
from hudi_format.base.files import read_base_file
from hudi_format.errors import FormatError
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.blocks import CorruptBlock as RawCorruptBlock
from hudi_format.log.changes import decode_changes
from hudi_format.log.content import DeleteRecord, decode_arrow, decode_command, decode_deletes
from hudi_format.log.native import RECORD_KEY, native_changes, native_deletes, read_native_log
from hudi_format.names import BaseFileName, LogFileName, NativeLogName
from hudi_format.storage import Storage
from hudi_model.files import (
    BaseFile,
    Block,
    CdcBlock,
    CdcRecord,
    CorruptBlock,
    Damaged,
    DataBlock,
    Delete,
    DeleteBlock,
    LogFile,
    Record,
    RollbackBlock,
    Schema,
    UnsupportedContent,
)
from hudi_model.merge_rules import is_integer_zero
from hudi_model.rejection import Reason
from hudi_model.time import InstantTime

from hudi_conformance.bridge.damage import decoded, decoded_or_damaged
from hudi_conformance.bridge.schemas import arrow_columns, model_schema

UNREAD: Final = "unread"
"""The feature for which content stands that nobody has looked at."""


def load_base_file(storage: Storage, path: str, partition: str, name: BaseFileName) -> BaseFile:
    """A base file with its records, or with what stands for records that do not decode."""
    found = decoded(lambda: base_content(storage, path))
    records, schema = found if isinstance(found, tuple) else (found, None)
    instant, size = InstantTime(name.instant), storage.size(path)
    return BaseFile(
        partition, name.file_id, name.write_token, instant, name.extension, str(name), records, size, schema
    )


def base_content(storage: Storage, path: str) -> tuple[tuple[Record, ...], Schema]:
    """The rows of a base file, and its columns."""
    stored = read_base_file(storage, path)
    return _records(stored, path, Reason.BASE_FILE_CORRUPT, "BF-004"), arrow_columns(stored.schema)


def load_log_file(storage: Storage, path: str, partition: str, name: LogFileName) -> LogFile:
    """A log file with its blocks; that no query reads those of the change feed is the model's to say."""
    data = storage.read(path)
    blocks = decoded_or_damaged(lambda: _blocks(data, path), "LF-014", Reason.LOG_CONTENT_CORRUPT)
    return log_file(partition, name, blocks, len(data))


def load_native_log(
    storage: Storage, path: str, partition: str, name: NativeLogName, ordering: tuple[str, ...]
) -> LogFile:
    """A native log with the one block that it stands for; `ordering` are the table's ordering fields."""
    data, kind = storage.read(path), name.kind
    found = decoded_or_damaged(lambda: read_native_log(data, name, path), "NL-002", Reason.LOG_CONTENT_CORRUPT)
    blocks = found if isinstance(found, Damaged) else (_native_block(found, kind, partition, ordering, path),)
    instant, cdc = InstantTime(name.instant), kind == "cdc"
    return LogFile(
        partition, name.file_id, instant, name.version, name.write_token, cdc, str(name), blocks, len(data), kind
    )


def _native_block(raw: RawBlock, kind: str, partition: str, ordering: tuple[str, ...], path: str) -> Block:
    instant = InstantTime(raw.header[HeaderKey.INSTANT_TIME])
    if kind == "deletes":
        return DeleteBlock(instant, decoded(lambda: _native_deletes(raw, partition, ordering, path)), _compacted(raw))
    if kind == "cdc":
        rows = decoded(lambda: _records(native_changes(raw, path), path, Reason.LOG_CONTENT_CORRUPT, "NL-011"))
        return CdcBlock(instant, tuple(_change(one.values) for one in rows) if isinstance(rows, tuple) else rows)
    return block_of(raw, path)


def _native_deletes(raw: RawBlock, partition: str, ordering: tuple[str, ...], path: str) -> tuple[Delete, ...]:
    """Tombstones: a zero is a value, and null stands for none, which the model has as the integer 0."""
    rows = _records(native_deletes(raw, ordering, path), path, Reason.LOG_CONTENT_CORRUPT, "NL-004")
    return tuple(_native_delete(one.values, partition, ordering) for one in rows)


def _native_delete(values: Mapping[str, Any], partition: str, ordering: tuple[str, ...]) -> Delete:
    found = tuple(values[name] for name in ordering)
    if None in found or not found:
        return Delete(str(values[RECORD_KEY]), partition, 0)
    stated = found if len(found) > 1 else found[0]
    return Delete(str(values[RECORD_KEY]), partition, stated, zero_is_value=is_integer_zero(stated))


def log_file(partition: str, name: LogFileName, blocks: tuple[Block, ...] | Damaged, size: int) -> LogFile:
    """A log file of these blocks."""
    token, instant = name.write_token or "", InstantTime(name.instant)
    return LogFile(partition, name.file_id, instant, name.version, token, name.cdc, str(name), blocks, size=size)


def _blocks(data: bytes, path: str) -> tuple[Block, ...]:
    return tuple(block_of(raw, path) for raw in read_blocks(data, path))


def block_of(raw: RawBlock | RawCorruptBlock, path: str) -> Block:
    """A block as a value."""
    if isinstance(raw, RawCorruptBlock):
        return CorruptBlock(raw.offset, raw.length)

    instant = InstantTime(raw.header.get(HeaderKey.INSTANT_TIME, ""))
    if raw.type is BlockType.COMMAND:
        return RollbackBlock(instant, InstantTime(decode_command(raw, path).target))
    if raw.type is BlockType.DELETE:
        return DeleteBlock(instant, decoded(lambda: _deletes(raw, path)), _compacted(raw))
    if raw.type is BlockType.CDC_DATA:
        return CdcBlock(instant, decoded(lambda: _changes(raw, path)))
    partial = raw.header.get(HeaderKey.IS_PARTIAL) == "true"
    return DataBlock(instant, decoded(lambda: _block_records(raw, path)), partial, _compacted(raw), _schema(raw, path))


def _block_records(raw: RawBlock, path: str) -> tuple[Record, ...]:
    return _records(decode_arrow(raw, path), path, Reason.LOG_CONTENT_CORRUPT, "LF-013", raw.offset)


def _changes(raw: RawBlock, path: str) -> tuple[CdcRecord, ...]:
    found = _records(decode_changes(raw, path), path, Reason.LOG_CONTENT_CORRUPT, "LF-013", raw.offset)
    return tuple(_change(one.values) for one in found)


def _change(values: Mapping[str, Any]) -> CdcRecord:
    images = [values.get(name) for name in ("before", "after")]
    before, after = (None if image is None else Record(image) for image in images)
    return CdcRecord(str(values["op"]), str(values.get("record_key") or ""), before, after)


def _deletes(raw: RawBlock, path: str) -> tuple[Delete, ...]:
    return tuple(_delete(record, raw, path) for record in decode_deletes(raw, path))


def _delete(record: DeleteRecord, raw: RawBlock, path: str) -> Delete:
    if record.key is None:
        raise FormatError(Reason.LOG_CONTENT_CORRUPT.value, "LF-008", path, raw.offset, "a delete names no key")
    # A zero in the type of the ordering field is a value; the plain integer stands for none.
    zero_is_value = type(record.ordering) is int and record.ordering == 0 and record.kind != "Int"
    return Delete(record.key, record.partition, record.ordering, zero_is_value)


def _compacted(raw: RawBlock) -> tuple[InstantTime, ...]:
    listed = raw.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "")
    return tuple(InstantTime(part.strip()) for part in listed.split(",") if part.strip())


def _schema(raw: RawBlock, path: str) -> Schema | None:
    """The columns of a data block; None where its records, or the want of a schema, tell the damage."""
    text = raw.header.get(HeaderKey.SCHEMA)
    if text is None:
        return None
    found = decoded(lambda: model_schema(record_schema(text, path)))
    return None if isinstance(found, Damaged | UnsupportedContent) else found


def _records(table: object, path: str, reason: Reason, clause: str, offset: int | None = None) -> tuple[Record, ...]:
    try:
        return tuple(Record(row) for row in rows_of_arrow(table).mappings())
    except RowsError as error:
        raise FormatError(reason.value, clause, path, offset, str(error)) from error
