"""What a commit says of the table's schema: the schema itself, and for columns with ids the history kept beside it.

schema          Avro, in every commit's extra metadata
latest_schema   the same with the columns' ids, where the table has a history
history         `.hoodie/.schema/T.schemacommit`, every schema so far, written before the commit completes
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from hudi_format.avro.schemas import record_schema, schema_text
from hudi_format.names import SCHEMA_COMMIT, TimelineFileName, timeline_file_name
from hudi_format.schemas import META_FIELDS, with_meta_fields, without_meta_fields
from hudi_format.table.internal_schema import (
    LATEST_SCHEMA_KEY,
    ArrayType,
    ColumnType,
    InternalField,
    InternalSchema,
    MapType,
    PrimitiveType,
    RecordType,
    internal_schema_text,
    schema_history_text,
)

from hudi_spark.concurrency import Clock, Effects
from hudi_spark.options import Options
from hudi_spark.schema import (
    SCHEMA_FOLDER,
    SCHEMA_KEY,
    ColumnIds,
    WriterSchema,
    avro_of_columns,
    column_ids,
    columns_of_avro,
    fixed_size,
    met,
    numbered,
    stated_schema,
)
from hudi_spark.table_state import Snapshot, TableConfiguration

_BY_ID: Final = "hoodie.schema.on.read.enable"
_RECONCILE: Final = "hoodie.datasource.write.reconcile.schema"
_LAST_VERSION_OF_PLAIN_DECIMALS: Final = 8


class TableState(Protocol):
    """A table as a write finds it."""

    @property
    def storage(self) -> Any:
        """The table's storage."""

    @property
    def snapshot(self) -> Snapshot:
        """Its newest completed state."""

    @property
    def configuration(self) -> TableConfiguration:
        """Its properties."""

    @property
    def options(self) -> Options:
        """The options of the write."""


@dataclass(frozen=True, slots=True)
class SchemaStatement:
    """What one commit states.

    `extra`: entries of its extra metadata. `history`: the schemas so far, oldest first; empty without ids.
    """

    extra: Mapping[str, str]
    history: tuple[InternalSchema, ...] = field(default=())


def schema_extra_metadata(state: TableState, schema: WriterSchema, requested: str) -> SchemaStatement:
    """What a write's commit says of its schema, and what must lie in the folder of schemas before it completes.

    A table whose columns have ids keeps them, whatever the options: new columns get new ids. It gets ids, too, where
    the write reconciles schemas and reads them by id (`hoodie.schema.on.read.enable`).

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the history does not parse.

    Clauses: DM-003, DM-020.

    """
    known = column_ids(state.storage, state.snapshot)
    if known is not None:
        return _continued(state, known, schema, requested)
    if state.options.flag(_BY_ID) and state.options.flag(_RECONCILE):
        first = replace(first_schema(schema.avro, state.configuration), schema_id=int(requested))
        return statement((), first, schema.avro, state.configuration)
    return SchemaStatement({SCHEMA_KEY: schema.text})


def statement(
    history: Sequence[InternalSchema],
    current: InternalSchema,
    avro: Mapping[str, Any],
    configuration: TableConfiguration,
) -> SchemaStatement:
    """What a commit states of columns with ids; `avro` names the record.

    Clauses: DM-003, DM-020.
    """
    record = avro_of_columns(current.fields, f"{avro.get('namespace', '')}.{avro['name']}".strip("."))
    older = [schema for schema in history if schema.schema_id != current.schema_id]
    schemas = (*older, current)
    if configuration.version <= _LAST_VERSION_OF_PLAIN_DECIMALS:
        schemas = tuple(_with_plain_decimals(schema) for schema in schemas)
    extra = {SCHEMA_KEY: schema_text(record), LATEST_SCHEMA_KEY: internal_schema_text(schemas[-1])}
    return SchemaStatement(extra, schemas)


def _with_plain_decimals(schema: InternalSchema) -> InternalSchema:
    """The word for decimals that the first releases of such a table know, too, and later ones read alike."""
    return replace(schema, fields=tuple(_plain_field(column) for column in schema.fields))


def _plain_field(column: InternalField) -> InternalField:
    return replace(column, type=_plain_type(column.type))


