"""Expression indexes kept: of each file the statistics, or the bloom filter, of a function's results.

Statistics of whole partitions stand beside those of files, under keys of their own.
"""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import pyarrow as pa
from hudi_format.metadata.keys import bloom_filter_key, column_stats_key, expression_partition_stats_key
from hudi_format.metadata.partitions import is_expression_index, metadata_file_id
from hudi_format.metadata.records import ColumnStats, MetadataRecord, RecordType
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name

from hudi_spark.metadata.expressions import BLOOMS, STATISTICS_OF_FILES, Results, results_of
from hudi_spark.metadata.file_groups import entries_of
from hudi_spark.metadata.files_index import data_file, files_after, names_of_slices
from hudi_spark.metadata.index import (
    ENTRIES,
    FinishedWrite,
    GroupChange,
    GroupReading,
    GroupTask,
    IndexChanges,
    Keeping,
    NewIndex,
)
from hudi_spark.metadata.layout import MetadataLayout
from hudi_spark.metadata.secondary_index import definition_of
from hudi_spark.read import TaskIdentity
from hudi_spark.table_state import FileSlice, combined

FileKey = tuple[str, str]
"""Partition path and file name."""

_GROUPS: Final = "hoodie.metadata.index.expression.file.group.count"
_FILES_A_TASK: Final = 20


@dataclass(frozen=True, slots=True)
class ExpressionIndex:
    """The indexes of functions' results.

    Clauses: IX-040, IX-041, IX-042.
    """

    def holds(self, partition: str) -> bool:
        """Whether a partition of the metadata table is an expression index."""
        return is_expression_index(partition)

    def wanted(self, keeping: Keeping) -> tuple[str, ...]:
        """The indexes that have a definition or are there; none before version 8.

        Clauses: MT-002.
        """
        if not MetadataLayout(keeping.state.configuration.version).has_completion_times:
            return ()
        return tuple(sorted(name for name in {*keeping.definitions, *keeping.groups} if self.holds(name)))

    def dropped(self, keeping: Keeping, partition: str) -> bool:  # noqa: ARG002 - a definition stands until it goes
        """Never: an index goes by `drop_index`."""
        return False

    def begin(self, keeping: Keeping, partition: str) -> NewIndex:
        """The index of the files of all current slices.

        Clauses: IX-040, IX-042, MT-009.
        """
        definition = definition_of(keeping, partition)
        results = results_of(keeping, definition)
        count = keeping.state.options.number(_GROUPS)
        file_ids = tuple(metadata_file_id(partition, number) for number in range(count))
        files = [(within, name) for within, names in names_of_slices(keeping.state.slices).items() for name in names]
        if definition.kind == BLOOMS:
            return NewIndex(file_ids, _blooms(keeping, files, results, file_ids), definition)
        by_file = _statistics(keeping, files, results)
        records = [*_file_records(by_file, results.column.name), *_of_partitions(keeping, _grouped(by_file), results)]
        return NewIndex(file_ids, IndexChanges(tuple(records)), definition)

    def changes(self, keeping: Keeping, partition: str, write: FinishedWrite) -> IndexChanges:
        """What of the files that an action wrote, without what is of files that it deleted.

        Clauses: IX-040, IX-042, MT-005.
        """
        definition = definition_of(keeping, partition)
        results = results_of(keeping, definition)
        written = _written(write)
        if definition.kind == BLOOMS:
            gone = _gone(write, bloom_filter_key)
            return replace(
                _blooms(keeping, written, results, keeping.groups_of(partition), write.requested), deleted=gone
            )
        name = results.column.name
        gone = _gone(write, lambda within, file: column_stats_key(name, within, file))
        if not (written or write.replaced or write.emptied):
            return IndexChanges(deleted=gone)
        by_file = _statistics(keeping, written, results, write.requested)
        after = files_after(keeping.state, write)
        older = [(within, one) for within, names in after.items() for one in names if (within, one) not in by_file]
        known = {**_older(keeping, partition, older, results, write.requested), **by_file}
        together = {within: [known.get((within, one)) for one in names] for within, names in after.items()}
        return IndexChanges(
            (*_file_records(by_file, name), *_of_partitions(keeping, together, results)),
            (*gone, *_emptied(keeping, after, name)),
        )


def _tasks(
    keeping: Keeping, files: Iterable[FileKey], results: Results, requested: str | None
) -> list[tuple[GroupTask, ...]]:
    """Tasks that read one column of files, some files each."""
    changes = [_alone(file) for file in sorted(files)]
    found = GroupReading(keeping.state, (results.column.name,), requested).tasks(changes)
    return [found[at : at + _FILES_A_TASK] for at in range(0, len(found), _FILES_A_TASK)]


def _alone(file: FileKey) -> GroupChange:
    """A file as a slice of its own."""
    partition, name = file
    parsed = parse_data_file_name(name)
    path = f"{partition}/{name}" if partition else name
    if isinstance(parsed, BaseFileName):
        one = FileSlice(partition, parsed.file_id, parsed.instant, path, ())
    elif parsed is not None:
        one = FileSlice(partition, parsed.file_id, parsed.instant, None, (path,))
    else:
        raise ValueError(f"{path!r} is no data file")
    return GroupChange(partition, one.file_id, None, one)


