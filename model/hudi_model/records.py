"""Values, records, deletes and schemas: what base files and log blocks hold."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias, TypeVar

from hudi_model.rejection import Reason, Rejection, Unsupported

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
    """A tombstone. The integer 0 as ordering stands for no ordering value, unless it is told to be a value."""

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


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table or a block, meta fields left out."""

    fields: tuple[Field, ...]


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


def sound_records(records: tuple[Item, ...] | Damaged | UnsupportedContent) -> tuple[Item, ...]:
    """The records of a base file or a data block, the changes of a change log, or the blocks of a log file.

    Raises: what the damage says; unsupported what cannot be decoded yet.
    """
    if isinstance(records, Damaged):
        raise records.refusal()
    if isinstance(records, UnsupportedContent):
        raise Unsupported(records.feature)
    return records


def sound_deletes(deletes: Deletes) -> tuple[Delete, ...]:
    """The tombstones of a delete block.

    Raises: what the damage says; unsupported what cannot be decoded yet.
    """
    return sound_records(deletes)
