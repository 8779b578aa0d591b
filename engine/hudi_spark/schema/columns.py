"""The table's schema, and files of other schemas brought to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
from hudi_format.avro.schemas import record_schema
from hudi_format.base.files import base_file_footer
from hudi_format.schemas import META_FIELDS, OPERATION_FIELD, arrow_schema
from hudi_format.storage import Storage
from hudi_format.table.internal_schema import InternalSchema, schema_at

from hudi_spark.errors import HudiError, Reason
from hudi_spark.schema.values import Incompatible, Source, Sources, brought, sources_by_id
from hudi_spark.table_state.commits import Commit, load_commits
from hudi_spark.table_state.configuration import PROPERTIES_FILE, TableConfiguration
from hudi_spark.table_state.snapshots import Snapshot

SCHEMA_KEY: Final = "schema"
_SERVICES: Final = ("COMPACT", "LOG_COMPACT", "CLUSTER")

META_SCHEMA: Final = pa.schema([pa.field(name, pa.string()) for name in META_FIELDS])


def table_schema(commits: Sequence[Commit], configuration: TableConfiguration) -> pa.Schema:
    """The columns of a table without meta fields: those of the newest commit that has a schema.

    Without such a commit the schema given at creation holds; without that there are no columns. Partition columns
    that are left out of the files follow where the schema lacks them.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.

    Clauses: DM-003, DM-022, MF-002.

    """
    stated = stated_schema(commits, configuration)
    columns = pa.schema([]) if stated is None else columns_of(*stated)
    return _with_partition_columns(columns, configuration) if columns.names else columns


def _with_partition_columns(columns: pa.Schema, configuration: TableConfiguration) -> pa.Schema:
    """Clauses: DM-022."""
    if not configuration.partitions.columns_dropped:
        return columns
    created = configuration.create_schema
    known = pa.schema([]) if created is None else columns_of(created, PROPERTIES_FILE)
    for name in configuration.partition_by:
        if name not in columns.names:
            columns = columns.append(pa.field(name, pa.string()))
        # Writers of logs put the column into the schema as text, whatever it was made as.
        if name in known.names:
            columns = columns.set(columns.get_field_index(name), known.field(name))
    return columns


def stated_schema(commits: Sequence[Commit], configuration: TableConfiguration) -> tuple[str, str] | None:
    """The Avro text of the table's schema, and the file that it stands in; None where there is none.

    Clauses: DM-003.
    """
    newest = stating_commit(commits)
    if newest is not None:
        return newest.metadata.extra[SCHEMA_KEY], newest.instant.file
    return None if configuration.create_schema is None else (configuration.create_schema, PROPERTIES_FILE)


def stating_commit(commits: Sequence[Commit]) -> Commit | None:
    """The commit whose schema is the table's.

    Clauses: DM-003.
    """
    stating = [commit for commit in commits if commit.metadata.extra.get(SCHEMA_KEY)]
    # Services repeat the schema that they were planned with, and decide nothing while a write has one.
    writes = [commit for commit in stating if commit.metadata.operation_type not in _SERVICES]
    return (writes or stating)[-1] if stating else None


def snapshot_schema(storage: Storage, snapshot: Snapshot) -> pa.Schema:
    """The columns at the read time; before the first commit those of the newest one.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.

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
    schema = record_schema(avro, file, clause="DM-003")
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


def conform(table: pa.Table, schema: pa.Schema, file: str, sources: Sources | None = None) -> pa.Table:
    """The columns of `schema` from a table of a file: widened where they are narrower, null where they are missing.

    `sources` says where the columns stand in the file; without it each is found by its name.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a column that cannot be widened without loss.

    Clauses: DM-004, DM-021.

    """
    places = sources or {}
    columns = [_column(table, field, places.get(field.name, Source(field.name)), file) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema) if columns else _without_columns(table.num_rows)


