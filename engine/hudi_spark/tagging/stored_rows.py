"""Looking stored rows up for a global index: which keys found in files are still there, and what moving rows meet.

found     lines of keys with the number of a slice, from base files or an index: come together by slice
reading   the slice as a snapshot reads it, where the files alone do not tell
kept      lines whose key is there; those whose row may move with the stored columns that decide it
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

STORED_PREFIX: Final = "_stored."
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
class StoredRows:
    """Reads one slice, merged, as far as lookups need it.

    `existing` has the key alone, `deciding` what decides about moves as well.
    """

    existing: SliceTask
    deciding: SliceTask

    @property
    def partition(self) -> str:
        """The slice's partition path."""
        return self.existing.partition

    @property
    def is_merged(self) -> bool:
        """Whether logs may have deleted what the base file holds."""
        return bool(self.existing.log_files)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Of the lines of a part those whose key is there, each once.

    `moves`: a row of another partition than the stored one moves, unless it deletes, and needs the stored columns.
    `may_be_gone`: keys were read from base files, and logs may have deleted them. `stored`: the stored columns.

    Clauses: OW-020, OW-021, OW-024.
    """

    slices: Mapping[int, StoredRows]
    keys: KeyRule
    stored: pa.Schema
    moves: bool
    may_be_gone: bool

    def __call__(self, lines: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The kept lines."""
        del identity
        parts = [self._kept(lines.filter(pc.equal(lines.column(SLICE), one)), one) for one in slice_column(lines)]
        return pa.concat_tables(parts) if parts else kept_schema(self.stored).empty_table()

    def _kept(self, lines: pa.Table, number: int) -> pa.Table:
        one = self.slices[number]
        keys = one_chunk(pc.unique(lines.column(RECORD_KEY)))
        needed = one_chunk(pc.unique(lines.filter(self._moving(lines, one)).column(RECORD_KEY)))
        if self.may_be_gone and one.is_merged:
            stored = self._stored(one.deciding if len(needed) else one.existing, keys)
            keys = keys.filter(pc.is_in(keys, value_set=one_chunk(stored.column(RECORD_KEY))))
        elif len(needed) and len(self.stored):
            stored = self._stored(one.deciding, needed)
        else:
            stored = pa.table([needed], names=[RECORD_KEY])
        return self._line_of_each(keys, needed, stored, lines, number)

    def _moving(self, lines: pa.Table, one: StoredRows) -> pa.ChunkedArray:
        elsewhere = pc.not_equal(lines.column(PARTITION_PATH), one.partition)
        moving = pc.and_not(elsewhere, lines.column(DELETES))
        return moving if self.moves else pc.and_(moving, pa.scalar(value=False))

    def _stored(self, task: SliceTask, wanted: pa.Array) -> pa.Table:
        """The stored rows of keys: the key and the columns that the task reads."""
        rows = run_task(task).rows
        keys = one_chunk(self.keys.keys(rows)).cast(pa.string())
        found = pa.Table.from_arrays(
            [keys, *rows.columns], names=[RECORD_KEY, *(f"{name} " for name in rows.column_names)]
        )
        return found.filter(pc.is_in(keys, value_set=wanted))

    def _line_of_each(
        self, keys: pa.Array, needed: pa.Array, stored: pa.Table, lines: pa.Table, number: int
    ) -> pa.Table:
        moving = pc.is_in(keys, value_set=needed)
        met = pc.index_in(keys, value_set=one_chunk(stored.column(RECORD_KEY)))
        first = pc.index_in(keys, value_set=one_chunk(lines.column(RECORD_KEY)))
        columns = {
            RECORD_KEY: keys,
            SLICE: pa.repeat(pa.scalar(number, pa.int32()), len(keys)),
            POSITION: lines.column(POSITION).take(first),
            DEAD: pa.repeat(pa.scalar(value=False), len(keys)),
            STORED: pc.and_(moving, pc.is_valid(met)),
        }
        for field in self.stored:
            known = f"{field.name} " in stored.column_names
            values = stored.column(f"{field.name} ").take(met) if known else pa.nulls(len(keys), field.type)
            columns[STORED_PREFIX + field.name] = values
        schema = kept_schema(self.stored)
        return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)
