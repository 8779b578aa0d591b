"""Flows in this process: for small inputs, and so that many histories play in minutes."""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.arrays import joined
from hudi_spark.arrow_reading import read_query
from hudi_spark.execution.planning import Query
from hudi_spark.flows.flow import ROWS, TaskIdentity, Work
from hudi_spark.flows.sources import arrow_rows
from hudi_spark.flows.streamed import Identify, StreamedFlow, stream_of

_Task = TypeVar("_Task")
_Source = Callable[[], list[pa.Table]]


@dataclass(frozen=True)
class LocalFlow:
    """Parts that are computed when first asked for, and kept."""

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

    def map(self, work: Work, schema: pa.Schema) -> "LocalFlow":
        """Each part as `work` returns it."""

        def run(numbered: tuple[int, pa.Table]) -> pa.Table:
            return work(numbered[1], self.identify(numbered[0])).cast(schema)

        return LocalFlow(schema, lambda: _in_threads(run, list(enumerate(self.parts))), self.identify)

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

    def spread(self, column: str, parts: int) -> "LocalFlow":
        """As `shuffled`."""
        return self.shuffled([column], parts)

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
        """The rows of an Arrow table, in one part; those of a stream, stored when they are first asked for; a flow.

        Raises:
            HudiError: CONFIG_INVALID for what holds no rows.

        """
        if isinstance(source, LocalFlow | StreamedFlow):
            return source
        rows = arrow_rows(source)
        if isinstance(rows, pa.Table):
            return LocalFlow(rows.schema, lambda: [rows], self._identify)
        return stream_of(rows, self._identify)

    def query(self, storage: Storage, query: Query) -> LocalFlow:
        """The rows that a query of a table answers."""
        rows = read_query(storage, query).rows
        return LocalFlow(rows.schema, lambda: [rows], self._identify)

    def tasks(
        self, tasks: Sequence[_Task], run: Callable[[_Task, TaskIdentity], pa.Table], schema: pa.Schema
    ) -> LocalFlow:
        """A part for each task."""
        identify = self._identify

        def one(numbered: tuple[int, _Task]) -> pa.Table:
            return run(numbered[1], identify(numbered[0])).cast(schema)

        return LocalFlow(schema, lambda: _in_threads(one, list(enumerate(tasks))), identify)

    @property
    def _identify(self) -> Identify:
        return self.identify or _next_identity


_attempts = itertools.count(int.from_bytes(os.urandom(3), "big"))


def _next_identity(number: int) -> TaskIdentity:
    """An attempt that no other task of this process has, and hardly one of another."""
    return TaskIdentity(number, 0, next(_attempts))


def _in_threads(run: Callable[[Any], pa.Table], items: list[Any]) -> list[pa.Table]:
    if len(items) <= 1:
        return [run(item) for item in items]
    with ThreadPoolExecutor(max_workers=min(len(items), os.cpu_count() or 1)) as pool:
        return list(pool.map(run, items))


def _nothing(fields: Sequence[pa.Field], part: pa.Table) -> list[pa.Array]:
    return [pa.nulls(part.num_rows, one.type) for one in fields]
