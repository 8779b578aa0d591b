"""What table services share: who waits for whom, plans, the slices they may take, how files come into the table."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from hudi_model.actions import Action, CommitMetadata, CompactionOperation, CompactionPlan, Plan, ReplacePlan, State
from hudi_model.effects import DATA_FILE, DeleteMarkers, Effects, entry
from hudi_model.files import FileSlice, GroupId
from hudi_model.metadata import with_metadata
from hudi_model.partitions import is_partition_path
from hudi_model.rejection import Reason, Rejection
from hudi_model.schemas import table_schema
from hudi_model.slicing import group_of, in_merge_order, snapshot_slices
from hudi_model.staging import Staged, placing, unplacing
from hudi_model.tables import Reading, Readings, Table, View, open_table, view_at
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline, completed_action

REWRITING = frozenset({Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING})
"""The services that read slices and write them anew."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A service beside others: whose file groups its plans leave out, and whether updates make it abort."""

    leaves_out: frozenset[Action] = frozenset()
    aborts_when_updated: bool = False


EXPECTATIONS = {
    Action.CLEAN: Expectation(),
    Action.CLUSTERING: Expectation(REWRITING, aborts_when_updated=True),
    Action.COMPACTION: Expectation(REWRITING),
    Action.LOG_COMPACTION: Expectation(REWRITING),
    Action.INDEXING: Expectation(),
}
"""The table of the text, and log compaction as released."""


def may_run_beside(service: Action, group: GroupId, pending: AbstractSet[tuple[Action, GroupId]]) -> bool:
    """Whether a service may plan a file group while others have plans pending on theirs.

    Clauses: CP-003, LC-002, CL-002, CN-006, IG-006.
    """
    return not any((action, group) in pending for action in EXPECTATIONS[service].leaves_out)


PlanKind = TypeVar("PlanKind", bound=Plan)
Settings: TypeAlias = Mapping[str, str]
OPERATIONS = {Action.COMPACTION: "COMPACT", Action.LOG_COMPACTION: "LOG_COMPACT"}


def view_before(table: Table, requested: InstantTime, readings: Readings) -> View:
    """The table as a plan sees it: what had completed by the plan's own instant, and nothing later.

    Clauses: CP-004, LC-001, CL-004.
    """
    return view_at(open_table(table), requested, replace(readings, time_travel=Reading.TEXT))


def request(table: Table, requested: InstantTime, action: Action, plan: Plan) -> Effects:
    """A plan on the timeline: any process may execute it from now on.

    Clauses: CP-002, CP-011, CP-012, CL-003, CN-009.
    """
    return (entry(table, requested, action, State.REQUESTED, plan),)


def is_completed(table: Table, requested: InstantTime) -> bool:
    """Whether the action requested then has completed: whoever tries again has nothing left to do."""
    return any(one.requested == requested and one.state is State.COMPLETED for one in table.timeline)


def plan_of(table: Table, requested: InstantTime, kind: type[PlanKind]) -> PlanKind:
    """The plan that was requested then.

    Raises: INSTANT_NOT_FOUND.
    """
    for one in table.timeline:
        if one.requested == requested and one.state is State.REQUESTED and isinstance(one.content, kind):
            return one.content
    raise Rejection(Reason.INSTANT_NOT_FOUND, "CP-002", requested, f"no {kind.__name__} was requested then")


def refuse_foreign(files: Iterable[tuple[str, str]]) -> None:
    """Nothing, unless a plan names other than data files of partitions.

    Raises: PATH_ESCAPES_TABLE.

    Clauses: SL-007.
    """
    for partition, name in foreign(files):
        raise Rejection(Reason.PATH_ESCAPES_TABLE, "SL-007", f"{partition}/{name}", "a plan names it")


