"""What `HudiTable` writes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hudi_format.storage import Storage

from hudi_spark.committing.outcome import Outcome
from hudi_spark.creation.creating import create_table
from hudi_spark.creation.definition import TableDefinition
from hudi_spark.effects.helper import Effects
from hudi_spark.effects.hooks import hooks_of_environment
from hudi_spark.errors import boundary
from hudi_spark.evolution.altering import changes_of
from hudi_spark.flows.on_spark import OnSpark
from hudi_spark.indexing.validation import Finding
from hudi_spark.readings import Readings
from hudi_spark.services.lifecycle import InlineServices
from hudi_spark.services.maintained import MaintainedTable
from hudi_spark.services.recovering.asked import KnownOfTable, Recovered
from hudi_spark.services.table_services import TableServices
from hudi_spark.writing.actions import IndexRequest, TableActions
from hudi_spark.writing.requests import WriteRequest, write_id_of
from hudi_spark.writing.writer import TableWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TableWrites(MaintainedTable):
    """The writes of one table, with Spark. Each is one action on the timeline, whole or not there.

    Every method takes `configs`, Hudi's own keys, which go before the table object's, and answers what was committed,
    and which services failed after it; printed, that is one line. An OutcomeUnknownError says that a write may stand.
    `write_id`: an id of the caller's own; a write of an id that a commit of the active timeline has is not done again.

    Clauses: OW-001, OW-010, OW-014.
    """

    def __init__(self, spark: "SparkSession", storage: Storage, readings: Readings, configs: Mapping[str, str]) -> None:
        self._spark = spark
        self._storage = storage
        self._readings = readings
        self._configs = dict(configs)

    def insert(self, rows: "DataFrame", configs: Mapping[str, str] | None = None, *, write_id: str = "") -> Outcome:
        """Add rows; keys that the table holds are not looked up.

        Raises:
            HudiError: the table, a row or an option is refused, and nothing is changed.

        Clauses: OW-012, OW-014.

        """
        return self._write("insert", rows, configs, write_id)

    def upsert(self, rows: "DataFrame", configs: Mapping[str, str] | None = None, *, write_id: str = "") -> Outcome:
        """Add rows with new keys, and merge the others with those that the table holds.

        Raises:
            HudiError: the table, a row or an option is refused, and nothing is changed.

        Clauses: OW-003, OW-015, OW-016.

        """
        return self._write("upsert", rows, configs, write_id)

    def bulk_insert(
        self, rows: "DataFrame", configs: Mapping[str, str] | None = None, *, write_id: str = ""
    ) -> Outcome:
        """Add many rows to new file groups: one job, each of Spark's partitions by itself.

        Raises:
            HudiError: the table, a row or an option is refused, and nothing is changed.

        Clauses: OW-012, OW-014.

        """
        return self._write("bulk_insert", rows, configs, write_id)

    def update_columns(
        self, rows: "DataFrame", configs: Mapping[str, str] | None = None, *, write_id: str = ""
    ) -> Outcome:
        """Change some columns: rows bring their key, their partition, the ordering fields and the columns to change.

        Raises:
            HudiError: CONFIG_INVALID for a table of version 6; as `upsert`.

        Clauses: OW-025, MG-021.

        """
        return self._write("partial_update", rows, configs, write_id)

    def delete(
        self,
        rows: "DataFrame | None" = None,
        filter: Any = None,  # noqa: A002 - the word that reads use
        configs: Mapping[str, str] | None = None,
        *,
        write_id: str = "",
    ) -> Outcome:
        """Remove the keys of rows that hold the key and partition columns, or the stored rows that a filter chooses.

        Raises:
            HudiError: the table, a row or an option is refused, and nothing is changed.

        Clauses: OW-013.

        """
        return self._run_write(WriteRequest("delete", rows, filter, (), configs or {}), write_id)

    def insert_overwrite(
        self, rows: "DataFrame", configs: Mapping[str, str] | None = None, *, write_id: str = ""
    ) -> Outcome:
        """Put rows in place of all that the partitions hold which they are in.

        Raises:
            HudiError: the table, a row or an option is refused, and nothing is changed.

        Clauses: OW-018.

        """
        return self._write("insert_overwrite", rows, configs, write_id)

    def insert_overwrite_table(
        self, rows: "DataFrame", configs: Mapping[str, str] | None = None, *, write_id: str = ""
    ) -> Outcome:
        """Put rows in place of all that the table holds.

        Raises:
            HudiError: the table, a row or an option is refused, and nothing is changed.

        Clauses: OW-018.

        """
        return self._write("insert_overwrite_table", rows, configs, write_id)

    def delete_partitions(
        self, partitions: Sequence[str], configs: Mapping[str, str] | None = None, *, write_id: str = ""
    ) -> Outcome:
        """Remove all that partitions hold, given by their paths below the table.

        Raises:
            HudiError: the table or an option is refused, and nothing is changed.

        Clauses: OW-018.

        """
        request = WriteRequest("delete_partition", None, None, tuple(partitions), configs or {})
        return self._run_write(request, write_id)

    def write_batch(
        self, rows: "DataFrame", batch: int, operation: str = "upsert", configs: Mapping[str, str] | None = None
    ) -> Outcome | None:
        """One batch of a stream, written once however often it comes; None when it was there already.

        For `foreachBatch`: `frame.writeStream.foreachBatch(table.write_batch)`. Streams that write to one table at the
        same time need names of their own, `hoodie.datasource.write.streaming.checkpoint.identifier`.

        Raises:
            HudiError: as the operation.

        Clauses: OW-001.

        """
        request = WriteRequest(operation, rows, None, (), configs or {})
        return self._writer().write_once(request, batch)

    def create_index(
        self,
        name: str,
        columns: Sequence[str] = (),
        kind: str = "secondary_index",
        function: str = "identity",
        options: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Make an index: a secondary one, one of a function's results, or one of the table's own by its name.

        Raises:
            HudiError: CONFIG_INVALID for an index that the table cannot have, or has.
            UnsupportedFeature: an index that the table's version does not have.

        Clauses: IG-001, IX-001.

        """
        return TableActions(self._writer()).create_index(IndexRequest(name, kind, columns, function, options))

    def drop_index(self, name: str) -> None:
        """Take an index away.

        Raises:
            HudiError: CONFIG_INVALID for an index that is not there, or that others need.

        Clauses: IX-002.

        """
        TableActions(self._writer()).drop_index(name)

    def alter_schema(self, changes: Sequence[Mapping[str, Any]]) -> Outcome:
        """Change columns, as an action of its own: `[{"change": "rename", "column": "price", "to": "cost"}]`.

        Changes are add, drop, rename, type, move, nullable and doc; see the guide for what each needs.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a change that cannot be made.

        Clauses: DM-020, DM-021.

        """
        with boundary(self._storage.base):
            return TableActions(self._writer()).alter_schema(changes_of(changes))

    def validate_metadata(self) -> tuple[Finding, ...]:
        """What the metadata table says that storage and data do not: nothing, where all is well."""
        return TableActions(self._writer()).validate_metadata()

    def _write(self, operation: str, rows: "DataFrame", configs: Mapping[str, str] | None, write_id: str) -> Outcome:
        return self._run_write(WriteRequest(operation, rows, None, (), configs or {}), write_id)

    def _run_write(self, request: WriteRequest, write_id: str) -> Outcome:
        return self._writer().write(replace(request, once=write_id_of(write_id)))

    def _services(self) -> TableServices:
        return TableServices(self._writer())

    def _writer(self) -> TableWriter:
        return TableWriter(
            self._storage, OnSpark(self._spark), self._configs, self._readings, lifecycle=InlineServices()
        )


def define_table(storage: Storage, definition: TableDefinition) -> None:
    """Make an empty table in a storage.

    Raises:
        HudiError: as `create_table`.

    Clauses: OW-031, OW-032.

    """
    with boundary(storage.base):
        create_table(Effects(storage, hooks_of_environment()), definition)


def recover_table(spark: "SparkSession", storage: Storage, known: KnownOfTable) -> Recovered:
    """Build a lost table again.

    Raises:
        HudiError: as `recover`.

    Clauses: SL-001, SL-002, TL-018.

    """
    return TableServices(TableWriter(storage, OnSpark(spark))).recover(known)
