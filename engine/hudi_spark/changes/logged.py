"""Changes that writes logged: the files that write stats name, decoded, with their images in the table's columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.log.blocks import BlockType, CorruptBlock, read_blocks
from hudi_format.log.changes import decode_changes
from hudi_format.storage import Storage

from hudi_spark.changes.images import struct_of
from hudi_spark.errors import SkippedBytes
from hudi_spark.schemas.columns import conform
from hudi_spark.state.vanishing import read_log


@dataclass(frozen=True, slots=True)
class LoggedChanges:
    """The changes in one block: columns `op`, and of `record_key`, `before`, `after` those that its mode logs.

    Clauses: CD-003, CD-008.
    """

    rows: pa.Table

    def has(self, name: str) -> bool:
        """Whether the logging mode kept a column."""
        return name in self.rows.column_names


def read_logged(
    storage: Storage, files: Sequence[str], columns: pa.Schema
) -> tuple[tuple[LoggedChanges, ...], tuple[SkippedBytes, ...]]:
    """The changes in change logs, in order, and the bytes that are no blocks.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for a block that does not decode.
        HudiError: SCHEMA_INCOMPATIBLE for an image that does not fit the table's columns.

    Clauses: CD-003, CD-009, LF-010, RD-013.

    """
    changes: list[LoggedChanges] = []
    skipped: list[SkippedBytes] = []
    for file in files:
        for block in read_blocks(read_log(storage, file), file):
            if isinstance(block, CorruptBlock):
                skipped.append(SkippedBytes(file, block.offset, "LF-010", f"{block.length} bytes skipped: {block.why}"))
            elif block.type is BlockType.CDC_DATA:
                changes.append(LoggedChanges(pa.table(dict(_columns(decode_changes(block, file), columns, file)))))
    return tuple(changes), tuple(skipped)


def _columns(changes: pa.Table, columns: pa.Schema, file: str) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
    for name in changes.column_names:
        column = changes.column(name)
        yield name, _in_columns(column, columns, file) if pa.types.is_struct(column.type) else column


def _in_columns(images: pa.ChunkedArray, columns: pa.Schema, file: str) -> pa.StructArray:
    """Images, written in the columns of their time, in those that the table has now.

    Clauses: CD-002, DM-004.
    """
    whole = images.combine_chunks()
    parts = [pc.struct_field(whole, [index]) for index in range(whole.type.num_fields)]
    table = pa.table(parts, names=[field.name for field in whole.type])
    return struct_of(conform(table, columns, file), pc.is_null(whole))
