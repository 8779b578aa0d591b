"""The metadata table as readers ask it: lists of files, statistics, bloom filters, places of records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeVar

from hudi_format.base.bloom_filters import BloomFilter, decode_bloom_filter
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.metadata.keys import (
    bloom_filter_key,
    column_stats_key,
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
from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.readings import RELEASED
from hudi_spark.table_state.commits import Commit, GroupId, commit_of
from hudi_spark.table_state.configuration import TableConfiguration
from hudi_spark.table_state.history import full_timeline
from hudi_spark.table_state.listing import METADATA_FOLDER, FileListing, ListFiles, list_stored, stored_files, subfolder
from hudi_spark.table_state.metadata_groups import EVERYTHING, GroupReader, IndexPartition
from hudi_spark.table_state.slicing import FileSlice, list_file_groups
from hudi_spark.table_state.snapshots import Snapshot, load_table, snapshot_at
from hudi_spark.table_state.timeline import Timeline, Visibility, load_timeline

INITIAL_PREFIX: Final = "00000000000000"
_RECORDING: Final = ("deltacommit", "rollback")
# Instants of the table's own services have three digits behind before version 8.
_INSTANT_DIGITS: Final = 17


def counted_beside(
    metadata: Visibility, timeline: Timeline, storage: Storage, configuration: TableConfiguration
) -> Visibility:
    """The metadata table's visibility without what belongs to actions that the data timeline does not complete.

    Actions that began after the data timeline was read do not count, though they may have completed by now; the
    timeline is looked at again only where such instants are there, since they can be those of services as well.

    Clauses: MT-006, MT-019, MT-021.
    """
    pending = {one.requested for one in timeline.one_of_each_time if not one.is_completed}
    hidden = metadata.visible & (pending | _started_since(metadata, timeline, storage, configuration))
    return replace(metadata, visible=metadata.visible - hidden, listed=metadata.listed | hidden)


def _started_since(
    metadata: Visibility, timeline: Timeline, storage: Storage, configuration: TableConfiguration
) -> set[str]:
    newest = max((one.requested for one in timeline.instants), default="")
    later = {one for one in metadata.visible if _may_be_an_action(one) and one > newest}
    if not later:
        return set()
    return later & {one.requested for one in load_timeline(storage, configuration).instants}


def _may_be_an_action(instant: str) -> bool:
    return len(instant) <= _INSTANT_DIGITS and not instant.startswith(INITIAL_PREFIX)


class OwnState:
    """A metadata table's own configuration, timeline and files, each read when it is first requested, and not again.

    Who changes the metadata table takes a new one after.

    Clauses: MT-001.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @cached_property
    def table(self) -> tuple[TableConfiguration, Timeline]:
        """Configuration and active timeline.

        Raises:
            HudiError: the reasons of a refused table.
            FormatError: what a file of the table breaks.

        """
        return load_table(self.storage)

    @cached_property
    def listing(self) -> FileListing:
        """The files of all indexes; who reads without the lock requests the timeline first."""
        return stored_files(self.storage)


@dataclass(frozen=True, slots=True)
class IndexSlices:
    """The slices of the indexes that are whole, and why others are not."""

    slices: tuple[FileSlice, ...]
    visibility: Visibility
    refused: Mapping[str, str] = field(default_factory=dict, hash=False)

    def of(self, index: str) -> tuple[FileSlice, ...]:
        """The slices of one index."""
        return tuple(one for one in self.slices if one.partition == index)


def slices_of_indexes(
    storage: Storage,
    table: tuple[TableConfiguration, Timeline],
    indexes: Iterable[str],
    files: FileListing | None = None,
) -> IndexSlices:
    """The slices of some indexes of a metadata table; `files`: those in its storage, listed after its timeline.

    Raises:
        HudiError: no index is whole.
        FormatError: what a file of the timeline breaks.

    Clauses: MT-001, MT-007, MT-017.

    """
    wanted, listing = frozenset(indexes), files or stored_files(storage)
    groups = frozenset(group for group in list_file_groups(storage, listing) if group[0] in wanted)
    try:
        found = _snapshot(storage, table, groups, listing)
    except HudiError:
        # Some index lacks files, perhaps one that was dropped and built anew; each is looked at by itself.
        return _one_by_one(storage, table, groups, listing)
    return _without_lost_groups(IndexSlices(found.slices, found.visibility), found.commits, groups)


def _without_lost_groups(found: IndexSlices, commits: Iterable[Commit], groups: frozenset[GroupId]) -> IndexSlices:
    """The same without indexes of which commits name a group that has no file left: keys would be sought elsewhere.

    Clauses: MT-017.
    """
    indexes = {index for index, _ in groups}
    named = {group for commit in commits for group in commit.base_files()}
    named |= {group for commit in commits for group, _, _ in commit.log_files()}
    lost = {index: f"the file group {file_id} is gone" for index, file_id in sorted(named - groups) if index in indexes}
    kept = tuple(one for one in found.slices if one.partition not in lost)
    return IndexSlices(kept, found.visibility, {**found.refused, **lost})


