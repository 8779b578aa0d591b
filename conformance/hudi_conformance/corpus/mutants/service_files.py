"""Rules of plans and of what services make of them, broken: what is planned, which rows come out, how it completes."""

from dataclasses import replace
from typing import Any

from hudi_model.actions import Action, CommitMetadata, CompactionPlan, State
from hudi_model.blocks import blocks_of
from hudi_model.effects import CreateInstant, DeleteDataFile, Effect, Effects
from hudi_model.files import BaseFile, DataBlock, FileSlice, Record
from hudi_model.services import plans
from hudi_model.slicing import snapshot_slices
from hudi_model.staging import Staged
from hudi_model.tables import RELEASED, Table, View, open_table, view_at
from hudi_model.time import InstantTime

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "executor-plans-anew",
    "CP-002 CP-005 TL-025",
    "Who carries out a compaction takes the slices as they are by then.",
    "services.compaction.compacted",
)
def _executor_plans_anew(original: Function) -> Function:
    def as_now(view: View, found: FileSlice, requested: InstantTime) -> Staged:
        now = view_at(open_table(view.table.state), None, RELEASED)
        group = found.partition, found.file_id
        logs = next(one.log_files for one in snapshot_slices(now) if (one.partition, one.file_id) == group)
        staged: Staged = original(now, replace(found, log_files=logs), requested)
        return staged

    return as_now


@mutant(
    "compaction-waits-for-writers",
    "CP-009 CP-011",
    "No compaction is planned while a write is pending, in any version.",
    "services.compaction.waits_for_writers",
)
def _compaction_waits_for_writers(_: Function) -> Function:
    def waits(view: View) -> bool:
        return any(one.state < State.COMPLETED and one.action in plans_of_writes() for one in view.timeline.instants)

    return waits


def plans_of_writes() -> tuple[Action, ...]:
    """The actions of writers."""
    return Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT


@mutant(
    "compaction-dates-its-files-late",
    "CP-006",
    "The base files of a compaction bear another instant than its request.",
    "services.compaction.compacted",
)
def _compaction_dates_its_files_late(original: Function) -> Function:
    def late(view: View, found: FileSlice, requested: InstantTime) -> Staged:
        staged: Staged = original(view, found, InstantTime(str(int(requested) + 1)))
        return staged

    return late


@mutant(
    "compaction-completes-as-a-write",
    "CP-006 LC-006",
    "A compaction, of logs or not, completes as an upsert.",
    "services.plans.carry_out",
)
def _compaction_completes_as_a_write(original: Function) -> Function:
    def written(*given: Any) -> Effects:
        return tuple(as_upsert(one) for one in original(*given))

    return written


def as_upsert(effect: Effect) -> Effect:
    """The completed file of a service as a writer would put it."""
    if isinstance(effect, CreateInstant) and isinstance(effect.entry.content, CommitMetadata):
        content = replace(effect.entry.content, operation="UPSERT", compacted=False)
        return CreateInstant(replace(effect.entry, content=content))
    return effect


def stamped(row: Record, instant: InstantTime) -> Record:
    """A row that says another write brought it."""
    return replace(row, values={**row.values, "_hoodie_commit_time": instant})


def stamping(staged: Staged, requested: InstantTime) -> Staged:
    """A base file whose rows say that the service wrote them."""
    file = staged.file
    if not isinstance(file, BaseFile) or not isinstance(file.records, tuple):
        return staged
    return replace(staged, file=replace(file, records=tuple(stamped(one, requested) for one in file.records)))


@mutant(
    "compaction-rewrites-commit-time",
    "CP-007",
    "Rows of a compaction say that it wrote them.",
    "services.compaction.compacted",
)
def _compaction_rewrites_commit_time(original: Function) -> Function:
    return lambda view, found, requested: stamping(original(view, found, requested), requested)


@mutant(
    "clustering-rewrites-commit-time",
    "CL-007",
    "Rows of a clustering say that it wrote them.",
    "services.clustering.clustered",
)
def _clustering_rewrites_commit_time(original: Function) -> Function:
    def rewritten(view: View, plan: Any, place: int, requested: InstantTime) -> Any:
        return (stamping(one, requested) for one in original(view, plan, place, requested))

    return rewritten


