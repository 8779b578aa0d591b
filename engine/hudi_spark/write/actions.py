"""Actions on a table that bring no rows: columns changed, indexes made and dropped, the metadata table validated.

requested -> inflight -> history in `.hoodie/.schema` -> (metadata table) -> completed
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from hudi_format.avro.schemas import parse_avro_schema
from hudi_format.errors import FormatError
from hudi_format.metadata.partitions import (
    expression_index_partition,
    is_expression_index,
    is_secondary_index,
    secondary_index_partition,
)
from hudi_format.names import TimelineFileName
from hudi_format.table.index_definitions import IndexDefinition
from hudi_format.table.internal_schema import ColumnType, parse_column_type
from hudi_format.timeline.commit_metadata import CommitMetadata, serialise_avro, serialise_json

from hudi_spark.concurrency import Clock, Effects, with_failures
from hudi_spark.errors import HudiError, Reason, boundary
from hudi_spark.metadata import (
    ACTION,
    Finding,
    FinishedWrite,
    MetadataLayout,
    create_index,
    drop_index,
    read_definitions,
    update_metadata_table,
    validate_metadata_table,
)
from hudi_spark.schema import (
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
    WriterState,
    changed,
    column_ids,
    columns_of_arrow,
    columns_of_avro,
)
from hudi_spark.table_state import TableConfiguration
from hudi_spark.write.action import Outcome, state_of_table
from hudi_spark.write.schema_metadata import (
    SchemaStatement,
    TableState,
    first_schema,
    put_history,
    statement,
    table_avro,
)
from hudi_spark.write.writer import TableWriter

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


_HOLDER: Final = "action"
_SECONDARY: Final = "secondary_index"
_IDENTITY: Final = "identity"
_WHOLE: Final = ("record_index", "column_stats", "bloom_filters", "partition_stats")


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """An index to make.

    `kind`: secondary_index, or column_stats or bloom_filters of a function's results; record_index, column_stats,
    bloom_filters or partition_stats by that name for the whole table's own.

    Clauses: IX-001, IX-003.
    """

    name: str
    kind: str = _SECONDARY
    columns: Sequence[str] = ()
    function: str = _IDENTITY
    options: Mapping[str, str] | None = None

    def definition(self, table_version: int) -> IndexDefinition:
        """What the table states of it; the version of the index follows from that of the table.

        Clauses: IX-001, IX-003, IX-004, IX-041.
        """
        options, columns = dict(self.options or {}), tuple(self.columns)
        if self.name in _WHOLE:
            return IndexDefinition(self.name, self.name, "", columns, options)
        if self.kind == _SECONDARY:
            partition = secondary_index_partition(self.name)
        else:
            partition, options = expression_index_partition(self.name), {"expr": self.function, **options}
        version = MetadataLayout(table_version).index_version(partition, {})
        return IndexDefinition(partition, self.kind, self.function, columns, options, version)


@dataclass(frozen=True, slots=True)
class TableActions:
    """Actions by a writer, each under the table's lock.

    Clauses: LK-004, IG-001.
    """

    writer: TableWriter

    @with_failures
    def create_index(self, request: IndexRequest, configs: Mapping[str, str] | None = None) -> Outcome:
        """Make an index of all that has completed.

        Raises:
            HudiError: CONFIG_INVALID for an index that the table cannot have, or has.
            UnsupportedFeature: an index that the table's version does not have.

        Clauses: IG-001, IX-001, IX-002.

        """
        with boundary(self.writer.storage.base), self._locked(configs) as (effects, state):
            clock, executor = self.writer.table_clock, self.writer.executor
            done = create_index(effects, state, request.definition(state.configuration.version), executor, clock)
            return Outcome(*done, ACTION, "INDEX")

    def drop_index(self, name: str, configs: Mapping[str, str] | None = None) -> None:
        """Take an index away, by its name or that of its folder.

        Raises:
            HudiError: CONFIG_INVALID for an index that is not there, or that others need.

        Clauses: IX-002.

        """
        with boundary(self.writer.storage.base), self._locked(configs) as (effects, state):
            drop_index(effects, state, name)

    @with_failures
    def alter_schema(self, changes: Sequence[SchemaChange], configs: Mapping[str, str] | None = None) -> Outcome:
        """Change columns: an action of its own; files keep what they hold and are read by the columns' ids.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a change that cannot be made.

        Clauses: DM-020, DM-021.

        """
        with boundary(self.writer.storage.base), self._locked(configs) as (effects, state):
            _refuse_indexed(state, changes)

            def keep_metadata(requested: str, metadata: CommitMetadata) -> None:
                action = "commit" if state.configuration.table_type == "COPY_ON_WRITE" else "deltacommit"
                write = FinishedWrite(requested, action, metadata.operation_type or OPERATION)
                update_metadata_table(effects, state, write, self.writer.executor, self.writer.table_clock)

            done = alter_schema(effects, state, changes, self.writer.table_clock, keep_metadata)
            return Outcome(done.requested, done.completed, done.action, OPERATION)

    def validate_metadata(self) -> tuple[Finding, ...]:
        """What the metadata table says that storage and data do not; nothing where all is well, or there is none.

        Clauses: MT-005.
        """
        with boundary(self.writer.storage.base):
            return validate_metadata_table(self.writer.storage, self.writer.executor)

    @contextmanager
    def _locked(self, configs: Mapping[str, str] | None) -> Iterator[tuple[Effects, WriterState]]:
        work = self.writer.work(configs)
        with work.lock(_HOLDER):
            yield work.effects, state_of_table(work.storage, work.snapshot(), work.options)


def _refuse_indexed(state: WriterState, changes: Sequence[SchemaChange]) -> None:
    """An index knows its column by name; a secondary one has its values as texts, which depend on their type.

    So it is of a definition whose index went with the metadata table: the next write makes the index anew.

    Clauses: DM-021, IX-001.
    """
    for one in read_definitions(state.storage, state.configuration.properties).values():
        refused: tuple[type[SchemaChange], ...] = ()
        if is_secondary_index(one.name):
            refused = (DropColumn, RenameColumn, ChangeType)
        elif is_expression_index(one.name):
            refused = (DropColumn, RenameColumn)
        for change in changes:
            is_part = any(f"{source}.".startswith(f"{change.column}.") for source in one.source_fields)
            if isinstance(change, refused) and is_part:
                message = f"the index {one.name} is of the column {change.column!r}"
                raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-021", message, hint="drop the index first")
