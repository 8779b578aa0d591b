"""Flows in this process: for small inputs, and so that many histories play in minutes."""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.storage import Storage

from hudi_spark.arrow_reading import read_query
from hudi_spark.execution.planning import Query
from hudi_spark.flows.flow import ROWS, TaskIdentity, Work

_Task = TypeVar("_Task")
_Source = Callable[[], list[pa.Table]]
Identify = Callable[[int], TaskIdentity]
"""The identity of the task that works on the part of a number."""


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

        def join() -> list[pa.Table]:
            rows, others = self.gathered(), other.gathered()
            # What cannot match needs no place in a hash table, which would not take columns of all types.
            first = others.column(on[0])
            others = others.filter(pc.is_in(first, value_set=rows.column(on[0]).combine_chunks()))
            pairs = _numbered(rows, on, "row").join(_numbered(others, on, "other"), list(on), join_type="left outer")
            pairs = pairs.sort_by([("row", "ascending"), ("other", "ascending")])
            left, right = rows.take(pairs.column("row")), others.take(pairs.column("other"))
            columns = [*left.columns, *(right.column(one.name) for one in further)]
            return [pa.Table.from_arrays(columns, schema=schema)]

        return LocalFlow(schema, join, self.identify)

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


def _numbered(rows: pa.Table, on: Sequence[str], name: str) -> pa.Table:
    return rows.select(list(on)).append_column(name, [pa.arange(0, rows.num_rows)])


@dataclass(frozen=True, slots=True)
class InProcess:
    """The executor without Spark; `identify` says who tasks are, which names their files."""

    identify: Identify | None = None

    def rows(self, source: Any) -> LocalFlow:
        """The rows of an Arrow table, in one part; a flow as it is."""
        if isinstance(source, LocalFlow):
            return source
        table = source if isinstance(source, pa.Table) else pa.table(source)
        return LocalFlow(table.schema, lambda: [table], self._identify)

    def query(self, storage: Storage, query: Query) -> LocalFlow:
        """The rows that a query of a table answers."""
        return self.rows(read_query(storage, query).rows)

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
