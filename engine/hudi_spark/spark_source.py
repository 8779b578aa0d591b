"""`hudi_py`, a format of Spark 4: a data source in Python with the options of Hudi's own; without a bundle `hudi`, too.

    spark.read.format("hudi_py").options(**options).load(path)                  rows, or a change feed
    spark.readStream.format("hudi_py").options(**options).load(path)            the same, as they are written
    frame.write.format("hudi_py").options(**options).mode("append").save(path)  one action
    frame.writeStream.format("hudi_py").options(**options).start(path)          one action for each batch

Spark plans reads and completes writes in a Python process without a session, and runs tasks in others. So the tasks of
a write store their rows as Arrow files in `.hoodie/.temp`, and the process that completes it writes these by the
engine, in parts, as `write_arrow` does with a stream. No row comes to the driver.
"""

import base64
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from hudi_format.storage import LocalStorage, Storage
from hudi_format.table.markers import MARKERS_FOLDER
from hudi_format.table.table_properties import holds_table

from hudi_spark.datasource import (
    AS_OF,
    BEGIN,
    CHANGES,
    END,
    IMAGES,
    LATEST,
    START,
    TYPE,
    GivenOptions,
    WritingDoor,
    kind_of_query,
)
from hudi_spark.errors import UnsupportedFeature, boundary
from hudi_spark.options import of_reads, refusal, the_catalogue
from hudi_spark.read import (
    EARLIEST,
    AnyPlan,
    AnyQuery,
    ChangesQuery,
    ChangeTask,
    IncrementalQuery,
    InProcess,
    Plan,
    Query,
    SliceRows,
    bytes_to_read,
    is_later,
    latest_checkpoint,
    plan_any,
    run_change_task,
    table_storage,
)
from hudi_spark.read.tasks import run_task
from hudi_spark.schema import key_text
from hudi_spark.spark import (
    arrow_schema,
    batches_of_pack,
    check_session,
    files_of_changes,
    is_connect,
    packed_for,
    spark_schema,
    use_same_python,
    wire_schema,
)
from hudi_spark.table_state import GivenInstants

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT: Final = "hudi_py"
BUNDLED: Final = "hudi"
"""The format of Apache Hudi's bundles."""
_NO_FORMAT: Final = "DATA_SOURCE_NOT_FOUND"
_AT: Final = "completed"
"""In an offset of a stream: the time up to which rows have been read."""
_FEED: Final = pa.schema([(name, pa.string()) for name in ("op", "ts_ms", *IMAGES)])


_ON_SPARK_3: Final = (
    "Spark 3 has no data sources in Python: call load(spark, path, options) and save(frame, path, options, mode), which"
    " take the options of Hudi's own; the page 'Every way in' of the documentation (docs/tutorials/every-way-in.md)"
    " shows them"
)


def register(spark: "SparkSession") -> None:
    """Make `hudi_py` a format of a session of Spark 4, with the options of `load` and `save`.

    Where no bundle of Apache Hudi is on the class path, `hudi` is the same format.
    A frame reads the state of its first job, whole: its filters are Spark's, and skip no file. A table may be given a
    name, `CREATE TEMPORARY VIEW name USING hudi_py OPTIONS (path '...')`, which SELECT and INSERT take. A client of
    Spark Connect has all of it where the server's Python has this package.

    A stream of reads has in each batch the rows that were written since the last one, as they are at its end, or the
    change feed (`hoodie.datasource.query.incremental.format=cdc`). It begins after
    `hoodie.datasource.streaming.startOffset`: `earliest` by default, `latest`, or an instant. Its offsets are the times
    of `HudiTable.latest_checkpoint`.

    A write in mode `append` or `overwrite` is that of `save`; Spark itself refuses the other modes for a format in
    Python. The rows of a batch of a stream are written once however often Spark brings it: the commit says which batch
    of `hoodie.datasource.write.streaming.checkpoint.identifier` it was, as for `HudiTable.write_batch`.

    Raises:
        HudiError: CONFIG_INVALID for what is no session that runs.
        UnsupportedFeature: Spark 3 has no data sources in Python.

    Clauses: RD-001, RD-012, CD-002, IN-002, IN-003, OW-001, OW-014.

    """
    check_session(spark, takes_connect=True)
    if not hasattr(spark, "dataSource"):
        raise UnsupportedFeature("data-source-on-spark-3", _ON_SPARK_3)
    if not is_connect(spark):
        use_same_python(spark)
    spark.dataSource.register(_source(FORMAT))
    # Beside a bundle Spark would refuse the name as that of two sources.
    if not _has_format(spark, BUNDLED):
        spark.dataSource.register(_source(BUNDLED))


