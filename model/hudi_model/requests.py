"""What a writer asks for, and a write between its phases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hudi_model.actions import Action
from hudi_model.contents import CommitMetadata
from hudi_model.records import Record, Schema
from hudi_model.time import InstantTime


class Operation(StrEnum):
    """What a write does with its rows.

    Clauses: OW-014.
    """

    INSERT = "insert"
    UPSERT = "upsert"
    BULK_INSERT = "bulk_insert"
    DELETE = "delete"
    INSERT_OVERWRITE = "insert_overwrite"
    INSERT_OVERWRITE_TABLE = "insert_overwrite_table"
    DELETE_PARTITION = "delete_partition"
    PARTIAL_UPDATE = "partial_update"


REPLACES = frozenset({Operation.INSERT_OVERWRITE, Operation.INSERT_OVERWRITE_TABLE, Operation.DELETE_PARTITION})
ADDS = REPLACES | {Operation.INSERT, Operation.BULK_INSERT}
"""The operations whose rows are added as they come, whatever has their keys."""


@dataclass(frozen=True, slots=True)
class Request:
    """An operation on rows with the user's columns only; those of a delete hold no more than key and partition."""

    operation: Operation
    rows: tuple[Record, ...] = ()
    partitions: tuple[str, ...] = ()
    schema: Schema | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Write:
    """A transaction between its phases. `seen` are the actions that had completed when it began."""

    requested: InstantTime
    action: Action
    request: Request
    metadata: CommitMetadata | None = None
    seen: frozenset[InstantTime] = frozenset()
