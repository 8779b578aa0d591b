"""Simple bucket indexes: the hash of a key tells the first eight characters of its file id.

existing groups   found by these characters, whatever follows them
new groups        <bucket>-<rest of a UUID>-0, the same for every task of a write
non-blocking      <bucket>-0000-0000-0000-000000000000-0, the same for every writer; once replaced: -1, -2 ...
"""

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.base.files import MAXIMUM_KEY, MINIMUM_KEY, base_file_footer

from hudi_spark.arrays import one_chunk
from hudi_spark.errors import HudiError
from hudi_spark.flows.flow import Flow, TaskIdentity
from hudi_spark.options.resolving import Options
from hudi_spark.state.commits import GroupId, replaced_groups
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.slicing import FileSlice
from hudi_spark.tagging.bucket_counts import COUNT_KEY, BucketCounts, bucket_counts
from hudi_spark.tagging.columns import PARTITION_PATH, RECORD_KEY, tagged_schema
from hudi_spark.tagging.hash_keys import bucket_hashes
from hudi_spark.writer_state import WriterState

BUCKET_DIGITS: Final = 8
"""How many characters of a file id say its bucket."""
_FIELDS: Final = "hoodie.bucket.index.hash.field"
_CONCURRENCY: Final = "hoodie.write.concurrency.mode"
_NON_BLOCKING: Final = "NON_BLOCKING_CONCURRENCY_CONTROL"
_SHARED = re.compile(rf"([0-9]{{{BUCKET_DIGITS}}})-0000-0000-0000-000000000000-([0-9]+)")
_NUMBER = re.compile(rf"[0-9]{{{BUCKET_DIGITS}}}")
_LOOKED_INTO: Final = 4
_BUCKET_BITS: Final = 31
_BUCKET_MASK: Final = 2**_BUCKET_BITS - 1
_NAMES: Final = uuid.UUID("6f1f3f5e-8f0e-5a53-9d1c-0d6b5b7a9c11")


def in_buckets(keyed: Flow, state: WriterState, instant: str) -> Flow:
    """Rows with the file group of their bucket, which is new where the bucket has none; no job, no shuffle.

    Raises:
        HudiError: CONFIG_INVALID for hash fields outside of the record key, for file groups that are no buckets or
            of another number of them, for two groups of one bucket.

    Clauses: OW-022, OW-023.

    """
    counts = bucket_counts(state)
    known = known_buckets(state.slices, counts)
    non_blocking = state.options.text(_CONCURRENCY) == _NON_BLOCKING
    shared = _SharedIds.of(state) if non_blocking else None
    fields = hash_fields(state.configuration, state.options)
    _refuse_other_count(state, counts, fields)
    tagging = _Tagging(fields, counts, known, instant, shared)
    return keyed.map(tagging, tagged_schema(keyed.schema))


def hash_fields(configuration: TableConfiguration, options: Options) -> tuple[str, ...]:
    """The key fields whose values are hashed.

    Raises:
        HudiError: CONFIG_INVALID without record key fields, or for a field that is none of them.

    Clauses: OW-020, OW-022.

    """
    if not configuration.record_key:
        message = "a bucket index hashes record key fields, and the table's keys are generated"
        raise _invalid(message, "choose another hoodie.index.type, or give the table record key fields")
    named = tuple(name.strip() for name in options.text(_FIELDS).split(",") if name.strip())
    others = [name for name in named if name not in configuration.record_key]
    if others:
        hint = f"name some of {', '.join(configuration.record_key)}, or leave {_FIELDS} out"
        raise _invalid(f"{_FIELDS} names {others[0]!r}, which is no record key field", hint)
    return named or configuration.record_key


def known_buckets(slices: Iterable[FileSlice], counts: BucketCounts) -> Mapping[str, Mapping[int, FileSlice]]:
    """The slices of a table by partition path and bucket.

    Raises:
        HudiError: CONFIG_INVALID for a file group that is no bucket, or one too many.

    Clauses: OW-003, OW-023.

    """
    known: dict[str, dict[int, FileSlice]] = {}
    for one in slices:
        number, buckets = bucket_of_file_id(one.file_id), counts.of(one.partition)
        if number is None or number >= buckets:
            message = f"the file group {one.file_id} in {one.partition or 'the table'!r} is none of {buckets} buckets"
            hint = f"write with the index and the {COUNT_KEY} that the table was written with"
            raise _invalid(message, hint)
        other = known.setdefault(one.partition, {}).setdefault(number, one)
        if other is not one:
            message = f"{other.file_id} and {one.file_id} in {one.partition or 'the table'!r} are of one bucket"
            raise _invalid(message, "roll one of the writes back that opened them")
    return known


