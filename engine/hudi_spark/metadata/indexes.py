"""The indexes that a metadata table has, in the order in which they begin, and what they are given."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.metadata.bloom_filters import BloomFilters
from hudi_spark.metadata.column_stats import ColumnStatistics, PartitionStatistics, definition_of, planned
from hudi_spark.metadata.expression_index import ExpressionIndex
from hudi_spark.metadata.file_groups import file_ids_of
from hudi_spark.metadata.files_index import FileLists
from hudi_spark.metadata.index import NO_WRITE, FinishedWrite, Index, Keeping
from hudi_spark.metadata.layout import read_definitions
from hudi_spark.metadata.record_index import RecordIndex
from hudi_spark.metadata.secondary_index import SecondaryIndex
from hudi_spark.read import Executor
from hudi_spark.schema import WriterState
from hudi_spark.table_state import (
    METADATA_FOLDER,
    MetadataTable,
    OwnState,
    list_file_groups,
    load_configuration,
    subfolder,
)

KINDS: Final[Sequence[Index]] = (
    FileLists(),
    ColumnStatistics(),
    BloomFilters(),
    PartitionStatistics(),
    # Secondary indexes lead to record keys, and the record index on from there.
    RecordIndex(),
    SecondaryIndex(),
    ExpressionIndex(),
)


def kind_of(partition: str) -> Index | None:
    """The kind of a partition of the metadata table; None for one that this engine does not keep."""
    return next((kind for kind in KINDS if kind.holds(partition)), None)


def wanted_indexes(keeping: Keeping) -> tuple[str, ...]:
    """The indexes that a write's options request, in the order in which they begin.

    Clauses: MT-009, MT-022.
    """
    return tuple(partition for kind in KINDS for partition in kind.wanted(keeping))


def keeping_of(
    state: WriterState, executor: Executor, own: OwnState | None = None, write: FinishedWrite = NO_WRITE
) -> Keeping:
    """What is known of a table and, from `own` or else read anew, of its metadata table.

    Clauses: MT-005.
    """
    own = own or OwnState(subfolder(state.storage, METADATA_FOLDER))
    opened = MetadataTable.open(state.storage, state.configuration, state.snapshot.timeline, own)
    groups = list_file_groups(own.storage, own.listing)
    ids = {partition: file_ids_of(groups, partition) for partition, _ in groups}
    definitions = read_definitions(state.storage, state.configuration.properties)
    return Keeping(state, executor, opened, ids, definitions, write)


def with_fresh_properties(state: WriterState) -> WriterState:
    """The same with the properties as they are in storage."""
    configuration = load_configuration(state.storage)
    return replace(state, snapshot=replace(state.snapshot, configuration=configuration))


def statistics_definition(keeping: Keeping) -> IndexDefinition:
    """The definition of `column_stats`, with the columns that the files of this action have statistics of.

    Clauses: IX-001, IX-004.
    """
    return definition_of(planned(keeping))
