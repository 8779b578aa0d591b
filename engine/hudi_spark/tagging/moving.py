"""Global indexes: a key lives once in the table, and a row that asks for another partition moves, or stays.

stays    the row is tagged with the group that holds its key, and its partition path becomes that of the group
moves    the row meets the stored one: it goes to its own partition as a new row, if it wins, and a second row with
         `_tag_moved` takes the key out of the old group; if it loses, neither is there
deletes  stay

As released a row that loses would be written once more over itself; here it is left out.

Where rows of both versions make the merged one (partial updates, custom mergers) the row that moves is the merged one,
and the key generator says where it goes. The writing layer writes rows with `_tag_moved` as deletes without ordering
value, and leaves their keys' entries in a record index alone: the insert of the same write has set them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.errors import UnsupportedFeature
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.keying.generator import KeyGenerator
from hudi_spark.merging.incoming import incoming_records
from hudi_spark.merging.kernel import merge
from hudi_spark.merging.keys import KeyRule
from hudi_spark.merging.ordering import all_valid, exceeds, ordering_columns
from hudi_spark.merging.rules import MergeRule
from hudi_spark.tagging.columns import (
    PARTITION_PATH,
    PLACE_FIELDS,
    POSITION,
    RECORD_KEY,
    SLICE,
    SliceNames,
    tagged_schema,
    with_paths,
    with_tags,
)
from hudi_spark.tagging.stored_rows import STORED, STORED_PREFIX, deleting_rows


@dataclass(frozen=True, slots=True)
class Moving:
    """Rows beside what is stored of their keys, as tagged rows.

    `columns`: the rows' own columns. `stored`: the stored ones that decide. `rule`: how both merge; `missing`: columns
    that partial updates leave out.

    Clauses: OW-021, OW-024.
    """

    columns: pa.Schema
    stored: pa.Schema
    names: SliceNames
    rule: MergeRule
    generator: KeyGenerator
    missing: frozenset[str] = frozenset()

    @property
    def schema(self) -> pa.Schema:
        """The columns afterwards."""
        return tagged_schema(self.columns)

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """The part with tags."""
        del identity
        meets = self._may_move(rows)
        staying = self._staying(rows.filter(pc.invert(meets)))
        moving = rows.filter(meets)
        return pa.concat_tables([staying, *(self._moved(moving) if moving.num_rows else ())])

    def _may_move(self, rows: pa.Table) -> pa.ChunkedArray:
        elsewhere = pc.not_equal(rows.column(PARTITION_PATH), self.names.partitions.take(rows.column(SLICE)))
        asked = pc.and_(elsewhere, pc.fill_null(rows.column(STORED), fill_value=False))
        return pc.fill_null(pc.and_not(asked, deleting_rows(rows, self.rule)), fill_value=False)

    def _staying(self, rows: pa.Table) -> pa.Table:
        """Rows of new keys, and rows whose key stays where it is."""
        stored = self.names.partitions.take(rows.column(SLICE))
        return with_tags(with_paths(self._own(rows), pc.coalesce(stored, rows.column(PARTITION_PATH))), self.names)

    def _own(self, rows: pa.Table) -> pa.Table:
        return rows.select([*self.columns.names, *(field.name for field in PLACE_FIELDS)])

    def _moved(self, rows: pa.Table) -> Sequence[pa.Table]:
        """The rows that won, and for each that moves one that takes its key out of the old group."""
        if not self.rule.completes:
            rows = self._unbeaten(rows)
        winners, paths = (
            self._merged(rows) if self.rule.completes or self.missing else (rows, rows.column(PARTITION_PATH))
        )
        left = self.names.partitions.take(winners.column(SLICE))
        moves = pc.not_equal(paths, left)
        going = winners.filter(moves)
        leaving = with_paths(self._own(going), left.filter(moves))
        removing = with_tags(leaving, self.names, pa.repeat(pa.scalar(value=True), going.num_rows))
        arriving = with_tags(_nowhere(with_paths(self._own(going), paths.filter(moves))), self.names)
        return [self._staying(winners.filter(pc.invert(moves))), removing, arriving]

    def _unbeaten(self, rows: pa.Table) -> pa.Table:
        """The rows that the stored ones do not beat.

        Clauses: MG-003, MG-004, MG-005.
        """
        if not self.rule.compares_event_time:
            return rows
        stored = ordering_columns(_stored(rows, self.stored), self.rule)
        own = ordering_columns(rows, self.rule)
        competes = pc.and_(all_valid(stored, rows.num_rows), all_valid(own, rows.num_rows))
        greater = pc.fill_null(exceeds(stored, own, rows.num_rows), fill_value=False)
        return rows.filter(pc.invert(pc.and_(competes, greater)))

    def _merged(self, rows: pa.Table) -> tuple[pa.Table, pa.ChunkedArray]:
        """The merged rows and the partition paths that their values make; those that merging deletes stay.

        Clauses: MG-021, MG-023, RM-001.
        """
        if set(self.stored.names) - set(self.columns.names):
            lacking = sorted(set(self.stored.names) - set(self.columns.names))
            raise UnsupportedFeature("moving-partial-rows", f"the rows lack {lacking[0]}")
        numbered = _numbered(rows)
        base = _keyed(_stored(rows, self.stored), numbered)
        incoming = _keyed(rows.select(self.stored.names), numbered)
        records = incoming_records(incoming, self.rule, missing=self.missing)
        merged = merge(base, records, KeyRule(), self.rule)
        places = pc.index_in(numbered, value_set=one_chunk(merged.column(RECORD_KEY)))
        there = pc.is_valid(places)
        found = merged.take(places.filter(there))
        winners = rows.filter(there)
        for name in self.stored.names:
            index = winners.column_names.index(name)
            winners = winners.set_column(index, winners.schema.field(index), found.column(name))
        deleted = self._in_place(rows.filter(pc.invert(there)))
        paths = self.generator.partition_paths(winners.select(self.stored.names))
        kept = pa.chunked_array([*_chunks(paths), *_chunks(deleted.column(PARTITION_PATH))], pa.string())
        return pa.concat_tables([winners, deleted]), kept

    def _in_place(self, rows: pa.Table) -> pa.Table:
        return with_paths(rows, self.names.partitions.take(rows.column(SLICE)))


def _stored(rows: pa.Table, stored: pa.Schema) -> pa.Table:
    """The stored columns under their own names."""
    return pa.Table.from_arrays([rows.column(STORED_PREFIX + name) for name in stored.names], schema=stored)


def _numbered(rows: pa.Table) -> pa.Array:
    """A key for each row that no other row has: rows of one key may be there several times."""
    return pa.arange(0, rows.num_rows).cast(pa.string())


def _keyed(rows: pa.Table, keys: pa.Array) -> pa.Table:
    return rows.append_column(RECORD_KEY, [keys])


def _nowhere(rows: pa.Table) -> pa.Table:
    """Rows in no slice."""
    index, position = (rows.column_names.index(name) for name in (SLICE, POSITION))
    nowhere = rows.set_column(index, SLICE, pa.nulls(rows.num_rows, pa.int32()))
    return nowhere.set_column(position, POSITION, pa.nulls(rows.num_rows, pa.int64()))


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]