def foreign(files: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Those of named files that are no data files of partitions, whatever storage holds; of no name the partition only.

    Clauses: SL-007.
    """
    named = sorted(files)
    return tuple(
        one for one in named if not is_partition_path(one[0]) or not (one[1] == "" or DATA_FILE.fullmatch(one[1]))
    )


def files_of_slices(slices: Iterable[CompactionOperation]) -> frozenset[tuple[str, str]]:
    """The files that planned slices name, by partition and name."""
    return frozenset((one.partition, name) for one in slices for name in (one.base_file or "", *one.log_files))


def pending_slices(timeline: Timeline) -> tuple[tuple[Action, CompactionOperation], ...]:
    """The slices that services still need which read slices and write them anew, and which service it is.

    Clauses: CP-003, LC-002, CL-002, CN-005.
    """
    done = {one.requested for one in timeline.entries if one.state is State.COMPLETED}
    found: list[tuple[Action, CompactionOperation]] = []
    for one in timeline.entries:
        match one.content if one.state is State.REQUESTED and one.requested not in done else None:
            case CompactionPlan(operations):
                found += ((one.action, operation) for operation in operations)
            case ReplacePlan(groups=groups):
                found += ((Action.CLUSTERING, operation) for group in groups for operation in group.slices)
    return tuple(found)


def free_slices(view: View, service: Action) -> tuple[FileSlice, ...]:
    """The slices of a snapshot whose file groups are in no pending plan that the service leaves alone.

    Clauses: CP-003, LC-002, CL-002.
    """
    pending = {(action, group_of(one)) for action, one in pending_slices(view.table.timeline)}
    return tuple(one for one in snapshot_slices(view) if may_run_beside(service, group_of(one), pending))


def operation_on(found: FileSlice) -> CompactionOperation:
    """A slice as plans name it: every file of it."""
    base = found.base_file.name if found.base_file else None
    names = tuple(log.name for log in found.log_files)
    return CompactionOperation(found.partition, found.file_id, found.base_instant, base, names)


def planned_slice(view: View, operation: CompactionOperation) -> FileSlice:
    """The slice that a plan names: its files and none that came later, the logs as a snapshot reads them.

    Raises: BASE_FILE_MISSING, LOG_FILE_MISSING.

    Clauses: CP-005, RD-007.
    """
    table, group = view.table.state, group_of(operation)
    base = next((one for one in table.base_files if group_of(one) == group and one.name == operation.base_file), None)
    logs = {one.name: one for one in table.log_files if group_of(one) == group}
    if operation.base_file and not base:
        raise Rejection(Reason.BASE_FILE_MISSING, "CP-005", operation.base_file, "a plan names it, storage lacks it")
    for name in (one for one in operation.log_files if one not in logs):
        raise Rejection(Reason.LOG_FILE_MISSING, "CP-005", name, "a plan names it, storage lacks it")
    named = (logs[name] for name in operation.log_files)
    return FileSlice(*group, operation.base_instant, base, in_merge_order(view, named))


def carry_out(  # noqa: PLR0917 - what a service knows when it starts to write
    view: View, action: Action, requested: InstantTime, completed: InstantTime, staged: Iterable[Staged],
    replaced: frozenset[GroupId] = frozenset(),
) -> Effects:  # fmt: skip
    """Inflight; away with what a failed attempt left; the files, each after its marker; then they count.

    Clauses: CP-006, CP-007, CP-010, LC-006, CL-006, TL-006.
    """
    table, files = view.table.state, tuple(staged)
    operation, stats = OPERATIONS.get(action, "CLUSTER"), tuple(one.stat for one in files)
    metadata = CommitMetadata(operation, operation == "COMPACT", stats, replaced, table_schema(view), {})
    effects = (
        entry(table, requested, action, State.INFLIGHT),
        *unplacing(table, requested),
        *(effect for one in files for effect in placing(table, requested, one)),
        entry(table, requested, completed_action(action), State.COMPLETED, metadata, completed),
        DeleteMarkers(requested),
    )
    return with_metadata(table, effects)
