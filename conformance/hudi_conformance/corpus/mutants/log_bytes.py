"""Rules of the bytes of log files, broken: the frame of a block, its header, and what a block holds."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import MAGIC, BlockType, HeaderKey, RawBlock
from hudi_format.log.changes import COLUMNS, LoggingMode
from hudi_format.log.content import RollbackCommand
from hudi_format.names import LogFileName, parse_data_file_name

from hudi_conformance.corpus.mutants.registry import Function, mutant

_FOOTER = 4


@mutant(
    "footer-read-as-content",
    "LF-001",
    "The footer of a block is taken for the end of its content.",
    "hudi_format.log.blocks._read_block",
)
def _footer_read_as_content(original: Function) -> Function:
    def longer(data: bytes, start: int, end: int, file: str) -> RawBlock:
        block: RawBlock = original(data, start, end, file)
        length = len(block.content) + _FOOTER
        return replace(block, content=data[block.content_offset : block.content_offset + length])

    return longer


@mutant("magic-in-small-letters", "LF-002", "Blocks begin with `#hudi#`.", "hudi_format.log.blocks._check_frame")
def _magic_in_small_letters(original: Function) -> Function:
    return lambda data, start: original(data.replace(MAGIC, MAGIC.lower()), start)


@mutant(
    "end-of-block-unchecked",
    "LF-003",
    "The length at the end of a block is not looked at, nor what follows it.",
    "hudi_format.log.blocks._check_end",
)
def _end_of_block_unchecked(_: Function) -> Function:
    return lambda _data, _length, _end: None


@mutant("first-header-entry-only", "LF-004", "Of a header the first entry is read.", "hudi_format.log.blocks._read_map")
def _first_header_entry_only(original: Function) -> Function:
    def first(*given: Any) -> tuple[dict[int, str], int]:
        entries, position = original(*given)
        return dict(list(entries.items())[:1]), position

    return first


@mutant(
    "block-types-swapped",
    "LF-005",
    "Blocks of Avro records and HFiles have each other's number.",
    "hudi_format.log.blocks._block_type",
)
def _block_types_swapped(original: Function) -> Function:
    other = {BlockType.AVRO_DATA: BlockType.HFILE_DATA, BlockType.HFILE_DATA: BlockType.AVRO_DATA}

    def swapped(*given: Any) -> BlockType:
        found: BlockType = original(*given)
        return other.get(found, found)

    return swapped


@mutant(
    "header-keys-swapped",
    "LF-006",
    "The instant of a block and the one that it rolls back have each other's key.",
    "hudi_format.log.blocks._header_key",
)
def _header_keys_swapped(original: Function) -> Function:
    one, two = HeaderKey.INSTANT_TIME, HeaderKey.TARGET_INSTANT_TIME

    def swapped(*given: Any) -> HeaderKey:
        found: HeaderKey = original(*given)
        return {one: two, two: one}.get(found, found)

    return swapped


@mutant(
    "one-record-less",
    "LF-007",
    "Of the records of a block one less is read than the block counts.",
    "hudi_format.log.content._record_count",
)
def _one_record_less(original: Function) -> Function:
    return lambda block, file: max(original(block, file) - 1, 0)


@mutant(
    "kryo-deletes-ignored",
    "LF-008",
    "A list of deletes in the form of older releases is empty.",
    "hudi_format.log.deletes.read_kryo_deletes",
)
def _kryo_deletes_ignored(_: Function) -> Function:
    return lambda _payload, _version: []


@mutant(
    "deletes-lose-their-wrapper",
    "LF-008",
    "No delete of a list has an ordering value.",
    "hudi_format.log.deletes._unwrap",
)
def _deletes_lose_their_wrapper(_: Function) -> Function:
    return lambda _wrapped: (None, None)


@mutant(
    "command-undoes-itself",
    "LF-009",
    "A rollback undoes what has its own instant.",
    "hudi_format.log.content.decode_command",
)
def _command_undoes_itself(original: Function) -> Function:
    def of_itself(block: RawBlock, file: str) -> RollbackCommand:
        found: RollbackCommand = original(block, file)
        return replace(found, target=found.instant)

    return of_itself


@mutant(
    "blocks-are-of-their-file",
    "LF-021",
    "A block is of the instant in the name of its file.",
    "hudi_format.log.blocks._read_block",
)
def _blocks_are_of_their_file(original: Function) -> Function:
    def dated(data: bytes, start: int, end: int, file: str) -> RawBlock:
        block: RawBlock = original(data, start, end, file)
        name = parse_data_file_name(PurePosixPath(file).name)
        if not isinstance(name, LogFileName):
            return block
        return replace(block, header={**block.header, HeaderKey.INSTANT_TIME: name.instant})

    return dated


@mutant(
    "columns-in-order-of-names",
    "LF-022",
    "The columns of a block stand in the order of their names, not of its schema.",
    "hudi_format.log.content._schema_of",
)
def _columns_in_order_of_names(original: Function) -> Function:
    def sorted_schema(*given: Any) -> str:
        schema = json.loads(original(*given))
        return json.dumps({**schema, "fields": sorted(schema["fields"], key=lambda field: field["name"])})

    return sorted_schema


@mutant(
    "partial-blocks-taken-for-whole",
    "LF-025",
    "That a block holds some columns only is overlooked.",
    "hudi_format.log.blocks._read_block",
)
def _partial_blocks_taken_for_whole(original: Function) -> Function:
    def whole(*given: Any) -> RawBlock:
        block: RawBlock = original(*given)
        return replace(block, header={key: text for key, text in block.header.items() if key != HeaderKey.IS_PARTIAL})

    return whole


@mutant(
    "hfile-block-read-as-avro",
    "LF-026",
    "What an HFile block holds is read as Avro records one after another.",
    "hudi_format.log.content.decode_hfile_records",
)
def _hfile_block_read_as_avro(_: Function) -> Function:
    def refused(block: RawBlock, _schema: Any, file: str) -> list[Any]:
        raise FormatError(Reason.LOG_CONTENT_CORRUPT, "LF-007", file, block.content_offset, "these are no records")

    return refused


@mutant(
    "parquet-block-has-a-count",
    "LF-027",
    "A version and a count stand before the Parquet file of a block.",
    "hudi_format.log.content.decode_parquet_block",
)
def _parquet_block_has_a_count(original: Function) -> Function:
    return lambda block, file: original(replace(block, content=block.content[8:]), file)


@mutant(
    "one-logging-mode",
    "CD-008",
    "Every table's change feed logs both rows.",
    "hudi_format.log.changes.decode_changes",
)
def _one_logging_mode(original: Function) -> Function:
    def whole(block: RawBlock, file: str) -> pa.Table:
        changes: pa.Table = original(block, file)
        if sorted(changes.column_names) != sorted(COLUMNS[LoggingMode.DATA_BEFORE_AFTER]):
            raise FormatError(Reason.LOG_CONTENT_CORRUPT, "CD-009", file, block.content_offset, "a row is missing")
        return changes

    return whole


@mutant(
    "images-swapped",
    "CD-009",
    "The row after a change stands where the one before it does.",
    "hudi_format.log.changes.decode_changes",
)
def _images_swapped(original: Function) -> Function:
    def renamed(names: Sequence[str]) -> list[str]:
        return [{"before": "after", "after": "before"}.get(name, name) for name in names]

    def swapped(block: RawBlock, file: str) -> pa.Table:
        changes: pa.Table = original(block, file)
        return changes.rename_columns(renamed(changes.column_names))

    return swapped
