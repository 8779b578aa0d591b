"""The schema that a write uses, and its rows in it.

given       the rows' schema in Arrow, the table's in Avro, the options
decided     once, before anything is written: columns kept, added, widened, or the whole write refused
done        by every task for its own rows: cast, nulls for what is missing, the schema's order
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from hudi_format.avro.schemas import schema_text
from hudi_format.schemas import META_FIELDS, arrow_schema, without_meta_fields
from hudi_format.table.internal_schema import InternalField

from hudi_spark.errors import typed_errors
from hudi_spark.evolution.arrow_types import columns_of_arrow
from hudi_spark.evolution.avro_form import avro_of_columns, columns_of_avro, record_name
from hudi_spark.evolution.casting import brought
from hudi_spark.evolution.reconciling import (
    EVOLVES,
    Missing,
    Reconciling,
    described_changes,
    refuse_doubles,
    refuse_nothing,
)
from hudi_spark.evolution.rules import kept, met
from hudi_spark.options.resolving import Options

_RECONCILE: Final = "hoodie.datasource.write.reconcile.schema"
_NULL_FOR_MISSING: Final = "hoodie.write.set.null.for.missing.columns"
_DROP_MISSING: Final = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"


@dataclass(frozen=True, slots=True)
class WriterSchema:
    """The schema of one write, twice: as its commit states it, without meta fields, and as the columns of its rows.

    `arrow` has the nullability of `avro`: a required column is not nullable.

    Clauses: DM-003.
    """

    avro: Mapping[str, Any]
    arrow: pa.Schema

    @property
    def text(self) -> str:
        """The Avro schema as it stands in a commit."""
        return schema_text(self.avro)


def avro_of_arrow(schema: pa.Schema, table_name: str) -> dict[str, Any]:
    """The Avro record of rows of a new table: `<table>_record` in the namespace `hoodie.<table>`, without meta fields.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a type or name that Avro cannot hold, for two columns of one name.

    Clauses: DM-003.

    """
    columns = _data_columns(schema)
    refuse_doubles(columns)
    return avro_of_columns([refuse_nothing(column) for column in columns], record_name(table_name))


@dataclass(frozen=True, slots=True)
class FixedFields:
    """The fields of a table whose types no write changes: those of keys and partition paths, and those of ordering."""

    places: Collection[str] = ()
    ordering: Collection[str] = ()


def writer_schema(
    table: Mapping[str, Any] | None,
    incoming: pa.Schema,
    table_name: str,
    options: Options,
    fixed: FixedFields = FixedFields(),
    *,
    partial: bool = False,
) -> WriterSchema:
    """The schema that a write of rows uses, when the table's is `table` (None: it has none yet).

    The table's columns stay in their order and their types, nullable where the rows' are; new columns follow and must
    be nullable. A column of a wider type is refused, unless `hoodie.schema.on.read.enable` lets the table's have it and
    no value changes by that. A column that the rows lack is refused, unless the options fill it with nulls or drop
    it. With `hoodie.datasource.write.reconcile.schema` the table keeps its columns and types, and new ones follow.
    `partial`: rows state only some columns, as of a partial update; the others stay as they are.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE with the column, both types and what to do.
        UnsupportedFeature: the table's schema has a type with no column form.

    Clauses: DM-003, DM-004, DM-005.

    """
    if table is None:
        return schema_of_avro(avro_of_arrow(incoming, table_name))
    reconciled = options.flag(_RECONCILE)
    rules = Reconciling(
        _missing(options, partial=partial),
        kept if reconciled else met,
        options.flag(EVOLVES),
        frozenset((*fixed.places, *fixed.ordering)),
        frozenset(fixed.ordering),
    )
    columns = rules.columns(columns_of_avro(without_meta_fields(table)), _data_columns(incoming))
    return schema_of_avro(avro_of_columns(columns, _full_name(table, table_name)))


def schema_of_avro(avro: Mapping[str, Any]) -> WriterSchema:
    """The schema of a write that a table's own Avro schema gives, meta fields or not.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE when it is no record.
        UnsupportedFeature: a type with no column form.

    Clauses: DM-003.

    """
    record = without_meta_fields(avro)
    with typed_errors():
        return WriterSchema(record, arrow_schema(record))


def schema_changes(before: Mapping[str, Any] | None, after: WriterSchema) -> tuple[str, ...]:
    """What a write changes of the table's columns, in words; nothing where the table had none.

    Clauses: DM-005.
    """
    if before is None:
        return ()
    return tuple(described_changes(columns_of_avro(without_meta_fields(before)), columns_of_avro(after.avro)))


def without_columns(schema: WriterSchema, names: Collection[str]) -> WriterSchema:
    """The schema without some columns: of files and commits of a table that drops its partition columns.

    Clauses: DM-022.
    """
    fields = [field for field in schema.avro["fields"] if field["name"] not in names]
    arrow = pa.schema([field for field in schema.arrow if field.name not in names])
    return WriterSchema({**schema.avro, "fields": fields}, arrow)


def conform(rows: pa.Table, schema: WriterSchema) -> pa.Table:
    """Rows in the columns of a write: cast without loss, null where they lack a column, in the schema's order.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that its column cannot hold, a null in a required one.

    Clauses: DM-004.

    """
    return brought(rows, schema.arrow)


def _missing(options: Options, *, partial: bool) -> Missing:
    if partial:
        return Missing.KEPT
    if options.flag(_NULL_FOR_MISSING):
        return Missing.NULL
    if options.flag(_RECONCILE):
        return Missing.KEPT
    return Missing.DROPPED if options.flag(_DROP_MISSING) else Missing.REFUSED


def _data_columns(schema: pa.Schema) -> tuple[InternalField, ...]:
    """The columns that rows bring; rows read from a table have its meta fields, which every write makes anew."""
    return columns_of_arrow(field for field in schema if field.name not in META_FIELDS)


def _full_name(table: Mapping[str, Any], table_name: str) -> str:
    name, namespace = str(table.get("name", "")), str(table.get("namespace", "") or "")
    if not name:
        return record_name(table_name)
    return name if "." in name or not namespace else f"{namespace}.{name}"
