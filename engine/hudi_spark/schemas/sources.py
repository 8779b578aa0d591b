"""Where the columns of a table stand in a file that was written with another schema.

by name   the column of the same name, its parts likewise
by id     the column that had the same id in the schema of the file's time, whatever its name was then
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from hudi_format.table.internal_schema import ArrayType, ColumnType, InternalField, MapType, RecordType

ELEMENT, VALUE = "element", "value"


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a column in a file.

    `name` is None where the file cannot hold the column. `parts`: those of a struct by the table's names, those of a
    list and of the values of a map under `element` and `value`; None where they are found by their own names.

    Clauses: DM-004, DM-021.
    """

    name: str | None
    parts: "Sources | None" = None

    def part(self, name: str) -> "Source":
        """The place of a part of the column."""
        return Source(name) if self.parts is None else self.parts.get(name, Source(name))


Sources = Mapping[str, Source]


def sources_by_id(
    schema: pa.Schema, current: tuple[InternalField, ...], written: tuple[InternalField, ...]
) -> dict[str, Source]:
    """The place of each column of a table in a file of an older schema.

    A column that the table's own ids do not know, such as a meta field of a writer's, is found by its name.

    Clauses: DM-021.
    """
    return _of_fields(schema, current, written)


def _of_fields(
    wanted: pa.Schema | pa.StructType, current: tuple[InternalField, ...], written: tuple[InternalField, ...]
) -> dict[str, Source]:
    ids = {field.name: field for field in current}
    then = {field.id: field for field in written}
    return {field.name: _of_field(field, ids.get(field.name), then) for field in wanted}


def _of_field(wanted: pa.Field, current: InternalField | None, then: Mapping[int, InternalField]) -> Source:
    if current is None:
        return Source(wanted.name)
    written = then.get(current.id)
    if written is None:
        return Source(None)
    return Source(written.name, _parts(wanted.type, current.type, written.type))


def _parts(wanted: pa.DataType, current: ColumnType, written: ColumnType) -> Sources | None:
    if pa.types.is_struct(wanted) and isinstance(current, RecordType) and isinstance(written, RecordType):
        return _of_fields(wanted, current.fields, written.fields)
    if pa.types.is_list(wanted) and isinstance(current, ArrayType) and isinstance(written, ArrayType):
        return {ELEMENT: Source(ELEMENT, _parts(wanted.value_type, current.element, written.element))}
    if pa.types.is_map(wanted) and isinstance(current, MapType) and isinstance(written, MapType):
        return {VALUE: Source(VALUE, _parts(wanted.item_type, current.value, written.value))}
    return None
