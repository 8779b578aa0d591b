"""Bloom indexes: key ranges and bloom filters leave few files over, whose keys are then read.

ranges    of all files, from footers (one small job) or the metadata table, to the driver
lines     each key once for each file whose range holds it; these come together by file
checking  the file's bloom filter, then the key column where the filter lets a key pass
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY, base_file_footer
from hudi_format.metadata.partitions import Partition
from hudi_format.metadata.wrapped_values import plain_value
from hudi_format.storage import Storage

from hudi_spark.arrays import one_chunk
from hudi_spark.flows.flow import Executor, Flow, TaskIdentity
from hudi_spark.metadata.table import FileKey, MetadataTable
from hudi_spark.tagging.columns import PARTITION_PATH, PLACE_FIELDS, RECORD_KEY, SLICE, SLICE_FIELD
from hudi_spark.tagging.key_ranges import FileRanges, candidates, slice_column
from hudi_spark.tagging.stored_keys import StoredKeys, stored_keys
from hudi_spark.writer_state import WriterState

_BY_RANGES: Final = "hoodie.bloom.index.prune.by.ranges"
_LEAST, _GREATEST = "least", "greatest"
_RANGES: Final = pa.schema([SLICE_FIELD, pa.field(_LEAST, pa.string()), pa.field(_GREATEST, pa.string())])


def found_by_bloom(
    keys: Flow, state: WriterState, executor: Executor, metadata: MetadataTable | None, *, anywhere: bool
) -> Flow:
    """The lines of `keys` whose key some slice holds, with the slice's number and the row in its base file.

    `anywhere`: in whatever partition; else in that of the line. `metadata`: the metadata table, where it is to be
    asked. A line comes once for each slice with its key; equal lines of one slice come once.

    Clauses: IX-010, IX-012, OW-020, OW-021.
    """
    partitions = {one.partition for one in state.slices}
    if not anywhere and len(partitions) > 1:
        partitions &= set(keys.counted([PARTITION_PATH]).column(PARTITION_PATH).to_pylist())
    stored = stored_keys(state, partitions)
    ranges = _ranges(stored, state, executor, metadata)
    named = pa.schema([*keys.schema, SLICE_FIELD])
    lines = keys.map(_Candidates(_grouped(ranges, stored, anywhere=anywhere)), named).shuffled([SLICE])
    checking = _Checking(state.storage, stored, _with(metadata, Partition.BLOOM_FILTERS))
    return lines.map(checking, pa.schema([*keys.schema, *PLACE_FIELDS]))


def _with(metadata: MetadataTable | None, index: Partition) -> MetadataTable | None:
    return metadata if metadata is not None and index in metadata.partitions() else None


def _ranges(
    stored: Mapping[int, StoredKeys], state: WriterState, executor: Executor, metadata: MetadataTable | None
) -> pa.Table:
    """Slice by slice the bounds of its keys."""
    if not state.options.flag(_BY_RANGES):
        nothing = pa.nulls(len(stored), pa.string())
        return pa.Table.from_arrays([pa.array(list(stored), pa.int32()), nothing, nothing], schema=_RANGES)
    known = _with(metadata, Partition.COLUMN_STATS)
    if known is not None:
        return _stated_ranges(stored, known)
    return executor.tasks(list(stored.values()), partial(_range_in_footer, state.storage), _RANGES).gathered()


def _stated_ranges(stored: Mapping[int, StoredKeys], metadata: MetadataTable) -> pa.Table:
    """Clauses: MT-011, IX-053."""
    files = {number: _file(one) for number, one in stored.items()}
    found = metadata.column_stats((RECORD_KEY,), [file for file in files.values() if file is not None])
    bounds = []
    for number, file in files.items():
        stats = found.get(file, {}).get(RECORD_KEY) if file is not None else None
        ends = (None, None) if stats is None else (stats.minimum, stats.maximum)
        kind = None if stats is None else stats.value_type
        bounds.append((number, *(plain_value(end, kind) for end in ends)))
    columns = zip(*bounds, strict=True) if bounds else ([], [], [])
    return pa.Table.from_arrays(
        [pa.array(one, field.type) for one, field in zip(columns, _RANGES, strict=True)], schema=_RANGES
    )


def _range_in_footer(storage: Storage, one: StoredKeys, identity: TaskIdentity) -> pa.Table:
    """Clauses: BF-002, IX-012."""
    del identity
    keys = _footer_keys(storage, one)
    ends = [pa.array([keys.get(name)], pa.string()) for name in (MINIMUM_KEY, MAXIMUM_KEY)]
    return pa.Table.from_arrays([pa.array([one.slice], pa.int32()), *ends], schema=_RANGES)


def _grouped(ranges: pa.Table, stored: Mapping[int, StoredKeys], *, anywhere: bool) -> dict[str | None, FileRanges]:
    numbers = ranges.column(SLICE).to_pylist()
    places: dict[str | None, list[int]] = {}
    for place, number in enumerate(numbers):
        places.setdefault(None if anywhere else stored[number].partition, []).append(place)
    return {
        partition: FileRanges(*(one_chunk(column) for column in ranges.take(pa.array(each)).columns))
        for partition, each in places.items()
    }


def _file(one: StoredKeys) -> FileKey | None:
    """The base file that says which keys the slice may hold; None where logs may hold further ones."""
    if one.task.base_file is None or one.merged:
        return None
    return one.partition, one.task.base_file.rpartition("/")[2]


def _footer_keys(storage: Storage, one: StoredKeys) -> Mapping[str, str]:
    if one.task.base_file is None or one.merged:
        return {}
    return base_file_footer(storage, one.task.base_file).keys


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Each line once for each slice that may hold its key."""

    ranges: Mapping[str | None, FileRanges]

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return candidates(rows, self.ranges)


