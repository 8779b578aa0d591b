"""Clustering: rows of small files put into large ones, sorted, as new file groups in place of the old.

one file of a group, or no order     a task reads whole slices and writes a file group      one job
several files in order               a sample says where to divide; rows are sent there     two jobs

Clauses: CL-005, CL-004, CL-006, CL-007, CL-009, CL-001, RB-008, CL-003, CL-008.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from typing import Any, Final

import pyarrow as pa
from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import ClusteringPlan, SliceInfo
from hudi_format.timeline.plans import serialise_requested_replace

from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import WRITTEN_SCHEMA, WrittenFile, from_rows, to_rows
from hudi_spark.metadata import FinishedWrite
from hudi_spark.read import (
    Executor,
    Query,
    ReadContext,
    SliceTask,
    TaskIdentity,
    bytes_to_read,
    counted,
    read_context,
    refuse_lost_rows,
    run_task,
    slice_task,
)
from hudi_spark.schema import Origins, WriterState, origins_of, parts_by
from hudi_spark.services.clustering_layout import Layout, layout_of, sample_of
from hudi_spark.services.clustering_planning import (
    SORT_KEY,
    is_due,
    is_file_by_file,
    plan_of,
    refuse_unclustered,
    sized,
)
from hudi_spark.services.compaction import commits_before, stated_schemas, with_operation_field
from hudi_spark.services.service import Attempt, ServicePlan, skipped_in, warn_of_skipped
from hudi_spark.table_state import (
    FileSlice,
    GroupId,
    Instant,
    Snapshot,
    StatedFile,
    Timeline,
    clustering_plan,
    file_name_of,
    groups_of_plan,
    refuse_foreign_slices,
    stated_files,
)
from hudi_spark.write import (
    TARGET,
    TARGET_FIELD,
    Completion,
    Operation,
    Outcome,
    TableWork,
    WriteContext,
    completed_metadata,
    context_of_write,
    give_up,
    metadata_content,
    refuse_conflicts,
    stamped,
    state_of_table,
    store_rows,
)


@dataclass(frozen=True, slots=True)
class Input:
    """The slices of a clustering group, and into how many files they go."""

    slices: tuple[FileSlice, ...]
    files: int


def inputs_of(plan: ClusteringPlan, snapshot: Snapshot, requested: str) -> tuple[Input, ...]:
    """The groups of a plan by partition, each slice as a snapshot reads it now.

    Raises:
        HudiError: WRITE_CONFLICT where a slice is not what the plan names.

    Clauses: CL-005.

    """
    known = _Known(snapshot, requested)
    return tuple(
        Input(tuple(slices), group.num_output_file_groups or 1)
        for group in plan.input_groups
        for slices in _by_partition(group.slices, known)
    )


def _by_partition(infos: tuple[SliceInfo, ...], known: "_Known") -> Iterator[list[FileSlice]]:
    found: dict[str, list[FileSlice]] = {}
    for info in infos:
        one = known.planned(info)
        found.setdefault(one.partition, []).append(one)
    yield from found.values()


class _Known:
    """The table of today, as a plan's slices are looked up in it."""

    def __init__(self, snapshot: Snapshot, requested: str) -> None:
        self._requested = requested
        self._slices = {(one.partition, one.file_id): one for one in snapshot.slices}
        newer = (one for one in snapshot.commits if one.instant.requested > requested)
        self._written = frozenset(group for commit in newer for group in commit.groups())
        self._logs = frozenset(path for commit in snapshot.commits for _, path, _ in commit.log_files())

    def planned(self, info: SliceInfo) -> FileSlice:
        """The slice, which nobody has written to since it was planned.

        Clauses: CL-005.
        """
        group = (info.partition_path or "", info.file_id or "")
        one = self._slices.get(group)
        if one is None or group in self._written or not self._is_planned(one, info):
            raise _changed(group, self._requested)
        return one

    def _is_planned(self, one: FileSlice, info: SliceInfo) -> bool:
        """Logs that no write names are those of rollbacks, and change no row; logs of failed writes may be gone."""
        named = {file_name_of(path) for path in info.delta_file_paths}
        return file_name_of(one.base_file or "") == file_name_of(info.data_file_path or "") and all(
            file_name_of(path) in named for path in one.log_files if path in self._logs
        )


