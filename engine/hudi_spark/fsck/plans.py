"""What plans and results say of each other and of the files, while these are there."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.headers import compacted_block_times
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.schemas import META_FIELDS
from hudi_format.timeline.plan_values import CompactionOperation, SliceInfo
from hudi_format.timeline.plans import (
    CleanerPlan,
    CleanMetadata,
    ClusteringPlan,
    CompactionPlan,
    RequestedReplace,
    RestorePlan,
    RollbackPlan,
    SavepointMetadata,
)

from hudi_spark.concurrency import joined
from hudi_spark.fsck.stored import TableState
from hudi_spark.fsck.timeline import INITIAL_VERSION, Contents, times_are_generated
from hudi_spark.fsck.violations import FOUND, Violations
from hudi_spark.merge import merge_rule
from hudi_spark.read import Executor, Query, SliceTask, TaskIdentity, read_context, run_task, slice_task
from hudi_spark.readings import RELEASED
from hudi_spark.schema import origins_of, plain_values, stating_commit
from hudi_spark.table_state import (
    DATA_ACTIONS,
    Commit,
    FileSlice,
    GroupId,
    Instant,
    LogFile,
    Snapshot,
    completion_times,
    file_name_of,
    files_to_clean,
    groups_of_plan,
    load_snapshot,
    logs_of_plan,
    plain_configuration,
    refuse_foreign_rollback,
    refuse_foreign_slices,
    refuse_no_instant,
)

_OF_ROWS = (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA, BlockType.DELETE)


@dataclass(frozen=True, slots=True)
class CompactedLog:
    """A log that a log compaction made, and the base instant of the slice that it was planned on."""

    state: TableState
    action: Instant
    base_instant: str
    path: str
    name: LogFileName


def check_compacted_log(made: CompactedLog, violations: Violations) -> None:
    """Its name and its blocks bear the right instant, and its blocks stand for others without a gap.

    A table that was upgraded or downgraded may have logs of before, under the name of then.

    Clauses: LC-003, LC-005.
    """
    requested, configuration = made.action.requested, made.state.configuration
    names = {True: requested, False: made.base_instant}
    wanted = names[configuration.has_completion_times]
    if made.name.instant not in {wanted, names[times_are_generated(configuration)]}:
        violations.error("LC-005", made.path, f"the name bears {made.name.instant} in place of {wanted}")
    blocks = list(_blocks(made.state, made.path))
    for instant in {_instant(one) for one in blocks} - {requested}:
        violations.error("LC-005", made.path, f"a block bears {instant} in place of {requested}")
    left = _left_out(made, {instant for one in blocks for instant in compacted_block_times(one)})
    if left:
        violations.error("LC-003", made.path, f"the blocks of {', '.join(left)} are left out")


def _left_out(made: CompactedLog, stands_for: set[str]) -> list[str]:
    """Instants whose blocks stood among those that a log compaction stands for.

    What came after all of them is merged after it, as it was before.

    Clauses: LC-003, LF-019.
    """
    before = [one for log in _logs_before(made) for one in _blocks(made.state, log.path)]
    sources = {_instant(one): set(compacted_block_times(one)) - {_instant(one)} for one in before}
    covered = {instant for replaced in sources.values() for instant in replaced}
    completions = completion_times(made.state.whole)

    def place(instant: str) -> str:
        """A log-compacted block stands where the newest of its own sources stood."""
        earlier = [one for one in sources.get(instant, ()) if one < instant]
        return max(map(place, earlier), default=completions.get(instant, instant))

    newest = max(map(place, stands_for), default="")
    counted = {one for one in sources if made.state.seen.sees(one) and one < made.action.requested}
    return sorted(one for one in counted - covered - stands_for if place(one) < newest)


def _logs_before(made: CompactedLog) -> Iterator[LogFile]:
    """The logs of the slice that were there when the log compaction was planned.

    Before version 8 they have the slice's name. After, they completed since its base instant.

    Clauses: LC-003, RD-005, RD-006.
    """
    completions = completion_times(made.state.whole)
    group = made.state.groups.get((made.path.rpartition("/")[0], made.name.file_id))
    for log in group.log_files if group else ():
        if log.name.cdc or log.path == made.path:
            continue
        if not made.state.configuration.has_completion_times:
            if log.name.instant == made.base_instant and log.name.version < made.name.version:
                yield log
        elif made.base_instant <= completions.get(log.name.instant, log.name.instant) < made.action.requested:
            yield log


def _blocks(state: TableState, path: str) -> Iterator[RawBlock]:
    found = (one for one in read_blocks(state.storage.read(path), path) if isinstance(one, RawBlock))
    return (one for one in found if one.type in _OF_ROWS)


def _instant(block: RawBlock) -> str:
    return block.header.get(HeaderKey.INSTANT_TIME, "")


_DELETING: Final = (CleanerPlan, RollbackPlan, RestorePlan)
_OF_ACTION: Final = {
    "compaction": "CP-003",
    "logcompaction": "LC-002",
    "clustering": "CL-002",
    "replacecommit": "CL-002",
}


def check_plans(state: TableState, violations: Violations) -> None:
    """Plans that wait, savepoints, rollbacks and results.

    Clauses: CL-002, CN-005, CN-006, CN-012, CP-003, CP-005, LC-002, LC-003, LC-005, RB-004, RB-005, SL-007, SR-002.
    """
    contents, stored = state.contents, frozenset(state.stored.files)
    _check_named(state, violations)
    _check_groups(contents, violations)
    _check_inputs(contents, stored, violations)
    if state.configuration.has_completion_times:
        _check_planned_logs(state, violations)
    _check_savepoints(contents, stored, violations)
    _check_rollbacks(contents, violations)
    _check_log_compactions(state, violations)
    _check_cleaned(contents, stored, violations)
    cleans = contents.timeline.pending("clean")
    for one in cleans[1:]:
        # Releases plan several where `hoodie.clean.allow.multiple` lets them, and no reader minds.
        violations.warning("CN-006", one.file, f"the clean {cleans[0].requested} is pending already")


def _services(contents: Contents) -> Iterator[tuple[Instant, CompactionPlan | ClusteringPlan]]:
    """Pending compactions, log compactions and clusterings, by requested time."""
    for one, plan in contents.pending(CompactionPlan, RequestedReplace).items():
        found = plan.clustering_plan if isinstance(plan, RequestedReplace) else plan
        if found is not None:
            yield one, found


def _check_named(state: TableState, violations: Violations) -> None:
    """Clauses: RB-003, SL-007, SR-006."""
    for one, plan in state.contents.pending(*_DELETING).items():
        with violations.noting(one.file):
            if isinstance(plan, CleanerPlan):
                files_to_clean(state.storage, plan, one.file)
            elif isinstance(plan, RollbackPlan):
                refuse_foreign_rollback(plan, one.file)
            else:
                for undone in plan.instants_to_rollback:
                    refuse_no_instant(undone.commit_time, one.file)
    for one, services_plan in _services(state.contents):
        with violations.noting(one.file):
            refuse_foreign_slices(services_plan, one.file)


def _check_groups(contents: Contents, violations: Violations) -> None:
    """Clauses: CL-002, CP-003, LC-002."""
    planned: dict[GroupId, Instant] = {}
    for one, plan in _services(contents):
        for group in sorted(groups_of_plan(plan)):
            earlier = planned.setdefault(group, one)
            if earlier is not one:
                message = f"the file group {'/'.join(group).lstrip('/')} is in the pending {earlier}"
                violations.error(_OF_ACTION[one.action], one.file, message)


def _check_inputs(contents: Contents, stored: frozenset[str], violations: Violations) -> None:
    """Clauses: CN-005, CP-005."""
    for one, plan in _services(contents):
        clause = "CP-005" if isinstance(plan, CompactionPlan) else "CN-005"
        for path in sorted(set(_inputs(plan)) - stored):
            violations.error(clause, path, f"the pending {one.action} {one.requested} reads it, storage lacks it")


def planned_files(contents: Contents) -> frozenset[str]:
    """The files that plans which wait read.

    Clauses: CN-005.
    """
    return frozenset(path for _, plan in _services(contents) for path in _inputs(plan))


def saved_files(contents: Contents) -> frozenset[str]:
    """The files that savepoints keep.

    Clauses: CN-008.
    """
    return frozenset(path for one in contents.results.values() for path in _kept(one))


def _kept(result: object) -> Iterator[str]:
    if isinstance(result, SavepointMetadata):
        for partition, kept in result.partition_metadata.items():
            yield from (joined(partition, name.rpartition("/")[2]) for name in kept.savepoint_data_file)


def _check_planned_logs(state: TableState, violations: Violations) -> None:
    """Before version 8 the name of a log does not tell its write.

    Clauses: CP-005.
    """
    completions = completion_times(state.whole)
    for one, plan in state.contents.plans.items():
        if not isinstance(plan, CompactionPlan):
            continue
        for path in _inputs(plan):
            name = parse_data_file_name(path.rpartition("/")[2])
            if isinstance(name, LogFileName):
                done = completions.get(name.instant, name.instant)
                if not state.seen.sees(name.instant):
                    violations.error("CP-005", path, f"the plan {one.requested} names it, its write has not completed")
                elif done >= one.requested and name.instant in completions:
                    violations.error("CP-005", path, f"the plan {one.requested} names it, it completed later")


def _inputs(plan: CompactionPlan | ClusteringPlan) -> Iterator[str]:
    """The files that a plan reads; those of a clustering are reported by absolute paths, of which the names count."""
    slices = (
        plan.operations if isinstance(plan, CompactionPlan) else [one for g in plan.input_groups for one in g.slices]
    )
    for one in slices:
        for path in (one.data_file_path, *one.delta_file_paths):
            if path:
                yield joined(one.partition_path or "", path.rpartition("/")[2])


def _check_savepoints(contents: Contents, stored: frozenset[str], violations: Violations) -> None:
    """Clauses: SR-002."""
    for one, result in contents.results.items():
        for path in sorted(set(_kept(result)) - stored):
            violations.error("SR-002", path, f"the savepoint {one.requested} keeps it, storage lacks it")


def _check_rollbacks(contents: Contents, violations: Violations) -> None:
    """A rollback that waits undoes what has not completed, and no write is undone twice.

    Where a restore waits, the rollbacks are its own.

    Clauses: RB-003, RB-004, RB-005, TL-023.
    """
    if contents.timeline.pending("restore"):
        return
    completed = {one.requested: one for one in contents.timeline.one_of_each_time if one.is_completed}
    undone: dict[str, Instant] = {}
    for one, plan in contents.pending(RollbackPlan).items():
        target = "" if plan.instant_to_rollback is None else plan.instant_to_rollback.commit_time
        earlier = undone.setdefault(target, one)
        if earlier is not one:
            violations.error("RB-004", one.file, f"{earlier.requested} is pending and rolls {target} back already")
        if target in completed and completed[target].action in DATA_ACTIONS:
            # One that completes later completes while somebody rolls it back.
            clause = "TL-023" if completed[target].at("completed") > one.requested else "RB-005"
            violations.error(clause, one.file, f"the rollback is of {target}, which has completed")


def check_carried_out(contents: Contents, violations: Violations) -> None:
    """Compactions and clusterings that have completed did what their plans say.

    Clauses: CL-006, CP-006.
    """
    commits = {commit.instant: commit for commit in contents.commits}
    for one, plan in contents.plans.items():
        commit = commits.get(one)
        if commit is None:
            continue
        if isinstance(plan, CompactionPlan) and one.action == "commit":
            _check_same(commit, groups_of_plan(plan), commit.groups() | _may_leave_nothing(plan), "CP-006", violations)
        elif isinstance(plan, RequestedReplace) and plan.clustering_plan is not None:
            _check_same(commit, groups_of_plan(plan.clustering_plan), commit.replaced_groups(), "CL-006", violations)


def _may_leave_nothing(plan: CompactionPlan) -> frozenset[GroupId]:
    """Planned groups of logs alone: where these leave no row, no base file is written.

    Clauses: CP-006.
    """
    bare = (one for one in plan.operations if not one.data_file_path)
    return frozenset((one.partition_path or "", one.file_id or "") for one in bare)


def _check_log_compactions(state: TableState, violations: Violations) -> None:
    """Clauses: LC-003, LC-005."""
    commits = {commit.instant: commit for commit in state.commits}
    for one, plan in state.contents.plans.items():
        if isinstance(plan, CompactionPlan) and one in commits and one.action == "deltacommit":
            planned = {(each.partition_path or "", each.file_id or ""): each for each in plan.operations}
            for group, path, name in commits[one].log_files():
                if group in planned and path in state.stored.files:
                    with violations.noting(path):
                        made = CompactedLog(state, one, planned[group].base_instant_time or "", path, name)
                        check_compacted_log(made, violations)


def _check_same(
    commit: Commit, planned: frozenset[GroupId], done: frozenset[GroupId], clause: str, violations: Violations
) -> None:
    for group in sorted(planned ^ done):
        name = "/".join(group).lstrip("/")
        message = f"the file group {name} was planned and left out" if group in planned else f"{name} was not planned"
        violations.error(clause, commit.instant.file, message)


def _check_cleaned(contents: Contents, stored: frozenset[str], violations: Violations) -> None:
    """A file that a clean says it deleted; no newest slice has it.

    Clauses: CN-012.
    """
    for one, result in contents.results.items():
        if isinstance(result, CleanMetadata):
            for partition, cleaned in result.partition_metadata.items():
                paths = {joined(partition, name.rpartition("/")[2]) for name in cleaned.success_delete_files}
                for path in sorted(paths & stored):
                    violations.warning("CN-012", path, f"the clean {one.requested} says that it deleted the file")


_MODE: Final = "hoodie.record.merge.mode"
_FIRST_WITH_MODES: Final = 8
_LATEST_WINS: Final = {"hoodie.compaction.payload.class": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"}
_MERGING: Final = frozenset({_MODE, "hoodie.record.merge.strategy.id", "hoodie.table.legacy.payload.class"})
_ROWS_AT_A_TIME: Final = 10_000
_CLUSTER: Final = "CLUSTER"


def check_results(state: TableState, executor: Executor, violations: Violations) -> None:
    """Base files of compactions and clusterings hold the rows of the slices that were planned: one job.

    Clauses: CL-004, CP-004.
    """
    refused = Violations()
    with refused.noting():
        snapshot = load_snapshot(state.storage, RELEASED)
        commits = {commit.instant: commit for commit in state.commits}
        rewritten = [
            one
            for instant, plan in state.contents.plans.items()
            if instant in commits
            for one in _rewritten(state, snapshot, plan, commits[instant])
        ]
        if rewritten:
            violations.gathered(executor.tasks(rewritten, _checked, FOUND).gathered())


@dataclass(frozen=True, slots=True)
class _Rewritten:
    """Slices that were read together, and what came of them; can be pickled.

    `earlier`: the slices as an older version of the table merged them, which may be when they were rewritten.
    """

    clause: str
    where: str
    planned: tuple[SliceTask, ...]
    made: tuple[SliceTask, ...]
    earlier: tuple[SliceTask, ...]


def _rewritten(state: TableState, snapshot: Snapshot, plan: object, commit: Commit) -> Iterator[_Rewritten]:
    """Clauses: CL-004, CP-004."""
    requested, made = commit.instant.requested, commit.base_files()
    if isinstance(plan, CompactionPlan) and commit.instant.action == "commit":
        for operation in plan.operations:
            planned = _slice_of(operation)
            path = made.get((planned.partition, planned.file_id))
            if path is not None:
                yield from _of(state, _before(snapshot, requested, (planned,)), "CP-004", path, (path,))
    clustering = plan.clustering_plan if isinstance(plan, RequestedReplace) else None
    if clustering is not None and commit.metadata.operation_type == _CLUSTER:
        slices = tuple(_slice(info) for group in clustering.input_groups for info in group.slices)
        found = _before(snapshot, requested, slices)
        yield from _of(state, found, "CL-004", commit.instant.file, tuple(made.values()))


def _before(snapshot: Snapshot, requested: str, slices: tuple[FileSlice, ...]) -> Snapshot:
    """Slices as they were when something was requested: only what had completed by then counts.

    Clauses: CL-004, CP-004.
    """
    done = tuple(
        one for one in snapshot.commits if one.instant.requested < requested and one.instant.at("completed") < requested
    )
    known = snapshot.visibility.visible & frozenset(one.instant.requested for one in done)
    # Archival may have taken all that stated the schema then; a later one has room for the same rows.
    stating = done if stating_commit(done) is not None else snapshot.commits
    return replace(snapshot, commits=stating, visibility=replace(snapshot.visibility, visible=known), slices=slices)


def _slice_of(operation: CompactionOperation) -> FileSlice:
    partition, base = operation.partition_path or "", operation.data_file_path
    logs = logs_of_plan(partition, operation.delta_file_paths, {})
    base_path = joined(partition, file_name_of(base)) if base else None
    return FileSlice(partition, operation.file_id or "", operation.base_instant_time or "", base_path, logs)


def _slice(info: SliceInfo) -> FileSlice:
    partition, base = info.partition_path or "", info.data_file_path
    logs = logs_of_plan(partition, info.delta_file_paths, {})
    return FileSlice(partition, info.file_id or "", "", joined(partition, file_name_of(base)) if base else None, logs)


def _of(state: TableState, planned: Snapshot, clause: str, where: str, made: Sequence[str]) -> Iterator[_Rewritten]:
    """The comparison of a plan; none where a file that it reads, or that was made, has been cleaned since."""
    named = [path for one in planned.slices for path in (one.base_file, *one.log_files) if path]
    if not all(path in state.stored.files for path in (*named, *made)):
        return
    results = [FileSlice(path.rpartition("/")[0], file_name_of(path).partition("_")[0], "", path, ()) for path in made]
    earlier = by_commit_time(planned)
    tasks = _tasks(state, planned, planned.slices), _tasks(state, planned, results)
    yield _Rewritten(clause, where, *tasks, _tasks(state, earlier, planned.slices) if earlier else ())


def _tasks(state: TableState, snapshot: Snapshot, slices: Sequence[FileSlice]) -> tuple[SliceTask, ...]:
    context = read_context(state.storage, Query(meta_columns=True), snapshot)
    origins = origins_of(state.storage, snapshot)
    return tuple(slice_task(one, context, origins) for one in slices)


def by_commit_time(snapshot: Snapshot) -> Snapshot | None:
    """The table by commit time, where event time was that before an upgrade from version 6; None where it was not.

    Nothing says when that was: what was compacted until then, by the upgrade itself too, has the rows of then.

    Clauses: CP-004, VR-007.
    """
    properties = snapshot.configuration.properties
    first = properties.get(INITIAL_VERSION, "").strip()
    if not first.isdecimal() or times_are_generated(snapshot.configuration):
        return None
    if merge_rule(snapshot.configuration).mode != "EVENT_TIME_ORDERING":
        return None
    kept = {name: text for name, text in properties.items() if name not in _MERGING}
    stated = {} if snapshot.configuration.version < _FIRST_WITH_MODES else {_MODE: "COMMIT_TIME_ORDERING"}
    return replace(snapshot, configuration=plain_configuration({**kept, **stated, **_LATEST_WINS}))


def _checked(one: _Rewritten, identity: TaskIdentity) -> pa.Table:
    """Clauses: CL-004, CP-004."""
    del identity
    violations = Violations()
    # What keeps a file from being read has been found already.
    with Violations().noting():
        expected, found = _rows(one.planned), _rows(one.made)
        if found not in (expected, _rows(one.earlier) if one.earlier else expected):
            lacking, extra = (expected - found).total(), (found - expected).total()
            message = f"{lacking} rows of the planned slices are not there, {extra} rows are others"
            violations.error(one.clause, one.where, message)
    return violations.rows()


def _rows(tasks: Sequence[SliceTask]) -> Counter[str]:
    """The rows that slices merge to, without their meta fields."""
    found: Counter[str] = Counter()
    for task in tasks:
        rows = run_task(task).rows
        kept = rows.select([name for name in rows.column_names if name not in META_FIELDS])
        for batch in kept.to_batches(max_chunksize=_ROWS_AT_A_TIME):
            found.update(map(repr, zip(*map(plain_values, batch.columns), strict=True)))
    return found
