"""The blocks of a log file: incoming rows as data blocks, and one delete block after them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.avro.columnar import encode_framed_rows, encode_rows
from hudi_format.avro.schemas import schema_text
from hudi_format.log.blocks import BlockType, HeaderKey, block_parts
from hudi_format.log.columnar import avro_content, hfile_content, parts_within
from hudi_format.log.headers import PARTIAL, compacted_block_times_text, record_positions_text
from hudi_format.log.parquet_blocks import parquet_content
from hudi_format.schemas import META_FIELDS, arrow_schema

from hudi_spark.arrays import one_chunk
from hudi_spark.errors import HudiError
from hudi_spark.files.base import packing
from hudi_spark.files.deletes import deletes_content, ordering_wrappers
from hudi_spark.files.log_form import LogForm, LogGroup
from hudi_spark.merging.log_records import flagged_deletes, marked_deletes

RECORD_KEY: Final = "_hoodie_record_key"
_FILE_NAME: Final = "_hoodie_file_name"
# Beside the columns of the rows, while they are ordered and split.
_NATURAL, _UPDATE, _POSITION, _KEY = "_log_natural", "_log_update", "_log_position", "_log_key"


@dataclass(frozen=True, slots=True)
class LogRows:
    """What a write does to the records of one file group, one row a key.

    `rows`: the table's columns and the meta fields; the name of the file in them does not count.
    `natural`: whether a row removes its key whatever ordering value it has; `updates`: whether the group holds the key.
    `positions`: the row of the base file that holds the key, null where that is not known; or nothing is known.
    `deletes`: rows that remove their key by the ordering value that they have; or only those that say so themselves.

    Clauses: DM-001, MG-005, LF-023.
    """

    rows: pa.Table
    natural: pa.ChunkedArray
    updates: pa.ChunkedArray
    positions: pa.ChunkedArray | None = None
    deletes: pa.ChunkedArray | None = None

    def tagged(self) -> pa.Table:
        """Rows and all that is known of them, in one table."""
        unknown = pa.nulls(self.rows.num_rows, pa.int64())
        more = {
            _NATURAL: self.natural,
            _UPDATE: self.updates,
            _POSITION: unknown if self.positions is None else self.positions,
            _KEY: self.rows.column(RECORD_KEY),
        }
        tagged = self.rows
        for name, column in more.items():
            tagged = tagged.append_column(name, column)
        return tagged


@dataclass(frozen=True, slots=True)
class MadeBlock:
    """A block's bytes in parts that follow one another, its records, and how many of what kind they are.

    `rows` has the columns of the block's schema; it is None for deletes.
    """

    parts: list[Any]
    rows: pa.Table | None
    updates: int = 0
    deletes: int = 0

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return sum(memoryview(part).nbytes for part in self.parts)


def made_blocks(incoming: LogRows, group: LogGroup, form: LogForm, instant: str) -> list[MadeBlock]:
    """Data blocks of the rows that stay, and after them at most one block of those that delete their keys.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that does not fit the table's schema.
        UnsupportedFeature: ordering-type.

    Clauses: LC-004, LF-006, LF-007, LF-008, LF-022, LF-023, LF-025, MG-005, MG-008.

    """
    tagged = incoming.tagged()
    deleting = pc.or_(pc.or_(flagged_deletes(tagged), marked_deletes(tagged, form.rule)), tagged.column(_NATURAL))
    if incoming.deletes is not None:
        deleting = pc.or_(deleting, incoming.deletes)
    header = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: schema_text(form.avro)}
    if group.compacted:
        header[HeaderKey.COMPACTED_BLOCK_TIMES] = compacted_block_times_text(group.compacted)
    deletes = list(_delete_block(tagged.filter(deleting), group, form, header))
    return [*_data_blocks(tagged.filter(pc.invert(deleting)), group, form, header), *deletes]


def _delete_block(
    rows: pa.Table, group: LogGroup, form: LogForm, header: Mapping[HeaderKey, str]
) -> Iterator[MadeBlock]:
    if not rows.num_rows:
        return
    ordered, positioned = _in_order_of_positions(rows, group, form)
    ordering = ordering_wrappers(ordered, form.ordering, form.table_version)
    content = deletes_content(ordered.column(_KEY), ordered.column(_NATURAL), group.partition, ordering)
    more = _positions(ordered, group) if positioned else {}
    yield MadeBlock(block_parts(BlockType.DELETE, {**header, **more}, content), None, deletes=rows.num_rows)


def _data_blocks(
    rows: pa.Table, group: LogGroup, form: LogForm, header: Mapping[HeaderKey, str]
) -> Iterator[MadeBlock]:
    if not rows.num_rows:
        return
    ordered, positioned = _in_order_of_positions(rows, group, form)
    with _fitting():
        stored = _stored(ordered, group.file_id, form)
        contents = list(_contents(stored, ordered.column(_KEY), form, header[HeaderKey.SCHEMA]))
    marks = {HeaderKey.IS_PARTIAL: PARTIAL} if form.partial else {}
    for start, count, content in contents:
        part = ordered.slice(start, count)
        more = _positions(part, group) if positioned and form.block_type is not BlockType.HFILE_DATA else {}
        parts = block_parts(form.block_type, {**header, **marks, **more}, content)
        yield MadeBlock(parts, stored.slice(start, count), updates=pc.sum(part.column(_UPDATE)).as_py())


def _contents(
    rows: pa.Table, keys: pa.ChunkedArray, form: LogForm, schema: str
) -> Iterator[tuple[int, int, list[Any]]]:
    """First row, number of rows and content of each block."""
    if form.block_type is BlockType.PARQUET_DATA:
        at_once = max(1, form.block_bytes // max(1, rows.nbytes // rows.num_rows))
        for start in range(0, rows.num_rows, at_once):
            part = rows.slice(start, at_once)
            yield start, part.num_rows, [parquet_content(part, schema, *packing(form.codec))]
    elif form.block_type is BlockType.HFILE_DATA:
        encoded = encode_rows(rows, form.avro)
        for start, count in parts_within(encoded, form.block_bytes):
            part = one_chunk(keys.slice(start, count)), one_chunk(encoded.slice(start, count))
            yield start, count, [hfile_content(*part, schema)]
    else:
        framed = encode_framed_rows(rows, form.avro)
        for start, count in parts_within(framed, form.block_bytes):
            yield start, count, avro_content(framed.slice(start, count))


def _in_order_of_positions(rows: pa.Table, group: LogGroup, form: LogForm) -> tuple[pa.Table, bool]:
    """The rows in the order of the base file, and True, where each one has a place of its own there.

    Clauses: LF-023.
    """
    positions = rows.column(_POSITION)
    if not form.positions or group.file_instant is None or positions.null_count:
        return rows, False
    if pc.count_distinct(positions).as_py() < rows.num_rows:
        # Two rows of one key, where incoming rows are not combined: the later one counts, by its place in the log.
        return rows, False
    return rows.take(pc.sort_indices(positions)), True


def _positions(rows: pa.Table, group: LogGroup) -> dict[HeaderKey, str]:
    return {
        HeaderKey.RECORD_POSITIONS: record_positions_text(rows.column(_POSITION).to_numpy()),
        HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS: group.file_instant or "",
    }


def _stored(rows: pa.Table, file_id: str, form: LogForm) -> pa.Table:
    """The records as the log holds them: in it, the name of the file is the id of the group.

    Clauses: MF-011, LF-022.
    """
    schema = arrow_schema(form.avro)
    columns = [_column(rows, name, file_id, form) for name in schema.names]
    return pa.Table.from_arrays(columns, names=schema.names).cast(schema)


@contextmanager
def _fitting() -> Iterator[None]:
    """One error for values that have no place in the columns of the log."""
    try:
        yield
    except ValueError as error:
        message = f"a value does not fit the table's schema: {error}"
        hint = "bring the rows to the table's columns and types"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "LF-007", message, hint=hint) from error


def _column(rows: pa.Table, name: str, file_id: str, form: LogForm) -> Any:
    if name in META_FIELDS and not form.meta_fields:
        return pa.nulls(rows.num_rows, pa.string())
    return pa.repeat(pa.scalar(file_id), rows.num_rows) if name == _FILE_NAME else rows.column(name)
