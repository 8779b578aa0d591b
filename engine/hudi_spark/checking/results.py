"""What services made, against what they were to make it of: as long as those files are still there."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from hudi_format.schemas import META_FIELDS
from hudi_format.timeline.plan_values import CompactionOperation, SliceInfo
from hudi_format.timeline.plans import CompactionPlan, RequestedReplace

from hudi_spark.checking.stored import TableState
from hudi_spark.checking.violations import FOUND, Violations
from hudi_spark.effects.helper import joined
from hudi_spark.execution.planning import Query, read_context, slice_task
from hudi_spark.execution.tasks import SliceTask, run_task
from hudi_spark.flows.flow import Executor, TaskIdentity
from hudi_spark.readings import RELEASED
from hudi_spark.schemas.columns import stating_commit
from hudi_spark.schemas.origins import origins_of
from hudi_spark.state.commits import Commit
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot, load_snapshot

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
    """Slices that were read together, and what came of them; can be pickled."""

    clause: str
    where: str
    planned: tuple[SliceTask, ...]
    made: tuple[SliceTask, ...]


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
    logs = tuple(joined(partition, _name(path)) for path in operation.delta_file_paths)
    base_path = joined(partition, _name(base)) if base else None
    return FileSlice(partition, operation.file_id or "", operation.base_instant_time or "", base_path, logs)


def _slice(info: SliceInfo) -> FileSlice:
    partition, base = info.partition_path or "", info.data_file_path
    logs = tuple(joined(partition, _name(path)) for path in info.delta_file_paths)
    return FileSlice(partition, info.file_id or "", "", joined(partition, _name(base)) if base else None, logs)


def _of(state: TableState, planned: Snapshot, clause: str, where: str, made: Sequence[str]) -> Iterator[_Rewritten]:
    """The comparison of a plan; none where a file that it reads, or that was made, has been cleaned since."""
    named = [path for one in planned.slices for path in (one.base_file, *one.log_files) if path]
    if not all(path in state.stored.files for path in (*named, *made)):
        return
    context = read_context(state.storage, Query(meta_columns=True), planned)
    origins = origins_of(state.storage, planned)
    results = [FileSlice(path.rpartition("/")[0], _name(path).partition("_")[0], "", path, ()) for path in made]
    tasks = [tuple(slice_task(one, context, origins) for one in many) for many in (planned.slices, results)]
    yield _Rewritten(clause, where, *tasks)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _checked(one: _Rewritten, identity: TaskIdentity) -> pa.Table:
    """Clauses: CL-004, CP-004."""
    del identity
    violations = Violations()
    # What keeps a file from being read has been found already.
    with Violations().noting():
        expected, found = _rows(one.planned), _rows(one.made)
        if expected != found:
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
            found.update(map(repr, batch.to_pylist()))
    return found
