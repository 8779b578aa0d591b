"""The file groups of the metadata table, looked into by keys, by prefixes, or whole.

lists of files   name by name; a name that the later marks as deleted is gone, sizes only grow
statistics       the later, where either is deleted or the later is a tight bound; else both ranges together
everything else  the later
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.hfile.reader import HFile, open_hfile, open_stored_hfile
from hudi_format.log.blocks import BlockType, HeaderKey
from hudi_format.log.content import decode_deletes
from hudi_format.log.hfiles import log_origin
from hudi_format.metadata.codec import decode_metadata_record, reading_metadata_schema
from hudi_format.metadata.files import decode_metadata_block
from hudi_format.metadata.partitions import data_partition_of_id, file_group_of_id, file_group_of_key
from hudi_format.metadata.records import ColumnStats, FileEntry, FileList, MetadataRecord
from hudi_format.metadata.wrapped_values import Wrapped, plain_value
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.errors import SkippedBytes
from hudi_spark.table_state.listing import file_name_of
from hudi_spark.table_state.slicing import FileSlice, LocatedBlock, scan_logs
from hudi_spark.table_state.timeline import Visibility


def combined(earlier: MetadataRecord | None, later: MetadataRecord, *, marks_stay: bool = False) -> MetadataRecord:
    """The record that counts after both.

    `marks_stay`: of a list of files also marks of names that the earlier record has, for what lies below both.

    Clauses: MT-008, MT-018.
    """
    if earlier is None or earlier.type is not later.type:
        return later
    before, after = earlier.content, later.content
    if isinstance(before, FileList) and isinstance(after, FileList):
        return replace(later, content=_combined_files(before, after, marks_stay=marks_stay))
    if isinstance(before, ColumnStats) and isinstance(after, ColumnStats):
        return replace(later, content=_combined_stats(before, after))
    return later


def is_live(record: MetadataRecord) -> bool:
    """Whether a record says that something is there."""
    return isinstance(record.content, FileList) or not getattr(record.content, "is_deleted", False)


def _combined_files(before: FileList, after: FileList, *, marks_stay: bool) -> FileList:
    """Clauses: MT-008, MT-010."""
    entries = dict(before.entries)
    for name, entry in after.entries.items():
        known = entries.get(name)
        if entry.is_deleted and known is not None and not (known.is_deleted or marks_stay):
            del entries[name]
        elif known is None or entry.is_deleted:
            # The mark of a name that is not there yet meets it in the base file.
            entries[name] = entry
        else:
            entries[name] = FileEntry(max(known.size, entry.size))
    return FileList(entries)


def _combined_stats(before: ColumnStats, after: ColumnStats) -> ColumnStats:
    """Clauses: MT-018."""
    if before.is_deleted or after.is_deleted or after.is_tight_bound:
        return after
    return replace(
        after,
        minimum=_chosen(min, before, after, before.minimum, after.minimum),
        maximum=_chosen(max, before, after, before.maximum, after.maximum),
        value_type=before.value_type if after.minimum is None else after.value_type,
        value_count=_sum(before.value_count, after.value_count),
        null_count=_sum(before.null_count, after.null_count),
        total_size=_sum(before.total_size, after.total_size),
        total_uncompressed_size=_sum(before.total_uncompressed_size, after.total_uncompressed_size),
    )


def _sum(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else before + after


def _chosen(
    choose: Callable[..., tuple[Any, Wrapped]],
    before: ColumnStats,
    after: ColumnStats,
    earlier: Wrapped | None,
    later: Wrapped | None,
) -> Wrapped | None:
    if earlier is None or later is None:
        return later if earlier is None else earlier
    pairs = ((plain_value(earlier, before.value_type), earlier), (plain_value(later, after.value_type), later))
    try:
        return choose(pairs, key=lambda pair: pair[0])[1]
    except TypeError:
        # Bounds that do not compare bound nothing together.
        return None


_SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which keys are requested: these, those that begin with one of the prefixes, or all when both are None."""

    keys: frozenset[str] | None = None
    prefixes: tuple[str, ...] | None = None

    def holds(self, key: str) -> bool:
        """Whether a key is requested."""
        if self.keys is not None:
            return key in self.keys
        return self.prefixes is None or key.startswith(self.prefixes)


EVERYTHING = Wanted()


@dataclass(frozen=True)
class GroupReader:
    """Reads one file slice; what was opened stays open, so that several questions read the files once.

    Clauses: MT-001, MT-008.
    """

    storage: Storage
    slice: FileSlice
    visibility: Visibility

    def records(self, wanted: Wanted = EVERYTHING) -> dict[str, MetadataRecord]:
        """The records requested that are there, by key.

        Raises:
            FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, LIMIT_EXCEEDED.
            UnsupportedFormat: a base file or block of a kind that no metadata table has.

        Clauses: MT-008, MT-018.

        """
        found: dict[str, MetadataRecord] = {}
        for layer in self._layers:
            if isinstance(layer, _Deleted):
                for key in layer.keys:
                    found.pop(key, None)
            else:
                for record in layer.records(wanted):
                    found[record.key] = combined(found.get(record.key), record)
        return {key: record for key, record in found.items() if is_live(record)}

    def _refuse_torn(self, skipped: SkippedBytes) -> None:
        """Nothing for bytes that a failed append may have left, in a log that is named after its slice.

        Raises:
            FormatError: LOG_CONTENT_CORRUPT in one of a deltacommit alone: entries of it are lost, and keys with them.

        Clauses: LF-010, MT-005.

        """
        name = parse_data_file_name(file_name_of(skipped.file))
        if isinstance(name, LogFileName) and name.instant != self.slice.base_instant:
            hint = "restore the log; or turn the metadata table off and on, and it is built anew"
            why = f"an index lacks what was written here: {skipped.message}"
            # Whoever looks keys up names files of the table, not of the metadata table.
            file = f"{self.storage.base.rstrip('/')}/{skipped.file}"
            raise FormatError(Reason.LOG_CONTENT_CORRUPT, "MT-005", file, skipped.offset, why, hint)

    @cached_property
    def _layers(self) -> "tuple[_Layer, ...]":
        """Base file and log blocks, oldest first."""
        base = () if self.slice.base_file is None else (_base_layer(self.storage, self.slice.base_file),)
        scan = scan_logs(self.storage, self.slice.log_files, self.visibility)
        for one in scan.skipped:
            self._refuse_torn(one)
        return (*base, *(_layer(one) for one in scan.blocks))


