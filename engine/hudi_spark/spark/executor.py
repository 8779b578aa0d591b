"""The executor on Spark: parts are partitions of a DataFrame, work runs in `mapInArrow`."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature, boundary, from_text, to_text
from hudi_spark.read import ROWS, UNKNOWN_BYTES, InProcess, LocalFlow, Query, TaskIdentity, Work, plan_query
from hudi_spark.spark.queries import (
    BATCH_ROWS,
    TASK_BYTES,
    arrow_schema,
    packed,
    run_on_spark,
    spare_archives,
    spark_schema,
    wire_schema,
)

_SEED: Final = 42
_WORD: Final = 0xFFFFFFFF


def salts_of_parts(parts: int) -> list[int]:
    """For each partition the least number whose hash leads there."""
    found: dict[int, int] = {}
    number = 0
    while len(found) < parts:
        found.setdefault(spark_hash(number) % parts, number)
        number += 1
    return [found[part] for part in range(parts)]


def spark_hash(number: int) -> int:
    """Spark's hash of an int column: Murmur3 of four bytes with seed 42, signed."""
    mixed = _mixed(number & _WORD)
    state = _SEED ^ mixed
    state = (_rotated(state, 13) * 5 + 0xE6546B64) & _WORD
    state ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = ((state ^ (state >> shift)) * factor) & _WORD
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _mixed(word: int) -> int:
    return (_rotated((word * 0xCC9E2D51) & _WORD, 15) * 0x1B873593) & _WORD


def _rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (32 - by))) & _WORD


if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_Task = TypeVar("_Task")
Identify = Callable[[int], TaskIdentity]
_Batches = Iterator[pa.RecordBatch]

