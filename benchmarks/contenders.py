"""Who is measured: the engine on Spark and in this process, Apache Hudi, hudi-rs, and Spark's own Parquet for scale."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from hudi_adapter.protocol import Request
from hudi_conformance.adapters import apache_hudi_client, apache_hudi_services
from hudi_spark import (
    HudiTable,
    check_table,
    explain,
    read_arrow,
    read_changes,
    read_incremental,
    services_arrow,
    write_arrow,
)
from inputs import KEY, ORDERING, PARTITION, Inputs
from measuring import Digest, Peak
from sessions import CODEC, Sessions

META_FIELDS: Final = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
TABLE: Final = "benchmark"
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
TYPE: Final = "hoodie.datasource.write.table.type"
PARQUET_LOGS: Final = {"hoodie.logfile.data.block.format": "parquet"}
# One codec, size of files and of row groups on both sides; no service runs but by itself.
WRITES: Final = {
    "hoodie.parquet.compression.codec": CODEC,
    "hoodie.parquet.max.file.size": str(120 << 20),
    "hoodie.parquet.block.size": str(120 << 20),
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
}
# What a snapshot is reduced to; the hash over all columns keeps Spark from leaving columns out.
_TOTALS: Final = ("count(1) as found", "sum(xxhash64(*)) as total")
_LIMIT_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Question:
    """What is read: some columns, the rows of a condition of SQL, a range from a time on, its change feed."""

    columns: tuple[str, ...] | None = None
    where: str | None = None
    begin: str | None = None
    changes: bool = False


class Contender(Protocol):
    """Writes inputs into tables, serves and reads tables; each in one call, which is what is timed.

    What a contender cannot do, it refuses.
    """

    name: str

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, configs: Mapping[str, str]) -> None:
        """Write an input (all, tenth, gone, few) with an operation; the first write makes the table."""

    def serve(self, path: Path, service: str, params: Mapping[str, str], configs: Mapping[str, str]) -> None:
        """Carry out a table service, planned first where it has plans."""

    def read(self, path: Path, question: Question) -> Digest | None:
        """A digest of the answer."""

    def plan(self, path: Path, question: Question) -> None:
        """Choose the files to read, and read none."""

    def check(self, path: Path, *, deep: bool) -> None:
        """Find what is wrong with a table: nothing."""


class NotOfferedError(RuntimeError):
    """A contender is asked for what it cannot do: the table of work names it where it does not belong."""


class _Refusing:
    """Refuses everything; a contender says what it can do."""

    name: str

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NotOfferedError(self.name)

    write = serve = read = plan = check = _refuse


class _OnSpark(_Refusing, ABC):
    """What answers with a frame of the session of the run."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def read(self, path: Path, question: Question) -> Digest | None:
        """A digest of the frame."""
        return _digest(self._frame(path, question), question)

    def plan(self, path: Path, question: Question) -> None:
        """Up to the partitions of the scan."""
        self._frame(path, question).rdd.getNumPartitions()

    @abstractmethod
    def _frame(self, path: Path, question: Question) -> Any: ...


_PLANNED: Final = {"compaction", "logcompaction", "clustering"}


