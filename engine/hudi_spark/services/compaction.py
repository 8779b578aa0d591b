"""Compaction: slices with logs become base files, a task a slice.

Clauses: CP-004, CP-005, LC-003, CP-007, CP-002, CP-006, LC-006, CP-001, CP-010, CP-012.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.avro.schemas import schema_text
from hudi_format.names import BaseFileName
from hudi_format.schemas import META_FIELDS, OPERATION_FIELD
from hudi_format.storage import Storage
from hudi_format.table.internal_schema import LATEST_SCHEMA_KEY
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, CommitMetadata, RuntimeStats, WriteStat
from hudi_format.timeline.plan_values import CompactionOperation, CompactionPlan
from hudi_format.timeline.plans import serialise_compaction_plan

from hudi_spark.concurrency import joined
from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import (
    WRITTEN_SCHEMA,
    BaseFileBytes,
    BaseFileForm,
    ChangeForm,
    Place,
    WrittenFile,
    base_file,
    base_file_form,
    base_file_statistics,
    change_form,
    from_rows,
    to_rows,
    write_changes,
)
from hudi_spark.merge import LogRecords, decode_log_records, merge
from hudi_spark.metadata import FinishedWrite, StatisticsPlan, statistics_plan
from hudi_spark.read import (
    Query,
    ReadContext,
    SliceTask,
    TaskIdentity,
    bytes_to_read,
    counted,
    read_context,
    refuse_lost_rows,
    slice_task,
)
from hudi_spark.schema import SCHEMA_KEY, WriterState, one_chunk, origins_of, read_base_rows, stating_commit
from hudi_spark.services.compaction_planning import LOG_BYTES, plan_compaction
from hudi_spark.services.service import Attempt, ServicePlan, skipped_in, warn_of_skipped
from hudi_spark.table_state import (
    COMPACTION,
    Commit,
    FileSlice,
    Instant,
    LogScan,
    Snapshot,
    TableConfiguration,
    compaction_plan,
    completion_times,
    file_name_of,
    flag,
    logs_of_plan,
    refuse_foreign_slices,
    scan_logs,
    stated_files,
)
from hudi_spark.write import (
    Check,
    Completion,
    Outcome,
    TableWork,
    changes_between,
    metadata_content,
    nothing_to_check,
    state_of_table,
    table_avro,
)


def place_of(work: TableWork, configuration: TableConfiguration, requested: str) -> Place:
    """Where the tasks of an action put their files.

    Clauses: SL-002, MK-001.
    """
    in_base_format = flag(configuration.properties, "hoodie.partition.metafile.use.base.format", default=False)
    return Place(work.effects, requested, "parquet" if in_base_format else "properties")


def stated_schemas(planned: Snapshot) -> dict[str, str]:
    """What the commit of a service says of the schema: what the table's commits said when it was planned.

    Clauses: CP-006, DM-003.
    """
    stating = stating_commit(planned.commits)
    if stating is not None:
        extra = stating.metadata.extra
        return {key: extra[key] for key in (SCHEMA_KEY, LATEST_SCHEMA_KEY) if extra.get(key)}
    stated = table_avro(planned)
    return {} if stated is None else {SCHEMA_KEY: schema_text(stated)}


def with_operation_field(avro: Mapping[str, Any], schema: pa.Schema) -> Mapping[str, Any]:
    """The Avro schema of files with the sixth meta field, where slices that are read in `schema` have it.

    Clauses: MF-002.
    """
    fields = avro["fields"]
    if OPERATION_FIELD not in schema.names or any(one["name"] == OPERATION_FIELD for one in fields):
        return avro
    own = {"name": OPERATION_FIELD, "type": ["null", "string"], "doc": "", "default": None}
    places = len(META_FIELDS)
    return {**avro, "fields": [*fields[:places], own, *fields[places:]]}


@dataclass(frozen=True, slots=True)
class PlannedSlice:
    """One slice of a plan: its operation, and how it is read."""

    operation: CompactionOperation
    read: SliceTask


def snapshot_of_plan(work: TableWork, snapshot: Snapshot, plan: CompactionPlan, requested: str) -> Snapshot:
    """The state that a plan was made on: its slices, and of all commits those that had completed then.

    Clauses: CP-004, CP-005.
    """
    completions = completion_times(snapshot.timeline) if work.readings.log_order == "text" else {}
    before = commits_before(snapshot, requested)
    known = frozenset(one.instant.requested for one in before if _precedes(one, requested))
    counted = replace(snapshot.visibility, visible=snapshot.visibility.visible & known)
    slices = tuple(slice_of(one, completions) for one in plan.operations)
    return replace(snapshot, commits=before, visibility=counted, slices=slices)


def commits_before(snapshot: Snapshot, requested: str) -> tuple[Commit, ...]:
    """The commits that had completed when a plan was made; all of them where none of those states the schema.

    Archival may have taken all that stated it then; a later one has room for the same rows.

    Clauses: CP-006, CL-004.
    """
    before = tuple(one for one in snapshot.commits if _precedes(one, requested))
    return before if stating_commit(before) is not None else snapshot.commits


def slice_of(operation: CompactionOperation, completions: Mapping[str, str]) -> FileSlice:
    """The file slice of an operation; `completions` as of `logs_of_plan`.

    Clauses: CP-005.
    """
    partition = operation.partition_path or ""
    base = operation.data_file_path
    return FileSlice(
        partition,
        operation.file_id or "",
        operation.base_instant_time or "",
        None if base is None else joined(partition, file_name_of(base)),
        logs_of_plan(partition, operation.delta_file_paths, completions),
    )


def planned_slices(
    work: TableWork, planned: Snapshot, plan: CompactionPlan
) -> tuple[ReadContext, tuple[PlannedSlice, ...]]:
    """What the tasks of a plan share, and one description for each; `planned` is the plan's own snapshot.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE; what else reading a table is refused for.

    Clauses: CP-004, RD-012.

    """
    query = Query(meta_columns=True, readings=work.readings, configs=work.options.values)
    context = read_context(work.storage, query, planned)
    origins = origins_of(work.storage, planned)
    stated = stated_files(planned, planned.slices)
    tasks = counted((slice_task(one, context, origins) for one in planned.slices), stated)
    return context, tuple(PlannedSlice(*pair) for pair in zip(plan.operations, tasks, strict=True))


def refuse_missing(storage: Storage, base_file: str | None, log_files: Sequence[str]) -> None:
    """Nothing when all files of a planned slice are there.

    Raises:
        HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING.

    Clauses: CP-005.

    """
    named = [(base_file, Reason.BASE_FILE_MISSING)] if base_file is not None else []
    for path, reason in (*named, *((log, Reason.LOG_FILE_MISSING) for log in log_files)):
        if not storage.exists(path):
            hint = "restore the file; or roll the plan back, and schedule the service again"
            raise HudiError(reason, "CP-005", "the plan names the file and storage lacks it", path, hint=hint)


def _precedes(commit: Commit, requested: str) -> bool:
    """Whether a commit had completed when an action was requested; before version 8 it was requested before."""
    return commit.instant.requested < requested and commit.instant.at("completed") < requested


_COMMIT = ("_hoodie_commit_time", "_hoodie_commit_seqno")


@dataclass(frozen=True, slots=True)
class MergedSlice:
    """A slice merged: all its rows, and of the keys in its logs the rows before, after, and those after that changed.

    `updates`, `inserts`: how many changed rows have replaced one, or none; `deletes`: how many rows are gone.
    `scan`: the blocks that count. `versions`: how many records and deletes they hold, `keys`: of how many keys.
    """

    rows: pa.Table
    before: pa.Table
    after: pa.Table
    changed: pa.Table
    updates: int
    inserts: int
    deletes: int
    scan: LogScan
    versions: int
    keys: int


def merged_slice(task: SliceTask, context: ReadContext) -> MergedSlice:
    """A slice merged as a snapshot of the plan's time reads it, all columns and meta fields as they are stored.

    Raises:
        HudiError: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, SCHEMA_INCOMPATIBLE, KEY_MISSING.
        UnsupportedFeature: content that is not built.

    Clauses: CP-004, CP-007, RD-017.

    """
    scan = scan_logs(context.storage, task.log_files, context.visibility)
    records = decode_log_records(scan.blocks, context.schema, context.keys, context.rule, task.columns)
    base = _base_rows(task, context)
    rows = merge(base, records, context.keys, context.rule, task.base_file or "")
    before, after = _touched(base, records, context), _touched(rows, records, context)
    places = pc.index_in(context.keys.keys(after), value_set=one_chunk(context.keys.keys(before)))
    same = _same(after, before.take(places))
    replaced = _count(pc.is_valid(places))
    return MergedSlice(
        rows=rows,
        before=before,
        after=after,
        changed=after.filter(pc.invert(same)),
        updates=replaced - _count(same),
        inserts=int(after.num_rows) - replaced,
        deletes=int(before.num_rows) - replaced,
        scan=scan,
        versions=int(records.versions.num_rows),
        keys=pc.count_distinct(records.versions.column("key")).as_py(),
    )


def _same(after: pa.Table, before: pa.Table) -> pa.ChunkedArray:
    """For each row whether it is the one before, which won over all versions in the logs; null stands for no row.

    Clauses: CD-007, CD-011.
    """
    alike = [pc.equal(after.column(name), before.column(name)) for name in _COMMIT]
    return pc.fill_null(pc.and_(*alike), fill_value=False)


def _count(flags: pa.ChunkedArray) -> int:
    return int(pc.sum(flags.cast(pa.int64())).as_py() or 0)


def _base_rows(task: SliceTask, context: ReadContext) -> pa.Table:
    if task.base_file is None:
        return context.schema.empty_table()
    refuse_lost_rows(context.storage, task.base_file, task.stated, task.external)
    return read_base_rows(
        context.storage, task.base_file, context.schema, task.columns, lambda _: None, external=task.external
    )


def _touched(rows: pa.Table, records: LogRecords, context: ReadContext) -> pa.Table:
    return rows.filter(pc.is_in(context.keys.keys(rows), value_set=one_chunk(records.versions.column("key"))))


@dataclass(frozen=True, slots=True)
class Shared:
    """What all tasks of a plan share: how they read, what is known of the table, where files go, and their statistics.

    `state` and `read` are of the snapshot that the plan was made on.

    Clauses: CP-004, LC-003.
    """

    state: WriterState
    read: ReadContext
    place: Place
    statistics: StatisticsPlan


@dataclass(frozen=True, slots=True)
class Kind:
    """What a plan completes as, and the task that one of its slices is.

    Clauses: CP-006, LC-006.
    """

    action: str
    operation: str
    task: Callable[[Shared], Callable[[PlannedSlice, TaskIdentity], pa.Table]]


def carry_out(
    work: TableWork, pending: Instant, plan: CompactionPlan, kind: Kind, check: Check = nothing_to_check
) -> Outcome:
    """Carry out a plan that is requested, or that somebody left inflight.

    Raises:
        HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING for a file that the plan names; INSTANT_NOT_FOUND,
            WRITE_CONFLICT where somebody else was faster, by `check` too; the plan waits as before.

    Clauses: CP-002, CP-006, CP-010, LC-006.

    """
    attempt = Attempt(work, pending.action, pending.requested)
    with attempt.inflight():
        snapshot = work.snapshot()
        planned = snapshot_of_plan(work, snapshot, plan, pending.requested)
        written = _written(work, planned, plan, kind, pending.requested)
        stats = tuple(one.stat for one in written)
        metadata = CommitMetadata(kind.operation, True, stats, extra=stated_schemas(planned))
        content = metadata_content(snapshot.configuration, kind.action, metadata)
        finished = FinishedWrite(pending.requested, kind.action, kind.operation, written)
        logs = (joined(one.partition_path or "", name) for one in plan.operations for name in one.delta_file_paths)
        skipped = skipped_in(work.storage, stats, logs)
        completed = attempt.complete(snapshot, Completion(finished, content, requested_as=pending.action), check)
    return warn_of_skipped(Outcome(pending.requested, completed, kind.action, kind.operation, stats, skipped=skipped))


def _written(
    work: TableWork, planned: Snapshot, plan: CompactionPlan, kind: Kind, requested: str
) -> tuple[WrittenFile, ...]:
    """The new files, one for each slice; one job on Spark."""
    context, slices = planned_slices(work, planned, plan)
    state = state_of_table(work.storage, planned, work.options)
    place = place_of(work, planned.configuration, requested)
    shared = Shared(state, context, place, statistics_plan(state) or StatisticsPlan((), "V1"))

    def size_of(one: PlannedSlice) -> int:
        return bytes_to_read(work.storage, one.read.files)

    return from_rows(work.executor.tasks(slices, kind.task(shared), WRITTEN_SCHEMA, size_of).gathered())


_PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Rewrites planned slices; what all tasks of a compaction share.

    `form`, `changes`: how base files and change logs look. `statistics`: of which columns tasks tell them.

    Clauses: CP-006, BF-001.
    """

    read: ReadContext
    place: Place
    form: BaseFileForm
    changes: ChangeForm | None
    statistics: StatisticsPlan
    has_completion_times: bool

    def __call__(self, planned: PlannedSlice, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows.

        Raises:
            HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING; as `merged_slice`.

        """
        task = planned.read
        refuse_missing(self.read.storage, task.base_file, task.log_files)
        merged = merged_slice(task, self.read)
        logged = self._logged(merged, planned, identity)
        name = BaseFileName(task.file_id, identity.write_token, self.place.requested, _PARQUET)
        made = base_file(merged.rows, str(name), self.form)
        io_type = "CREATE" if task.base_file is None else "MERGE"
        created = self.place.put_base_file(task.partition, name, made.data, io_type)
        wanted = self.statistics
        statistics = base_file_statistics(str(name), made.metadata, wanted.columns, wanted.version, made.column)
        stat = replace(self._stat(made, name, merged, planned), cdc_stats=logged)
        return to_rows((WrittenFile(stat, statistics, created),))

    def _logged(self, merged: MergedSlice, planned: PlannedSlice, identity: TaskIdentity) -> Mapping[str, int] | None:
        """Clauses: CD-008, CD-009, CD-011."""
        if self.changes is None or planned.read.base_file is None:
            return None
        changes = changes_between(merged.before, merged.changed, merged.after, self.read.keys)
        if not changes.num_rows:
            return None
        task = planned.read
        return write_changes(self.place, changes, task.partition, task.file_id, self.changes, identity)

    def _stat(self, made: BaseFileBytes, name: BaseFileName, merged: MergedSlice, planned: PlannedSlice) -> WriteStat:
        """Clauses: CP-006, TL-019, TL-020."""
        operation, task = planned.operation, planned.read
        stat = WriteStat(
            file_id=name.file_id,
            path=joined(task.partition, str(name)),
            prev_commit=NO_PREVIOUS_COMMIT if task.base_file is None else operation.base_instant_time,
            num_writes=made.rows,
            num_deletes=merged.deletes,
            num_update_writes=merged.updates,
            num_inserts=merged.inserts,
            total_write_bytes=len(made.data),
            total_write_errors=0,
            partition_path=task.partition,
            total_log_records=merged.versions,
            total_updated_records_compacted=merged.keys,
            total_log_blocks=len(merged.scan.blocks),
            total_corrupt_log_block=len(merged.scan.skipped),
            total_rollback_blocks=0,
            file_size_in_bytes=len(made.data),
            runtime_stats=RuntimeStats(0, 0, 0),
            total_log_files_compacted=len(task.log_files),
            total_log_size_compacted=int((operation.metrics or {}).get(LOG_BYTES, 0)),
        )
        if not self.has_completion_times:
            return stat
        before = None if task.base_file is None else task.base_file.rpartition("/")[2]
        return replace(stat, total_log_read_time_ms=0, num_updates=0, prev_base_file=before)


def _rewriting(shared: Shared) -> Rewriting:
    """Clauses: CP-006."""
    configuration, schema, options = shared.state.configuration, shared.state.schema, shared.state.options
    dropped = configuration.partition_by if configuration.partitions.columns_dropped else ()
    form = base_file_form(schema.avro, options, drops=dropped, meta_fields=configuration.populates_meta_fields)
    return Rewriting(
        read=shared.read,
        place=shared.place,
        form=replace(form, avro=with_operation_field(form.avro, shared.read.schema)),
        changes=change_form(configuration, schema.avro, options),
        statistics=shared.statistics,
        has_completion_times=configuration.has_completion_times,
    )


_KIND: Final = Kind("commit", "COMPACT", _rewriting)


@dataclass(frozen=True, slots=True)
class Compaction:
    """Slices with logs become base files.

    Clauses: CP-001, CP-002.
    """

    def plan(self, work: TableWork, snapshot: Snapshot, params: Mapping[str, Any]) -> ServicePlan | None:
        """What is to be compacted now; None where nothing is, or where it is not due.

        Raises:
            HudiError: CONFIG_INVALID for a copy-on-write table, an unknown trigger, a strategy that does not fit.
            UnsupportedFeature: compaction-strategy.

        Clauses: CP-001, CP-003, CP-005, CP-008, CP-009, CP-013.

        """
        del params
        plan = plan_compaction(work, snapshot)
        return None if plan is None else ServicePlan(COMPACTION, serialise_compaction_plan(plan))

    def owns(self, work: TableWork, pending: Instant) -> bool:
        """Whether a pending action is a compaction."""
        del work
        return pending.action == COMPACTION

    def execute(self, work: TableWork, pending: Instant) -> Outcome:
        """Carry out a compaction that is requested, or that somebody left inflight.

        Raises:
            HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING for a file that the plan names; INSTANT_NOT_FOUND,
                WRITE_CONFLICT where somebody else was faster; the plan waits as before.
            FormatError: PATH_ESCAPES_TABLE for a plan that names other than data files of partitions.

        Clauses: CP-002, CP-004, CP-005, CP-006, CP-007, CP-010, SL-007.

        """
        plan = compaction_plan(work.storage, pending)
        refuse_foreign_slices(plan, pending.file)
        return carry_out(work, pending, plan, _KIND)
