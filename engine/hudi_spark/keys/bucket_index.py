"""Bucket indexes: the hash of a key states its file group, by a number of buckets or by consistent hashing.

rules   pattern,count;pattern,count   the first pattern that is found in the path decides, else the number for all
stored  .hoodie/.bucket_index/partition_bucket_index_meta/configs/<instant>.hashing_config, JSON: these rules hold
        for the table, whatever a writer says

a key without a comma or without a colon   the key itself: one field makes it
id:7,city:Bonn                             the values of the hash fields, in the order of the key
id:7,city:__null__                         null in place of the value; the empty text for __empty__

A field begins behind each comma that is followed by a colon with neither between, once the field before it has had its
own colon: values may have both, and a comma before the first colon belongs to the first name.

existing groups   found by these characters, whatever follows them
new groups        <bucket>-<rest of a UUID>-0, the same for every task of a write
non-blocking      <bucket>-0000-0000-0000-000000000000-0, the same for every writer; once replaced: -1, -2 ...

stored    below .hoodie/.bucket_index/consistent_hashing_metadata/<partition>: <instant>.hashing_meta, and an empty
          <instant>.commit once a resize holds (0.15.0 puts that file into the data partition instead)
new       the first ring of a partition follows from its path and the number of buckets; it is written before any of
          its rows, and whose ring is there first holds for all writers
"""

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.files import MAXIMUM_KEY, MINIMUM_KEY, base_file_footer
from hudi_format.errors import Reason as FormatReason
from hudi_format.hashing import bucket_ids
from hudi_format.json_text import read_json
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
from hudi_format.texts import Units, byte_texts

from hudi_spark.concurrency import Effects, joined
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.filters import python_pattern
from hudi_spark.keys.tags import PARTITION_PATH, RECORD_KEY, tagged_schema
from hudi_spark.options import Options, is_non_blocking
from hudi_spark.read import Flow, TaskIdentity
from hudi_spark.schema import WriterState, one_chunk
from hudi_spark.table_state import FileSlice, GroupId, Snapshot, TableConfiguration, Timeline, replaced_groups

COUNT_KEY: Final = "hoodie.bucket.index.num.buckets"
RULES_FOLDER: Final = ".hoodie/.bucket_index/partition_bucket_index_meta/configs"
_RULES: Final = "hoodie.bucket.index.partition.expressions"
_KIND: Final = "hoodie.bucket.index.partition.rule.type"
_CONFIG_SUFFIX: Final = ".hashing_config"
_REGEX: Final = "regex"
_CLAUSE: Final = "OW-036"


@dataclass(frozen=True, slots=True)
class BucketCounts:
    """The number of buckets of each partition.

    Clauses: OW-036.
    """

    default: int
    rules: tuple[tuple[re.Pattern[str], int], ...] = ()

    def of(self, partition: str) -> int:
        """The number of buckets of a partition path."""
        return next((count for pattern, count in self.rules if pattern.search(partition)), self.default)


def bucket_counts(state: WriterState) -> BucketCounts:
    """The numbers of buckets of a table: by its stored rules, or else by the options.

    Raises:
        HudiError: CONFIG_INVALID for rules that do not parse; PROPERTIES_INVALID for a stored file that does not.
        UnsupportedFeature: rules of another kind than patterns.

    Clauses: OW-036.

    """
    stored = kept_counts(state.storage, state.snapshot.timeline)
    if stored is not None:
        return stored
    default = state.options.number(COUNT_KEY)
    text = state.options.text(_RULES)
    return BucketCounts(default, parsed_rules(text, state.options.text(_KIND), _RULES) if text else ())


