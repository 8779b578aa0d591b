"""Who is measured: the engine on Spark and in this process, Apache Hudi, and Spark's own Parquet for scale."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from hudi_spark import HudiTable, read_arrow
from inputs import KEY, ORDERING, PARTITION, Inputs

META_FIELDS = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
TABLE = "benchmark"
# What a snapshot is reduced to; the hash over all columns keeps Spark from leaving columns out.
_TOTALS = ("count(1) as found", "sum(xxhash64(*)) as total")


class Contender(Protocol):
    """Writes inputs into tables and reads tables; each in one call, which is what is timed."""

    name: str

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, kind: str) -> None:
        """Write an input (all, tenth, gone, few) with an operation; the first write makes the table."""

    def read(self, path: Path, columns: list[str] | None = None, below: int | None = None) -> object:
        """A digest of the snapshot: of some columns, of the rows whose ordering value is below a number."""


class ApacheHudi:
    """Apache Hudi with its defaults."""

    def __init__(self, session: Any, release: str) -> None:
        self.name = f"Apache Hudi {release}"
        self._session = session

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, kind: str) -> None:
        """As a data source."""
        options = {
            "hoodie.table.name": TABLE,
            "hoodie.datasource.write.table.type": kind,
            "hoodie.datasource.write.operation": operation,
            "hoodie.datasource.write.recordkey.field": KEY,
            "hoodie.datasource.write.partitionpath.field": PARTITION,
            "hoodie.datasource.write.precombine.field": ORDERING,
        }
        frame = self._session.read.parquet(inputs.path(name))
        frame.write.format("hudi").options(**options).mode("append").save(str(path))

    def serve(self, path: Path, service: str, configs: Mapping[str, str]) -> None:
        """By a procedure of SQL."""
        arguments = ",".join(f"{key}={value}" for key, value in configs.items())
        self._session.sql(f"CALL run_{service}(op => 'scheduleAndExecute', path => '{path}', options => '{arguments}')")

    def read(self, path: Path, columns: list[str] | None = None, below: int | None = None) -> object:
        """As a data source."""
        frame = self._session.read.format("hudi").load(str(path)).drop(*META_FIELDS)
        return _digest(_chosen(frame, columns, below))


class EngineOnSpark:
    """The engine, its tasks run by Spark."""

    name = "engine on Spark"

    def __init__(self, session: Any) -> None:
        self._session = session

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, kind: str) -> None:
        """By the method of the operation's name."""
        frame = self._session.read.parquet(inputs.path(name))
        new = not (path / ".hoodie").exists()
        table: Any = create(self._session, path, frame, kind) if new else HudiTable(self._session, path)
        getattr(table, operation)(frame)

    def serve(self, path: Path, service: str, configs: Mapping[str, str]) -> None:
        """Planned and carried out."""
        table = HudiTable(self._session, path)
        planned = table.schedule(service, configs=configs)
        table.execute(planned, configs=configs)

    def read(self, path: Path, columns: list[str] | None = None, below: int | None = None) -> object:
        """By `HudiTable.snapshot`."""
        chosen = ["ts", "<", below] if below is not None else None
        return _digest(HudiTable(self._session, path).snapshot(columns=columns, filter=chosen))


def create(session: Any, path: Path, frame: Any, kind: str) -> Any:
    """A new table of the engine for a frame's columns."""
    return HudiTable.create(
        session,
        path,
        schema=frame.schema,
        record_key=KEY,
        partition_by=PARTITION,
        ordering=ORDERING,
        table_type=kind,
        name=TABLE,
    )


class EngineInProcess:
    """The engine without Spark: for small inputs, and for one reader's memory."""

    name = "engine in-process"

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, kind: str) -> None:  # noqa: ARG002
        """By `write_arrow`; the table is there."""
        from hudi_spark import write_arrow  # noqa: PLC0415 - where it is measured

        write_arrow(path, pq.read_table(inputs.path(name)), operation=operation)

    def read(self, path: Path, columns: list[str] | None = None, below: int | None = None) -> object:
        """By `read_arrow`; the digest counts rows, the other contenders' hash is Spark's own."""
        chosen = ["ts", "<", below] if below is not None else None
        rows: pa.Table = read_arrow(path, columns=columns, filter=chosen)
        return None if pc.count(rows.column(0)).as_py() else 0


class PlainParquet:
    """Spark's own Parquet: what rows cost without a table around them."""

    name = "plain Parquet"

    def __init__(self, session: Any) -> None:
        self._session = session

    def write(self, inputs: Inputs, name: str, path: Path, operation: str, kind: str) -> None:  # noqa: ARG002
        """Partitioned as the tables are."""
        frame = self._session.read.parquet(inputs.path(name))
        frame.write.partitionBy(PARTITION).mode("overwrite").parquet(str(path))

    def read(self, path: Path, columns: list[str] | None = None, below: int | None = None) -> object:
        """What `write` made; no digest, since its rows were not updated."""
        _digest(_chosen(self._session.read.parquet(str(path)), columns, below))


def _chosen(frame: Any, columns: list[str] | None, below: int | None) -> Any:
    frame = frame if below is None else frame.where(f"{ORDERING} < {below}")
    return frame if columns is None else frame.select(*columns)


def _digest(frame: Any) -> object:
    ordered = frame.select(*sorted(frame.columns))
    row = ordered.selectExpr(*_TOTALS).collect()[0]
    return (row["found"], row["total"])
