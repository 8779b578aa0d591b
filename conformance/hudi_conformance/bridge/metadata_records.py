"""Entries of the model's metadata table as the records that files have, in the forms of a table version."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from hudi_adapter.logical_types import DecimalType, parse_type
from hudi_format.base.bloom_filters import TYPE_CODE, build_bloom_filter, encode_bloom_filter
from hudi_format.metadata import keys
from hudi_format.metadata.record_schemas import SchemaRelease
from hudi_format.metadata.records import (
    ALL_PARTITIONS_KEY,
    UNPARTITIONED,
    BloomFilterEntry,
    ColumnStats,
    FileEntry,
    FileIdEncoding,
    FileList,
    MetadataRecord,
    RecordLocation,
    RecordType,
    SecondaryEntry,
    halves_of,
)
from hudi_format.metadata.wrapped_values import ValueKind, ValueType, Wrapped
from hudi_model.actions import IndexDefinition
from hudi_model.filters import RESULTS
from hudi_model.metadata import STATISTICS
from hudi_model.time import InstantTime, moment_of

# The two lines of index versions: in the second the type stands beside the bounds.
_FIRST_WITH_TYPED_BOUNDS = 9
_PLAIN_DIGITS, _PLAIN_FRACTION = 30, 15
_PLAIN_SCALE = Decimal("1E-15")
# The widest decimals have 38 digits; Python keeps 28 of them.
_EXACT = Context(prec=60)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_WRAPPERS: Mapping[str, str] = {
    "boolean": "Boolean",
    "int32": "Int",
    "int64": "Long",
    "float32": "Float",
    "float64": "Double",
    "string": "String",
    "binary": "Bytes",
    "date": "Int",
    "time-millis": "Int",
    **dict.fromkeys(("time-micros", "timestamp-millis", "timestamp-micros"), "Long"),
    **dict.fromkeys(("local-timestamp-millis", "local-timestamp-micros"), "Long"),
}
_KINDS: Mapping[str, ValueKind] = {
    "int32": ValueKind.INT,
    "int64": ValueKind.LONG,
    "float32": ValueKind.FLOAT,
    "float64": ValueKind.DOUBLE,
    "binary": ValueKind.BYTES,
}


@dataclass(frozen=True, slots=True)
class RecordForm:
    """How the entries of one index of a table become records. `sizes` has the bytes of files by path."""

    index: IndexDefinition
    version: int
    types: Mapping[str, str]
    sizes: Mapping[str, int]

    def key(self, text: str) -> str:
        """A key on disk, of the model's."""
        parts = text.split("|")
        match self.index.kind:
            case "column_stats":
                return keys.column_stats_key(*parts)
            case "partition_stats":
                return keys.partition_stats_key(*parts)
            case "bloom_filters":
                return keys.bloom_filter_key(*parts)
            case "secondary_index":
                return keys.secondary_key(*keys.split_secondary_key(text))
        return text

    def states(self, text: str) -> bool:
        """Whether records have a place for an entry: none has one of nested values, nor of decimals that are too wide.

        Clauses: MT-023.
        """
        if self.index.kind not in STATISTICS:
            return True
        name = self._result_type(text.partition("|")[0])
        kind = parse_type(name)
        if not isinstance(kind, DecimalType):
            return name in _WRAPPERS
        fits = kind.scale <= _PLAIN_FRACTION and kind.precision - kind.scale <= _PLAIN_DIGITS - _PLAIN_FRACTION
        return fits or self.version >= _FIRST_WITH_TYPED_BOUNDS

    def record(self, text: str, content: Any, instant: InstantTime) -> MetadataRecord:
        """An entry as a record."""
        found, key = text.split("|"), self.key(text)
        match self.index.kind:
            case "files":
                kind = RecordType.ALL_PARTITIONS if text == ALL_PARTITIONS_KEY else RecordType.FILES
                return MetadataRecord(key, kind, self._files(text, content))
            case "column_stats":
                stats = self._statistics(found[0], found[2], content)
                return MetadataRecord(key, RecordType.COLUMN_STATS, stats)
            case "partition_stats":
                stats = self._statistics(found[0], found[1], content, is_tight_bound=True)
                return MetadataRecord(key, RecordType.PARTITION_STATS, stats)
            case "bloom_filters":
                bloom = encode_bloom_filter(build_bloom_filter(content, max(len(content), 1))).encode()
                return MetadataRecord(key, RecordType.BLOOM_FILTER, BloomFilterEntry(TYPE_CODE, instant, bloom))
            case "record_index":
                partition, file_id = content
                return MetadataRecord(key, RecordType.RECORD_INDEX, _location(str(partition), str(file_id), instant))
        return MetadataRecord(key, RecordType.SECONDARY_INDEX, SecondaryEntry())

    def _files(self, partition: str, listed: Mapping[str, int | None]) -> FileList:
        folder = "" if partition == UNPARTITIONED else f"{partition}/"
        return FileList(
            {
                name: FileEntry(0, is_deleted=True) if size is None else FileEntry(self._size(folder + name, size))
                for name, size in listed.items()
            }
        )

    def _size(self, path: str, recorded: int) -> int:
        return recorded or self.sizes.get(path, 0)

    def _statistics(self, column: str, file: str, found: list[Any], *, is_tight_bound: bool = False) -> ColumnStats:
        least, greatest, nulls, count = found
        kind = self._result_type(column)
        typed = self.version >= _FIRST_WITH_TYPED_BOUNDS
        wrapped = [None if one is None else _wrapped(one, kind, typed=typed) for one in (least, greatest)]
        value_type = _value_type(kind) if typed else None
        release_knows = self.version >= _FIRST_WITH_TIGHT_BOUNDS
        return ColumnStats(
            file,
            column,
            minimum=wrapped[0],
            maximum=wrapped[1],
            value_count=count if self.index.function == "identity" else count - nulls,
            null_count=nulls,
            total_size=0,
            total_uncompressed_size=0,
            is_tight_bound=is_tight_bound and release_knows,
            value_type=value_type,
        )

    def _result_type(self, column: str) -> str:
        return RESULTS.get(self.index.function, self.types[column])


