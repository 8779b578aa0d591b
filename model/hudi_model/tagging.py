"""Tagging: which file group each row of a write goes to, looked up in an index as of the write's snapshot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_model.configuration import Configuration
from hudi_model.files import FileGroup, FileSlice, GroupId
from hudi_model.keys import key_of
from hudi_model.names import new_file_id
from hudi_model.reading import base_rows, read_slice
from hudi_model.records import Record
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.schemas import table_schema
from hudi_model.settings import concurrency_mode, number, setting, switch
from hudi_model.slicing import group_of, present_groups, snapshot_slices
from hudi_model.time import InstantTime
from hudi_model.views import View

INDEX_KINDS = (
    "SIMPLE",
    "GLOBAL_SIMPLE",
    "BLOOM",
    "GLOBAL_BLOOM",
    "BUCKET",
    "RECORD_INDEX",
    "GLOBAL_RECORD_LEVEL_INDEX",
)
GREATEST_INTEGER = 0x7FFFFFFF
SHARED_TAIL = "-0000-0000-0000-000000000000-0"
"""The rest of a bucket's file id where writers do not wait for each other: both open the same group."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A row to write: its key, the partition it asks for, its values."""

    key: str
    partition: str
    record: Record


@dataclass(frozen=True, slots=True)
class Tag:
    """Where a row goes. `known` where its key is there already; new file groups are named before they exist."""

    row: Incoming
    group: GroupId
    known: bool


def index_kind(settings: Mapping[str, str]) -> str:
    """The kind of index a writer looks keys up in.

    Raises: CONFIG_INVALID; unsupported `consistent-hashing`.

    Clauses: OW-010.
    """
    kind = setting(settings, "hoodie.index.type").upper()
    if kind not in INDEX_KINDS:
        raise Rejection(Reason.CONFIG_INVALID, "OW-010", "hoodie.index.type", f"{kind!r} is no kind of index")
    if kind == "BUCKET" and setting(settings, "hoodie.index.bucket.engine") != "SIMPLE":
        raise Unsupported("consistent-hashing")
    return kind


def is_global(kind: str) -> bool:
    """Whether a key has one file group in the whole table; else one in each partition.

    Clauses: OW-011.
    """
    return kind.startswith("GLOBAL_") or kind == "RECORD_INDEX"


def known_groups(view: View) -> dict[tuple[str, str], GroupId]:
    """The file group of each partition and key that the view holds.

    Deleted keys whose row is still in a base file stay with their file group.

    Clauses: OW-010.
    """
    schema = table_schema(view)
    found: dict[tuple[str, str], GroupId] = {}
    for one in snapshot_slices(view):
        for row in (*base_rows(one, schema), *(read_slice(view, one, schema) if one.log_files else ())):
            found[one.partition, key_of(row, view.configuration, one.file_id)] = (one.partition, one.file_id)
    return found


def tag(view: View, rows: Iterable[Incoming], requested: InstantTime, settings: Mapping[str, str]) -> tuple[Tag, ...]:
    """Where each row goes.

    Clauses: OW-010, OW-011.
    """
    kind = index_kind(settings)
    if kind == "BUCKET":
        return tuple(tag_by_bucket(view, row, requested, settings) for row in rows)
    known = known_groups(view)
    if is_global(kind):
        known = {("", key): group for (_, key), group in known.items()}
    return tuple(
        Tag(row, known.get(place, new_group(requested, row.partition)), place in known)
        for row in rows
        for place in (("" if is_global(kind) else row.partition, row.key),)
    )


def new_group(requested: InstantTime, partition: str) -> GroupId:
    """The file group that a write opens in a partition.

    Clauses: OW-012.
    """
    return partition, new_file_id(requested, partition)


def bucket_of(values: Iterable[str], buckets: int) -> int:
    """The bucket of a key: the hash of a Java list of texts, without its sign, over the number of buckets.

    Clauses: OW-013.
    """
    found = 1
    for value in values:
        found = (31 * found + text_hash(value)) & 0xFFFFFFFF
    return (found & GREATEST_INTEGER) % buckets


def text_hash(text: str) -> int:
    """The hash of a Java text: over its UTF-16 units, in 32 bits.

    Clauses: OW-013.
    """
    units = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        found = (31 * found + (high << 8 | low)) & 0xFFFFFFFF
    return found


def hash_values(row: Incoming, configuration: Configuration, settings: Mapping[str, str]) -> tuple[str, ...]:
    """What of a row is hashed: the fields that the setting names, by their part of a composite key, or the whole key.

    Clauses: OW-013.
    """
    stated = setting(settings, "hoodie.bucket.index.hash.field").split(",")
    fields = tuple(name for name in stated if name) or configuration.record_key
    if len(configuration.record_key) < 2:
        return (row.key,)
    parts = dict(part.split(":", 1) for part in row.key.split(",") if ":" in part)
    return tuple(parts[name] for name in fields)


def tag_by_bucket(view: View, row: Incoming, requested: InstantTime, settings: Mapping[str, str]) -> Tag:
    """A row's place by its bucket: the group of the partition that bears the bucket's number, or a new one.

    Clauses: OW-013, OW-014, SW-002.
    """
    buckets = number(settings, "hoodie.bucket.index.num.buckets")
    prefix = f"{bucket_of(hash_values(row, view.configuration, settings), buckets):08d}"
    there = [group_of(one) for one in present_groups(view) if is_bucket(one, row.partition, prefix)]
    if there:
        return Tag(row, there[0], known=True)
    shared = concurrency_mode(settings) == "NON_BLOCKING_CONCURRENCY_CONTROL"
    tail = SHARED_TAIL if shared else new_file_id(requested, row.partition, prefix)[8:]
    return Tag(row, (row.partition, prefix + tail), known=False)


def is_bucket(group: FileGroup | FileSlice, partition: str, prefix: str) -> bool:
    """Whether a group is the one of this bucket: the first eight characters of its file id tell.

    Clauses: OW-014.
    """
    return group.partition == partition and group.file_id.startswith(prefix)


def moves(kind: str, settings: Mapping[str, str]) -> bool:
    """Whether a row whose partition has changed leaves its old one; else it is updated where it is.

    Clauses: OW-015.
    """
    name = {"SIMPLE": "simple", "BLOOM": "bloom"}.get(kind.removeprefix("GLOBAL_"), "record")
    return switch(settings, f"hoodie.{name}.index.update.partition.path")
