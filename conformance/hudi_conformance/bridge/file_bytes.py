"""Bytes of base files and log files from values of the model."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
from hudi_adapter.rows import arrow_of_rows, rows_of_mappings
from hudi_format.avro.schemas import schema_text
from hudi_format.base.files import write_base_file
from hudi_format.base.hfiles import write_hfile_base
from hudi_format.log.blocks import MAGIC, HeaderKey
from hudi_format.log.changes import COLUMNS, LoggingMode, change_block, change_schema
from hudi_format.log.content import DeleteRecord, data_block, delete_block, rollback_block
from hudi_format.log.native import RECORD_KEY, write_native_log
from hudi_format.schemas import META_FIELDS, arrow_schema
from hudi_model.configuration import property_names
from hudi_model.creation import ORDERING
from hudi_model.files import (
    BaseFile,
    Block,
    CdcBlock,
    CdcRecord,
    CorruptBlock,
    DataBlock,
    Delete,
    DeleteBlock,
    LogFile,
    Record,
    RollbackBlock,
    Schema,
    Value,
)
from hudi_model.merge_rules import is_without_ordering
from hudi_model.time import InstantTime

from hudi_conformance.bridge.schemas import avro_schema

_LOGGING_MODE = "hoodie.table.cdc.supplemental.logging.mode"

# What fills a corrupt block: a magic whose length runs past the end of any file, then letters.
_LENGTH_PAST_THE_END = b"\x7f" + b"\xff" * 7
_FILLER = b"garbage "


def base_file_bytes(file: BaseFile, schema: Schema, table_name: str) -> bytes:
    """A file of the format that its name shows: the meta columns, then the columns of `schema` that the records have.

    Raises:
        ValueError: the records are damaged or unread, or the file is neither Parquet nor HFile.

    """
    if not isinstance(file.records, tuple) or file.extension not in ("parquet", "hfile"):
        raise ValueError(f"{file.name}: only sound files in Parquet and HFile have bytes")
    present = _present(file.records, schema)
    avro = avro_schema(present, table_name, meta_fields=True)
    if file.extension == "hfile":
        return write_hfile_base([_avro_record(record, avro) for record in file.records], avro)
    return write_base_file(_rows(file.records, present), avro)


def logging_mode(properties: Mapping[str, str]) -> str:
    """How much of a change a table keeps for its change feed."""
    return properties.get(_LOGGING_MODE, LoggingMode.DATA_BEFORE_AFTER)


def log_file_bytes(file: LogFile, schema: Schema, properties: Mapping[str, str]) -> bytes:
    """The blocks of a log file one after the other, or a native log; data blocks without schema take `schema`.

    `properties` are the table's. Of the changes in a log of the change feed, what the logging mode keeps is written.

    Raises:
        ValueError: the file or a block is damaged or unread, or a corrupt block does not lie where it says.

    """
    if not isinstance(file.blocks, tuple):
        raise ValueError(f"{file.name}: a damaged log file has no bytes")  # noqa: TRY004 - the state, not the type
    table_name, mode = properties["hoodie.table.name"], LoggingMode(logging_mode(properties).upper())
    if file.native:
        ordering = property_names(properties, ORDERING)
        return b"".join(_native_bytes(file.name, one, schema, table_name, mode, ordering) for one in file.blocks)
    data = b""
    for block in file.blocks:
        if isinstance(block, CdcBlock) and isinstance(block.changes, tuple):
            avro = avro_schema(schema, table_name)
            changes = [_change(change, avro) for change in block.changes]
            data += change_block(block.instant, changes, mode, avro)
        else:
            data += _block_bytes(file.name, block, schema, table_name, len(data))
    return data


def _native_bytes(  # noqa: PLR0917 - as the file, and what its table says
    name: str, block: Block, schema: Schema, table_name: str, mode: LoggingMode, ordering: Sequence[str]
) -> bytes:
    """The one block of a native log, as the file that it is."""
    header = {HeaderKey.INSTANT_TIME: getattr(block, "instant", "")}
    match block:
        case DataBlock(_, tuple() as records):
            own = block.schema or schema
            rows = _rows(records, own)
            header |= {HeaderKey.IS_PARTIAL: "true"} if block.partial else {}
        case DeleteBlock(_, tuple() as deletes):
            own, types = schema, dict(_columns(schema))
            columns = ((RECORD_KEY, "string"), *((name, types[name]) for name in ordering))
            rows = arrow_of_rows(rows_of_mappings(columns, tuple(_native_delete(one, ordering) for one in deletes)))
        case CdcBlock(instant, tuple() as changes):
            avro = avro_schema(schema, table_name)
            text = schema_text(change_schema(mode, avro))
            made = [{**_change(one, avro), "ts_ms": instant} for one in changes]
            kept = [{name: one[name] for name in COLUMNS[mode]} for one in made]
            return write_native_log(pa.Table.from_pylist(kept, arrow_schema(text)), {**header, HeaderKey.SCHEMA: text})
        case _:
            raise ValueError(f"{name}: a native log has no such block")
    avro = avro_schema(own, table_name, meta_fields=True)
    return write_native_log(
        rows, {**header, HeaderKey.SCHEMA: schema_text(avro), **_compacted(block.compacted_instants)}
    )


def _rows(records: Sequence[Record], schema: Schema) -> pa.Table:
    """The meta columns, then those of a schema."""
    columns = (*((name, "string") for name in META_FIELDS), *_columns(schema))
    return arrow_of_rows(rows_of_mappings(columns, tuple(one.values for one in records)))


def _columns(schema: Schema) -> tuple[tuple[str, str], ...]:
    return tuple((one.name, one.type) for one in schema.fields)


def _native_delete(delete: Delete, ordering: Sequence[str]) -> dict[str, Value]:
    """A tombstone's row: nulls where it has no ordering value."""
    values = delete.ordering if isinstance(delete.ordering, tuple) else (delete.ordering,)
    stated = {} if is_without_ordering(delete) else dict(zip(ordering, values, strict=True))
    return {RECORD_KEY: delete.key, **stated}