def _one_by_one(
    storage: Storage, table: tuple[TableConfiguration, Timeline], groups: frozenset[GroupId], listing: FileListing
) -> IndexSlices:
    found: list[IndexSlices] = []
    refused: dict[str, HudiError] = {}
    for index in sorted({index for index, _ in groups}):
        within = frozenset(group for group in groups if group[0] == index)
        try:
            snapshot = _snapshot(storage, _initial_partitions(storage, table, index, listing), within, listing)
        except HudiError as error:
            refused[index] = error
        else:
            each = IndexSlices(snapshot.slices, snapshot.visibility)
            found.append(_without_lost_groups(each, snapshot.commits, within))
    if not found:
        raise next(iter(refused.values()))
    slices = tuple(one for each in found for one in each.slices)
    why = {index: str(error) for index, error in refused.items()}
    why |= {index: lost for each in found for index, lost in each.refused.items()}
    # The one that began first has seen all the others' actions.
    widest = max(found, key=lambda each: len(each.visibility.visible))
    return IndexSlices(slices, widest.visibility, why)


def _initial_partitions(
    storage: Storage, table: tuple[TableConfiguration, Timeline], index: str, listing: FileListing
) -> tuple[TableConfiguration, Timeline]:
    """The table without what completed before the index began: that wrote to one of its name that was dropped.

    A later index may have begun by the same instant, once that had left the timeline: it records itself alone.

    Clauses: MT-009, MT-017, IX-002.
    """
    configuration, timeline = table
    names = (parse_data_file_name(name) for partition, name in listing.files if partition == index)
    first = min((name.instant for name in names if name is not None), default="")
    is_active = any(one.requested == first for one in timeline.instants)
    known = timeline if is_active else full_timeline(storage, configuration, timeline)
    initial = next((one for one in known.instants if one.requested == first and one.completed is not None), None)
    if initial is None or initial.completed is None:
        return table
    partitions = {stat.partition_path for stat in commit_of(storage, initial).metadata.write_stats}
    if partitions and index not in partitions:
        return table
    since = initial.completed
    return configuration, Timeline(tuple(one for one in timeline.instants if (one.completed or since) >= since))


def _snapshot(
    storage: Storage, table: tuple[TableConfiguration, Timeline], groups: frozenset[GroupId], listing: FileListing
) -> Snapshot:
    return snapshot_at(storage, table, RELEASED, None, "requested", groups, listing=listing)


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
    """What one state of a metadata table says; nothing is read before it is requested, and nothing twice.

    Partition paths are those of the table's folders, empty where it has no partitions.

    Clauses: MT-001, MT-002, MT-006, MT-007, MT-019.
    """

    indexes: Mapping[str, IndexPartition] = field(repr=False)

    @staticmethod
    def open(
        storage: Storage, configuration: TableConfiguration, timeline: Timeline, own: OwnState | None = None
    ) -> "MetadataTable | None":
        """The metadata table beside one state of the data timeline, or None where it may not be used.

        So it is where a write that has completed did not commit there: an index of keys would not know its rows.
        `own`: what is known of it already.

        Clauses: MT-003, MT-005.
        """
        own = own or OwnState(subfolder(storage, METADATA_FOLDER))
        found = open_metadata_table(storage, configuration, timeline, own)
        return found if isinstance(found, MetadataTable) and _has_each_write(own, timeline) else None

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


def _has_each_write(own: OwnState, timeline: Timeline) -> bool:
    """Whether each write of the active timeline that completed since the metadata table is kept has committed there.

    Before version 8 nothing states what completed before it was made.

    Clauses: MT-003.
    """
    configuration, inner = own.table
    if not configuration.has_completion_times:
        return True
    done = [one for one in inner.instants if one.is_completed and one.action in _RECORDING]
    initial = [one.at("completed") for one in done if one.requested.startswith(INITIAL_PREFIX)]
    kept_since = min(initial or [one.at("completed") for one in done], default=None)
    writes = [one for one in timeline.completed_data() if one.archived is None]
    missed = {one.requested for one in writes if kept_since is not None and one.at("completed") > kept_since}
    missed -= {one.requested for one in done}
    if missed:
        whole = full_timeline(own.storage, configuration, inner)
        missed -= {one.requested for one in whole.instants if one.is_completed}
    return not missed


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


METADATA_TABLE = "metadata table"
ENABLED_KEY: Final = "hoodie.metadata.enable"
_ENABLED_BY_DEFAULT: Final = "true"


def lister(configs: Mapping[str, str]) -> ListFiles:
    """Who lists files: the metadata table as releases have it by default, storage where the option says so.

    Raises:
        HudiError: CONFIG_INVALID for a value that is neither true nor false.

    Clauses: MT-007, RD-001.

    """
    text = configs.get(ENABLED_KEY, _ENABLED_BY_DEFAULT).strip().lower()
    if text not in {"true", "false"}:
        raise HudiError(Reason.CONFIG_INVALID, "RD-001", f"{ENABLED_KEY} is {text!r}", hint="say true or false")
    return list_by_metadata if text == "true" else list_stored


def list_by_metadata(storage: Storage, configuration: TableConfiguration, timeline: Timeline) -> FileListing:
    """The files that the metadata table lists; those in storage, with the reason, where it may not be used.

    Clauses: MT-007, MT-010, MT-019.
    """
    return listing_of(storage, open_metadata_table(storage, configuration, timeline))


def listing_of(storage: Storage, metadata: MetadataTable | NoMetadata) -> FileListing:
    """The same for a metadata table that is open already.

    Clauses: MT-007, MT-010.
    """
    if isinstance(metadata, NoMetadata):
        return stored_files(storage, f"storage: {metadata.why}")
    try:
        partitions = metadata.all_files()
    except (FormatError, UnsupportedFormat, HudiError, OSError) as error:
        return stored_files(storage, f"storage: the list of files cannot be read: {error}")
    files = ((partition, name) for partition, names in partitions.items() for name in names)
    return FileListing(tuple(sorted(files)), METADATA_TABLE)
