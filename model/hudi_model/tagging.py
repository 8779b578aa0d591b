"""Tagging: which file group each row of a write goes to, looked up in an index as of the write's snapshot."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from hudi_model.effects import new_file_id
from hudi_model.files import GroupId, Record
from hudi_model.keys import key_of
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
from hudi_model.schemas import table_schema
from hudi_model.slicing import group_of, present_groups, snapshot_slices
from hudi_model.tables import RELEASED, Reading, Readings, View, replaced_groups

LOOKED_UP = ("SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", "RECORD_INDEX", "GLOBAL_RECORD_LEVEL_INDEX")
NON_BLOCKING = "NON_BLOCKING_CONCURRENCY_CONTROL"
SHARED_TAIL = "-0000-0000-0000-000000000000-"
"""What follows the bucket in a file id, before its last number, where writers do not wait for each other."""

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
    kind = setting(settings, "hoodie.index.type").upper()
    if kind not in (*LOOKED_UP, "BUCKET"):
        raise Rejection(Reason.CONFIG_INVALID, "OW-020", "hoodie.index.type", f"{kind!r} is no kind of index")
    return kind


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
    if kind == "BUCKET":
        return tuple((bucket_group(view, write, place, version.key), version) for place, version in rows)
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
    """The file groups that may take new keys: those without logs.

    Clauses: OW-012.
    """
    logged = {group_of(one) for one in snapshot_slices(view) if one.log_files}
    return tuple(one for one in committed_groups(view) if one not in logged)


def bucket_group(view: View, write: Write, partition: str, key: str) -> GroupId:
    """The file group of a key's bucket: the one whose file id begins with the bucket's number, or a new one.

    Raises: CONFIG_INVALID.

    Clauses: OW-022, OW-023, SW-002.
    """
    settings = write.request.settings
    values = hashed_texts(key, hash_fields(view, write))
    prefix = f"{bucket_of(values, number(settings, 'hoodie.bucket.index.num.buckets')):08d}"
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


def hashed_texts(key: str, fields: Iterable[str]) -> tuple[str, ...]:
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
    return tuple(map(part_text, found)) or (key,)


def part_text(part: str) -> str:
    """The text that a part of a composite key stands for; null, which Java hashes like the empty text, as that.

    Clauses: OW-022.
    """
    return "" if part in ("__null__", "__empty__") else part


def bucket_of(values: Iterable[str], buckets: int) -> int:
    """The bucket of a key: the hash of a Java list of texts over their UTF-16 units, without its sign.

    Clauses: OW-022.
    """
    total = 1
    for value in values:
        units, found = value.encode("utf-16-be", "surrogatepass"), 0
        for high, low in zip(units[::2], units[1::2], strict=True):
            found = 31 * found + (high << 8 | low) & 0xFFFFFFFF
        total = 31 * total + found & 0xFFFFFFFF
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
