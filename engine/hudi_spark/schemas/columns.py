"""The table's schema, and files of other schemas brought to it."""

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.avro.schemas import record_schema
from hudi_format.schemas import META_FIELDS, OPERATION_FIELD, arrow_schema
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.schemas.promotions import promoted
from hudi_spark.state.commits import Commit, load_commits
from hudi_spark.state.configuration import PROPERTIES_FILE, TableConfiguration
from hudi_spark.state.snapshots import Snapshot

SCHEMA_KEY: Final = "schema"
EVOLUTION_KEY: Final = "latest_schema"
_SERVICES: Final = ("COMPACT", "LOG_COMPACT", "CLUSTER")

META_SCHEMA: Final = pa.schema([pa.field(name, pa.string()) for name in META_FIELDS])

_INTEGER_RANKS: Final = {pa.int32(): 0, pa.int64(): 1, pa.float32(): 2, pa.float64(): 3}


def table_schema(commits: Sequence[Commit], configuration: TableConfiguration) -> pa.Schema:
    """The columns of a table without meta fields: those of the newest commit that has a schema.

    Without such a commit the schema given at creation holds; without that there are no columns.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.
        UnsupportedFeature: schema-evolution, a table whose columns are identified by id.

    Clauses: DM-003, MF-002.

    """
    stating = [commit for commit in commits if commit.metadata.extra.get(SCHEMA_KEY)]
    # Services repeat the schema that they were planned with, and decide nothing while a write has one.
    writes = [commit for commit in stating if commit.metadata.operation_type not in _SERVICES]
    newest = (writes or stating)[-1] if stating else None
    if newest is not None:
        if newest.metadata.extra.get(EVOLUTION_KEY):
            raise UnsupportedFeature("schema-evolution", newest.instant.file)
        return columns_of(newest.metadata.extra[SCHEMA_KEY], newest.instant.file)
    if configuration.create_schema is not None:
        return columns_of(configuration.create_schema, PROPERTIES_FILE)
    return pa.schema([])


def snapshot_schema(storage: Storage, snapshot: Snapshot) -> pa.Schema:
    """The columns at the read time; before the first commit those of the newest one.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.
        UnsupportedFeature: schema-evolution.

    Clauses: DM-003.

    """
    commits = snapshot.commits or load_commits(storage, snapshot.timeline, None, "requested")
    return table_schema(commits, snapshot.configuration)


def columns_of(avro: str, file: str) -> pa.Schema:
    """Arrow columns of an Avro schema text without meta fields, every one nullable.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when it is no record schema.

    Clauses: MF-001, MF-002.

    """
    schema = record_schema(avro, file)
    hidden = {*META_FIELDS, OPERATION_FIELD}
    fields = [field for field in arrow_schema(schema, file) if field.name not in hidden]
    return pa.schema([pa.field(field.name, nullable(field.type)) for field in fields])


def nullable(kind: pa.DataType) -> pa.DataType:
    """The type with every part of it nullable: what a file lacks reads as null at any depth."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, nullable(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(pa.field("element", nullable(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(nullable(kind.key_type), pa.field("value", nullable(kind.item_type)))
    return kind


def conform(table: pa.Table, schema: pa.Schema, file: str) -> pa.Table:
    """The columns of `schema` from a table of a file: widened where they are narrower, null where they are missing.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a column that cannot be widened without loss.

    Clauses: DM-004.

    """
    columns = [_column(table, field, file) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema) if columns else _without_columns(table.num_rows)


def widens(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of one type is a value of the other, or the two differ only in parts that are conformed."""
    if found == wanted or pa.types.is_null(found):
        return True
    if found in _INTEGER_RANKS and wanted in _INTEGER_RANKS:
        return _INTEGER_RANKS[found] <= _INTEGER_RANKS[wanted]
    if pa.types.is_nested(found) or pa.types.is_nested(wanted):
        return _nested_widens(found, wanted)
    return any(all(belongs(kind) for kind in (found, wanted)) for belongs in _FAMILIES)


def concatenate(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """Tables of one schema one after the other; an empty one when there are none."""
    parts = [schema.empty_table(), *tables]
    # Arrow forgets the number of rows of tables without columns.
    return pa.concat_tables(parts) if schema.names else _without_columns(sum(part.num_rows for part in parts))


def _column(table: pa.Table, field: pa.Field, file: str) -> pa.ChunkedArray:
    indices = table.schema.get_all_field_indices(field.name)
    if not indices:
        return pa.chunked_array([pa.nulls(table.num_rows, field.type)], field.type)
    if len(indices) > 1:
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-004", f"column {field.name!r} stands in the file twice", file)
    column = table.column(indices[0])
    if column.type == field.type:
        return column
    number = promoted(column, field.type)
    if number is not None:
        return number
    if not widens(column.type, field.type):
        raise _incompatible(field, column.type, file)
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise _incompatible(field, column.type, file) from error


def _without_columns(rows: int) -> pa.Table:
    """A table of no columns that still knows its number of rows."""
    return pa.table({"": pa.nulls(rows)}).select([])


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _is_small_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind))


# Types within a family convert into each other, checked for loss value by value.
_FAMILIES: Final = (
    _is_text,
    _is_small_integer,
    pa.types.is_decimal,
    pa.types.is_timestamp,
    pa.types.is_time,
    pa.types.is_date,
)


def _nested_widens(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_struct(found) and pa.types.is_struct(wanted):
        inner = {field.name: field.type for field in found}
        return all(field.name not in inner or widens(inner[field.name], field.type) for field in wanted)
    if pa.types.is_map(found) and pa.types.is_map(wanted):
        return widens(found.item_type, wanted.item_type)
    if pa.types.is_list(found) and pa.types.is_list(wanted):
        return widens(found.value_type, wanted.value_type)
    return False


def _incompatible(field: pa.Field, found: pa.DataType, file: str) -> HudiError:
    message = f"column {field.name!r} is {found} in the file and {field.type} in the table"
    return HudiError(
        Reason.SCHEMA_INCOMPATIBLE, "DM-004", message, file, hint="rewrite the file with the table's schema"
    )
