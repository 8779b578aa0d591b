"""Arrow arrays in one piece."""

import pyarrow as pa


def one_chunk(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The values of a column in one array: some of Arrow's functions take nothing else."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
