"""What a write does with rows, whoever runs it: `Flow` and `Executor`.

Planning composes flows out of pure functions over Arrow tables; only an executor knows where they run.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.execution.planning import Query

_Task = TypeVar("_Task")


@dataclass(frozen=True, slots=True)
class TaskIdentity:
    """Which task works on a part: its number, its stage, and the attempt, which no other task shares.

    Clauses: SL-023.
    """

    partition: int
    stage: int
    attempt: int

    @property
    def write_token(self) -> str:
        """The token in the names of the files that the task writes."""
        return f"{self.partition}-{self.stage}-{self.attempt}"


Work = Callable[[pa.Table, TaskIdentity], pa.Table]
"""One part in, one part out. A pure function but for the files it writes, and it can be pickled."""

ROWS = "rows"


class Flow(Protocol):
    """Rows in parts, computed when a result is asked for."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of every part."""

    @property
    def is_spent(self) -> bool:
        """Whether the source is a stream that has no row: it may have been read before."""

    def at_rest(self) -> Self:
        """The same, with a source that can be read only once read to its end and stored."""

    def map(self, work: Work, schema: pa.Schema) -> Self:
        """Each part as `work` returns it, in columns of `schema`."""

    def widened(self, fields: Sequence[pa.Field]) -> Self:
        """The rows with further columns, null everywhere."""

    def shuffled(self, columns: Sequence[str], parts: int | None = None) -> Self:
        """The rows anew in parts: rows with equal values in the columns are in one part."""

    def spread(self, column: str, parts: int) -> Self:
        """The rows anew in parts by a column of numbers from 0 up to `parts`: those of one number are in one part."""

    def ordered(self, columns: Sequence[str]) -> Self:
        """The rows sorted by columns, across all parts."""

    def joined(self, other: Self, on: Sequence[str]) -> Self:
        """Left outer join: each row with the further columns of the other's rows that are equal in `on`."""

    def together(self, other: Self) -> Self:
        """The parts of both."""

    def kept(self) -> AbstractContextManager[Self]:
        """The same, computed once however often it is asked for."""

    def counted(self, columns: Sequence[str]) -> pa.Table:
        """How many rows there are of each combination of values: the columns and `rows` (int64). One job on Spark."""

    def gathered(self) -> pa.Table:
        """All rows, to the caller: for small results only. One job on Spark."""


class Executor(Protocol):
    """Runs flows."""

    def rows(self, source: Any) -> Flow:
        """The rows of an Arrow table, of a DataFrame where this is Spark, of a stream where it is not, or of a flow.

        Raises:
            HudiError: CONFIG_INVALID for what it takes no rows from.

        """

    def query(self, storage: Storage, query: Query) -> Flow:
        """The rows that a query of a table answers."""

    def tasks(self, tasks: Sequence[_Task], run: Callable[[_Task, TaskIdentity], pa.Table], schema: pa.Schema) -> Flow:
        """What `run` returns for each task, in parts."""
