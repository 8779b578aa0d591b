"""The executor of this process: for small inputs, and for streams that are stored in parts.

A stream is read to its end before anything of a write is in storage, so that a stream that breaks off leaves nothing,
and a write that is tried again has its rows. What is stored lies in files without names (`TMPDIR` chooses the disk)
that are mapped into memory, and go with the process.
"""

import itertools
import mmap
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.storage import Storage, in_threads

from hudi_spark.read.flow import ROWS, Batches, TaskIdentity, Work, arrow_rows
from hudi_spark.read.planning import Query
from hudi_spark.read.queries import read_query
from hudi_spark.schema import joined

PART_BYTES: Final = 1 << 26
"""Rows are worked on in parts of about this size; as many bytes are kept in memory before anything is stored."""
# Every part that rows are sent to is an open file.
_MOST_PARTS: Final = 256
_SAMPLES_A_PART: Final = 1024

Identify = Callable[[int], TaskIdentity]
"""The identity of the task that works on the part of a number."""


class Stored:
    """Tables that are computed once, when first requested: in memory while they are few, on disk from then on."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        self._tables = iter(tables)
        self._parts: list[pa.Table] | None = None
        self._error: BaseException | None = None

    def __call__(self) -> list[pa.Table]:
        """All of them, in order.

        Raises:
            BaseException: what the tables raised, again at each call: what came before it is no whole.

        """
        if self._error is not None:
            raise self._error
        if self._parts is None:
            try:
                self._parts = self._stored()
            except BaseException as error:
                self._error = error
                raise
        return self._parts

    def _stored(self) -> list[pa.Table]:
        parts, held = [], 0
        for table in self._tables:
            held += table.nbytes
            parts.append(table if held <= PART_BYTES else _on_disk(table))
        return parts


_Task = TypeVar("_Task")


@dataclass(frozen=True, slots=True)
class StreamedFlow:
    """Parts that are computed anew whenever they are requested, one after the other, unless they are kept.

    `source`: the parts. `stream`: the stored rows that all of this comes from; their number of parts is that of every
    shuffle.
    """

    schema: pa.Schema
    identify: Identify = field(repr=False)
    stream: Stored = field(repr=False)
    source: Callable[[], Iterable[pa.Table]] = field(repr=False)

    @property
    def is_spent(self) -> bool:
        """Whether the stream, which is read to its end, has no row."""
        return not any(part.num_rows for part in self.stream())

    def at_rest(self) -> "StreamedFlow":
        """The same, with the stream read to its end."""
        self.stream()
        return self

    def if_few(self) -> "StreamedFlow":
        """The same: it is in this process."""
        return self

    def map(self, work: Work, schema: pa.Schema) -> "StreamedFlow":
        """Each part as `work` returns it."""

        def run() -> Iterator[pa.Table]:
            for number, part in enumerate(self.source()):
                yield work(part, self.identify(number)).cast(schema)

        return self._with(schema, run)

    def widened(self, fields: Sequence[pa.Field]) -> "StreamedFlow":
        """The rows with further columns, null everywhere."""
        schema = pa.schema([*self.schema, *fields])

        def widen(part: pa.Table, identity: TaskIdentity) -> pa.Table:
            del identity
            nothing = [pa.nulls(part.num_rows, one.type) for one in fields]
            return pa.Table.from_arrays([*part.columns, *nothing], schema=schema)

        return self.map(widen, schema)

    def shuffled(self, columns: Sequence[str], parts: int | None = None) -> "StreamedFlow":  # noqa: ARG002 - the number of bytes decides
        """The rows by the hash of some columns."""
        return self._divided(lambda part: _hashes(part, columns))

    def spread(
        self,
        column: str,
        pieces: Sequence[_Task],  # noqa: ARG002 - the rows' bytes decide
        size_of: Callable[[_Task], int],  # noqa: ARG002
    ) -> "StreamedFlow":
        """The rows by the number in a column."""
        return self._divided(lambda part: part.column(column).to_numpy())

    def ordered(self, columns: Sequence[str]) -> "StreamedFlow":
        """The rows sorted by columns: ranges of them in parts."""
        order = [(name, "ascending") for name in columns]

        def run() -> Iterator[pa.Table]:
            with self.kept() as kept:
                bounds = _bounds(list(kept.source()), order, self._parts)
                divided = kept._divided(lambda part: _ranges(part, bounds, order))  # noqa: SLF001 - of this class
                for part in divided.source():
                    yield part.sort_by(order)

        return self._with(self.schema, run)

    def joined(self, other: Any, on: Sequence[str]) -> "StreamedFlow":
        """Left outer join by columns that both have; the other's rows are those of a lookup, keys and places."""
        schema = pa.schema([*self.schema, *(one for one in other.schema if one.name not in on)])

        def run() -> Iterator[pa.Table]:
            with other.kept() as kept:
                others = kept.gathered()
                for part in self.source():
                    yield joined(part, others, on, schema)

        return self._with(schema, run)

    def together(self, other: Any) -> "StreamedFlow":
        """The parts of both."""
        return self._with(self.schema, lambda: chain(self.source(), [other.gathered()]))

    @contextmanager
    def kept(self) -> "Iterator[StreamedFlow]":
        """The same, computed once."""
        yield self._with(self.schema, Stored(self.source()))

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """How many rows there are of each combination of values."""
        names = list(columns)
        counts = [part.select(names).group_by(names).aggregate([([], "count_all")]) for part in self.source()]
        empty = self.schema.empty_table().select(names).group_by(names).aggregate([([], "count_all")])
        summed = pa.concat_tables([empty, *counts]).group_by(names).aggregate([("count_all", "sum")])
        return summed.rename_columns([*names, ROWS])

    def gathered(self) -> pa.Table:
        """All rows, as one table."""
        return pa.concat_tables([self.schema.empty_table(), *self.source()])

    @property
    def _parts(self) -> int:
        return min(max(len(self.stream()), 1), _MOST_PARTS)

    def _with(self, schema: pa.Schema, source: Callable[[], Iterable[pa.Table]]) -> "StreamedFlow":
        return StreamedFlow(schema, self.identify, self.stream, source)

    def _divided(self, numbers: Callable[[pa.Table], np.ndarray]) -> "StreamedFlow":
        """The rows anew in parts: those of one number (modulo the number of parts) are in one part."""

        def run() -> Iterator[pa.Table]:
            if self._parts == 1:
                return iter([self.gathered()])
            return _divided(self.source(), self.schema, self._parts, numbers)

        return self._with(self.schema, run)


