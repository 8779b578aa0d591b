"""What those who keep indexes are told of a table and its metadata table."""

from dataclasses import replace

from hudi_spark.flows.flow import Executor
from hudi_spark.indexing.group_places import file_ids_of
from hudi_spark.indexing.index import NO_WRITE, FinishedWrite, Keeping
from hudi_spark.indexing.table_state import read_definitions
from hudi_spark.metadata.own_state import OwnState
from hudi_spark.metadata.subfolder import METADATA_FOLDER, subfolder
from hudi_spark.metadata.table import MetadataTable
from hudi_spark.state.configuration import load_configuration
from hudi_spark.state.slicing import list_file_groups
from hudi_spark.writer_state import WriterState


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
