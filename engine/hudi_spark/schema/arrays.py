"""Arrow arrays in one piece."""

from collections.abc import Iterator, Sequence
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


def joined(rows: pa.Table, others: pa.Table, on: Sequence[str], schema: pa.Schema) -> pa.Table:
    """Left outer join, in the order of both: each row with the further columns of the rows that are equal in `on`.

    `schema`: the columns of `rows`, then the others but for those of `on`. A null in the first of these meets nothing.
    """
    # What cannot match needs no place in a hash table, which would not take columns of all types.
    others = others.filter(pc.is_in(others.column(on[0]), value_set=one_chunk(rows.column(on[0]))))
    pairs = _numbered(rows, on, "row").join(_numbered(others, on, "other"), list(on), join_type="left outer")
    pairs = pairs.sort_by([("row", "ascending"), ("other", "ascending")])
    left, right = rows.take(pairs.column("row")), others.take(pairs.column("other"))
    columns = [*left.columns, *(right.column(name) for name in schema.names[rows.num_columns :])]
    return pa.Table.from_arrays(columns, schema=schema)


def _numbered(rows: pa.Table, on: Sequence[str], name: str) -> pa.Table:
    return rows.select(list(on)).append_column(name, [pa.arange(0, rows.num_rows)])
