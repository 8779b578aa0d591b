"""Log compaction: the blocks of a slice become one log file, its base file and its logs stay.

Clauses: LC-001, LC-003, LC-004, LC-005, LC-007, LC-002, LC-008, LC-006.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import pyarrow as pa
from hudi_format.metadata.records import ColumnStats
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_format.timeline.plan_values import CompactionPlan, CompactionStrategy
from hudi_format.timeline.plans import serialise_compaction_plan

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.files import (
    LogForm,
    LogGroup,
    LogRows,
    Place,
    WrittenFile,
    log_form,
    no_rows_statistics,
    rows_statistics,
    to_rows,
    write_log,
)
from hudi_spark.merge import LogRecords, LogWinners, decode_log_records, is_partial, log_winners
from hudi_spark.metadata import StatisticsPlan
from hudi_spark.options import Options
from hudi_spark.read import ReadContext, TaskIdentity, bytes_to_read
from hudi_spark.schema import one_chunk
from hudi_spark.services.compaction import Kind, PlannedSlice, Shared, carry_out, refuse_missing, with_operation_field
from hudi_spark.services.compaction_planning import (
    LOG_BYTES,
    candidates,
    deltacommits_since,
    last_of,
    left_out,
    operations,
    refuse_copy_on_write,
)
from hudi_spark.services.service import ServicePlan
from hudi_spark.table_state import (
    LOG_COMPACTION,
    FileSlice,
    Instant,
    LogScan,
    Snapshot,
    Timeline,
    Visibility,
    compaction_plan,
    groups_of_plan,
    refuse_foreign_slices,
    scan_logs,
)
from hudi_spark.write import Outcome, TableWork

_KEY: Final = "_hoodie_record_key"


@dataclass(frozen=True, slots=True)
class Appending:
    """Writes the compacted logs of planned slices; what all tasks of a log compaction share.

    `form`: how logs look. `statistics`: of which columns tasks tell them.

    Clauses: LC-001, LC-005.
    """

    read: ReadContext
    place: Place
    form: LogForm
    statistics: StatisticsPlan

    def __call__(self, planned: PlannedSlice, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows; nothing where no block of the slice counts.

        Raises:
            HudiError: LOG_FILE_MISSING; LOG_CONTENT_CORRUPT, SCHEMA_INCOMPATIBLE, KEY_MISSING.
            UnsupportedFeature: log-compaction-of-partial-updates.

        """
        task, context = planned.read, self.read
        refuse_missing(context.storage, None, task.log_files)
        scan = scan_logs(context.storage, task.log_files, context.visibility)
        if not scan.blocks:
            return to_rows(())
        records = decode_log_records(scan.blocks, context.schema, context.keys, context.rule, task.columns)
        if records.partial:
            raise UnsupportedFeature("log-compaction-of-partial-updates", f"{task.partition}/{task.file_id}")
        rows = self._rows(log_winners(records, context.rule))
        logs = write_log(self.place, rows, self._group(planned, scan), self.form, identity)
        written = (WrittenFile(log.stat, self._statistics(log.stat, log.rows), log.created_partition) for log in logs)
        counted = tuple(replace(one, stat=_counted(one.stat, planned, scan, records)) for one in written)
        return to_rows(counted)

    def _rows(self, winners: LogWinners) -> LogRows:
        """Rows that stay, then one for each key that is deleted, of nothing but its key and ordering values."""
        schema = self.read.schema
        rows = winners.rows.set_column(schema.names.index(_KEY), schema.field(_KEY), winners.keys)
        stay, gone = rows.num_rows, len(winners.deleted)
        ordering = zip(self.read.rule.ordering, winners.ordering, strict=False)
        known = {(_KEY,): winners.deleted, **{tuple(name.split(".")): values for name, values in ordering}}
        columns = [_filled(one.type, (one.name,), known, gone) for one in schema]
        deleted = pa.Table.from_arrays(columns, schema=schema)
        false = pa.repeat(pa.scalar(value=False), stay)
        natural = pa.chunked_array([false, *winners.natural.chunks], pa.bool_())
        deletes = pa.chunked_array([false, pa.repeat(pa.scalar(value=True), gone)])
        updates = pa.chunked_array([pa.repeat(pa.scalar(value=True), stay + gone)])
        return LogRows(pa.concat_tables([rows, deleted]), natural, updates, deletes=deletes)

    def _group(self, planned: PlannedSlice, scan: LogScan) -> LogGroup:
        """The group with the logs that its slice has by now, which the plan may not know.

        Clauses: LC-003, LC-005.
        """
        task, operation = planned.read, planned.operation
        listed = self.read.storage.list_files(task.partition, recursive=False)
        parsed = ((one.path.rpartition("/")[2], parse_data_file_name(one.path.rpartition("/")[2])) for one in listed)
        logs = tuple(text for text, name in parsed if isinstance(name, LogFileName) and name.file_id == task.file_id)
        instants = tuple(dict.fromkeys(one.instant for one in scan.blocks))
        base = None if task.base_file is None else task.base_file.rpartition("/")[2]
        return LogGroup(task.partition, task.file_id, operation.base_instant_time, base, logs, instants)

    def _statistics(self, stat: WriteStat, rows: pa.Table) -> tuple[ColumnStats, ...]:
        form, name = self.statistics, (stat.path or "").rpartition("/")[2]
        if rows.num_rows:
            return rows_statistics(name, rows, form.columns, form.version)
        return no_rows_statistics(name, form.columns, form.version)


