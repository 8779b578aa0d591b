"""The keys that file slices hold, and simple indexes: these joined with the keys of the rows.

Writers that find keys in base files put new keys into base files only, and their commits say so: no inserts in logs.
Bucket indexes put them into logs, partial updates of new keys do, and of logs of archived commits nothing is known.
Where a log deleted a row, which a merger of one's own may do with any version, another group may hold its key by now.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.keys.bucket_index import bucket_of_file_id
from hudi_spark.keys.generator import key_generator
from hudi_spark.keys.tags import (
    DELETED,
    KEY_FIELD,
    PARTITION_PATH,
    PLACE_FIELDS,
    PLACES,
    POSITION,
    POSITION_FIELD,
    RECORD_KEY,
    SLICE,
)
from hudi_spark.merge import KeyRule, columns_of, key_rule, merge_mode
from hudi_spark.read import (
    Executor,
    Flow,
    Query,
    ReadContext,
    SliceTask,
    TaskIdentity,
    bytes_to_read,
    read_context,
    run_task,
    slice_task,
)
from hudi_spark.schema import META_SCHEMA, Origins, WriterState, nullable, one_chunk, origins_of
from hudi_spark.table_state import FileSlice

_CUSTOM: Final = "CUSTOM"
_BUCKET_INDEX: Final = ".hoodie/.bucket_index"


def slices_to_merge(state: WriterState) -> frozenset[int]:
    """The numbers of the slices of which only the merged rows tell which keys live there.

    Clauses: OW-003, OW-020.
    """
    logged = {number: one for number, one in enumerate(state.slices) if one.log_files}
    if not logged:
        return frozenset()
    if merge_mode(state.configuration) == _CUSTOM or state.storage.exists(_BUCKET_INDEX):
        return frozenset(logged)
    updates = _logs_of_updates(state)
    return frozenset(number for number, one in logged.items() if not _only_updates(one, updates))


def _only_updates(one: FileSlice, updates: frozenset[str]) -> bool:
    if one.base_file is None or bucket_of_file_id(one.file_id) is not None:
        return False
    return all(path in updates for path in one.log_files)


def _logs_of_updates(state: WriterState) -> frozenset[str]:
    """Paths of log files with nothing but new versions of rows."""
    return frozenset(
        path
        for commit in state.snapshot.commits
        for (_, stat), (_, path, _) in zip(commit.stats(), commit.data_files(), strict=True)
        if stat.num_inserts == 0 and stat.num_deletes == 0
    )


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
            HudiError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, KEY_MISSING.

        Clauses: DM-002, LF-023.

        """
        found = self._of_base_file(wanted)
        deleted = pa.chunked_array([pa.repeat(pa.scalar(value=False), found.num_rows)])
        if self.merged:
            alive = self._keys(self.task, wanted)
            found = pa.concat_tables([found, _without(alive, found)])
            deleted = pc.invert(pc.is_in(found.column(RECORD_KEY), value_set=one_chunk(alive.column(RECORD_KEY))))
        count = found.num_rows
        columns = {
            RECORD_KEY: found.column(RECORD_KEY),
            PARTITION_PATH: pa.repeat(pa.scalar(self.partition), count),
            SLICE: pa.repeat(pa.scalar(self.slice, pa.int32()), count),
            POSITION: found.column(POSITION),
            DELETED: deleted,
        }
        return pa.Table.from_arrays([columns[name] for name in PLACES.names], schema=PLACES)

    def _of_base_file(self, wanted: pa.Array | None) -> pa.Table:
        if self.task.base_file is None:
            return _KEYS.empty_table()
        return _each_once(self._keys(replace(self.task, log_files=()), wanted))

    def _keys(self, task: SliceTask, wanted: pa.Array | None) -> pa.Table:
        """The keys of a task's rows, and which row each stands in."""
        keys = self.rule.stored_keys(run_task(task).rows, task.base_file or "").cast(pa.string())
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


_FEW_SLICES = 64


def places_of_partitions(keyed: Flow, state: WriterState, executor: Executor) -> Flow:
    """Where the keys live that are stored in the partitions of the rows.

    One job on Spark, which shows these partitions, where the table has several and many files.

    Clauses: OW-003, OW-020.
    """
    partitions = {one.partition for one in state.slices}
    if selects_partitions(state):
        partitions &= set(keyed.counted([PARTITION_PATH]).column(PARTITION_PATH).to_pylist())
    return _places(stored_keys(state, partitions), state, executor)


def _places(stored: Mapping[int, StoredKeys], state: WriterState, executor: Executor) -> Flow:
    def size_of(one: StoredKeys) -> int:
        return bytes_to_read(state.storage, one.task.files)

    return executor.tasks(list(stored.values()), read_places, PLACES, size_of)


def selects_partitions(state: WriterState) -> bool:
    """Whether it is worth a job to know the partitions of the rows: the keys of a few files are read sooner."""
    return len(state.slices) > _FEW_SLICES and len({one.partition for one in state.slices}) > 1


def found_in_partitions(keys: Flow, state: WriterState, executor: Executor) -> Flow:
    """The lines of `keys` whose key a slice of their partition holds, once for each, with the place.

    Clauses: OW-003, OW-020.
    """
    places = places_of_partitions(keys, state, executor)
    schema = pa.schema([*keys.schema, *PLACE_FIELDS])
    return keys.joined(places, [RECORD_KEY, PARTITION_PATH]).map(_Found(), schema)


def live_first(found: Flow) -> Flow:
    """Of the places of a key in a partition those where its row is there, or else those where logs deleted it.

    Clauses: OW-003, OW-020.
    """
    return found.shuffled([RECORD_KEY, PARTITION_PATH]).map(_LiveFirst(), found.schema)


def places_without_paths(state: WriterState, executor: Executor) -> Flow:
    """Where all keys of the table live, reported by the slice alone.

    Clauses: OW-020, OW-021.
    """
    return _places(stored_keys(state), state, executor).map(_PathLess(), _PATH_LESS)


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
    """Places without their partition path, which the number of the slice shows as well."""

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
class _LiveFirst:
    """Lines of rows that are there, and for each key without such all the others."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        deleted = rows.filter(rows.column(DELETED))
        live = rows.filter(pc.invert(rows.column(DELETED)))
        gone = pc.invert(pc.is_in(_names(deleted), value_set=one_chunk(_names(live))))
        return pa.concat_tables([live, deleted.filter(gone)])


def _names(rows: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(rows.column(PARTITION_PATH), rows.column(RECORD_KEY), "\0")
