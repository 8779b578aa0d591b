"""The indexes `column_stats` and `partition_stats`: what files and partitions say of the values of each column."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, base_file_footer, open_base_parquet
from hudi_format.log.blocks import BlockType, RawBlock, read_blocks
from hudi_format.log.content import decode_arrow
from hudi_format.metadata.keys import column_stats_key, partition_stats_key
from hudi_format.metadata.partitions import Partition, metadata_file_id
from hudi_format.metadata.records import BloomFilterEntry, ColumnStats, MetadataRecord, RecordType
from hudi_format.metadata.wrapped_values import Wrapped, plain_value
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.concurrency import joined
from hudi_spark.files import (
    IndexedColumn,
    WrittenFile,
    base_file_statistics,
    indexed_columns,
    indexed_meta_fields,
    no_rows_statistics,
    rows_statistics,
    type_at,
)
from hudi_spark.metadata.file_groups import entries_of
from hudi_spark.metadata.files_index import completed_files, data_file, files_after, names_of_slices
from hudi_spark.metadata.index import ENTRIES, FinishedWrite, IndexChanges, Keeping, NewIndex
from hudi_spark.metadata.layout import FIRST_WITH_COMPLETION_TIMES, MetadataLayout, indexes_of, read_definitions
from hudi_spark.read import TaskIdentity
from hudi_spark.schema import WriterState, column_ids
from hudi_spark.table_state import Commit, read_log

FileKey = tuple[str, str]
"""Partition path and file name."""

_ROWS: Final = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA)
_PARQUET: Final = ".parquet"
_PLAIN_FILTER: Final = "SIMPLE"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Reads what indexes hold of data files; can be pickled."""

    storage: Storage
    columns: tuple[IndexedColumn, ...] = ()
    version: str = "V1"

    def statistics(self, file: FileKey) -> tuple[ColumnStats, ...]:
        """Statistics of the columns of a base file or a log; none where the file's form has none, or holds no data.

        Raises:
            FormatError: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT.

        Clauses: MT-011, MT-013.

        """
        partition, name = file
        parsed = parse_data_file_name(name)
        if isinstance(parsed, LogFileName):
            return () if parsed.cdc else self._of_log(joined(partition, name), name)
        return self._of_base(joined(partition, name), name) if name.endswith(_PARQUET) else ()

    def bloom_filter(self, file: FileKey) -> BloomFilterEntry | None:
        """The bloom filter of a base file, None where it has none.

        Raises:
            FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.

        Clauses: IX-011.

        """
        partition, name = file
        parsed = parse_data_file_name(name)
        if not isinstance(parsed, BaseFileName):
            return None
        keys = base_file_footer(self.storage, joined(partition, name)).keys
        text = keys.get(BLOOM_FILTER_KEY)
        kind = keys.get(BLOOM_TYPE_KEY) or _PLAIN_FILTER
        return None if text is None else BloomFilterEntry(kind, parsed.instant, text.encode())

    def _of_base(self, path: str, name: str) -> tuple[ColumnStats, ...]:
        opened = open_base_parquet(self.storage, path)
        columns = columns_as_stored(self.columns, opened.schema)
        return base_file_statistics(name, opened.metadata, columns, self.version, opened.column)

    def _of_log(self, path: str, name: str) -> tuple[ColumnStats, ...]:
        """Clauses: MT-011, LF-007, LF-026, LF-027."""
        rows, deletes = rows_of_log(self.storage, path)
        if rows is not None:
            return rows_statistics(name, rows, columns_as_stored(self.columns, rows.schema), self.version)
        return no_rows_statistics(name, self.columns, self.version) if deletes else ()


def rows_of_log(storage: Storage, path: str) -> tuple[pa.Table | None, bool]:
    """The rows that lie in a log, also of one key several, None where no block has rows; and whether a block deletes.

    Clauses: MT-011, LF-007.
    """
    blocks = [one for one in read_blocks(read_log(storage, path), path) if isinstance(one, RawBlock)]
    tables = [decode_arrow(one, path) for one in blocks if one.type in _ROWS]
    rows = pa.concat_tables(tables, promote_options="permissive") if tables else None
    return rows, any(one.type is BlockType.DELETE for one in blocks)


def columns_as_stored(columns: Iterable[IndexedColumn], schema: pa.Schema) -> tuple[IndexedColumn, ...]:
    """The same columns in the types that a file holds them in, which may be those of an older schema.

    Clauses: MT-023, DM-004.
    """
    return tuple(IndexedColumn(one.name, type_at(schema, one.name) or one.type) for one in columns)


