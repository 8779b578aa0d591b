"""How the adapter gets rows into a file: computed in this process, or written by Spark tasks."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from hudi_adapter.java import set_java_home
from hudi_adapter.protocol import Request
from hudi_adapter.rows import Rows, write_rows
from hudi_format.storage import Storage
from hudi_spark.errors import SkippedBytes, from_text
from hudi_spark.read import AnyPlan, AnyQuery, Plan, plan_any, read_query, run_task
from hudi_spark.read import InProcess as InProcessFlows
from hudi_spark.spark import OnSpark as SparkFlows
from hudi_spark.spark import accumulator, run_any_on_spark, split_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS_FILE = "rows.parquet"
BARE_ROWS_FILE = "rows.jsonl"
_SPARK_FOLDER = "spark-rows"


class InProcess:
    """The executor without Spark."""

    name = "hudi-spark-in-process"

    def open(self) -> None:
        """Nothing is needed."""

    def close(self) -> None:
        """Nothing was opened."""

    def answer(self, storage: Storage, query: AnyQuery, request: Request) -> tuple[str, tuple[SkippedBytes, ...]]:
        """Name of the rows file, and what was skipped.

        Raises:
            HudiError: the table or the request is refused.
            UnsupportedFeature: what this reader cannot read yet.

        """
        answer = read_query(storage, query)
        if not answer.rows.num_columns:
            return _bare_rows(answer.rows.num_rows, request.out_dir), answer.skipped
        pq.write_table(answer.rows, request.out_dir / ROWS_FILE)
        return ROWS_FILE, answer.skipped

    def flows(self) -> InProcessFlows:
        """Who runs the tasks of writes."""
        return InProcessFlows()


class OnSpark:
    """The executor with one Spark session for the life of the process."""

    name = "hudi-spark"

    def __init__(self) -> None:
        self._spark: SparkSession | None = None

    def open(self) -> None:
        """Start the session on the embedded Java, or on JAVA_HOME."""
        self._spark = local_session("hudi-spark adapter")

    def close(self) -> None:
        """Stop the session."""
        if self._spark is not None:
            self._spark.stop()

    def answer(self, storage: Storage, query: AnyQuery, request: Request) -> tuple[str, tuple[SkippedBytes, ...]]:
        """Name of the rows file, and what was skipped.

        Raises:
            HudiError: the table or the request is refused.
            UnsupportedFeature: what this reader cannot read yet.

        """
        assert self._spark is not None
        plan = plan_any(storage, query)
        gathered = accumulator(self._spark)
        frame = run_any_on_spark(self._spark, plan, storage, partial(_add, gathered))
        try:
            if not plan.schema.names:
                return _bare_rows(frame.count(), request.out_dir), tuple(sorted(gathered.value))
            _write(frame, plan.schema, request.out_dir)
        except Exception as error:
            _raise_typed(error, plan, storage)
            raise
        return ROWS_FILE, tuple(sorted(gathered.value))

    def flows(self) -> SparkFlows:
        """Who runs the tasks of writes."""
        assert self._spark is not None
        return SparkFlows(self._spark)


def local_session(name: str, master: str = "local[2]") -> "SparkSession":
    """A Spark session for small tables: no user interface, UTC, and results that must not lean on the driver."""
    set_java_home()
    from pyspark.sql import SparkSession  # noqa: PLC0415 - pyspark is optional, and reads JAVA_HOME when it starts

    builder = SparkSession.builder.master(master).appName(name)
    for key, value in _SESSION.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


_SESSION = {
    "spark.driver.maxResultSize": "16m",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
}


def _bare_rows(count: int, folder: Path) -> str:
    """A file of rows without columns, which Parquet cannot count."""
    write_rows(folder / BARE_ROWS_FILE, Rows((), ((),) * count))
    return BARE_ROWS_FILE


def _write(frame: "DataFrame", schema: pa.Schema, folder: Path) -> None:
    """Rows as Spark's tasks wrote them, gathered into one file in the table's own types."""
    frame.write.parquet((folder / _SPARK_FOLDER).as_uri())
    parts = sorted((folder / _SPARK_FOLDER).glob("part-*.parquet"))
    tables = [pq.ParquetFile(part).read() for part in parts]
    rows = pa.concat_tables([_logical(table, schema) for table in tables] or [schema.empty_table()])
    pq.write_table(rows, folder / ROWS_FILE)


def _logical(table: pa.Table, schema: pa.Schema) -> pa.Table:
    return table.select(schema.names).cast(schema)


def _raise_typed(error: Exception, plan: AnyPlan, storage: Storage) -> None:
    """Raise the typed error behind a failed Spark job, when there is one.

    A task of the merge kernel leaves it in the text; for Spark's own scan the files are read again.
    """
    typed = from_text(str(error))
    if typed is not None:
        raise typed from error
    for task in split_tasks(plan, storage)[0] if isinstance(plan, Plan) else ():
        run_task(task)


def _add(gathered: Any, skipped: tuple[SkippedBytes, ...]) -> None:
    gathered.add(frozenset(skipped))
