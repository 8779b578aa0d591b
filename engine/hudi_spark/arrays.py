"""Arrow arrays in one piece."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def one_chunk(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The values of a column in one array: some of Arrow's functions take nothing else."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def parts_by(table: pa.Table, column: str) -> Iterator[tuple[Any, pa.Table]]:
    """The rows of each value of a column, least value first, in their order."""
    for value in sorted(pc.unique(table.column(column)).to_pylist()):
        yield value, table.filter(pc.equal(table.column(column), value))