def in_chunks(files: Iterable[FileKey], size: int) -> list[tuple[FileKey, ...]]:
    """Files in tasks of some each."""
    ordered: Sequence[FileKey] = sorted(files)
    return [tuple(ordered[at : at + size]) for at in range(0, len(ordered), size)]


ENABLE: Final = "hoodie.metadata.index.column.stats.enable"
_COLUMNS: Final = "hoodie.metadata.index.column.stats.column.list"
_MOST_COLUMNS: Final = "hoodie.metadata.index.column.stats.max.columns.to.index"
_COLUMN_STATS_GROUPS: Final = "hoodie.metadata.index.column.stats.file.group.count"
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
    return plan_of(state, definitions)


def plan_of(state: WriterState, definitions: Mapping[str, IndexDefinition]) -> StatisticsPlan:
    """The indexed columns of a table, by the write's options and schema; meta fields as its definition has them.

    Another writer's clean takes away the statistics of the columns that the definition names, and no others.

    Clauses: MT-011, IX-004.
    """
    options, configuration = state.options, state.configuration
    version = MetadataLayout(configuration.version).index_version(Partition.COLUMN_STATS, definitions)
    meta = indexed_meta_fields(configuration.version, populated=configuration.populates_meta_fields)
    if defined := definitions.get(Partition.COLUMN_STATS):
        meta = tuple(name for name in meta if name in defined.source_fields)
    listed, most = options.names(_COLUMNS), options.number(_MOST_COLUMNS)
    columns = indexed_columns(state.schema.arrow, listed, most, meta_fields=meta, version=version)
    return StatisticsPlan(columns, version)


def is_wanted(state: WriterState) -> bool:
    """Whether statistics of columns are kept: as requested; unasked they are from version 8 on, and where they are.

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
        groups = keeping.state.options.number(_COLUMN_STATS_GROUPS)
        file_ids = tuple(metadata_file_id(partition, group) for group in range(groups))
        plan = planned(keeping)
        sizes = completed_files(keeping.storage, keeping.state.snapshot, keeping.write)
        files = [(within, name) for within, names in sizes.items() for name in names]
        facts = FileFacts(keeping.storage, plan.columns, plan.version)
        work = partial(_column_entries, facts=facts, file_ids=file_ids, version=keeping.state.configuration.version)
        entries = keeping.executor.tasks(in_chunks(files, _FILES_A_TASK), work, ENTRIES) if files else None
        return NewIndex(file_ids, IndexChanges(entries=entries), definition_of(plan))

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """Those of new files; those of files that a clean removed are gone.

        Clauses: MT-005, MT-011.
        """
        del partition
        plan = planned(keeping)
        by_file = written_statistics(keeping, write, plan)
        gone = tuple(_gone(write, plan, keeping))
        if len(by_file) * len(plan.columns) <= _MOST_BY_THE_DRIVER:
            records = (record for (within, _), each in by_file.items() for record in records_of(within, each))
            return IndexChanges(tuple(records), gone)
        tasks = [tuple(by_file.items())[at : at + _FILES_A_TASK] for at in range(0, len(by_file), _FILES_A_TASK)]
        version = keeping.state.configuration.version
        work = partial(_recorded_entries, file_ids=keeping.groups_of(Partition.COLUMN_STATS), version=version)
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
            found[key] = _statistics_of(one) or facts.statistics(key)
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
    return plan_of(keeping.state, keeping.definitions)


def _statistics_of(written: WrittenFile) -> tuple[ColumnStats, ...]:
    """What a task reported of a file, under the file's final name."""
    name = (written.stat.path or "").rpartition("/")[2]
    return tuple(one if one.file_name == name else replace(one, file_name=name) for one in written.column_stats)


def _gone(write: FinishedWrite, plan: StatisticsPlan, keeping: Keeping) -> Iterable[str]:
    """Keys of a clean's files: also of columns that were dropped since, or have another name.

    Clauses: MT-011, DM-021.
    """
    if write.action != "clean":
        return ()
    return (
        column_stats_key(column, partition, name)
        for column in _names_until_now(plan, keeping)
        for partition, names in write.deleted.items()
        for name in names
    )


def _names_until_now(plan: StatisticsPlan, keeping: Keeping) -> Iterable[str]:
    known = column_ids(keeping.storage, keeping.state.snapshot)
    before = [one.name for schema in known.kept for one in schema.fields] if known else []
    return dict.fromkeys((*(column.name for column in plan.columns), *before, *keeping.state.options.names(_COLUMNS)))


