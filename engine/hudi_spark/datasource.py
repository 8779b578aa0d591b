"""Tables by the options of Hudi's data source, as users have them in their programs.

    spark.read.format("hudi").options(**options).load(path)                 load(spark, path, options)
    frame.write.format("hudi").options(**options).mode("append").save(path) save(frame, path, options, "append")

Rows come back as from Hudi's source: meta columns first, and of a change feed `op`, `ts_ms`, `before` and `after` as
text. On Spark 4 `register` makes both a format of their own, `hudi_py`, and `hudi`, too, where no bundle is.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from hudi_format.storage import Storage
from hudi_format.table.table_properties import holds_table

from hudi_spark.concurrency.effects import ServiceWarning
from hudi_spark.errors import HudiError, Reason, boundary
from hudi_spark.keys import RECORD_KEY
from hudi_spark.options import STORAGE_PREFIX, refusal, resolve, settled, the_catalogue
from hudi_spark.read import Executor
from hudi_spark.services.inline import InlineServices
from hudi_spark.spark import OnSpark, arrow_schema, check_session, use_same_python
from hudi_spark.table import HudiTable, session_storage
from hudi_spark.table_state import full_timeline, load_configuration, load_table
from hudi_spark.table_writes import define_table
from hudi_spark.write import Outcome, TableDefinition, TableWriter, WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TYPE: Final = "hoodie.datasource.query.type"
CHANGES: Final = "hoodie.datasource.query.incremental.format"
AS_OF: Final = "as.of.instant"
BEGIN: Final = "hoodie.datasource.read.begin.instanttime"
END: Final = "hoodie.datasource.read.end.instanttime"
START: Final = "hoodie.datasource.streaming.startOffset"
LATEST: Final = "latest"
IMAGES: Final = ("before", "after")
_OPERATION: Final = "hoodie.datasource.write.operation"
_NAMED: Final = frozenset({TYPE, CHANGES, AS_OF, BEGIN, END, START, _OPERATION})
# Which options each kind of query takes beside its type.
_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    "snapshot": frozenset({TYPE, AS_OF}),
    "read_optimized": frozenset({TYPE, AS_OF}),
    "incremental": frozenset({TYPE, CHANGES, BEGIN, END}),
}
MODES: Final = ("append", "overwrite", "error", "errorifexists", "ignore")


def load(spark: "SparkSession", path: str | Path, options: Mapping[str, object] | None = None) -> "DataFrame":
    """What `spark.read.format("hudi").options(**options).load(path)` reads.

    `hoodie.datasource.query.type` (snapshot, read_optimized, incremental), `as.of.instant`,
    `hoodie.datasource.read.begin.instanttime` and `...end.instanttime`, `hoodie.datasource.query.incremental.format`
    (latest_state, cdc), and every option that reads take. Instants may be written in any form that `HudiTable.as_of`
    takes. The table is planned at the call.

    Raises:
        HudiError: CONFIG_INVALID for an option that is unknown, that would change the rows and is not supported, or
            that the kind of query does not have, and for what is no session; else as the query.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: IN-001, IN-002, CD-001, PR-022, RD-001, RD-009, RD-010.

    """
    given = GivenOptions.of(options)
    kind = kind_of_query(given.query)
    table = HudiTable(spark, path, configs=given.configs, storage_options=given.storage)
    as_of = given.query.get(AS_OF)
    if kind == "incremental":
        return _changed(table, given.query)
    if kind == "read_optimized":
        return table.read_optimized(meta_columns=True, as_of=as_of)
    return table.snapshot(meta_columns=True) if as_of is None else table.as_of(as_of, meta_columns=True)


def save(
    frame: "DataFrame", path: str | Path, options: Mapping[str, object] | None = None, mode: str = "errorifexists"
) -> Outcome | None:
    """What `frame.write.format("hudi").options(**options).mode(mode).save(path)` writes, as one action.

    The first call makes the table, of the type, key, partition and ordering fields that the options name.
    `mode`: `append` writes by `hoodie.datasource.write.operation` (upsert by default; insert for a table without
    record key, but for rows that bring their `_hoodie_record_key`); `overwrite` puts the rows in place of all that the
    table holds, whose history stays; `error` and `errorifexists` refuse a table that has commits; `ignore` leaves one
    alone, and answers None.
    Options of catalogues and of metrics are named in one warning and have no effect.

    Raises:
        HudiError: CONFIG_INVALID for an option that is unknown, not supported or contradicts the table, and for a
            table that is there; else as the operation. A table that the call has made stays, empty.
        OutcomeUnknownError: whether the write stands is not known.

    Clauses: OW-014, OW-018, OW-031, OW-032, PR-022.

    """
    given = GivenOptions.of(options)
    given.check_write()
    if not hasattr(frame, "sparkSession"):
        raise refusal(
            f"the rows are of type {type(frame).__name__}", "give a DataFrame; write_arrow takes Arrow tables"
        )
    spark = frame.sparkSession
    check_session(spark)
    use_same_python(spark)
    door = WritingDoor(session_storage(spark, path, given.storage), OnSpark.of(spark), given)
    with boundary(door.storage.base):
        columns = arrow_schema(frame.schema)
    return door.write(frame, columns, mode)


@dataclass(frozen=True, slots=True)
class WritingDoor:
    """Writes to a table as the options of Hudi's data source have it, by an executor."""

    storage: Storage
    executor: Executor
    given: "GivenOptions"

    def write(self, rows: Any, schema: pa.Schema, mode: str, batch: int | None = None) -> Outcome | None:
        """One action; None where the mode leaves the table alone, or the numbered batch of a stream stands.

        Raises:
            HudiError: as `save`.

        Clauses: OW-001, OW-018, OW-031, OW-032.

        """
        chosen = str(mode).lower()
        if chosen not in MODES:
            raise refusal(f"mode {mode!r} is unknown", f"say {', '.join(MODES)}")
        self._make(schema)
        has_commits = chosen != "append" and self._has_commits()
        if has_commits and chosen == "ignore":
            return None
        if has_commits and chosen != "overwrite":
            message, hint = f"there is a table in {self.storage.base}", "say mode append, overwrite or ignore"
            raise HudiError(Reason.CONFIG_INVALID, "OW-031", message, hint=hint)
        operation = self._operation(schema, replaces=has_commits)
        # The options name the partitions of a deletion.
        request = WriteRequest(operation, None if operation == "delete_partition" else rows)
        writer = TableWriter(self.storage, self.executor, self.given.configs, lifecycle=InlineServices())
        return writer.write(request) if batch is None else writer.write_once(request, batch)

    def _make(self, schema: pa.Schema) -> None:
        with boundary(self.storage.base):
            known = holds_table(self.storage)
        if not known:
            define_table(self.storage, TableDefinition(schema=schema, configs=self.given.configs))

    def _has_commits(self) -> bool:
        with boundary(self.storage.base):
            configuration, active = load_table(self.storage)
            return len(full_timeline(self.storage, configuration, active).instants) > 0

    def _operation(self, schema: pa.Schema, *, replaces: bool) -> str:
        """The one that the options name, and what the mode, the table and the rows' columns make of none."""
        named = self.given.operation
        if replaces and not named.startswith("insert_overwrite"):
            return "insert_overwrite_table"
        if named or RECORD_KEY in schema.names:
            return named or "upsert"
        with boundary(self.storage.base):
            return "upsert" if load_configuration(self.storage).record_key else "insert"


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """Options by what they are for: the query, the operation of a write, the table, and the object store."""

    operation: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, object] | None) -> "GivenOptions":
        """The options of a call; those of catalogues and metrics are named in one warning.

        Raises:
            HudiError: CONFIG_INVALID for two names of one option that differ, and for a bad value.

        Clauses: PR-022.

        """
        if options is not None and not hasattr(options, "items"):
            raise refusal(f"options are a {type(options).__name__}", f"give a dictionary: {{'{TYPE}': 'snapshot'}}")
        catalogue = the_catalogue()
        named: dict[str, str] = {}
        configs: dict[str, str] = {}
        storage: dict[str, str] = {}
        elsewhere: list[str] = []
        for name, value in (options or {}).items():
            # As Spark writes the values of options.
            text = str(value).lower() if isinstance(value, bool) else str(value)
            entry = catalogue.find(name)
            if name.startswith(STORAGE_PREFIX):
                storage[name] = text
            elif entry is not None and entry.key in _NAMED:
                known = settled(entry, name, text)
                if named.setdefault(entry.key, known) != known:
                    raise refusal(f"{name} is given twice under different names", f"give only {entry.key}")
            elif entry is not None and entry.elsewhere:
                if text.strip().lower() not in entry.harmless:
                    elsewhere.append(name)
            else:
                configs[name] = text
        if elsewhere:
            message = f"without effect here: {', '.join(sorted(elsewhere))}; register the table with Hudi's sync tools"
            warnings.warn(message, ServiceWarning, stacklevel=4)
        return cls(named.pop(_OPERATION, ""), named, configs, storage)

    def check_write(self) -> None:
        """Refuse what no write takes.

        Raises:
            HudiError: CONFIG_INVALID.

        Clauses: PR-022.

        """
        if self.query:
            raise refusal(f"{min(self.query)} is an option of reads", "leave it out of a write")
        resolve(self.configs)


