"""The groups of a plan rewritten: which tasks there are, and what they wrote.

one file of a group, or no order     a task reads whole slices and writes a file group      one job
several files in order               a sample says where to divide; rows are sent there     two jobs

Clauses: CL-001, CL-004, CL-006, CL-009.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa
from hudi_format.storage import Storage

from hudi_spark.execution.planning import Query, read_context, slice_task
from hudi_spark.execution.tasks import ReadContext, SliceTask
from hudi_spark.files.written import WRITTEN_SCHEMA, WrittenFile, from_rows
from hudi_spark.flows.flow import Executor
from hudi_spark.options.resolving import Options
from hudi_spark.readings import Readings
from hudi_spark.schemas.origins import Origins, origins_of
from hudi_spark.services.clustering.grouping import sized
from hudi_spark.services.clustering.inputs import Input
from hudi_spark.services.clustering.tasks import (
    SAMPLES,
    Dividing,
    Division,
    GroupSlice,
    Output,
    Rewriting,
    Sampling,
    WholeOutput,
    WriteParts,
    WriteWhole,
    unpacked_table,
)
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot

# Enough to cut a group into few parts of nearly one size.
_LEAST_SAMPLE = 1_000


def rewrite(
    executor: Executor, storage: Storage, groups: Sequence[Input], reading: "Reading", rewriting: Rewriting
) -> tuple[WrittenFile, ...]:
    """New file groups with the rows of the input groups.

    Raises:
        HudiError: what reading or writing a file raises.

    Clauses: CL-004, CL-006.

    """
    divided = [one for one in groups if rewriting.layout.columns and one.files > 1]
    whole = [one for one in groups if one not in divided]
    numbers = _Outputs(rewriting.context.requested)
    tasks = [task for one in whole for task in _whole_outputs(storage, one, reading, numbers)]
    written: tuple[WrittenFile, ...] = ()
    if tasks:
        written = from_rows(executor.tasks(tasks, WriteWhole(rewriting), WRITTEN_SCHEMA).gathered())
    return (*written, *(_rewritten_in_parts(executor, divided, reading, rewriting, numbers) if divided else ()))


@dataclass(frozen=True, slots=True)
class Reading:
    """Makes the tasks that read slices of a snapshot, with all columns."""

    context: ReadContext
    origins: Origins

    def tasks(self, slices: Sequence[FileSlice]) -> tuple[SliceTask, ...]:
        """A task for each slice."""
        return tuple(slice_task(one, self.context, self.origins) for one in slices)


def reading_of(storage: Storage, snapshot: Snapshot, readings: Readings, options: Options) -> Reading:
    """How the slices of a snapshot are read: as any snapshot query does.

    Clauses: CL-004.
    """
    query = Query(meta_columns=True, readings=readings, configs=options.values)
    return Reading(read_context(storage, query, snapshot), origins_of(storage, snapshot))


@dataclass(slots=True)
class _Outputs:
    """Numbers the new file groups, and names them after the plan and the slices that go into them.

    Whoever carries the same plan out names them alike: what a slow attempt leaves behind another that completed is no
    further file group then, which readers of listings would take for rows.

    Clauses: SL-023, CL-006.
    """

    requested: str
    given: int = 0

    def next(self, slices: Sequence[FileSlice]) -> Output:
        """The next file group, made of slices of one partition."""
        names = " ".join(sorted(one.file_id for one in slices))
        made = uuid.uuid5(uuid.NAMESPACE_OID, f"{self.requested} {slices[0].partition} {names} {self.given}")
        self.given += 1
        return Output(self.given - 1, slices[0].partition, f"{made}-0")


def _whole_outputs(storage: Storage, group: Input, reading: Reading, outputs: _Outputs) -> Iterator[WholeOutput]:
    """The slices of a group shared out among its files, the largest first, each to the one that has least."""
    for partition, each in groupby(group.slices, lambda one: one.partition):
        slices = sorted(sized(storage, partition, each), key=lambda one: -(one.base + one.logs))
        shares: list[list[FileSlice]] = [[] for _ in range(max(min(group.files, len(slices)), 1))]
        loads = [0] * len(shares)
        for one in slices:
            least = loads.index(min(loads))
            shares[least].append(one.slice)
            loads[least] += one.base + one.logs
        for share in shares:
            yield WholeOutput(reading.tasks(share), outputs.next(share))


def _rewritten_in_parts(
    executor: Executor, groups: Sequence[Input], reading: Reading, rewriting: Rewriting, outputs: _Outputs
) -> tuple[WrittenFile, ...]:
    slices = [GroupSlice(number, task) for number, one in enumerate(groups) for task in reading.tasks(one.slices)]
    most = max(rewriting.layout.sample_rows // len(slices), _LEAST_SAMPLE)
    sampled = executor.tasks(slices, Sampling(rewriting, most), SAMPLES).gathered()
    divisions = {
        number: _division(one, _sample(sampled, number), rewriting, outputs) for number, one in enumerate(groups)
    }
    dividing = Dividing(rewriting, divisions)
    rows = executor.tasks(slices, dividing, dividing.schema).spread(dividing.schema.names[-1], outputs.given)
    return from_rows(rows.map(WriteParts(rewriting, divisions), WRITTEN_SCHEMA).gathered())


def _sample(sampled: pa.Table, group: int) -> pa.Table:
    found = zip(sampled.column("group").to_pylist(), sampled.column("sample").to_pylist(), strict=True)
    return pa.concat_tables([unpacked_table(data) for number, data in found if number == group])


def _division(group: Input, sample: pa.Table, rewriting: Rewriting, outputs: _Outputs) -> Division:
    layout = rewriting.layout.with_sample(sample)
    boundaries = layout.boundaries(group.files)
    named = tuple(outputs.next(group.slices) for _ in range(boundaries.num_rows + 1))
    return Division(layout, boundaries, named)
