"""Bucket indexes by consistent hashing: the ring of a partition tells the file group of a key.

stored    below .hoodie/.bucket_index/consistent_hashing_metadata/<partition>: <instant>.hashing_meta, and an empty
          <instant>.commit once a resize holds (0.15.0 puts that file into the data partition instead)
new       the first ring of a partition follows from its path and the number of buckets; it is written before any of
          its rows, and whose ring is there first holds for all writers
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage
from hudi_format.table.hash_ring import (
    FIRST_INSTANT,
    RINGS_FOLDER,
    HashRing,
    RingFileName,
    first_ring,
    parse_hash_ring,
    parse_ring_file_name,
    serialise_hash_ring,
)

from hudi_spark.arrays import one_chunk
from hudi_spark.effects.helper import Effects, joined
from hudi_spark.errors import HudiError
from hudi_spark.flows.flow import Flow, TaskIdentity
from hudi_spark.state.commits import replaced_groups
from hudi_spark.state.slicing import FileSlice
from hudi_spark.tagging.bucket_counts import COUNT_KEY
from hudi_spark.tagging.buckets import hash_fields
from hudi_spark.tagging.columns import PARTITION_PATH, RECORD_KEY, tagged_schema
from hudi_spark.tagging.hash_keys import HashedTexts, hashed_texts
from hudi_spark.tagging.ring_places import ring_places
from hudi_spark.writer_state import WriterState

_SUFFIX: Final = "-0"
_NULL: Final = "null"


def on_rings(keyed: Flow, state: WriterState, effects: Effects) -> Flow:
    """Rows with the file group that their partition's ring tells; one job, which tells the partitions.

    Rings of new partitions are written first.

    Raises:
        HudiError: CONFIG_INVALID for hash fields outside of the record key, and for a ring whose groups nobody reads.
        FormatError: PROPERTIES_INVALID for a stored ring that is none.

    Clauses: OW-020, OW-022, OW-034.

    """
    fields = hash_fields(state.configuration, state.options)
    partitions = sorted(keyed.counted([PARTITION_PATH]).column(PARTITION_PATH).to_pylist())
    rings = {one: ring_to_use(one, state, effects) for one in partitions}
    _refuse_replaced(rings, state)
    known = {(one.partition, one.file_id): one for one in state.slices}
    tagging = _Tagging(fields, rings, {group: one.base_instant for group, one in known.items()})
    return keyed.map(tagging, tagged_schema(keyed.schema))


def ring_to_use(partition: str, state: WriterState, effects: Effects) -> HashRing:
    """The ring of a partition; the first one is written where there is none, unless another writer was faster.

    Clauses: OW-034.
    """
    found = stored_ring(partition, state)
    if found is not None:
        return found
    ring = first_ring(partition, state.options.number(COUNT_KEY))
    path = _path(partition, RingFileName(FIRST_INSTANT, is_commit_sign=False))
    if not state.storage.exists(path):
        effects.put_index_file(path, serialise_hash_ring(ring))
    return parse_hash_ring(state.storage.read(path), path)


def _refuse_replaced(rings: Mapping[str, HashRing], state: WriterState) -> None:
    """A partition that was deleted keeps its ring: rows that go where it leads would never be read.

    Clauses: OW-034.
    """
    replaced = replaced_groups(state.snapshot.commits)
    for partition, ring in rings.items():
        lost = [node for node in ring.nodes if (partition, f"{node.file_id_prefix}{_SUFFIX}") in replaced]
        if lost:
            message = (
                f"{len(lost)} file groups of the ring of partition {partition!r} were replaced when it was deleted"
            )
            hint = "write to it with another index until that deletion is archived"
            raise HudiError(Reason.CONFIG_INVALID, "OW-034", message, hint=hint)


def stored_ring(partition: str, state: WriterState) -> HashRing | None:
    """The newest ring of a partition that holds, None where there is none.

    A resize holds when a sign beside it or in the data partition says so, when its action is completed, or when base
    files of its file groups are there: then its action is only too old for the timeline.

    Clauses: OW-034.
    """
    folder = joined(RINGS_FOLDER, partition)
    names = [name for name in _names(state.storage, folder) if not name.is_commit_sign]
    signs = {one.instant for one in _names(state.storage, folder) if one.is_commit_sign}
    signs |= {one.instant for one in _names(state.storage, partition) if one.is_commit_sign}
    held = _Held(signs, state)
    for name in sorted(names, key=lambda one: one.instant, reverse=True):
        path = _path(partition, name)
        ring = parse_hash_ring(state.storage.read(path), path)
        if held.holds(ring, partition):
            return ring
    return None


def _names(storage: Storage, folder: str) -> list[RingFileName]:
    files = storage.list_files(folder, recursive=False)
    parsed = (parse_ring_file_name(status.path.rpartition("/")[2]) for status in files)
    return [one for one in parsed if one is not None]


def _path(partition: str, name: RingFileName) -> str:
    return joined(RINGS_FOLDER, partition, str(name))


@dataclass(slots=True)
class _Held:
    """Tells whether the ring of an instant holds."""

    signs: Iterable[str]
    state: WriterState
    completed: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for one in self.state.snapshot.timeline.instants:
            (self.completed if one.is_completed else self.pending).add(one.requested)

    def holds(self, ring: HashRing, partition: str) -> bool:
        """Clauses: OW-034."""
        if ring.instant == FIRST_INSTANT or ring.instant in self.signs or ring.instant in self.completed:
            return True
        if ring.instant in self.pending:
            return False
        prefixes = {node.file_id_prefix for node in ring.nodes}
        return any(self._lies_in(one, partition, prefixes) for one in self.state.slices)

    @staticmethod
    def _lies_in(one: FileSlice, partition: str, prefixes: set[str]) -> bool:
        return one.partition == partition and one.base_file is not None and one.file_id.rpartition("-")[0] in prefixes


@dataclass(frozen=True, slots=True)
class _Tagging:
    """Tags rows by their keys alone."""

    fields: tuple[str, ...]
    rings: Mapping[str, HashRing]
    base_instants: Mapping[tuple[str, str], str]

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        places = _places(rows, self.fields)
        ids = np.empty(rows.num_rows, dtype=object)
        instants = np.empty(rows.num_rows, dtype=object)
        paths = rows.column(PARTITION_PATH)
        for partition in pc.unique(paths).to_pylist():
            there = pc.equal(paths, partition).to_numpy(zero_copy_only=False)
            ring = self.rings[partition]
            groups = [f"{node.file_id_prefix}{_SUFFIX}" for node in ring.nodes]
            nodes = np.searchsorted([node.value for node in ring.nodes], places[there], side="left") % len(groups)
            ids[there] = np.array(groups, dtype=object)[nodes]
            known = [self.base_instants.get((partition, group)) for group in groups]
            instants[there] = np.array(known, dtype=object)[nodes]
        count = rows.num_rows
        tags = [pa.array(ids, pa.string()), pa.array(instants, pa.string()), pa.nulls(count, pa.int64())]
        columns = [*rows.columns, *tags, pa.repeat(pa.scalar(value=False), count)]
        return pa.Table.from_arrays(columns, schema=tagged_schema(rows.schema))


def _places(rows: pa.Table, fields: tuple[str, ...]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The place of each row's key on its ring."""
    places = np.zeros(rows.num_rows, np.int64)
    for part in hashed_texts(rows.column(RECORD_KEY), fields):
        places[part.numbers] = ring_places(_joined_texts(part))
    return places


def _joined_texts(part: HashedTexts) -> pa.Array:
    """The texts of each key one behind the other, a null as its name in Java."""
    texts = [pc.fill_null(column, _NULL) for column in part.columns]
    return one_chunk(texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, ""))
