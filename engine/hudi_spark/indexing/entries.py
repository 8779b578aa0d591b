"""Entries of the large indexes, columns of keys: each with its file group, and with the one record that all share."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.hashing import file_group_indexes
from hudi_format.metadata.partitions import data_partition_of_id, file_group_of_id

from hudi_spark.arrays import one_chunk
from hudi_spark.indexing.index import ENTRIES

Series = tuple[str, ...]
"""The file ids of an index' groups, by their number."""


def series_of(file_ids: Iterable[str]) -> dict[str | None, Series]:
    """The groups of the record index by number, for each partition that they are for; None: for the whole table.

    Clauses: MT-017, IX-022.
    """
    found: dict[str | None, list[str]] = {}
    for file_id in sorted(file_ids, key=file_group_of_id):
        found.setdefault(data_partition_of_id(file_id), []).append(file_id)
    return {name: tuple(ids) for name, ids in found.items()}


def groups_in_order(file_ids: Iterable[str]) -> Series:
    """The groups of any other index by number.

    Clauses: MT-017.
    """
    return tuple(sorted(file_ids, key=lambda file_id: file_group_of_id(file_id)[0]))


def entries_table(
    series: Series, added: pa.Array, value: bytes, gone: pa.Array, *, hashed: tuple[pa.Array, pa.Array] | None = None
) -> pa.Table:
    """Rows of `ENTRIES`: the keys added with the value, the keys that are gone without one.

    `hashed`: what of the keys decides on their groups, where it is not all of them.

    Clauses: MT-017.
    """
    keys = pa.concat_arrays([one_chunk(added), one_chunk(gone)])
    deciding = keys if hashed is None else pa.concat_arrays(list(hashed))
    numbers = pa.array(file_group_indexes(deciding, len(series)))
    values = pa.concat_arrays([pa.repeat(pa.scalar(value, pa.binary()), len(added)), pa.nulls(len(gone), pa.binary())])
    return pa.table([pa.array(series, pa.string()).take(numbers), keys, values], schema=ENTRIES)


def settled(entries: pa.Table) -> pa.Table:
    """Entries of one group in the order of the bytes of their keys, each key once: one that is there, if there is any.

    Clauses: IX-021, IX-031.
    """
    keys = one_chunk(entries.column("key"))
    order = pc.array_sort_indices(keys)
    ordered = keys.take(order)
    if not pc.any(pc.equal(ordered[1:], ordered[:-1])).as_py():
        return entries.take(order)
    by_value = [("key", "ascending"), ("value", "ascending")]
    entries = entries.take(pc.sort_indices(entries, by_value))
    ordered = one_chunk(entries.column("key"))
    first = np.append(True, pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False))
    return entries.filter(pa.array(first))
