"""The index `files`: names and sizes of the files of each partition, and the slices that an action leaves current."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hudi_format.metadata.keys import files_key
from hudi_format.metadata.partitions import Partition, metadata_file_id
from hudi_format.metadata.records import ALL_PARTITIONS_KEY, FileEntry, FileList, MetadataRecord, RecordType
from hudi_format.names import BaseFileName, LogFileName, is_partition_metafile, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.concurrency import joined
from hudi_spark.metadata.index import FinishedWrite, IndexChanges, Keeping, NewIndex
from hudi_spark.schema import WriterState
from hudi_spark.table_state import FileSlice, GroupId, Snapshot, completion_times

Sizes = Mapping[str, Mapping[str, int]]
"""By partition path and file name."""

_GONE: Final = FileEntry(0, is_deleted=True)


@dataclass(frozen=True, slots=True)
class FileLists:
    """The index that every metadata table has.

    Clauses: MT-007, MT-010.
    """

    def holds(self, partition: str) -> bool:
        """Whether this is the index."""
        return partition == Partition.FILES

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """Always."""
        del keeping
        return (Partition.FILES,)

    def dropped(self, keeping: Keeping, partition: str) -> bool:
        """Never: it goes with the whole table."""
        del keeping, partition
        return False

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """What storage has of completed actions, in one group.

        Clauses: MT-009, MT-010.
        """
        del partition
        sizes = completed_files(keeping.storage, keeping.state.snapshot, keeping.write)
        return NewIndex((metadata_file_id(Partition.FILES, 0),), IndexChanges(records_of(sizes, sizes)))

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """The files that an action wrote, and those that a clean removed.

        What a rollback removes never counted: the metadata of its action is rolled back too.

        Clauses: MT-008, MT-010.
        """
        del keeping, partition
        if write.action == "clean":
            return IndexChanges(_removed(write))
        sizes = written_sizes(write)
        return IndexChanges(records_of(sizes, sizes, always=write.action != "rollback"))


def completed_files(storage: Storage, snapshot: Snapshot, write: FinishedWrite) -> dict[str, dict[str, int]]:
    """The data files of completed actions in storage, older slices and replaced groups too.

    Before version 8 a log's name does not say which action wrote it: all count but those of `write`.

    Clauses: MT-009, MT-010, SL-002.
    """
    own = {one.stat.path for one in write.written}
    found = [(*one.path.rpartition("/")[::2], one.size) for one in storage.list_files(skip=(".hoodie",))]
    partitions = {partition for partition, name, _ in found if is_partition_metafile(name)}
    sizes: dict[str, dict[str, int]] = {}
    for partition, name, size in found:
        if partition in partitions and joined(partition, name) not in own and _counts(name, snapshot, write):
            sizes.setdefault(partition, {})[name] = size
    return sizes


def _counts(name: str, snapshot: Snapshot, write: FinishedWrite) -> bool:
    parsed = parse_data_file_name(name)
    if parsed is None:
        return False
    if isinstance(parsed, LogFileName) and not parsed.cdc and not snapshot.configuration.has_completion_times:
        return True
    return parsed.instant != write.requested and snapshot.visibility.sees(parsed.instant)


def records_of(sizes: Sizes, partitions: Iterable[str], *, always: bool = True) -> tuple[MetadataRecord, ...]:
    """The lists of some partitions, and the list of partitions; `always` also where it is empty.

    Clauses: MT-010.
    """
    known = {files_key(partition): FileEntry(0) for partition in partitions}
    whole = MetadataRecord(ALL_PARTITIONS_KEY, RecordType.ALL_PARTITIONS, FileList(known))
    lists = (
        _list(partition, {name: FileEntry(size) for name, size in sizes[partition].items()}) for partition in sizes
    )
    return (whole, *lists) if known or always else tuple(lists)


def written_sizes(write: FinishedWrite) -> dict[str, dict[str, int]]:
    """The files that an action wrote, change logs too, by partition.

    Clauses: MT-010.
    """
    sizes: dict[str, dict[str, int]] = {}
    for one in write.written:
        partition = sizes.setdefault(one.stat.partition_path or "", {})
        for path, size in _paths(one.stat):
            partition[path.rpartition("/")[2]] = size
    return sizes


def data_file(stat: WriteStat) -> tuple[str, BaseFileName | LogFileName] | None:
    """File name of a written data file and its parts, or None where the stat is of none."""
    name = (stat.path or "").rpartition("/")[2]
    parsed = parse_data_file_name(name)
    return None if parsed is None else (name, parsed)


def _paths(stat: WriteStat) -> Iterable[tuple[str, int]]:
    own = [] if stat.path is None else [(stat.path, stat.file_size_in_bytes or 0)]
    return (*own, *(stat.cdc_stats or {}).items())


def _removed(write: FinishedWrite) -> tuple[MetadataRecord, ...]:
    """Clauses: MT-008, MT-010."""
    lists = [_list(partition, dict.fromkeys(names, _GONE)) for partition, names in write.deleted.items()]
    if not write.emptied:
        return tuple(lists)
    gone = {files_key(partition): _GONE for partition in write.emptied}
    return (MetadataRecord(ALL_PARTITIONS_KEY, RecordType.ALL_PARTITIONS, FileList(gone)), *lists)


def _list(partition: str, entries: Mapping[str, FileEntry]) -> MetadataRecord:
    return MetadataRecord(files_key(partition), RecordType.FILES, FileList(entries))


def names_of_slices(slices: Iterable[FileSlice]) -> dict[str, tuple[str, ...]]:
    """By partition the names of the files of its slices."""
    found: dict[str, tuple[str, ...]] = {}
    for one in slices:
        paths = (*([one.base_file] if one.base_file else []), *one.log_files)
        found[one.partition] = (*found.get(one.partition, ()), *(path.rpartition("/")[2] for path in paths))
    return found


def files_after(state: WriterState, write: FinishedWrite) -> dict[str, tuple[str, ...]]:
    """The files that a snapshot reads after an action, of each partition that it touches; none where it empties one.

    A log that a compaction may have left out stays: bounds over more files than there are hold as well.

    Clauses: MT-014, RD-003, RD-004, RD-005.
    """
    touched = {*(one.stat.partition_path or "" for one in write.written), *write.replaced, *write.emptied}
    replaced = {(partition, file_id) for partition, file_ids in write.replaced.items() for file_id in file_ids}
    groups: dict[GroupId, list[str]] = {
        (one.partition, one.file_id): list(names_of_slices([one]).get(one.partition, ()))
        for one in state.slices
        if one.partition in touched and (one.partition, one.file_id) not in replaced
    }
    completions = completion_times(state.snapshot.timeline)
    for one in write.written:
        named = data_file(one.stat)
        if named is None:
            continue
        name, parsed = named
        within = groups.setdefault((one.stat.partition_path or "", parsed.file_id), [])
        if isinstance(parsed, BaseFileName):
            within[:] = [log for log in within if _follows(log, parsed, completions)]
        within.append(name)
    found: dict[str, tuple[str, ...]] = dict.fromkeys(touched, ())
    for (partition, _), names in groups.items():
        found[partition] = (*found[partition], *names)
    return found


def _follows(name: str, base: BaseFileName, completions: dict[str, str]) -> bool:
    """Whether a file of a slice is a log over a new base file."""
    parsed = parse_data_file_name(name)
    if not isinstance(parsed, LogFileName):
        return False
    return completions.get(parsed.instant, parsed.instant) >= base.instant
