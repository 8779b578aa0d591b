"""Tagging: which file group each row of a write goes to, looked up in an index as of the write's snapshot.

A bucket index looks nothing up: the hash of a key states its bucket, by a number of buckets or a partition's ring.
"""

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from hashlib import md5
from itertools import pairwise
from typing import TypeAlias

from hudi_model.actions import Action, State
from hudi_model.effects import SHARED_TAIL, new_file_id
from hudi_model.files import Damaged, GroupId, Record, valid_records
from hudi_model.keys import java_hash, key_of
from hudi_model.merge_modes import table_rule
from hudi_model.merge_rules import (
    LATEST,
    MergeMode,
    MergeRule,
    PartialUpdate,
    Version,
    version_of_record,
    version_of_row,
)
from hudi_model.merging import fold, merge
from hudi_model.partitions import key_generator, own_path, record_key
from hudi_model.reading import base_rows, read_slice
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import ADDS, REPLACES, Operation, Write, number, setting, switch
from hudi_model.retention import groups_of
from hudi_model.schemas import table_schema
from hudi_model.slicing import group_of, present_groups, snapshot_slices
from hudi_model.tables import RELEASED, BucketRules, HashRing, Reading, Readings, View, replaced_groups
from hudi_model.time import InstantTime

RECORD_INDEXES = ("RECORD_INDEX", "GLOBAL_RECORD_LEVEL_INDEX", "RECORD_LEVEL_INDEX")
LOOKED_UP = ("SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", *RECORD_INDEXES)
RING, BUCKETED = "CONSISTENT_HASHING", ("BUCKET", "CONSISTENT_HASHING")
"""The kind of index whose buckets split and merge, and all kinds that hash keys."""
NON_BLOCKING = "NON_BLOCKING_CONCURRENCY_CONTROL"
FIRST_RING, GREATEST_HASH, WORD = InstantTime("00000000000000"), 0x7FFFFFFF, 0xFFFFFFFF
PARTS: Mapping[str, str | None] = {"__null__": None, "__empty__": ""}
"""What stands in a composite key for no text (OW-022)."""
XX_PRIMES = 2654435761, 2246822519, 3266489917, 668265263, 374761393

Incoming: TypeAlias = tuple[str, Version]
"""A row to write, as a version of its key, and the partition it requests."""

Tag: TypeAlias = tuple[GroupId, Version]
"""A version of a key, and the file group that it goes to."""

Place: TypeAlias = tuple[GroupId, Record | None]
"""A file group that has a key, and its row there, unless a log deleted it."""

Known: TypeAlias = defaultdict[tuple[str, str], dict[GroupId, Record | None]]
"""The places of every key, by what has one file group (`place_of`)."""

NOWHERE = (None,)
"""Of a new key: one place that is none."""


def index_kind(settings: Mapping[str, str]) -> str:
    """The kind of index that a writer looks keys up in.

    Raises: CONFIG_INVALID.

    Clauses: OW-020.
    """
    kind, engine = (setting(settings, f"hoodie.index.{name}").upper() for name in ("type", "bucket.engine"))
    if kind not in (*LOOKED_UP, "BUCKET") or engine not in ("SIMPLE", RING):
        raise Rejection(Reason.CONFIG_INVALID, "OW-020", "hoodie.index", f"{kind!r}, {engine!r} is no kind of index")
    return RING if (kind, engine) == ("BUCKET", RING) else kind


def place_of(partition: str, key: str, kind: str) -> tuple[str, str]:
    """What has one file group: a key in its partition, or a key in the whole table where the index is global.

    Clauses: OW-020, OW-021.
    """
    return ("" if kind.startswith("GLOBAL_") or kind == "RECORD_INDEX" else partition), key


def tagged(view: View, write: Write) -> tuple[Tag, ...]:
    """The rows of a write, each with its file group.

    Raises: KEY_MISSING, CONFIG_INVALID.

    Clauses: OW-003, OW-012, OW-020, OW-022.
    """
    kind, rows = index_kind(write.request.settings), incoming(view, write)
    refuse_unclear(view, write)
    if kind in BUCKETED:
        group = bucket_group if kind == "BUCKET" else ring_group
        return tuple((group(view, write, place, version.key), version) for place, version in rows)
    if write.request.operation in ADDS:
        return tuple((insert_group(view, write, place), version) for place, version in rows)
    known = known_rows(view, kind)
    found = ((row, known.get(place_of(row[0], row[1].key, kind), NOWHERE)) for row in rows)
    return tuple(tag for row, places in found for there in places for tag in tags_of(view, write, row, there))


