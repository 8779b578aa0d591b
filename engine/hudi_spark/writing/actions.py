"""Actions on a table that bring no rows: indexes made and dropped, columns changed, the metadata table validated."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.metadata.partitions import (
    expression_index_partition,
    is_expression_index,
    is_secondary_index,
    secondary_index_partition,
)
from hudi_format.table.index_definitions import IndexDefinition
from hudi_format.timeline.commit_metadata import CommitMetadata

from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.outcome import Outcome
from hudi_spark.effects.afterwards import with_failures
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError, boundary
from hudi_spark.evolution.altering import OPERATION, alter_schema
from hudi_spark.evolution.changes import DropColumn, RenameColumn, SchemaChange
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.indexing.index_actions import ACTION, create_index, drop_index
from hudi_spark.indexing.table_state import read_definitions
from hudi_spark.indexing.updating import update_metadata_table
from hudi_spark.indexing.validation import Finding, validate_metadata_table
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.writer import TableWriter

_HOLDER: Final = "action"
_SECONDARY: Final = "secondary_index"
_IDENTITY: Final = "identity"
_WHOLE: Final = ("record_index", "column_stats", "bloom_filters", "partition_stats")


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """An index to make.

    `kind`: secondary_index, or column_stats or bloom_filters of a function's results; record_index, column_stats,
    bloom_filters or partition_stats by that name for the whole table's own.

    Clauses: IX-001, IX-003.
    """

    name: str
    kind: str = _SECONDARY
    columns: Sequence[str] = ()
    function: str = _IDENTITY
    options: Mapping[str, str] | None = None

    def definition(self) -> IndexDefinition:
        """What is said of it in the table.

        Clauses: IX-001, IX-003, IX-041.
        """
        options = dict(self.options or {})
        if self.name in _WHOLE:
            return IndexDefinition(self.name, self.name, "", tuple(self.columns), options)
        if self.kind == _SECONDARY:
            partition = secondary_index_partition(self.name)
        else:
            partition = expression_index_partition(self.name)
        return IndexDefinition(partition, self.kind, self.function, tuple(self.columns), options)


@dataclass(frozen=True, slots=True)
class TableActions:
    """Actions by a writer, each under the table's lock.

    Clauses: LK-004, IG-001.
    """

    writer: TableWriter

    @with_failures
    def create_index(self, request: IndexRequest, configs: Mapping[str, str] | None = None) -> Outcome:
        """Make an index of all that has completed.

        Raises:
            HudiError: CONFIG_INVALID for an index that the table cannot have, or has.
            UnsupportedFeature: an index that the table's version does not have.

        Clauses: IG-001, IX-001, IX-002.

        """
        with boundary(self.writer.storage.base), self._locked(configs) as (effects, state):
            clock, executor = self.writer.clock, self.writer.executor
            done = create_index(effects, state, request.definition(), executor, clock)
            return Outcome(*done, ACTION, "INDEX")

    def drop_index(self, name: str, configs: Mapping[str, str] | None = None) -> None:
        """Take an index away, by its name or that of its folder.

        Raises:
            HudiError: CONFIG_INVALID for an index that is not there, or that others need.

        Clauses: IX-002.

        """
        with boundary(self.writer.storage.base), self._locked(configs) as (effects, state):
            listed = state.configuration.properties.get("hoodie.table.metadata.partitions", "")
            names = (name, secondary_index_partition(name), expression_index_partition(name))
            found = next((one for one in names if one in listed.split(",")), name)
            drop_index(effects, state, found)

    @with_failures
    def alter_schema(self, changes: Sequence[SchemaChange], configs: Mapping[str, str] | None = None) -> Outcome:
        """Change columns: an action of its own; files keep what they hold and are read by the columns' ids.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a change that cannot be made.

        Clauses: DM-020, DM-021.

        """
        with boundary(self.writer.storage.base), self._locked(configs) as (effects, state):
            _refuse_indexed(state, changes)

            def keep_metadata(requested: str, metadata: CommitMetadata) -> None:
                action = "commit" if state.configuration.table_type == "COPY_ON_WRITE" else "deltacommit"
                write = FinishedWrite(requested, action, metadata.operation_type or OPERATION)
                update_metadata_table(effects, state, write, self.writer.executor, self.writer.clock)

            done = alter_schema(effects, state, changes, self.writer.clock, keep_metadata)
            return Outcome(done.requested, done.completed, done.action, OPERATION)

    def validate_metadata(self) -> tuple[Finding, ...]:
        """What the metadata table says that storage and data do not; nothing where all is well, or there is none.

        Clauses: MT-005.
        """
        with boundary(self.writer.storage.base):
            return validate_metadata_table(self.writer.storage, self.writer.executor)

    @contextmanager
    def _locked(self, configs: Mapping[str, str] | None) -> Iterator[tuple[Effects, WriterState]]:
        work = self.writer.work(configs)
        with work.lock(_HOLDER):
            yield work.effects, state_of_table(work.storage, work.snapshot(), work.options)


def _refuse_indexed(state: WriterState, changes: Sequence[SchemaChange]) -> None:
    """An index knows its column by name.

    Clauses: DM-021, IX-001.
    """
    definitions = read_definitions(state.storage, state.configuration.properties).values()
    of_columns = [one for one in definitions if is_secondary_index(one.name) or is_expression_index(one.name)]
    for change in changes:
        for one in of_columns if isinstance(change, DropColumn | RenameColumn) else ():
            if change.column in one.source_fields:
                message = f"the index {one.name} is of the column {change.column!r}"
                raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-021", message, hint="drop the index first")
