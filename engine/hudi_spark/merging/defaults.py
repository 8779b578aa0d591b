"""The defaults of a table's columns, as its Avro schema names them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hudi_format.avro.schemas import record_schema

from hudi_spark.schemas.columns import columns_of, stated_schema
from hudi_spark.state.commits import Commit
from hudi_spark.state.configuration import TableConfiguration


def column_defaults(commits: Sequence[Commit], configuration: TableConfiguration) -> dict[str, Any]:
    """The default of each column that has one other than null, in the Python form of its Arrow type.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.

    Clauses: MG-023.

    """
    stated = stated_schema(commits, configuration)
    if stated is None:
        return {}
    kinds = columns_of(*stated)
    fields = [field for field in record_schema(*stated, clause="DM-003")["fields"] if field["name"] in kinds.names]
    found = {field["name"]: _value(field.get("default"), kinds.field(field["name"]).type) for field in fields}
    return {name: value for name, value in found.items() if value is not None}


def _value(default: Any, kind: pa.DataType) -> Any:
    """Avro spells the default of bytes as a text of their code points, of a decimal as those of its unscaled number."""
    if isinstance(default, str) and not pa.types.is_string(kind):
        spelt = default.encode("latin-1", "replace")
        is_decimal = pa.types.is_decimal(kind)
        return Decimal(int.from_bytes(spelt, "big", signed=True)).scaleb(-kind.scale) if is_decimal else spelt
    if isinstance(default, int) and pa.types.is_temporal(kind):
        return pa.scalar(default, kind).as_py()
    return default