def incoming(view: View, write: Write) -> tuple[Incoming, ...]:
    """The rows of a request as versions; one for each key where the operation combines before it writes.

    Clauses: MG-005, MG-008, OW-013, OW-019.
    """
    configuration, operation, kind = view.configuration, write.request.operation, index_kind(write.request.settings)
    same, rule = dict[object, list[Incoming]](), table_rule(view)
    phase = "insert" if operation in ADDS else "delete" if operation is Operation.DELETE else "upsert"
    combines = switch(write.request.settings, f"hoodie.combine.before.{phase}")
    for place, row in enumerate(write.request.rows):
        key, partition = key_to_write(view, write, row, place), own_path(row, configuration)
        version = version_of_record(row, key, rule, partial=operation is Operation.PARTIAL_UPDATE)
        version = Version(key, None, None) if operation is Operation.DELETE else version
        same.setdefault(place_of(partition, key, kind) if combines else place, []).append((partition, version))
    return tuple(combined(view, many) for many in same.values())


def key_to_write(view: View, write: Write, row: Record, place: int) -> str:
    """The key of a row of a request; without key fields each new row gets one, and rows that change bring theirs.

    Raises: KEY_MISSING.

    Clauses: DM-001, DM-030.
    """
    if view.configuration.record_key:
        return record_key(row, view.configuration)
    if write.request.operation in ADDS:
        return f"{write.requested}_0_{place}"
    if not row.values.get("_hoodie_record_key"):
        raise Rejection(Reason.KEY_MISSING, "DM-001", "a row to write", "the table made its keys, and the row has none")
    return str(row.values["_hoodie_record_key"])


def refuse_unclear(view: View, write: Write) -> None:
    """Nothing, unless a partial update states no partition, or the table's keys do not name their field as new ones do.

    Raises: CONFIG_INVALID.

    Clauses: DM-030, OW-025.
    """
    configuration, operation = view.configuration, write.request.operation
    for row in write.request.rows if operation is Operation.PARTIAL_UPDATE else ():
        if not row.values.keys() >= {*configuration.partition_by}:
            raise Rejection(Reason.CONFIG_INVALID, "OW-025", "a row to write", "it does not tell its partition")
    mark = "".join(configuration.record_key[:1]) + ":"
    keys = (record_key(one, configuration) for one in write.request.rows)
    if key_generator(configuration) == "COMPLEX" and all(key.startswith(mark) for key in keys):
        rows = (row for one in snapshot_slices(view) for row in read_slice(view, one, table_schema(view)))
        if not all(key_of(row, configuration, "").startswith(mark) for row in rows):
            raise Rejection(Reason.CONFIG_INVALID, "DM-030", mark, "keys of the table do not name their field")


def combined(view: View, many: list[Incoming]) -> Incoming:
    """What is left of several rows of one key: their merge, in the partition of the row that won.

    Clauses: OW-019.
    """
    winner = precombine(table_rule(view), (version for _, version in many))[0]
    return next((partition for partition, version in many if version is winner), many[-1][0]), winner


def known_rows(view: View, kind: str) -> dict[tuple[str, str], Sequence[Place]]:
    """The file groups of every key there is, with its row: several where inserts left it; a record index has one.

    A key deleted in a log stays where its base row is, unless it lives elsewhere by now.

    Clauses: DM-001, OW-003, OW-020.
    """
    schema = table_schema(view)
    gone, alive = Known(dict), Known(dict)
    for one in snapshot_slices(view):
        for row in base_rows(view, one, schema):
            gone[place_of(one.partition, key_of(row, view.configuration, one.file_id), kind)][group_of(one)] = None
        for row in read_slice(view, one, schema):
            alive[place_of(one.partition, key_of(row, view.configuration, one.file_id), kind)][group_of(one)] = row
    last = -1 if "RECORD" in kind else 0
    return {place: tuple(found.items())[last:] for place, found in {**gone, **alive}.items()}


