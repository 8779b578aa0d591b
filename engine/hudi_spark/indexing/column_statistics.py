"""The index `column_stats`: what each file, base or log, says of the values of each indexed column."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import pyarrow as pa
from hudi_format.metadata.keys import column_stats_key
from hudi_format.metadata.partitions import Partition, metadata_file_id
from hudi_format.metadata.records import ColumnStats, MetadataRecord, RecordType
from hudi_format.names import LogFileName
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.files.statistics import IndexedColumn, indexed_columns, indexed_meta_fields
from hudi_spark.files.written import WrittenFile
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.file_facts import FileFacts, FileKey, in_chunks
from hudi_spark.indexing.file_lists import completed_files, data_file
from hudi_spark.indexing.groups import entries_of
from hudi_spark.indexing.index import ENTRIES, FinishedWrite, IndexChanges, Keeping, NewIndex
from hudi_spark.indexing.layout import FIRST_WITH_COMPLETION_TIMES, MetadataLayout
from hudi_spark.indexing.table_state import indexes_of, read_definitions
from hudi_spark.writer_state import WriterState

ENABLE: Final = "hoodie.metadata.index.column.stats.enable"
_COLUMNS: Final = "hoodie.metadata.index.column.stats.column.list"
_MOST_COLUMNS: Final = "hoodie.metadata.index.column.stats.max.columns.to.index"
_GROUPS: Final = "hoodie.metadata.index.column.stats.file.group.count"
_FILES_A_TASK: Final = 50
# Some seconds of work; more is for tasks.
_MOST_BY_THE_DRIVER: Final = 50_000


@dataclass(frozen=True, slots=True)
class StatisticsPlan:
    """Which columns the files of a write have statistics of, and in which version's form.

    Clauses: MT-011, MT-013, IX-004.
    """

    columns: tuple[IndexedColumn, ...]
    version: str


def statistics_plan(state: WriterState) -> StatisticsPlan | None:
    """The statistics that a write's tasks are to make of their files; None where no index keeps them.

    Clauses: MT-011, MT-013, MT-022.
    """
    if not (state.options.flag("hoodie.metadata.enable") and is_wanted(state)):
        return None
    definitions = read_definitions(state.storage, state.configuration.properties)
    return plan_of(
        state, MetadataLayout(state.configuration.version).index_version(Partition.COLUMN_STATS, definitions)
    )


def plan_of(state: WriterState, version: str) -> StatisticsPlan:
    """The indexed columns of a table, by the write's options and schema."""
    options, configuration = state.options, state.configuration
    meta = indexed_meta_fields(configuration.version, populated=configuration.populates_meta_fields)
    listed, most = options.names(_COLUMNS), options.number(_MOST_COLUMNS)
    columns = indexed_columns(state.schema.arrow, listed, most, meta_fields=meta, version=version)
    return StatisticsPlan(columns, version)


