"""What a write does with rows, whoever runs it: `Flow` and `Executor`, and the rows that a caller gives.

Planning composes flows out of pure functions over Arrow tables; only an executor knows where they run.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, Protocol, TypeVar

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason
from hudi_spark.read.planning import Query

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
    """Rows in parts, computed when a result is requested."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of every part."""

    @property
    def is_spent(self) -> bool:
        """Whether the source is a stream that has no row: it may have been read before."""

    def at_rest(self) -> "Flow":
        """The same, with a source that can be read only once read to its end and stored."""

    def if_few(self) -> "Flow":
        """The rows in this process, where they are known to be few; else the same."""

    def map(self, work: Work, schema: pa.Schema) -> "Flow":
        """Each part as `work` returns it, in columns of `schema`."""

    def widened(self, fields: Sequence[pa.Field]) -> "Flow":
        """The rows with further columns, null everywhere."""

    def shuffled(self, columns: Sequence[str], parts: int | None = None) -> "Flow":
        """The rows anew in parts: rows with equal values in the columns are in one part."""

    def spread(self, column: str, pieces: Sequence[_Task], size_of: Callable[[_Task], int]) -> "Flow":
        """The rows anew in parts by a column of numbers of pieces of work: those of one number are in one part.

        `size_of`: how many bytes a piece works on, asked where small ones may share a part.
        """

    def ordered(self, columns: Sequence[str]) -> "Flow":
        """The rows sorted by columns, across all parts."""

    def joined(self, other: Any, on: Sequence[str]) -> "Flow":
        """Left outer join: each row with the further columns of the other's rows that are equal in `on`."""

    def together(self, other: Any) -> "Flow":
        """The parts of both."""

    def kept(self) -> AbstractContextManager["Flow"]:
        """The same, computed once however often it is requested."""

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

    def tasks(
        self,
        tasks: Sequence[_Task],
        run: Callable[[_Task, TaskIdentity], pa.Table],
        schema: pa.Schema,
        size_of: Callable[[_Task], int] | None = None,
    ) -> Flow:
        """What `run` returns for each task, in parts.

        `size_of`: how many bytes a task works on, asked where small ones may share a part.
        """


_UNNAMED_INDEX: Final = re.compile(r"__index_level_[0-9]+__")
_HINT: Final = (
    "give an Arrow table, a RecordBatchReader, anything with __arrow_c_stream__, or an iterator of record batches"
)


@dataclass(frozen=True, slots=True)
class Batches:
    """Record batches of one schema that can be read only once."""

    schema: pa.Schema
    batches: Iterable[Any] = field(repr=False)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for one of another schema, CONFIG_INVALID for what is no batch, or where
                Arrow or the operating system cannot read on.

        """
        for number, item in enumerate(_while_given(iter(self.batches))):
            yield from self._checked(item, number)

    def _checked(self, item: Any, number: int) -> list[pa.RecordBatch]:
        if not isinstance(item, pa.RecordBatch | pa.Table):
            raise _no_rows(f"item {number} of the rows is of type {type(item).__name__}")
        if not item.schema.equals(self.schema):
            message = (
                f"batch {number} of the rows has the columns {_columns(item.schema)}, the first {_columns(self.schema)}"
            )
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint="cast the batches to one schema")
        return item.to_batches() if isinstance(item, pa.Table) else [item]


def arrow_rows(source: Any) -> pa.Table | Batches:
    """The rows of a source: a table where they can be read again, else batches.

    Raises:
        HudiError: CONFIG_INVALID for what holds no rows of Arrow, and for an index of pandas that has no name.

    """
    rows = _rows_of(source)
    # pandas hands it over as a column, which a write would add to the table for good.
    index = [name for name in rows.schema.names if _UNNAMED_INDEX.fullmatch(name)]
    if index and b"pandas" in (rows.schema.metadata or {}):
        hint = "call frame.reset_index(drop=True) first, or give the index a name to store it"
        raise HudiError(
            Reason.CONFIG_INVALID, "OW-014", f"the rows have an index without a name: {index[0]}", hint=hint
        )
    return rows


def _rows_of(source: Any) -> pa.Table | Batches:
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, dict):
        return _table_of(source)
    reader = _reader(source)
    if reader is not None:
        return Batches(reader.schema, reader)
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return _batches_of(iter(source))
    raise _no_rows(f"the rows are of type {type(source).__name__}")


def _table_of(columns: dict[str, Any]) -> pa.Table:
    try:
        return pa.table(columns)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _no_rows(f"the columns given are no table: {error}") from error


def _reader(source: Any) -> Any:
    """A reader of what Arrow knows as a stream; None where it does not."""
    if isinstance(source, pa.RecordBatchReader):
        return source
    if hasattr(source, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(source)
    if hasattr(source, "__arrow_c_array__"):
        return pa.RecordBatchReader.from_batches((batch := pa.record_batch(source)).schema, [batch])
    if hasattr(source, "scanner"):  # a data set
        source = source.scanner()
    return source.to_reader() if hasattr(source, "to_reader") else None


def _while_given(items: Iterator[Any]) -> Iterator[Any]:
    """The items; where the source fails, the error says so: it is no error of the table's storage."""
    try:
        for item in items:  # noqa: UP028 - who takes only the first item does not close the source
            yield item
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, HudiError):  # of another table that is read
            raise
        message = f"the stream of rows broke off: {error or type(error).__name__}"
        hint = "nothing was written: look at where the rows come from, and give them anew"
        raise HudiError(Reason.CONFIG_INVALID, "OW-014", message, hint=hint) from error


def _batches_of(items: Iterator[Any]) -> Batches:
    first = next(_while_given(items), None)
    if first is None:
        raise _no_rows("the rows are an iterator that has nothing left, not even the names of columns")
    if not isinstance(first, pa.RecordBatch | pa.Table):
        raise _no_rows(f"the rows are an iterator of {type(first).__name__}")
    return Batches(first.schema, chain([first], items))


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{one.name}: {one.type}" for one in schema)


def _no_rows(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "OW-014", message, hint=_HINT)
