"""Where the columns of slices come from: schemas of other times, partition paths, files outside of the table."""

from dataclasses import dataclass

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.schemas.base_rows import External
from hudi_spark.schemas.bootstrap import Bootstrapped, bootstrapped
from hudi_spark.schemas.history import column_ids
from hudi_spark.schemas.partition_values import path_values, typed_value
from hudi_spark.schemas.table_columns import ColumnIds, SliceColumns
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Origins:
    """What is needed of a table to read any of its slices."""

    configuration: TableConfiguration
    ids: ColumnIds | None
    data: Bootstrapped | None

    def columns(self, partition: str, schema: pa.Schema) -> SliceColumns:
        """How the files of a slice in a partition come to the table's columns.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a path that holds no value of a dropped column's type.
            UnsupportedFeature: drop-partition-columns, of a path that cannot be told apart into the fields.

        Clauses: DM-021, DM-022.

        """
        if not (self.configuration.partitions.columns_dropped and self.configuration.partition_by):
            return SliceColumns(self.ids)
        texts = path_values(partition, self.configuration)
        fields = [schema.field(name) for name in texts if name in schema.names]
        constants = {field.name: typed_value(texts[field.name], field, partition) for field in fields}
        return SliceColumns(self.ids, constants)

    def external(self, one: FileSlice) -> External | None:
        """The data file of a bootstrapped slice; None where the slice has the data itself.

        Raises:
            HudiError: BASE_FILE_MISSING, PATH_ESCAPES_TABLE.

        Clauses: BF-012.

        """
        return None if self.data is None else self.data.external(one)


def origins_of(storage: Storage, snapshot: Snapshot) -> Origins:
    """The origins of the columns of a snapshot.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE, BASE_FILE_CORRUPT when a schema or the bootstrap index does not parse.

    Clauses: BF-012, DM-021, DM-022.

    """
    configuration = snapshot.configuration
    return Origins(configuration, column_ids(storage, snapshot), bootstrapped(storage, configuration))
