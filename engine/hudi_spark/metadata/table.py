"""The metadata table as readers ask it: lists of files, statistics, bloom filters, places of records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.errors import FormatError
from hudi_format.metadata.keys import (
    bloom_filter_key,
    column_stats_key,
    expression_partition_stats_key,
    files_key,
    partition_stats_key,
    secondary_prefix,
    split_secondary_key,
)
from hudi_format.metadata.partitions import Partition, expression_index_partition, secondary_index_partition
from hudi_format.metadata.records import (
    ALL_PARTITIONS_KEY,
    UNPARTITIONED,
    BloomFilterEntry,
    ColumnStats,
    FileList,
    MetadataRecord,
    RecordLocation,
)
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.metadata.group_reading import EVERYTHING, GroupReader
from hudi_spark.metadata.index_partition import IndexPartition
from hudi_spark.metadata.index_slices import slices_of_indexes
from hudi_spark.metadata.own_state import OwnState
from hudi_spark.metadata.subfolder import METADATA_FOLDER, subfolder
from hudi_spark.metadata.validity import counted_beside
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Timeline

_Place = TypeVar("_Place")

PARTITIONS_KEY = "hoodie.table.metadata.partitions"

FileKey = tuple[str, str]
"""Partition path, empty where there is none, and file name."""


@dataclass(frozen=True, slots=True)
class NoMetadata:
    """That a metadata table may not be used, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class MetadataTable:
    """What one state of a metadata table says; nothing is read before it is asked for, and nothing twice.

    Partition paths are those of the table's folders, empty where it has no partitions.

    Clauses: MT-001, MT-002, MT-006, MT-007, MT-019.
    """

    indexes: Mapping[str, IndexPartition] = field(repr=False)

    @staticmethod
    def open(
        storage: Storage, configuration: TableConfiguration, timeline: Timeline, own: OwnState | None = None
    ) -> "MetadataTable | None":
        """The metadata table beside one state of the data timeline, or None where it may not be used.

        `own`: what is known of it already.
        """
        found = open_metadata_table(storage, configuration, timeline, own)
        return found if isinstance(found, MetadataTable) else None

    def partitions(self) -> tuple[str, ...]:
        """The names of the indexes that may be used.

        Clauses: MT-007.
        """
        return tuple(sorted(self.indexes))

    def data_partitions(self) -> tuple[str, ...]:
        """The paths of the table's partitions.

        Clauses: MT-010.
        """
        found = self.indexes[Partition.FILES].get((ALL_PARTITIONS_KEY,))
        listed = found.get(ALL_PARTITIONS_KEY)
        return tuple(sorted(_path(name) for name in _live(listed)))

    def files(self, partition: str) -> Mapping[str, int]:
        """Sizes of the files of a partition, by name; none for a partition that is not known.

        Clauses: MT-010.
        """
        key = files_key(partition)
        return _live(self.indexes[Partition.FILES].get((key,)).get(key))

    def all_files(self) -> Mapping[str, Mapping[str, int]]:
        """The files of every partition.

        Clauses: MT-010.
        """
        records = self.indexes[Partition.FILES].records(EVERYTHING)
        return {_path(name): _live(records.get(files_key(name))) for name in _live(records.get(ALL_PARTITIONS_KEY))}

    def column_stats(
        self, columns: Sequence[str], files: Iterable[FileKey]
    ) -> Mapping[FileKey, Mapping[str, ColumnStats]]:
        """Statistics of columns in files, base files and logs, as far as there are any.

        Clauses: MT-011, MT-012, MT-013.
        """
        return self._stats(Partition.COLUMN_STATS, columns, files)

    def partition_stats(
        self, columns: Sequence[str], partitions: Iterable[str]
    ) -> Mapping[str, Mapping[str, ColumnStats]]:
        """Statistics of columns in whole partitions, as far as there are any.

        Clauses: MT-014.
        """
        keys = {partition_stats_key(column, one): (one, column) for one in partitions for column in columns}
        return _grouped(self._get(Partition.PARTITION_STATS, keys), keys)

    def bloom_filters(self, files: Iterable[FileKey]) -> Mapping[FileKey, BloomFilter]:
        """The bloom filters of the record keys of base files, as far as there are any.

        Raises:
            FormatError: BASE_FILE_CORRUPT for a filter that does not decode.

        Clauses: IX-010, IX-011.

        """
        return self._blooms(Partition.BLOOM_FILTERS, files)

    def record_locations(self, keys: Iterable[str]) -> Mapping[str, tuple[RecordLocation, ...]]:
        """Where record keys live: one place each, or one for each partition where the index is partitioned.

        Clauses: IX-020, IX-022, IX-023.
        """
        found: dict[str, tuple[RecordLocation, ...]] = {}
        for record in self._index(Partition.RECORD_INDEX).each(tuple(keys)):
            if isinstance(record.content, RecordLocation):
                found[record.key] = (*found.get(record.key, ()), record.content)
        return found

    def secondary_keys(self, index: str, values: Iterable[str | None]) -> Mapping[str | None, frozenset[str]]:
        """The record keys that have each of the values, by the index' name with or without prefix; None is null.

        Clauses: IX-030, IX-057.
        """
        found: dict[str | None, frozenset[str]] = {value: frozenset() for value in values}
        prefixes = tuple(secondary_prefix(value) for value in found)
        for key in self._index(secondary_index_partition(index)).starting_with(prefixes):
            value, record_key = split_secondary_key(key)
            found[value] |= {record_key}
        return found

    def expression_stats(self, index: str, column: str, files: Iterable[FileKey]) -> Mapping[FileKey, ColumnStats]:
        """Statistics of an expression's results in files, by the index' name and its source column.

        Clauses: IX-040.
        """
        found = self._stats(expression_index_partition(index), (column,), files)
        return {file: stats[column] for file, stats in found.items()}

    def expression_partition_stats(
        self, index: str, column: str, partitions: Iterable[str]
    ) -> Mapping[str, ColumnStats]:
        """Statistics of an expression's results in whole partitions, as far as there are any.

        Clauses: IX-042.
        """
        keys = {expression_partition_stats_key(column, one): (one, column) for one in partitions}
        found = _grouped(self._get(expression_index_partition(index), keys), keys)
        return {partition: stats[column] for partition, stats in found.items()}

    def expression_bloom_filters(self, index: str, files: Iterable[FileKey]) -> Mapping[FileKey, BloomFilter]:
        """The bloom filters of an expression's results in base files.

        Clauses: IX-040, IX-058.
        """
        return self._blooms(expression_index_partition(index), files)

    def _stats(
        self, index: str, columns: Sequence[str], files: Iterable[FileKey]
    ) -> dict[FileKey, dict[str, ColumnStats]]:
        keys = {column_stats_key(column, *file): (file, column) for file in files for column in columns}
        return _grouped(self._get(index, keys), keys)

    def _blooms(self, index: str, files: Iterable[FileKey]) -> dict[FileKey, BloomFilter]:
        keys = {bloom_filter_key(*file): file for file in files}
        return {
            keys[key]: decode_bloom_filter(record.content.text.decode("latin-1"), record.content.type_code, index)
            for key, record in self._get(index, keys).items()
            if isinstance(record.content, BloomFilterEntry)
        }

    def _get(self, index: str, keys: Iterable[str]) -> Mapping[str, MetadataRecord]:
        return self._index(index).get(tuple(keys))

    def _index(self, index: str) -> IndexPartition:
        return self.indexes.get(index) or IndexPartition(())


