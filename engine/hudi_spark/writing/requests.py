"""What a caller asks of a write: by arguments, by options, or both, which must not differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.options.resolving import Options
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.writing.once import Once, WriteId
from hudi_spark.writing.operations import OPERATIONS, Operation, operation_named

_OPERATION: Final = "hoodie.datasource.write.operation"
_PARTITIONS: Final = "hoodie.datasource.write.partitions.to.delete"
_OVERWRITES: Final = "hoodie.datasource.overwrite.mode"
_POLICY: Final = "hoodie.datasource.insert.dup.policy"
_DROPS: Final = "hoodie.datasource.write.insert.drop.duplicates"


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What to write: rows (an Arrow table, or a DataFrame on Spark), a filter that chooses stored rows, or partitions.

    `operation`: empty for the one that the options name, an upsert where they name none.
    `extra`: entries of the commit's extra metadata, a source's checkpoint for instance. `once`: what it is known by
    when it is tried again.

    Clauses: OW-014, OW-018.
    """

    operation: str = ""
    rows: Any | None = None
    filter: Any | None = None
    partitions: Sequence[str] = ()
    configs: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    once: Once | None = None


def operation_of(request: WriteRequest, options: Options) -> Operation:
    """The operation of a request.

    Raises:
        HudiError: CONFIG_INVALID for an unknown operation, or where argument and option differ.

    Clauses: OW-014, OW-018, OW-030.

    """
    found = operation_named(request.operation or options.text(_OPERATION))
    asked = options.text(_OPERATION)
    if request.operation and options.given(_OPERATION) and asked != found.name:
        message = f"{_OPERATION} is {asked!r}, the operation is {found.name!r}"
        raise HudiError(Reason.CONFIG_INVALID, "OW-030", message, hint="leave the option out")
    if found.name == "insert_overwrite" and options.text(_OVERWRITES) == "STATIC":
        return OPERATIONS["insert_overwrite_table"]
    return found


def partitions_of_options(options: Options) -> tuple[str, ...]:
    """The partitions to delete, or patterns of them.

    Clauses: OW-018.
    """
    return options.names(_PARTITIONS)


def duplicates_policy(options: Options) -> str:
    """What an insert does with keys that the table holds: `none`, `drop` or `fail`.

    Clauses: DM-001.
    """
    return "drop" if options.flag(_DROPS) else options.text(_POLICY)


def with_extra(options: Options, request: WriteRequest, snapshot: Snapshot) -> Options:
    """The options, with what the request adds to the commit's metadata."""
    once = {} if request.once is None else request.once.entry(snapshot.commits)
    return replace(options, extra={**options.extra, **request.extra, **once})


def write_id_of(text: str) -> WriteId | None:
    """What a write is known by when it is tried again, by its caller's id; None for none."""
    return WriteId(text) if text else None