@dataclass(frozen=True, slots=True)
class _Keyed:
    """An HFile, in which only what is requested is decoded."""

    hfile: HFile
    schema: Any

    def records(self, wanted: Wanted) -> Iterator[MetadataRecord]:
        for key, value in _entries(self.hfile, wanted):
            yield decode_metadata_record(key, value, self.schema, self.hfile.origin)


@dataclass(frozen=True, slots=True)
class _Listed:
    """The records of an Avro block."""

    decoded: tuple[MetadataRecord, ...]

    def records(self, wanted: Wanted) -> Iterator[MetadataRecord]:
        return (record for record in self.decoded if wanted.holds(record.key))


@dataclass(frozen=True, slots=True)
class _Deleted:
    """The keys of a delete block."""

    keys: tuple[str, ...]


_Layer = _Keyed | _Listed | _Deleted


def _base_layer(storage: Storage, path: str) -> _Layer:
    if not path.endswith(".hfile"):
        raise UnsupportedFormat("metadata-base-file", path)
    hfile = open_stored_hfile(storage, path)
    return _Keyed(hfile, reading_metadata_schema(hfile.info.get(_SCHEMA, b"").decode(errors="replace"), hfile.origin))


def _layer(one: LocatedBlock) -> _Layer:
    """What one log block adds or removes.

    Clauses: LF-008, LF-026, MT-018.
    """
    block = one.block
    if block.type is BlockType.DELETE:
        return _Deleted(tuple(delete.key for delete in decode_deletes(block, one.file) if delete.key is not None))
    if block.type is BlockType.AVRO_DATA:
        return _Listed(decode_metadata_block(block, one.file))
    if block.type is not BlockType.HFILE_DATA:
        raise UnsupportedFormat(f"metadata-block-{block.type.name.lower()}", one.file)
    origin = log_origin(block, one.file)
    schema = reading_metadata_schema(block.header.get(HeaderKey.SCHEMA, ""), origin)
    return _Keyed(open_hfile(block.content, origin), schema)


def _entries(hfile: HFile, wanted: Wanted) -> Iterable[tuple[bytes, bytes]]:
    if wanted.keys is not None:
        return hfile.get(key.encode() for key in wanted.keys).items()
    if wanted.prefixes is None:
        return hfile.entries()
    return (entry for prefix in wanted.prefixes for entry in hfile.starting_with(prefix.encode()))


@dataclass(frozen=True, slots=True)
class IndexPartition:
    """The file groups of an index; a partitioned record index has a series of them for each partition.

    Clauses: MT-017, IX-022.
    """

    groups: tuple[GroupReader, ...]

    def is_whole(self) -> bool:
        """Whether no group is missing: they are numbered from 0, and the number of them says where a key lies.

        A group of another name makes that unknown.

        Clauses: MT-017.
        """
        try:
            found = self._series().values()
        except ValueError:
            return False
        return all(sorted(series) == list(range(len(series))) for series in found)

    def records(self, wanted: Wanted) -> dict[str, MetadataRecord]:
        """The records requested, of all groups."""
        return {key: record for group in self.groups for key, record in group.records(wanted).items()}

    def get(self, keys: Iterable[str]) -> Mapping[str, MetadataRecord]:
        """The records of keys, by key."""
        return {record.key: record for record in self.each(keys)}

    def each(self, keys: Iterable[str]) -> Iterator[MetadataRecord]:
        """The records of keys, each from the group of the key; several of one key where the index is partitioned.

        Clauses: MT-017, IX-022.
        """
        wanted = frozenset(keys)
        for series in self._series().values():
            for group, within in _routed(wanted, len(series)).items():
                yield from series[group].records(Wanted(keys=within)).values()

    def starting_with(self, prefixes: tuple[str, ...]) -> Mapping[str, MetadataRecord]:
        """The records whose keys begin with one of the prefixes, by key; any group may hold some.

        Clauses: MT-017, IX-030.
        """
        return self.records(Wanted(prefixes=prefixes)) if prefixes else {}

    def _series(self) -> dict[str | None, dict[int, GroupReader]]:
        """The groups by number, for each partition that they are for."""
        series: dict[str | None, dict[int, GroupReader]] = {}
        for group in self.groups:
            file_id = group.slice.file_id
            within = data_partition_of_id(file_id) if group.slice.partition == "record_index" else None
            series.setdefault(within, {})[file_group_of_id(file_id)[0]] = group
        return series


def _routed(keys: frozenset[str], groups: int) -> dict[int, frozenset[str]]:
    routed: dict[int, set[str]] = {}
    for key in keys:
        routed.setdefault(file_group_of_key(key, groups), set()).add(key)
    return {group: frozenset(within) for group, within in routed.items()}