_FIRST_WITH_TIGHT_BOUNDS = 8


def release_of(version: int) -> SchemaRelease:
    """The line of releases whose records a table version has."""
    if version >= _FIRST_WITH_TYPED_BOUNDS:
        return SchemaRelease.V1_1
    return SchemaRelease.V1_0 if version >= _FIRST_WITH_TIGHT_BOUNDS else SchemaRelease.V0_15


def _location(partition: str, file_id: str, instant: InstantTime) -> RecordLocation:
    milliseconds = 0 if instant.startswith("0000") else (moment_of(instant) - _EPOCH) // dt.timedelta(milliseconds=1)
    try:
        halves_of(file_id)
    except ValueError:
        return RecordLocation(partition, file_id, milliseconds, FileIdEncoding.TEXT)
    return RecordLocation(partition, file_id, milliseconds)


def _wrapped(value: Any, kind: str, *, typed: bool) -> Wrapped:
    """A bound in its wrapper. Typed ones are bare numbers, texts and bytes; the others say their kind themselves."""
    decimal = parse_type(kind)
    if isinstance(decimal, DecimalType):
        return _wrapped_decimal(value, decimal.scale, typed=typed)
    wrapper = "Date" if kind == "date" and not typed else _WRAPPERS[kind]
    return Wrapped(wrapper, _plain(value, kind))


def _wrapped_decimal(value: Decimal, scale: int, *, typed: bool) -> Wrapped:
    if not typed:
        return Wrapped("Decimal", value.quantize(_PLAIN_SCALE, context=_EXACT))
    number = int(value.scaleb(scale, context=_EXACT))
    bits = (number if number >= 0 else ~number).bit_length()
    return Wrapped("Bytes", number.to_bytes(bits // 8 + 1, "big", signed=True))


def _plain(value: Any, kind: str) -> Any:
    """Dates, times and moments as numbers in the unit of their type; every other value as it is."""
    unit = dt.timedelta(milliseconds=1) if kind.endswith("millis") else dt.timedelta(microseconds=1)
    if isinstance(value, dt.datetime):
        return ((value if value.tzinfo else value.replace(tzinfo=dt.timezone.utc)) - _EPOCH) // unit
    if isinstance(value, dt.date):
        return (value - _EPOCH.date()).days
    if isinstance(value, dt.time):
        return (dt.datetime.combine(_EPOCH.date(), value, dt.timezone.utc) - _EPOCH) // unit
    return value


def _value_type(kind: str) -> ValueType:
    logical = parse_type(kind)
    if isinstance(logical, DecimalType):
        return ValueType(ValueKind.DECIMAL, f"{logical.precision},{logical.scale}")
    return ValueType(_KINDS.get(kind) or ValueKind[kind.upper().replace("-", "_")])
