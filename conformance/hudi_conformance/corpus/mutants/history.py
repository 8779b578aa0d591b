"""Rules of times, of the timeline's history and of archival, broken."""

from collections.abc import Iterable
from dataclasses import replace

from hudi_model import effects
from hudi_model.actions import Action, Instant, State, TimelineEntry
from hudi_model.effects import Effects
from hudi_model.history import current_manifest
from hudi_model.tables import ArchivedInstant, History, HistoryFile, OpenTable
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline
from hudi_model_tools.locks import generate_waiting

from hudi_conformance.corpus.mutants.registry import Function, mutant

Groups = Iterable[tuple[TimelineEntry, ...]]


@mutant(
    "wait-no-longer-than-the-skew",
    "TM-004",
    "The lock is let go once the skew has passed.",
    "hudi_model_tools.locks.uncertainty",
)
def _wait_no_longer_than_the_skew(_: Function) -> Function:
    return lambda bound: bound


@mutant(
    "times-without-a-lock",
    "TM-005 TM-003",
    "Everybody reads their clock at once.",
    "hudi_model_tools.locks.generate_serially",
)
def _times_without_a_lock(_: Function) -> Function:
    def at_once(arrivals: Iterable[tuple[int, int]], bound: int) -> tuple[InstantTime, ...]:
        return tuple(generate_waiting(arrival, skew, bound).instant for arrival, skew in sorted(arrivals))

    return at_once


@mutant(
    "completes-while-rolled-back",
    "TL-023",
    "An inflight action completes although a rollback of it is pending.",
    "conflicts.may_complete",
)
def _completes_while_rolled_back(_: Function) -> Function:
    def inflight(timeline: Timeline, requested: InstantTime) -> bool:
        return any(one.requested == requested and one.state is State.INFLIGHT for one in timeline.instants)

    return inflight


@mutant(
    "timeline-deleted-before-the-history",
    "AR-010",
    "Files leave the active timeline before the history has them.",
    "services.archival.archive",
)
def _timeline_deleted_before_the_history(original: Function) -> Function:
    def deleted_first(*given: object, **named: object) -> Effects:
        found: Effects = original(*given, **named)
        return tuple(sorted(found, key=lambda one: not isinstance(one, effects.DeleteInstant)))

    return deleted_first


@mutant(
    "archived-again",
    "AR-002",
    "What an interrupted archival has written is written again.",
    "services.archival.archived_already",
)
def _archived_again(_: Function) -> Function:
    return lambda _table, _layout: set()


@mutant(
    "manifest-names-the-new-file-only",
    "HS-002 AR-010",
    "A manifest lists what was just written and nothing older.",
    "services.archival.publish",
)
def _manifest_names_the_new_file_only(original: Function) -> Function:
    def newest_only(*given: object, **named: object) -> Effects:
        file, manifest, swap = original(*given, **named)
        return file, effects.PutManifest(replace(manifest.manifest, files=(file.file.name,))), swap

    return newest_only


@mutant(
    "version-swapped-first",
    "AR-010 HS-004",
    "The version file names a manifest that is still to be written.",
    "services.archival.publish",
)
def _version_swapped_first(original: Function) -> Function:
    return lambda *given, **named: tuple(reversed(original(*given, **named)))


@mutant("old-versions-go-at-once", "HS-011", "Only the newest manifest is kept.", "services.archival.trim")
def _old_versions_go_at_once(original: Function) -> Function:
    return lambda table, _retained: original(table, 1)


@mutant("merging-loses-a-row", "HS-009", "A merged file lacks its oldest action.", "history.history_file")
def _merging_loses_a_row(original: Function) -> Function:
    def without_oldest(instants: Iterable[ArchivedInstant], level: int) -> HistoryFile:
        file: HistoryFile = original(instants, level)
        return replace(file, instants=file.instants[1:]) if level else file

    return without_oldest


@mutant(
    "names-bound-the-first-and-last-row",
    "HS-005",
    "A file is named by its first and last row, in whatever order they come.",
    "history.history_file",
)
def _names_bound_the_first_and_last_row(_: Function) -> Function:
    def as_they_come(instants: Iterable[ArchivedInstant], level: int) -> HistoryFile:
        rows = tuple(instants)
        return HistoryFile(f"{rows[0].requested}_{rows[-1].requested}_{level}.parquet", level, rows)

    return as_they_come


@mutant(
    "history-forgets-completion",
    "HS-007",
    "The history keeps when an action was requested, not when it completed.",
    "services.archival.archived",
)
def _history_forgets_completion(original: Function) -> Function:
    return lambda group: replace(original(group), completed=None)


@mutant("history-forgets-plans", "HS-007", "The history keeps no plans.", "services.archival.archived")
def _history_forgets_plans(original: Function) -> Function:
    return lambda group: replace(original(group), plan=None)