def parsed_rules(text: str, kind: str, place: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    """The rules in a text.

    Raises:
        HudiError: CONFIG_INVALID.
        UnsupportedFeature: another kind than patterns.

    """
    if kind.lower() != _REGEX:
        raise UnsupportedFeature(f"bucket-rules-{kind}", place)
    return tuple(_rule(part.strip(), place) for part in text.rstrip(";").split(";") if text)


def _rule(text: str, place: str) -> tuple[re.Pattern[str], int]:
    parts = [part.strip() for part in text.split(",")]
    try:
        pattern, count = parts
        found = python_pattern(pattern), int(count)
    except ValueError as error:
        hint = "write pattern,count;pattern,count"
        raise HudiError(Reason.CONFIG_INVALID, _CLAUSE, f"{text!r} is no rule: {error}", place, hint=hint) from error
    if found[1] < 1:
        raise HudiError(Reason.CONFIG_INVALID, _CLAUSE, f"{text!r} leaves no bucket", place, hint="give at least one")
    return found


def kept_counts(storage: Storage, timeline: Timeline) -> BucketCounts | None:
    """The rules that the table keeps: the newest that no pending action is about to make.

    Raises:
        HudiError: CONFIG_INVALID for rules that do not parse; PROPERTIES_INVALID for a file that holds none.

    Clauses: OW-036.

    """
    pending = {one.requested for one in timeline.instants if not one.is_completed}
    names = sorted(_instants(status.path for status in storage.list_files(RULES_FOLDER)) - pending)
    if not names:
        return None
    path = f"{RULES_FOLDER}/{names[-1]}{_CONFIG_SUFFIX}"
    record = read_json(storage.read(path), path, FormatReason.PROPERTIES_INVALID, _CLAUSE)
    if not isinstance(record, dict) or type(record.get("defaultBucketNumber")) is not int:
        message = "the file holds no rules of buckets"
        raise HudiError(Reason.PROPERTIES_INVALID, _CLAUSE, message, path, hint="restore the file")
    return BucketCounts(record["defaultBucketNumber"], _stored_rules(record, path))


def _stored_rules(record: dict[str, Any], path: str) -> tuple[tuple[re.Pattern[str], int], ...]:
    return parsed_rules(str(record.get("expressions") or ""), str(record.get("rule") or _REGEX), path)


def _instants(paths: Iterable[str]) -> set[str]:
    names = (path.rpartition("/")[2] for path in paths)
    return {name.removesuffix(_CONFIG_SUFFIX) for name in names if name.endswith(_CONFIG_SUFFIX)}


Hashes = npt.NDArray[np.int64]

_FIELDS_APART: Final = ",", ":"
_NULL, _EMPTY = "__null__", "__empty__"
# A hash without its sign, modulo this, is itself.
_ALL: Final = 2**31
_MARK: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class HashedTexts:
    """Some of the keys, by their numbers, and a column of texts for each value that is hashed."""

    numbers: npt.NDArray[np.int64]
    columns: tuple[pa.Array, ...]


def hashed_texts(keys: pa.Array | pa.ChunkedArray, fields: Sequence[str]) -> tuple[HashedTexts, ...]:
    """The texts to hash of each key, keys with equally many texts together.

    `fields`: the hash fields, in any order.

    Clauses: OW-022.
    """
    array = one_chunk(keys)
    parted = pc.and_(*(pc.match_substring(array, mark) for mark in _FIELDS_APART))
    whole = np.flatnonzero(~_mask(parted))
    found = [HashedTexts(whole, (array.take(pa.array(whole)),))] if len(whole) else []
    numbers = np.flatnonzero(_mask(parted))
    return (*found, *(_of_parted(array.take(pa.array(numbers)), numbers, fields) if len(numbers) else ()))


def bucket_hashes(keys: pa.Array | pa.ChunkedArray, fields: Sequence[str]) -> Hashes:
    """The hash of each key for simple buckets, from 0 to 2^31 - 1; modulo the number of buckets it is the bucket.

    Clauses: OW-022.
    """
    hashes = np.zeros(len(keys), np.int64)
    for part in hashed_texts(keys, fields):
        hashes[part.numbers] = bucket_ids(part.columns, _ALL)
    return hashes


def _of_parted(keys: pa.Array, numbers: npt.NDArray[np.int64], fields: Sequence[str]) -> tuple[HashedTexts, ...]:
    """Keys that name each of the same fields once go together, all others one by one."""
    apart = pc.replace_substring_regex(keys, ",([^,:]*):", f"{_MARK}\\1:")
    order = _order_of_fields(apart, fields)
    columns = [_value(apart, name) for name in order]
    # A comma before the first colon begins no field, though a colon may follow it.
    regular = pc.and_not(pc.match_substring_regex(keys, "^[^,:]*:"), pc.match_substring(keys, _MARK))
    for name in order:
        once = pc.equal(pc.count_substring_regex(apart, _field_pattern(name)), 1)
        regular = pc.and_(regular, once)
    for name in fields:
        if name not in order:
            regular = pc.and_(regular, pc.invert(pc.match_substring_regex(apart, _field_pattern(name))))
    alike = _mask(regular) & bool(order)
    same = pa.array(np.flatnonzero(alike))
    together = HashedTexts(numbers[alike], tuple(column.take(same) for column in columns))
    others = np.flatnonzero(~alike)
    return (*((together,) if len(same) else ()), *_one_by_one(keys.take(pa.array(others)), numbers[others], fields))


def _order_of_fields(apart: pa.Array, fields: Sequence[str]) -> list[str]:
    """The hash fields that the first key names, in its order."""
    named = [part.partition(":")[0] for part in apart[0].as_py().split(_MARK)]
    return sorted({field for field in fields if field in named}, key=named.index)


def _field_pattern(field: str) -> str:
    return f"(?:^|{_MARK}){_quoted(field)}:"


def _quoted(text: str) -> str:
    """A text as a pattern of itself."""
    return "".join(f"\\x{{{ord(one):x}}}" for one in text)


def _value(apart: pa.Array, field: str) -> pa.Array:
    """The value of a field, null where it is not there."""
    found = pc.extract_regex(apart, f"{_field_pattern(field)}(?P<value>[^{_MARK}]*)")
    value = pc.struct_field(found, "value")
    known = pc.if_else(pc.equal(value, _EMPTY), "", value)
    return pc.if_else(pc.equal(known, _NULL), pa.scalar(None, known.type), known)


def _one_by_one(keys: pa.Array, numbers: npt.NDArray[np.int64], fields: Sequence[str]) -> list[HashedTexts]:
    """The rare keys whose values look like further fields, or that lack some."""
    by_count: dict[int, list[tuple[int, list[str | None]]]] = {}
    for number, key in zip(numbers.tolist(), keys.to_pylist(), strict=True):
        texts = _texts_of(key, fields)
        by_count.setdefault(len(texts), []).append((number, texts))
    return [
        HashedTexts(
            np.array([number for number, _ in rows]),
            tuple(pa.array(column, pa.string()) for column in zip(*(texts for _, texts in rows), strict=True)),
        )
        for rows in by_count.values()
    ]


def _texts_of(key: str, fields: Sequence[str]) -> list[str | None]:
    """The texts of one key; the whole key where it names none of the fields."""
    values: list[str | None] = []
    for name, value in _pairs(key):
        if name in fields:
            values.append(None if value == _NULL else "" if value == _EMPTY else value)
    return values or [key]


def _pairs(key: str) -> list[tuple[str, str]]:
    """The fields and values that a key is read as."""
    parts: list[str] = []
    for piece in key.split(","):
        if parts and not (":" in piece and ":" in parts[-1]):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    return [(part.partition(":")[0], part.partition(":")[2]) for part in parts]


def _mask(values: pa.Array) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = values.to_numpy(zero_copy_only=False)
    return mask


BUCKET_DIGITS: Final = 8
"""How many characters of a file id say its bucket."""
_FIELDS: Final = "hoodie.bucket.index.hash.field"
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
    shared = _SharedIds.of(state) if is_non_blocking(state.options) else None
    fields = hash_fields(state.configuration, state.options)
    _refuse_other_count(state, counts, fields)
    tagging = _BucketTagging(fields, counts, known, instant, shared)
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
class _BucketTagging:
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


Words = npt.NDArray[np.uint32]

_PRIMES: Final = tuple(np.uint32(prime) for prime in (2654435761, 2246822519, 3266489917, 668265263, 374761393))
_POSITIVE: Final = np.uint32(0x7FFFFFFF)
_STRIPE, _WORD = 16, 4


def ring_places(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """`hudi_format.hashing.bucket_hash` of each text of a column: from 0 to 2^31 - 1.

    Clauses: OW-034.
    """
    values = byte_texts(texts)
    places = np.zeros(len(values), np.int64)
    for numbers, matrix in values.same_lengths():
        places[numbers] = _hashed(matrix) & _POSITIVE
    return places


def _hashed(matrix: Units) -> Words:
    """xxHash32 with seed 0 of each line."""
    count, length = matrix.shape
    first, second, third, fourth, fifth = _PRIMES
    striped = length - length % _STRIPE
    value = _stripes(matrix[:, :striped]) if striped else np.full(count, fifth)
    value = value + np.uint32(length)
    worded = length - length % _WORD
    for word in _words(matrix[:, striped:worded]):
        value = _turned(value + word * third, 17) * fourth
    for at in range(worded, length):
        value = _turned(value + matrix[:, at].astype(np.uint32) * fifth, 11) * first
    value = (value ^ value >> np.uint32(15)) * second
    value = (value ^ value >> np.uint32(13)) * third
    return np.asarray(value ^ value >> np.uint32(16), np.uint32)


def _stripes(matrix: Units) -> Words:
    """The four lanes over the whole stripes of 16 bytes, as one."""
    first, second, *_ = _PRIMES
    zeros = np.zeros(len(matrix), np.uint32)
    lanes = [zeros + first + second, zeros + second, zeros, zeros - first]
    for number, word in enumerate(_words(matrix)):
        lane = number % len(lanes)
        lanes[lane] = _turned(lanes[lane] + word * second, 13) * first
    parts = [_turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)]
    return parts[0] + parts[1] + parts[2] + parts[3]


def _words(matrix: Units) -> list[Words]:
    """The columns of little-endian words of 32 bits."""
    if not matrix.shape[1]:
        return []
    words = np.ascontiguousarray(np.ascontiguousarray(matrix).view("<u4").T)
    return list(words.astype(np.uint32))


def _turned(value: Words, by: int) -> Words:
    turned: Words = value << np.uint32(by) | value >> np.uint32(32 - by)
    return turned


_FILE_ID_SUFFIX: Final = "-0"
_NULL_KEY: Final = "null"


def on_rings(keyed: Flow, state: WriterState, effects: Effects) -> Flow:
    """Rows with the file group that their partition's ring shows; one job, which states the partitions.

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
    tagging = _RingTagging(fields, rings, {group: one.base_instant for group, one in known.items()})
    return keyed.map(tagging, tagged_schema(keyed.schema))


def ring_to_use(partition: str, state: WriterState, effects: Effects) -> HashRing:
    """The ring of a partition; the first one is written where there is none, unless another writer was faster.

    Clauses: OW-034.
    """
    found = stored_ring(partition, state.storage, state.snapshot)
    if found is not None:
        return found
    ring = first_ring(partition, state.options.number(COUNT_KEY))
    path = _path(partition, RingFileName(FIRST_INSTANT, is_commit_sign=False))
    if not state.storage.exists(path):
        effects.put_index_file(path, serialise_hash_ring(ring))
    return parse_hash_ring(state.storage.read(path), path)


def _groups_of(ring: HashRing) -> list[str]:
    """The file ids of a ring's nodes, in their order."""
    return [f"{node.file_id_prefix}{_FILE_ID_SUFFIX}" for node in ring.nodes]


def _nodes(ring: HashRing, places: Hashes) -> Hashes:
    """The number of the node of each place on a ring: the first that is not before it; behind the last the first."""
    return np.searchsorted([node.value for node in ring.nodes], places, side="left") % len(ring.nodes)


def _refuse_replaced(rings: Mapping[str, HashRing], state: WriterState) -> None:
    """A partition that was deleted keeps its ring: rows that go where it leads would never be read.

    Clauses: OW-034.
    """
    replaced = replaced_groups(state.snapshot.commits)
    for partition, ring in rings.items():
        lost = [group for group in _groups_of(ring) if (partition, group) in replaced]
        if lost:
            message = (
                f"{len(lost)} file groups of the ring of partition {partition!r} were replaced when it was deleted"
            )
            hint = "write to it with another index until that deletion is archived"
            raise HudiError(Reason.CONFIG_INVALID, "OW-034", message, hint=hint)


def stored_ring(partition: str, storage: Storage, snapshot: Snapshot) -> HashRing | None:
    """The newest ring of a partition that holds, None where there is none.

    A resize holds when a sign beside it or in the data partition says so, when its action is completed, or when base
    files of its file groups are there: then its action is only too old for the timeline.

    Clauses: OW-034.
    """
    folder = joined(RINGS_FOLDER, partition)
    names = [name for name in _names(storage, folder) if not name.is_commit_sign]
    signs = {one.instant for one in _names(storage, folder) if one.is_commit_sign}
    signs |= {one.instant for one in _names(storage, partition) if one.is_commit_sign}
    held = _Held(signs, snapshot)
    for name in sorted(names, key=lambda one: one.instant, reverse=True):
        path = _path(partition, name)
        ring = parse_hash_ring(storage.read(path), path)
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
    """Whether the ring of an instant holds."""

    signs: Iterable[str]
    snapshot: Snapshot
    completed: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for one in self.snapshot.timeline.instants:
            (self.completed if one.is_completed else self.pending).add(one.requested)

    def holds(self, ring: HashRing, partition: str) -> bool:
        """Clauses: OW-034."""
        if ring.instant == FIRST_INSTANT or ring.instant in self.signs or ring.instant in self.completed:
            return True
        if ring.instant in self.pending:
            return False
        prefixes = {node.file_id_prefix for node in ring.nodes}
        return any(self._lies_in(one, partition, prefixes) for one in self.snapshot.slices)

    @staticmethod
    def _lies_in(one: FileSlice, partition: str, prefixes: set[str]) -> bool:
        return one.partition == partition and one.base_file is not None and one.file_id.rpartition("-")[0] in prefixes


@dataclass(frozen=True, slots=True)
class _RingTagging:
    """Tags rows by their keys alone."""

    fields: tuple[str, ...]
    rings: Mapping[str, HashRing]
    base_instants: Mapping[tuple[str, str], str]

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        del identity
        places = _places(rows.column(RECORD_KEY), self.fields)
        ids = np.empty(rows.num_rows, dtype=object)
        instants = np.empty(rows.num_rows, dtype=object)
        paths = rows.column(PARTITION_PATH)
        for partition in pc.unique(paths).to_pylist():
            there = pc.equal(paths, partition).to_numpy(zero_copy_only=False)
            ring = self.rings[partition]
            groups, nodes = _groups_of(ring), _nodes(ring, places[there])
            ids[there] = np.array(groups, dtype=object)[nodes]
            known = [self.base_instants.get((partition, group)) for group in groups]
            instants[there] = np.array(known, dtype=object)[nodes]
        count = rows.num_rows
        tags = [pa.array(ids, pa.string()), pa.array(instants, pa.string()), pa.nulls(count, pa.int64())]
        columns = [*rows.columns, *tags, pa.repeat(pa.scalar(value=False), count)]
        return pa.Table.from_arrays(columns, schema=tagged_schema(rows.schema))


def _places(keys: pa.Array | pa.ChunkedArray, fields: Sequence[str]) -> Hashes:
    """The place of each key on its ring."""
    places = np.zeros(len(keys), np.int64)
    for part in hashed_texts(keys, fields):
        places[part.numbers] = ring_places(_joined_texts(part))
    return places


def _joined_texts(part: HashedTexts) -> pa.Array:
    """The texts of each key one behind the other, a null as its name in Java."""
    texts = [pc.fill_null(column, _NULL_KEY) for column in part.columns]
    return one_chunk(texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, ""))


