"""Tables by the options of Hudi's data source, as users have them in their programs.

    spark.read.format("hudi").options(**options).load(path)                 load(spark, path, options)
    frame.write.format("hudi").options(**options).mode("append").save(path) save(frame, path, options, "append")

Rows come back as from Hudi's source: meta columns first, and of a change feed `op`, `ts_ms`, `before` and `after` as
text. On Spark 4 `register` makes reads a format of their own: `spark.read.format("hudi_py").options(**options)`, and
`spark.readStream.format("hudi_py")` for the rows that are written from a start on.
"""

import datetime as dt
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.concurrency.effects import ServiceWarning
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature, boundary
from hudi_spark.options import STORAGE_PREFIX, of_reads, refusal, resolve, settled, the_catalogue
from hudi_spark.read import (
    EARLIEST,
    IncrementalQuery,
    Plan,
    Query,
    is_later,
    latest_checkpoint,
    plan_any,
    table_storage,
)
from hudi_spark.read.tasks import bytes_to_read, run_task
from hudi_spark.spark import batches_of_pack, packed_for, spark_schema, wire_schema
from hudi_spark.table import HudiTable
from hudi_spark.table_state import instant_digits
from hudi_spark.write import Outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPE: Final = "hoodie.datasource.query.type"
_FORMAT: Final = "hoodie.datasource.query.incremental.format"
_AS_OF: Final = "as.of.instant"
_BEGIN: Final = "hoodie.datasource.read.begin.instanttime"
_END: Final = "hoodie.datasource.read.end.instanttime"
_START: Final = "hoodie.datasource.streaming.startOffset"
_LATEST: Final = "latest"
_OPERATION: Final = "hoodie.datasource.write.operation"
_NAMED: Final = frozenset({_TYPE, _FORMAT, _AS_OF, _BEGIN, _END, _START, _OPERATION})
# Which options each kind of query takes beside its type.
_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    "snapshot": frozenset({_TYPE, _AS_OF}),
    "read_optimized": frozenset({_TYPE, _AS_OF}),
    "incremental": frozenset({_TYPE, _FORMAT, _BEGIN, _END}),
}
_MODES: Final = ("append", "overwrite", "error", "errorifexists", "ignore")


