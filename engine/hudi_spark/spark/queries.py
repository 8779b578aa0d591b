"""Queries on Spark: its own Parquet scan where base files are enough, Arrow tasks where logs are merged."""

import datetime as dt
import json
import math
import operator
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from functools import reduce
from inspect import signature
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa
from hudi_format.base.files import base_file_footer
from hudi_format.storage import LocalStorage, Storage

from hudi_spark.errors import HudiError, Reason, SkippedBytes, UnsupportedFeature, boundary, to_text
from hudi_spark.filters import And, Comparison, Filter, Not, Or, function_of, grammar, value_of
from hudi_spark.read import (
    AnyPlan,
    ChangeTask,
    Plan,
    SliceRows,
    SliceTask,
    bytes_to_read,
    has_other_size,
    needs_commit_times,
    run_change_task,
    run_task,
)
from hudi_spark.schema import instant_of, nullable
from hudi_spark.table_state import COMMIT_TIME

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_SPARK_DECIMAL_DIGITS = 38

_NAMES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (pa.types.is_boolean, "BooleanType"),
    (pa.types.is_int8, "ByteType"),
    (pa.types.is_int16, "ShortType"),
    (pa.types.is_int32, "IntegerType"),
    (pa.types.is_int64, "LongType"),
    (pa.types.is_float32, "FloatType"),
    (pa.types.is_float64, "DoubleType"),
    (pa.types.is_string, "StringType"),
    (pa.types.is_binary, "BinaryType"),
    (pa.types.is_date32, "DateType"),
    (pa.types.is_null, "NullType"),
)


def wire_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns in types that Spark takes from Arrow: times of day as numbers, timestamps in microseconds."""
    return pa.schema([pa.field(field.name, wire_type(field.type)) for field in schema])


def wire_type(kind: pa.DataType) -> pa.DataType:
    """The Arrow type in which values of a type go to Spark."""
    if pa.types.is_time(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, wire_type(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", wire_type(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(wire_type(kind.key_type), pa.field("value", wire_type(kind.item_type)))
    return kind


def contains_time(kind: pa.DataType) -> bool:
    """Whether a type has a time of day in it, which Spark's Parquet reader refuses."""
    if pa.types.is_struct(kind):
        return any(contains_time(field.type) for field in kind)
    if pa.types.is_list(kind):
        return contains_time(kind.value_type)
    if pa.types.is_map(kind):
        return contains_time(kind.item_type)
    return bool(pa.types.is_time(kind))


def spark_schema(schema: pa.Schema) -> "StructType":
    """The Spark schema of a wire schema.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    from pyspark.sql import types  # noqa: PLC0415 - pyspark is optional

    return types.StructType([types.StructField(field.name, spark_type(field.type)) for field in schema])


def arrow_schema(schema: "StructType") -> pa.Schema:
    """The Arrow schema of a DataFrame; its timestamps are moments, whatever the session's time zone.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a column of a type that Arrow lacks.

    Clauses: DM-003.

    """
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - pyspark is optional
    from pyspark.sql.types import StructType  # noqa: PLC0415 - pyspark is optional

    # Spark 4.3 asks for the zone that earlier releases have set by themselves.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    fields = []
    for column in schema:
        try:
            fields.append(to_arrow_schema(StructType([column]), **zone).field(0))
        except (TypeError, ValueError) as error:
            message = f"column {column.name!r} is {column.dataType.simpleString()}, which a table cannot hold"
            hint = "cast it to a type that Avro has, or leave it out"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint=hint) from error
    return pa.schema(fields)


def spark_type(kind: pa.DataType) -> "DataType":
    """The Spark type of a wire type.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    from pyspark.sql import types  # noqa: PLC0415 - pyspark is optional

    nested = _nested_type(kind, types)
    if nested is not None:
        return nested
    if pa.types.is_timestamp(kind):
        return types.TimestampType() if kind.tz is not None else types.TimestampNTZType()
    if pa.types.is_decimal(kind) and kind.precision <= _SPARK_DECIMAL_DIGITS:
        return types.DecimalType(kind.precision, kind.scale)
    for matches, name in _NAMES:
        if matches(kind):
            return getattr(types, name)()
    raise UnsupportedFeature("spark-type", f"Spark has no type for {kind}; use read_arrow")


