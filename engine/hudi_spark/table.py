"""`HudiTable`: a Hudi table as Spark DataFrames."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa
from hudi_format.storage import Storage, is_local
from hudi_format.storage.object_options import hadoop_options
from hudi_format.table.table_properties import holds_table

from hudi_spark.arrow import batches_of
from hudi_spark.errors import HudiError, SkippedBytes, UnsupportedFeature, boundary
from hudi_spark.fsck import Violation, check_table
from hudi_spark.metadata import Finding, validate_metadata_table
from hudi_spark.options import names_given, of_reads
from hudi_spark.read import (
    EARLIEST,
    AnyQuery,
    Batch,
    ChangesQuery,
    Checkpoints,
    IncrementalQuery,
    Pruned,
    Query,
    TableInfo,
    batch_ranges,
    latest_checkpoint,
    plan_any,
    plan_query,
    table_info,
    table_storage,
)
from hudi_spark.readings import Reading, Readings, readings_named
from hudi_spark.services.recovered_files import Recovered, RecoveryHints
from hudi_spark.spark import OnSpark, accumulator, arrow_schema, check_session, run_any_on_spark, use_same_python
from hudi_spark.table_state import (
    FileSlice,
    GivenInstants,
    Instant,
    InstantLike,
    full_timeline,
    load_configuration,
    load_snapshot,
    load_table,
)
from hudi_spark.table_writes import TableWrites, define_table, recover_table
from hudi_spark.write import TableDefinition, html_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Item = TypeVar("Item")
_SHOWN: Final = 10


class Listing(tuple[Item, ...]):
    """Values in order; printed, one a line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self)


