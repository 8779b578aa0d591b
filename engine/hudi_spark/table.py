"""`HudiTable`: a Hudi table as Spark DataFrames."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hudi_format.storage.object_options import hadoop_options

from hudi_spark.arrow_reading import table_storage
from hudi_spark.descriptions import TableInfo, table_info
from hudi_spark.errors import SkippedBytes, typed_errors
from hudi_spark.execution.on_spark import accumulator, run_on_spark
from hudi_spark.execution.planning import Query, plan_query
from hudi_spark.readings import Reading, Readings, readings_named
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import load_snapshot, load_table
from hudi_spark.state.timeline import Instant

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Item = TypeVar("Item")


class Listing(tuple[Item, ...]):
    """Values in order; printed, one a line."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self)


class HudiTable:
    """One table, read with Spark. Every call looks at the timeline anew.

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
        self._spark = spark
        settings = hadoop_options(dict(spark.sparkContext.getConf().getAll()))
        self._storage = table_storage(path, {**settings, **(storage_options or {})})
        self._readings = readings_named(readings)
        self._configs = dict(configs or {})
        self._skipped = accumulator(spark)

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

        Raises:
            HudiError: the table or the request is refused.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-001, RD-012, MF-002.

        """
        return self._frame(Query(None, columns, filter, meta_columns))

    def as_of(
        self,
        instant: str,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002 - the word that Spark uses
        *,
        meta_columns: bool = False,
    ) -> "DataFrame":
        """The state as of an instant, given in 17 or 14 digits.

        Raises:
            HudiError: INSTANT_MALFORMED, RANGE_NOT_RETAINED, or as `snapshot`.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-010, RD-014, TM-002.

        """
        return self._frame(Query(instant, columns, filter, meta_columns))

    def read_optimized(
        self,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002 - the word that Spark uses
        *,
        meta_columns: bool = False,
        as_of: str | None = None,
    ) -> "DataFrame":
        """The rows of the newest base files, without what only logs hold.

        Raises:
            HudiError: the table or the request is refused.
            UnsupportedFeature: what this reader cannot read yet.

        Clauses: RD-009, RD-015.

        """
        return self._frame(Query(as_of, columns, filter, meta_columns, read_optimized=True))

    def timeline(self) -> Listing[Instant]:
        """The actions of the active timeline, by requested time.

        Clauses: TL-004, TL-005.
        """
        with typed_errors():
            return Listing(load_table(self._storage)[1].instants)

    def file_slices(self, as_of: str | None = None) -> Listing[FileSlice]:
        """The slices that a snapshot reads, by partition and file id.

        Clauses: RD-004, RD-008.
        """
        with typed_errors():
            return Listing(load_snapshot(self._storage, self._readings, as_of).slices)

    def info(self) -> TableInfo:
        """What the table is: version, type, merge mode, key, partition and ordering fields, schema."""
        with typed_errors():
            return table_info(self._storage)

    def skipped(self) -> tuple[SkippedBytes, ...]:
        """Stretches of log files that are no blocks and that the jobs run so far skipped.

        Clauses: RD-013.
        """
        return tuple(sorted(self._skipped.value))

    def _frame(self, query: Query) -> "DataFrame":
        asked = replace(query, readings=self._readings, configs=self._configs)
        with typed_errors():
            plan = plan_query(self._storage, asked)
            return run_on_spark(self._spark, plan, self._storage, partial(_add, self._skipped))


def _add(gathered: Any, skipped: tuple[SkippedBytes, ...]) -> None:
    gathered.add(frozenset(skipped))
