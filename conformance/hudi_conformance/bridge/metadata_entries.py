"""What the records of a metadata table hold, as the model has it."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hudi_format.base.bloom_filters import decode_bloom_filter
from hudi_format.metadata.records import (
    BloomFilterEntry,
    ColumnStats,
    FileList,
    MetadataRecord,
    RecordLocation,
    SecondaryEntry,
)
from hudi_format.metadata.wrapped_values import plain_value
from hudi_model.filters import RESULTS
from hudi_model.indexes import UNINDEXED, joined
from hudi_model.schemas import logical_of_physical

from hudi_conformance.bridge.metadata_names import HashedNames

UNKNOWN = object()
"""Stands for an entry that the model does not hold."""


@dataclass(frozen=True, slots=True)
class IndexForm:
    """What it takes to read the records of one index.

    `types` has the logical type of each column, `values` what stands in each file whose bloom filter is kept.
    """

    partition: str
    names: HashedNames
    types: Mapping[str, str]
    function: str = "identity"
    is_partitioned: bool = False
    values: Mapping[str, Collection[str]] | None = None

    def entry(self, record: MetadataRecord) -> tuple[str, Any] | None:
        """The key of a record and what it holds; a content of None takes the key away."""
        key = self.key(record)
        content = UNKNOWN if key is None else self._content(record, key)
        return None if key is None or content is UNKNOWN else (key, content)

    def key(self, record: MetadataRecord) -> str | None:
        """The model's key of a record."""
        if self.is_partitioned and isinstance(record.content, RecordLocation):
            return joined(record.content.partition, record.key)
        return self.names.key(self.partition, record.key)

    def _content(self, record: MetadataRecord, key: str) -> Any:
        match record.content:
            case FileList(entries):
                return {name: None if entry.is_deleted else entry.size for name, entry in entries.items()}
            case ColumnStats() as stats:
                return self._statistics(stats)
            case BloomFilterEntry() as bloom:
                return None if bloom.is_deleted else self._values(bloom, key)
            case RecordLocation(partition, file_id):
                return [partition, file_id]
            case SecondaryEntry(is_deleted):
                return None if is_deleted else ""

    def _statistics(self, stats: ColumnStats) -> Any:
        """Least, greatest, nulls and count; of columns that the model has no statistics of, nothing is known."""
        column = stats.column_name or ""
        if column in UNINDEXED or column not in self.types:
            return UNKNOWN
        if stats.is_deleted:
            return None
        kind = RESULTS.get(self.function, self.types[column])
        bounds = [_logical(plain_value(one, stats.value_type), kind) for one in (stats.minimum, stats.maximum)]
        if UNKNOWN in bounds or stats.value_count is None or stats.null_count is None:
            return UNKNOWN
        # The results of an expression are counted without the nulls among them, the values of a column with them.
        count = stats.value_count + (0 if self.function == "identity" else stats.null_count)
        return [*bounds, stats.null_count, count]

    def _values(self, bloom: BloomFilterEntry, key: str) -> Any:
        """Of what a file holds, what its filter does not rule out: all of it, where the filter is right."""
        found = decode_bloom_filter(bloom.text.decode("latin-1"), bloom.type_code, self.partition)
        if self.values is None:
            return UNKNOWN
        return sorted(one for one in self.values.get(key, ()) if found.may_contain(one))


def _logical(value: Any, kind: str) -> Any:
    """A bound in the type of its column; of bytes and lists the model knows no order."""
    if isinstance(value, bytes | tuple | list):
        return UNKNOWN
    if kind.startswith("time-") and isinstance(value, int):
        unit = dt.timedelta(milliseconds=1) if kind == "time-millis" else dt.timedelta(microseconds=1)
        return (dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc) + value * unit).time()
    found = logical_of_physical(value, kind)
    if isinstance(found, dt.datetime):
        return found.replace(tzinfo=None if kind.startswith("local-") else dt.timezone.utc)
    return found if isinstance(found, bool | int | float | str | Decimal | dt.date | dt.time | None) else UNKNOWN
