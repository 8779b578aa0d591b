"""The index `partition_stats`: what the current slices of each partition say together of the values of each column."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
from hudi_format.metadata.keys import partition_stats_key
from hudi_format.metadata.partitions import Partition, metadata_file_id
from hudi_format.metadata.records import ColumnStats, MetadataRecord, RecordType
from hudi_format.metadata.wrapped_values import Wrapped, plain_value

from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.column_statistics import StatisticsPlan, is_wanted, plan_of, written_statistics
from hudi_spark.indexing.file_facts import FileFacts, FileKey
from hudi_spark.indexing.groups import entries_of
from hudi_spark.indexing.index import ENTRIES, FinishedWrite, IndexChanges, Keeping, NewIndex
from hudi_spark.indexing.layout import FIRST_WITH_COMPLETION_TIMES, MetadataLayout
from hudi_spark.indexing.slices_after import files_after, names_of_slices
from hudi_spark.indexing.table_state import indexes_of

_ENABLE: Final = "hoodie.metadata.index.partition.stats.enable"
_GROUPS: Final = "hoodie.metadata.index.partition.stats.file.group.count"


@dataclass(frozen=True, slots=True)
class PartitionStatistics:
    """The index of what partitions say of columns; tables without partitions and those before version 8 have none.

    Clauses: MT-014.
    """

    def holds(self, partition: str) -> bool:
        """Whether this is the index."""
        return partition == Partition.PARTITION_STATS

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """Together with the statistics of columns, unless turned off."""
        state = keeping.state
        apt = state.configuration.version >= FIRST_WITH_COMPLETION_TIMES and bool(state.configuration.partition_by)
        # A table of version 6 can have it from a later release.
        apt = apt or Partition.PARTITION_STATS in indexes_of(state.configuration.properties)
        wanted = apt and is_wanted(state) and state.options.flag(_ENABLE)
        return (Partition.PARTITION_STATS,) if wanted else ()

    def dropped(self, keeping: Keeping, partition: str) -> bool:
        """Whether it is not wanted."""
        return self.holds(partition) and not self.wanted(keeping)

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The statistics of all partitions, made by a task each of the files of its slices.

        Clauses: MT-009, MT-014.
        """
        groups = keeping.state.options.number(_GROUPS)
        file_ids = tuple(metadata_file_id(partition, group) for group in range(groups))
        plan = _plan(keeping)
        tasks = sorted(names_of_slices(keeping.state.slices).items())
        facts = FileFacts(keeping.storage, plan.columns, plan.version)
        work = partial(_entries, facts=facts, file_ids=file_ids, version=keeping.state.configuration.version)
        entries = keeping.executor.tasks(tasks, work, ENTRIES) if tasks else None
        return NewIndex(file_ids, IndexChanges(entries=entries))

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """Those of the partitions that an action touched, anew; of partitions that hold nothing any more they are gone.

        Clauses: MT-005, MT-014.
        """
        del partition
        plan = _plan(keeping)
        after = files_after(keeping.state, write)
        told = written_statistics(keeping, write, plan)
        known = _known(keeping, plan, ((within, name) for within, names in after.items() for name in names), told)
        records: list[MetadataRecord] = []
        gone: list[str] = []
        for within, names in after.items():
            found = partition_statistics(within, [known.get((within, name), {}) for name in names], plan)
            records += _records(within, found)
            stated = {one.column_name for one in found}
            gone += [partition_stats_key(one.name, within) for one in plan.columns if one.name not in stated]
        return IndexChanges(tuple(records), tuple(gone))


def partition_statistics(
    partition: str, files: Iterable[Mapping[str, ColumnStats]], plan: StatisticsPlan
) -> tuple[ColumnStats, ...]:
    """What the files of a partition say together, each file by column; not of a column that one of them bounds not.

    Clauses: MT-013, MT-014.
    """
    each = list(files)
    found = (_together([one.get(column.name) for one in each]) for column in plan.columns if each)
    return tuple(replace(one, file_name=partition, is_tight_bound=True) for one in found if one is not None)


def _together(stats: list[ColumnStats | None]) -> ColumnStats | None:
    known = [one for one in stats if one is not None and _bounds(one)]
    if len(known) < len(stats):
        return None
    bounded = [one for one in known if one.minimum is not None]
    if len({(one.minimum.wrapper, one.value_type) for one in bounded if one.minimum}) > 1:
        # Files of different schemas: their wrappers do not compare.
        return None
    first = bounded[0] if bounded else known[0]
    return replace(
        first,
        minimum=min((one.minimum for one in bounded), key=partial(_order, first), default=None),
        maximum=max((one.maximum for one in bounded), key=partial(_order, first), default=None),
        value_count=sum(one.value_count or 0 for one in known),
        null_count=sum(one.null_count or 0 for one in known),
        total_size=sum(one.total_size or 0 for one in known),
        total_uncompressed_size=sum(one.total_uncompressed_size or 0 for one in known),
    )


def _bounds(stats: ColumnStats) -> bool:
    """Whether a file's statistics say something of every value: bounds, or that there is none."""
    if stats.value_count is None or stats.null_count is None:
        return False
    return (stats.minimum is not None and stats.maximum is not None) or stats.null_count == stats.value_count


def _order(of: ColumnStats, bound: Wrapped | None) -> tuple[bool, Any]:
    """The place of a bound among others; not-a-number above all."""
    value = plain_value(bound, of.value_type)
    if isinstance(value, float) and math.isnan(value):
        return True, 0.0
    return False, value


def _known(
    keeping: Keeping,
    plan: StatisticsPlan,
    files: Iterable[FileKey],
    told: Mapping[FileKey, tuple[ColumnStats, ...]],
) -> dict[FileKey, Mapping[str, ColumnStats]]:
    """What is known of files: of new ones by their action, of others by the index of columns."""
    known: dict[FileKey, Mapping[str, ColumnStats]] = {
        file: {one.column_name or "": one for one in each} for file, each in told.items()
    }
    if keeping.metadata is not None:
        older = [file for file in files if file not in known]
        known |= keeping.metadata.column_stats([one.name for one in plan.columns], older)
    return known


def _plan(keeping: Keeping) -> StatisticsPlan:
    layout = MetadataLayout(keeping.state.configuration.version)
    return plan_of(keeping.state, layout.index_version(Partition.PARTITION_STATS, keeping.definitions))


def _records(partition: str, statistics: Iterable[ColumnStats]) -> tuple[MetadataRecord, ...]:
    return tuple(
        MetadataRecord(partition_stats_key(one.column_name or "", partition), RecordType.PARTITION_STATS, one)
        for one in statistics
    )


def _entries(
    task: tuple[str, tuple[str, ...]], identity: TaskIdentity, facts: FileFacts, file_ids: tuple[str, ...], version: int
) -> pa.Table:
    """The statistics of one partition as entries of the index: what a task returns."""
    del identity
    partition, names = task
    files = [{one.column_name or "": one for one in facts.statistics((partition, name))} for name in names]
    records = _records(partition, partition_statistics(partition, files, StatisticsPlan(facts.columns, facts.version)))
    return entries_of(IndexChanges(records), file_ids, MetadataLayout(version))