class HudiTable(TableWrites):
    """One table, read and written with Spark. Every call looks at the timeline anew.

    Options of an object store come from the session (`spark.hadoop.fs.s3a.*`), from `storage_options`, which go before
    these, or from the environment of driver and executors. `readings` says what is followed where the specification's
    text and the released implementation differ.

    Clauses: RD-001, RD-007, RD-010.
    """

    def __init__(
        self,
        spark: "SparkSession",
        path: str | Path,
        readings: Reading | Readings = "released",
        configs: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
    ) -> None:
        storage = session_storage(spark, path, storage_options)
        super().__init__(spark, storage, readings_named(readings), configs or {})
        self._skipped = accumulator(spark)
        use_same_python(spark)

    @classmethod
    def exists(cls, spark: "SparkSession", path: str | Path, storage_options: Mapping[str, str] | None = None) -> bool:
        """Whether a folder is a table.

        Clauses: SL-001.
        """
        storage = session_storage(spark, path, storage_options)
        with boundary(storage.base):
            return holds_table(storage)

    @classmethod
    def create(
        cls,
        spark: "SparkSession",
        path: str | Path,
        *,
        name: str = "",
        schema: Any,
        record_key: str | Sequence[str] = (),
        partition_by: str | Sequence[str] = (),
        ordering: str | Sequence[str] = (),
        table_type: str | None = None,
        table_version: int | None = None,
        merge_mode: str | None = None,
        configs: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
    ) -> "HudiTable":
        """Make an empty table and open it; `schema` is of a DataFrame, of Arrow, or an Avro record.

        Arguments may also stand in `configs`, by Hudi's keys. Without a record key every row gets one. `configs` holds
        for this call: what the table keeps stands in its properties.

        Raises:
            HudiError: CONFIG_INVALID for a definition that is no table, or where there is one;
                TABLE_VERSION_UNSUPPORTED, SCHEMA_INCOMPATIBLE.

        Clauses: OW-031, OW-032.

        """
        definition = TableDefinition(
            name=name,
            schema=_arrow_or_avro(schema),
            table_type=table_type,
            table_version=table_version,
            record_key=_names(record_key),
            partition_by=_names(partition_by),
            ordering=_names(ordering),
            merge_mode=merge_mode,
            configs=configs or {},
        )
        define_table(session_storage(spark, path, storage_options), definition)
        return cls(spark, path, storage_options=storage_options)

    @classmethod
    def recover(
        cls,
        spark: "SparkSession",
        path: str | Path,
        known: RecoveryHints | None = None,
        *,
        storage_options: Mapping[str, str] | None = None,
    ) -> Recovered:
        """Build a table again that lost its properties, its timeline, or all of `.hoodie`; nothing is deleted.

        `known`: what no file says. The answer has what could not be known, `unknown`: read it before the table is used.

        Raises:
            HudiError: CONFIG_INVALID where nothing is lost, something is neither given nor in the files, or
                a guess might be wrong; the hint says what to give.

        Clauses: SL-001, SL-002, TL-018.

        """
        return recover_table(spark, session_storage(spark, path, storage_options), known or RecoveryHints())

    def __repr__(self) -> str:
        try:
            with boundary(self._storage.base):
                known = load_configuration(self._storage)
        except (HudiError, UnsupportedFeature) as error:
            return f"<HudiTable {self._storage.base}: {getattr(error, 'reason', error)}>"
        return f"<HudiTable {self._storage.base}: {known.name}, {known.table_type}, table version {known.version}>"

    def _repr_html_(self) -> str:
        """For notebooks: what the table is, its columns, and its last ten actions, the newest first."""
        try:
            info, actions = self.info(), self.timeline()
        except (HudiError, UnsupportedFeature) as error:
            return f"<p>{escape(repr(self))}</p><p>{escape(str(error))}</p>"
        facts = [
            ("path", str(self._storage.base)),
            ("type", f"{info.table_type}, table version {info.version}, {info.merge_mode}"),
            ("key", ", ".join(info.record_key) or "generated"),
            ("partitions", ", ".join(info.partition_by) or "none"),
            ("ordering", ", ".join(info.ordering) or "none"),
            ("columns", ", ".join(f"{column.name} {column.type}" for column in info.schema)),
        ]
        newest = [(one.requested, one.completed or "", one.action, one.state) for one in reversed(actions[-_SHOWN:])]
        shown = html_table(newest, ("requested", "completed", "action", "state"))
        count = f"<p>{len(newest)} of {len(actions)} actions of the active timeline</p>"
        return f"<p><b>{escape(info.name)}</b></p>{html_table(facts)}{count}{shown}"

    def snapshot(
        self,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002 - the word that Spark uses
        *,
        meta_columns: bool = False,
    ) -> "DataFrame":
        """The newest state.

        Columns and filter given here reach the files of slices with logs, too;
        of what is selected from the DataFrame later, that holds for slices without logs only.
        `filter` is SQL text, `"fare > 10 AND city = 'oslo'"`, or a list, `["fare", ">", 10]`.

        Raises:
            HudiError: the table or the request is refused.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-001, RD-012, MF-002.

        """
        return self._frame(Query(None, columns, filter, meta_columns))

    def register_view(self, name: str, as_of: InstantLike | None = None) -> None:
        """Make the state of now, or as of an instant, a temporary view for `spark.sql`; later writes do not change it.

        Without an instant the name is also one by which `hudi_sql` knows the table: there it has every write.

        Raises:
            HudiError: as `snapshot` and `as_of`.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-001, RD-010.

        """
        self._frame(Query(self._given(as_of))).createOrReplaceTempView(name)
        if as_of is None:
            remember_name(self._spark, NamedTable(str(self._storage.base), name, self._configs))

    def as_of(
        self,
        instant: InstantLike,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002 - the word that Spark uses
        *,
        meta_columns: bool = False,
    ) -> "DataFrame":
        """The state as of an instant: digits, text such as `2025-01-31 12:00:00`, a `datetime` or a `date`.

        Text and values without a time zone are in that of the timeline; a date is its midnight.

        Raises:
            HudiError: INSTANT_MALFORMED, RANGE_NOT_RETAINED, or as `snapshot`.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-010, RD-014, TM-002.

        """
        return self._frame(Query(self._given(instant), columns, filter, meta_columns))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The newest state as an Arrow stream, for what reads such: DuckDB, Polars, pandas, DataFusion, PyArrow.

        It is read in this process without a Spark job, at most four file slices at a time.

        Raises:
            HudiError: the table is refused.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-001, RD-013.

        """
        with boundary(self._storage.base):
            return batches_of(self._storage, self._resolved(Query())).__arrow_c_stream__(requested_schema)

    def read_optimized(
        self,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002 - the word that Spark uses
        *,
        meta_columns: bool = False,
        as_of: InstantLike | None = None,
    ) -> "DataFrame":
        """The rows of the newest base files, without what only logs hold.

        Raises:
            HudiError: the table or the request is refused.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-009, RD-015.

        """
        return self._frame(
            Query(
                self._given(as_of),
                columns,
                filter,
                meta_columns,
                read_optimized=True,
            )
        )

    def incremental(
        self,
        begin: InstantLike,
        end: InstantLike | None = None,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002 - the word that Spark uses
        *,
        meta_columns: bool = False,
    ) -> "DataFrame":
        """The rows that were changed after `begin` and up to `end`, each as it is at the end.

        Bounds are completion times, before table version 8 requested times, written as in `as_of`; `earliest` leaves
        the begin open.

        Raises:
            HudiError: INSTANT_MALFORMED, RANGE_NOT_RETAINED, CONFIG_INVALID without commit times; or as `snapshot`.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: IN-001, IN-002, IN-003, IN-004, IN-006, IN-007.

        """
        return self._frame(
            IncrementalQuery(
                columns=columns,
                filter=filter,
                meta_columns=meta_columns,
                begin=self._given(begin),
                end=self._given(end),
            )
        )

    def changes(self, begin: InstantLike, end: InstantLike | None = None, *, commit_time: bool = False) -> "DataFrame":
        """The change feed after `begin` and up to `end`: `op` (i, u, d), `before` and `after` as structs.

        `commit_time` puts the instant of each change before it, `_hoodie_commit_time`: to replay a feed, sort by it and
        take deletes first. Bounds as in `incremental`.

        Raises:
            HudiError: CONFIG_INVALID for a table without change feed, INSTANT_MALFORMED, RANGE_NOT_RETAINED,
                LOG_FILE_MISSING; or as `snapshot`.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: CD-001, CD-002, CD-006, IN-002.

        """
        return self._run(
            ChangesQuery(
                self._given(begin),
                self._given(end),
                commit_time,
                self._readings,
                of_reads(self._configs),
            )
        )

    def latest_checkpoint(self) -> str | None:
        """The time up to which every change is there and none will be added: the `begin` to go on from later.

        None while nothing has completed.

        Clauses: IN-003, IN-008.
        """
        with boundary(self._storage.base):
            return latest_checkpoint(self._storage)

    def stream(
        self,
        checkpoint: str | Path,
        begin: InstantLike = EARLIEST,
        *,
        changes: bool = False,
        poll_seconds: float | None = None,
    ) -> "Iterator[Batch[DataFrame]]":
        """Batches of changed rows (or of the change feed) from where the last run stopped; `checkpoint` is a folder.

        A batch is finished when the next one is requested. One that was not finished comes again after a restart,
        with the same number and the same range: a sink that knows numbers takes each row exactly once. Without
        `poll_seconds` the stream ends where nothing new is there.

        Raises:
            HudiError: RANGE_NOT_RETAINED when a clean was faster; WRITE_CONFLICT for two readers of one checkpoint; or
                as `incremental` and `changes`.

        Clauses: IN-002, IN-008, CD-002.

        """
        with boundary(self._storage.base):
            for batch in batch_ranges(
                self._storage,
                Checkpoints(table_storage(checkpoint)),
                self._given(begin),
                poll_seconds,
            ):
                read = self.changes if changes else self.incremental
                yield Batch(batch.number, batch.begin, batch.end, read(batch.begin, batch.end))

    def timeline(self, *, include_history: bool = False) -> Listing[Instant]:
        """The actions of the active timeline, and of the history if requested, by requested time.

        Clauses: TL-004, TL-005, HS-008.
        """
        with boundary(self._storage.base):
            configuration, active = load_table(self._storage)
            whole = full_timeline(self._storage, configuration, active) if include_history else active
            return Listing(whole.instants)

    def file_slices(self, as_of: InstantLike | None = None) -> Listing[FileSlice]:
        """The slices that a snapshot reads, by partition and file id.

        Clauses: RD-004, RD-008.
        """
        with boundary(self._storage.base):
            return Listing(load_snapshot(self._storage, self._readings, self._given(as_of)).slices)

    def explain(
        self,
        filter: Any = None,  # noqa: A002 - the word that Spark uses
        as_of: InstantLike | None = None,
    ) -> Pruned:
        """What a snapshot with this filter reads, and by what means it leaves files out; printed, one a line.

        Raises:
            HudiError: the table or the request is refused.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: IX-051.

        """
        with boundary(self._storage.base):
            return plan_query(
                self._storage,
                self._resolved(Query(self._given(as_of), None, filter)),
            ).pruned

    def info(self) -> TableInfo:
        """What the table is: version, type, merge mode, key, partition and ordering fields, schema."""
        with boundary(self._storage.base):
            return table_info(self._storage)

    def validate_metadata(self) -> Listing[Finding]:
        """What the metadata table says and is not so, compared with storage and data; printed, one a line.

        One Spark job reads the footers of all base files and the logs.

        Raises:
            HudiError: the table is refused.

        Clauses: MT-005.

        """
        with boundary(self._storage.base):
            return Listing(validate_metadata_table(self._storage, OnSpark(self._spark)))

    def check(self, *, deep: bool = False) -> Listing[Violation]:
        """Every clause of the format that the table breaks, errors first; printed, one a line. Nothing is written.

        A job reads the footers of base files, logs, and the metadata table; `deep` reads the rows as well: their meta
        fields, keys that stand twice, and what indexes say of them. Leftovers of failed writes are no violations.

        Raises:
            HudiError: NOT_A_TABLE; STORAGE_FAILED.

        Clauses: MT-005, RD-011, RD-018, TL-014.

        """
        with boundary(self._storage.base):
            return Listing(check_table(self._storage, OnSpark(self._spark), deep=deep))

    def skipped(self) -> tuple[SkippedBytes, ...]:
        """Stretches of log files that are no blocks and that the jobs run so far skipped.

        Clauses: RD-013.
        """
        return tuple(sorted(self._skipped.value))

    @property
    def _given(self) -> GivenInstants:
        return GivenInstants(lambda: self._storage, self._storage.base)

    def _frame(self, query: Query) -> "DataFrame":
        return self._run(self._resolved(query))

    def _resolved(self, query: Query) -> Query:
        zone = self._spark.conf.get("spark.sql.session.timeZone")
        return replace(query, readings=self._readings, configs=of_reads(self._configs), zone=zone)

    def _run(self, query: AnyQuery) -> "DataFrame":
        with boundary(self._storage.base):
            plan = plan_any(self._storage, query)
            return run_any_on_spark(self._spark, plan, self._storage, partial(_add, self._skipped))


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table by its path, and by the name of a session that it has, if any.

    `configs`: options of the name. `managed`: made by a statement without LOCATION, so that its files go with the name.
    """

    path: str
    name: str
    configs: Mapping[str, str]
    managed: bool = False


