"""Parquet files, read within bounds."""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hudi_format.base.parquet_levels import columns_inside, levels
from hudi_format.base.stored_file import SMALL, as_native
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.limits import columns_limit, rows_limit

MAXIMUM_ROWS = 100_000_000
MAXIMUM_UNPACKED_BYTES = 16 * 1024**3
# The pages of released writers have checksums: a byte that changed in storage would be another value.
_OPTIONS: Final[Mapping[str, Any]] = {
    "coerce_int96_timestamp_unit": "us",
    "arrow_extensions_enabled": False,
    "page_checksum_verification": True,
}


def read_parquet(  # noqa: PLR0917 - what is read, and how to name what is wrong with it
    source: bytes, file: str, offset: int | None, reason: str, clause: str, wanted: Collection[str] | None = None
) -> pa.Table:
    """All rows of a Parquet file, in the columns that are wanted, all by default.

    Raises:
        FormatError: `reason` when it is none; LIMIT_EXCEEDED when its footer declares more than can be held.

    """
    opened = open_parquet(source, file, offset, reason, clause)
    if opened.metadata.num_rows > rows_limit(len(source)):
        raise _exceeded(opened, len(source), clause, file, offset)
    with refusing(reason, clause, file, offset, "the Parquet data does not decode"):
        return as_instants(
            opened, opened.read(columns=None if wanted is None else chosen_names(opened.schema_arrow, wanted))
        )


def chosen_names(schema: pa.Schema, wanted: Collection[str]) -> list[str]:
    """The columns of a schema that are wanted; all of them where none is, since rows without columns have no number."""
    return [name for name in schema.names if name in wanted] or list(schema.names)


def open_parquet(
    source: bytes | io.RawIOBase | pa.NativeFile, file: str, offset: int | None, reason: str, clause: str
) -> pq.ParquetFile:
    """A Parquet file with its footer read and its declared sizes checked.

    Raises:
        FormatError: `reason` when it is none; LIMIT_EXCEEDED when its footer declares more than can be held.

    """
    with refusing(reason, clause, file, offset, "no Parquet file"):
        stream = as_native(source)
        if (deep := _levels(stream)) > _DEEPEST:
            raise FormatError(Reason.LIMIT_EXCEEDED, clause, file, offset, f"the columns lie {deep} levels deep")
        opened = pq.ParquetFile(stream, **_OPTIONS)
        metadata = opened.metadata
        sizes = [metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups)]
        size = stream.size()
    # A run of equal values takes no bytes in the file and at least eight in memory.
    unpacked = max(sum(max(each, 0) for each in sizes), 8 * metadata.num_rows * metadata.num_columns)
    if metadata.num_rows > MAXIMUM_ROWS or unpacked > min(MAXIMUM_UNPACKED_BYTES, columns_limit(size)):
        raise _exceeded(opened, size, clause, file, offset)
    return opened


_DEEPEST: Final = 1000
"""Levels of columns: Arrow, which calls itself for each, ends the process at some thousands."""
_FEWEST_BYTES: Final = 7
"""Of a column in a footer."""
_END: Final = 8
_BEGINNING: Final = 256


def _levels(stream: pa.NativeFile) -> int:
    """On how many levels columns lie, where these may be too many; whether this is a Parquet file at all Arrow says."""
    size, found = stream.size(), 0
    stream.seek(max(size - _END, 0))
    end = stream.read(_END)
    length = int.from_bytes(end[:4], "little")
    if end[4:] == b"PAR1" and _FEWEST_BYTES * _DEEPEST < length <= size - _END:
        begin = size - _END - length
        stream.seek(begin)
        with suppress(LookupError):
            if columns_inside(stream.read(min(_BEGINNING, length))) > _DEEPEST:
                stream.seek(begin)
                found = levels(stream.read(length))
    stream.seek(0)
    return found


def _exceeded(opened: pq.ParquetFile, size: int, clause: str, file: str, offset: int | None) -> FormatError:
    metadata = opened.metadata
    message = f"{size} bytes declare {metadata.num_rows} rows of {metadata.num_columns} columns"
    return FormatError(Reason.LIMIT_EXCEEDED, clause, file, offset, message)


def columns_of(opened: pq.ParquetFile) -> pa.Schema:
    """The columns; moments of 96 bits state no zone, and all who write them mean instants.

    Clauses: BF-001.
    """
    return _with_instants(opened) or opened.schema_arrow


def _with_instants(opened: pq.ParquetFile) -> pa.Schema | None:
    """The columns where moments of 96 bits are among them."""
    schema = opened.schema_arrow
    if not any(map(_has_local_moments, schema.types)):
        return None
    leaves = [opened.schema.column(each).physical_type == "INT96" for each in range(len(opened.schema))]
    each = iter(leaves)
    return pa.schema([field.with_type(_zoned(field.type, each)) for field in schema]) if any(leaves) else None


def _has_local_moments(kind: pa.DataType) -> bool:
    # Not by recursion: a file may nest its columns deeper than Python calls.
    left = [kind]
    while left:
        one = left.pop()
        if pa.types.is_nested(one):
            left += [one.field(each).type for each in range(one.num_fields)]
        elif pa.types.is_timestamp(one) and one.tz is None:
            return True
    return False


def _zoned(kind: pa.DataType, leaves: Iterator[bool]) -> pa.DataType:
    """A type in which the moments of 96 bits are instants; `leaves` says in order which values are such moments."""
    if pa.types.is_map(kind):
        return pa.map_(*(field.with_type(_zoned(field.type, leaves)) for field in (kind.key_field, kind.item_field)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_zoned(field.type, leaves)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_zoned(kind.value_type, leaves)))
    return pa.timestamp(kind.unit, "UTC") if next(leaves) else kind


def as_instants(opened: pq.ParquetFile, rows: pa.Table) -> pa.Table:
    """Rows in the types of `columns_of`."""
    schema = _with_instants(opened)
    return rows if schema is None else rows.cast(pa.schema(map(schema.field, rows.column_names)))


def read_rows(
    opened: pq.ParquetFile, source: Any, columns: Sequence[str] | None, row_filter: pc.Expression | None
) -> pa.Table:
    """Rows that match, columns in the order requested; row groups that cannot match are not read."""
    present, metadata = set(opened.schema_arrow.names), opened.metadata
    wanted = list(opened.schema_arrow.names) if columns is None else [name for name in columns if name in present]
    if row_filter is None:
        # To hand a few values to other threads takes longer than to decode them.
        threads = sum(metadata.row_group(each).total_byte_size for each in range(metadata.num_row_groups)) > SMALL
        return as_instants(opened, opened.read(columns=wanted, use_threads=threads).select(wanted))
    if _with_instants(opened) is not None:
        return as_instants(opened, opened.read()).filter(row_filter).select(wanted)
    return pq.read_table(source, columns=wanted, filters=row_filter, **_OPTIONS).select(wanted)