class ApacheHudi(_OnSpark):
    """Apache Hudi: its row writer, its merger of Spark's own rows, its metadata table."""

    _SETTINGS: Final = {"hoodie.datasource.write.row.writer.enable": "true", "hoodie.metadata.enable": "true"}
    # Its merger of Spark's own rows takes no Avro logs.
    _SPARK_RECORDS: Final = {
        "hoodie.write.record.merge.custom.implementation.classes": "org.apache.hudi.DefaultSparkRecordMerger",
        **PARQUET_LOGS,
    }
    _READS: Final = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        self.name = f"Apache Hudi {sessions.release}"

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, configs: Mapping[str, str]) -> None:
        """As a data source."""
        options = {
            "hoodie.table.name": TABLE,
            "hoodie.datasource.write.operation": operation,
            "hoodie.datasource.write.recordkey.field": KEY,
            "hoodie.datasource.write.partitionpath.field": PARTITION,
            "hoodie.datasource.write.precombine.field": ORDERING,
        }
        avro_logs = configs.get(TYPE) == MOR and PARQUET_LOGS.keys().isdisjoint(configs)
        records = {} if avro_logs else self._SPARK_RECORDS
        frame = self._sessions.session.read.parquet(inputs.path(name))
        # A delete to logs of Avro fails without it.
        schema = {"hoodie.avro.schema": self._schema(path)} if operation == "delete" else {}
        given = {**options, **self._SETTINGS, **WRITES, **records, **schema, **configs}
        writer = frame.write.format("hudi").options(**given)
        writer.mode("append").save(str(path))

    def _schema(self, path: Path) -> str:
        return apache_hudi_client.table_schema(self._sessions.session, self._sessions.release, path)

    def serve(self, path: Path, service: str, params: Mapping[str, str], configs: Mapping[str, str]) -> None:
        """By its write client, as the data source opens it."""
        given = {**WRITES, **self._SETTINGS, **_parallel(self._sessions.session), **configs}

        def request(op: str, **further: str) -> Request:
            return Request(op, path, {**params, **further, "configs": given}, path, _LIMIT_S, str(path))

        session, release = self._sessions.session, self._sessions.release
        if service in _PLANNED:
            planned: Any = apache_hudi_services.schedule(session, release, request("schedule", service=service))
            if planned.value["requested"] is None:
                raise ValueError(f"{service} plans nothing")
            plan = request("execute", requested=planned.value["requested"])
            apache_hudi_services.execute(session, release, plan)
        else:
            apache_hudi_services.service(session, release, request("service", name=service))

    def _frame(self, path: Path, question: Question) -> Any:
        """As a data source."""
        reader = self._sessions.session.read.format("hudi").options(**self._READS)
        if question.begin is not None:
            reader = reader.option("hoodie.datasource.query.type", "incremental")
            reader = reader.option("hoodie.datasource.read.begin.instanttime", question.begin)
        if question.changes:
            return reader.option("hoodie.datasource.query.incremental.format", "cdc").load(str(path))
        return _chosen(reader.load(str(path)).drop(*META_FIELDS), question)


def _parallel(session: Any) -> dict[str, str]:
    """The parallelism that a data source chooses, which the write client does not."""
    cores = str(session.sparkContext.defaultParallelism)
    names = ("insert", "upsert", "bulkinsert", "delete")
    return {f"hoodie.{name}.shuffle.parallelism": cores for name in names}


class EngineOnSpark(_OnSpark):
    """The engine, its tasks run by Spark."""

    name = "engine on Spark"

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, configs: Mapping[str, str]) -> None:
        """By the method of the operation's name."""
        session = self._sessions.session
        frame = session.read.parquet(inputs.path(name))
        if not HudiTable.exists(session, path):
            HudiTable.create(
                session,
                path,
                schema=frame.schema,
                record_key=KEY,
                partition_by=PARTITION,
                ordering=ORDERING,
                table_type=configs.get(TYPE),
                name=TABLE,
                configs={key: value for key, value in configs.items() if key.startswith("hoodie.table.")},
            )
        method: Callable[..., object] = getattr(HudiTable(session, path), operation)
        method(frame, configs={**WRITES, **configs})

    def serve(self, path: Path, service: str, params: Mapping[str, str], configs: Mapping[str, str]) -> None:
        """Planned and carried out, or by the method of its name."""
        table = HudiTable(self._sessions.session, path)
        _serve(table, service, params, {**WRITES, **configs})

    def check(self, path: Path, *, deep: bool) -> None:
        """By the table's own method."""
        _nothing_in(HudiTable(self._sessions.session, path).check(deep=deep))

    def _frame(self, path: Path, question: Question) -> Any:
        """By the methods of `HudiTable`."""
        table = HudiTable(self._sessions.session, path)
        if question.changes:
            return table.changes(question.begin or "earliest")
        if question.begin is not None:
            return table.incremental(question.begin, columns=question.columns, filter=question.where)
        return table.snapshot(columns=question.columns, filter=question.where)


def _serve(services: Any, service: str, params: Mapping[str, str], configs: Mapping[str, str]) -> None:
    if service in _PLANNED:
        planned = services.schedule(service, configs=configs)
        if planned is None:
            raise ValueError(f"{service} plans nothing")
        services.execute(planned, configs=configs)
    else:
        getattr(services, service)(**params, configs=configs)


def _nothing_in(violations: Any) -> None:
    errors = [one for one in violations if one.severity == "error"]
    if errors:
        raise AssertionError(f"the check finds {errors[0]}")


