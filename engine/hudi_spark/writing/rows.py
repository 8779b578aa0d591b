"""Incoming rows get their meta fields."""

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.schemas import META_FIELDS

from hudi_spark.tagging.columns import PARTITION_PATH, RECORD_KEY

_COMMIT_TIME, _SEQUENCE_NUMBER, _, _, _FILE_NAME = META_FIELDS


def stamped(rows: pa.Table, schema: pa.Schema, requested: str, writer: int) -> pa.Table:
    """The rows in the columns of a table, as records of a write, numbered in their order.

    `writer`: a number that no other call for the same write has. The name of the file is null: whoever makes the file
    knows it.

    Clauses: BF-001, MF-011.
    """
    count = rows.num_rows
    numbers = pa.arange(0, count).cast(pa.string())
    values = {
        _COMMIT_TIME: pa.repeat(pa.scalar(requested), count),
        _SEQUENCE_NUMBER: pc.binary_join_element_wise(f"{requested}_{writer}", numbers, "_"),
        _FILE_NAME: pa.nulls(count, pa.string()),
        RECORD_KEY: rows.column(RECORD_KEY),
        PARTITION_PATH: rows.column(PARTITION_PATH),
    }
    columns = [values[name] if name in values else rows.column(name) for name in schema.names]
    return pa.Table.from_arrays(columns, schema=schema)