def concatenate(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """Tables of one schema one after the other; an empty one when there are none."""
    parts = [schema.empty_table(), *tables]
    # Arrow forgets the number of rows of tables without columns.
    return pa.concat_tables(parts) if schema.names else _without_columns(sum(part.num_rows for part in parts))


def _column(table: pa.Table, field: pa.Field, source: Source, file: str) -> pa.ChunkedArray:
    indices = [] if source.name is None else table.schema.get_all_field_indices(source.name)
    if not indices:
        return pa.chunked_array([pa.nulls(table.num_rows, field.type)], field.type)
    if len(indices) > 1:
        message = f"column {source.name!r} stands in the file twice"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-004", message, file)
    try:
        return brought(table.column(indices[0]), field.type, source)
    except (Incompatible, pa.ArrowInvalid) as error:
        message = f"{error}; the table has column {field.name!r} as {field.type}"
        hint = "rewrite the file with the table's schema"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-004", message, file, hint=hint) from error


def _without_columns(rows: int) -> pa.Table:
    """A table of no columns that still knows its number of rows."""
    return pa.table({"": pa.nulls(rows)}).select([])


@dataclass(frozen=True, slots=True)
class ColumnIds:
    """The schemas of a table whose columns have ids.

    `current`: the one to read with. `kept`: every one that is known. `stated`: id of the schema that each commit
    wrote with.

    Clauses: DM-021.
    """

    current: InternalSchema
    kept: tuple[InternalSchema, ...]
    stated: Mapping[str, int]

    def written(self, instant: str) -> InternalSchema:
        """The schema of a file or block of an instant; the oldest where none is known for so early a time."""
        stated = self.stated.get(instant)
        number = int(instant) if stated is None else stated
        return schema_at(self.kept, number) or self.kept[0]


@dataclass(frozen=True, slots=True)
class SliceColumns:
    """How the files of one slice come to the table's columns.

    `constants`: the columns whose values the partition's path holds.

    Clauses: DM-004, DM-021, DM-022.
    """

    ids: ColumnIds | None = None
    constants: Mapping[str, pa.Scalar] = field(default_factory=dict)

    def sources(self, schema: pa.Schema, instant: str) -> Sources:
        """The place of each column in a file of an instant."""
        if self.ids is None:
            found: Sources = {}
        else:
            found = sources_by_id(schema, self.ids.current.fields, self.ids.written(instant).fields)
        return {**found, **dict.fromkeys(self.constants, Source(None))}

    def names(self, schema: pa.Schema, instant: str) -> list[str]:
        """The names of the columns in a file of an instant, without those that it cannot hold."""
        sources = self.sources(schema, instant)
        names = (sources.get(name, Source(name)).name for name in schema.names)
        return [name for name in names if name is not None]

    def are_named(self, schema: pa.Schema, instant: str) -> bool:
        """Whether every column stands in a file of an instant under its own name, at every depth."""
        return len(self.as_named_now(schema, schema, instant)) == len(schema)

    def as_named_now(self, stored: pa.Schema, schema: pa.Schema, instant: str) -> pa.Schema:
        """The stored columns that have the table's own names at every depth, so that a filter can use them there."""
        sources = self.sources(schema, instant)
        same = {field.name for field in schema if _is_same(sources.get(field.name, Source(field.name)), field.name)}
        return pa.schema([field for field in stored if field.name in same])

    def conform(self, table: pa.Table, schema: pa.Schema, file: str, instant: str) -> pa.Table:
        """Rows of a file in the table's columns.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a column that cannot be widened without loss.

        Clauses: DM-004, DM-021, DM-022.

        """
        rows = conform(table, schema, file, self.sources(schema, instant))
        for name in self.constants.keys() & set(schema.names):
            values = pa.repeat(self.constants[name], rows.num_rows)
            rows = rows.set_column(schema.get_field_index(name), schema.field(name), values)
        return rows


BY_NAME = SliceColumns()


def _is_same(source: Source, name: str) -> bool:
    if source.name != name:
        return False
    return source.parts is None or all(_is_same(part, inner) for inner, part in source.parts.items())


def with_operation(storage: Storage, snapshot: Snapshot, columns: pa.Schema) -> pa.Schema:
    """The columns, and `_hoodie_operation` before them where the newest base file has it.

    No commit's schema names it, so a file has to be looked at.

    Raises:
        FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.

    Clauses: MF-002, MG-014.

    """
    files = [one.base_file for one in snapshot.slices if one.base_file is not None]
    newest = max(files, key=lambda file: file.rpartition("_")[2], default=None)
    if newest is None or OPERATION_FIELD not in base_file_footer(storage, newest).schema.names:
        return columns
    return pa.schema([pa.field(OPERATION_FIELD, pa.string()), *columns])
