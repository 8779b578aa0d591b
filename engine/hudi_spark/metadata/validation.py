"""Whether a metadata table says what is so: its lists against storage, its indexes against the data files.

What an index leaves out is unknown to readers, and no finding but where MT-005 wants it; what it says has to be right.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from hudi_format.metadata.partitions import Partition
from hudi_format.metadata.records import ColumnStats
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.concurrency import joined
from hudi_spark.files import IndexedColumn, has_bounds, type_at
from hudi_spark.metadata.column_stats import FileFacts, FileKey
from hudi_spark.metadata.files_index import completed_files, names_of_slices
from hudi_spark.metadata.index import FinishedWrite, Keeping
from hudi_spark.metadata.index_validation import (
    FOUND,
    claim_of,
    compared,
    expression_differences,
    record_differences,
    statistics_of_files,
    unbounded,
)
from hudi_spark.metadata.layout import indexes_of, read_definitions
from hudi_spark.options import Options
from hudi_spark.read import Executor
from hudi_spark.readings import RELEASED
from hudi_spark.schema import META_SCHEMA, WriterSchema, WriterState, table_schema
from hudi_spark.table_state import EVERYTHING, MetadataTable, NoMetadata, Snapshot, load_snapshot, open_metadata_table

_NOBODY: Final = FinishedWrite("", "", "")
_FILES_A_TASK: Final = 50

NOT_STORED: Final = "the file is in the list and not in storage"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that an index says and that is not so, or that it should say and does not.

    `place`: the file, partition or key it is about.
    """

    index: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.index}: {self.place}: {self.message}"


def validate_metadata_table(storage: Storage, executor: Executor) -> tuple[Finding, ...]:
    """What is wrong with the metadata table of a table; nothing where it has none.

    The statistics and bloom filters of files are compared with the files by tasks, a job for all of them.

    Raises:
        HudiError: the reasons of a refused table.
        FormatError: a data file that is broken.

    Clauses: MT-005, MT-010, MT-011, MT-014, IX-011.

    """
    snapshot = load_snapshot(storage, RELEASED)
    if not indexes_of(snapshot.configuration.properties):
        return ()
    found = open_metadata_table(storage, snapshot.configuration, snapshot.timeline)
    if isinstance(found, NoMetadata):
        return (Finding("", "", found.why),)
    unusable = set(indexes_of(snapshot.configuration.properties)) - set(found.partitions())
    lost = (Finding(one, "", "the properties list it, and it cannot be read") for one in unusable)
    records = _of_records(storage, snapshot, found, executor)
    parts = (lost, list_differences(storage, snapshot, found), _of_files(storage, snapshot, found, executor), records)
    return tuple(sorted({*(finding for part in parts for finding in part), *_of_partitions(storage, snapshot, found)}))


def list_differences(storage: Storage, snapshot: Snapshot, metadata: MetadataTable) -> Iterator[Finding]:
    """Where the lists of files are not what storage has of completed actions.

    Raises:
        FormatError: a file of the metadata table that is broken.

    Clauses: MT-005, MT-010.

    """
    everything = {one.path: one.size for one in storage.list_files(skip=(".hoodie",))}
    listed = metadata.all_files()
    for partition, name in _keys(completed_files(storage, snapshot, _NOBODY)):
        path = joined(partition, name)
        if name not in listed.get(partition, {}) and _is_recorded(path, name, snapshot):
            yield Finding(Partition.FILES, path, "the file is in storage and not in the list")
    for partition, name in _keys(listed):
        path = joined(partition, name)
        size = listed[partition][name]
        if path not in everything:
            yield Finding(Partition.FILES, path, NOT_STORED)
        elif everything[path] != size:
            yield Finding(Partition.FILES, path, f"the list says {size} bytes, storage {everything[path]}")


def _is_recorded(path: str, name: str, snapshot: Snapshot) -> bool:
    """Whether a file is surely that of a completed action: one that names it, or one that is not to be asked any more.

    Names of older logs do not say by whom they are, and tasks that ran twice leave files that no action names.
    """
    if any(stat.path == path for commit in snapshot.commits for stat in commit.metadata.write_stats):
        return True
    parsed = parse_data_file_name(name)
    if parsed is None or (isinstance(parsed, LogFileName) and not snapshot.configuration.has_completion_times):
        return False
    return parsed.instant not in {commit.instant.requested for commit in snapshot.commits}


