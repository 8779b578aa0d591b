"""Runs a plan with Spark: its own Parquet scan where base files are enough, Arrow tasks where logs are merged."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa
from hudi_adapter.filters import columns_of
from hudi_format.base.files import base_file_footer
from hudi_format.storage import LocalStorage, Storage

from hudi_spark.errors import HudiError, SkippedBytes, UnsupportedFeature, boundary, to_text
from hudi_spark.execution.planning import Plan
from hudi_spark.execution.spark_filters import quoted, spark_column
from hudi_spark.execution.spark_types import contains_time, spark_schema, wire_schema
from hudi_spark.execution.tasks import SliceRows, SliceTask, run_task
from hudi_spark.merging import fields
from hudi_spark.schemas.base_rows import instant_of
from hudi_spark.schemas.columns import nullable

if TYPE_CHECKING:
    from pyspark.broadcast import Broadcast
    from pyspark.sql import Column, DataFrame, SparkSession

Report = Callable[[tuple[SkippedBytes, ...]], None]
_Task = TypeVar("_Task")
_PARQUET: Final = ".parquet"


def run_on_spark(spark: "SparkSession", plan: Plan, storage: Storage, report: Report) -> "DataFrame":
    """The rows of a plan as a DataFrame; nothing is read yet but the footers of files of unknown schema.

    `report` is called in the tasks with what they skipped.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    Clauses: RD-012.

    """
    if not plan.context.output:
        # Batches without columns lose their number of rows on the way.
        return run_on_spark(spark, _with_one_column(plan), storage, report).select([])
    scanned, merged = split_tasks(plan, storage)
    frames = []
    if scanned or not merged:
        frames.append(_scan(spark, plan, scanned, storage))
    if merged:
        frames.append(run_tasks(spark, merged, run_task, plan.schema, report))
    return frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])


def _with_one_column(plan: Plan) -> Plan:
    context = replace(plan.context, output=(plan.context.schema.names[0],))
    return replace(plan, context=context, tasks=tuple(replace(task, context=context) for task in plan.tasks))


def _scan(spark: "SparkSession", plan: Plan, tasks: list[SliceTask], storage: Storage) -> "DataFrame":
    """Spark's own scan over the base files, with the table's schema, so that it prunes columns and pushes filters."""
    schema = spark_schema(wire_schema(plan.context.schema))
    paths = [f"file:{storage.resolve(task.base_file or '')}" for task in tasks]
    if paths:
        # Brackets in partition names: without the first option Spark takes them for patterns,
        # without the second it reads the files after such a one twice.
        reader = spark.read.schema(schema).option("__globPaths__", value=False)
        # Days and moments are those of the calendar that Hudi counts in, also before 1582.
        reader = reader.option("datetimeRebaseMode", "CORRECTED").option("int96RebaseMode", "CORRECTED")
        frame = reader.option("recursiveFileLookup", value=True).parquet(*paths)
    else:
        frame = spark.createDataFrame([], schema)
    if plan.context.row_filter is not None:
        frame = frame.filter(spark_column(plan.context.row_filter, plan.context.schema))
    names = frozenset(plan.context.schema.names)
    return frame.select([_field(name, names) for name in plan.context.output])


def _field(name: str, names: frozenset[str]) -> "Column":
    """A column, or a field inside one under its whole name."""
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    path = quoted(name) if name in names else ".".join(quoted(part) for part in name.split("."))
    return functions.col(path).alias(name)


def run_tasks(
    spark: "SparkSession", tasks: Sequence[_Task], run: Callable[[_Task], SliceRows], schema: pa.Schema, report: Report
) -> "DataFrame":
    """The rows of tasks as a DataFrame: one Spark task for each, which calls `run`.

    The descriptions go to each executor once; a task picks its own by number.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    described = spark.sparkContext.broadcast(tuple(tasks))
    wire = wire_schema(schema)
    if not tasks:
        return spark.createDataFrame([], spark_schema(wire))
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    return numbers.mapInArrow(_runner(described, run, wire, report), spark_schema(wire))