def _plain_type(kind: ColumnType) -> ColumnType:
    if isinstance(kind, RecordType):
        return RecordType(tuple(_plain_field(column) for column in kind.fields))
    if isinstance(kind, ArrayType):
        return replace(kind, element=_plain_type(kind.element))
    if isinstance(kind, MapType):
        return replace(kind, value=_plain_type(kind.value))
    if kind.name == "decimal_fixed" and kind.size == fixed_size(kind.precision or 1):
        return PrimitiveType("decimal", kind.precision, kind.scale)
    return kind


def first_schema(avro: Mapping[str, Any], configuration: TableConfiguration) -> InternalSchema:
    """The schema with ids of a table that had none: meta fields first, ids from 0, its own id 0.

    Clauses: DM-020.
    """
    bare = without_meta_fields(avro)
    fields = columns_of_avro(with_meta_fields(bare) if configuration.populates_meta_fields else bare)
    _, after = numbered(RecordType(fields), 0)
    return InternalSchema(0, after - 1, fields)


def table_avro(snapshot: Snapshot) -> dict[str, Any] | None:
    """The table's schema as its newest commit states it, without meta fields; None where it has none.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when it does not parse.

    Clauses: DM-003.

    """
    found = stated_schema(snapshot.commits, snapshot.configuration)
    return None if found is None else without_meta_fields(record_schema(*found, clause="DM-003"))


def put_history(
    effects: Effects, configuration: TableConfiguration, requested: str, stated: SchemaStatement, clock: Clock
) -> None:
    """Write the history of a commit, before the commit completes; nothing for a table whose columns have no ids.

    Clauses: DM-020.
    """
    if not stated.history:
        return
    completed = clock.instant(requested) if configuration.has_completion_times else None
    names = (
        TimelineFileName(requested, SCHEMA_COMMIT, "REQUESTED"),
        TimelineFileName(requested, SCHEMA_COMMIT, "INFLIGHT"),
        TimelineFileName(requested, SCHEMA_COMMIT, "COMPLETED", completed),
    )
    for name in names:
        data = schema_history_text(stated.history).encode() if name.state == "COMPLETED" else b""
        effects.put_index_file(f"{SCHEMA_FOLDER}/{timeline_file_name(name, configuration.timeline_layout)}", data)


def _continued(state: TableState, known: ColumnIds, schema: WriterSchema, requested: str) -> SchemaStatement:
    current = known.current
    columns, after = _grown(current.fields, columns_of_avro(schema.avro), current.max_column_id + 1)
    if columns != current.fields:
        current = InternalSchema(int(requested), after - 1, columns)
    return statement(known.kept, current, schema.avro, state.configuration)


def _grown(
    known: Sequence[InternalField], written: Sequence[InternalField], next_id: int
) -> tuple[tuple[InternalField, ...], int]:
    """The known columns, of the types that were written, and the new ones with new ids; and the next id."""
    by_name = {column.name: column for column in written}
    columns = []
    for column in known:
        other = by_name.get(column.name)
        if other is not None and column.name not in META_FIELDS:
            kind, next_id = _grown_type(column.type, other.type, next_id)
            column = replace(column, type=kind, optional=column.optional or other.optional)  # noqa: PLW2901
        columns.append(column)
    names = {column.name for column in known}
    for column in written:
        if column.name not in names:
            kind, after = numbered(column.type, next_id + 1)
            columns.append(replace(column, id=next_id, type=kind))
            next_id = after
    return tuple(columns), next_id


def _grown_type(known: ColumnType, written: ColumnType, next_id: int) -> tuple[ColumnType, int]:
    if isinstance(known, RecordType) and isinstance(written, RecordType):
        fields, next_id = _grown(known.fields, written.fields, next_id)
        return RecordType(fields), next_id
    if isinstance(known, ArrayType) and isinstance(written, ArrayType):
        element, next_id = _grown_type(known.element, written.element, next_id)
        optional = known.element_optional or written.element_optional
        return replace(known, element=element, element_optional=optional), next_id
    if isinstance(known, MapType) and isinstance(written, MapType):
        value, next_id = _grown_type(known.value, written.value, next_id)
        return replace(known, value=value, value_optional=known.value_optional or written.value_optional), next_id
    if isinstance(known, PrimitiveType) and isinstance(written, PrimitiveType):
        return met(known, written) or known, next_id
    return known, next_id
