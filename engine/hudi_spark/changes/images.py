"""Changes as Arrow rows: an operation, and the row before and after it as structs of the table's columns."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.execution.differences import same_values
from hudi_spark.merging.keys import RECORD_KEY
from hudi_spark.state.ranges import COMMIT_TIME

INSERT: Final = "i"
UPDATE: Final = "u"
DELETE: Final = "d"
STATE_COLUMNS: Final = (RECORD_KEY, COMMIT_TIME)
"""What a state of a file group is read with, besides the table's columns."""


def changes_schema(columns: pa.Schema, *, commit_time: bool) -> pa.Schema:
    """`op`, `before`, `after`; with the commit time first where it is asked for.

    Clauses: CD-002.
    """
    image = pa.struct(list(columns))
    fields = [pa.field("op", pa.string()), pa.field("before", image), pa.field("after", image)]
    return pa.schema([pa.field(COMMIT_TIME, pa.string()), *fields] if commit_time else fields)


def derived(before: pa.Table, after: pa.Table, instant: str, columns: pa.Schema) -> pa.Table:
    """The changes between two states of a file group, of which `instant` wrote the second.

    A key that was not there is inserted, one that is gone deleted, one whose row is now of the instant, or has other
    values, updated.

    Clauses: CD-004, CD-005.
    """
    found = pc.index_in(after.column(RECORD_KEY), value_set=one_chunk(before.column(RECORD_KEY)))
    was = before.take(one_chunk(found))
    other = pc.invert(reduce(pc.and_, (same_values(after.column(name), was.column(name)) for name in columns.names)))
    own = pc.and_(pc.is_valid(found), pc.or_(pc.equal(after.column(COMMIT_TIME), instant), pa.chunked_array([other])))
    kept = pc.is_in(before.column(RECORD_KEY), value_set=one_chunk(after.column(RECORD_KEY)))
    inserted = after.filter(pc.is_null(found))
    updated = after.filter(own)
    parts = [
        change_rows(INSERT, None, inserted, columns),
        change_rows(UPDATE, before.take(one_chunk(found.filter(own))), updated, columns),
        change_rows(DELETE, before.filter(pc.invert(kept)), None, columns),
    ]
    return pa.concat_tables(parts)


def change_rows(operation: str, before: pa.Table | None, after: pa.Table | None, columns: pa.Schema) -> pa.Table:
    """Changes of one operation; an image that is None is null in each.

    Clauses: CD-002.
    """
    rows = next(table.num_rows for table in (before, after) if table is not None)
    operations = pa.repeat(pa.scalar(operation, pa.string()), rows)
    images = [_image(table, rows, columns) for table in (before, after)]
    return pa.Table.from_arrays([operations, *images], schema=changes_schema(columns, commit_time=False))


def found_images(keys: pa.ChunkedArray, wanted: pa.ChunkedArray, state: pa.Table, columns: pa.Schema) -> pa.Array:
    """For each key the row of a state, null where none is wanted or the state has none.

    Clauses: CD-003.
    """
    found = one_chunk(pc.index_in(keys, value_set=one_chunk(state.column(RECORD_KEY))))
    found = pc.if_else(one_chunk(wanted), found, pa.scalar(None, found.type))
    return struct_of(state.select(columns.names).take(found), pc.is_null(found))


def struct_of(table: pa.Table, null: pa.Array) -> pa.StructArray:
    """The rows of a table as structs, null where the mask says so."""
    arrays: Sequence[pa.Array] = [one_chunk(column) for column in table.columns]
    return pa.StructArray.from_arrays(arrays, fields=list(table.schema), mask=one_chunk(null))


def _image(table: pa.Table | None, rows: int, columns: pa.Schema) -> pa.Array:
    if table is None:
        return pa.nulls(rows, pa.struct(list(columns)))
    return struct_of(table.select(columns.names), pa.repeat(pa.scalar(value=False), rows))
