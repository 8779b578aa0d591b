"""Statistics of columns in one file: of a base file from its Parquet footer, of a log from the rows it holds.

Bounds are found in the physical form of a column, where they compare as numbers or bytes, and wrapped at the end:
index version V1 lets the wrapper say the kind, V2 puts the kind beside it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from hudi_format.metadata.records import ColumnStats
from hudi_format.metadata.wrapped_values import ValueKind, ValueType, Wrapped
from hudi_format.schemas import META_FIELDS
from pyarrow import types as kinds

# The wrapper of decimals in V1 holds 30 digits, 15 of them behind the point.
_PLAIN_PRECISION: Final = 30
_PLAIN_SCALE: Final = 15
_EXACT: Final = Context(prec=100)
_BITS_A_BYTE: Final = 8
_UNIT_NAMES: Final = {"ms": "MILLIS", "us": "MICROS", "ns": "NANOS"}
_META_OF_NEWER_VERSIONS: Final = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_record_key")
_FIRST_VERSION_WITH_FEWER: Final = 8

ColumnReader = Callable[[str], pa.ChunkedArray]
"""The values of a top-level column of a file, by its name."""


@dataclass(frozen=True, slots=True)
class IndexedColumn:
    """A column that statistics are kept of: its path (`a.b` within a struct) and its type in the table.

    Clauses: MT-011, MT-013.
    """

    name: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class _Counts:
    """What is known of one column of one file; the bounds in physical form."""

    values: int
    nulls: int
    minimum: Any = None
    maximum: Any = None
    size: int = 0
    unpacked_size: int = 0


def indexed_columns(
    schema: pa.Schema, listed: Sequence[str], limit: int, *, meta_fields: Sequence[str], version: str
) -> tuple[IndexedColumn, ...]:
    """The columns of a table that statistics are kept of, meta fields first.

    The listed ones, nested ones as `a.b`; or, where none are listed, the first `limit` top-level columns. Columns
    without an order, and names that the table lacks, are left out.

    Clauses: MT-011, MT-013, IX-004.
    """
    meta = tuple(IndexedColumn(name, pa.string()) for name in meta_fields)
    if listed:
        found = ((name, type_at(schema, name)) for name in dict.fromkeys(listed) if name not in META_FIELDS)
        return (*meta, *(IndexedColumn(name, kind) for name, kind in found if kind and has_bounds(kind, version)))
    plain = [one for one in schema if one.name not in META_FIELDS and has_bounds(one.type, version)]
    return (*meta, *(IndexedColumn(one.name, one.type) for one in plain[:limit]))


def indexed_meta_fields(table_version: int, *, populated: bool) -> tuple[str, ...]:
    """The meta fields that statistics are kept of: all of them in version 6, three from 8 on.

    Clauses: MT-011.
    """
    if not populated:
        return ()
    return _META_OF_NEWER_VERSIONS if table_version >= _FIRST_VERSION_WITH_FEWER else META_FIELDS


def has_bounds(kind: pa.DataType, version: str) -> bool:
    """Whether values of a type have bounds that an index of this version can hold.

    Clauses: MT-013, MT-023.
    """
    if kinds.is_decimal(kind) and version == "V1":
        return bool(kind.scale <= _PLAIN_SCALE and kind.precision - kind.scale <= _PLAIN_PRECISION - _PLAIN_SCALE)
    return not kinds.is_nested(kind) and not kinds.is_null(kind)


def base_file_statistics(
    file_name: str, footer: pq.FileMetaData, columns: Iterable[IndexedColumn], version: str, read: ColumnReader
) -> tuple[ColumnStats, ...]:
    """Statistics of the columns that a Parquet file has, lists and maps left out.

    `read` gives a column's values where the footer does not bound them: floating point numbers, since a footer leaves
    not-a-number out, and texts too long for it.

    Clauses: MT-011, MT-013, MT-023.
    """
    places = {footer.schema.column(at).path: at for at in range(len(footer.schema))}
    return tuple(
        _statistics(file_name, column, _of_footer(footer, places[column.name], column, read), version)
        for column in columns
        if column.name in places
    )


def rows_statistics(
    file_name: str, rows: pa.Table, columns: Iterable[IndexedColumn], version: str
) -> tuple[ColumnStats, ...]:
    """Statistics of the columns that the rows of a log file have; sizes are not known there and 0.

    Clauses: MT-011, MT-013, MT-023.
    """
    return tuple(
        _statistics(file_name, column, _of_values(values), version)
        for column in columns
        if (values := values_at(rows, column.name)) is not None
    )


def no_rows_statistics(file_name: str, columns: Iterable[IndexedColumn], version: str) -> tuple[ColumnStats, ...]:
    """Statistics of a log file that only deletes: there are no values.

    Clauses: MT-011.
    """
    kind = ValueType(ValueKind.NULL) if version != "V1" else None
    return tuple(ColumnStats(file_name, one.name, None, None, 0, 0, 0, 0, value_type=kind) for one in columns)


def _of_footer(footer: pq.FileMetaData, place: int, column: IndexedColumn, read: ColumnReader) -> _Counts:
    chunks = [footer.row_group(group).column(place) for group in range(footer.num_row_groups)]
    sizes = sum(one.total_compressed_size for one in chunks), sum(one.total_uncompressed_size for one in chunks)
    found = [one.statistics for one in chunks]
    values = sum(one.num_values for one in chunks)
    nulls = sum(one.null_count for one in found if one is not None and one.has_null_count)
    counted = all(one is not None and one.has_null_count for one in found)
    bounded = [one for one in found if one is not None and one.has_min_max]
    filled = [one for one in found if one is None or one.num_values]
    if not counted or len(bounded) < len(filled) or kinds.is_floating(column.type):
        stored = _of_values(_within(read, column.name))
        return _Counts(stored.values, stored.nulls, stored.minimum, stored.maximum, *sizes)
    if not bounded:
        return _Counts(values, nulls, None, None, *sizes)
    least = min(_physical_raw(one.min_raw, column.type) for one in bounded)
    return _Counts(values, nulls, least, max(_physical_raw(one.max_raw, column.type) for one in bounded), *sizes)


def _physical_raw(value: Any, kind: pa.DataType) -> Any:
    """A footer's bound: decimals in bytes are big-endian numbers."""
    return int.from_bytes(value, "big", signed=True) if kinds.is_decimal(kind) and isinstance(value, bytes) else value


