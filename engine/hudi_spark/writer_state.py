"""What a write knows of its table when it begins."""

from dataclasses import dataclass

from hudi_format.storage import Storage

from hudi_spark.evolution.schema import WriterSchema
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class WriterState:
    """A table at the moment a write begins: its configuration, its newest completed state, and the write's options.

    `schema`: the columns that the write's files have.

    Clauses: RD-001.
    """

    storage: Storage
    snapshot: Snapshot
    options: Options
    schema: WriterSchema

    @property
    def configuration(self) -> TableConfiguration:
        """The table's own configuration."""
        return self.snapshot.configuration

    @property
    def slices(self) -> tuple[FileSlice, ...]:
        """The slices that a snapshot of the table reads, by partition and file id."""
        return self.snapshot.slices