def kind_of_query(query: Mapping[str, str]) -> str:
    """Of which kind a query is; one with the options of another kind is refused."""
    kind = query.get(TYPE, "snapshot")
    other = sorted(query.keys() - _TAKEN[kind])
    if START in other:
        raise refusal(f"{START} is an option of streams", f"say {BEGIN}, or read a stream")
    if other:
        hint = "leave it out" if kind == "incremental" else f"say {TYPE} = incremental, or leave it out"
        raise refusal(f"{other[0]} is no option of a query of type {kind}", hint)
    if kind == "incremental" and BEGIN not in query:
        raise refusal(f"an incremental query needs {BEGIN}", "give an instant, or earliest")
    return kind


def _changed(table: HudiTable, query: Mapping[str, str]) -> "DataFrame":
    begin, end = query[BEGIN], query.get(END)
    if query.get(CHANGES) != "cdc":
        return table.incremental(begin, end, meta_columns=True)
    from pyspark.sql.functions import col, to_json  # noqa: PLC0415 - pyspark is optional

    feed = table.changes(begin, end, commit_time=True)
    # In one time zone, whatever that of the session is.
    form = {"ignoreNullFields": "false", "timeZone": "UTC"}
    images = [to_json(col(name), form).alias(name) for name in IMAGES]
    return feed.select("op", col("_hoodie_commit_time").alias("ts_ms"), *images)
