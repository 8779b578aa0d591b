"""What waits to be done, against what is there: plans' files, groups in two plans, cleans that would take too much."""

from collections import defaultdict
from collections.abc import Iterator

from hudi_model.actions import (
    Action,
    CleanMetadata,
    CleanPlan,
    CompactionOperation,
    CompactionPlan,
    ReplacePlan,
    RollbackPlan,
    SavepointMetadata,
    State,
)
from hudi_model.files import BaseFile, FileSlice, GroupId, LogFile
from hudi_model.services import cleaning, rollback
from hudi_model.services.plans import files_of_slices, foreign, pending_slices
from hudi_model.slicing import data_files, group_of, path_of
from hudi_model.tables import View, replaced_groups
from hudi_model.timeline import Timeline, is_committed

from hudi_model_tools.checks.finding import Violation, error, warning
from hudi_model_tools.checks.timeline import undone_by

Names = frozenset[tuple[str, str]]


def plan_violations(view: View, slices: tuple[FileSlice, ...]) -> Iterator[Violation]:
    """Every fault of plans that wait, and files that a savepoint keeps and storage has not.

    Clauses: CP-003, CP-005, LC-002, CL-002, CN-001, CN-005, CN-008, CN-012, SL-007, SR-002, SR-007.
    """
    pending, state = pending_slices(view.table.timeline), view.table.state
    present = frozenset((one.partition, one.name) for one in data_files(state))
    gone = replaced_groups(view)
    wanted = [one for one in pending if group_of(one[1]) not in gone]
    pending_logs = frozenset((one.partition, one.name) for one in state.log_files if is_pending(view, one))
    for action, planned in wanted:
        yield from planned_violations(action, planned, present, pending_logs)
    yield from shared_groups(wanted)
    for where, partition, name in sorted(saved_files(view.table.timeline)):
        if (partition, name) not in present:
            yield error("SR-002", where, f"keeps {partition}/{name}, which storage lacks")
    needed = {one: "CN-001" for found in slices for one in names_of(found)}
    needed |= {one: "CN-005" for _, planned in wanted for one in planned_names(planned)}
    needed |= {(partition, name): "CN-008" for _, partition, name in saved_files(view.table.timeline)}
    yield from foreign_names(view)
    yield from greedy_cleans(view.table.timeline, needed)
    yield from removed_and_there(view, present)


def planned_violations(
    action: Action, planned: CompactionOperation, present: Names, pending_logs: Names
) -> Iterator[Violation]:
    """A planned slice of which a file is gone, or holds rows that have not been committed.

    Clauses: CP-005, CN-005, LC-001, CL-003.
    """
    where = f"{action} of {planned.partition}/{planned.file_id}"
    clause = "CN-005" if action is Action.CLUSTERING else "CP-005"
    for partition, name in sorted(planned_names(planned) - present):
        yield error(clause, where, f"plans to read {partition}/{name}, which storage lacks")
    for partition, name in sorted(planned_names(planned) & pending_logs):
        yield error(clause, where, f"plans to read {partition}/{name}, whose write has not completed")


def is_pending(view: View, log: LogFile) -> bool:
    """[New in v8] Whether the write that a log is named after has not completed."""
    return not view.configuration.rules.logs_name_their_slice and not is_committed(view.table.timeline, log.instant)


def planned_names(planned: CompactionOperation) -> Names:
    """The files of a planned slice."""
    names = (*([planned.base_file] if planned.base_file else []), *planned.log_files)
    return frozenset((planned.partition, name) for name in names)


def names_of(found: FileSlice) -> Names:
    """The files of a slice."""
    names = (*([found.base_file.name] if found.base_file else []), *(one.name for one in found.log_files))
    return frozenset((found.partition, name) for name in names)


def shared_groups(pending: list[tuple[Action, CompactionOperation]]) -> Iterator[Violation]:
    """File groups that two plans hold which wait at the same time.

    Clauses: CP-003, CL-002, LC-002.
    """
    clauses = {Action.CLUSTERING: "CL-002", Action.LOG_COMPACTION: "LC-002"}
    plans: dict[GroupId, list[Action]] = defaultdict(list)
    for action, planned in pending:
        plans[group_of(planned)].append(action)
    for (partition, file_id), actions in plans.items():
        if len(actions) > 1:
            clause = clauses.get(actions[-1], "CP-003")
            yield error(clause, f"{partition}/{file_id}", f"{' and '.join(actions)} of the group wait together")


def saved_files(timeline: Timeline) -> frozenset[tuple[str, str, str]]:
    """The files that savepoints keep: by which savepoint, in which partition, under which name."""
    return frozenset(
        (f"{one.requested}.savepoint", *pair)
        for one in timeline.instants
        if isinstance(one.content, SavepointMetadata) and one.state is State.COMPLETED
        for pair in one.content.files
    )


def greedy_cleans(timeline: Timeline, needed: dict[tuple[str, str], str]) -> Iterator[Violation]:
    """A clean that waits and would remove what a snapshot, a plan or a savepoint needs.

    Clauses: CN-001, CN-005, CN-008.
    """
    done = {one.requested for one in timeline.entries if one.state is State.COMPLETED}
    for entry in timeline.entries:
        if entry.requested not in done and isinstance(entry.content, CleanPlan):
            for partition, name in sorted(entry.content.files & needed.keys()):
                yield error(needed[partition, name], entry.name, f"the clean is to remove {partition}/{name}")


def foreign_names(view: View) -> Iterator[Violation]:
    """Plans that wait and name other than data files of partitions: nobody may carry them out.

    Clauses: SL-007.
    """
    timeline, unplaced = view.table.timeline, view.table.state.evidence.unplaced
    done = {one.requested for one in timeline.entries if one.state is State.COMPLETED}
    for entry in timeline.entries:
        match entry.content:
            case CleanPlan() as plan:
                named = cleaning.named_files(plan)
                strange = frozenset(one for one in plan.files if "/".join(one) in unplaced)
            case RollbackPlan() as plan:
                named, strange = rollback.named_files(plan), frozenset()
            case CompactionPlan(operations):
                named, strange = files_of_slices(operations), frozenset()
            case ReplacePlan(groups=groups):
                named, strange = files_of_slices(one for group in groups for one in group.slices), frozenset()
            case _:
                continue
        if entry.requested not in done and entry.state is State.REQUESTED:
            for partition, name in sorted({*foreign(named), *strange}):
                yield error("SL-007", entry.name, f"names {partition}/{name}, no data file of a partition")


def removed_and_there(view: View, present: Names) -> Iterator[Violation]:
    """Files that a completed clean says it deleted, and those of writes that a restore undid: nobody reads them.

    Clauses: CN-012, SR-007.
    """
    state, timeline = view.table.state, view.table.timeline
    restored = {one.requested: undone_by(one) for one in timeline.instants if one.action is Action.RESTORE}
    for one in timeline.instants:
        if isinstance(one.content, CleanMetadata):
            for partition, name in sorted(one.content.deleted_files & present):
                yield warning("CN-012", f"{one.requested}.clean", f"deleted {partition}/{name}, which is there")
    for file in data_files(state) if restored else ():
        own = isinstance(file, BaseFile) or not view.configuration.rules.logs_name_their_slice
        tellers = sorted(one for one, undone in restored.items() if own and file.instant in undone)
        if tellers and not is_committed(timeline, file.instant):
            yield warning("SR-007", path_of(file), f"its write was undone by the restore {tellers[0]}")
