"""Global indexes: a key lives once in the table, and a row that requests another partition moves, or stays.

found     lines of keys with the number of a slice, from files or an index: come together by slice
reading   the slice as a snapshot reads it, where stored columns decide whether rows move
kept      lines whose row is there; those whose row may move with these columns

stays    the row is tagged with the group that holds its key, and its partition path becomes that of the group
moves    the row meets the stored one: it goes to its own partition as a new row, if it wins, and a second row with
         `_tag_moved` takes the key out of the old group; if it loses, neither is there
deletes  stay

As released a row that loses would be written once more over itself; here it is left out.

Where rows of both versions make the merged one (partial updates, custom mergers) the row that moves is the merged one,
and the key generator says where it goes. The writing layer writes rows with `_tag_moved` as deletes without ordering
value, and leaves their keys' entries in a record index alone: the insert of the same write has set them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.keys.bloom_index import found_by_bloom, slice_column
from hudi_spark.keys.generator import KeyGenerator, key_generator
from hudi_spark.keys.record_index import found_in_index
from hudi_spark.keys.stored_keys import found_anywhere, places_without_paths, reading, slice_tasks, stored_rule
from hudi_spark.keys.tags import (
    DELETED,
    KEY_FIELD,
    PARTITION_FIELD,
    PARTITION_PATH,
    PLACE_FIELDS,
    POSITION,
    RECORD_KEY,
    SLICE,
    Index,
    Named,
    SliceNames,
    tagged_schema,
    with_paths,
    with_tags,
)
from hudi_spark.merge import (
    KeyRule,
    MergeRule,
    any_valid,
    column_defaults,
    column_of,
    columns_of,
    exceeds,
    flagged_deletes,
    incoming_records,
    marked_deletes,
    merge,
    merge_rule,
    ordering_columns,
    same_values,
)
from hudi_spark.read import Executor, Flow, SliceTask, TaskIdentity, run_task
from hudi_spark.schema import WriterState, one_chunk
from hudi_spark.table_state import MetadataTable

# Without a dot, which Spark would take for a way into a column.
STORED_PREFIX: Final = "_tag_stored_"
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
        live = lines.filter(pc.invert(lines.column(DELETED)))
        parts = [self._kept(live.filter(pc.equal(live.column(SLICE), one)), one) for one in slice_column(live)]
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
            DELETED: pa.repeat(pa.scalar(value=False), len(keys)),
            STORED: pc.is_valid(met),
        }
        schema = kept_schema(self.stored)
        further = {name: stored.column(name).take(met) for name in stored.column_names if name != RECORD_KEY}
        return pa.Table.from_arrays([{**columns, **further}[name] for name in schema.names], schema=schema)


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
        candidates = pc.and_(elsewhere, pc.fill_null(rows.column(STORED), fill_value=False))
        return pc.fill_null(pc.and_not(candidates, deleting_rows(rows, self.rule)), fill_value=False)

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
        competes = pc.and_(any_valid(stored, rows.num_rows), any_valid(own, rows.num_rows))
        greater = pc.fill_null(exceeds(stored, own, rows.num_rows), fill_value=False)
        return rows.filter(pc.invert(pc.and_(competes, greater)))

    def _merged(self, rows: pa.Table) -> tuple[pa.Table, pa.ChunkedArray]:
        """The merged rows and the partition paths that their values make; those that merging deletes stay.

        Clauses: MG-021, MG-023, OW-024, RM-001.
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
        if self.rule.merger is not None:
            # What a merger picks is seen by its values alone: the stored row that won is not written again.
            beaten = _same(found, _stored(winners, self.stored))
            winners, found = (one.filter(pc.invert(beaten)) for one in (winners, found))
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


def _same(merged: pa.Table, stored: pa.Table) -> pa.Array:
    """Of each row whether both tables have the same values."""
    return reduce(pc.and_, (same_values(merged.column(name), stored.column(name)) for name in stored.column_names))


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


_MERGE_ON_READ: Final = "MERGE_ON_READ"
_LOOKUP_SCHEMA: Final = pa.schema([KEY_FIELD, PARTITION_FIELD, pa.field(DELETES, pa.bool_())])
_KEYS: Final = pa.schema([KEY_FIELD])