@mutant("completed-files-go-first", "AR-011", "Completed files are deleted first.", "services.archival.removal")
def _completed_files_go_first(original: Function) -> Function:
    return lambda leaving: tuple(reversed(original(leaving)))


@mutant("newest-actions-go-first", "AR-011", "The newest actions leave first.", "services.archival.removal")
def _newest_actions_go_first(original: Function) -> Function:
    def newest_first(leaving: Groups) -> Effects:
        groups = tuple(leaving)
        return tuple(effect for group in reversed(groups) for effect in original((group,)))

    return newest_first


@mutant(
    "archived-past-pending",
    "AR-005",
    "Writes that were requested after a pending one are archived.",
    "services.archival.before_pending",
)
def _archived_past_pending(_: Function) -> Function:
    return lambda _opened: None


@mutant(
    "archived-before-a-compaction-is-due",
    "AR-012",
    "Deltacommits leave that a compaction would count, and the last compaction before them.",
    "services.archival.uncompacted",
)
def _archived_before_a_compaction_is_due(_: Function) -> Function:
    return lambda _opened, _settings: None


@mutant(
    "archived-before-replaced-files-are-gone",
    "AR-007",
    "A replacecommit leaves while the files that it replaced are there.",
    "services.archival.uncleaned",
)
def _archived_before_replaced_files_are_gone(_: Function) -> Function:
    return lambda _opened: None


@mutant(
    "archived-before-the-metadata-table-compacts",
    "AR-008",
    "Writes leave although the metadata table has them in its logs only.",
    "services.archival.unindexed",
)
def _archived_before_the_metadata_table_compacts(_: Function) -> Function:
    return lambda _opened: None


@mutant(
    "rollback-archived-with-leftovers",
    "AR-009",
    "A rollback leaves although files of what it undid are there.",
    "services.archival.is_finished",
)
def _rollback_archived_with_leftovers(_: Function) -> Function:
    def completed(one: Instant, _opened: OpenTable) -> bool:
        return one.action in (Action.CLEAN, Action.ROLLBACK) and one.state is State.COMPLETED

    return completed


@mutant(
    "savepoints-do-not-stop-archival",
    "AR-006",
    "Archival goes past savepoints, and takes what they keep.",
    "services.archival.kept_by_savepoints",
)
def _savepoints_do_not_stop_archival(_: Function) -> Function:
    def nothing(_opened: OpenTable, *, beyond: bool) -> frozenset[InstantTime]:  # noqa: ARG001 - as it is called
        return frozenset()

    return nothing


@mutant(
    "archived-beyond-savepoints",
    "AR-006",
    "Archival goes past savepoints without a request.",
    "services.archival.kept_by_savepoints",
)
def _archived_beyond_savepoints(original: Function) -> Function:
    def saved_alone(opened: OpenTable, *, beyond: bool) -> frozenset[InstantTime]:  # noqa: ARG001 - as it is called
        found: frozenset[InstantTime] = original(opened, beyond=True)
        return found

    return saved_alone


@mutant(
    "pending-actions-archived",
    "AR-001",
    "Whatever is older than the last action that leaves is archived too, completed or not.",
    "services.archival.actions_to_archive",
)
def _pending_actions_archived(original: Function) -> Function:
    def all_before(opened: OpenTable, *given: object) -> list[Instant]:
        found: list[Instant] = original(opened, *given)
        last = max((one.requested for one in found), default="")
        return [*found, *(one for one in opened.timeline.instants if one.requested <= last and one not in found)]

    return all_before


@mutant("any-file-of-the-folder-counts", "HS-002", "Every file of the folder is read.", "history.current_files")
def _any_file_of_the_folder_counts(_: Function) -> Function:
    return lambda history: history.files


@mutant(
    "missing-history-files-passed-over",
    "HS-004",
    "A file that the manifest names and storage lacks is passed over.",
    "history.current_files",
)
def _missing_history_files_passed_over(_: Function) -> Function:
    def present(history: History) -> tuple[HistoryFile, ...]:
        return tuple(one for one in history.files if one.name in current_manifest(history).files)

    return present


@mutant("history-not-listed", "HS-008", "The history is left out of the whole timeline.", "history.with_history")
def _history_not_listed(_: Function) -> Function:
    return lambda active, _history: tuple(active)


@mutant(
    "past-of-the-active-timeline-only",
    "AR-001 HS-008",
    "What the table was is derived from the actions that are still active.",
    "history.unarchived",
)
def _past_of_the_active_timeline_only(_: Function) -> Function:
    return lambda opened: opened


@mutant(
    "history-is-always-a-tree",
    "HS-010 TL-032",
    "Archived actions lie in files that a manifest names, in every version.",
    "history.history_instants",
)
def _history_is_always_a_tree(original: Function) -> Function:
    def of_tree(history: History, layout: int = 2) -> tuple[ArchivedInstant, ...]:  # noqa: ARG001 - it does not matter
        found: tuple[ArchivedInstant, ...] = original(history, 2)
        return found

    return of_tree
