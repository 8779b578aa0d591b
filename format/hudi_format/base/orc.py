"""Base files in ORC: rows, and the same keys as a Parquet footer has, here as the file's user metadata.

Arrow reads moments of ORC as nanoseconds of 64 bits: those before 1677 and after 2262 are outside of what it can tell.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import orc

from hudi_format.base.parquet_bytes import MAXIMUM_ROWS, MAXIMUM_UNPACKED_BYTES
from hudi_format.base.stored_file import as_native
from hudi_format.errors import FormatError, Reason, UnsupportedFormat, refusing
from hudi_format.limits import columns_limit
from hudi_format.schemas import arrow_schema

ORC_SCHEMA_KEY: Final = "orc.avro.schema"
_FAR_MOMENT: Final = "ORC timestamp"


def open_orc(source: io.RawIOBase | pa.NativeFile, file: str) -> orc.ORCFile:
    """An ORC file with its tail read and its declared sizes checked.

    Raises:
        FormatError: BASE_FILE_CORRUPT when it is none; LIMIT_EXCEEDED when it declares more than can be held.

    Clauses: BF-004, BF-010.

    """
    with _refusing(file, "no ORC file"):
        opened = orc.ORCFile(as_native(source))
        rows, length, columns = opened.nrows, opened.content_length, len(opened.schema.names)
        limit = min(MAXIMUM_UNPACKED_BYTES, columns_limit(source.seek(0, io.SEEK_END)))
    if rows > MAXIMUM_ROWS or max(length, 8 * rows * columns) > limit:
        message = f"the tail declares {rows} rows of {columns} columns in {length} bytes"
        raise FormatError(Reason.LIMIT_EXCEEDED, "BF-004", file, None, message)
    return opened


def read_orc_rows(
    opened: orc.ORCFile, file: str, columns: Sequence[str] | None, row_filter: pc.Expression | None
) -> pa.Table:
    """Rows that match, with the columns requested that the file has, in the order asked.

    Raises:
        FormatError: BASE_FILE_CORRUPT when the data does not decode.
        UnsupportedFormat: base-orc-far-timestamps, before 1677 or after 2262.
        ValueError: the filter names a column that the file lacks.

    Clauses: BF-004, BF-010.

    """
    schema = orc_schema(opened, file)
    wanted = list(schema.names) if columns is None else [name for name in columns if name in schema.names]
    if row_filter is not None:
        schema.empty_table().filter(row_filter)
    # The reader takes a dot in a name for a step into a column, and knows no selection of nothing.
    chosen = wanted if wanted and row_filter is None and not any("." in name for name in wanted) else None
    with _refusing(file, "the ORC data does not decode"):
        table = _typed(opened.read(columns=chosen), schema)
        return (table if row_filter is None else table.filter(row_filter)).select(wanted)


def orc_schema(opened: orc.ORCFile, file: str) -> pa.Schema:
    """The columns of the file; the Avro schema in it states which numbers are times of day, and which moments instants.

    Raises:
        FormatError: BASE_FILE_CORRUPT, SCHEMA_INCOMPATIBLE when a schema does not parse.

    """
    with _refusing(file, "the columns do not decode"):
        plain = opened.schema.remove_metadata()
        # A name that is no text shows when it is requested.
        _ = plain.names
        text = _metadata(opened).get(ORC_SCHEMA_KEY.encode(), b"").decode()
    declared = arrow_schema(text, file) if text else pa.schema([])
    temporal = {field.name: field.type for field in declared if pa.types.is_temporal(field.type)}
    return pa.schema([field.with_type(temporal.get(field.name, field.type)) for field in plain])


def orc_keys(opened: orc.ORCFile, file: str) -> dict[str, str]:
    """The user metadata: key range, bloom filter, Avro schema.

    Raises:
        FormatError: BASE_FILE_CORRUPT when it is no text.

    Clauses: BF-002.

    """
    with _refusing(file, "the user metadata is no text"):
        return {key.decode(): value.decode() for key, value in _metadata(opened).items()}


def _metadata(opened: orc.ORCFile) -> Mapping[bytes, bytes]:
    return opened.schema.metadata or {}


@contextmanager
def _refusing(file: str, what: str) -> Iterator[None]:
    with refusing(Reason.BASE_FILE_CORRUPT, "BF-004", file, None, what):
        try:
            yield
        except pa.ArrowException as error:
            if _FAR_MOMENT in str(error):
                raise UnsupportedFormat("base-orc-far-timestamps", file) from error
            raise ValueError(str(error)) from error


def _typed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        column if column.type == schema.field(name).type else column.cast(schema.field(name).type)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema([schema.field(name) for name in table.column_names]))
