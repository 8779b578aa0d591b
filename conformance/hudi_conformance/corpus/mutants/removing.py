"""Rules of what is removed, broken: by cleaning, rollback, restore, savepoints and archival."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hudi_model.actions import Action, RestorePlan, RollbackPlan, State
from hudi_model.effects import CreateInstant, DeleteDataFile, DeleteInstant, Effects, entry
from hudi_model.files import BaseFile, LogFile
from hudi_model.rejection import Reason, Rejection
from hudi_model.services import archival, plans, rollback, savepoints
from hudi_model.tables import OpenTable, Table, View, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import WRITE_ACTIONS

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "hours-count-from-the-last-write",
    "CN-003",
    "Where hours are retained, only the last write is.",
    "services.cleaning.earliest_to_retain",
)
def _hours_count_from_the_last_write(original: Function) -> Function:
    def last(view: View, now: InstantTime, settings: Mapping[str, str]) -> InstantTime | None:
        if settings.get("hoodie.clean.policy") != "KEEP_LATEST_BY_HOURS":
            found: InstantTime | None = original(view, now, settings)
            return found
        writes = (one for one in view.timeline.instants if one.action in WRITE_ACTIONS)
        return max((one.requested for one in writes if one.state is State.COMPLETED), default=None)

    return last


@mutant(
    "cleans-planned-beside-each-other",
    "CN-006",
    "A clean is planned while another one waits.",
    "services.cleaning.schedule",
)
def _cleans_planned_beside_each_other(original: Function) -> Function:
    def unaware(table: Table, requested: InstantTime, settings: Mapping[str, str]) -> Effects:
        kept = tuple(one for one in table.timeline if one.action is not Action.CLEAN)
        effects: Effects = original(replace(table, timeline=kept), requested, settings)
        return effects

    return unaware


@mutant(
    "late-commits-make-a-clean-due",
    "CN-009",
    "A clean is due after a write that completes late, however early it was requested.",
    "services.cleaning.schedule",
)
def _late_commits_make_a_clean_due(original: Function) -> Function:
    def counting_late(table: Table, requested: InstantTime, settings: Mapping[str, str]) -> Effects:
        last = max((one.requested for one in table.timeline if one.action is Action.CLEAN), default="")
        done = [one for one in table.timeline if one.action in WRITE_ACTIONS and one.state is State.COMPLETED]
        late = any(one.requested < last < (one.completed or "") for one in done)
        due = {"hoodie.clean.trigger.max.commits": "0"} if late else {}
        effects: Effects = original(table, requested, {**settings, **due})
        return effects

    return counting_late


@mutant(
    "clean-leaves-a-planned-file",
    "CN-009",
    "The last file of a clean's plan stays where it is.",
    "services.cleaning.execute",
)
def _clean_leaves_a_planned_file(original: Function) -> Function:
    def all_but_one(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
        effects: Effects = original(table, requested, completed)
        deleted = [one for one in effects if isinstance(one, DeleteDataFile)]
        return tuple(one for one in effects if one not in deleted[-1:])

    return all_but_one


@mutant(
    "clean-goes-by-what-is-old-by-then",
    "CN-009",
    "Carrying out a clean removes what has become old since it was planned, too.",
    "services.cleaning.execute",
)
def _clean_goes_by_what_is_old_by_then(original: Function) -> Function:
    def anew(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
        inflight, *rest = original(table, requested, completed)
        newest = {(one.partition, one.file_id): one for one in sorted(table.base_files, key=lambda one: one.instant)}
        old = (one for one in table.base_files if newest[one.partition, one.file_id] != one)
        return (inflight, *(DeleteDataFile(one.partition, one.name) for one in old), *rest)

    return anew


@mutant(
    "writers-without-heartbeat",
    "MK-005 RB-002",
    "Where failed writes are cleaned lazily a write has no heartbeat.",
    "writers.heartbeat",
)
def _writers_have_no_heartbeat(_: Function) -> Function:
    return lambda _write, _moment: ()


@mutant("expired-writes-are-kept", "RB-001 RB-002", "No heartbeat ever expires.", "services.rollback.is_expired")
def _expired_writes_are_kept(_: Function) -> Function:
    return lambda _table, _write, _now, _settings: False


@mutant(
    "never-means-eager",
    "RB-001",
    "Failed writes are rolled back though the policy is never.",
    "services.rollback.failed_writes",
)
def _never_means_eager(original: Function) -> Function:
    def eager(table: Table, now: InstantTime, settings: Mapping[str, str]) -> tuple[InstantTime, ...]:
        name = "hoodie.clean.failed.writes.policy"
        changed = {**settings, name: "EAGER"} if settings.get(name) == "NEVER" else settings
        found: tuple[InstantTime, ...] = original(table, now, changed)
        return found

    return eager


@mutant(
    "rollback-is-no-action",
    "RB-003",
    "A rollback removes a write and leaves no action of its own.",
    "services.rollback.execute",
)
def _rollback_is_no_action(original: Function) -> Function:
    def silent(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
        effects: Effects = original(table, requested, completed)
        own = (one.name for one in table.timeline if one.requested == requested)
        return (*(one for one in effects if not isinstance(one, CreateInstant)), *map(DeleteInstant, own))

    return silent


@mutant(
    "completed-writes-are-rolled-back",
    "RB-005",
    "A rollback takes back what has completed.",
    "services.rollback.schedule",
)
def _completed_writes_are_rolled_back(original: Function) -> Function:
    def any_write(table: Table, requested: InstantTime, settings: Mapping[str, str], target: Any = None) -> Effects:
        if target and plans.is_completed(table, target):
            plan: RollbackPlan = rollback.plan_for(table, target, by_markers=False)
            return plans.request(table, requested, Action.ROLLBACK, plan)
        effects: Effects = original(table, requested, settings, target)
        return effects

    return any_write


@mutant(
    "restore-keeps-rollbacks",
    "SR-009",
    "Rollbacks after the savepoint stay on the timeline.",
    "services.savepoints.execute",
)
def _restore_keeps_rollbacks(original: Function) -> Function:
    def kept(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
        effects: Effects = original(table, requested, completed)
        rollbacks = {one.name for one in table.timeline if one.action is Action.ROLLBACK}
        return tuple(one for one in effects if not (isinstance(one, DeleteInstant) and one.name in rollbacks))

    return kept


@mutant(
    "half-deleted-savepoints-stay",
    "SR-003",
    "What a deletion of a savepoint left that died is not there for the next.",
    "services.savepoints.delete_savepoint",
)
def _half_deleted_savepoints_stay(original: Function) -> Function:
    def of_whole_ones(table: Table, instant: InstantTime) -> Effects:
        effects: Effects = original(table, instant)
        return effects if len(effects) > 1 else ()

    return of_whole_ones


@mutant(
    "savepoint-ends-inflight",
    "SR-003",
    "Of a savepoint that ends the inflight file stays.",
    "services.savepoints.delete_savepoint",
)
def _savepoint_ends_inflight(original: Function) -> Function:
    return lambda table, instant: original(table, instant)[:1]


@mutant(
    "archival-leaves-cleans",
    "AR-004",
    "Cleans and rollbacks stay when the writes around them leave.",
    "services.archival.is_finished",
)
def _archival_leaves_cleans(_: Function) -> Function:
    return lambda _one, _opened: False


@mutant(
    "cleans-all-but-the-newest",
    "CN-002",
    "As many commits as are there are too many.",
    "services.cleaning.earliest_to_retain",
)
def _cleans_all_but_the_newest(original: Function) -> Function:
    def one_less(view: View, now: InstantTime, settings: Mapping[str, str]) -> InstantTime | None:
        name = "hoodie.clean.commits.retained"
        fewer = {**settings, name: str(int(settings[name]) - 1)} if name in settings else settings
        found: InstantTime | None = original(view, now, fewer)
        return found

    return one_less


@mutant(
    "unknown-policies-keep-all",
    "CN-001",
    "An unknown policy keeps everything.",
    "services.cleaning.earliest_to_retain",
)
def _unknown_policies_keep_all(original: Function) -> Function:
    def keeping(*given: Any) -> InstantTime | None:
        try:
            found: InstantTime | None = original(*given)
        except Rejection:
            return None
        return found

    return keeping


@mutant(
    "restore-undoes-nothing", "SR-006 SR-009", "A restore completes and undoes nothing.", "services.savepoints.undo"
)
def _restore_undoes_nothing(_: Function) -> Function:
    return lambda _table, _instant, _requested: ()


@mutant(
    "restore-needs-no-savepoint",
    "SR-004",
    "Any write can be restored to, saved or not.",
    "services.savepoints.schedule",
)
def _restore_needs_no_savepoint(original: Function) -> Function:
    def to_any(table: Table, requested: InstantTime, settings: Mapping[str, str], target: InstantTime) -> Effects:
        try:
            effects: Effects = original(table, requested, settings, target)
        except Rejection as refusal:
            if refusal.reason is not Reason.INSTANT_NOT_FOUND:
                raise
            undone = savepoints.instants_after(open_table(table), target)
            return plans.request(table, requested, Action.RESTORE, RestorePlan(target, undone))
        return effects

    return to_any


@mutant(
    "savepoint-of-anything",
    "SR-001",
    "Whether the instant can be saved is not checked.",
    "services.savepoints.savepoint",
)
def _savepoint_of_anything(original: Function) -> Function:
    def saved(table: Table, instant: InstantTime, completed: InstantTime, comment: str = "") -> Effects:
        try:
            effects: Effects = original(table, instant, completed, comment)
        except Rejection:
            return (entry(table, instant, Action.SAVEPOINT, State.INFLIGHT),)
        return effects

    return saved


@mutant(
    "restore-keeps-pending-actions",
    "SR-005",
    "What has not completed is not undone.",
    "services.savepoints.instants_after",
)
def _restore_spares_the_pending(original: Function) -> Function:
    def completed(opened: OpenTable, savepoint: InstantTime) -> tuple[InstantTime, ...]:
        done = {one.requested for one in opened.timeline.instants if one.state is State.COMPLETED}
        return tuple(one for one in original(opened, savepoint) if one in done)

    return completed


@mutant("eager-means-never", "RB-001", "A lone writer leaves failed writes.", "services.rollback.failed_writes")
def _eager_means_never(original: Function) -> Function:
    def spared(table: Table, now: InstantTime, settings: Mapping[str, str]) -> tuple[InstantTime, ...]:
        policy = settings.get("hoodie.clean.failed.writes.policy")
        return () if policy == "EAGER" else original(table, now, settings)

    return spared


@mutant(
    "rollback-takes-older-files",
    "RB-006",
    "A rollback removes all files of the groups that its write changed.",
    "services.rollback.plan_for",
)
def _rollback_takes_older_files(original: Function) -> Function:
    def whole_groups(table: Table, target: InstantTime, **how: bool) -> RollbackPlan:
        plan: RollbackPlan = original(table, target, **how)
        files: list[BaseFile | LogFile] = [*table.base_files, *table.log_files]
        touched = {(one.partition, one.file_id) for one in files if one.instant == target}
        touched |= {(partition, file_id) for partition, file_id, _ in plan.commands}
        more = ((one.partition, one.name) for one in files if (one.partition, one.file_id) in touched)
        return replace(plan, files=plan.files.union(more))

    return whole_groups


@mutant(
    "completes-after-its-rollback",
    "TL-023",
    "A write completes though it was rolled back.",
    "conflicts.may_complete",
)
def _completes_whatever_became_of_it(_: Function) -> Function:
    return lambda _timeline, _requested: True


@mutant(
    "interrupted-archival-is-left",
    "AR-002",
    "What an interrupted archival left on the active timeline stays there.",
    "services.archival.archive",
)
def _interrupted_archival_is_left(original: Function) -> Function:
    def leaving(table: Table, *given: Any) -> Effects:
        known = archival.archived_already(table, open_table(table).configuration.timeline_layout)
        names = {one.name for one in table.timeline if (one.requested, one.action) in known}
        effects: Effects = original(table, *given)
        return tuple(one for one in effects if not (isinstance(one, DeleteInstant) and one.name in names))

    return leaving