def tags_of(view: View, write: Write, row: Incoming, there: Place | None) -> Iterator[Tag]:
    """A row's tag; two where it wins and leaves its old partition: a delete in the old group, an insert in a new one.

    Clauses: OW-012, OW-021, OW-024.
    """
    (partition, version), rule = row, table_rule(view)
    group, old = there or (insert_group(view, write, partition), None)
    kind = index_kind(write.request.settings).removeprefix("GLOBAL_").partition("_")[0].lower()
    stays = group[0] == partition or version.is_delete
    if stays or not switch(write.request.settings, f"hoodie.{kind}.index.update.partition.path"):
        yield group, version
        return
    merged = merge(rule, version_of_row(old, version.key, rule), version) if old else version
    if old is None or merged.record is not old:
        yield group, Version(version.key, None, None)
        yield insert_group(view, write, partition), merged


def committed_groups(view: View) -> tuple[GroupId, ...]:
    """The file groups that hold something committed; what failed attempts left is none.

    Clauses: OW-003, OW-023.
    """
    return tuple(group_of(one) for one in present_groups(view) if one.slices)


def insert_group(view: View, write: Write, partition: str) -> GroupId:
    """The file group for new keys of a partition: a new one, or, where small files are filled up, one that is there.

    Clauses: OW-012, OW-028.
    """
    fills = number(write.request.settings, "hoodie.parquet.small.file.limit") > 0
    there = [one for one in groups_with_room(view) if fills and one[0] == partition]
    if there and write.request.operation not in {*REPLACES, Operation.BULK_INSERT}:
        return there[0]
    return partition, new_file_id(write.requested, partition)


def groups_with_room(view: View) -> tuple[GroupId, ...]:
    """The file groups that may take new keys: those without logs, which nothing that waits is to replace.

    Clauses: OW-011, OW-012.
    """
    logged = {group_of(one) for one in snapshot_slices(view) if one.log_files}
    kind = Action.CLUSTERING, Action.REPLACE_COMMIT
    waits = {one.requested for one in view.timeline.instants if one.state is not State.COMPLETED and one.action in kind}
    held = {group for one in view.timeline.entries if one.requested in waits for group in groups_of(one.content)}
    return tuple(one for one in committed_groups(view) if one not in logged | held)


def bucket_group(view: View, write: Write, partition: str, key: str) -> GroupId:
    """The file group of a key's bucket: the one whose file id begins with the bucket's number, or a new one.

    Raises: CONFIG_INVALID.

    Clauses: OW-022, OW-023, SW-002.
    """
    settings = write.request.settings
    values = hashed_texts(key, hash_fields(view, write))
    prefix = f"{bucket_of(values, bucket_count(rules_of(view, settings), partition)):08d}"
    there = [one for one in committed_groups(view) if one[0] == partition and one[1][:8] == prefix]
    if there and write.request.operation not in REPLACES:
        return there[0]
    shared = setting(settings, "hoodie.write.concurrency.mode").upper() == NON_BLOCKING
    return partition, shared_file_id(view, partition, prefix) if shared else (
        prefix + new_file_id(write.requested, partition, prefix)[8:]
    )


def shared_file_id(view: View, partition: str, prefix: str) -> str:
    """The file id of a bucket that all writers open alike: its last number follows those that were replaced.

    Clauses: SW-002.
    """
    named = (file_id for place, file_id in replaced_groups(view) if place == partition)
    ends = (file_id.removeprefix(prefix + SHARED_TAIL) for file_id in named if file_id.startswith(prefix))
    return f"{prefix}{SHARED_TAIL}{max((int(end) for end in ends if end.isdecimal()), default=-1) + 1}"


def rules_of(view: View, settings: Mapping[str, str]) -> BucketRules:
    """How many buckets partitions have: as the table keeps it, else as the writer says.

    Raises: CONFIG_INVALID, PROPERTIES_INVALID.

    Clauses: OW-022, OW-036.
    """
    if kept := kept_rules(view):
        return kept
    expressions, kind = (
        setting(settings, f"hoodie.bucket.index.partition.{name}") for name in ("expressions", "rule.type")
    )
    return BucketRules(number(settings, "hoodie.bucket.index.num.buckets"), expressions, kind)


def kept_rules(view: View) -> BucketRules | None:
    """The newest rules that the table keeps and that no pending action is about to make.

    Raises: PROPERTIES_INVALID.

    Clauses: OW-036.
    """
    pending = {one.requested for one in view.timeline.instants if one.state is not State.COMPLETED}
    for one in view.table.state.bucket_rules:
        if isinstance(one, Damaged):
            raise one.refusal()
    kept = (one for one in view.table.state.bucket_rules if isinstance(one, BucketRules) and one.instant not in pending)
    return max(kept, key=lambda one: one.instant or "", default=None)


