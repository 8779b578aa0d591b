"""What files hold: values, records, deletes and schemas; base files, logs and their blocks, slices and groups."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias, TypeVar

from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.time import InstantTime

Value: TypeAlias = (
    bool
    | int
    | float
    | Decimal
    | str
    | bytes
    | dt.date
    | dt.time
    | dt.datetime
    | list["Value"]
    | dict[str, "Value"]
    | None
)
"""A logical value. A struct and a map are both a dict; an instant is an aware datetime, a local one a naive."""

Ordering: TypeAlias = Value | tuple[Value, ...]
"""What decides between two versions of a record; a tuple where the table has several ordering fields."""


@dataclass(frozen=True, slots=True)
class Record:
    """One version of a row, meta fields among its values."""

    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Delete:
    """A tombstone. The integer 0 as ordering stands for no ordering value, unless it is configured as a value."""

    key: str
    partition: str | None
    ordering: Ordering
    zero_is_value: bool = False
    """The zero is stored in the type of a long or another field, not as the plain integer that stands for none."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, its logical type's name, and the default that a schema may name for it."""

    name: str
    type: str
    default: Value = field(default=None, compare=False)
    id: int | None = field(default=None, compare=False)
    """What a column keeps when its name, its type or its place changes, where the table gives its columns ids."""
    parts: tuple["Field", ...] = field(default=(), compare=False)
    """The fields of a struct; the element of a list, or the value of a map, as a single one."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table or a block, meta fields left out."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """Columns with ids, from the commit on whose instant is the number; 0 for the first. `highest` of all ids given."""

    number: int
    schema: Schema
    highest: int = 0


@dataclass(frozen=True, slots=True)
class Damaged:
    """Stands where content could not be decoded; reading it raises the rejection it describes."""

    reason: Reason
    clause: str
    where: str
    detail: str
    offset: int | None = None

    def refusal(self) -> Rejection:
        """What reading it raises."""
        return Rejection(self.reason, self.clause, self.where, self.detail)


@dataclass(frozen=True, slots=True)
class UnsupportedContent:
    """Stands where content is sound but of a kind that is not decoded yet."""

    feature: str
    where: str


Records: TypeAlias = tuple[Record, ...] | Damaged | UnsupportedContent
Item = TypeVar("Item")
Deletes: TypeAlias = tuple[Delete, ...] | Damaged | UnsupportedContent

NATIVE_LOG = re.compile(r"[^._/]+_\d+-\d+-\d+_(?P<instant>\d+)_\d+\.(log|deletes|cdc)\.[^./]+", re.ASCII)
"""[Draft, v10] What logs are called that are files of their own."""

META_FIELDS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
"""The five columns that every stored row has before its own.

Clauses: MF-001, MF-010.
"""


HIDDEN = frozenset({*META_FIELDS, "_hoodie_operation"})
"""What a stored schema may name and a table's own columns do not have."""


def value_at(values: Mapping[str, Value], name: str) -> Value:
    """The value of a column, or of the field of a struct that a name with points leads to.

    Clauses: DM-002, DM-031, MG-007.
    """
    column, _, inner = name.partition(".")
    if name in values or not inner:
        return values.get(name)
    whole = values.get(column)
    return value_at(whole, inner) if isinstance(whole, dict) else None


def source_of(field: Field, stored: tuple[Field, ...]) -> Field | None:
    """The stored column that a column of the table is: the one of its id where columns have ids, else of its name.

    Clauses: DM-004, DM-021.
    """
    by_id = field.id is not None and any(one.id is not None for one in stored)
    same = (one for one in stored if (one.id == field.id if by_id else one.name == field.name))
    return next(same, None)


def valid_records(records: tuple[Item, ...] | Damaged | UnsupportedContent) -> tuple[Item, ...]:
    """The records of a base file or a data block, the changes of a change log, or the blocks of a log file.

    Raises: what the damage says; unsupported what cannot be decoded yet.
    """
    if isinstance(records, Damaged):
        raise records.refusal()
    if isinstance(records, UnsupportedContent):
        raise Unsupported(records.feature)
    return records


def valid_deletes(deletes: Deletes) -> tuple[Delete, ...]:
    """The tombstones of a delete block.

    Raises: what the damage says; unsupported what cannot be decoded yet.
    """
    return valid_records(deletes)


@dataclass(frozen=True, slots=True)
class BaseFile:
    """One version of a file group, as a whole file. `instant` is the one in its name."""

    partition: str
    file_id: str
    write_token: str
    instant: InstantTime
    extension: str
    name: str
    records: Records
    size: int = field(default=0, compare=False)
    """Bytes in storage, where it lies in one."""
    schema: Schema | None = field(default=None, compare=False)
    """Its columns, where it lies in storage."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file outside of the table whose rows a bootstrapped base file has; `folder` is the one it lies in."""

    partition: str
    file_id: str
    folder: str
    path: str
    records: Records
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class DataBlock:
    """Records written or updated at an instant, in their written order."""

    instant: InstantTime
    records: Records
    partial: bool = False
    compacted_instants: tuple[InstantTime, ...] = ()
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class DeleteBlock:
    """Tombstones written at an instant."""

    instant: InstantTime
    deletes: Deletes
    compacted_instants: tuple[InstantTime, ...] = ()


@dataclass(frozen=True, slots=True)
class RollbackBlock:
    """A command: forget what `target` wrote before here."""

    instant: InstantTime
    target: InstantTime


@dataclass(frozen=True, slots=True)
class CorruptBlock:
    """Bytes that are no block: torn or garbage, skipped up to the next magic."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class CdcRecord:
    """One change of the change feed: insert, update or delete, with as many images as the logging mode keeps."""

    operation: str
    key: str
    before: Record | None = None
    after: Record | None = None


@dataclass(frozen=True, slots=True)
class CdcBlock:
    """The changes that a write logged for the change feed."""

    instant: InstantTime
    changes: tuple[CdcRecord, ...] | Damaged | UnsupportedContent


@dataclass(frozen=True, slots=True)
class Marker:
    """A file that announces a data file before it is written. `kind` is CREATE, MERGE or APPEND."""

    instant: InstantTime
    partition: str
    name: str
    kind: str


GroupId: TypeAlias = tuple[str, str]
"""Partition and file id."""

Block: TypeAlias = DataBlock | DeleteBlock | RollbackBlock | CdcBlock | CorruptBlock


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log file. `instant` is the one in its name, `version` counts rolls."""

    partition: str
    file_id: str
    instant: InstantTime
    version: int
    write_token: str
    cdc: bool
    name: str
    blocks: tuple[Block, ...] | Damaged
    size: int = field(default=0, compare=False)
    """Bytes in storage, where it lies in one."""
    native: str = ""
    """[Draft, v10] What its name says that it holds where it is a file of its own format: log, deletes or cdc."""


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A base file, or none, and the log files to merge onto it, in merge order."""

    partition: str
    file_id: str
    base_instant: InstantTime
    base_file: BaseFile | None
    log_files: tuple[LogFile, ...]


@dataclass(frozen=True, slots=True)
class FileGroup:
    """All slices of one file id in one partition, oldest first."""

    partition: str
    file_id: str
    slices: tuple[FileSlice, ...]
