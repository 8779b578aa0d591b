"""Which files may hold a key, by the least and greatest key of each: all keys of a part at once.

Keys and bounds are numbered in one order, so that a range of keys is a stretch of the sorted numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.texts import byte_texts

from hudi_spark.arrays import one_chunk
from hudi_spark.tagging.columns import PARTITION_PATH, RECORD_KEY, SLICE, SLICE_FIELD

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