def _refuse_other_count(state: WriterState, counts: BucketCounts, fields: tuple[str, ...]) -> None:
    """Keys in the footers of a few files must hash to the buckets they are in: no table says how many it has.

    0.15.0 hashes keys with colons otherwise than later releases: its tables with such keys are refused, too.

    Clauses: OW-022, OW-023.
    """
    for one in [one for one in state.slices if one.base_file is not None][:_LOOKED_INTO]:
        stated = base_file_footer(state.storage, one.base_file or "").keys
        keys = pa.array([stated[name] for name in (MINIMUM_KEY, MAXIMUM_KEY) if name in stated], pa.string())
        buckets = counts.of(one.partition)
        if any(number != bucket_of_file_id(one.file_id) for number in bucket_hashes(keys, fields) % buckets):
            message = f"a key in {one.base_file} belongs to another of {buckets} buckets"
            hint = f"write with the {COUNT_KEY} and the {_FIELDS}, and for keys with colons the release, of the table"
            raise _invalid(message, hint)


def bucket_of_file_id(file_id: str) -> int | None:
    """The bucket that a file id belongs to; None for one of another index.

    Clauses: OW-023.
    """
    return int(file_id[:BUCKET_DIGITS]) if _NUMBER.fullmatch(file_id[:BUCKET_DIGITS]) else None


@dataclass(frozen=True, slots=True)
class _SharedIds:
    """The file ids under which all non-blocking writers open buckets: whose group was replaced has the next number.

    Clauses: SW-002.
    """

    replaced: Mapping[GroupId, int]

    @staticmethod
    def of(state: WriterState) -> "_SharedIds":
        """What the replacements on the timeline leave free."""
        greatest: dict[GroupId, int] = {}
        for partition, file_id in replaced_groups(state.snapshot.commits):
            if found := _SHARED.fullmatch(file_id):
                bucket = partition, found[1]
                greatest[bucket] = max(greatest.get(bucket, 0), int(found[2]))
        return _SharedIds(greatest)

    def file_id(self, partition: str, digits: str) -> str:
        """The file id of a bucket that no slice belongs to."""
        return f"{digits}-0000-0000-0000-000000000000-{self.replaced.get((partition, digits), -1) + 1}"


@dataclass(frozen=True, slots=True)
class _Tagging:
    """Tags rows by their keys alone."""

    fields: tuple[str, ...]
    counts: BucketCounts
    known: Mapping[str, Mapping[int, FileSlice]]
    instant: str
    shared: _SharedIds | None

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        partitions = one_chunk(one_chunk(rows.column(PARTITION_PATH)).dictionary_encode())
        names = partitions.dictionary.to_pylist()
        within = partitions.indices.to_numpy().astype(np.int64)
        buckets = np.array([self.counts.of(name) for name in names], np.int64)[within]
        numbers = bucket_hashes(rows.column(RECORD_KEY), self.fields) % buckets
        distinct, places = np.unique(within << _BUCKET_BITS | numbers, return_inverse=True)
        groups = [self._group(names[code >> _BUCKET_BITS], code & _BUCKET_MASK) for code in distinct.tolist()]
        taken = pa.array(places)
        ids = pa.array([file_id for file_id, _ in groups], pa.string())
        instants = pa.array([instant for _, instant in groups], pa.string())
        count = rows.num_rows
        tags = [ids.take(taken), instants.take(taken), pa.nulls(count, pa.int64())]
        columns = [*rows.columns, *tags, pa.repeat(pa.scalar(value=False), count)]
        return pa.Table.from_arrays(columns, schema=tagged_schema(rows.schema))

    def _group(self, partition: str, bucket: int) -> tuple[str, str | None]:
        """File id and base instant of a bucket.

        Clauses: OW-023.
        """
        found = self.known.get(partition, {}).get(bucket)
        if found is not None:
            return found.file_id, found.base_instant
        digits = f"{bucket:0{BUCKET_DIGITS}d}"
        if self.shared is not None:
            return self.shared.file_id(partition, digits), None
        rest = str(uuid.uuid5(_NAMES, f"{self.instant}/{partition}/{digits}"))[BUCKET_DIGITS:]
        return f"{digits}{rest}-0", None


def _invalid(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "OW-020", message, hint=hint)