def bucket_count(rules: BucketRules, partition: str) -> int:
    """The number of buckets of a partition: that of the first pattern which is found in its path, else the default.

    Raises: CONFIG_INVALID for rules that do not parse, or that leave no bucket.

    Clauses: OW-036.
    """
    counts, name = [rules.default], "hoodie.bucket.index.partition.expressions"
    try:
        parts = [one.partition(",") for one in rules.expressions.rstrip(";").split(";") if rules.expressions]
        found = [(re.compile(pattern.strip(), re.ASCII), int(count)) for pattern, _, count in parts]
    except (re.error, ValueError) as error:
        raise Rejection(Reason.CONFIG_INVALID, "OW-036", name, str(error)) from error
    counts += [count for _, count in found]
    if rules.kind.lower() != "regex" or min(counts) < 1:
        raise Rejection(Reason.CONFIG_INVALID, "OW-036", name, f"{rules.kind!r} with {counts} are no rules of buckets")
    return next((count for pattern, count in found if pattern.search(partition)), rules.default)


def ring_group(view: View, write: Write, partition: str, key: str) -> GroupId:
    """The file group that the ring of a partition has for a key.

    Raises: CONFIG_INVALID for a copy-on-write table, for an overwrite, and where the partition was deleted since the
    ring was made; PROPERTIES_INVALID.

    Clauses: OW-034.
    """
    ring = ring_of(view, partition) or first_ring(
        partition, number(write.request.settings, "hoodie.bucket.index.num.buckets")
    )
    lost = replaced_groups(view) & {(partition, one) for one in groups_of_ring(ring)}
    if lost or not view.configuration.merge_on_read or write.request.operation in REPLACES:
        detail = f"it goes with no overwrite, and with no deleted partition: {sorted(lost)}"
        raise Rejection(Reason.CONFIG_INVALID, "OW-034", RING, detail)
    return partition, group_of_hash(ring, ring_hash(hashed_texts(key, hash_fields(view, write))))


def first_rings(view: View, write: Write) -> tuple[HashRing, ...]:
    """The rings of partitions that have none yet, which a writer makes before it writes to them.

    Clauses: OW-034.
    """
    settings = write.request.settings
    if index_kind(settings) != RING:
        return ()
    partitions = sorted({own_path(row, view.configuration) for row in write.request.rows})
    new = (one for one in partitions if ring_of(view, one) is None)
    return tuple(first_ring(one, number(settings, "hoodie.bucket.index.num.buckets")) for one in new)


def first_ring(partition: str, buckets: int) -> HashRing:
    """The ring of a new partition, the same for every writer: equal parts, and file ids that follow from their bounds.

    Clauses: OW-034.
    """
    step = -(-GREATEST_HASH // buckets)
    ends = [min(step * number, GREATEST_HASH) for number in range(buckets + 1)]
    names = (b"".join(end.to_bytes(8, "big") for end in pair) + partition.encode() for pair in pairwise(ends))
    prefixes = (str(uuid.UUID(bytes=md5(name, usedforsecurity=False).digest(), version=3)) for name in names)
    return HashRing(partition, FIRST_RING, tuple(zip(ends[1:], prefixes, strict=True)))


def ring_of(view: View, partition: str) -> HashRing | None:
    """The newest ring of a partition that holds; a pending resize changes nothing yet.

    Raises: PROPERTIES_INVALID.

    Clauses: OW-034.
    """
    own = (one for one in view.table.state.rings if one.partition == partition)
    for ring in sorted(own, key=lambda one: one.instant, reverse=True):
        valid_records(ring.nodes)
        if holds(view, ring):
            return ring
    return None


def holds(view: View, ring: HashRing) -> bool:
    """Whether a ring is the first, or its resize has completed: by a sign, by the timeline, or by what it left there.

    Clauses: OW-034.
    """
    states = {one.state for one in view.timeline.instants if one.requested == ring.instant}
    if states or ring.is_signed or ring.instant == FIRST_RING:
        return ring.is_signed or ring.instant == FIRST_RING or State.COMPLETED in states
    bases = {one.file_id for one in snapshot_slices(view) if one.partition == ring.partition and one.base_file}
    return bool(bases & {*groups_of_ring(ring)})


def groups_of_ring(ring: HashRing) -> tuple[str, ...]:
    """The file ids of a ring's file groups.

    Clauses: OW-034.
    """
    return tuple(f"{prefix}-0" for _, prefix in valid_records(ring.nodes))


def group_of_hash(ring: HashRing, place: int) -> str:
    """The file id of the first node whose value is not less than a hash; behind the last the first follows again.

    Clauses: OW-034.
    """
    _, prefix = min(valid_records(ring.nodes), key=lambda node: (node[0] < place, node[0]))
    return f"{prefix}-0"


def ring_hash(texts: Iterable[str | None]) -> int:
    """The place of a key on a ring: the hash of its texts one behind the other, null as its word, without sign.

    Clauses: OW-034.
    """
    return xx_hash("".join("null" if one is None else one for one in texts).encode()) & GREATEST_HASH


def xx_hash(data: bytes) -> int:
    """xxHash32 with seed 0."""
    first, second, third, fourth, fifth = XX_PRIMES
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data) - 3, 4)]
    lanes = [first + second, second, 0, -first]
    striped = len(words) - len(words) % 4
    for at, word in enumerate(words[:striped]):
        lanes[at % 4] = turned(lanes[at % 4] + word * second, 13) * first
    total = sum(turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) if striped else fifth
    total = reduce(lambda value, word: turned(value + word * third, 17) * fourth, words[striped:], total + len(data))
    rest = data[4 * len(words) :]
    total = reduce(lambda value, byte: turned(value + byte * fifth, 11) * first, rest, total) & WORD
    total = (total ^ total >> 15) * second & WORD
    total = (total ^ total >> 13) * third & WORD
    return total ^ total >> 16