@dataclass(frozen=True, slots=True)
class Lookup:
    """A global index and what it asks; `missing`: columns that the rows, being partial updates, leave out."""

    index: Index
    metadata: MetadataTable | None
    missing: frozenset[str] = frozenset()

    def found(self, keys: Flow, state: WriterState, executor: Executor) -> Flow:
        """The lines of `keys` that some slice holds, with its number and the row in its base file.

        Clauses: IX-010, IX-020, OW-020, OW-021.
        """
        if self.index.kind == "bloom":
            return found_by_bloom(keys, state, executor, self.metadata, anywhere=True)
        if self.index.kind == "record" and self.metadata is not None:
            return found_in_index(keys, state, self.metadata, within_partitions=False)
        return found_anywhere(keys, state, executor)

    @property
    def reads_files(self) -> bool:
        """Whether keys are those of base files, which logs may have deleted."""
        return self.index.kind != "record" or self.metadata is None


def tagged_anywhere(keyed: Flow, state: WriterState, executor: Executor, lookup: Lookup) -> Flow:
    """Rows and where their keys live in the table; rows may move, stay elsewhere, or lose: see `moving`.

    Clauses: OW-020, OW-021, OW-024.
    """
    may_be_gone = lookup.reads_files and state.configuration.table_type == _MERGE_ON_READ
    if not (lookup.index.moves or may_be_gone):
        return _in_place(keyed, state, executor, lookup)
    rule = rule_of_write(state)
    stored = _deciding(state, rule, lookup)
    found = lookup.found(keyed.map(_Lookups(rule), _LOOKUP_SCHEMA), state, executor)
    keys = stored_rule(state)
    slices = slice_tasks(state, *reading(state, (*keys.columns, *stored.names)))
    keeping = Keeping(slices, keys, stored, lookup.index.moves)
    kept = found.shuffled([SLICE]).map(keeping, kept_schema(stored))
    generator = key_generator(state.configuration, state.options)
    moving = Moving(keyed.schema, stored, SliceNames.of(state.slices), rule, generator, lookup.missing)
    return keyed.joined(kept, [RECORD_KEY]).map(moving, moving.schema)


def _in_place(keyed: Flow, state: WriterState, executor: Executor, lookup: Lookup) -> Flow:
    """Every row goes where its key is."""
    naming = Named(SliceNames.of(state.slices), stored_paths=True)
    if lookup.reads_files and lookup.index.kind != "bloom":
        places = places_without_paths(state, executor)
    else:
        places = lookup.found(keyed.map(_KeysAlone(), _KEYS), state, executor)
    return keyed.joined(places, [RECORD_KEY]).map(naming, tagged_schema(keyed.schema))


def rule_of_write(state: WriterState) -> MergeRule:
    """How the stored and the incoming version of a record merge.

    Clauses: MG-001, MG-012.
    """
    configs = {key: value for key, value in state.options.values.items() if key.startswith("hoodie.")}
    defaults = column_defaults(state.snapshot.commits, state.configuration)
    rule = merge_rule(state.configuration, configs, "released", defaults)
    known = tuple(name for name in rule.ordering if column_of(name, state.schema.arrow) is not None)
    return replace(rule, ordering=known)


def _deciding(state: WriterState, rule: MergeRule, lookup: Lookup) -> pa.Schema:
    """The stored columns that decide whether a row moves, or that the moving row takes over."""
    if not lookup.index.moves:
        return pa.schema([])
    context, _ = reading(state, ())
    own = [field for field in context.schema if field.name in state.schema.arrow.names]
    if rule.completes or lookup.missing:
        return pa.schema(own)
    names = columns_of(rule.ordering, context.schema) if rule.compares_event_time else ()
    return pa.schema([field for field in own if field.name in names])


@dataclass(frozen=True, slots=True)
class _Lookups:
    """Keys and partition paths, and whether rows delete their key."""

    rule: MergeRule

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        deletes = deleting_rows(rows, self.rule)
        return rows.select(_LOOKUP_SCHEMA.names[:-1]).append_column(DELETES, deletes)


@dataclass(frozen=True, slots=True)
class _KeysAlone:
    """Record keys alone."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return rows.select(_KEYS.names)