_NAMES: Final = "hudi_spark.table."


def remember_name(spark: "SparkSession", named: NamedTable) -> None:
    """Let `hudi_sql` know a table by a name, in this session; settings of the session say which."""
    stated = {"path": named.path, "configs": dict(named.configs), "managed": named.managed}
    spark.conf.set(_NAMES + named.name.lower(), json.dumps(stated))


def forget_name(spark: "SparkSession", name: str) -> None:
    """A name that stands for no table any longer."""
    spark.conf.unset(_NAMES + name.lower())
    spark.catalog.dropTempView(name)


def named_table(spark: "SparkSession", name: str) -> NamedTable | None:
    """The table of a name of the session; None for none."""
    text = spark.conf.get(_NAMES + name.lower(), None)
    if not text:
        return None
    known = json.loads(text)
    return NamedTable(known["path"], name, known["configs"], known["managed"])


def known_names(spark: "SparkSession") -> list[str]:
    """The names of the session that stand for tables."""
    return [row[0].removeprefix(_NAMES) for row in spark.sql("SET").collect() if row[0].startswith(_NAMES)]


def session_storage(spark: "SparkSession", path: str | Path, storage_options: Mapping[str, str] | None) -> Storage:
    """The storage of a table, as the session and further options say how it is reached.

    Raises:
        HudiError: NOT_A_TABLE for a path that no storage of this reader can hold; CONFIG_INVALID for its options, and
            for what is no session that runs.
        UnsupportedFeature: the session is a client of Spark Connect.

    Clauses: SL-001.

    """
    check_session(spark)
    # Each setting that is asked for is a round trip to Java; those of object stores concern no local path.
    is_remote = isinstance(path, str) and not is_local(path)
    settings = hadoop_options(dict(spark.sparkContext.getConf().getAll())) if is_remote else {}
    return table_storage(path, {**settings, **(storage_options or {})})


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else names_given(given, "a list of columns", "PR-022")


def _arrow_or_avro(schema: Any) -> Any:
    """A DataFrame's schema as Arrow has it; others as they are."""
    if isinstance(schema, pa.Schema | Mapping):
        return schema
    return arrow_schema(schema)


def _add(gathered: Any, skipped: tuple[SkippedBytes, ...]) -> None:
    gathered.add(frozenset(skipped))