def _of_files(storage: Storage, snapshot: Snapshot, metadata: MetadataTable, executor: Executor) -> Iterator[Finding]:
    """Clauses: MT-011, IX-011."""
    places = {name: (partition, name) for partition, name in _keys(metadata.all_files())}
    statistics = statistics_of_files(metadata)
    for name in statistics.keys() - places.keys():
        yield Finding(Partition.COLUMN_STATS, name, "there are statistics of a file that is not listed")
    blooms = metadata.indexes.get(Partition.BLOOM_FILTERS)
    filters = None if blooms is None else blooms.records(EVERYTHING)
    claims = [claim_of(file, statistics.get(name, ()), filters) for name, file in sorted(places.items())]
    chunks = [tuple(claims[at : at + _FILES_A_TASK]) for at in range(0, len(claims), _FILES_A_TASK)]
    if chunks:
        rows = executor.tasks(chunks, partial(compared, facts=_facts(storage, snapshot, statistics)), FOUND).gathered()
        yield from (Finding(*row) for row in zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _of_partitions(storage: Storage, snapshot: Snapshot, metadata: MetadataTable) -> Iterator[Finding]:
    """Clauses: MT-014."""
    index = metadata.indexes.get(Partition.PARTITION_STATS)
    claims = [] if index is None else [one.content for one in index.records(EVERYTHING).values()]
    stats = [one for one in claims if isinstance(one, ColumnStats)]
    facts = _facts(storage, snapshot, {"": tuple(stats)})
    # Whether the list of files has them is another question.
    stored = {one.path for one in storage.list_files(skip=(".hoodie",))}
    slices = {
        partition: [name for name in names if joined(partition, name) in stored]
        for partition, names in names_of_slices(snapshot.slices).items()
    }
    for partition in sorted({one.file_name or "" for one in stats}):
        files = [facts.statistics((partition, name)) for name in slices.get(partition, ())]
        for one in stats:
            if (one.file_name or "") == partition:
                each = [found for file in files for found in file if found.column_name == one.column_name]
                wrong = [why for found in each if (why := unbounded(one, found))]
                yield from (Finding(Partition.PARTITION_STATS, f"{partition} {one.column_name}", why) for why in wrong)


def _of_records(storage: Storage, snapshot: Snapshot, metadata: MetadataTable, executor: Executor) -> Iterator[Finding]:
    """Clauses: IX-020, IX-021, IX-031, IX-040, IX-042."""
    columns = table_schema(snapshot.commits, snapshot.configuration)
    state = WriterState(storage, snapshot, Options(), WriterSchema({}, columns))
    groups = {name: tuple(one.slice.file_id for one in index.groups) for name, index in metadata.indexes.items()}
    definitions = read_definitions(storage, snapshot.configuration.properties)
    keeping = Keeping(state, executor, metadata, groups, definitions)
    rows = record_differences(keeping)
    yield from (Finding(*row) for row in zip(*(column.to_pylist() for column in rows.columns), strict=True))
    yield from (Finding(*one) for one in expression_differences(keeping))


def _facts(storage: Storage, snapshot: Snapshot, statistics: Mapping[str, tuple[ColumnStats, ...]]) -> FileFacts:
    """Reads the columns that an index has statistics of, in the form that it has them in."""
    each = [one for stats in statistics.values() for one in stats]
    names = sorted({one.column_name or "" for one in each})
    schema = pa.schema([*META_SCHEMA, *table_schema(snapshot.commits, snapshot.configuration)])
    columns = tuple(IndexedColumn(name, kind) for name in names if (kind := type_at(schema, name)) is not None)
    version = "V2" if any(one.value_type is not None for one in each) else "V1"
    return FileFacts(storage, tuple(one for one in columns if has_bounds(one.type, version)), version)


def _keys(files: Mapping[str, Mapping[str, int]]) -> list[FileKey]:
    return [(partition, name) for partition, names in sorted(files.items()) for name in sorted(names)]