class EngineInProcess(_Refusing):
    """The engine without Spark: for small inputs, and for one reader's memory."""

    name = "engine in-process"

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, configs: Mapping[str, str]) -> None:
        """By `write_arrow`; the table is there."""
        write_arrow(path, pq.read_table(inputs.path(name)), operation=operation, configs={**WRITES, **configs})

    def serve(self, path: Path, service: str, params: Mapping[str, str], configs: Mapping[str, str]) -> None:
        """As on Spark."""
        _serve(services_arrow(path), service, params, {**WRITES, **configs})

    def read(self, path: Path, question: Question) -> Digest:
        """By `read_arrow` and its like."""
        if question.changes:
            return Digest(read_changes(path, question.begin or "earliest").num_rows)
        if question.begin is not None:
            return Digest(read_incremental(path, question.begin, None, question.columns, question.where).num_rows)
        return Digest(read_arrow(path, columns=question.columns, filter=question.where).num_rows)

    def plan(self, path: Path, question: Question) -> None:
        """By `explain`."""
        explain(path, question.where)

    def check(self, path: Path, *, deep: bool) -> None:
        """By `check_table`."""
        _nothing_in(check_table(path, deep=deep))


class HudiRs(_Refusing):
    """hudi-rs, in this process."""

    name = "hudi-rs"

    def read(self, path: Path, question: Question) -> Digest:
        """By its Python package."""
        from hudi import HudiReadOptions, HudiTable  # noqa: PLC0415 - an optional package

        if question.begin is not None:
            raise NotOfferedError("ranges")
        options = HudiReadOptions()
        if question.columns is not None:
            options = options.with_projection(list(question.columns))
        if question.where is not None:
            compared = re.fullmatch(r"(\w+) (<|=) (\S+)", question.where)
            if compared is None:
                raise NotOfferedError(str(question.where))
            column, operator, value = compared.groups()
            options = options.with_filters([(column, operator, value)])
        rows = HudiTable(str(path)).read(options)
        return Digest(sum(batch.num_rows for batch in map(pa.record_batch, rows)))


class PlainParquet(_OnSpark):
    """Spark's own Parquet: what rows cost without a table around them."""

    name = "plain Parquet"

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, configs: Mapping[str, str]) -> None:  # noqa: ARG002
        """Partitioned as the tables are."""
        frame = self._sessions.session.read.parquet(inputs.path(name))
        frame.write.partitionBy(PARTITION).mode("overwrite").parquet(str(path))

    def read(self, path: Path, question: Question) -> None:
        """The rows that the first write left; no digest, since some tables were updated."""
        super().read(path, question)

    def _frame(self, path: Path, question: Question) -> Any:
        return _chosen(self._sessions.session.read.parquet(str(path)), question)


def _chosen(frame: Any, question: Question) -> Any:
    frame = frame if question.where is None else frame.where(question.where)
    return frame if question.columns is None else frame.select(*question.columns)


def _digest(frame: Any, question: Question) -> Digest:
    if question.changes:
        # The images are structs on one side and JSON on the other: they are read, and the operations compared.
        read = frame.selectExpr("op", "xxhash64(before, after) as images")
        found = read.groupBy("op").agg({"op": "count", "images": "max"}).collect()
        by_operation = sorted((row["op"], row["count(op)"]) for row in found)
        return Digest(sum(count for _, count in by_operation), tuple(by_operation))
    ordered = frame.select(*sorted(frame.columns))
    row = ordered.selectExpr(*_TOTALS).collect()[0]
    return Digest(row["found"], row["total"])


def peak_of(reader: EngineInProcess | HudiRs, path: Path, question: Question) -> Peak:
    """The memory that a process of its own needs to read, above what it has when all is imported."""
    with get_context("spawn").Pool(1) as pool:
        return Peak(pool.apply(_peak, (reader, path, question)))


def _peak(reader: EngineInProcess | HudiRs, path: Path, question: Question) -> float:
    from hudi import HudiTable as _  # noqa: F401, PLC0415 - imported before the first reading of memory

    before = _resident("VmRSS")
    reader.read(path, question)
    return (_resident("VmHWM") - before) / 1024


def _resident(field: str) -> int:
    """KiB of this process, by the system's own account."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    assert found is not None
    return int(found[1])