@dataclass(frozen=True, slots=True)
class _Checking:
    """The lines of a part whose key their slice holds."""

    storage: Storage
    stored: Mapping[int, StoredKeys]
    metadata: MetadataTable | None

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        numbers = slice_column(rows)
        filters = self._stated_filters(numbers)
        parts = [self._checked(rows.filter(pc.equal(rows.column(SLICE), one)), one, filters) for one in numbers]
        return pa.concat_tables(parts) if parts else pa.schema([*rows.schema, *PLACE_FIELDS[1:]]).empty_table()

    def _stated_filters(self, numbers: Sequence[int]) -> Mapping[FileKey, BloomFilter]:
        """Clauses: IX-010, IX-011."""
        files = [file for file in (_file(self.stored[number]) for number in numbers) if file is not None]
        return {} if self.metadata is None else self.metadata.bloom_filters(files)

    def _checked(self, lines: pa.Table, number: int, filters: Mapping[FileKey, BloomFilter]) -> pa.Table:
        one = self.stored[number]
        keys = one_chunk(pc.unique(lines.column(RECORD_KEY)))
        found = filters.get(_file(one) or ("", "")) or self._filter_in_footer(one)
        wanted = keys if found is None else keys.filter(found.may_contain_each(keys))
        if not len(wanted):
            return pa.schema([*lines.schema, *PLACE_FIELDS[1:]]).empty_table()
        return located(lines, one.places(wanted))

    def _filter_in_footer(self, one: StoredKeys) -> BloomFilter | None:
        """Clauses: BF-002."""
        keys = _footer_keys(self.storage, one)
        if BLOOM_FILTER_KEY not in keys:
            return None
        kind, file = keys.get(BLOOM_TYPE_KEY, "SIMPLE"), one.task.base_file or ""
        return decode_bloom_filter(keys[BLOOM_FILTER_KEY], kind, file)


def located(lines: pa.Table, places: pa.Table) -> pa.Table:
    """The lines whose key is among `places`, each once, with what these say."""
    found = pc.index_in(lines.column(RECORD_KEY), value_set=one_chunk(places.column(RECORD_KEY)))
    there = pc.is_valid(found)
    lines, met = lines.filter(there), places.take(found.filter(there))
    for field in PLACE_FIELDS[1:]:
        lines = lines.append_column(field, met.column(field.name))
    return each_once(lines)


def each_once(lines: pa.Table) -> pa.Table:
    """The lines without repetitions, which a join would multiply."""
    if pc.count_distinct(lines.column(RECORD_KEY)).as_py() == lines.num_rows:
        return lines
    return lines.group_by(lines.column_names, use_threads=False).aggregate([]).cast(lines.schema)