def turned(value: int, by: int) -> int:
    """The 32 bits of a number turned to the left."""
    return (value & WORD) << by & WORD | (value & WORD) >> 32 - by


def hash_fields(view: View, write: Write) -> tuple[str, ...]:
    """The key fields whose values are hashed: those that the setting names, else all.

    Raises: CONFIG_INVALID where the setting names another column, or the table has no key fields.

    Clauses: OW-022.
    """
    name, fields = "hoodie.bucket.index.hash.field", view.configuration.record_key
    named = tuple(one for one in setting(write.request.settings, name).split(",") if one)
    if not fields or not {*named} <= {*fields}:
        raise Rejection(Reason.CONFIG_INVALID, "OW-022", name, f"{named} are not among the key fields {fields}")
    return named or fields


def hashed_texts(key: str, fields: Iterable[str]) -> tuple[str | None, ...]:
    """The texts of a key that its bucket is the hash of: the values of the hash fields, in the order of the key.

    A field begins behind a comma that is followed by a colon, with no comma between, once the field before it has had
    its colon. A key without comma or without colon, or in which no hash field is found, is hashed whole.

    Clauses: OW-022.
    """
    parts, wanted = list[str](), {*fields}
    for piece in key.split(","):
        if parts and not (":" in piece and ":" in parts[-1]):
            parts[-1] += f",{piece}"
        else:
            parts.append(piece)
    pairs = [part.partition(":") for part in parts] if "," in key else []
    found = [value for name, colon, value in pairs if colon and name in wanted]
    return tuple(PARTS.get(one, one) for one in found) or (key,)


def bucket_of(values: Iterable[str | None], buckets: int) -> int:
    """The bucket of a key: the hash of a Java list of texts over their UTF-16 units, without its sign; null as none.

    Clauses: OW-022.
    """
    total = 1
    for value in values:
        total = 31 * total + java_hash(value or "") & WORD
    return (total & 0x7FFFFFFF) % buckets


def precombine(rule: MergeRule, incoming: Iterable[Version], readings: Readings = RELEASED) -> tuple[Version, ...]:
    """One version a key of those that a write brings, in the order in which the keys came.

    Clauses: MG-017.
    """
    return tuple(fold(precombine_rule(rule, readings), incoming).values())


def precombine_rule(rule: MergeRule, readings: Readings) -> MergeRule:
    """The rule by which a write combines its own rows: the table's.

    Before version 9 most payloads take the whole row with the greatest ordering value here, even those that merge
    otherwise; in the text `OverwriteWithLatestAvroPayload` does too.

    Clauses: MG-017, PL-002, PL-009.
    """
    fills_both_ways = (
        rule.partial_update is PartialUpdate.IGNORE_DEFAULTS and rule.mode is not MergeMode.COMMIT_TIME_ORDERING
    )
    by_arrival = rule.payload == LATEST and readings.overwriting_precombine is Reading.RELEASED
    if not rule.payload or fills_both_ways or by_arrival:
        return rule
    return replace(rule, mode=MergeMode.EVENT_TIME_ORDERING, partial_update=PartialUpdate.NONE)
