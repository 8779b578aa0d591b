"""Rows as Arrow tables, and in Parquet and Arrow files; needs pyarrow, which `hudi-adapter[arrow]` requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from hudi_adapter.arrow_types import arrow_type, logical_type
from hudi_adapter.logical_types import LogicalTypeError
from hudi_adapter.measuring import arrow_table, parquet_table
from hudi_adapter.rows import Rows, RowsError, Value


def rows_of_arrow(table: pa.Table) -> Rows:
    """As `hudi_adapter.rows` says."""
    try:
        schema = tuple((field.name, logical_type(field.type)) for field in table.schema)
        columns = [_logical_column(table.column(index), logical) for index, (_, logical) in enumerate(schema)]
    except (LogicalTypeError, pa.ArrowException, ValueError, OverflowError, KeyError) as error:
        raise RowsError(f"not in logical types: {error}") from error
    return Rows(schema, tuple(zip(*columns)) if columns else ((),) * table.num_rows)


def arrow_of_rows(rows: Rows) -> pa.Table:
    """As `hudi_adapter.rows` says."""
    try:
        kinds = [pa.field(name, arrow_type(logical)) for name, logical in rows.schema]
        columns = [[row[place] for row in rows.rows] for place in range(len(kinds))]
        arrays = [pa.array(column, type=field.type) for column, field in zip(columns, kinds)]
    except (LogicalTypeError, pa.ArrowException, ValueError, OverflowError, TypeError, IndexError) as error:
        raise RowsError(f"not in Arrow types: {error}") from error
    return pa.Table.from_arrays(arrays, schema=pa.schema(kinds))


def write_table(path: Path, table: pa.Table) -> None:
    """An Arrow or a Parquet file, as the ending names it."""
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed")


def rows_of_bytes(data: bytes, suffix: str) -> Rows:
    """The rows of a Parquet or an Arrow file.

    Raises:
        RowsError: it does not parse, or holds what the logical types cannot say.
        ValueError: it is larger than the limits; others come of damaged bytes too.

    """
    try:
        return rows_of_arrow(_READERS[suffix](data))
    except pa.ArrowException as error:
        raise RowsError(str(error)) from error


def _logical_column(column: pa.ChunkedArray, logical: str) -> list[Value]:
    canonical = column if column.type == arrow_type(logical) else column.cast(arrow_type(logical))
    return list(canonical.to_pylist(maps_as_pydicts="strict"))


_READERS: Mapping[str, Callable[[bytes], pa.Table]] = {".parquet": parquet_table, ".arrow": arrow_table}
