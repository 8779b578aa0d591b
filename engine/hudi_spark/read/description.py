"""A table's facts as values: timeline, slices, and what it is."""

from dataclasses import dataclass, field

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.merge import MergeMode, merge_mode
from hudi_spark.schema import table_schema
from hudi_spark.table_state import TableType, load_commits, load_table


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What a table is.

    Clauses: PR-002, PR-005, PR-006, MG-001, DM-003.
    """

    name: str
    version: int
    table_type: TableType
    merge_mode: MergeMode
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: tuple[str, ...]
    schema: pa.Schema = field(hash=False)

    def __str__(self) -> str:
        keys = ", ".join(self.record_key) or "generated keys"
        parts = f" by {', '.join(self.partition_by)}" if self.partition_by else ""
        ordering = f" on {', '.join(self.ordering)}" if self.ordering else ""
        columns = ", ".join(f"{column.name} {column.type}" for column in self.schema)
        head = f"{self.name}: {self.table_type}, table version {self.version}, {self.merge_mode}{ordering}"
        return f"{head}\nkey {keys}{parts}\n{columns}"


def table_info(storage: Storage) -> TableInfo:
    """What a table is.

    Raises:
        HudiError: the reasons of a refused table.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: a table that this reader cannot read yet.

    Clauses: MG-001, DM-003.

    """
    configuration, timeline = load_table(storage)
    return TableInfo(
        name=configuration.name,
        version=configuration.version,
        table_type=configuration.table_type,
        merge_mode=merge_mode(configuration),
        record_key=configuration.record_key,
        partition_by=configuration.partition_by,
        ordering=configuration.ordering,
        schema=table_schema(load_commits(storage, timeline, None, "requested"), configuration),
    )
