"""The index `bloom_filters`: the filters of base files' footers, beside each other."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from hudi_format.metadata.keys import bloom_filter_key
from hudi_format.metadata.partitions import Partition, metadata_file_id
from hudi_format.metadata.records import MetadataRecord, RecordType
from hudi_format.names import BaseFileName, parse_data_file_name

from hudi_spark.metadata.column_stats import FileFacts, FileKey, in_chunks
from hudi_spark.metadata.file_groups import entries_of
from hudi_spark.metadata.files_index import completed_files, data_file
from hudi_spark.metadata.index import ENTRIES, FinishedWrite, IndexChanges, Keeping, NewIndex
from hudi_spark.metadata.layout import MetadataLayout, indexes_of
from hudi_spark.read import Flow, TaskIdentity

_ENABLE: Final = "hoodie.metadata.index.bloom.filter.enable"
_GROUPS: Final = "hoodie.metadata.index.bloom.filter.file.group.count"
_FILES_A_TASK: Final = 50


@dataclass(frozen=True, slots=True)
class BloomFilters:
    """The index of bloom filters.

    Clauses: IX-010, IX-011.
    """

    def holds(self, partition: str) -> bool:
        """Whether this is the index."""
        return partition == Partition.BLOOM_FILTERS

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """The index as requested, or where it is there already."""
        options = keeping.state.options
        kept = Partition.BLOOM_FILTERS in indexes_of(keeping.state.configuration.properties)
        wanted = options.flag(_ENABLE) if options.given(_ENABLE) else kept
        return (Partition.BLOOM_FILTERS,) if wanted else ()

    def dropped(self, keeping: Keeping, partition: str) -> bool:
        """Whether the option is there and off."""
        return self.holds(partition) and not self.wanted(keeping)

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The filters of all base files, read by tasks.

        Clauses: MT-009, IX-011, MT-017.
        """
        groups = keeping.state.options.number(_GROUPS)
        file_ids = tuple(metadata_file_id(partition, group) for group in range(groups))
        sizes = completed_files(keeping.storage, keeping.state.snapshot, keeping.write)
        files = [(within, name) for within, names in sizes.items() for name in names if _is_base(name)]
        return NewIndex(file_ids, IndexChanges(entries=_read(keeping, files, file_ids)))

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """Those of new base files, read by tasks; those of base files that a clean removed are gone.

        Clauses: MT-005, IX-011.
        """
        files = [(one.stat.partition_path or "", named[0]) for one in write.written if (named := data_file(one.stat))]
        entries = _read(keeping, [file for file in files if _is_base(file[1])], keeping.groups_of(partition))
        return IndexChanges(deleted=tuple(_gone(write)), entries=entries)


def _read(keeping: Keeping, files: list[FileKey], file_ids: tuple[str, ...]) -> Flow | None:
    if not files:
        return None
    facts = FileFacts(keeping.storage)
    work = partial(_entries, facts=facts, file_ids=file_ids, version=keeping.state.configuration.version)
    return keeping.executor.tasks(in_chunks(files, _FILES_A_TASK), work, ENTRIES)


def _gone(write: FinishedWrite) -> Iterable[str]:
    if write.action != "clean":
        return ()
    return (
        bloom_filter_key(partition, name)
        for partition, names in write.deleted.items()
        for name in names
        if _is_base(name)
    )


def _is_base(name: str) -> bool:
    return isinstance(parse_data_file_name(name), BaseFileName)


def _entries(
    files: tuple[FileKey, ...], identity: TaskIdentity, facts: FileFacts, file_ids: tuple[str, ...], version: int
) -> pa.Table:
    """The filters of some files as entries of the index: what a task returns."""
    del identity
    found = ((file, facts.bloom_filter(file)) for file in files)
    records = tuple(
        MetadataRecord(bloom_filter_key(*file), RecordType.BLOOM_FILTER, entry) for file, entry in found if entry
    )
    return entries_of(IndexChanges(records), file_ids, MetadataLayout(version))
