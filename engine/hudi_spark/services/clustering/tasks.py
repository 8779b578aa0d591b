"""The tasks of a clustering: slices read as a snapshot reads them, put in order, written as new file groups.

Clauses: CL-004, CL-006, CL-007, CL-009.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from hudi_spark.arrays import parts_by
from hudi_spark.execution.tasks import SliceTask, run_task
from hudi_spark.files.written import WrittenFile, to_rows
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.services.clustering.layout import Layout, sample_of
from hudi_spark.writing.base_groups import store_rows
from hudi_spark.writing.columns import TARGET, TARGET_FIELD
from hudi_spark.writing.context import WriteContext
from hudi_spark.writing.rows import stamped

SAMPLES: Final = pa.schema([("group", pa.int32()), ("sample", pa.binary())])


@dataclass(frozen=True, slots=True)
class Output:
    """A new file group, by its number among all that the clustering writes."""

    number: int
    partition: str
    file_id: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What all tasks of a clustering share; `preserves`: rows keep what they say of their write.

    Clauses: CL-007.
    """

    context: WriteContext
    layout: Layout
    preserves: bool

    def read(self, slices: tuple[SliceTask, ...]) -> pa.Table:
        """The rows of slices, in the columns of the table."""
        names = self.context.schema.names
        parts = [run_task(one).rows.select(names).cast(self.context.schema) for one in slices]
        return pa.concat_tables(parts)

    def store(self, rows: pa.Table, output: Output, layout: Layout, identity: TaskIdentity) -> tuple[WrittenFile, ...]:
        """Rows in order, as a new file group, or several where they are more than a file is to have."""
        ordered = layout.ordered(rows)
        if not self.preserves:
            ordered = stamped(ordered, self.context.schema, self.context.requested, output.number)
        return store_rows(ordered, output.partition, output.file_id, self.context, identity)


@dataclass(frozen=True, slots=True)
class WholeOutput:
    """Slices that become one file group: read and written by one task."""

    slices: tuple[SliceTask, ...]
    output: Output


@dataclass(frozen=True, slots=True)
class WriteWhole:
    """Writes file groups of whole slices."""

    rewriting: Rewriting

    def __call__(self, task: WholeOutput, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows."""
        rows = self.rewriting.read(task.slices)
        return to_rows(self.rewriting.store(rows, task.output, self.rewriting.layout, identity))


@dataclass(frozen=True, slots=True)
class GroupSlice:
    """A slice of a clustering group whose rows are divided among several file groups by their order."""

    group: int
    slice: SliceTask


@dataclass(frozen=True, slots=True)
class Sampling:
    """A few rows of each slice, from which follows how a group is divided."""

    rewriting: Rewriting
    most: int

    def __call__(self, task: GroupSlice, identity: TaskIdentity) -> pa.Table:
        """The sample, packed: one row."""
        del identity
        rows = self.rewriting.read((task.slice,))
        packed = packed_table(sample_of(self.rewriting.layout, rows, self.most))
        return pa.table([[task.group], [packed]], schema=SAMPLES)


@dataclass(frozen=True, slots=True)
class Division:
    """How a clustering group is divided: its order, the keys between its parts, and the file group of each part."""

    layout: Layout
    boundaries: pa.Table = field(compare=False)
    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class Dividing:
    """The rows of a slice, each with the number of the file group that it goes to."""

    rewriting: Rewriting
    divisions: dict[int, Division] = field(hash=False)

    @property
    def schema(self) -> pa.Schema:
        """The columns afterwards."""
        return pa.schema([*self.rewriting.context.schema, TARGET_FIELD])

    def __call__(self, task: GroupSlice, identity: TaskIdentity) -> pa.Table:
        """The rows with numbers."""
        del identity
        rows, division = self.rewriting.read((task.slice,)), self.divisions[task.group]
        numbers = pa.array([one.number for one in division.outputs], pa.int32())
        parts = division.layout.parts_of(rows, division.boundaries)
        return rows.append_column(TARGET_FIELD, numbers.take(parts))


@dataclass(frozen=True, slots=True)
class WriteParts:
    """Writes the file groups whose rows have come together in a part."""

    rewriting: Rewriting
    divisions: dict[int, Division] = field(hash=False)

    def __call__(self, rows: pa.Table, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows."""
        return to_rows(tuple(self._written(rows, identity)))

    def _written(self, rows: pa.Table, identity: TaskIdentity) -> Iterator[WrittenFile]:
        known = {output.number: (output, one) for one in self.divisions.values() for output in one.outputs}
        for number, part in parts_by(rows, TARGET):
            output, division = known[number]
            own = part.drop_columns([TARGET])
            yield from self.rewriting.store(own, output, division.layout, identity)


def packed_table(table: pa.Table) -> bytes:
    """A small table as bytes, so that it crosses to the driver as one value."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpacked_table(data: bytes) -> pa.Table:
    """What `packed_table` packed."""
    return pa.ipc.open_stream(data).read_all()