def is_wanted(state: WriterState) -> bool:
    """Whether statistics of columns are kept: as asked for; unasked they are from version 8 on, and where they are.

    Clauses: MT-009, MT-022.
    """
    if state.options.given(ENABLE):
        return state.options.flag(ENABLE)
    kept = Partition.COLUMN_STATS in indexes_of(state.configuration.properties)
    return kept or (state.configuration.version >= FIRST_WITH_COMPLETION_TIMES and state.options.flag(ENABLE))


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """The index of what files say of columns.

    Clauses: MT-011, MT-012, MT-013.
    """

    def holds(self, partition: str) -> bool:
        """Whether this is the index."""
        return partition == Partition.COLUMN_STATS

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """The index where it is wanted."""
        return (Partition.COLUMN_STATS,) if is_wanted(keeping.state) else ()

    def dropped(self, keeping: Keeping, partition: str) -> bool:
        """Whether the option is there and off."""
        return self.holds(partition) and not is_wanted(keeping.state)

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The statistics of all files, made by tasks.

        Clauses: MT-009, MT-011, MT-017.
        """
        groups = keeping.state.options.number(_GROUPS)
        file_ids = tuple(metadata_file_id(partition, group) for group in range(groups))
        plan = planned(keeping)
        sizes = completed_files(keeping.storage, keeping.state.snapshot, keeping.write)
        files = [(within, name) for within, names in sizes.items() for name in names]
        facts = FileFacts(keeping.storage, plan.columns, plan.version)
        work = partial(_entries, facts=facts, file_ids=file_ids, version=keeping.state.configuration.version)
        entries = keeping.executor.tasks(in_chunks(files, _FILES_A_TASK), work, ENTRIES) if files else None
        return NewIndex(file_ids, IndexChanges(entries=entries), definition_of(plan))

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """Those of new files; those of files that a clean removed are gone.

        Clauses: MT-005, MT-011.
        """
        del partition
        plan = planned(keeping)
        told = written_statistics(keeping, write, plan)
        gone = tuple(_gone(write, plan))
        if len(told) * len(plan.columns) <= _MOST_BY_THE_DRIVER:
            records = (record for (within, _), each in told.items() for record in records_of(within, each))
            return IndexChanges(tuple(records), gone)
        tasks = [tuple(told.items())[at : at + _FILES_A_TASK] for at in range(0, len(told), _FILES_A_TASK)]
        version = keeping.state.configuration.version
        work = partial(_told_entries, file_ids=keeping.groups[Partition.COLUMN_STATS], version=version)
        return IndexChanges(deleted=gone, entries=keeping.executor.tasks(tasks, work, ENTRIES))


def written_statistics(
    keeping: Keeping, write: FinishedWrite, plan: StatisticsPlan
) -> dict[FileKey, tuple[ColumnStats, ...]]:
    """The statistics of the files that an action wrote; what their task did not tell is read from them.

    Clauses: MT-011.
    """
    facts = FileFacts(keeping.storage, plan.columns, plan.version)
    found: dict[FileKey, tuple[ColumnStats, ...]] = {}
    for one in write.written:
        named = data_file(one.stat)
        if named is not None and not (isinstance(named[1], LogFileName) and named[1].cdc):
            key = (one.stat.partition_path or "", named[0])
            found[key] = _told(one) or facts.statistics(key)
    return found


def records_of(partition: str, statistics: Iterable[ColumnStats]) -> tuple[MetadataRecord, ...]:
    """The records of a file's statistics.

    Clauses: MT-011, MT-012.
    """
    return tuple(
        MetadataRecord(
            column_stats_key(one.column_name or "", partition, one.file_name or ""), RecordType.COLUMN_STATS, one
        )
        for one in statistics
    )


def definition_of(plan: StatisticsPlan) -> IndexDefinition:
    """What `index.json` says of the index.

    Clauses: IX-001, IX-004.
    """
    name = str(Partition.COLUMN_STATS)
    return IndexDefinition(name, name, name, tuple(one.name for one in plan.columns), {}, plan.version)


def planned(keeping: Keeping) -> StatisticsPlan:
    """The statistics that the index of a table's columns has, by the options and in the index' version.

    Clauses: MT-011, IX-004.
    """
    layout = MetadataLayout(keeping.state.configuration.version)
    return plan_of(keeping.state, layout.index_version(Partition.COLUMN_STATS, keeping.definitions))


def _told(written: WrittenFile) -> tuple[ColumnStats, ...]:
    """What a task told of a file, under the file's final name."""
    name = (written.stat.path or "").rpartition("/")[2]
    return tuple(one if one.file_name == name else replace(one, file_name=name) for one in written.column_stats)


def _gone(write: FinishedWrite, plan: StatisticsPlan) -> Iterable[str]:
    if write.action != "clean":
        return ()
    return (
        column_stats_key(column.name, partition, name)
        for partition, names in write.deleted.items()
        for name in names
        for column in plan.columns
    )


def _told_entries(
    files: tuple[tuple[FileKey, tuple[ColumnStats, ...]], ...],
    identity: TaskIdentity,
    file_ids: tuple[str, ...],
    version: int,
) -> pa.Table:
    """What other tasks told of some files as entries of the index: what a task returns."""
    del identity
    records = tuple(record for file, each in files for record in records_of(file[0], each))
    return entries_of(IndexChanges(records), file_ids, MetadataLayout(version))


def _entries(
    files: tuple[FileKey, ...], identity: TaskIdentity, facts: FileFacts, file_ids: tuple[str, ...], version: int
) -> pa.Table:
    """The statistics of some files as entries of the index: what a task returns."""
    del identity
    records = tuple(record for file in files for record in records_of(file[0], facts.statistics(file)))
    return entries_of(IndexChanges(records), file_ids, MetadataLayout(version))
