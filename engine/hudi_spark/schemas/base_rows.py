"""The rows of a base file in the table's columns, whatever its format and the schema of its time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.base.files import Footer, base_file_footer, read_base_file
from hudi_format.names import BaseFileName, parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.schemas.columns import META_SCHEMA
from hudi_spark.schemas.partition_values import typed_value
from hudi_spark.schemas.table_columns import SliceColumns

Condition = Callable[[pa.Schema], pc.Expression | None]
"""The filter to read with, given the columns that stand in the file as the table has them."""


@dataclass(frozen=True, slots=True)
class External:
    """The file outside of the table that holds the data of a bootstrapped one: storage and path there.

    `values`: the text of columns that only the folders on the way to the file name.

    Clauses: BF-012.
    """

    storage: Storage
    path: str
    values: Mapping[str, str | None] = field(default_factory=dict)


def read_base_rows(
    storage: Storage,
    path: str,
    schema: pa.Schema,
    columns: SliceColumns,
    condition: Condition,
    *,
    external: External | None = None,
) -> pa.Table:
    """Rows of a base file that meet a condition, in the columns of `schema`.

    Raises:
        FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.
        HudiError: SCHEMA_INCOMPATIBLE; BASE_FILE_CORRUPT where a bootstrapped file and its data differ in rows.

    Clauses: BF-004, BF-012, DM-004, DM-021, DM-022, RD-012.

    """
    instant = instant_of(path)
    if external is not None:
        return columns.conform(_stitched(storage, path, schema, external), schema, path, instant)
    footer = base_file_footer(storage, path)
    names = [name for name in columns.names(schema, instant) if name in footer.schema.names]
    if not names:
        # Not one column of the answer is in the file: only its number of rows matters.
        return columns.conform(_bare(footer), schema, path, instant)
    expression = condition(columns.as_named_now(footer.schema, schema, instant))
    return columns.conform(read_base_file(storage, path, names, expression), schema, path, instant)


def instant_of(path: str) -> str:
    """The instant in the name of a base file, empty where there is none."""
    name = parse_data_file_name(path.rpartition("/")[2])
    return name.instant if isinstance(name, BaseFileName) else ""


def _bare(footer: Footer) -> pa.Table:
    return pa.table({"": pa.nulls(footer.rows)})


def _stitched(storage: Storage, path: str, schema: pa.Schema, external: External) -> pa.Table:
    """The meta fields of a bootstrapped file beside the data, row by row.

    Clauses: BF-012.
    """
    data = _part(external.storage, external.path, [name for name in schema.names if name not in META_SCHEMA.names])
    own = _part(storage, path, [name for name in schema.names if name in META_SCHEMA.names])
    if own.num_rows != data.num_rows:
        message = f"the file has {own.num_rows} rows, the bootstrapped file {external.path!r} has {data.num_rows}"
        hint = "restore the file that the table was bootstrapped from"
        raise HudiError(Reason.BASE_FILE_CORRUPT, "BF-012", message, path, hint=hint)
    stitched = pa.table([*own.columns, *data.columns], names=[*own.column_names, *data.column_names])
    for name in external.values.keys() & set(schema.names) - set(stitched.column_names):
        value = typed_value(external.values[name], schema.field(name), external.path)
        stitched = stitched.append_column(schema.field(name), pa.repeat(value, own.num_rows))
    return stitched


def _part(storage: Storage, path: str, names: list[str]) -> pa.Table:
    footer = base_file_footer(storage, path)
    present = [name for name in names if name in footer.schema.names]
    # A column of no name keeps the number of rows where not one of the columns is asked for.
    return read_base_file(storage, path, present) if present else _bare(footer)
