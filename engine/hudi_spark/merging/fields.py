"""Fields by name: a column, or a place inside a struct column such as `source.position.ts`."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError


def column_of(name: str, schema: pa.Schema) -> str | None:
    """The column that holds a field, or None where the table has no such field."""
    if name in schema.names:
        return name
    column, *inner = name.split(".")
    if column not in schema.names or _inner_type(schema.field(column).type, inner) is None:
        return None
    return column


def columns_of(names: Iterable[str], schema: pa.Schema) -> tuple[str, ...]:
    """The columns that hold fields, each once."""
    found = (column_of(name, schema) for name in names)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def field_type(name: str, schema: pa.Schema) -> pa.DataType:
    """The type of a field that the table has.

    Raises:
        HudiError: PROPERTIES_INVALID for any other.

    Clauses: OW-032.

    """
    if name in schema.names:
        return schema.field(name).type
    column, *inner = name.split(".")
    if column not in schema.names:
        raise _unknown(name)
    return _inner_type(schema.field(column).type, inner)


def field_values(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The values of a field that the table has; null where a struct on the way is null.

    Raises:
        HudiError: PROPERTIES_INVALID for any other.

    Clauses: OW-032.

    """
    if name in table.column_names:
        return table.column(name)
    column, *inner = name.split(".")
    if column not in table.column_names:
        raise _unknown(name)
    return pc.struct_field(table.column(column), inner)


def _unknown(name: str) -> HudiError:
    hint = "let hoodie.properties name fields of the table's schema"
    return HudiError(Reason.PROPERTIES_INVALID, "OW-032", f"the table's field {name} is no column", hint=hint)


def _inner_type(kind: pa.DataType, names: list[str]) -> pa.DataType | None:
    for name in names:
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            return None
        kind = kind.field(name).type
    return kind