def _filled(
    kind: pa.DataType, path: tuple[str, ...], known: Mapping[tuple[str, ...], pa.ChunkedArray], count: int
) -> pa.Array:
    """A column that is null but for known fields, which may stand inside it."""
    if path in known:
        return one_chunk(known[path].cast(kind))
    if not any(name[: len(path)] == path for name in known):
        return pa.nulls(count, kind)
    children = [_filled(one.type, (*path, one.name), known, count) for one in kind]
    return pa.StructArray.from_arrays(children, fields=list(kind))


def _counted(stat: WriteStat, planned: PlannedSlice, scan: LogScan, records: LogRecords) -> WriteStat:
    """The stat with what the log stands for.

    Clauses: LC-006, TL-019, TL-020.
    """
    operation = planned.operation
    return replace(
        stat,
        prev_commit=operation.base_instant_time,
        total_log_records=records.versions.num_rows,
        total_updated_records_compacted=(stat.num_writes or 0) + (stat.num_deletes or 0),
        total_log_blocks=len(scan.blocks),
        total_corrupt_log_block=len(scan.skipped),
        total_log_files_compacted=len(planned.read.log_files),
        total_log_size_compacted=int((operation.metrics or {}).get(LOG_BYTES, 0)),
    )


_THRESHOLD: Final = "hoodie.log.compaction.blocks.threshold"
_COMPACTOR: Final = CompactionStrategy("org.apache.hudi.table.action.compact.LogCompactionExecutionHelper", {}, 1)
_COUNTED: Final = pa.schema([("number", pa.int64()), ("blocks", pa.int64()), ("whole", pa.bool_())])


def plan_log_compaction(work: TableWork, snapshot: Snapshot) -> CompactionPlan | None:
    """What a log compaction is to do now; None where no slice has enough logs or blocks.

    Raises:
        HudiError: CONFIG_INVALID for a copy-on-write table.

    Clauses: LC-001, LC-002, LC-003, LC-008.

    """
    refuse_copy_on_write(snapshot, "compacted")
    least = work.options.number(_THRESHOLD)
    found = candidates(work, snapshot)
    could = tuple(one for one in found.slices if not _has_gap(one, snapshot))
    taken = _with_enough(work, snapshot, could, least)
    if not taken:
        return None
    planned, possible = operations(work, snapshot, taken), operations(work, snapshot, found.slices)
    missing = left_out(possible, planned, found)
    return CompactionPlan(
        planned, {}, strategy=_COMPACTOR, preserve_hoodie_metadata=True, missing_schedule_partitions=missing
    )


def is_due_inline(timeline: Timeline, options: Options) -> bool:
    """Whether a writer is to compact logs by itself: a plan waits, or enough deltacommits came since the last one.

    A slice has as many logs afterwards as before: by their number alone every write would compact them again.

    Clauses: LC-008.
    """
    logged = [one for one in timeline.instants if _was_log_compaction(one)]
    last = (last_of(timeline), logged[-1] if logged else None)
    enough = min(len(deltacommits_since(timeline, one)) for one in last) >= options.number(_THRESHOLD)
    return enough or bool(timeline.pending(LOG_COMPACTION))


def _was_log_compaction(instant: Instant) -> bool:
    return any(".logcompaction." in path.rpartition("/")[2] for path in instant.files.values())


def _has_gap(one: FileSlice, snapshot: Snapshot) -> bool:
    """Whether a write that began before the newest log may still put a block between those that are there.

    In version 6 blocks are in the order in which they were appended: what completes later is not before them.

    Clauses: LC-003.
    """
    if not snapshot.configuration.has_completion_times:
        return False
    pending = _pending(snapshot)
    return bool(pending) and max(_instants(one), default="") > min(pending)


