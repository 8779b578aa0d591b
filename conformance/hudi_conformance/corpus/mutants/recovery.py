"""Rules of rollback, savepoints, restore, recovery and versions, broken."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hudi_model.actions import (
    Action,
    Instant,
    ReplacePlan,
    RestorePlan,
    RollbackPlan,
    SavepointMetadata,
    State,
    TimelineEntry,
)
from hudi_model.configuration import OVERLAYS, Overlay
from hudi_model.effects import CreateInstant, DeleteDataFile, DeleteInstant, Effects
from hudi_model.tables import OpenTable, Table, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("rollback-started-anew", "RB-004", "A retry begins a second rollback.", "services.rollback.pending_rollback")
def _rollback_started_anew(_: Function) -> Function:
    return lambda _table, _target: None


@mutant("rollback-leaves-base-files", "RB-006", "A rollback removes log files only.", "services.rollback.plan_for")
def _rollback_leaves_base_files(original: Function) -> Function:
    def logs_only(table: Table, target: InstantTime, **how: bool) -> RollbackPlan:
        plan: RollbackPlan = original(table, target, **how)
        return replace(plan, files=frozenset(one for one in plan.files if one[1].startswith(".")))

    return logs_only


@mutant("markers-announce-no-logs", "RB-006", "By markers, logs are overlooked.", "services.rollback.plan_for")
def _markers_announce_no_logs(original: Function) -> Function:
    def without_logs(table: Table, target: InstantTime, *, by_markers: bool, whole: bool = False) -> RollbackPlan:
        plan: RollbackPlan = original(table, target, by_markers=by_markers, whole=whole)
        kept = frozenset(one for one in plan.files if not (by_markers and one[1].startswith(".")))
        return replace(plan, files=kept, commands=frozenset() if by_markers else plan.commands)

    return without_logs


@mutant(
    "rolled-back-plan-is-dropped",
    "RB-008",
    "A rolled back attempt takes the plan of its service along.",
    "effects.forget",
)
def _rolled_back_plan_is_dropped(original: Function) -> Function:
    return lambda table, target, *, keep_plan=False: original(table, target, keep_plan=keep_plan and False)


@mutant(
    "services-are-failed-writes", "RB-008", "Pending services are rolled back as writes.", "services.rollback.has_plan"
)
def _services_are_failed_writes(_: Function) -> Function:
    return lambda _table, _requested: False


@mutant(
    "overwrites-stay-planned",
    "RB-008 RB-001",
    "Every replacecommit is taken for a clustering, whose plan stays.",
    "services.rollback.has_plan",
)
def _overwrites_stay_planned(original: Function) -> Function:
    def any_replacement(table: Table, requested: InstantTime) -> bool:
        contents = (one.content for one in table.timeline if one.requested == requested)
        return bool(original(table, requested)) or any(isinstance(one, ReplacePlan) for one in contents)

    return any_replacement


@mutant(
    "write-forgotten-before-its-files",
    "RB-009",
    "A rollback removes the write's entries first, and its files not again.",
    "services.rollback.execute",
)
def _write_forgotten_before_its_files(original: Function) -> Function:
    def reordered(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
        effects: Effects = original(table, requested, completed)
        files = tuple(one for one in effects if isinstance(one, DeleteDataFile))
        rest = tuple(one for one in effects if not isinstance(one, DeleteDataFile))
        return (*rest[:-2], *files, *rest[-2:])

    return reordered


@mutant(
    "live-writes-are-failed", "RB-002", "A write with a live heartbeat is rolled back.", "services.rollback.is_expired"
)
def _active_writes_are_failed(_: Function) -> Function:
    return lambda _table, _write, _now, _settings: True


@mutant("restore-leaves-phantom-logs", "SR-007", "Logs on an undone slice stay.", "services.savepoints.plan_for")
def _restore_leaves_phantom_logs(original: Function) -> Function:
    return lambda table, target, **how: original(table, target, by_markers=how["by_markers"])


@mutant(
    "restore-by-request",
    "SR-005",
    "What was requested before the savepoint stays.",
    "services.savepoints.instants_after",
)
def _restore_by_request(original: Function) -> Function:
    def requested_later(opened: OpenTable, savepoint: InstantTime) -> tuple[InstantTime, ...]:
        return tuple(one for one in original(opened, savepoint) if one > savepoint)

    return requested_later


@mutant("restore-started-anew", "SR-013", "A retry begins a second restore.", "services.savepoints.pending_restores")
def _restore_started_anew(_: Function) -> Function:
    return lambda _table: ()


@mutant(
    "retried-restore-skips-what-began",
    "SR-006",
    "What an earlier attempt at a restore began to undo counts as undone.",
    "services.savepoints.undo",
)
def _retried_restore_skips_what_began(original: Function) -> Function:
    def whole_only(table: Table, instant: InstantTime, requested: InstantTime) -> Effects:
        states = {one.state for one in table.timeline if one.requested == instant}
        effects: Effects = original(table, instant, requested) if State.COMPLETED in states else ()
        return effects

    return whole_only


@mutant(
    "planned-restores-count",
    "SR-006",
    "What a restore that waits is to undo counts no more.",
    "timeline.is_committed",
)
def _planned_restores_count(original: Function) -> Function:
    def spared(timeline: Timeline, requested: InstantTime) -> bool:
        plans = [one.content for one in timeline.entries if isinstance(one.content, RestorePlan)]
        return bool(original(timeline, requested)) and not any(requested in one.instants for one in plans)

    return spared


@mutant("restore-oldest-first", "SR-006", "What is undone first is the oldest.", "services.savepoints.instants_after")
def _restore_oldest_first(original: Function) -> Function:
    return lambda opened, savepoint: original(opened, savepoint)[::-1]


@mutant("savepoint-of-cleaned-files", "SR-001", "A savepoint looks at no clean.", "services.savepoints.savepoint")
def _savepoint_of_cleaned_files(original: Function) -> Function:
    def unaware(table: Table, instant: InstantTime, completed: InstantTime, comment: str = "") -> Effects:
        others = tuple(one for one in table.timeline if one.action is not Action.CLEAN)
        effects: Effects = original(replace(table, timeline=others), instant, completed, comment)
        return effects

    return unaware


@mutant(
    "cleans-by-versions-keep-all",
    "SR-001",
    "A clean that states no instant to retain has taken nothing.",
    "services.savepoints.kept_from",
)
def _cleans_by_versions_keep_all(_: Function) -> Function:
    return lambda _timeline, clean: getattr(clean.content, "earliest_to_retain", None)


@mutant("savepoint-keeps-nothing", "SR-002", "A savepoint names no files.", "services.savepoints.savepoint")
def _savepoint_keeps_nothing(original: Function) -> Function:
    def empty(table: Table, instant: InstantTime, completed: InstantTime, comment: str = "") -> Effects:
        effects: Effects = original(table, instant, completed, comment)
        entries = (one.entry for one in effects if isinstance(one, CreateInstant))
        kept = (replace(one, content=SavepointMetadata(frozenset())) if one.content else one for one in entries)
        return tuple(map(CreateInstant, kept))

    return empty


@mutant("upgrade-moves-at-once", "VR-006", "An upgrade takes old entries away first.", "upgrades.change_version")
def _upgrade_moves_at_once(original: Function) -> Function:
    def moved(table: Table, to: int, now: InstantTime, put_at: Mapping[str, InstantTime] | None = None) -> Effects:
        effects: Effects = original(table, to, now, put_at)
        gone = tuple(one for one in effects if isinstance(one, DeleteInstant))
        return (*gone, *(one for one in effects if not isinstance(one, DeleteInstant)))

    return moved


@mutant("downgrade-keeps-logs", "VR-005", "Logs are not compacted before a downgrade.", "upgrades.settle")
def _downgrade_keeps_logs(_: Function) -> Function:
    return lambda _table, _now: ()


@mutant(
    "recovery-of-blocks-forgotten",
    "SR-010",
    "Recovery reads names only, in every version.",
    "hudi_model_tools.recovery.block_instants",
)
def _recovery_of_blocks_forgotten(_: Function) -> Function:
    return lambda _table: set()


@mutant("unknown-version-is-read", "VR-002", "A version without rules is read by the newest.", "configuration.overlay")
def _unknown_version_is_read(_: Function) -> Function:
    return lambda version: OVERLAYS.get(version, OVERLAYS[9])


@mutant("older-reader-guesses", "VR-020", "A reader reads what is newer than itself.", "configuration.is_read")
def _older_reader_guesses(_: Function) -> Function:
    return lambda version, _reader=9: version in OVERLAYS


@mutant("layouts-are-mixed", "VR-006", "Timeline files of both layouts are read.", "timeline.entries_of_layout")
def _layouts_are_mixed(_: Function) -> Function:
    def mixed(entries: tuple[TimelineEntry, ...], _layout: int) -> tuple[TimelineEntry, ...]:
        return tuple(entries)

    return mixed


@mutant("oldest-versions-by-new-rules", "VR-001", "Versions 4 and 5 are read as 8 is.", "configuration.overlay")
def _oldest_versions_by_new_rules(original: Function) -> Function:
    def by_version_8(version: int) -> Overlay:
        found: Overlay = original(version)
        return replace(OVERLAYS[8], version=version) if version in (4, 5) else found

    return by_version_8


@mutant("downgrade-drops-history", "VR-010", "A downgrade takes no archived action along.", "upgrades.moved_history")
def _downgrade_drops_history(_: Function) -> Function:
    return lambda _table, _layout: ()


@mutant(
    "recovery-of-foreign-instants",
    "SR-011",
    "Recovery dates writes by another clock.",
    "hudi_model_tools.recovery.recovered",
)
def _recovery_of_foreign_instants(original: Function) -> Function:
    return lambda table, instant, schema: original(table, InstantTime(f"{int(instant) - 1}"), schema)


@mutant(
    "upgrade-to-commit-time", "VR-007", "An upgrade takes every table for one by commit time.", "upgrades.payload_in_8"
)
def _upgrade_to_commit_time(_: Function) -> Function:
    return lambda _properties: "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"


@mutant(
    "restore-overlooks-the-archive",
    "SR-004",
    "A restore reads the active timeline only.",
    "services.savepoints.full_timeline",
)
def _restore_overlooks_the_archive(_: Function) -> Function:
    return lambda table: open_table(table).timeline.instants


@mutant(
    "saved-writes-begin-nothing", "TL-018", "Where all writes are saved, nothing older counts.", "timeline.start_of"
)
def _saved_writes_begin_nothing(original: Function) -> Function:
    def of_others(instants: Iterable[Instant]) -> InstantTime | None:
        listed = tuple(instants)
        saved = {one.requested for one in listed if one.action is Action.SAVEPOINT}
        found: InstantTime | None = original(listed)
        return None if found in saved else found

    return of_others


@mutant("savepoints-are-ignored", "SR-008", "Whether an instant is saved does not matter.", "queries.is_saved")
def _savepoints_are_ignored(_: Function) -> Function:
    return lambda _timeline, _instant: False
