"""Values, records, deletes and schemas: what base files and log blocks hold."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from hudi_model.rejection import Reason

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
    """A tombstone. The integer 0 as ordering stands for no ordering value."""

    key: str
    partition: str | None
    ordering: Ordering


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name and its logical type's name."""

    name: str
    type: str


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


@dataclass(frozen=True, slots=True)
class UnsupportedContent:
    """Stands where content is sound but of a kind that is not decoded yet."""

    feature: str
    where: str


Records: TypeAlias = tuple[Record, ...] | Damaged | UnsupportedContent
Deletes: TypeAlias = tuple[Delete, ...] | Damaged | UnsupportedContent