def _statistics(
    keeping: Keeping, files: Iterable[FileKey], results: Results, requested: str | None = None
) -> dict[FileKey, ColumnStats]:
    """The statistics of files, worked out by tasks; small, so that they come to the driver."""
    tasks = _tasks(keeping, files, results, requested)
    if not tasks:
        return {}
    rows = keeping.executor.tasks(tasks, results.statistics, STATISTICS_OF_FILES).gathered()
    # Only what this package's own tasks pickled a moment ago.
    each = [pickle.loads(one) for one in rows.column("stats").to_pylist()]  # noqa: S301
    return {
        (within, one.file_name): one for within, one in zip(rows.column("partition").to_pylist(), each, strict=True)
    }


def _blooms(
    keeping: Keeping,
    files: Iterable[FileKey],
    results: Results,
    file_ids: tuple[str, ...],
    requested: str | None = None,
) -> IndexChanges:
    """The bloom filters of base files; logs have none."""
    bases = [file for file in files if isinstance(parse_data_file_name(file[1]), BaseFileName)]
    tasks = _tasks(keeping, bases, results, requested)
    if not tasks:
        return IndexChanges()
    work = _BloomWork(results, file_ids, keeping.state.configuration.version)
    return IndexChanges(entries=keeping.executor.tasks(tasks, work, ENTRIES))


@dataclass(frozen=True, slots=True)
class _BloomWork:
    results: Results
    file_ids: tuple[str, ...]
    table_version: int

    def __call__(self, tasks: Sequence[GroupTask], _: TaskIdentity) -> pa.Table:
        records = tuple(self.results.entry(one) for one in tasks)
        return entries_of(IndexChanges(records), self.file_ids, MetadataLayout(self.table_version))


def _older(
    keeping: Keeping, partition: str, files: Sequence[FileKey], results: Results, requested: str
) -> dict[FileKey, ColumnStats]:
    """The statistics of files that stood before: those of the index, and what it lacks from the files."""
    known: dict[FileKey, ColumnStats] = {}
    if keeping.metadata is not None and files:
        known |= keeping.metadata.expression_stats(partition, results.column.name, files)
    lacking = [file for file in files if file not in known]
    return {**known, **_statistics(keeping, lacking, results, requested)}


def _of_partitions(
    keeping: Keeping, files: Mapping[str, Sequence[ColumnStats | None]], results: Results
) -> tuple[MetadataRecord, ...]:
    """Statistics of whole partitions from those of their files; of none where a file has none.

    Clauses: IX-042.
    """
    if not keeping.state.configuration.partition_by:
        return ()
    name = results.column.name
    whole = {within: [one for one in each if one is not None] for within, each in files.items() if None not in each}
    return tuple(
        MetadataRecord(
            expression_partition_stats_key(name, within),
            RecordType.PARTITION_STATS,
            replace(_together(each), file_name=within, is_tight_bound=True),
        )
        for within, each in whole.items()
        if each
    )


def _together(stats: Sequence[ColumnStats]) -> ColumnStats:
    """Statistics of rows of all files."""
    records = [MetadataRecord("", RecordType.COLUMN_STATS, replace(one, is_tight_bound=False)) for one in stats]
    content = reduce(combined, records).content
    if not isinstance(content, ColumnStats):
        raise TypeError("statistics combine to statistics")
    return content


def _emptied(keeping: Keeping, after: Mapping[str, tuple[str, ...]], column: str) -> tuple[str, ...]:
    if not keeping.state.configuration.partition_by:
        return ()
    return tuple(expression_partition_stats_key(column, within) for within, names in after.items() if not names)


def _file_records(by_file: Mapping[FileKey, ColumnStats], column: str) -> tuple[MetadataRecord, ...]:
    return tuple(
        MetadataRecord(column_stats_key(column, within, name), RecordType.COLUMN_STATS, one)
        for (within, name), one in by_file.items()
    )


def _grouped(by_file: Mapping[FileKey, ColumnStats]) -> dict[str, list[ColumnStats | None]]:
    found: dict[str, list[ColumnStats | None]] = {}
    for (within, _), one in by_file.items():
        found.setdefault(within, []).append(one)
    return found


def _written(write: FinishedWrite) -> list[FileKey]:
    """The data files that an action wrote; change logs hold no data."""
    named = (data_file(one.stat) for one in write.written)
    paths = (one.stat.partition_path or "" for one in write.written)
    return [
        (within, found[0])
        for within, found in zip(paths, named, strict=True)
        if found is not None and not (isinstance(found[1], LogFileName) and found[1].cdc)
    ]


def _gone(write: FinishedWrite, key: Callable[[str, str], str]) -> tuple[str, ...]:
    """The keys of the files that a clean removed."""
    if write.action != "clean":
        return ()
    return tuple(key(within, name) for within, names in write.deleted.items() for name in names)
