"""What all tasks of one write share."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from hudi_format.schemas import META_FIELDS

from hudi_spark.evolution.schema import WriterSchema
from hudi_spark.files.base import BaseFileForm
from hudi_spark.files.changes import ChangeForm
from hudi_spark.files.log_form import LogForm
from hudi_spark.files.places import Place
from hudi_spark.indexing.column_statistics import StatisticsPlan
from hudi_spark.merging.keys import KeyRule
from hudi_spark.merging.rules import MergeRule
from hudi_spark.options.resolving import Options
from hudi_spark.schemas.origins import Origins
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.writing.operations import Operation


@dataclass(frozen=True, slots=True)
class WriteContext:
    """One write, as its tasks see it.

    `schema`: the columns of the table, meta fields first. `form`, `logs` and
    `changes`: how its files look. `rule` merges versions
    of records; `stored_keys` finds the keys of stored rows. `origins`: how stored files are read. `new_file_id`: the id
    of a file group that is opened. `statistics`: of which columns tasks tell them. `missing`: columns that partial
    updates leave out.

    Clauses: MG-001, TT-001, TT-002.
    """

    place: Place
    configuration: TableConfiguration
    operation: Operation
    options: Options
    requested: str
    schema: pa.Schema
    form: BaseFileForm
    logs: LogForm
    changes: ChangeForm | None
    rule: MergeRule
    stored_keys: KeyRule
    origins: Origins
    new_file_id: Callable[[], str]
    statistics: StatisticsPlan
    missing: frozenset[str] = frozenset()

    def schema_of_rows(self, schema: WriterSchema) -> WriterSchema:
        """The columns in which rows are taken: those of deletes and partial updates may leave out what is required."""
        if not (self.operation.deletes or self.operation.partial):
            return schema
        return WriterSchema(schema.avro, pa.schema([pa.field(one.name, one.type) for one in schema.arrow]))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the table's own columns."""
        return tuple(name for name in self.schema.names if name not in META_FIELDS)
