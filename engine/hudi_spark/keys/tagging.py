"""Rows with their keys become rows that know which file group holds their key: `tagged`.

index            looked at                                jobs on Spark of its own
simple           key columns of base files, joined        1, where the table has partitions and many files
bloom            footers; key columns of few files        1, and 1 for the ranges unless these come from metadata
bucket           nothing                                  0
ring             a small file for each partition          1
record           the index' file groups, by their keys    0

Global indexes read stored rows in addition, as far as rows move or keys may be gone.

Wherever an index asks the rows for their partitions or looks their keys up before it joins them, the rows are computed
again: the caller keeps them.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from hudi_format.metadata.partitions import Partition

from hudi_spark.concurrency import Effects
from hudi_spark.keys.bloom_index import found_by_bloom
from hudi_spark.keys.bucket_index import in_buckets, on_rings
from hudi_spark.keys.global_index import Lookup, tagged_anywhere
from hudi_spark.keys.record_index import found_in_index
from hudi_spark.keys.stored_keys import (
    found_in_partitions,
    live_first,
    places_of_partitions,
    selects_partitions,
    slices_to_merge,
)
from hudi_spark.keys.tags import (
    KEY_FIELD,
    PARTITION_FIELD,
    PARTITION_PATH,
    RECORD_KEY,
    Index,
    MissingIndexWarning,
    Named,
    SliceNames,
    Tagged,
    Untagged,
    index_of,
    tagged_schema,
)
from hudi_spark.read import Executor, Flow, TaskIdentity
from hudi_spark.schema import WriterState
from hudi_spark.table_state import MetadataTable

_BLOOM_METADATA: Final = "hoodie.bloom.index.use.metadata"
_LIGHT: Final = pa.schema([KEY_FIELD, PARTITION_FIELD])


def tagged(
    keyed: Flow,
    state: WriterState,
    executor: Executor,
    instant: str,
    effects: Effects | None = None,
    *,
    missing: frozenset[str] = frozenset(),
    staying: bool = False,
) -> Tagged:
    """Rows with a key and a partition path, and where they go.

    Added, by `Tagged.named` at the latest, are:
    `_tag_file_id` (null: a new key), `_tag_base_instant` (of its slice, null for none), `_tag_position`
    (the row in its base file, null where unknown) and `_tag_moved` (true on a further row, which takes the key out of
    its old partition). Bucket indexes name a file group for every row. A key that several groups hold comes once for
    each. With a global index rows may have other partition paths afterwards, and rows that lose against the stored one
    in another partition are left out: see `moving`.

    `effects` writes the rings of new partitions. `missing`: columns that the rows, being partial updates, leave out.
    `staying`: no row moves, since rows delete their key wherever it lives, or only ask whether it is there.

    Raises:
        HudiError: CONFIG_INVALID for an index that does not go together with the table or its options.
        UnsupportedFeature: an index that is not built.

    Clauses: OW-003, OW-020, OW-021, OW-022, OW-023, OW-024, OW-034.

    """
    index = index_of(state)
    if index.kind == "bucket":
        return Tagged(in_buckets(keyed, state, instant))
    if index.kind == "ring":
        return Tagged(on_rings(keyed, state, effects or Effects(state.storage)))
    if not state.slices:
        return Tagged(keyed.map(Untagged(), tagged_schema(keyed.schema)))
    if not index.anywhere:
        return _within_partitions(keyed, state, executor, index)
    index = replace(index, moves=index.moves and not staying)
    return Tagged(tagged_anywhere(keyed, state, executor, Lookup(index, _metadata(state, index), missing)))


def looks_twice(state: WriterState) -> bool:
    """Whether tagging computes the rows that it is given more than once, so that they had better be kept."""
    index = index_of(state)
    if index.kind in ("bucket", "ring") or not state.slices:
        return index.kind == "ring"
    return index.kind != "simple" or index.anywhere or selects_partitions(state) or bool(slices_to_merge(state))


def _within_partitions(keyed: Flow, state: WriterState, executor: Executor, index: Index) -> Tagged:
    metadata = _metadata(state, index)
    light = keyed.map(_Light(), _LIGHT)
    if index.kind == "record" and metadata is not None:
        places = found_in_index(light, state, metadata, within_partitions=True)
    else:
        places = _in_files(keyed, light, state, executor, index, metadata)
    return Tagged(keyed.joined(places, [RECORD_KEY, PARTITION_PATH]), Named(SliceNames.of(state.slices)))


def _in_files(  # noqa: PLR0917 - all that a lookup takes
    keyed: Flow, light: Flow, state: WriterState, executor: Executor, index: Index, metadata: MetadataTable | None
) -> Flow:
    """Where keys live by what files say; where logs deleted rows, other groups may hold their keys by now."""
    merges = bool(slices_to_merge(state))
    if index.kind == "bloom":
        found = found_by_bloom(light, state, executor, metadata, anywhere=False)
        return live_first(found) if merges else found
    if merges:
        return live_first(found_in_partitions(light, state, executor))
    return places_of_partitions(keyed, state, executor)


def _metadata(state: WriterState, index: Index) -> MetadataTable | None:
    """The metadata table, where the index asks it; a record index that is not there is said.

    Clauses: OW-020, MT-007.
    """
    reads_metadata = index.kind == "record" or (index.kind == "bloom" and state.options.flag(_BLOOM_METADATA))
    if not reads_metadata:
        return None
    found = MetadataTable.open(state.storage, state.configuration, state.snapshot.timeline)
    if index.kind != "record":
        return found
    if found is not None and Partition.RECORD_INDEX in found.partitions():
        return found
    message = "the table has no record index yet: keys are looked up in its files"
    warnings.warn(message, MissingIndexWarning, stacklevel=4)
    return None


@dataclass(frozen=True, slots=True)
class _Light:
    """Keys and partition paths alone."""

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        return rows.select(_LIGHT.names)