def _has_format(spark: "SparkSession", name: str) -> bool:
    """Whether a session has a format, of its class path or registered; an error of another kind counts as yes."""
    try:
        spark.read.format(name).load().schema  # noqa: B018 - a client of Spark Connect requests it here
    except Exception as error:  # noqa: BLE001 - a bundle raises errors of its own without a path
        return _NO_FORMAT not in str(error)
    return True


def _source(format_name: str) -> type:
    """The data source under a name; its base class is there on Spark 4 only."""
    from pyspark.sql.datasource import DataSource  # noqa: PLC0415

    reader, stream, writer, sink = _reader(), _stream(), *_writers()

    class HudiSource(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return format_name

        def schema(self) -> Any:
            found = spark_schema(wire_schema(_TableQuery.of(self.options).schema()))
            return _remembering(found, self.options) if self.options.keys() >= _CATALOG else found

        def reader(self, schema: Any) -> Any:
            return reader(self.options or _remembered(schema), schema)

        def streamReader(self, schema: Any) -> Any:  # noqa: N802 - the name that Spark calls
            return stream(self.options, schema)

        def writer(self, schema: Any, overwrite: bool) -> Any:
            return writer(_StagedWrite.of(self.options, schema, overwrite=overwrite))

        def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802 - the name that Spark calls
            return sink(_StagedWrite.of(self.options, schema, overwrite=overwrite))

    return HudiSource


def _reader() -> type:
    from pyspark.sql.datasource import DataSourceReader  # noqa: PLC0415

    class HudiReader(DataSourceReader):  # type: ignore[misc]
        def __init__(self, options: Mapping[str, str], schema: Any) -> None:
            self._table, self._schema = _TableQuery.of(options), schema
            kind_of_query(self._table.given.query)

        # Without pushFilters: Spark keeps the partitions of the query before for the next one of the frame.
        def partitions(self) -> Sequence[Any]:
            return _partitions(*self._table.planned(self._schema.names), self._schema)

        def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
            return _rows(partition)

    return HudiReader


def _stream() -> type:
    from pyspark.sql.datasource import DataSourceStreamReader  # noqa: PLC0415

    class HudiStream(DataSourceStreamReader):  # type: ignore[misc]
        def __init__(self, options: Mapping[str, str], schema: Any) -> None:
            self._table, self._schema = _TableQuery.of(options), schema
            self._table.check_stream()

        def initialOffset(self) -> dict[str, str]:  # noqa: N802 - the names that Spark calls
            return {_AT: self._table.start()}

        def latestOffset(self) -> dict[str, str]:  # noqa: N802
            return {_AT: self._table.newest()}

        def partitions(self, start: dict[str, str], end: dict[str, str]) -> Sequence[Any]:
            first, last = start[_AT], end[_AT]
            if not is_later(last, first):
                return []
            return _partitions(*self._table.between(first, last, self._schema.names), self._schema)

        def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
            return _rows(partition)

        def commit(self, end: dict[str, str]) -> None:
            """Nothing is kept of a stream but the offsets that Spark keeps."""

    return HudiStream


def _writers() -> tuple[type, type]:
    """The classes that write a frame, and the batches of a stream."""
    from pyspark.sql.datasource import (  # noqa: PLC0415
        DataSourceArrowWriter,
        DataSourceStreamArrowWriter,
        WriterCommitMessage,
    )

    class Staging:
        def __init__(self, staged: _StagedWrite) -> None:
            self._staged = staged

        def write(self, iterator: Iterator[pa.RecordBatch]) -> Any:
            message = WriterCommitMessage()
            message.files = self._staged.store(iterator)
            return message

        # A batch of a stream has a number, which Spark hands over behind the messages.
        def commit(self, messages: list[Any], *batch: int) -> None:
            self._staged.commit(_files(messages), *batch)

        def abort(self, messages: list[Any], *batch: int) -> None:  # noqa: ARG002 - the call of Spark
            self._staged.forget()

    class HudiWriter(Staging, DataSourceArrowWriter):  # type: ignore[misc]
        """Of a frame."""

    class HudiSink(Staging, DataSourceStreamArrowWriter):  # type: ignore[misc]
        """Of a stream."""

    return HudiWriter, HudiSink


def _files(messages: Iterable[Any]) -> list[str]:
    return [name for message in messages if message is not None for name in message.files]


_PREFIX: Final = "hudi_py-"
_OWN_FOLDER: Final = ".hoodie"
_STAGED_BYTES: Final = 1 << 26
_LEFT_FOR: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class _StagedWrite:
    """The rows of a write as its tasks have stored them, and the write.

        .hoodie/.temp/hudi_py-<write>-<file>.arrow

    Only files that a task has reported are written: those of a task that failed, or was run twice, go unread with the
    others, when the write has completed or was taken back. What a process leaves that ends before goes with a later
    write, after a day.
    """

    path: str
    given: GivenOptions
    schema: pa.Schema
    mode: str
    name: str

    @classmethod
    def of(cls, options: Mapping[str, str], schema: Any, *, overwrite: bool) -> "_StagedWrite":
        path, given = _named(options)
        given.check_write()
        # Spark makes one object for the tasks of a stream's batch, and one for its commit.
        stream = next((text for name, text in options.items() if name.lower() == _CHECKPOINT), "")
        name = uuid.uuid5(uuid.NAMESPACE_URL, stream) if stream else uuid.uuid4()
        return cls(path, given, arrow_schema(schema), "overwrite" if overwrite else "append", name.hex)

    def store(self, batches: Iterable[pa.RecordBatch]) -> list[str]:
        """The rows of a task in files; their paths."""
        storage, files = self._storage(), []
        with boundary(self.path):
            for rows in _portions(batch.cast(self.schema) for batch in batches):
                file = f"{MARKERS_FOLDER}/{_PREFIX}{self.name}-{uuid.uuid4().hex}.arrow"
                storage.put(file, _serialised(rows, self.schema))
                files.append(file)
        return files

    def commit(self, files: Sequence[str], batch: int | None = None) -> None:
        """Write the rows of some files, as one action; where that fails nothing is left of them either."""
        storage = self._storage()

        def rows() -> Iterator[pa.RecordBatch]:
            for file in files:
                yield from pa.ipc.open_stream(pa.py_buffer(storage.read(file)))

        try:
            reader = pa.RecordBatchReader.from_batches(self.schema, rows())
            WritingDoor(storage, InProcess(), self.given).write(reader, self.schema, self.mode, batch)
        finally:
            self.forget(files)

    def forget(self, files: Sequence[str] = ()) -> None:
        """Remove what tasks have stored; of a table that never came to be, nothing is left."""
        storage = self._storage()
        before = (datetime.now(timezone.utc) - _LEFT_FOR).timestamp() * 1000
        with boundary(self.path):
            for one in storage.list_files(MARKERS_FOLDER, recursive=False):
                file = one.path.rpartition("/")[2]
                own = one.path in files or file.startswith(_PREFIX + self.name)
                if own or (file.startswith(_PREFIX) and one.modified_ms < before):
                    storage.delete(one.path)
            if not holds_table(storage) and not storage.list_files(_OWN_FOLDER):
                storage.delete_folder(_OWN_FOLDER)
                # The folder itself where this write has made it, which is to say where nothing else is in it.
                with suppress(OSError):
                    if isinstance(storage, LocalStorage):
                        Path(storage.resolve("")).rmdir()

    def _storage(self) -> Storage:
        return table_storage(self.path, self.given.storage)


def _portions(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Batches by about as many bytes as a file has."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= _STAGED_BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held


def _serialised(rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as output:
        for batch in rows:
            output.write_batch(batch)
    return sink.getvalue()


def _partitions(storage: Storage, plan: AnyPlan, declared: Any) -> list[Any]:
    """Tasks packed by their bytes, with the schema of the answer: the columns that a view or a table declares."""
    from pyspark.sql.datasource import InputPartition  # noqa: PLC0415

    cores, names = os.cpu_count() or 1, declared.names
    packs: Sequence[Sequence[Any]]
    run: Callable[[Any], SliceRows]
    if isinstance(plan, Plan):
        run, schema = run_task, wire_schema(plan.schema)
        packs = packed_for(cores, plan.tasks, lambda task: bytes_to_read(storage, task.files))
    else:
        run, schema = _Feed(), _FEED
        packs = packed_for(cores, plan.tasks, lambda task: bytes_to_read(storage, files_of_changes(task)))
    for own in spark_schema(schema):
        stored = own.dataType.simpleString()
        stated = declared[own.name].dataType.simpleString() if own.name in names else stored
        if stated != stored:
            message = f"the column {own.name!r} is {stored}, and is declared as {stated}"
            raise refusal(message, "declare it as it is, or leave the columns out")
    # Spark makes a partition of its own where there is none.
    return [InputPartition((tuple(pack), run, schema, names)) for pack in packs or [[]]]


def _rows(partition: Any) -> Iterator[pa.RecordBatch]:
    pack, run, schema, names = partition.value
    for batch in batches_of_pack(pack, run, schema, lambda _: None):
        yield batch.select(names)


@dataclass(frozen=True, slots=True)
class _Feed:
    """Runs a task of a change feed; the images as the JSON that Spark's `to_json` writes, in UTC.

    Clauses: CD-002.
    """

    def __call__(self, task: ChangeTask) -> SliceRows:
        found = run_change_task(task)
        time, operations, *images = found.rows.columns
        texts = [_json_column(one) for one in images]
        rows = pa.Table.from_arrays([operations, time, *texts], schema=_FEED)
        return SliceRows(rows, found.skipped)


def _json_column(column: pa.ChunkedArray) -> pa.Array:
    """A JSON text for each value, null for null."""
    texts = _json(column.combine_chunks(), column.type)
    return pa.array([None if text == _NULL else text for text in texts], pa.string())


_NULL: Final = "null"
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED: Final = str.maketrans({**{chr(code): f"\\u{code:04X}" for code in range(32)}, **_SHORT})


def _json(values: Any, kind: pa.DataType) -> list[str]:
    """Each value as Jackson writes it, which is what Spark writes JSON with."""
    if kinds.is_struct(kind):
        names = [_quoted(one.name) for one in kind]
        columns = [_json(pc.struct_field(values, number), one.type) for number, one in enumerate(kind)]
        made = (",".join(map("{}:{}".format, names, each)) for each in zip(*columns, strict=True))
        return _where_valid(values, [f"{{{text}}}" for text in made] if columns else ["{}"] * len(values))
    if kinds.is_list(kind):
        parts = _json(values.values, kind.value_type)
        return _where_valid(values, [f"[{','.join(parts[a:b])}]" for a, b in _ranges(values)])
    if kinds.is_map(kind):
        keys, items = _json(values.keys, kind.key_type), _json(values.items, kind.item_type)
        parts = list(map("{}:{}".format, keys, items))
        return _where_valid(values, [f"{{{','.join(parts[a:b])}}}" for a, b in _ranges(values)])
    return _where_valid(values, _json_leaves(values, kind))


def _ranges(values: Any) -> Iterator[tuple[int, int]]:
    offsets = values.offsets.to_pylist()
    return pairwise(offsets)


def _where_valid(values: Any, texts: list[str]) -> list[str]:
    return [text if valid else _NULL for text, valid in zip(texts, values.is_valid().to_pylist(), strict=True)]


def _json_leaves(values: Any, kind: pa.DataType) -> list[str]:
    """Numbers and truth values stand bare, all else as text; what is null is left to the caller."""
    if kinds.is_boolean(kind) or kinds.is_integer(kind) or kinds.is_decimal(kind) or kinds.is_time(kind):
        if kinds.is_time(kind):
            values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        return [str(one).lower() if isinstance(one, bool) else str(one) for one in values.to_pylist()]
    if kinds.is_floating(kind):
        texts = key_text(pa.chunked_array([values])).to_pylist()
        return [one if one and one[-1].isdigit() else f'"{one}"' for one in texts]
    return [_quoted(one or "") for one in _texts(values, kind)]


def _texts(values: Any, kind: pa.DataType) -> list[str | None]:
    found: list[str | None]
    if kinds.is_date(kind):
        found = key_text(pa.chunked_array([values])).to_pylist()
    elif kinds.is_timestamp(kind):
        moments = pc.floor_temporal(values, unit="millisecond").cast(pa.timestamp("ms"))
        found = pc.strftime(moments, format=f"%Y-%m-%dT%H:%M:%S{'Z' if kind.tz else ''}").to_pylist()
    elif kinds.is_binary(kind) or kinds.is_fixed_size_binary(kind):
        found = [base64.b64encode(one or b"").decode() for one in values.to_pylist()]
    else:
        found = values.cast(pa.string()).to_pylist()
    return found


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPED)}"'


# Of Spark itself, in what it hands down; its catalog adds these, and each option again.
_CHECKPOINT: Final = "checkpointlocation"
_CATALOG: Final = frozenset({"provider", "location"})
_SPARK: Final = frozenset({"path", _CHECKPOINT, "owner", *_CATALOG})
_AGAIN: Final = "option."


def _named(options: Mapping[str, str]) -> tuple[str, GivenOptions]:
    """The path of the table, and the other options under their own names: Spark hands names down in lower case."""
    names = {name.lower(): name for name in the_catalogue().names}
    own = {name: text for name, text in options.items() if name.lower() not in _SPARK and not name.startswith(_AGAIN)}
    given = GivenOptions.of({names.get(name, name): text for name, text in own.items()})
    path = next((text for name, text in options.items() if name.lower() == "path"), "")
    if not path:
        hint = (
            f'say spark.read.format("{FORMAT}").load(path), or CREATE TEMPORARY VIEW name USING {FORMAT} OPTIONS (path'
            " '...'); Spark hands no options of a table of its catalog to a format in Python: write to it by hudi_sql"
        )
        raise refusal("the path of the table is missing", hint)
    return path, given


_KEPT: Final = "hudi_py"


def _remembering(found: Any, options: Mapping[str, str]) -> Any:
    """A schema that says which table it is of: of a table of the catalog Spark hands the schema alone to a reader."""
    path, given = _named(options)
    if given.storage:
        raise refusal(f"{min(given.storage)} would stand in the catalog", "give it to the session or the environment")
    first = found.fields[0]
    first.metadata = {**first.metadata, _KEPT: {"path": path, **given.query, **given.configs}}
    return found


def _remembered(schema: Any) -> Mapping[str, str]:
    """The options of a table of the catalog.

    For reads only: rows that are inserted may have the schema of another table.
    """
    return schema.fields[0].metadata.get(_KEPT, {}) if schema.fields else {}


@dataclass(frozen=True, slots=True)
class _TableQuery:
    """A table and what is asked of it by the options of the format, without a session."""

    path: str
    given: GivenOptions

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "_TableQuery":
        return cls(*_named(options))

    @property
    def is_feed(self) -> bool:
        """Whether it is a change feed."""
        return self.given.query.get(CHANGES) == "cdc"

    def planned(self, names: Sequence[str] | None) -> tuple[Storage, AnyPlan]:
        """The plan of a query."""
        query = self.given.query
        kind = kind_of_query(query)
        with boundary(self.path):
            if kind == "incremental":
                begin, end = self._given(query[BEGIN]), self._given(query.get(END))
                return self._range(begin, end, names)
            as_of = self._given(query.get(AS_OF))
            configs = of_reads(self.given.configs)
            return self._plan(Query(as_of, names, None, True, kind == "read_optimized", configs=configs))

    def schema(self) -> pa.Schema:
        """The columns of a query, or of a stream."""
        query = {name: text for name, text in self.given.query.items() if name != START}
        if query.get(TYPE) == "incremental":
            query = {BEGIN: EARLIEST, **query}
        if CHANGES in query and TYPE not in query:
            query = {TYPE: "incremental", BEGIN: EARLIEST, **query}
        plan = replace(self, given=replace(self.given, query=query)).planned(None)[1]
        return plan.schema if isinstance(plan, Plan) else _FEED

    def check_stream(self) -> None:
        """Refuse what a stream does not have."""
        other = sorted(self.given.query.keys() - {TYPE, CHANGES, START})
        if other:
            raise refusal(f"{other[0]} is no option of a stream of {FORMAT}", f"say {START}, or leave it out")
        if self.given.query.get(TYPE, "incremental") != "incremental":
            raise refusal(f"a stream of {FORMAT} is an incremental query", f"leave out {TYPE}")

    def start(self) -> str:
        """Where a stream begins that has no offset yet."""
        text = self.given.query.get(START, EARLIEST)
        with boundary(self.path):
            return self._checkpoint() if text == LATEST else self._given(text)

    def newest(self) -> str:
        """Where a stream may end, which is never before its start."""
        text = self.given.query.get(START, EARLIEST)
        with boundary(self.path):
            found, start = self._checkpoint(), EARLIEST if text == LATEST else self._given(text)
        return found if is_later(found, start) else start

    def between(self, begin: str, end: str, names: Sequence[str]) -> tuple[Storage, AnyPlan]:
        """The plan of a batch of a stream."""
        with boundary(self.path):
            return self._range(begin, end, names)

    def _range(self, begin: str, end: str | None, names: Sequence[str] | None) -> tuple[Storage, AnyPlan]:
        configs = of_reads(self.given.configs)
        if self.is_feed:
            return self._plan(ChangesQuery(begin, end, commit_time=True, configs=configs))
        return self._plan(IncrementalQuery(None, names, None, True, configs=configs, begin=begin, end=end))

    def _plan(self, query: AnyQuery) -> tuple[Storage, AnyPlan]:
        storage = self._storage()
        return storage, plan_any(storage, query)

    @property
    def _given(self) -> GivenInstants:
        return GivenInstants(self._storage)

    def _checkpoint(self) -> str:
        return latest_checkpoint(self._storage()) or EARLIEST

    def _storage(self) -> Storage:
        return table_storage(self.path, self.given.storage)