def _of_values(values: pa.ChunkedArray) -> _Counts:
    nulls = values.null_count
    if nulls == len(values):
        return _Counts(len(values), nulls)
    if kinds.is_floating(values.type):
        return _Counts(len(values), nulls, *_floating_bounds(values))
    bounds = pc.min_max(_physical(values))
    return _Counts(len(values), nulls, *(_plain(bounds[name].as_py(), values.type) for name in ("min", "max")))


def _physical(values: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = values.type
    if kinds.is_date32(kind) or kinds.is_time32(kind):
        return values.cast(pa.int32())
    if kinds.is_timestamp(kind) or kinds.is_time64(kind):
        return values.cast(pa.int64())
    if kinds.is_string(kind) or kinds.is_large_string(kind):
        return values.cast(pa.large_binary())
    return values.cast(kind.value_type) if kinds.is_dictionary(kind) else values


def _plain(value: Any, kind: pa.DataType) -> Any:
    return int(value.scaleb(kind.scale, _EXACT)) if isinstance(value, Decimal) else value


def _floating_bounds(values: pa.ChunkedArray) -> tuple[float, float]:
    """Bounds in the order that has not-a-number above all; zero as the least is the negative one."""
    real = pc.min_max(values.filter(pc.invert(pc.is_nan(values))))
    least, greatest = real["min"].as_py(), real["max"].as_py()
    if pc.any(pc.is_nan(values)).as_py():
        greatest = math.nan
    least = math.nan if least is None else least
    return (-0.0 if least == 0 else least), (0.0 if greatest == 0 else greatest)


def _statistics(file_name: str, column: IndexedColumn, counts: _Counts, version: str) -> ColumnStats:
    return ColumnStats(
        file_name=file_name,
        column_name=column.name,
        minimum=wrapped_bound(counts.minimum, column.type, version),
        maximum=wrapped_bound(counts.maximum, column.type, version),
        value_count=counts.values,
        null_count=counts.nulls,
        total_size=counts.size,
        total_uncompressed_size=counts.unpacked_size,
        value_type=None if version == "V1" else value_type_of(column.type),
    )


def wrapped_bound(value: Any, kind: pa.DataType, version: str) -> Wrapped | None:
    """A bound in its wrapper: numbers as such, dates, times and moments as numbers, decimals unscaled, texts as bytes.

    Clauses: MT-023, IX-004.
    """
    if value is None:
        return None
    if kinds.is_decimal(kind):
        return _wrapped_decimal(value, kind, version)
    if kinds.is_date32(kind):
        return Wrapped("Date" if version == "V1" else "Int", value)
    if isinstance(value, bytes):
        texts = kinds.is_string(kind) or kinds.is_large_string(kind)
        return Wrapped("String", value.decode(errors="replace")) if texts else Wrapped("Bytes", value)
    return Wrapped(_number_wrapper(kind), value)


def _wrapped_decimal(value: int, kind: pa.DataType, version: str) -> Wrapped:
    if version == "V1":
        number = Decimal(value).scaleb(-kind.scale, _EXACT)
        return Wrapped("Decimal", number.quantize(Decimal(1).scaleb(-_PLAIN_SCALE), context=_EXACT))
    bits = (value if value >= 0 else ~value).bit_length()
    return Wrapped("Bytes", value.to_bytes(bits // _BITS_A_BYTE + 1, "big", signed=True))


def _number_wrapper(kind: pa.DataType) -> str:
    if kinds.is_boolean(kind):
        return "Boolean"
    if kinds.is_floating(kind):
        return "Float" if kinds.is_float32(kind) else "Double"
    return "Long" if kind.bit_width > pa.int32().bit_width else "Int"


def value_type_of(kind: pa.DataType) -> ValueType:
    """The kind of a column as an index of version V2 names it.

    Clauses: MT-023, IX-004.
    """
    if kinds.is_decimal(kind):
        return ValueType(ValueKind.DECIMAL, f"{kind.precision},{kind.scale}")
    if kinds.is_timestamp(kind) or kinds.is_time(kind):
        local = "LOCAL_" if kinds.is_timestamp(kind) and kind.tz is None else ""
        what = "TIMESTAMP" if kinds.is_timestamp(kind) else "TIME"
        return ValueType(ValueKind[f"{local}{what}_{_UNIT_NAMES[kind.unit]}"])
    if kinds.is_date32(kind):
        return ValueType(ValueKind.DATE)
    if kinds.is_string(kind) or kinds.is_large_string(kind):
        return ValueType(ValueKind.STRING)
    if kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_fixed_size_binary(kind):
        return ValueType(ValueKind.BYTES)
    return ValueType(ValueKind[_number_wrapper(kind).upper()])


def type_at(schema: pa.Schema, name: str) -> pa.DataType | None:
    """The type of a column by its path, `a.b` within a struct; None where there is none, or two have its name."""
    first, *rest = name.split(".")
    place = schema.get_field_index(first)
    kind = schema.field(place).type if place >= 0 else None
    for part in rest:
        inner = kind.get_field_index(part) if kind is not None and kinds.is_struct(kind) else -1
        kind = kind.field(inner).type if kind is not None and inner >= 0 else None
    return kind


def values_at(rows: pa.Table, name: str) -> pa.ChunkedArray | None:
    """The values of a column by its path; None where there is none."""
    return None if type_at(rows.schema, name) is None else _within(rows.column, name)


def _within(read: ColumnReader, name: str) -> pa.ChunkedArray:
    first, *rest = name.split(".")
    values = read(first)
    return pc.struct_field(values, rest) if rest else values
