"""Which rows of one state of a file group are not those that another state has of their keys."""

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.merging.keys import RECORD_KEY
from hudi_spark.state.ranges import COMMIT_TIME

_BITS: Final = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}


def differs(rows: pa.Table, before: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    """For each row whether its key was not there before, or had another commit time, or another value in a column.

    Clauses: IN-001.
    """
    if not before.num_rows:
        return pa.chunked_array([pa.repeat(pa.scalar(value=True), rows.num_rows)])
    found = pc.index_in(rows.column(RECORD_KEY), value_set=one_chunk(before.column(RECORD_KEY)))
    was = before.take(one_chunk(found))
    same = [same_values(rows.column(name), was.column(name)) for name in (COMMIT_TIME, *columns)]
    known = one_chunk(pc.is_valid(found))
    for one in same:
        known = pc.and_(known, one)
    return pa.chunked_array([pc.invert(known)])


def same_values(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.Array:
    """For each place whether two columns of one type hold the same: null is null, and not-a-number itself.

    Clauses: IN-001, CD-004.
    """
    one, other = one_chunk(left), one_chunk(right)
    if pa.types.is_nested(one.type):
        same = (repr(a) == repr(b) for a, b in zip(one.to_pylist(), other.to_pylist(), strict=True))
        return pa.array(same, pa.bool_())
    if pa.types.is_floating(one.type):
        bits = _BITS[one.type.bit_width]
        one, other = one.view(bits), other.view(bits)
    equal = pc.fill_null(pc.equal(one, other), fill_value=False)
    return pc.or_(equal, pc.and_(pc.is_null(one), pc.is_null(other)))