DRIVER_BYTES: Final = "spark.hudi.driver.bytes"
"""The setting of a session: up to how many bytes of files and rows are worked on by the driver; 0 for none."""
_ON_A_DRIVER: Final = 1 << 26
# Rows in memory take about so many times the bytes of the files that they come from.
_GROWTH: Final = 4
# Of these Spark knows about how many bytes they give, by those of the files or rows below them.
_SIZED: Final = frozenset(
    ("Filter", "GlobalLimit", "LocalLimit", "LocalRelation", "LogicalRelation", "Project", "Range", "Sort", "Union")
)
_OF_ANY_LENGTH: Final = frozenset(("string", "binary", "array", "map", "struct", "variant"))
_SHORT: Final = 20
_MOST_RESULTS: Final = "spark.driver.maxResultSize"
_IN_PARTITION: Final = (1 << 33) - 1
_LATEST_JOBS: Final = 16
_ENDING_S: Final = 60.0
_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class SparkFlow:
    """A DataFrame whose rows have the types of an Arrow schema, and work that is still to be done on its partitions.

    Work upon work is done in one go: rows travel to a Python worker once.
    """

    source: "DataFrame" = field(repr=False)
    schema: pa.Schema
    identify: Identify | None = None
    work: "_Chain | None" = field(default=None, repr=False)
    driver_bytes: int = 0

    @property
    def frame(self) -> "DataFrame":
        """The DataFrame with all work in it."""
        if self.work is None:
            return self.source
        wire = wire_schema(self.schema)
        return self.source.mapInArrow(_on_parts(self.work, wire, self.identify), spark_schema(wire))

    @property
    def is_spent(self) -> bool:
        """Never: this is no stream."""
        return False

    def at_rest(self) -> "SparkFlow":
        """The same: a DataFrame can be computed again."""
        return self

    def if_few(self) -> "SparkFlow | DriverFlow":
        """The rows on the driver, in the order of their partitions, where Spark knows that they are few."""
        if not self.driver_bytes or not _is_sized(self.frame, self.driver_bytes // _GROWTH):
            return self
        rows = _on_driver(self.frame, self.schema, self.driver_bytes)
        if rows is None or rows.nbytes > self.driver_bytes:
            return self
        executor = OnSpark(self.source.sparkSession, self.identify, self.driver_bytes)
        return DriverFlow(InProcess(self.identify).of_table(rows), executor)

    def map(self, work: Work, schema: pa.Schema) -> "SparkFlow":
        """Each partition as `work` returns it; partitions without rows are not worked on."""
        before = self.work or _Chain(self.schema, ())
        chain = _Chain(before.schema, (*before.steps, (work, schema)))
        return replace(self, schema=schema, work=chain)

    def widened(self, fields: Sequence[pa.Field]) -> "SparkFlow":
        """The rows with further columns, null everywhere; no Python worker is requested them."""
        from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

        wire = spark_schema(wire_schema(pa.schema(fields)))
        nothing = {one.name: functions.lit(None).cast(one.dataType) for one in wire}
        return self._of(self.frame.withColumns(nothing), pa.schema([*self.schema, *fields]))

    def shuffled(self, columns: Sequence[str], parts: int | None = None) -> "SparkFlow":
        """The rows by the hash of some columns, in as many partitions as requested or as the session sees fit."""
        names = [f"`{name}`" for name in columns]
        frame = self.frame.repartition(*names) if parts is None else self.frame.repartition(parts, *names)
        return self._of(frame)

    def spread(self, column: str, pieces: Sequence[_Task], size_of: Callable[[_Task], int]) -> "SparkFlow":
        """The rows by the number in a column: each number's in one partition, few numbers in each."""
        from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

        # Of no rows there are no pieces, and Spark has no frame of no partitions.
        count = max(len(packed(self.source.sparkSession, pieces, size_of)), 1)
        salts = functions.array(*(functions.lit(salt) for salt in salts_of_parts(count)))
        salted = functions.element_at(salts, functions.col(f"`{column}`") % count + 1)
        return self._of(self.frame.repartition(count, salted))

    def ordered(self, columns: Sequence[str]) -> "SparkFlow":
        """The rows sorted by columns: ranges of them in partitions."""
        return self._of(self.frame.sort(*(f"`{name}`" for name in columns)))

    def joined(self, other: "SparkFlow | DriverFlow", on: Sequence[str]) -> "SparkFlow":
        """Left outer join by columns that both have."""
        further = [one for one in other.schema if one.name not in on]
        frame = self.frame.join(other.frame, list(on), "left")
        schema = pa.schema([*self.schema, *further])
        return self._of(frame.select(*(f"`{name}`" for name in schema.names)), schema)

    def together(self, other: "SparkFlow | DriverFlow") -> "SparkFlow":
        """The partitions of both."""
        return self._of(self.frame.unionByName(other.frame))

    @contextmanager
    def kept(self) -> "Iterator[SparkFlow]":
        """The same rows, stored by the executors when they are first computed; shuffles before them run at once."""
        stored = _planned(self.frame).persist()
        try:
            yield self._of(stored)
        finally:
            stored.unpersist()

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """How many rows there are of each combination of values: one job."""
        counts = self.frame.groupBy(*(f"`{name}`" for name in columns)).count()
        schema = pa.schema([*(self.schema.field(name) for name in columns), pa.field(ROWS, pa.int64())])
        return _collected(counts, schema)

    def gathered(self) -> pa.Table:
        """All rows, on the driver: one job."""
        return _collected(self.frame, self.schema)

    def _of(self, frame: "DataFrame", schema: pa.Schema | None = None) -> "SparkFlow":
        """The rows of another frame, with no work left to be done on them."""
        return replace(self, source=frame, schema=schema or self.schema, work=None)


@dataclass(frozen=True, slots=True)
class DriverFlow:
    """Few rows, in the driver's process, as long as what is done with them works on few bytes of files.

    A job of Spark that sends rows through Python takes longer than all that is to be done with few.
    """

    local: LocalFlow
    executor: "OnSpark"

    @property
    def schema(self) -> pa.Schema:
        """The columns of every part."""
        return self.local.schema

    @property
    def is_spent(self) -> bool:
        """Never: this is no stream."""
        return False

    @property
    def frame(self) -> "DataFrame":
        """The rows as a DataFrame."""
        return self._spread.frame

    @property
    def _spread(self) -> SparkFlow:
        return self.executor.of_table(self.local.gathered())

    def at_rest(self) -> "DriverFlow":
        """The same: the rows can be read again."""
        return self

    def if_few(self) -> "DriverFlow":
        """The same."""
        return self

    def map(self, work: Work, schema: pa.Schema) -> "DriverFlow":
        """Each part as `work` returns it."""
        return self._with(self.local.map(work, schema))

    def widened(self, fields: Sequence[pa.Field]) -> "DriverFlow":
        """The rows with further columns, null everywhere."""
        return self._with(self.local.widened(fields))

    def shuffled(self, columns: Sequence[str], parts: int | None = None) -> "DriverFlow":
        """The rows in one part."""
        return self._with(self.local.shuffled(columns, parts))

    def spread(self, column: str, pieces: Sequence[_Task], size_of: Callable[[_Task], int]) -> "SparkFlow | DriverFlow":
        """The rows by the number in a column: in one part, or on Spark where the pieces work on many bytes."""
        if self.executor.is_little(pieces, size_of):
            return self._with(self.local.spread(column, pieces, size_of))
        return self._spread.spread(column, pieces, size_of)

    def ordered(self, columns: Sequence[str]) -> "DriverFlow":
        """The rows sorted by columns."""
        return self._with(self.local.ordered(columns))

    def joined(self, other: "SparkFlow | DriverFlow", on: Sequence[str]) -> "SparkFlow | DriverFlow":
        """Left outer join by columns that both have."""
        if isinstance(other, DriverFlow):
            return self._with(self.local.joined(other.local, on))
        return self._spread.joined(other, on)

    def together(self, other: "SparkFlow | DriverFlow") -> "SparkFlow | DriverFlow":
        """The parts of both."""
        if isinstance(other, DriverFlow):
            return self._with(self.local.together(other.local))
        return self._spread.together(other)

    @contextmanager
    def kept(self) -> "Iterator[DriverFlow]":
        """The same: parts are kept anyway."""
        yield self

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """How many rows there are of each combination of values."""
        return self.local.counted(columns)

    def gathered(self) -> pa.Table:
        """All rows, as one table."""
        return self.local.gathered()

    def _with(self, local: LocalFlow) -> "DriverFlow":
        return DriverFlow(local, self.executor)


@dataclass(frozen=True, slots=True)
class OnSpark:
    """The executor that scales; `identify` replaces who Spark says that a task is, for tests.

    `driver_bytes`: up to how many bytes of files and rows are worked on by the driver itself.
    """

    spark: "SparkSession"
    identify: Identify | None = None
    driver_bytes: int = 0

    @classmethod
    def of(cls, spark: "SparkSession") -> "OnSpark":
        """As the session has it: its driver works on few bytes itself.

        Where executors are threads of the driver these are as many as Spark would give to one task, since one thread
        writes; elsewhere they are fewer, whatever memory the driver has.

        Raises:
            HudiError: CONFIG_INVALID for a setting that is no number of bytes.

        """
        given = spark.conf.get(DRIVER_BYTES, None)
        if given is not None:
            if not given.isdecimal():
                message = f"{DRIVER_BYTES} is {given!r}"
                raise HudiError(Reason.CONFIG_INVALID, "OW-014", message, hint="give a number of bytes, 0 for none")
            return cls(spark, None, int(given))
        context = spark.sparkContext
        local = context.master.startswith("local") and not context.master.startswith("local-cluster")
        return cls(spark, None, TASK_BYTES if local else _ON_A_DRIVER)

    def is_little(self, tasks: Sequence[_Task], size_of: Callable[[_Task], int] | None) -> bool:
        """Whether tasks work on so few bytes that the driver carries them out; of unknown bytes it takes few tasks."""
        if not self.driver_bytes:
            return False
        if size_of is None:
            return len(tasks) * UNKNOWN_BYTES <= min(self.driver_bytes, _ON_A_DRIVER)
        return sum(map(size_of, tasks)) <= self.driver_bytes

    def rows(self, source: Any) -> SparkFlow | DriverFlow:
        """The rows of a DataFrame or an Arrow table; a flow as it is.

        Raises:
            HudiError: CONFIG_INVALID for anything else; streams are written by `write_arrow`.

        """
        if isinstance(source, SparkFlow | DriverFlow):
            return source
        if isinstance(source, pa.Table):
            few = self.driver_bytes and source.nbytes <= self.driver_bytes
            return DriverFlow(InProcess(self.identify).of_table(source), self) if few else self.of_table(source)
        from pyspark.sql.types import StructType  # noqa: PLC0415 - pyspark is optional

        if not isinstance(getattr(source, "schema", None), StructType):
            message = f"the rows are of type {type(source).__name__}"
            hint = "give a DataFrame or an Arrow table; write_arrow takes streams"
            raise HudiError(Reason.CONFIG_INVALID, "OW-014", message, hint=hint)
        return SparkFlow(source, arrow_schema(source.schema), self.identify, None, self.driver_bytes)

    def query(self, storage: Storage, query: Query) -> SparkFlow:
        """The rows that a query of a table answers."""
        plan = plan_query(storage, query)
        rows = run_on_spark(self.spark, plan, storage, _unreported)
        return SparkFlow(rows, plan.schema, self.identify, None, self.driver_bytes)

    def tasks(
        self,
        tasks: Sequence[_Task],
        run: Callable[[_Task, TaskIdentity], pa.Table],
        schema: pa.Schema,
        size_of: Callable[[_Task], int] | None = None,
    ) -> SparkFlow | DriverFlow:
        """A few for each Spark task; the descriptions go to each executor once. The driver runs those of few bytes.

        Spark knows no size of the rows, and so chooses joins when it has seen them: by the size of the numbers it would
        broadcast the keys of a whole table through the driver.
        """
        if self.is_little(tasks, size_of):
            return DriverFlow(InProcess(self.identify).tasks(tasks, run, schema, size_of), self)
        if not tasks:
            empty = self.spark.createDataFrame([], spark_schema(wire_schema(schema)))
            return SparkFlow(empty, schema, self.identify)
        packs = packed(self.spark, tasks, size_of or _unknown)
        described = self.spark.sparkContext.broadcast(tuple(map(tuple, packs)))
        numbers = _planned(self.spark.range(0, len(packs), 1, len(packs)))
        flow = SparkFlow(numbers, pa.schema([pa.field("id", pa.int64())]), self.identify)
        return flow.map(_Described(described, run), schema)

    def of_table(self, table: pa.Table) -> SparkFlow:
        """An Arrow table in partitions of Spark, without a Python object for a row."""
        wire = wire_schema(table.schema)
        batches = table.cast(wire).combine_chunks().to_batches(max_chunksize=BATCH_ROWS)
        described = self.spark.sparkContext.broadcast([_ipc(batch) for batch in batches])
        if not batches:
            return SparkFlow(self.spark.createDataFrame([], spark_schema(wire)), table.schema, self.identify)
        numbers = self.spark.range(0, len(batches), 1, min(len(batches), self.spark.sparkContext.defaultParallelism))

        def read(numbered: Iterable[pa.RecordBatch]) -> _Batches:
            spare_archives()
            for batch in numbered:
                for number in batch.column(0):
                    yield from pa.ipc.open_stream(described.value[number.as_py()])

        return SparkFlow(numbers.mapInArrow(read, spark_schema(wire)), table.schema, self.identify)


def _unknown(task: object) -> int:
    del task
    return UNKNOWN_BYTES


@dataclass(frozen=True, slots=True)
class _Chain:
    """Work upon work on parts of a schema; each step with the columns that it leaves."""

    schema: pa.Schema
    steps: tuple[tuple[Work, pa.Schema], ...]

    def __call__(self, part: pa.Table, identity: TaskIdentity) -> pa.Table:
        for work, schema in self.steps:
            part = work(part, identity).cast(schema)
        return part


@dataclass(frozen=True, slots=True)
class _Described:
    """Runs the packs of tasks whose numbers a part has."""

    described: Any
    run: Callable[[Any, TaskIdentity], pa.Table]

    def __call__(self, part: pa.Table, identity: TaskIdentity) -> pa.Table:
        packs = [self.described.value[number] for number in part.column(0).to_pylist()]
        return pa.concat_tables([self.run(task, identity) for pack in packs for task in pack])


def _on_parts(
    chain: _Chain, wire: pa.Schema, identify: Identify | None
) -> Callable[[Iterable[pa.RecordBatch]], _Batches]:
    def run(batches: Iterable[pa.RecordBatch]) -> _Batches:
        spare_archives()
        whole = list(batches)
        if sum(batch.num_rows for batch in whole):
            part = pa.Table.from_batches(whole).cast(chain.schema)
            del whole
            with _errors_as_text():
                yield from _batches(chain(part, _identity(identify)), wire)

    return run


def _identity(identify: Identify | None) -> TaskIdentity:
    from pyspark import TaskContext  # noqa: PLC0415 - pyspark is optional

    context = TaskContext.get()
    assert context is not None
    if identify is not None:
        return identify(context.partitionId())
    return TaskIdentity(context.partitionId(), context.stageId(), context.taskAttemptId())


@contextmanager
def _errors_as_text() -> Iterator[None]:
    """Only text crosses from a Python worker to the driver."""
    try:
        with boundary():
            yield
    except (HudiError, UnsupportedFeature) as error:
        raise RuntimeError(to_text(error)) from error


def _batches(table: pa.Table, wire: pa.Schema) -> _Batches:
    yield from table.cast(wire).combine_chunks().to_batches(max_chunksize=BATCH_ROWS)


def _planned(frame: "DataFrame") -> "DataFrame":
    """The rows of a frame as Spark runs it: in partitions chosen by what its shuffles wrote, without an estimated size.

    Spark 3.5 does not choose the partitions of a frame that is persisted: some rows in `spark.sql.shuffle.partitions`
    partitions then cost as many Python tasks, each time that they are read.

    Raises:
        HudiError, UnsupportedFeature: what a task raised.

    """
    from pyspark.sql import DataFrame  # noqa: PLC0415 - pyspark is optional

    session = frame.sparkSession
    with _typed_errors(session):
        rows = frame._jdf.queryExecution().toRdd()  # noqa: SLF001 - PySpark has no public name for it
    planned = session._jsparkSession.internalCreateDataFrame(rows, frame._jdf.schema(), False)  # noqa: SLF001
    return DataFrame(planned, session)


def _is_sized(frame: "DataFrame", most: int) -> bool:
    """Whether Spark knows that a frame has no more than so many bytes, without having computed it.

    Never where Spark bounds no result: it takes compressed bytes of files for those of rows.

    Raises:
        HudiError, UnsupportedFeature: what literal rows raised, which Spark computes when it plans.

    """
    if frame.sparkSession.conf.get(_MOST_RESULTS, "1g").strip("bkmgtpBKMGTP ") == "0":
        return False
    with _typed_errors(frame.sparkSession):
        plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - PySpark has no public name for it
    return int(str(plan.stats().sizeInBytes())) <= most and _are_sized(plan)


def _are_sized(plan: Any) -> bool:
    if plan.nodeName() == "InMemoryRelation":
        return bool(plan.cacheBuilder().isCachedColumnBuffersLoaded())
    if plan.nodeName() == "Project" and not all(map(_is_bounded, _each(plan.projectList()))):
        return False
    return plan.nodeName() in _SIZED and all(map(_are_sized, _each(plan.children())))


def _is_bounded(column: Any) -> bool:
    """Whether a column has the bytes that Spark counts: a computed text counts 20, however long it is."""
    if column.dataType().typeName().split()[0] not in _OF_ANY_LENGTH:
        return True
    while column.nodeName() == "Alias":
        column = column.child()
    short = column.nodeName() == "Literal" and len(column.toString()) <= _SHORT
    return short or bool(column.nodeName() == "AttributeReference")


def _each(found: Any) -> Iterator[Any]:
    return (found.apply(number) for number in range(found.size()))


def _on_driver(frame: "DataFrame", schema: pa.Schema, most: int) -> pa.Table | None:
    """All rows of a frame, in the order of its partitions, without a Python object for a row.

    None where they are more, against what Spark knew of them, than so many bytes or than it gives to a driver.

    Raises:
        HudiError, UnsupportedFeature: what a task raised.

    """
    from pyspark.sql import functions  # noqa: PLC0415 - pyspark is optional

    # No partition gives more rows than all of them may have: values that repeat take hardly a byte of a file.
    limit = min(most // max(_row_bytes(schema), 1), _IN_PARTITION)
    number = functions.monotonically_increasing_id().bitwiseAND(_IN_PARTITION)
    try:
        with _typed_errors(frame.sparkSession):
            cut = frame.where(number <= limit)
            batches = cut._collect_as_arrow()  # noqa: SLF001 - PySpark has no public name for it before 4.0
    except Exception as error:
        if _MOST_RESULTS not in str(error):
            raise
        return None
    if sum(batch.num_rows for batch in batches) > limit:
        return None
    return pa.Table.from_batches(batches).cast(schema) if batches else schema.empty_table()


def _row_bytes(schema: pa.Schema) -> int:
    """The fewest bytes that a row has: those of columns of one width, an offset for each other column."""
    return sum(max(one.type.bit_width // 8, 1) if pa.types.is_primitive(one.type) else 4 for one in schema)


def _collected(frame: "DataFrame", schema: pa.Schema) -> pa.Table:
    """A small result on the driver.

    Raises:
        HudiError, UnsupportedFeature: what a task raised.

    """
    with _typed_errors(frame.sparkSession):
        rows = frame.collect()
    columns = [pa.array([row[number] for row in rows], field.type) for number, field in enumerate(schema)]
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def _typed_errors(session: "SparkSession") -> "Iterator[None]":
    """An error that a task raised, as it was raised there, when the job's other tasks have ended."""
    try:
        yield
    except Exception as error:
        _await_tasks_of_failed_jobs(session)
        typed = from_text(str(error))
        if typed is None:
            raise
        raise typed from error


def _await_tasks_of_failed_jobs(session: "SparkSession") -> None:
    """Wait until they have ended: Spark fails a job at once, and the abort of a write removes what tasks have written.

    No longer than a minute: a task that hangs must not hide the error.
    """
    context = session.sparkContext
    tracker = context.statusTracker()
    latest = sorted(tracker.getJobIdsForGroup(context.getLocalProperty("spark.jobGroup.id")))[-_LATEST_JOBS:]
    failed = [job for job in map(tracker.getJobInfo, latest) if job is not None and job.status == "FAILED"]
    end = time.monotonic() + _ENDING_S
    for stage in {stage for job in failed for stage in job.stageIds}:
        while (found := tracker.getStageInfo(stage)) is not None and found.numActiveTasks and time.monotonic() < end:
            time.sleep(_POLL_S)


def _unreported(skipped: object) -> None:
    """A read for a write reports nothing of skipped bytes: readers are informed."""
    del skipped


def _ipc(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())