def stream_of(batches: Batches, identify: Identify) -> StreamedFlow:
    """The rows of batches that can be read only once."""
    stream = Stored(_parts_of(batches, batches.schema))
    return StreamedFlow(batches.schema, identify, stream, stream)


def _parts_of(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    size = parts = 0
    for batch in batches:
        for piece in _pieces(batch):
            held.append(piece)
            size += piece.nbytes
            if size >= PART_BYTES:
                yield pa.Table.from_batches(held, schema)
                held, size, parts = [], 0, parts + 1
    if held or not parts:
        yield pa.Table.from_batches(held, schema)


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of about the size of a part."""
    count = max(-(-batch.nbytes // PART_BYTES), 1)
    rows = max(-(-batch.num_rows // count), 1)
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _divided(
    parts: Iterable[pa.Table], schema: pa.Schema, count: int, numbers: Callable[[pa.Table], np.ndarray]
) -> Iterator[pa.Table]:
    outputs = [_Output(schema) for _ in range(count)]
    for part in parts:
        places = numbers(part) % count
        order = np.argsort(places, kind="stable")
        rows, ends = part.take(order), np.searchsorted(places[order], np.arange(count + 1))
        for output, start, end in zip(outputs, ends, ends[1:], strict=False):
            if end > start:
                output.write(rows.slice(start, end - start))
    for output in outputs:
        yield output.table()


def _on_disk(table: pa.Table) -> pa.Table:
    output = _Output(table.schema)
    output.write(table)
    return output.table()


class _Output:
    """A file without a name: written first, then mapped into memory; it goes with the last of its rows."""

    def __init__(self, schema: pa.Schema) -> None:
        self._file = tempfile.TemporaryFile(prefix="hudi-rows-")  # noqa: SIM115 - closed when it is mapped
        self._writer = pa.ipc.new_stream(pa.PythonFile(self._file, "w"), schema)

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        self._writer.write_table(table)

    def table(self) -> pa.Table:
        """All rows that were added; none can be added after."""
        self._writer.close()
        self._file.flush()
        with self._file:
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()


def _hashes(part: pa.Table, columns: Sequence[str]) -> np.ndarray:
    texts = [pc.fill_null(part.column(name).cast(pa.string()), "") for name in columns]
    whole = pc.binary_join_element_wise(*texts, "\0").to_pylist()
    return np.fromiter((zlib.crc32(text.encode()) for text in whole), np.uint32, part.num_rows)


def _bounds(parts: Sequence[pa.Table], order: list[tuple[str, str]], count: int) -> pa.Table:
    """The rows at which each range but the first begins, by a sample of all rows; their sort columns."""
    names = [name for name, _ in order]
    sampled = [part.select(names).take(_spaced(part.num_rows, _SAMPLES_A_PART)) for part in parts]
    rows = pa.concat_tables(sampled).sort_by(order)
    return rows.take(_spaced(rows.num_rows, count)[1:])


def _spaced(rows: int, wanted: int) -> np.ndarray:
    return np.unique(np.linspace(0, rows, min(wanted, rows), endpoint=False, dtype=np.int64))


def _ranges(part: pa.Table, bounds: pa.Table, order: list[tuple[str, str]]) -> np.ndarray:
    """Of each row the number of its range: how many bounds stand before it when both are sorted together."""
    both = pa.concat_tables([part.select(bounds.column_names), bounds])
    places = pc.sort_indices(both, order).to_numpy()
    before = np.cumsum(places >= part.num_rows)
    found = np.empty(len(places), np.int64)
    found[places] = before
    return found[: part.num_rows]


_Source = Callable[[], list[pa.Table]]


@dataclass(frozen=True)
class LocalFlow:
    """Parts that are computed when first requested, and kept."""

    schema: pa.Schema
    source: _Source = field(repr=False)
    identify: Identify = field(repr=False)

    @property
    def parts(self) -> list[pa.Table]:
        """The parts, in order."""
        # A cached property of Python 3.11 has one lock for all objects: one writer's thread would wait for another's.
        kept = vars(self)
        if "_parts" not in kept:
            kept["_parts"] = self.source()
        found: list[pa.Table] = kept["_parts"]
        return found

    @property
    def is_spent(self) -> bool:
        """Never: this is no stream."""
        return False

    def at_rest(self) -> "LocalFlow":
        """The same: a table can be read again."""
        return self

    def if_few(self) -> "LocalFlow":
        """The same: it is in this process."""
        return self

    def map(self, work: Work, schema: pa.Schema) -> "LocalFlow":
        """Each part as `work` returns it."""

        def run(numbered: tuple[int, pa.Table]) -> pa.Table:
            return work(numbered[1], self.identify(numbered[0])).cast(schema)

        def parts() -> list[pa.Table]:
            return list(in_threads(run, list(enumerate(self.parts)), (part.nbytes for part in self.parts)))

        return LocalFlow(schema, parts, self.identify)

    def widened(self, fields: Sequence[pa.Field]) -> "LocalFlow":
        """The rows with further columns, null everywhere."""
        schema = pa.schema([*self.schema, *fields])

        def widen() -> list[pa.Table]:
            return [
                pa.Table.from_arrays([*part.columns, *_nothing(fields, part)], schema=schema) for part in self.parts
            ]

        return LocalFlow(schema, widen, self.identify)

    def shuffled(self, columns: Sequence[str], parts: int | None = None) -> "LocalFlow":  # noqa: ARG002 - one part is enough
        """All rows in one part: no two tasks can have equal values then."""
        return LocalFlow(self.schema, lambda: [self.gathered()], self.identify)

    def spread(self, column: str, pieces: Sequence[_Task], size_of: Callable[[_Task], int]) -> "LocalFlow":  # noqa: ARG002
        """As `shuffled`."""
        return self.shuffled([column], len(pieces))

    def ordered(self, columns: Sequence[str]) -> "LocalFlow":
        """All rows in one part, sorted."""
        order = [(name, "ascending") for name in columns]
        return LocalFlow(self.schema, lambda: [self.gathered().sort_by(order)], self.identify)

    def joined(self, other: "LocalFlow", on: Sequence[str]) -> "LocalFlow":
        """Each row with the columns of the other's equal rows."""
        further = [one for one in other.schema if one.name not in on]
        schema = pa.schema([*self.schema, *further])

        return LocalFlow(schema, lambda: [joined(self.gathered(), other.gathered(), on, schema)], self.identify)

    def together(self, other: "LocalFlow") -> "LocalFlow":
        """The parts of both."""
        return LocalFlow(self.schema, lambda: [*self.parts, *other.parts], self.identify)

    @contextmanager
    def kept(self) -> "Iterator[LocalFlow]":
        """The same: parts are kept anyway."""
        yield self

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """How many rows there are of each combination of values."""
        counts = self.gathered().select(list(columns)).group_by(list(columns)).aggregate([([], "count_all")])
        return counts.rename_columns([*columns, ROWS])

    def gathered(self) -> pa.Table:
        """All rows, as one table."""
        parts = self.parts
        return parts[0] if len(parts) == 1 else pa.concat_tables(parts or [self.schema.empty_table()])


@dataclass(frozen=True, slots=True)
class InProcess:
    """The executor without Spark; `identify` says who tasks are, which names their files."""

    identify: Identify | None = None

    def rows(self, source: Any) -> LocalFlow | StreamedFlow:
        """The rows of an Arrow table, in one part; those of a stream, stored when they are first requested; a flow.

        Raises:
            HudiError: CONFIG_INVALID for what holds no rows.

        """
        if isinstance(source, LocalFlow | StreamedFlow):
            return source
        rows = arrow_rows(source)
        return self.of_table(rows) if isinstance(rows, pa.Table) else stream_of(rows, self._identify)

    def of_table(self, rows: pa.Table) -> LocalFlow:
        """The rows of an Arrow table, in one part."""
        return LocalFlow(rows.schema, lambda: [rows], self._identify)

    def query(self, storage: Storage, query: Query) -> LocalFlow:
        """The rows that a query of a table answers."""
        return self.of_table(read_query(storage, query).rows)

    def tasks(
        self,
        tasks: Sequence[_Task],
        run: Callable[[_Task, TaskIdentity], pa.Table],
        schema: pa.Schema,
        size_of: Callable[[_Task], int] | None = None,
    ) -> LocalFlow:
        """A part for each task."""
        identify = self._identify

        def one(numbered: tuple[int, _Task]) -> pa.Table:
            return run(numbered[1], identify(numbered[0])).cast(schema)

        def parts() -> list[pa.Table]:
            return list(in_threads(one, list(enumerate(tasks)), map(size_of, tasks) if size_of else ()))

        return LocalFlow(schema, parts, identify)

    @property
    def _identify(self) -> Identify:
        return self.identify or _next_identity


_attempts = itertools.count(int.from_bytes(os.urandom(3), "big"))


def _next_identity(number: int) -> TaskIdentity:
    """An attempt that no other task of this process has, and hardly one of another."""
    return TaskIdentity(number, 0, next(_attempts))


def _nothing(fields: Sequence[pa.Field], part: pa.Table) -> list[pa.Array]:
    return [pa.nulls(part.num_rows, one.type) for one in fields]
