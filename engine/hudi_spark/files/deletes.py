"""Deletes as a log holds them: keys, and the ordering values that they compete with."""

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.log.columnar import OrderingColumn, delete_content
from pyarrow import types as kinds

from hudi_spark.arrays import one_chunk
from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.merging.fields import column_of, field_values

_FIRST_VERSION_WITH_DAYS: Final = 8
# What the wrapper of decimals keeps behind the point, and the types that have room for it.
_DECIMAL_SCALE: Final = 15
_WIDE, _WIDEST = pa.decimal128(38, _DECIMAL_SCALE), pa.decimal256(76, _DECIMAL_SCALE)
_WRAPPERS: Final = (
    (kinds.is_boolean, "Boolean", pa.bool_()),
    (kinds.is_int64, "Long", pa.int64()),
    (kinds.is_integer, "Int", pa.int32()),
    (kinds.is_float64, "Double", pa.float64()),
    (kinds.is_floating, "Float", pa.float32()),
    (kinds.is_string, "String", pa.string()),
    (kinds.is_binary, "Bytes", pa.binary()),
    (kinds.is_timestamp, "Long", pa.int64()),
    (kinds.is_time64, "Long", pa.int64()),
    (kinds.is_time32, "Int", pa.int32()),
)


def deletes_content(
    keys: pa.ChunkedArray, natural: pa.ChunkedArray, partition: str, ordering: Sequence[OrderingColumn]
) -> list[Any]:
    """The content of a delete block for keys.

    `natural`: for each key whether it goes without an ordering value, whatever `ordering` has for it.

    Clauses: LF-008, LF-017, MG-005.
    """
    competes = pc.invert(one_chunk(natural))
    values = [(name, pc.if_else(competes, column, pa.scalar(None, column.type))) for name, column in ordering]
    return delete_content(one_chunk(keys), partition, values)


def ordering_wrappers(rows: pa.Table, names: Sequence[str], table_version: int) -> list[OrderingColumn]:
    """For each ordering field the wrapper in which deletes hold its values, and the values; none where one is missing.

    Moments are numbers of their own unit; days are numbers, too, but before table version 8.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a decimal with more digits than the wrapper keeps.
        UnsupportedFeature: ordering-type, for a field that is no simple value.

    Clauses: LF-008, LF-017, MG-003, MG-007.

    """
    if any(column_of(name, rows.schema) is None for name in names):
        return []
    return [_wrapped(name, one_chunk(field_values(rows, name)), table_version) for name in names]


def _wrapped(name: str, values: pa.Array, table_version: int) -> OrderingColumn:
    kind = values.type
    if kinds.is_date(kind):
        days = values.cast(pa.date32())
        return ("Int", days.cast(pa.int32())) if table_version >= _FIRST_VERSION_WITH_DAYS else ("Date", days)
    if kinds.is_decimal(kind):
        return "Decimal", _fifteen_digits(name, values)
    for fits, wrapper, stored in _WRAPPERS:
        if fits(kind):
            return wrapper, values.cast(stored)
    raise UnsupportedFeature("ordering-type")


def _fifteen_digits(name: str, values: pa.Array) -> pa.Array:
    wide = _WIDE if values.type.precision - values.type.scale <= _WIDE.precision - _DECIMAL_SCALE else _WIDEST
    try:
        return values.cast(wide)
    except pa.ArrowInvalid as error:
        message = f"a value of {name} has more than {_DECIMAL_SCALE} digits behind the point: a delete cannot hold it"
        hint = f"round {name}, or delete the keys without ordering values"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "LF-017", message, hint=hint) from error