def _pending(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(one.requested for one in snapshot.timeline.pending("deltacommit"))


def _instants(one: FileSlice) -> list[str]:
    names = [parse_data_file_name(path.rpartition("/")[2]) for path in one.log_files]
    return [name.instant for name in names if isinstance(name, LogFileName)]


def _with_enough(work: TableWork, snapshot: Snapshot, slices: Sequence[FileSlice], least: int) -> tuple[FileSlice, ...]:
    """The slices with enough log files or blocks, and no partial updates; one job on Spark.

    Partial updates need the row below to become one: they stay as they are until a compaction. Nor are slices of
    version 6 chosen that hold a block of a pending write, whose log goes where it aborts.

    Clauses: LC-003, LC-008, LF-025.
    """
    pending = frozenset[str]() if snapshot.configuration.has_completion_times else _pending(snapshot)
    theirs = replace(snapshot.visibility, visible=pending, first=None) if pending else None
    counting = _Counting(work.storage, snapshot.visibility, theirs)

    def size_of(numbered: tuple[int, FileSlice]) -> int:
        return bytes_to_read(work.storage, numbered[1].log_files)

    counted = work.executor.tasks(tuple(enumerate(slices)), counting, _COUNTED, size_of).gathered()
    chosen = [
        number
        for number, blocks, whole in zip(*(column.to_pylist() for column in counted.columns), strict=True)
        if whole and max(len(slices[number].log_files), blocks) >= least
    ]
    return tuple(slices[number] for number in sorted(chosen))


@dataclass(frozen=True, slots=True)
class _Counting:
    """Counts the blocks of a slice that count; `pending` sees those of writes whose logs may go."""

    storage: Storage
    visibility: Visibility
    pending: Visibility | None

    def __call__(self, numbered: tuple[int, FileSlice], identity: TaskIdentity) -> pa.Table:
        """Number of the slice, of its blocks, and whether all of them hold whole rows and will stay."""
        del identity
        number, one = numbered
        blocks = scan_logs(self.storage, one.log_files, self.visibility).blocks
        stays = self.pending is None or not scan_logs(self.storage, one.log_files, self.pending).blocks
        whole = bool(blocks) and stays and not any(is_partial(block) for block in blocks)
        return pa.table([[number], [len(blocks)], [whole]], schema=_COUNTED)


def _appending(shared: Shared) -> Appending:
    """Clauses: LC-001."""
    state, read = shared.state, shared.read
    form = log_form(state.configuration, state.schema.avro, state.options, read.rule)
    form = replace(form, avro=with_operation_field(form.avro, read.schema))
    return Appending(read, shared.place, form, shared.statistics)


_KIND: Final = Kind("deltacommit", "LOG_COMPACT", _appending)


@dataclass(frozen=True, slots=True)
class LogCompaction:
    """The blocks of slices become one log file each.

    Clauses: LC-001.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be compacted now; None where nothing is.

        Raises:
            HudiError: CONFIG_INVALID for a copy-on-write table.

        Clauses: LC-001, LC-002, LC-003, LC-008.

        """
        del params
        plan = plan_log_compaction(work, snapshot)
        return None if plan is None else ServicePlan(LOG_COMPACTION, serialise_compaction_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a log compaction."""
        del work
        return pending.action == LOG_COMPACTION

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry out a log compaction that is requested, or that somebody left inflight.

        Raises:
            HudiError: LOG_FILE_MISSING for a file that the plan names; WRITE_CONFLICT where a compaction was planned
                for one of its groups; INSTANT_NOT_FOUND where somebody else was faster. The plan waits as before.
            UnsupportedFeature: log-compaction-of-partial-updates, for a plan that somebody else made.
            FormatError: PATH_ESCAPES_TABLE for a plan that names other than data files of partitions.

        Clauses: LC-001, LC-003, LC-004, LC-006, LC-007, SL-007.

        """
        plan = compaction_plan(work.storage, pending)
        refuse_foreign_slices(plan, pending.file)
        check = partial(refuse_later_compactions, work.storage, pending.requested, plan)
        return carry_out(work, pending, plan, _KIND, check)


def refuse_later_compactions(storage: Storage, requested: str, plan: CompactionPlan, timeline: Timeline) -> None:
    """Nothing unless a compaction was planned after the log compaction for one of its groups.

    Its base file may hold newer rows than the log, which would stand above it.

    Raises:
        HudiError: WRITE_CONFLICT naming the compaction.

    Clauses: LC-002, LC-003.

    """
    later = (one for one in timeline.instants if one.was_compaction and one.requested > requested)
    for one in later:
        shared = groups_of_plan(compaction_plan(storage, one)) & groups_of_plan(plan)
        if shared:
            named = ", ".join("/".join(part for part in group if part) for group in sorted(shared)[:3])
            hint = "roll the log compaction back: the compaction takes its logs up"
            message = f"the compaction {one.requested} was planned for the same file groups: {named}"
            raise HudiError(Reason.WRITE_CONFLICT, "LC-002", message, one.file, hint=hint)