@dataclass(frozen=True, slots=True)
class KeptBuckets:
    """What a table itself keeps of where keys belong: the rings of its partitions, and rules of buckets.

    Clauses: OW-034, OW-036.
    """

    rings: Mapping[str, HashRing]
    counts: BucketCounts | None

    @staticmethod
    def are_there(storage: Storage) -> bool:
        """Whether a table keeps either."""
        return any(storage.list_files(folder) for folder in (RINGS_FOLDER, RULES_FOLDER))

    @staticmethod
    def of(storage: Storage, snapshot: Snapshot) -> "KeptBuckets":
        """What is kept for the partitions of a snapshot.

        Raises:
            HudiError: CONFIG_INVALID and PROPERTIES_INVALID for rules that do not parse.
            FormatError: PROPERTIES_INVALID for a ring that is none.

        """
        partitions = {one.partition for one in snapshot.slices} if storage.list_files(RINGS_FOLDER) else set()
        found = {one: stored_ring(one, storage, snapshot) for one in sorted(partitions)}
        rings = {partition: ring for partition, ring in found.items() if ring is not None}
        return KeptBuckets(rings, kept_counts(storage, snapshot.timeline))

    def outside(self, partition: str, file_ids: pa.Array) -> pa.Array:
        """Which file groups their partition's ring lacks: writers that use it do not look there."""
        ring = self.rings.get(partition)
        if ring is None:
            return pa.repeat(pa.scalar(value=False), len(file_ids))
        return pc.invert(pc.is_in(file_ids, pa.array(_groups_of(ring), pa.string())))

    def misplaced(self, partition: str, keys: pa.Array, file_ids: pa.Array, fields: Sequence[str]) -> pa.Array:
        """Which keys lie in a file group of the ring, or a bucket, that belongs to others."""
        ring = self.rings.get(partition)
        if ring is not None:
            owners = np.array(_groups_of(ring), dtype=object)[_nodes(ring, _places(keys, fields))]
            elsewhere = pc.not_equal(pa.array(owners, pa.string()), file_ids)
            return pc.and_not(elsewhere, self.outside(partition, file_ids))
        if self.counts is None:
            return pa.repeat(pa.scalar(value=False), len(keys))
        digits = pc.utf8_slice_codeunits(file_ids, 0, BUCKET_DIGITS)
        buckets = bucket_hashes(keys, fields) % self.counts.of(partition)
        owners = pa.array([f"{bucket:0{BUCKET_DIGITS}d}" for bucket in buckets.tolist()], pa.string())
        return pc.and_(pc.match_substring_regex(digits, f"^{_NUMBER.pattern}$"), pc.not_equal(owners, digits))