@mutant(
    "empty-slices-get-no-base-file",
    "CP-007",
    "A slice in which no row is left gets no base file.",
    "services.plans.carry_out",
)
def _empty_slices_get_no_base_file(original: Function) -> Function:
    def filled(view: View, action: Action, requested: Any, completed: Any, staged: Any, *replaced: Any) -> Effects:
        kept = [one for one in staged if getattr(one.file, "records", True)]
        effects: Effects = original(view, action, requested, completed, kept, *replaced)
        return effects

    return filled


@mutant(
    "clustering-waits-under-another-name",
    "CL-003",
    "Clustering is requested as the other versions do.",
    "services.clustering.action_of",
)
def _clustering_waits_under_another_name(original: Function) -> Function:
    def other(view: View) -> Action:
        return Action.CLUSTERING if original(view) is Action.REPLACE_COMMIT else Action.REPLACE_COMMIT

    return other


@mutant(
    "log-compaction-removes-its-logs",
    "LC-001 LC-009",
    "A log compaction removes the logs that it stands for.",
    "services.log_compaction.execute",
)
def _log_compaction_removes_its_logs(original: Function) -> Function:
    def removing(table: Table, requested: InstantTime, *given: Any) -> Effects:
        effects: Effects = original(table, requested, *given)
        planned = plans.plan_of(table, requested, CompactionPlan).operations if effects else ()
        return (*effects, *(DeleteDataFile(one.partition, name) for one in planned for name in one.log_files))

    return removing


@mutant(
    "log-compaction-completes-as-commit",
    "LC-006 TL-006",
    "A log compaction completes under the name of a compaction.",
    "timeline.completed_action",
)
def _log_compaction_completes_as_commit(original: Function) -> Function:
    return lambda action: Action.COMMIT if action is Action.LOG_COMPACTION else original(action)


@mutant(
    "cleaner-takes-compacted-logs",
    "LC-009",
    "Logs go as soon as a log compaction stands for their blocks.",
    "services.cleaning.removable_files",
)
def _cleaner_takes_compacted_logs(original: Function) -> Function:
    def more(view: View, *how: Any) -> Any:
        blocks = [(log, block) for log in view.table.state.log_files for block in blocks_of(log)]
        stood_for = {instant for _, one in blocks if isinstance(one, DataBlock) for instant in one.compacted_instants}
        gone = {(log.partition, log.name) for log, one in blocks if getattr(one, "instant", "") in stood_for}
        return original(view, *how) | gone

    return more


@mutant(
    "indexing-waits-for-plans",
    "IG-006",
    "No index is planned while a table service has a plan.",
    "services.indexing.schedule",
)
def _indexing_waits_for_plans(original: Function) -> Function:
    def patient(table: Table, *given: Any) -> Effects:
        waiting = plans.pending_slices(open_table(table).timeline)
        return () if waiting else original(table, *given)

    return patient


@mutant(
    "copy-on-write-is-compacted",
    "CP-001",
    "A compaction of a table without logs is no error, it has nothing to do.",
    "services.compaction.schedule",
)
def _copy_on_write_is_compacted(original: Function) -> Function:
    def nothing(table: Table, *given: Any) -> Effects:
        merge_on_read = open_table(table).configuration.merge_on_read
        return original(table, *given) if merge_on_read else ()

    return nothing


@mutant(
    "unrequested-indexes-are-planned",
    "IG-001",
    "Statistics of columns are planned though they are not requested.",
    "services.indexing.schedule",
)
def _unrequested_indexes_are_planned(original: Function) -> Function:
    def generous(table: Table, requested: InstantTime, settings: plans.Settings, *given: Any) -> Effects:
        changed = {**settings, "hoodie.metadata.index.column.stats.enable": "true"}
        effects: Effects = original(table, requested, changed, *given)
        return effects

    return generous
