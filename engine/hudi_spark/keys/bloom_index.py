"""Bloom indexes: key ranges and bloom filters leave few files over, whose keys are then read.

Keys and bounds are numbered in one order, so that a range of keys is a stretch of the sorted numbers.

ranges    of all files, from footers (one small job) or the metadata table, to the driver
lines     each key once for each file whose range holds it; these come together by file
checking  the file's bloom filter, then the key column where the filter lets a key pass
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY, base_file_footer
from hudi_format.metadata.partitions import Partition
from hudi_format.metadata.wrapped_values import plain_value
from hudi_format.storage import Storage
from hudi_format.texts import byte_texts

from hudi_spark.keys.stored_keys import StoredKeys, stored_keys
from hudi_spark.keys.tags import PARTITION_PATH, PLACE_FIELDS, RECORD_KEY, SLICE, SLICE_FIELD
from hudi_spark.read import Executor, Flow, TaskIdentity
from hudi_spark.schema import WriterState, one_chunk
from hudi_spark.table_state import FileKey, MetadataTable

# From the character U+E000 on the order of UTF-8 bytes is another than that of Java's strings.
_ORDERS_DIFFER: Final = 0xEE

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FileRanges:
    """The slices of a partition, or of a table, by number, and the bounds of their keys; null where unknown.

    Clauses: IX-012, IX-053.
    """

    slices: pa.Array
    least: pa.Array
    greatest: pa.Array


def candidates(rows: pa.Table, ranges: Mapping[str | None, FileRanges]) -> pa.Table:
    """Each line once for each slice that may hold its key, with the number of the slice.

    `ranges` by partition path, or all under None: then the lines' own partition does not matter.

    Clauses: IX-012, IX-052.
    """
    parts = [_of_partition(part, ranges[partition]) for partition, part in _by_partition(rows, ranges) if part.num_rows]
    return pa.concat_tables(parts) if parts else pa.schema([*rows.schema, SLICE_FIELD]).empty_table()


def _by_partition(rows: pa.Table, ranges: Mapping[str | None, FileRanges]) -> Iterator[tuple[str | None, pa.Table]]:
    if None in ranges:
        yield None, rows
        return
    paths = rows.column(PARTITION_PATH)
    for partition in pc.unique(paths).to_pylist():
        if partition in ranges:
            yield partition, rows.filter(pc.equal(paths, partition))


def _of_partition(rows: pa.Table, ranges: FileRanges) -> pa.Table:
    keys = one_chunk(rows.column(RECORD_KEY))
    order, begins, ends = _stretches(keys, ranges)
    counts = np.maximum(ends - begins, 0)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    places = np.arange(int(before[-1])) - np.repeat(before[:-1] - begins, counts)
    slices = np.repeat(ranges.slices.to_numpy(), counts)
    return rows.take(pa.array(order[places])).append_column(SLICE_FIELD, [pa.array(slices, pa.int32())])


def _stretches(keys: pa.Array, ranges: FileRanges) -> tuple[Numbers, Numbers, Numbers]:
    """The keys in order, and for each slice where in that order its candidates begin and end."""
    count, slices = len(keys), len(ranges.slices)
    if any(_beyond(one) for one in (keys, ranges.least, ranges.greatest)):
        return np.arange(count), np.zeros(slices, np.int64), np.full(slices, count)
    together = pa.chunked_array([keys, ranges.least.fill_null(""), ranges.greatest.fill_null("")])
    ranks = one_chunk(pc.rank(together, tiebreaker="dense")).to_numpy().astype(np.int64)
    order = np.argsort(ranks[:count], kind="stable")
    placed = ranks[:count][order]
    begins = np.searchsorted(placed, ranks[count : count + slices], side="left")
    ends = np.searchsorted(placed, ranks[count + slices :], side="right")
    known = pc.and_(pc.is_valid(ranges.least), pc.is_valid(ranges.greatest)).to_numpy(zero_copy_only=False)
    return order, np.where(known, begins, 0), np.where(known, ends, count)


def _beyond(texts: pa.Array) -> bool:
    units = byte_texts(texts).units
    return bool(len(units)) and int(units.max()) >= _ORDERS_DIFFER


def slice_column(rows: pa.Table) -> list[int]:
    """The numbers of the slices that lines name, each once."""
    return [int(number) for number in pc.unique(rows.column(SLICE)).to_pylist()]


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