def _recorded_entries(
    files: tuple[tuple[FileKey, tuple[ColumnStats, ...]], ...],
    identity: TaskIdentity,
    file_ids: tuple[str, ...],
    version: int,
) -> pa.Table:
    """What other tasks reported of some files as entries of the index: what a task returns."""
    del identity
    records = tuple(record for file, each in files for record in records_of(file[0], each))
    return entries_of(IndexChanges(records), file_ids, MetadataLayout(version))


def _column_entries(
    files: tuple[FileKey, ...], identity: TaskIdentity, facts: FileFacts, file_ids: tuple[str, ...], version: int
) -> pa.Table:
    """The statistics of some files as entries of the index: what a task returns."""
    del identity
    records = tuple(record for file in files for record in records_of(file[0], facts.statistics(file)))
    return entries_of(IndexChanges(records), file_ids, MetadataLayout(version))


_ENABLE: Final = "hoodie.metadata.index.partition.stats.enable"
_PARTITION_STATS_GROUPS: Final = "hoodie.metadata.index.partition.stats.file.group.count"


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
        """Whether it is not wanted, or has to begin anew.

        Of two records of one partition that counts whose action was requested later: what this action says of a
        partition would be hidden by one that came before it and was requested after it.
        """
        return self.holds(partition) and (not self.wanted(keeping) or _is_overtaken(keeping))

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The statistics of all partitions, made by a task each of the files of its slices.

        Clauses: MT-009, MT-014.
        """
        groups = keeping.state.options.number(_PARTITION_STATS_GROUPS)
        file_ids = tuple(metadata_file_id(partition, group) for group in range(groups))
        plan = planned(keeping)
        tasks = sorted(names_of_slices(keeping.state.slices).items())
        facts = FileFacts(keeping.storage, plan.columns, plan.version)
        work = partial(_partition_entries, facts=facts, file_ids=file_ids, version=keeping.state.configuration.version)
        entries = keeping.executor.tasks(tasks, work, ENTRIES) if tasks else None
        return NewIndex(file_ids, IndexChanges(entries=entries))

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """Those of the partitions that an action touched, anew; of partitions that hold nothing any more they are gone.

        Clauses: MT-005, MT-014.
        """
        del partition
        plan = planned(keeping)
        after = files_after(keeping.state, write)
        by_file = written_statistics(keeping, write, plan)
        known = _known(keeping, plan, ((within, name) for within, names in after.items() for name in names), by_file)
        records: list[MetadataRecord] = []
        gone: list[str] = []
        for within, names in after.items():
            found = partition_statistics(within, [known.get((within, name), {}) for name in names], plan)
            records += _records(within, found)
            stated = {one.column_name for one in found}
            gone += [partition_stats_key(one.name, within) for one in plan.columns if one.name not in stated]
        return IndexChanges(tuple(records), tuple(gone))


def _is_overtaken(keeping: Keeping) -> bool:
    """Whether an action that was requested later has completed and touched a partition that this one touches.

    Clauses: MT-008, MT-014.
    """
    write = keeping.write
    touched = {*(one.stat.partition_path or "" for one in write.written), *write.replaced, *write.emptied}
    later = (one for one in keeping.state.snapshot.commits if one.instant.requested > write.requested)
    return any(not touched.isdisjoint(_touched(one)) for one in later)


def _touched(commit: Commit) -> set[str]:
    return {*(one.partition_path or "" for one in commit.metadata.write_stats), *commit.metadata.replaced_file_ids}


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
    by_file: Mapping[FileKey, tuple[ColumnStats, ...]],
) -> dict[FileKey, Mapping[str, ColumnStats]]:
    """What is known of files: of new ones by their action, of others by the index of columns."""
    known: dict[FileKey, Mapping[str, ColumnStats]] = {
        file: {one.column_name or "": one for one in each} for file, each in by_file.items()
    }
    if keeping.metadata is not None:
        older = [file for file in files if file not in known]
        known |= keeping.metadata.column_stats([one.name for one in plan.columns], older)
    return known


def _records(partition: str, statistics: Iterable[ColumnStats]) -> tuple[MetadataRecord, ...]:
    return tuple(
        MetadataRecord(partition_stats_key(one.column_name or "", partition), RecordType.PARTITION_STATS, one)
        for one in statistics
    )


def _partition_entries(
    task: tuple[str, tuple[str, ...]], identity: TaskIdentity, facts: FileFacts, file_ids: tuple[str, ...], version: int
) -> pa.Table:
    """The statistics of one partition as entries of the index: what a task returns."""
    del identity
    partition, names = task
    files = [{one.column_name or "": one for one in facts.statistics((partition, name))} for name in names]
    records = _records(partition, partition_statistics(partition, files, StatisticsPlan(facts.columns, facts.version)))
    return entries_of(IndexChanges(records), file_ids, MetadataLayout(version))
