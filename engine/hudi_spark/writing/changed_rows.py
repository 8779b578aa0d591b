"""What became of each key in a rewritten base file, for the table's change log.

Clauses: CD-008, CD-009.
"""

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.schemas import META_FIELDS

from hudi_spark.arrays import one_chunk
from hudi_spark.merging.keys import KeyRule

_COMMIT_TIME = META_FIELDS[0]
_SCHEMA = ("op", "record_key", "before", "after")


def changes_of(before: pa.Table, after: pa.Table, keys: KeyRule, requested: str) -> pa.Table:
    """One line for each key that a write changed: `op`, `record_key`, and the images `before` and `after`.

    `before`: the stored rows of the incoming keys. `after`: all rows of the new file. Rows that the write left as they
    were are in neither.

    Clauses: CD-001, CD-008, CD-009.
    """
    changed = after.filter(pc.equal(after.column(_COMMIT_TIME), requested))
    return changes_between(before, changed, after, keys)


def changes_between(before: pa.Table, changed: pa.Table, after: pa.Table, keys: KeyRule) -> pa.Table:
    """The same of the rows that are known to have changed; keys of `before` that `after` lacks are gone.

    Clauses: CD-001, CD-008, CD-009.
    """
    known, now = one_chunk(keys.keys(before)), one_chunk(keys.keys(changed))
    updated = pc.is_in(now, value_set=known)
    gone = before.filter(pc.invert(pc.is_in(known, value_set=one_chunk(keys.keys(after)))))
    places = pc.index_in(now, value_set=known)
    written = _lines(pc.if_else(updated, "u", "i"), now, _images(before).take(places), _images(changed))
    deleted = _lines(
        pa.repeat(pa.scalar("d"), gone.num_rows), one_chunk(keys.keys(gone)), _images(gone), _nothing(gone)
    )
    return pa.concat_tables([written, deleted])


def _lines(op: pa.Array, keys: pa.Array, before: pa.Array, after: pa.Array) -> pa.Table:
    return pa.Table.from_arrays([op, keys, before, after], names=list(_SCHEMA))


def _images(rows: pa.Table) -> pa.StructArray:
    """The rows without meta fields, each as one value."""
    names = [name for name in rows.column_names if name not in META_FIELDS]
    fields = [rows.schema.field(name) for name in names]
    return pa.StructArray.from_arrays([one_chunk(rows.column(name)) for name in names], fields=fields)


def _nothing(rows: pa.Table) -> pa.Array:
    return pa.nulls(rows.num_rows, _images(rows.slice(0, 0)).type)