def _nested_type(kind: pa.DataType, types: Any) -> Any:
    if pa.types.is_struct(kind):
        return types.StructType([types.StructField(field.name, spark_type(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return types.ArrayType(spark_type(kind.value_type))
    if pa.types.is_map(kind):
        return types.MapType(spark_type(kind.key_type), spark_type(kind.item_type))
    return None


if TYPE_CHECKING:
    from pyspark.sql import Column

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Without a length the text from a position on.
_LONGEST: Final = 2**31 - 1
_SPARK_DIGITS: Final = 38
# Of literals, before and after the point.
_MOST_DIGITS: Final = 1000
_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - local timestamps have no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def spark_column(condition: Filter, schema: pa.Schema, *, negated: bool = False) -> "Column":
    """The filter over the columns of a DataFrame; `negated`: it stands below a `not`.

    Clauses: RD-012.
    """
    match condition:
        case And(parts):
            return reduce(operator.and_, (spark_column(part, schema, negated=negated) for part in parts))
        case Or(parts):
            return reduce(operator.or_, (spark_column(part, schema, negated=negated) for part in parts))
        case Not(part):
            return ~spark_column(part, schema, negated=True)
        case Comparison(column=column):
            floats = column.function == "identity" and pa.types.is_floating(schema.field(column.name).type)
            return _of_floats(condition, schema, negated=negated) if floats else _comparison(condition, schema)


def _of_floats(condition: Comparison, schema: pa.Schema, *, negated: bool) -> "Column":
    """As Arrow compares: not-a-number equals nothing and is not greater; to Spark it equals itself and is greatest.

    What it may meet is kept from the Parquet reader, as in `pushable`: bounds of row groups leave it out.

    Clauses: RD-012.
    """
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    own, word = _applied(condition.column), condition.operator
    several = condition.value if word == "in" else (condition.value,)
    numbers = [one for one in several if not _is_nan(value_of(one, condition.column, schema))]
    if several and not numbers:
        return functions.when(own.isNotNull(), functions.lit(word == "!="))
    if word == "in":
        condition = replace(condition, value=numbers)
    found = _comparison(condition, schema, functions.nanvl(own, own) if negated or word == "!=" else own)
    return found & ~functions.isnan(own) if word in {">", ">="} else found


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _comparison(condition: Comparison, schema: pa.Schema, left: "Column | None" = None) -> "Column":
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    column = condition.column
    left = _applied(column) if left is None else left
    if condition.operator == "is_null":
        return left.isNull()
    if condition.operator == "is_not_null":
        return left.isNotNull()
    kind = schema.field(column.name).type if function_of(column).result is None else None
    if condition.operator == "in":
        values = [value_of(form, column, schema) for form in condition.value]
        return _is_in(left, values, kind) if values else functions.lit(col=False)
    return _COMPARE[condition.operator](left, _literal(value_of(condition.value, column, schema), kind))


def _is_in(left: "Column", values: list[Any], kind: pa.DataType | None) -> "Column":
    """One of some values; texts and whole numbers go to Java at once, where each literal is a dozen round trips."""
    from pyspark.sql import Column  # noqa: PLC0415 - pyspark is optional

    texts = kind == pa.string() and all(type(value) is str for value in values)
    if texts or (kind is not None and pa.types.is_integer(kind) and all(type(value) is int for value in values)):
        return Column(left._jc.isin(_java_array("Object", values)))  # noqa: SLF001 - PySpark has no public name for it
    return left.isin([_literal(value, kind) for value in values])


def _java_array(kind: str, values: Sequence[Any]) -> Any:
    """Values as an array of a class of `java.lang`, in few round trips however many they are."""
    from pyspark import SparkContext  # noqa: PLC0415 - pyspark is optional

    context = SparkContext._active_spark_context  # noqa: SLF001 - PySpark has no public names for them
    assert context is not None
    jvm: Any = context._jvm  # noqa: SLF001
    described = jvm.java.lang.Class.forName(f"[Ljava.lang.{kind};")
    return jvm.com.fasterxml.jackson.databind.ObjectMapper().readValue(json.dumps(values), described)


def _applied(column: grammar.Column) -> "Column":
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    values = functions.col(quoted(column.name))
    given = [functions.lit(one) for one in column.arguments]
    match column.function:
        case "identity":
            return values
        case "substring":
            position = given[0] if given else functions.lit(1)
            return functions.call_function("substring", values, position, *(given[1:] or [functions.lit(_LONGEST)]))
        case "trim" | "ltrim" | "rtrim":
            # Spark's own order: the characters stand before the text.
            return functions.call_function(column.function, *given, values)
        case _:
            return functions.call_function(column.function, values, *given)


def quoted(name: str) -> str:
    """A column name in which dots and backticks are plain characters."""
    return "`" + name.replace("`", "``") + "`"


def _literal(value: Any, kind: pa.DataType | None) -> "Column":
    """A literal of the column's type; times of day are numbers in Spark."""
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    if isinstance(value, dt.time):
        whole, rest = divmod(_of_day(value), 1000 if kind == pa.time32("ms") else 1)
        return functions.lit(whole + rest / 1000 if rest else whole)
    if isinstance(value, dt.datetime):
        micros = (
            (value.astimezone(dt.timezone.utc).replace(tzinfo=None) - _EPOCH) // _MICROSECOND if value.tzinfo else None
        )
        return functions.expr(f"timestamp_micros({micros})") if micros is not None else _local(value)
    if isinstance(value, dt.date):
        # PySpark writes years before 1000 in less than four digits.
        return functions.lit(value.isoformat()).cast("date")
    if isinstance(value, Decimal) and kind is not None:
        return functions.lit(_between(value, kind.precision, kind.scale))
    literal = functions.lit(value)
    return literal if kind is None or pa.types.is_decimal(kind) else literal.cast(spark_type(wire_type(kind)))


def _between(value: Decimal, precision: int, scale: int) -> Decimal:
    """A number that compares with all of a decimal type as this one does, with one digit more than they have at most.

    Raises:
        HudiError: CONFIG_INVALID where Spark, which would round, has no digit more.

    """
    with localcontext(Context(prec=_MOST_DIGITS)):
        step, bound = Decimal(1).scaleb(-scale), Decimal(1).scaleb(precision - scale)
        value = max(-bound, min(value, bound))
        whole = value.quantize(step, ROUND_FLOOR)
        if whole == value and abs(value) < bound:
            return whole
        if precision < _SPARK_DIGITS:
            return whole if whole == value else whole + step / 2
    message = f"Spark has too few digits to compare decimal({precision},{scale}) with {value}"
    raise HudiError(Reason.CONFIG_INVALID, "RD-012", message, hint="give a value that the column could have")


def _local(value: dt.datetime) -> "Column":
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    return functions.lit(value.isoformat(sep=" ", timespec="microseconds")).cast("timestamp_ntz")


def _of_day(value: dt.time) -> int:
    return (dt.datetime.combine(_EPOCH.date(), value) - _EPOCH) // _MICROSECOND


if TYPE_CHECKING:
    from pyspark.broadcast import Broadcast
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession

Report = Callable[[tuple[SkippedBytes, ...]], None]
TASK_BYTES: Final = 1 << 27
# What is read while Spark starts a task, which costs up to a tenth of a second.
_LEAST_BYTES: Final = 1 << 24
# What a core reads in about a second: so much is not split further.
_LITTLE_BYTES: Final = 1 << 26
# So much is read for each row that is found where tasks find it faster than Spark's own scan.
_ROW_BYTES: Final = 1 << 10
# A batch of about this many rows goes to the JVM at once.
BATCH_ROWS: Final = 65_536
_BATCH_BYTES: Final = 1 << 25
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
    if _finds_few(plan, scanned, storage):
        scanned, merged = [], list(plan.tasks)
    frames = []
    if scanned or not merged:
        frames.append(_scan(spark, plan, scanned, storage))
    if merged:
        packs = packed(spark, merged, lambda task: bytes_to_read(storage, task.files))
        frames.append(run_tasks(spark, packs, run_task, plan.schema, report))
    return frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])


def _finds_few(plan: Plan, scanned: Sequence[SliceTask], storage: Storage) -> bool:
    """Whether tasks read few rows out of much: Spark's scan makes rows of all that it reads, Arrow filters columns."""
    if plan.about_rows is None:
        return False
    much = max(_LEAST_BYTES, plan.about_rows * _ROW_BYTES)
    # Files are looked at only until they are enough.
    sizes = accumulate(bytes_to_read(storage, task.files) for task in scanned)
    return any(size >= much for size in sizes)


def _with_one_column(plan: Plan) -> Plan:
    context = replace(plan.context, output=(plan.context.schema.names[0],))
    return replace(plan, context=context, tasks=tuple(replace(task, context=context) for task in plan.tasks))


def _scan(spark: "SparkSession", plan: Plan, tasks: list[SliceTask], storage: Storage) -> "DataFrame":
    """Spark's own scan over the base files, with the table's schema, so that it prunes columns and pushes filters."""
    needed = plan.context.columns()
    schema = spark_schema(wire_schema(needed))
    paths = [f"file:{storage.resolve(task.base_file or '')}" for task in tasks]
    if paths:
        # Brackets in partition names: without the first option Spark takes them for patterns,
        # without the second it reads the files after such a one twice.
        reader = spark.read.schema(schema).option("__globPaths__", value=False)
        # Days and moments are those of the calendar that Hudi counts in, also before 1582.
        reader = reader.option("datetimeRebaseMode", "CORRECTED").option("int96RebaseMode", "CORRECTED")
        frame = _of_files(spark, reader.option("recursiveFileLookup", value=True), paths)
    else:
        frame = spark.createDataFrame([], schema)
    if plan.context.row_filter is not None:
        frame = frame.filter(spark_column(plan.context.row_filter, plan.context.schema))
    if list(plan.context.output) == needed.names:
        return frame
    names = frozenset(needed.names)
    return frame.select(*(_field(name, names) for name in plan.context.output))


# Above so many paths Spark looks at each in a task, which takes fifty times as long as looking at it does.
_LISTING_TASKS: Final = "spark.sql.sources.parallelPartitionDiscovery.threshold"
_LISTING: Final = threading.Lock()


def _of_files(spark: "SparkSession", reader: "DataFrameReader", paths: Sequence[str]) -> "DataFrame":
    """A scan over local files, looked at here in place of by a job, and named to Java in one round trip."""
    from pyspark.sql import DataFrame  # noqa: PLC0415 - pyspark is optional

    java_reader, named = reader._jreader, _java_array("String", paths)  # noqa: SLF001 - PySpark has no public name for it
    with _LISTING:
        known = spark.conf.get(_LISTING_TASKS, None)
        spark.conf.set(_LISTING_TASKS, str(len(paths)))
        try:
            return DataFrame(java_reader.parquet(named), spark)
        finally:
            if known is None:
                spark.conf.unset(_LISTING_TASKS)
            else:
                spark.conf.set(_LISTING_TASKS, known)


def _field(name: str, names: frozenset[str]) -> "Column | str":
    """A column, which by its name takes the fewest round trips, or a field inside one under its whole name."""
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    if name in names:
        return quoted(name)
    return functions.col(".".join(map(quoted, name.split(".")))).alias(name)


def run_tasks(
    spark: "SparkSession",
    packs: Sequence[Sequence[_Task]],
    run: Callable[[_Task], SliceRows],
    schema: pa.Schema,
    report: Report,
) -> "DataFrame":
    """The rows of tasks as a DataFrame: one Spark task for each pack, which calls `run` for each of the pack's tasks.

    The descriptions go to each executor once; a Spark task picks its own by number.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    wire = wire_schema(schema)
    if not packs:
        return spark.createDataFrame([], spark_schema(wire))
    described = spark.sparkContext.broadcast(tuple(map(tuple, packs)))
    numbers = spark.range(0, len(packs), 1, len(packs))
    return numbers.mapInArrow(_runner(described, run, wire, report), spark_schema(wire))


def packed(spark: "SparkSession", tasks: Sequence[_Task], size_of: Callable[[_Task], int]) -> list[list[_Task]]:
    """Tasks packed by the bytes that they work on, in their order.

    Each core gets one pack where there is little to do, since a task of Spark that runs Python costs as much as reading
    some megabytes, and two or more of at most 128 MiB where there is more, so that the slowest does not hold up all.
    """
    return packed_for(spark.sparkContext.defaultParallelism, tasks, size_of)


def packed_for(cores: int, tasks: Sequence[_Task], size_of: Callable[[_Task], int]) -> list[list[_Task]]:
    """Tasks packed by the bytes that they work on, for so many cores."""
    sizes = list(map(size_of, tasks))
    total = sum(sizes)
    # Rounded up: a byte too little makes one more pack, which no core is free for.
    share = -(-total // (cores if total <= _LITTLE_BYTES * cores else 2 * cores))
    most = min(TASK_BYTES, max(share, _LEAST_BYTES))
    wanted = -(-total // most)
    # Tasks do not fill packs to the byte: a little more room leaves no small pack at the end.
    for part in range(32, 64):
        packs = _filled(tasks, sizes, min(TASK_BYTES, most * part // 32))
        if len(packs) <= wanted:
            break
    return packs


def _filled(tasks: Sequence[_Task], sizes: Sequence[int], most: int) -> list[list[_Task]]:
    packs: list[list[_Task]] = []
    room = 0
    for task, size in zip(tasks, sizes, strict=True):
        if not packs or size > room:
            packs.append([])
            room = most
        packs[-1].append(task)
        room -= size
    return packs


def _runner(
    described: "Broadcast[tuple[tuple[_Task, ...], ...]]",
    run: Callable[[_Task], SliceRows],
    wire: pa.Schema,
    report: Report,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run_numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0):
                yield from batches_of_pack(described.value[number.as_py()], run, wire, report)

    return run_numbered


# Besides its archives of Python, Spark puts this one on the path of its workers.
_CORE: Final = "spark-core_"


def spare_archives() -> None:
    """Keep a worker from reading the directories of Spark's own archives a dozen times before its next task.

    Before each task Spark lets every finder of modules look anew; one of an archive reads all of it again, and there is
    one for each package in it. A finder that is gone is made again where it is needed, without reading.
    """
    import pyspark  # noqa: PLC0415 - pyspark is optional

    own = Path(getattr(pyspark.__loader__, "archive", ""))
    for path, finder in list(sys.path_importer_cache.items()):
        archive = Path(getattr(finder, "archive", ""))
        if archive.name and (archive.parent == own.parent or archive.name.startswith(_CORE)):
            del sys.path_importer_cache[path]


def batches_of_pack(
    pack: Iterable[_Task], run: Callable[[_Task], SliceRows], wire: pa.Schema, report: Report
) -> Iterator[pa.RecordBatch]:
    """The rows of a pack's tasks, in the types of `wire`.

    Raises:
        RuntimeError: a task failed; its text is that of the error.

    """
    spare_archives()
    return _joined(_run(task, run, wire, report) for task in pack)


def _joined(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """The rows of tables, small ones together: each batch costs a hand-over, however few rows it has."""
    held: list[pa.Table] = []
    for table in tables:
        held.append(table)
        if sum(one.num_rows for one in held) >= BATCH_ROWS or sum(one.nbytes for one in held) >= _BATCH_BYTES:
            yield from pa.concat_tables(held).combine_chunks().to_batches()
            held = []
    if held:
        yield from pa.concat_tables(held).combine_chunks().to_batches()


def _run(task: _Task, run: Callable[[_Task], SliceRows], wire: pa.Schema, report: Report) -> pa.Table:
    try:
        with boundary():
            result = run(task)
    except (HudiError, UnsupportedFeature) as error:
        # Only text crosses from a Python worker to the driver.
        raise RuntimeError(to_text(error)) from error
    report(result.skipped)
    return result.rows.cast(wire)


def split_tasks(plan: Plan, storage: Storage) -> tuple[list[SliceTask], list[SliceTask]]:
    """The tasks that Spark's own scan can do, and those that need the merge kernel.

    Spark's Parquet reader neither widens columns nor knows times of day, it finds columns by name and in any case of
    letters, and for an object store it would need a file system and credentials of its own.
    """
    wanted = plan.context.columns()
    timeless = not any(contains_time(field.type) for field in wanted)
    known: dict[str, bool] = {}
    scanned: list[SliceTask] = []
    merged: list[SliceTask] = []
    for task in plan.tasks:
        readable = timeless and isinstance(storage, LocalStorage) and _is_plain(task, wanted)
        (scanned if readable and _has_as_wanted(task, wanted, known, storage) else merged).append(task)
    return scanned, merged


def _is_plain(task: SliceTask, wanted: pa.Schema) -> bool:
    """Whether a slice is one Parquet file in which each column stands under its own name."""
    path = task.base_file or ""
    if task.log_files or task.changes is not None or task.external is not None or not path.endswith(_PARQUET):
        return False
    # A task says what such a file lacks.
    return task.columns.are_named(wanted, instant_of(path)) and not has_other_size(task)


def _has_as_wanted(task: SliceTask, wanted: pa.Schema, known: dict[str, bool], storage: Storage) -> bool:
    """Whether a base file has the columns in the table's types, by the footer of one file of each instant.

    What a commit says of its columns may be wider than what the writer of rows put into its files. Where commit times
    are needed, each file is looked at: a scan would pass over the rows of one that has none.
    """
    path = task.base_file or ""
    timed = needs_commit_times(task)
    one = path if timed else instant_of(path)
    if one not in known:
        schema = base_file_footer(storage, path).schema
        known[one] = (not timed or COMMIT_TIME in schema.names) and all(_is_as_wanted(schema, it) for it in wanted)
    return known[one]


def _is_as_wanted(schema: pa.Schema, field: pa.Field) -> bool:
    alike = [name for name in schema.names if name.lower() == field.name.lower()]
    return not alike or (alike == [field.name] and _as_read(schema.field(field.name).type) == field.type)


def _as_read(kind: pa.DataType) -> pa.DataType:
    """A stored type in the form of the table's: names of elements and nullability may differ in a file."""
    return pa.binary() if pa.types.is_fixed_size_binary(kind) else nullable(kind)


def use_same_python(spark: "SparkSession") -> None:
    """Let the workers of a local session run the interpreter of this process, unless `PYSPARK_PYTHON` names another.

    By default Spark starts the `python3` of the `PATH`, which may lack this package.
    """
    context = spark.sparkContext
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable


def is_connect(spark: object) -> bool:
    """Whether a session is a client of Spark Connect, which has no Java beside it."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def check_session(spark: object, *, takes_connect: bool = False) -> None:
    """Refuse what is no session that runs, and a client of Spark Connect, before anything is requested of it.

    Raises:
        HudiError: CONFIG_INVALID for a value that is no session, and for a session that was stopped.
        UnsupportedFeature: it is a client of Spark Connect, and `takes_connect` is not set.

    """
    if is_connect(spark):
        if takes_connect:
            return
        hint = 'on Spark 4 call register(spark) and the format "hudi_py"; without Spark, read_arrow and write_arrow'
        raise UnsupportedFeature("spark-connect", f"the session is a client of Spark Connect: {hint}")
    context = getattr(spark, "sparkContext", None)
    if context is None:
        message = f"the Spark session is a {type(spark).__name__}: {spark!r:.60}"
        hint = "give SparkSession.builder.getOrCreate(), and then the path; read_arrow and write_arrow need no session"
        raise HudiError(Reason.CONFIG_INVALID, "OW-014", message, hint=hint)
    if getattr(context, "_jsc", context) is None:
        hint = "SparkSession.builder.getOrCreate() starts a new one; open the table again with it"
        raise HudiError(Reason.CONFIG_INVALID, "OW-014", "the Spark session is stopped", hint=hint)


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


if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run_any_on_spark(spark: "SparkSession", plan: AnyPlan, storage: Storage, report: Report) -> "DataFrame":
    """The rows of a plan as a DataFrame; a change query is one job, and each file group is read by one task.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    if isinstance(plan, Plan):
        return run_on_spark(spark, plan, storage, report)
    packs = packed(spark, plan.tasks, lambda task: bytes_to_read(storage, files_of_changes(task)))
    return run_tasks(spark, packs, run_change_task, plan.schema, report)


def files_of_changes(task: ChangeTask) -> Iterator[str | None]:
    """The files that a task of a change feed reads."""
    for step in task.steps:
        yield from step.logs
        if not step.logs and step.after.slice is not None:
            yield from step.after.slice.files