def load(spark: "SparkSession", path: str | Path, options: Mapping[str, object] | None = None) -> "DataFrame":
    """What `spark.read.format("hudi").options(**options).load(path)` reads.

    `hoodie.datasource.query.type` (snapshot, read_optimized, incremental), `as.of.instant`,
    `hoodie.datasource.read.begin.instanttime` and `...end.instanttime`, `hoodie.datasource.query.incremental.format`
    (latest_state, cdc), and every option that reads take. Instants may be written in any form that `HudiTable.as_of`
    takes. The table is planned at the call.

    Raises:
        HudiError: CONFIG_INVALID for an option that is unknown, that would change the rows and is not supported, or
            that the kind of query does not have; else as the query.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: IN-001, IN-002, CD-001, PR-022, RD-001, RD-009, RD-010.

    """
    given = _Given.of(options)
    kind = _kind(given.query)
    table = HudiTable(spark, path, configs=given.configs, storage_options=given.storage)
    as_of = given.query.get(_AS_OF)
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
    `mode`: `append` writes by `hoodie.datasource.write.operation` (upsert by default, insert for a table without
    record key); `overwrite` puts the rows in place of all that the table holds, whose history stays;
    `error` and `errorifexists` refuse a table that has commits; `ignore` leaves one alone, and answers None.
    Options of catalogues and of metrics are named in one warning and have no effect.

    Raises:
        HudiError: CONFIG_INVALID for an option that is unknown, not supported or contradicts the table, and for a
            table that is there; else as the operation. A table that the call has made stays, empty.
        OutcomeUnknownError: whether the write stands is not known.

    Clauses: OW-014, OW-018, OW-031, OW-032, PR-022.

    """
    chosen = mode.lower()
    if chosen not in _MODES:
        raise refusal(f"mode {mode!r} is unknown", f"say {', '.join(_MODES)}")
    given = _Given.of(options)
    if given.query:
        raise refusal(f"{min(given.query)} is an option of reads", "leave it out of a write")
    resolve(given.configs)
    spark, configs, storage = frame.sparkSession, given.configs, given.storage
    if not HudiTable.exists(spark, path, storage):
        HudiTable.create(spark, path, schema=frame.schema, configs=configs, storage_options=storage)
    table = HudiTable(spark, path, configs=configs, storage_options=storage)
    has_commits = chosen != "append" and len(table.timeline(include_history=True)) > 0
    if has_commits and chosen == "ignore":
        return None
    if has_commits and chosen != "overwrite":
        message, hint = f"there is a table in {path}", "say mode append, overwrite or ignore"
        raise HudiError(Reason.CONFIG_INVALID, "OW-031", message, hint=hint)
    return _written(table, frame, _operation(table, given.operation, replaces=has_commits))


@dataclass(frozen=True, slots=True)
class _Given:
    """Options by what they are for: the query, the operation of a write, the table, and the object store."""

    operation: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, object] | None) -> "_Given":
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


def _kind(query: Mapping[str, str]) -> str:
    """Of which kind a query is; one with the options of another kind is refused."""
    kind = query.get(_TYPE, "snapshot")
    other = sorted(query.keys() - _TAKEN[kind])
    if _START in other:
        raise refusal(f"{_START} is an option of streams", f"say {_BEGIN}, or read a stream")
    if other:
        hint = "leave it out" if kind == "incremental" else f"say {_TYPE} = incremental, or leave it out"
        raise refusal(f"{other[0]} is no option of a query of type {kind}", hint)
    if kind == "incremental" and _BEGIN not in query:
        raise refusal(f"an incremental query needs {_BEGIN}", "give an instant, or earliest")
    return kind


def _changed(table: HudiTable, query: Mapping[str, str]) -> "DataFrame":
    begin, end = query[_BEGIN], query.get(_END)
    if query.get(_FORMAT) != "cdc":
        return table.incremental(begin, end, meta_columns=True)
    from pyspark.sql.functions import col, to_json  # noqa: PLC0415 - pyspark is optional

    feed = table.changes(begin, end, commit_time=True)
    images = [to_json(col(name), {"ignoreNullFields": "false"}).alias(name) for name in ("before", "after")]
    return feed.select("op", col("_hoodie_commit_time").alias("ts_ms"), *images)


def _operation(table: HudiTable, named: str, *, replaces: bool) -> str:
    """The operation of a write: the one that the options name, and what its mode and the table make of none."""
    if replaces and not named.startswith("insert_overwrite"):
        return "insert_overwrite_table"
    return named or ("upsert" if table.info().record_key else "insert")


def _written(table: HudiTable, frame: "DataFrame", operation: str) -> Outcome:
    if operation == "delete_partition":
        # The options name the partitions.
        return table.delete_partitions(())
    if operation == "delete":
        return table.delete(frame)
    writes = {
        "upsert": table.upsert,
        "insert": table.insert,
        "bulk_insert": table.bulk_insert,
        "insert_overwrite": table.insert_overwrite,
        "insert_overwrite_table": table.insert_overwrite_table,
    }
    return writes[operation](frame)


def register(spark: "SparkSession") -> None:
    """Make `hudi_py` a format of a session of Spark 4, with the options of `load`; writes are those of `save`.

    A frame reads the state of its first job. Comparisons with values are pushed to the files where Spark hands them
    down (`spark.sql.python.filterPushdown.enabled`).

    A stream (`spark.readStream`) has in each batch the rows that were written since the last one, as they are at its
    end: an incremental query. It begins after `hoodie.datasource.streaming.startOffset`: `earliest` by default,
    `latest`, or an instant. Its offsets are the times of `HudiTable.latest_checkpoint`.

    Raises:
        UnsupportedFeature: Spark 3 has no data sources in Python.

    Clauses: RD-001, RD-012, IN-002, IN-003.

    """
    if not hasattr(spark, "dataSource"):
        raise UnsupportedFeature("data-source-on-spark-3", "Spark 3 has no data sources in Python: call load and save")
    spark.dataSource.register(_source())


FORMAT: Final = "hudi_py"
_COMPARED: Final = {
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_AT: Final = "completed"
"""In an offset of a stream: the time up to which rows have been read."""
_VALUES: Final = (bool, int, float, str, dt.date, Decimal)


def _source() -> type:
    """The data source; its base class is there on Spark 4 only."""
    from pyspark.sql.datasource import DataSource  # noqa: PLC0415

    reader, stream = _reader(), _stream()

    class HudiSource(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return FORMAT

        def schema(self) -> Any:
            return spark_schema(wire_schema(_TableQuery.of(self.options).schema()))

        def reader(self, schema: Any) -> Any:
            return reader(self.options, schema.names)

        def streamReader(self, schema: Any) -> Any:  # noqa: N802 - the name that Spark calls
            return stream(self.options, schema.names)

        def writer(self, schema: Any, overwrite: bool) -> Any:  # noqa: ARG002 - the call of Spark
            raise UnsupportedFeature(
                "data-source-writes", f"{FORMAT} only reads: call save(frame, path, options, mode)"
            )

    return HudiSource


def _reader() -> type:
    from pyspark.sql.datasource import DataSourceReader  # noqa: PLC0415

    class HudiReader(DataSourceReader):  # type: ignore[misc]
        def __init__(self, options: Mapping[str, str], names: Sequence[str]) -> None:
            self._table, self._names = _TableQuery.of(options), tuple(names)
            _kind(self._table.given.query)
            self._filter: list[Any] = []

        def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802 - the name that Spark calls
            known = [found for one in filters if (found := _pushed(one)) is not None]
            self._filter = ["and", *known] if known else []
            # Spark evaluates them again: what it means by a comparison may be more than the files have compared.
            return filters

        def partitions(self) -> Sequence[Any]:
            return _partitions(*self._table.planned(self._names, self._filter or None))

        def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
            return _rows(partition)

    return HudiReader


def _stream() -> type:
    from pyspark.sql.datasource import DataSourceStreamReader  # noqa: PLC0415

    class HudiStream(DataSourceStreamReader):  # type: ignore[misc]
        def __init__(self, options: Mapping[str, str], names: Sequence[str]) -> None:
            self._table, self._names = _TableQuery.of(options), tuple(names)
            self._table.check_stream()

        def initialOffset(self) -> dict[str, str]:  # noqa: N802 - the names that Spark calls
            return {_AT: self._table.start()}

        def latestOffset(self) -> dict[str, str]:  # noqa: N802
            return {_AT: self._table.newest()}

        def partitions(self, start: dict[str, str], end: dict[str, str]) -> Sequence[Any]:
            first, last = start[_AT], end[_AT]
            return _partitions(*self._table.between(first, last, self._names)) if is_later(last, first) else []

        def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
            return _rows(partition)

        def commit(self, end: dict[str, str]) -> None:
            """Nothing is kept of a stream but the offsets that Spark keeps."""

    return HudiStream


def _partitions(storage: Storage, plan: Plan) -> list[Any]:
    """Slices packed by their bytes, with the schema of the answer."""
    from pyspark.sql.datasource import InputPartition  # noqa: PLC0415

    packs = packed_for(os.cpu_count() or 1, plan.tasks, lambda task: bytes_to_read(storage, task.files))
    schema = wire_schema(plan.schema)
    return [InputPartition((tuple(pack), schema)) for pack in packs]


def _rows(partition: Any) -> Iterator[pa.RecordBatch]:
    pack, schema = partition.value
    return batches_of_pack(pack, run_task, schema, lambda _: None)


@dataclass(frozen=True, slots=True)
class _TableQuery:
    """A table and what is asked of it by the options of the format, without a session."""

    path: str
    given: _Given

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "_TableQuery":
        # Spark hands names down in lower case.
        names = {name.lower(): name for name in the_catalogue().names}
        given = _Given.of({names.get(name, name): text for name, text in options.items() if name.lower() != "path"})
        path = next((text for name, text in options.items() if name.lower() == "path"), "")
        if not path:
            raise refusal("the path of the table is missing", f'say spark.read.format("{FORMAT}").load(path)')
        return cls(path, given)

    def planned(self, names: Sequence[str] | None, filter: Any) -> tuple[Storage, Plan]:  # noqa: A002
        """The plan of a query."""
        query = self.given.query
        kind = _kind(query)
        if query.get(_FORMAT) == "cdc":
            raise UnsupportedFeature("data-source-change-feed", f"{FORMAT} has no change feed: call load")
        with boundary(self.path):
            configs = of_reads(self.given.configs)
            if kind == "incremental":
                begin, end = self._digits(query[_BEGIN]), self._digits(query[_END]) if _END in query else None
                return self._plan(IncrementalQuery(None, names, filter, True, configs=configs, begin=begin, end=end))
            as_of = self._digits(query[_AS_OF]) if _AS_OF in query else None
            return self._plan(Query(as_of, names, filter, True, kind == "read_optimized", configs=configs))

    def schema(self) -> pa.Schema:
        """The columns of a query, or of a stream."""
        query = {name: text for name, text in self.given.query.items() if name != _START}
        if query.get(_TYPE) == "incremental":
            query = {_BEGIN: EARLIEST, **query}
        return replace(self, given=replace(self.given, query=query)).planned(None, None)[1].schema

    def check_stream(self) -> None:
        """Refuse what a stream does not have."""
        other = sorted(self.given.query.keys() - {_TYPE, _START})
        if other:
            raise refusal(f"{other[0]} is no option of a stream of {FORMAT}", f"say {_START}, or leave it out")
        if self.given.query.get(_TYPE, "incremental") != "incremental":
            raise refusal(f"a stream of {FORMAT} is an incremental query", f"leave out {_TYPE}")

    def start(self) -> str:
        """Where a stream begins that has no offset yet."""
        text = self.given.query.get(_START, EARLIEST)
        with boundary(self.path):
            return self._checkpoint() if text == _LATEST else self._digits(text)

    def newest(self) -> str:
        """Where a stream may end, which is never before its start."""
        text = self.given.query.get(_START, EARLIEST)
        with boundary(self.path):
            found, start = self._checkpoint(), EARLIEST if text == _LATEST else self._digits(text)
        return found if is_later(found, start) else start

    def between(self, begin: str, end: str, names: Sequence[str]) -> tuple[Storage, Plan]:
        """The plan of a batch of a stream."""
        with boundary(self.path):
            configs = of_reads(self.given.configs)
            return self._plan(IncrementalQuery(None, names, None, True, configs=configs, begin=begin, end=end))

    def _plan(self, query: Query) -> tuple[Storage, Plan]:
        storage = self._storage()
        plan = plan_any(storage, query)
        assert isinstance(plan, Plan)
        return storage, plan

    def _checkpoint(self) -> str:
        return latest_checkpoint(self._storage()) or EARLIEST

    def _digits(self, text: str) -> str:
        return instant_digits(text, self._storage)

    def _storage(self) -> Storage:
        return table_storage(self.path, self.given.storage)


def _pushed(one: Any) -> list[Any] | None:
    """What Spark hands down, in the filter's own form; None for what has none."""
    name = type(one).__name__
    column: tuple[str, ...] = getattr(one, "attribute", ())
    if len(column) != 1:
        return None
    if name in {"IsNull", "IsNotNull"}:
        return [column[0], "is_null" if name == "IsNull" else "is_not_null", None]
    if name in _COMPARED and isinstance(one.value, _VALUES):
        return [column[0], _COMPARED[name], one.value]
    if name == "In" and all(isinstance(value, _VALUES) for value in one.value):
        return [column[0], "in", list(one.value)]
    return None