def _changed(group: GroupId, requested: str) -> HudiError:
    where = "/".join(part for part in group if part)
    message = f"the clustering {requested} cannot be carried out: file group {where} was written since it was planned"
    return HudiError(Reason.WRITE_CONFLICT, "CL-005", message, hint="the plan is given up: plan a clustering anew")


SAMPLES: Final = pa.schema([("group", pa.int32()), ("sample", pa.binary()), ("skipped", pa.int64())])


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

    def read(self, slices: tuple[SliceTask, ...]) -> tuple[pa.Table, int]:
        """The rows of slices, in the columns of the table, and how many stretches of their logs are no blocks."""
        for one in slices:
            refuse_lost_rows(one.context.storage, one.base_file, one.stated, one.external)
        names, found = self.context.schema.names, [run_task(one) for one in slices]
        parts = [one.rows.select(names).cast(self.context.schema) for one in found]
        return pa.concat_tables(parts), sum(len(one.skipped) for one in found)

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

    def bytes(self) -> int:
        """How many bytes are read for it."""
        return sum(bytes_to_read(one.context.storage, one.files) for one in self.slices)


@dataclass(frozen=True, slots=True)
class WriteWhole:
    """Writes file groups of whole slices."""

    rewriting: Rewriting

    def __call__(self, task: WholeOutput, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows."""
        rows, skipped = self.rewriting.read(task.slices)
        written = self.rewriting.store(rows, task.output, self.rewriting.layout, identity)
        return to_rows(_counted(written, {task.output.partition: skipped}))


@dataclass(frozen=True, slots=True)
class GroupSlice:
    """A slice of a clustering group whose rows are divided among several file groups by their order."""

    group: int
    slice: SliceTask

    def bytes(self) -> int:
        """How many bytes are read of it."""
        return bytes_to_read(self.slice.context.storage, self.slice.files)


@dataclass(frozen=True, slots=True)
class Sampling:
    """A few rows of each slice, from which follows how a group is divided."""

    rewriting: Rewriting
    most: int

    def __call__(self, task: GroupSlice, identity: TaskIdentity) -> pa.Table:
        """The sample, packed: one row."""
        del identity
        rows, skipped = self.rewriting.read((task.slice,))
        packed = packed_table(sample_of(self.rewriting.layout, rows, self.most))
        return pa.table([[task.group], [packed], [skipped]], schema=SAMPLES)


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
        (rows, _), division = self.rewriting.read((task.slice,)), self.divisions[task.group]
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
        written = from_rows(executor.tasks(tasks, WriteWhole(rewriting), WRITTEN_SCHEMA, WholeOutput.bytes).gathered())
    return (*written, *(_rewritten_in_parts(executor, divided, reading, rewriting, numbers) if divided else ()))


@dataclass(frozen=True, slots=True)
class Reading:
    """Makes the tasks that read slices of a snapshot, with all columns."""

    context: ReadContext
    origins: Origins
    stated: Mapping[str, StatedFile]

    def tasks(self, slices: Sequence[FileSlice]) -> tuple[SliceTask, ...]:
        """A task for each slice."""
        return counted((slice_task(one, self.context, self.origins) for one in slices), self.stated)


def reading_of(work: TableWork, snapshot: Snapshot) -> Reading:
    """How the slices of a snapshot are read: as any snapshot query does.

    Clauses: CL-004.
    """
    query = Query(meta_columns=True, readings=work.readings, configs=work.options.values)
    context, origins = read_context(work.storage, query, snapshot), origins_of(work.storage, snapshot)
    return Reading(context, origins, stated_files(snapshot, snapshot.slices))


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
    sampled = executor.tasks(slices, Sampling(rewriting, most), SAMPLES, GroupSlice.bytes).gathered()
    divisions = {
        number: _division(one, _sample(sampled, number), rewriting, outputs) for number, one in enumerate(groups)
    }
    dividing = Dividing(rewriting, divisions)
    group_of = {output.number: number for number, one in divisions.items() for output in one.outputs}

    @cache
    def share(group: int) -> int:
        """About how many bytes of a group go to each of its outputs."""
        return sum(one.bytes() for one in slices if one.group == group) // len(divisions[group].outputs)

    def size_of(output: int) -> int:
        return share(group_of[output]) if output in group_of else 0

    rows = executor.tasks(slices, dividing, dividing.schema, GroupSlice.bytes)
    rows = rows.spread(TARGET, range(outputs.given), size_of)
    written = from_rows(rows.map(WriteParts(rewriting, divisions), WRITTEN_SCHEMA).gathered())
    counts: dict[str, int] = {}
    for number, skipped in zip(sampled["group"].to_pylist(), sampled["skipped"].to_pylist(), strict=True):
        partition = groups[number].slices[0].partition
        counts[partition] = counts.get(partition, 0) + skipped
    return _counted(written, counts)


def _counted(written: tuple[WrittenFile, ...], skipped: Mapping[str, int]) -> tuple[WrittenFile, ...]:
    """Files, the first of each partition with the number of stretches of its logs that are no blocks.

    Clauses: LF-010, TL-019.
    """
    left = dict(skipped)
    stats = [replace(one.stat, total_corrupt_log_block=left.pop(one.stat.partition_path or "", 0)) for one in written]
    return tuple(replace(one, stat=stat) for one, stat in zip(written, stats, strict=True))


def _sample(sampled: pa.Table, group: int) -> pa.Table:
    found = zip(sampled.column("group").to_pylist(), sampled.column("sample").to_pylist(), strict=True)
    return pa.concat_tables([unpacked_table(data) for number, data in found if number == group])


def _division(group: Input, sample: pa.Table, rewriting: Rewriting, outputs: _Outputs) -> Division:
    layout = rewriting.layout.with_sample(sample)
    boundaries = layout.boundaries(group.files)
    named = tuple(outputs.next(group.slices) for _ in range(boundaries.num_rows + 1))
    return Division(layout, boundaries, named)


ACTION: Final = "replacecommit"
_OPERATION: Final = Operation("bulk_insert", "CLUSTER", bulk=True)
_FILE_BYTES: Final = "hoodie.clustering.plan.strategy.target.file.max.bytes"
_HOWEVER_LARGE: Final = 2**62
# Conflicts after which nobody can carry the plan out.
_GROUPS_WERE_WRITTEN: Final = ("CL-005", "OW-005")


def execute_clustering(work: TableWork, pending: Instant) -> Outcome:
    """Carry out a plan that is requested, or inflight and left by the one that died over it.

    Raises:
        HudiError: WRITE_CONFLICT where its groups were written since, and the plan leaves the timeline, or where
            somebody else has taken it over; CONFIG_INVALID.
        UnsupportedFeature: a strategy that is not built.
        FormatError: PATH_ESCAPES_TABLE for a plan that names other than data files of partitions.

    Clauses: CL-004, CL-005, CL-006, RB-008, SL-007.

    """
    plan = clustering_plan(work.storage, pending)
    if plan is None:
        raise _lost(pending)
    refuse_foreign_slices(plan, pending.file)
    clustering = _Clustering(work, work.snapshot(), pending, plan)
    try:
        return clustering.run()
    except HudiError as error:
        if error.reason is Reason.WRITE_CONFLICT and error.clause in _GROUPS_WERE_WRITTEN:
            give_up(work, clustering.snapshot.configuration, pending.requested)
        raise


@dataclass(frozen=True, slots=True)
class _Clustering:
    """One attempt at a plan."""

    work: TableWork
    snapshot: Snapshot
    pending: Instant
    plan: ClusteringPlan

    def run(self) -> Outcome:
        """Clauses: CL-005, CL-006."""
        refuse_unclustered(self.work.options)
        # The files bear the plan's instant, by which readers know their schema: that of the plan, whatever came since.
        planned = replace(self.snapshot, commits=commits_before(self.snapshot, self.pending.requested))
        state = state_of_table(self.work.storage, planned, self.work.options)
        reading = reading_of(self.work, planned)
        rewriting = self._rewriting(state, reading.context.schema)
        inputs = inputs_of(self.plan, self.snapshot, self.pending.requested)
        attempt = Attempt(self.work, self.pending.action, self.pending.requested)
        with attempt.inflight():
            written = rewrite(self.work.executor, self.work.storage, inputs, reading, rewriting)
            replaced = self._replaced()
            completion = self._completion(written, replaced, stated_schemas(planned))
            stats = tuple(one.stat for one in written)
            logs = (path for one in inputs for found in one.slices for path in found.log_files)
            skipped = skipped_in(self.work.storage, stats, logs)
            completed = attempt.complete(self.snapshot, completion, self._check)
        return warn_of_skipped(
            Outcome(self.pending.requested, completed, ACTION, _OPERATION.stored, stats, replaced, skipped=skipped)
        )

    def _rewriting(self, state: WriterState, stored: pa.Schema) -> Rewriting:
        """`stored`: the columns of the slices, meta fields first."""
        strategy = self.plan.strategy
        params = (strategy.strategy_params if strategy is not None else None) or {}
        layout = self._layout(params, stored)
        arguments = (_OPERATION, self.pending.requested, state.schema.arrow, self.work.file_ids)
        context = context_of_write(self.work.effects, state, *arguments)
        alone = strategy is not None and is_file_by_file(strategy.strategy_class_name or "")
        most = _HOWEVER_LARGE if alone else self.work.options.number(_FILE_BYTES)
        avro = with_operation_field(context.form.avro, stored)
        context = replace(context, form=replace(context.form, avro=avro, most_bytes=most), schema=stored)
        return Rewriting(context, layout, preserves=self.plan.preserve_hoodie_metadata is not False)

    def _layout(self, params: Mapping[str, str], stored: pa.Schema) -> Layout:
        named = tuple(name.strip() for name in params.get(SORT_KEY, "").split(",") if name.strip())
        return layout_of(named, stored, self.work.options)

    def _replaced(self) -> Mapping[str, tuple[str, ...]]:
        """Clauses: CL-006."""
        found: dict[str, list[str]] = {}
        for partition, file_id in sorted(groups_of_plan(self.plan)):
            found.setdefault(partition, []).append(file_id)
        return {partition: tuple(ids) for partition, ids in found.items()}

    def _completion(
        self, written: tuple[WrittenFile, ...], replaced: Mapping[str, tuple[str, ...]], stated: Mapping[str, str]
    ) -> Completion:
        requested, stats = self.pending.requested, tuple(one.stat for one in written)
        metadata = completed_metadata(_OPERATION.stored, stats, replaced, dict(stated))
        content = metadata_content(self.snapshot.configuration, ACTION, metadata)
        finished = FinishedWrite(requested, ACTION, _OPERATION.stored, written, replaced)
        return Completion(finished, content, requested_as=self.pending.action)

    def _check(self, timeline: Timeline) -> None:
        """Clauses: CL-005."""
        refuse_conflicts(self.work.storage, self.snapshot, timeline, groups_of_plan(self.plan))


def _lost(pending: Instant) -> HudiError:
    message = f"the plan of the clustering {pending.requested} is gone"
    return HudiError(Reason.TIMELINE_FILE_CORRUPT, "CL-003", message, pending.file, hint="roll the action back")


@dataclass(frozen=True, slots=True)
class Clustering:
    """Puts the rows of small files into large ones."""

    def plan(self, work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be clustered now; None where nothing is, or where it is not due.

        Raises:
            HudiError: CONFIG_INVALID.
            UnsupportedFeature: a strategy that is not built, an index of buckets.

        Clauses: CL-001, CL-002, CL-003, CL-008.

        """
        del params
        if not is_due(work.storage, snapshot, work.options):
            return None
        plan = plan_of(work, snapshot)
        if plan is None:
            return None
        action = "clustering" if snapshot.configuration.has_completion_times else "replacecommit"
        return ServicePlan(action, serialise_requested_replace(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a clustering.

        Clauses: CL-003.
        """
        return clustering_plan(work.storage, pending) is not None

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry a clustering out.

        Raises:
            HudiError: WRITE_CONFLICT where its groups were written since it was planned.

        Clauses: CL-004, CL-005, CL-006.

        """
        return execute_clustering(work, pending)
