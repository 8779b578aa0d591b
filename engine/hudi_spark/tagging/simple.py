"""Simple indexes: the keys of base files joined with the keys of the rows."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.flows.flow import Executor, Flow, TaskIdentity
from hudi_spark.tagging.columns import DEAD, PARTITION_PATH, PLACE_FIELDS, PLACES, RECORD_KEY, SLICE
from hudi_spark.tagging.stored_keys import read_places, stored_keys
from hudi_spark.writer_state import WriterState

_FEW_SLICES = 64


def places_of_partitions(keyed: Flow, state: WriterState, executor: Executor) -> Flow:
    """Where the keys live that are stored in the partitions of the rows.

    One job on Spark, which tells these partitions, where the table has several and many files.

    Clauses: OW-003, OW-020.
    """
    partitions = {one.partition for one in state.slices}
    if asks_for_partitions(state):
        partitions &= set(keyed.counted([PARTITION_PATH]).column(PARTITION_PATH).to_pylist())
    return executor.tasks(list(stored_keys(state, partitions).values()), read_places, PLACES)


def asks_for_partitions(state: WriterState) -> bool:
    """Whether it is worth a job to know the partitions of the rows: the keys of a few files are read sooner."""
    return len(state.slices) > _FEW_SLICES and len({one.partition for one in state.slices}) > 1


def found_in_partitions(keys: Flow, state: WriterState, executor: Executor) -> Flow:
    """The lines of `keys` whose key a slice of their partition holds, once for each, with the place.

    Clauses: OW-003, OW-020.
    """
    places = places_of_partitions(keys, state, executor)
    schema = pa.schema([*keys.schema, *PLACE_FIELDS])
    return keys.joined(places, [RECORD_KEY, PARTITION_PATH]).map(_Found(), schema)


def living_first(found: Flow) -> Flow:
    """Of the places of a key in a partition those where its row is there, or one where a log deleted it.

    Clauses: OW-003, OW-020.
    """
    return found.shuffled([RECORD_KEY, PARTITION_PATH]).map(_LivingFirst(), found.schema)


def places_without_paths(state: WriterState, executor: Executor) -> Flow:
    """Where all keys of the table live, told by the slice alone.

    Clauses: OW-020, OW-021.
    """
    return executor.tasks(list(stored_keys(state).values()), read_places, PLACES).map(_PathLess(), _PATH_LESS)


def found_anywhere(keys: Flow, state: WriterState, executor: Executor) -> Flow:
    """The lines of `keys` whose key some slice holds, with the slice's number and the row in its base file.

    `keys` has a record key and whatever else; a line comes once for each slice with its key.

    Clauses: OW-020, OW-021.
    """
    places = places_without_paths(state, executor)
    schema = pa.schema([*keys.schema, *PLACE_FIELDS])
    return keys.joined(places, [RECORD_KEY]).map(_Found(), schema)


_PATH_LESS = pa.schema([one for one in PLACES if one.name != PARTITION_PATH])


@dataclass(frozen=True, slots=True)
class _PathLess:
    """Places without their partition path, which the number of the slice tells as well."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return rows.select(_PATH_LESS.names)


@dataclass(frozen=True, slots=True)
class _Found:
    """The lines that were found."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return rows.filter(pc.is_valid(rows.column(SLICE)))


@dataclass(frozen=True, slots=True)
class _LivingFirst:
    """Lines of rows that are there, and for each key without such the first of the others."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        dead = rows.filter(rows.column(DEAD)).sort_by(SLICE)
        living = rows.filter(pc.invert(rows.column(DEAD)))
        names = _names(dead)
        gone = pc.unique(names.filter(pc.invert(pc.is_in(names, value_set=one_chunk(_names(living))))))
        return pa.concat_tables([living, dead.take(pc.index_in(gone, value_set=one_chunk(names)))])


def _names(rows: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(rows.column(PARTITION_PATH), rows.column(RECORD_KEY), "\0")