def _runner(
    described: "Broadcast[tuple[_Task, ...]]", run: Callable[[_Task], SliceRows], wire: pa.Schema, report: Report
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run_numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0):
                yield from _run(described.value[number.as_py()], run, wire, report)

    return run_numbered


def _run(task: _Task, run: Callable[[_Task], SliceRows], wire: pa.Schema, report: Report) -> Iterator[pa.RecordBatch]:
    try:
        with boundary():
            result = run(task)
    except (HudiError, UnsupportedFeature) as error:
        # Only text crosses from a Python worker to the driver.
        raise RuntimeError(to_text(error)) from error
    report(result.skipped)
    yield from result.rows.cast(wire).combine_chunks().to_batches()


def split_tasks(plan: Plan, storage: Storage) -> tuple[list[SliceTask], list[SliceTask]]:
    """The tasks that Spark's own scan can do, and those that need the merge kernel.

    Spark's Parquet reader neither widens columns nor knows times of day, it finds columns by name and in any case of
    letters, and for an object store it would need a file system and credentials of its own.
    """
    context = plan.context
    filtering = columns_of(context.row_filter) if context.row_filter is not None else frozenset()
    asked = {*fields.columns_of(context.output, context.schema), *filtering}
    wanted = pa.schema([context.schema.field(name) for name in sorted(asked)])
    known: dict[str, pa.Schema] = {}
    scanned: list[SliceTask] = []
    merged: list[SliceTask] = []
    for task in plan.tasks:
        readable = isinstance(storage, LocalStorage) and _is_plain(task, wanted)
        schema = _file_schema(task, known, storage) if readable else pa.schema([])
        matches = readable and all(_is_as_wanted(schema, field) for field in wanted)
        (scanned if matches else merged).append(task)
    return scanned, merged


def _is_plain(task: SliceTask, wanted: pa.Schema) -> bool:
    """Whether a slice is one Parquet file in which each column stands under its own name."""
    path = task.base_file or ""
    if task.log_files or task.changes is not None or task.external is not None or not path.endswith(_PARQUET):
        return False
    named = task.columns.are_named(wanted, instant_of(path))
    return named and not any(contains_time(field.type) for field in wanted)


def _file_schema(task: SliceTask, known: dict[str, pa.Schema], storage: Storage) -> pa.Schema:
    """The columns in a base file, from the footer of one file of each instant.

    What a commit says of its columns may be wider than what the writer of rows put into its files.
    """
    path = task.base_file or ""
    instant = instant_of(path)
    if instant not in known:
        known[instant] = base_file_footer(storage, path).schema
    return known[instant]


def _is_as_wanted(schema: pa.Schema, field: pa.Field) -> bool:
    alike = [name for name in schema.names if name.lower() == field.name.lower()]
    return not alike or (alike == [field.name] and _as_read(schema.field(field.name).type) == field.type)


def _as_read(kind: pa.DataType) -> pa.DataType:
    """A stored type in the form of the table's: names of elements and nullability are the file's own affair."""
    return pa.binary() if pa.types.is_fixed_size_binary(kind) else nullable(kind)


def accumulator(spark: "SparkSession") -> Any:
    """A Spark accumulator that gathers what tasks skipped."""
    from pyspark.accumulators import AccumulatorParam  # noqa: PLC0415 - pyspark is optional

    class _Gathered(AccumulatorParam[frozenset[SkippedBytes]]):  # type: ignore[misc]
        def zero(self, value: frozenset[SkippedBytes]) -> frozenset[SkippedBytes]:
            return frozenset() if value is None else value

        def addInPlace(  # noqa: N802 - the name that Spark calls
            self, first: frozenset[SkippedBytes], second: frozenset[SkippedBytes]
        ) -> frozenset[SkippedBytes]:
            return first | second

    return spark.sparkContext.accumulator(frozenset(), _Gathered())
