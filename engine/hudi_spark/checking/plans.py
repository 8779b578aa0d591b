"""What plans and results say of each other: no group in two plans, no file gone that a plan or a savepoint needs."""

from collections.abc import Iterator
from typing import Final

from hudi_format.names import LogFileName, parse_data_file_name
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

from hudi_spark.checking.compacted_logs import CompactedLog, check_compacted_log
from hudi_spark.checking.contents import Contents
from hudi_spark.checking.stored import TableState
from hudi_spark.checking.violations import Violations
from hudi_spark.effects.helper import joined
from hudi_spark.state.commits import Commit, GroupId
from hudi_spark.state.named_files import refuse_no_instant
from hudi_spark.state.pending_plans import (
    files_to_clean,
    groups_of_plan,
    refuse_foreign_rollback,
    refuse_foreign_slices,
)
from hudi_spark.state.slicing import completion_times
from hudi_spark.state.timeline import DATA_ACTIONS, Instant

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
    """The files that a plan reads; those of a clustering are told by absolute paths, of which the names count."""
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
    completed = {one.requested: one for one in contents.timeline.instants if one.is_completed and not one.is_savepoint}
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
            begun = {(each.partition_path or "", each.file_id or ""): each for each in plan.operations}
            for group, path, name in commits[one].log_files():
                if group in begun and path in state.stored.files:
                    with violations.noting(path):
                        made = CompactedLog(state, one, begun[group].base_instant_time or "", path, name)
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
