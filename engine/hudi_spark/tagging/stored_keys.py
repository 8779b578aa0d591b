"""The keys that a file slice holds, read by a task of its own: key column only, in the order of the base file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.execution.planning import Query, read_context, slice_task
from hudi_spark.execution.tasks import ReadContext, SliceTask, run_task
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.merging.fields import columns_of
from hudi_spark.merging.keys import KeyRule, key_rule
from hudi_spark.schemas.columns import META_SCHEMA, nullable
from hudi_spark.schemas.origins import Origins, origins_of
from hudi_spark.tagging.columns import PARTITION_PATH, PLACES, POSITION, RECORD_KEY, SLICE
from hudi_spark.writer_state import WriterState


@dataclass(frozen=True, slots=True)
class StoredKeys:
    """Reads the keys of one slice, whose number is `slice`.

    Of a slice with a base file the keys in that, as released: what only its logs add is not looked at, which no
    writer does that finds keys this way. Without a base file the keys of the rows that its logs merge to.

    Clauses: OW-003, OW-020.
    """

    slice: int
    task: SliceTask
    rule: KeyRule

    @property
    def partition(self) -> str:
        """The slice's partition path."""
        return self.task.partition

    def keys(self) -> pa.ChunkedArray:
        """The key of each row, in the order of the base file where there is one.

        Raises:
            HudiError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.

        Clauses: DM-002.

        """
        return self.rule.keys(run_task(self.task).rows)

    def places(self, wanted: pa.Array | None = None) -> pa.Table:
        """Where the keys live, those `wanted` or all; the row is null for a key that several rows have.

        Clauses: LF-023.
        """
        keys = one_chunk(self.keys())
        positions = pa.arange(0, len(keys)) if self.task.base_file else pa.nulls(len(keys), pa.int64())
        found = pa.table([keys.cast(pa.string()), positions], names=[RECORD_KEY, POSITION])
        if wanted is not None:
            found = found.filter(pc.is_in(keys, value_set=wanted))
        found = _each_once(found)
        count = found.num_rows
        columns = {
            PARTITION_PATH: pa.repeat(pa.scalar(self.partition), count),
            SLICE: pa.repeat(pa.scalar(self.slice, pa.int32()), count),
        }
        return pa.Table.from_arrays([columns.get(name, _column(found, name)) for name in PLACES.names], schema=PLACES)


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
    rule = key_rule(state.configuration)
    context, origins = reading(state, rule.columns)
    wanted = None if partitions is None else frozenset(partitions)
    tasks = slice_tasks(state, context, origins)
    return {
        number: StoredKeys(number, task if task.base_file is None else replace(task, log_files=()), rule)
        for number, task in tasks.items()
        if wanted is None or task.partition in wanted
    }


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
    if pc.count_distinct(found.column(RECORD_KEY)).as_py() == found.num_rows:
        return found
    grouped = found.group_by(RECORD_KEY, use_threads=False).aggregate([(POSITION, "min"), (POSITION, "count")])
    alone = pc.equal(grouped.column(f"{POSITION}_count"), 1)
    positions = pc.if_else(alone, grouped.column(f"{POSITION}_min"), pa.scalar(None, pa.int64()))
    return pa.table([grouped.column(RECORD_KEY), positions], names=[RECORD_KEY, POSITION])


def _column(found: pa.Table, name: str) -> pa.ChunkedArray | None:
    return found.column(name) if name in found.column_names else None