def _block_bytes(name: str, block: Block, schema: Schema, table_name: str, offset: int) -> bytes:
    match block:
        case DataBlock(instant, tuple() as records):
            avro = avro_schema(block.schema or schema, table_name, meta_fields=True)
            partial = {HeaderKey.IS_PARTIAL: "true"} if block.partial else {}
            header = {**_compacted(block.compacted_instants), **partial}
            return data_block(instant, [_avro_record(record, avro) for record in records], avro, header)
        case DeleteBlock(instant, tuple() as deletes):
            written = [_delete(delete) for delete in deletes]
            avro = avro_schema(schema, table_name, meta_fields=True)
            return delete_block(instant, written, avro, _compacted(block.compacted_instants))
        case RollbackBlock(instant, target):
            return rollback_block(instant, target)
        case CorruptBlock(at, length) if at == offset and length >= len(MAGIC + _LENGTH_PAST_THE_END):
            return (MAGIC + _LENGTH_PAST_THE_END + _FILLER * length)[:length]
    raise ValueError(f"{name}: this block has no bytes")


def _change(change: CdcRecord, avro: dict[str, object]) -> dict[str, object]:
    images = {"before": change.before, "after": change.after}
    kept = {name: record and _avro_record(record, avro) for name, record in images.items()}
    return {"op": change.operation, "record_key": change.key, **kept}


def _delete(delete: Delete) -> DeleteRecord:
    return DeleteRecord(delete.key, delete.partition, delete.ordering, "Long" if delete.zero_is_value else None)


def _avro_record(record: Record, avro: dict[str, object]) -> dict[str, object]:
    names: Iterable[dict[str, str]] = avro["fields"]  # type: ignore[assignment]
    return {field["name"]: record.values.get(field["name"]) for field in names}


def _compacted(instants: Sequence[InstantTime]) -> dict[HeaderKey, str]:
    return {HeaderKey.COMPACTED_BLOCK_TIMES: ",".join(instants)} if instants else {}


def _present(records: tuple[Record, ...], schema: Schema) -> Schema:
    """The columns that any record has; all of them where there are no records."""
    if not records:
        return schema
    names = {name for record in records for name in record.values}
    return Schema(tuple(field for field in schema.fields if field.name in names))
