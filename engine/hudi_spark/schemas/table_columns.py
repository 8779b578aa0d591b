"""How the rows of any file of a table come to the table's columns.

A file holds columns under the names of its time, in the types of its time, and perhaps without partition columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
from hudi_format.table.internal_schema import InternalSchema, schema_at

from hudi_spark.schemas.columns import conform
from hudi_spark.schemas.sources import Source, Sources, sources_by_id


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
