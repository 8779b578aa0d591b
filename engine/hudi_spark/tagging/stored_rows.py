"""Looking stored rows up for a global index: which keys found in files are still there, and what moving rows meet.

found     lines of keys with the number of a slice, from files or an index: come together by slice
reading   the slice as a snapshot reads it, where stored columns decide whether rows move
kept      lines whose row is there; those whose row may move with these columns
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.execution.tasks import SliceTask, run_task
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.merging.keys import KeyRule
from hudi_spark.merging.log_records import flagged_deletes, marked_deletes
from hudi_spark.merging.rules import MergeRule
from hudi_spark.tagging.columns import DEAD, KEY_FIELD, PARTITION_PATH, PLACE_FIELDS, POSITION, RECORD_KEY, SLICE
from hudi_spark.tagging.key_ranges import slice_column

# Without a dot, which Spark would take for a way into a column.
STORED_PREFIX: Final = "_stored_"
# Whether a line has the stored columns.
STORED: Final = "_tag_stored"
# Whether the row of a line deletes its key.
DELETES: Final = "_tag_deletes"


def deleting_rows(rows: pa.Table, rule: MergeRule) -> pa.ChunkedArray:
    """For each row whether it says of itself that its key is deleted.

    Clauses: MG-008, MG-014.
    """
    return pc.or_(flagged_deletes(rows), marked_deletes(rows, rule))


def stored_field(field: pa.Field) -> pa.Field:
    """A stored column beside the incoming ones."""
    return pa.field(STORED_PREFIX + field.name, field.type)


def kept_schema(stored: pa.Schema) -> pa.Schema:
    """The columns of kept lines, given the stored columns that they bring."""
    return pa.schema(
        [KEY_FIELD, *PLACE_FIELDS, pa.field(STORED, pa.bool_()), *(stored_field(field) for field in stored)]
    )


@dataclass(frozen=True, slots=True)
class Keeping:
    """Of the lines of a part those whose row is there, each once.

    `slices`: how slices are read, merged, in the columns that make keys and the `stored` ones. `moves`: a row of
    another partition than the stored one moves, unless it deletes, and needs the stored columns.

    Clauses: OW-020, OW-021, OW-024.
    """

    slices: Mapping[int, SliceTask]
    keys: KeyRule
    stored: pa.Schema
    moves: bool

    def __call__(self, lines: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The kept lines."""
        del identity
        living = lines.filter(pc.invert(lines.column(DEAD)))
        parts = [self._kept(living.filter(pc.equal(living.column(SLICE), one)), one) for one in slice_column(living)]
        return pa.concat_tables(parts) if parts else kept_schema(self.stored).empty_table()

    def _kept(self, lines: pa.Table, number: int) -> pa.Table:
        one = self.slices[number]
        moving = one_chunk(pc.unique(lines.filter(self._moving(lines, one)).column(RECORD_KEY)))
        stored = self._stored(one, moving)
        found = one_chunk(stored.column(RECORD_KEY))
        keys = one_chunk(pc.unique(lines.column(RECORD_KEY)))
        gone = pc.and_not(pc.is_in(keys, value_set=moving), pc.is_in(keys, value_set=found))
        return self._line_of_each(keys.filter(pc.invert(gone)), stored, lines, number)

    def _moving(self, lines: pa.Table, one: SliceTask) -> pa.ChunkedArray:
        elsewhere = pc.not_equal(lines.column(PARTITION_PATH), one.partition)
        moving = pc.and_not(elsewhere, lines.column(DELETES))
        return moving if self.moves else pc.and_(moving, pa.scalar(value=False))

    def _stored(self, one: SliceTask, wanted: pa.Array) -> pa.Table:
        """The stored rows of keys: the key and the stored columns. Where there are none of these, nothing is read."""
        schema = pa.schema([KEY_FIELD, *(stored_field(field) for field in self.stored)])
        if not len(self.stored) or not len(wanted):
            return pa.table([wanted, *(pa.nulls(0, field.type) for field in self.stored)], schema=schema)
        rows = run_task(one).rows
        keys = self.keys.keys(rows).cast(pa.string())
        found = pa.Table.from_arrays([keys, *(rows.column(name) for name in self.stored.names)], schema=schema)
        return found.filter(pc.is_in(keys, value_set=wanted))

    def _line_of_each(self, keys: pa.Array, stored: pa.Table, lines: pa.Table, number: int) -> pa.Table:
        met = pc.index_in(keys, value_set=one_chunk(stored.column(RECORD_KEY)))
        first = pc.index_in(keys, value_set=one_chunk(lines.column(RECORD_KEY)))
        columns = {
            RECORD_KEY: keys,
            SLICE: pa.repeat(pa.scalar(number, pa.int32()), len(keys)),
            POSITION: lines.column(POSITION).take(first),
            DEAD: pa.repeat(pa.scalar(value=False), len(keys)),
            STORED: pc.is_valid(met),
        }
        schema = kept_schema(self.stored)
        further = {name: stored.column(name).take(met) for name in stored.column_names if name != RECORD_KEY}
        return pa.Table.from_arrays([{**columns, **further}[name] for name in schema.names], schema=schema)
