"""A change of a table's schema as an action of its timeline: a commit without files, and the history beside it.

requested -> inflight -> history in `.hoodie/.schema` -> (metadata table) -> completed
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.avro.schemas import parse_avro_schema
from hudi_format.errors import FormatError
from hudi_format.names import TimelineFileName
from hudi_format.table.internal_schema import ColumnType, parse_column_type
from hudi_format.timeline.commit_metadata import CommitMetadata, serialise_avro, serialise_json

from hudi_spark.clock import Clock
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError
from hudi_spark.evolution.arrow_types import columns_of_arrow
from hudi_spark.evolution.avro_form import columns_of_avro
from hudi_spark.evolution.changes import (
    AddColumn,
    ChangeType,
    Describe,
    DropColumn,
    MakeNullable,
    MoveColumn,
    Place,
    Position,
    RenameColumn,
    SchemaChange,
    changed,
)
from hudi_spark.evolution.statements import (
    SchemaStatement,
    TableState,
    first_schema,
    put_history,
    statement,
    table_avro,
)
from hudi_spark.schemas.history import column_ids
from hudi_spark.state.configuration import TableConfiguration

OPERATION: Final = "ALTER_SCHEMA"

_CLAUSE: Final = "DM-021"


@dataclass(frozen=True, slots=True)
class AlteredSchema:
    """A finished change: the action's instants; `completed` is None before table version 8."""

    requested: str
    completed: str | None
    action: str


def alter_schema(
    effects: Effects,
    state: TableState,
    changes: Sequence[SchemaChange],
    clock: Clock,
    before_completion: Callable[[str, CommitMetadata], None] | None = None,
) -> AlteredSchema:
    """Change the columns of a table, under its lock.

    `before_completion` gets the instant and the metadata when everything but the completed file is there: the metadata
    table is kept in it.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a change that cannot be made; nothing was written then.

    Clauses: DM-020, DM-021, TL-002, TL-007.

    """
    configuration = state.configuration
    requested = clock.instant(_newest_instant(state))
    stated = altered(state, changes, requested)
    metadata = CommitMetadata(operation_type=OPERATION, extra=stated.extra)
    action = "commit" if configuration.table_type == "COPY_ON_WRITE" else "deltacommit"
    effects.create_instant(configuration, TimelineFileName(requested, action, "REQUESTED"))
    inflight = _content(configuration, CommitMetadata(operation_type=OPERATION))
    effects.create_instant(configuration, TimelineFileName(requested, action, "INFLIGHT"), inflight)
    put_history(effects, configuration, requested, stated, clock)
    if before_completion is not None:
        before_completion(requested, metadata)
    completed = clock.instant(requested) if configuration.has_completion_times else None
    name = TimelineFileName(requested, action, "COMPLETED", completed)
    effects.complete_instant(configuration, name, _content(configuration, metadata))
    return AlteredSchema(requested, completed, action)


def altered(state: TableState, changes: Sequence[SchemaChange], requested: str) -> SchemaStatement:
    """What the commit of a change states, with nothing written.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a change that cannot be made.

    Clauses: DM-020, DM-021.

    """
    avro = table_avro(state.snapshot)
    if avro is None or not avro["fields"]:
        hint = "write rows first, or create the table with a schema"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, "the table has no columns yet", hint=hint)
    configuration = state.configuration
    known = column_ids(state.storage, state.snapshot)
    kept = (first_schema(avro, configuration),) if known is None else known.kept
    current = kept[-1] if known is None else known.current
    needed = (*configuration.record_key, *configuration.partition_by, *configuration.ordering)
    after = changed(current, changes, int(requested), needed)
    if after.fields == current.fields:
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, "the changes change nothing", hint="leave them out")
    return statement(kept, after, avro, configuration)


def column_type(value: str | pa.DataType | Mapping[str, Any] | Sequence[Any]) -> ColumnType:
    """A column's type from its word (`long`, `decimal(10, 2)`), from Avro or from Arrow.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for no type of a table.

    Clauses: DM-020.

    """
    if isinstance(value, pa.DataType):
        return columns_of_arrow([pa.field("column", value)])[0].type
    if isinstance(value, str) and not value.startswith(("{", "[")):
        return _named(value)
    avro = parse_avro_schema(value, "the type of a column") if isinstance(value, str) else value
    return columns_of_avro({"name": "column", "fields": [{"name": "column", "type": avro}]})[0].type


def changes_of(records: Sequence[Mapping[str, Any]]) -> tuple[SchemaChange, ...]:
    """Changes from their JSON: `{"change", "column", ...}` with change add, drop, rename, type, move, nullable or doc.

    add       `type`, `doc?`, and `first: true`, `after` or `before` a sibling
    rename    `to`        type   `type`        doc   `doc`        move   `first: true`, `after` or `before`

    Raises:
        HudiError: CONFIG_INVALID for another form; SCHEMA_INCOMPATIBLE for an unknown type.

    Clauses: DM-021.

    """
    return tuple(_change_of(record) for record in records)


def _change_of(record: Mapping[str, Any]) -> SchemaChange:
    kind, column = record.get("change"), record.get("column")
    if not (isinstance(column, str) and column):
        raise _no_change(record, "name the column")
    made = _MADE.get(str(kind))
    if made is None:
        raise _no_change(record, f"change is one of {', '.join(_MADE)}")
    try:
        return made(column, record)
    except KeyError as error:
        raise _no_change(record, f"give {error.args[0]!r}") from error


def _position(record: Mapping[str, Any]) -> Position | None:
    for place in (Place.AFTER, Place.BEFORE):
        if record.get(place):
            return Position(place, str(record[place]))
    return Position(Place.FIRST) if record.get(Place.FIRST) else None


_MADE: Final[Mapping[str, Callable[[str, Mapping[str, Any]], SchemaChange]]] = {
    "add": lambda column, record: AddColumn(column, column_type(record["type"]), record.get("doc"), _position(record)),
    "drop": lambda column, _: DropColumn(column),
    "rename": lambda column, record: RenameColumn(column, str(record["to"])),
    "type": lambda column, record: ChangeType(column, column_type(record["type"])),
    "move": lambda column, record: MoveColumn(column, _position(record) or Position(Place.FIRST)),
    "nullable": lambda column, _: MakeNullable(column),
    "doc": lambda column, record: Describe(column, str(record["doc"])),
}


def _named(word: str) -> ColumnType:
    aliases = {"bigint": "long", "integer": "int", "bytes": "binary", "bool": "boolean"}
    try:
        return parse_column_type(aliases.get(word.lower(), word), "the type")
    except FormatError as error:
        hint = "give a word such as long or decimal(10, 2), or an Avro type"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, error.message, hint=hint) from error


def _newest_instant(state: TableState) -> str:
    times = (time for one in state.snapshot.timeline.instants for time in (one.requested, one.completed or ""))
    return max((time[:17] for time in times), default="")


def _content(configuration: TableConfiguration, metadata: CommitMetadata) -> bytes:
    """Clauses: TL-013."""
    return serialise_avro(metadata) if configuration.timeline_layout == 2 else serialise_json(metadata)


def _no_change(record: Mapping[str, Any], hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, _CLAUSE, f"{json.dumps(dict(record))} is no change of a schema", hint=hint)