def open_metadata_table(
    storage: Storage, configuration: TableConfiguration, timeline: Timeline, own: OwnState | None = None
) -> MetadataTable | NoMetadata:
    """The metadata table beside one state of the data timeline, or why it may not be used.

    What is broken is not used: an index, or all of it; whatever the list of files says, storage says too. `own`: what
    is known of it already.

    Clauses: MT-006, MT-007, MT-019.
    """
    available = _available(configuration)
    if Partition.FILES not in available:
        return NoMetadata(f"{PARTITIONS_KEY} does not list files")
    try:
        own = own or OwnState(subfolder(storage, METADATA_FOLDER))
        slices = slices_of_indexes(own.storage, own.table, available, own.listing)
        seen = counted_beside(slices.visibility, timeline, storage, configuration)
    except (HudiError, FormatError, UnsupportedFeature, OSError, ValueError) as error:
        return NoMetadata(f"the metadata table cannot be read: {error}")
    found = {
        name: IndexPartition(tuple(GroupReader(own.storage, one, seen) for one in slices.of(name)))
        for name in available
    }
    whole = {name: index for name, index in found.items() if index.groups and index.is_whole()}
    if Partition.FILES not in whole:
        why = slices.refused.get(Partition.FILES, "not all of its file groups are there")
        return NoMetadata(f"the list of files cannot be read: {why}")
    return MetadataTable(whole)


def _available(configuration: TableConfiguration) -> frozenset[str]:
    """Clauses: MT-007."""
    listed = configuration.properties.get(PARTITIONS_KEY, "")
    return frozenset(part.strip() for part in listed.split(",") if part.strip())


def _grouped(
    found: Mapping[str, MetadataRecord], keys: Mapping[str, tuple[_Place, str]]
) -> dict[_Place, dict[str, ColumnStats]]:
    grouped: dict[_Place, dict[str, ColumnStats]] = {}
    for key, record in found.items():
        if isinstance(record.content, ColumnStats):
            place, column = keys[key]
            grouped.setdefault(place, {})[column] = record.content
    return grouped


def _live(record: MetadataRecord | None) -> dict[str, int]:
    if record is None or not isinstance(record.content, FileList):
        return {}
    return {name: entry.size for name, entry in record.content.entries.items() if not entry.is_deleted}


def _path(partition: str) -> str:
    return "" if partition == UNPARTITIONED else partition
