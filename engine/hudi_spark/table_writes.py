"""What `HudiTable` writes, and what it does to keep itself in order."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hudi_format.storage import Storage

from hudi_spark.concurrency import Effects, hooks_of_environment
from hudi_spark.errors import boundary
from hudi_spark.metadata import Finding
from hudi_spark.readings import Readings
from hudi_spark.services.compaction_planning import ALWAYS
from hudi_spark.services.inline import InlineServices
from hudi_spark.services.recovered_files import Recovered, RecoveryHints
from hudi_spark.services.table_services import TableServices
from hudi_spark.spark import OnSpark, check_session
from hudi_spark.table_state import InstantLike
from hudi_spark.write import (
    IndexRequest,
    Outcome,
    TableActions,
    TableDefinition,
    TableWriter,
    WriteRequest,
    changes_of,
    create_table,
    write_id_of,
)


class UndoneTable(ABC):
    """Rollback, savepoint and restore of one table.

    An action is named by its requested time to the millisecond: digits, text, or a `datetime`, as in `HudiTable.as_of`.

    Clauses: RB-003, SR-001, SR-004.
    """

    @abstractmethod
    def _services(self) -> TableServices:
        """The services of the table."""

    def rollback(
        self, instant: InstantLike, configs: Mapping[str, str] | None = None, *, unschedule: bool = False
    ) -> Outcome:
        """Take back an action that has not completed, and whose writer is gone.

        Of a table service the attempt is taken back and its plan stays; with `unschedule` the plan goes as well. What
        has completed is undone by `restore`.

        Raises:
            HudiError: INSTANT_NOT_FOUND; CONFIG_INVALID for what has completed, or is under way.

        Clauses: RB-003, RB-005, RB-008.

        """
        return self._services().rollback(instant, configs, unschedule=unschedule)

    def savepoint(
        self, instant: InstantLike | None = None, comment: str = "", configs: Mapping[str, str] | None = None
    ) -> Outcome:
        """Keep what the table was at a completed write, at the newest one where none is named, until it is deleted.

        Raises:
            HudiError: INSTANT_NOT_FOUND; RANGE_NOT_RETAINED where a clean may have removed files; CONFIG_INVALID for a
                write that is saved already.

        Clauses: SR-001, SR-002.

        """
        return self._services().savepoint(instant, comment, configs)

    def delete_savepoint(self, instant: InstantLike, configs: Mapping[str, str] | None = None) -> Outcome:
        """End a savepoint: what it kept is cleaned like other files.

        Raises:
            HudiError: INSTANT_NOT_FOUND.

        Clauses: SR-003.

        """
        return self._services().delete_savepoint(instant, configs)

    def restore(self, to: InstantLike, configs: Mapping[str, str] | None = None) -> Outcome:
        """Bring the table back to what it was when a write, best one that is saved, had completed.

        Everything that came after is gone for good. Nobody else should be writing.

        Raises:
            HudiError: INSTANT_NOT_FOUND; CONFIG_INVALID where a savepoint would lose its write; RANGE_NOT_RETAINED
                where files that are needed were cleaned, or later writes archived. Nothing is changed then.

        Clauses: SR-004, SR-009.

        """
        return self._services().restore(to, configs)


class MaintainedTable(UndoneTable):
    """Compaction, clustering, cleaning, archival and changes of version of one table.

    Clauses: CP-001, LK-004.
    """

    def has_completed(self, instant: InstantLike) -> bool:
        """Whether an action stands, by its requested time; what an OutcomeUnknownError leaves open.

        Raises:
            HudiError: LOCK_UNAVAILABLE.

        Clauses: OW-010.

        """
        return self._services().has_completed(instant)

    def schedule(self, service: str, configs: Mapping[str, str] | None = None) -> str | None:
        """Plan a table service, for the one that executes it: compaction, logcompaction, clustering, clean or indexing.

        The time that the plan is known by; None where there is nothing to do, or where the options' trigger says that
        it is not due.

        Raises:
            HudiError: CONFIG_INVALID for a table that the service is not for; LOCK_UNAVAILABLE.

        Clauses: CP-001, CP-002, LK-004.

        """
        return self._services().schedule(service, configs)

    def execute(self, instant: InstantLike, configs: Mapping[str, str] | None = None) -> Outcome:
        """Carry out a plan, by the time that `schedule` answered, no matter who made it.

        Raises:
            HudiError: INSTANT_NOT_FOUND where no plan of this time waits; WRITE_CONFLICT.

        Clauses: CP-002, CP-010.

        """
        return self._services().execute(instant, configs)

    def compact(self, configs: Mapping[str, str] | None = None) -> Outcome | None:
        """Make base files of the slices that have logs, now; None where there are none.

        However few deltacommits there were, or none since a compaction that left some; which slices, is for the
        options' strategy to say.

        Raises:
            HudiError: CONFIG_INVALID for a copy-on-write table; BASE_FILE_MISSING, LOG_FILE_MISSING.

        Clauses: CP-001, CP-004, CP-006.

        """
        return self._services().run("compaction", {**ALWAYS, **(configs or {})})

    def cluster(
        self,
        sort: str | Sequence[str] = (),
        layout: str = "",
        partitions: Sequence[str] = (),
        configs: Mapping[str, str] | None = None,
    ) -> Outcome | None:
        """Put the rows of small files into large ones, now; None where there are none.

        `sort`: columns that rows are sorted by; `layout`: by these in turn (`linear`), or along a curve through them
        (`z-order`, `hilbert`). Clusterings that were planned before are carried out first.

        Raises:
            HudiError: CONFIG_INVALID for columns that rows cannot be sorted by; WRITE_CONFLICT.
            UnsupportedFeature: an index of buckets.

        Clauses: CL-001, CL-004, CL-006, CL-009, CL-010.

        """
        return self._services().cluster(sort, layout, partitions, configs)

    def drop_old_partitions(self, days: int | None = None, configs: Mapping[str, str] | None = None) -> Outcome | None:
        """Delete the partitions whose youngest slice began so many days ago, now; None where there are none.

        Raises:
            HudiError: WRITE_CONFLICT where somebody wrote to one of them meanwhile.

        Clauses: OW-018.

        """
        return self._services().drop_old_partitions(days, configs)

    def clean(self, configs: Mapping[str, str] | None = None) -> Outcome | None:
        """Delete the files of old versions that the options' policy does not keep, now; None where there are none.

        Cleans that were planned before are carried out first.

        Raises:
            HudiError: CONFIG_INVALID; LOCK_UNAVAILABLE.

        Clauses: CN-001, CN-006, CN-012.

        """
        return self._services().clean(configs)

    def archive(self, configs: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Move old actions from the active timeline to the history, where there are too many; answers their times.

        Raises:
            HudiError: CONFIG_INVALID; LOCK_UNAVAILABLE; TIMELINE_FILE_CORRUPT for a broken history.

        Clauses: AR-001, AR-002.

        """
        return self._services().archive(configs)

    def upgrade(self, to: int = 9, configs: Mapping[str, str] | None = None) -> bool:
        """Bring the table to version 8 or 9; False where it has it.

        Failed writes are rolled back first, plans carried out, and all logs compacted. What stopped is done by the next
        call; until then the table is the old one.

        Raises:
            HudiError: CONFIG_INVALID where that is no upgrade; WRITE_CONFLICT while another writer is at work.

        Clauses: VR-004, VR-005, VR-006.

        """
        return self._services().upgrade(to, configs)

    def downgrade(self, to: int, configs: Mapping[str, str] | None = None) -> bool:
        """Bring the table to version 8 or 6, for older writers and readers; False where it has it.

        Raises:
            HudiError: CONFIG_INVALID where that is no downgrade, and for what the version cannot say, before any
                change; WRITE_CONFLICT while another writer is at work.

        Clauses: VR-004, VR-005, VR-006, VR-009.

        """
        return self._services().downgrade(to, configs)


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
        self._session = spark
        self._storage = storage
        self._readings = readings
        self._configs = dict(configs)

    @property
    def _spark(self) -> "SparkSession":
        """The session, which may have been stopped since."""
        check_session(self._session)
        return self._session

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
        request = WriteRequest("delete_partition", None, None, partitions, configs or {})
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
            self._storage, OnSpark.of(self._spark), self._configs, self._readings, lifecycle=InlineServices()
        )


def define_table(storage: Storage, definition: TableDefinition) -> None:
    """Make an empty table in a storage.

    Raises:
        HudiError: as `create_table`.

    Clauses: OW-031, OW-032.

    """
    with boundary(storage.base):
        create_table(Effects(storage, hooks_of_environment()), definition)


def recover_table(spark: "SparkSession", storage: Storage, known: RecoveryHints) -> Recovered:
    """Build a lost table again.

    Raises:
        HudiError: as `recover`.

    Clauses: SL-001, SL-002, TL-018.

    """
    return TableServices(TableWriter(storage, OnSpark.of(spark))).recover(known)
