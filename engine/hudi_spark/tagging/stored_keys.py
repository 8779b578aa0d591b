"""The keys that a file slice holds, read by a task of its own: no column but those that make the key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.execution.planning import Query, read_context, slice_task
from hudi_spark.execution.tasks import ReadContext, SliceTask, run_task
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.keying.generator import key_generator
from hudi_spark.merging.fields import columns_of
from hudi_spark.merging.keys import KeyRule, key_rule
from hudi_spark.schemas.columns import META_SCHEMA, nullable
from hudi_spark.schemas.origins import Origins, origins_of
from hudi_spark.tagging.columns import (
    DEAD,
    KEY_FIELD,
    PARTITION_PATH,
    PLACES,
    POSITION,
    POSITION_FIELD,
    RECORD_KEY,
    SLICE,
)
from hudi_spark.tagging.log_keys import slices_to_merge
from hudi_spark.writer_state import WriterState

_KEYS: Final = pa.schema([KEY_FIELD, POSITION_FIELD])


@dataclass(frozen=True, slots=True)
class StoredKeys:
    """Reads the keys of one slice, whose number is `slice`.

    Those of its base file, and where its logs may say more, those of its `merged` rows. A key whose row a log deleted
    is there, and marked.

    Clauses: OW-003, OW-020.
    """

    slice: int
    task: SliceTask
    rule: KeyRule
    merged: bool = False

    @property
    def partition(self) -> str:
        """The slice's partition path."""
        return self.task.partition

    def places(self, wanted: pa.Array | None = None) -> pa.Table:
        """Where the keys live, those `wanted` or all; with the row in the base file, if the key is in one row of it.

        Raises:
            HudiError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT.

        Clauses: DM-002, LF-023.

        """
        found = self._of_base_file(wanted)
        dead = pa.chunked_array([pa.repeat(pa.scalar(value=False), found.num_rows)])
        if self.merged:
            alive = self._keys(self.task, wanted)
            found = pa.concat_tables([found, _without(alive, found)])
            dead = pc.invert(pc.is_in(found.column(RECORD_KEY), value_set=one_chunk(alive.column(RECORD_KEY))))
        count = found.num_rows
        columns = {
            RECORD_KEY: found.column(RECORD_KEY),
            PARTITION_PATH: pa.repeat(pa.scalar(self.partition), count),
            SLICE: pa.repeat(pa.scalar(self.slice, pa.int32()), count),
            POSITION: found.column(POSITION),
            DEAD: dead,
        }
        return pa.Table.from_arrays([columns[name] for name in PLACES.names], schema=PLACES)

    def _of_base_file(self, wanted: pa.Array | None) -> pa.Table:
        if self.task.base_file is None:
            return _KEYS.empty_table()
        return _each_once(self._keys(replace(self.task, log_files=()), wanted))

    def _keys(self, task: SliceTask, wanted: pa.Array | None) -> pa.Table:
        """The keys of a task's rows, and which row each stands in."""
        keys = self.rule.keys(run_task(task).rows).cast(pa.string())
        positions = pa.chunked_array([pa.arange(0, len(keys))])
        found = pa.Table.from_arrays([keys, positions], schema=_KEYS)
        return found if wanted is None else found.filter(pc.is_in(keys, value_set=wanted))


def read_places(task: StoredKeys, identity: TaskIdentity) -> pa.Table:
    """Where all keys of a slice live."""
    del identity
    return task.places()


def stored_keys(state: WriterState, partitions: Iterable[str] | None = None) -> dict[int, StoredKeys]:
    """How the keys of the table's slices are read, by the number of the slice; of some partitions or of all.

    Raises:
        HudiError: KEY_MISSING when the table stores no keys and names no key fields.

    Clauses: OW-003, DM-002.

    """
    if not state.slices:
        return {}
    rule = stored_rule(state)
    context, origins = reading(state, rule.columns)
    wanted = None if partitions is None else frozenset(partitions)
    tasks = slice_tasks(state, context, origins)
    merged = slices_to_merge(state)
    return {
        number: StoredKeys(number, task, rule, number in merged)
        for number, task in tasks.items()
        if wanted is None or task.partition in wanted
    }


def stored_rule(state: WriterState) -> KeyRule:
    """How the keys of stored rows are found: where the table stores none, as those of incoming rows are made.

    Raises:
        HudiError: KEY_MISSING when the table stores no keys and names no key fields.

    Clauses: DM-002.

    """
    if state.configuration.populates_meta_fields or not state.configuration.record_key:
        return key_rule(state.configuration)
    return key_generator(state.configuration, state.options).rule or KeyRule()


def reading(state: WriterState, fields: Iterable[str]) -> tuple[ReadContext, Origins]:
    """What tasks share that read the columns with some fields of the table's slices, in the write's own types."""
    query = Query(meta_columns=True, configs=state.options.values)
    columns = (pa.field(one.name, nullable(one.type)) for one in state.schema.arrow)
    schema = pa.schema([*META_SCHEMA, *columns])
    context = replace(read_context(state.storage, query, state.snapshot), schema=schema)
    return replace(context, output=columns_of(fields, schema)), origins_of(state.storage, state.snapshot)


def slice_tasks(state: WriterState, context: ReadContext, origins: Origins) -> Mapping[int, SliceTask]:
    """The tasks that read the table's slices, by number."""
    return {number: slice_task(one, context, origins) for number, one in enumerate(state.slices)}


def _each_once(found: pa.Table) -> pa.Table:
    """Each key once; without its row where there are several."""
    if pc.count_distinct(found.column(RECORD_KEY)).as_py() == found.num_rows:
        return found
    grouped = found.group_by(RECORD_KEY, use_threads=False).aggregate([(POSITION, "min"), (POSITION, "count")])
    alone = pc.equal(grouped.column(f"{POSITION}_count"), 1)
    positions = pc.if_else(alone, grouped.column(f"{POSITION}_min"), pa.scalar(None, pa.int64()))
    return pa.Table.from_arrays([grouped.column(RECORD_KEY), positions], schema=_KEYS)


def _without(further: pa.Table, known: pa.Table) -> pa.Table:
    """The keys that are not known yet; they are in no row of a base file."""
    keys = pc.unique(further.column(RECORD_KEY))
    new = keys.filter(pc.invert(pc.is_in(keys, value_set=one_chunk(known.column(RECORD_KEY)))))
    return pa.Table.from_arrays([new, pa.nulls(len(new), pa.int64())], schema=_KEYS)
