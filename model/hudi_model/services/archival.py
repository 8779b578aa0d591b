"""Archival: the oldest completed actions move from the active timeline to its history."""

from collections.abc import Iterable, Mapping

from hudi_model import effects, history
from hudi_model.actions import Action, CommitMetadata, Instant, RollbackMetadata, State, TimelineEntry
from hudi_model.effects import Effects, perform
from hudi_model.requests import number, setting, switch
from hudi_model.services.cleaning import earliest_to_retain
from hudi_model.slicing import data_files, group_of
from hudi_model.tables import RELEASED, ArchivedInstant, HistoryFile, Manifest, OpenTable, Table, open_table, view_at
from hudi_model.time import InstantTime
from hudi_model.timeline import WRITE_ACTIONS, completed_data, completion, entries_by_action, is_committed

Group = tuple[TimelineEntry, ...]
RETAINED_MANIFESTS = 3


def archive(table: Table, settings: Mapping[str, str], data_table: Table | None = None) -> Effects:
    """The history takes the oldest actions, their files leave the active timeline, full levels are merged.

    `data_table` is the one whose metadata table this is.

    Clauses: AR-001, AR-002, AR-010, AR-011, HS-010.
    """
    opened = open_table(table)
    layout = opened.configuration.timeline_layout
    known = archived_already(table, layout)
    chosen = known | identities(actions_to_archive(opened, settings, data_table))
    leaving = [group for group in entries_by_action(table.timeline) if chosen & identities(group)]
    rows = tuple(archived(group) for group in leaving if not known & identities(group))
    log = (effects.AppendArchivedLog(rows),) if rows and layout == 1 else ()
    tree = publish(table, rows, 0) if rows and layout == 2 else ()
    done = (*(effects.DeleteMarkers(group[0].requested) for group in leaving), *log, *tree, *removal(leaving))
    return done if layout == 1 else (*done, *merge_levels(perform(table, done), settings))


def archived_already(table: Table, layout: int) -> set[tuple[InstantTime, Action]]:
    """The actions that the history holds."""
    return identities(history.history_instants(table.history, layout))


def identities(found: Iterable[TimelineEntry | Instant | ArchivedInstant]) -> set[tuple[InstantTime, Action]]:
    """What actions are called, or one action by its files: the completed name is one of them."""
    return {(one.requested, one.action) for one in found}


def archived(group: Group) -> ArchivedInstant:
    """An action as the history keeps it: under its completed name, with its plan."""
    plans = (one.content for one in group if one.state is State.REQUESTED)
    done = max(group, key=lambda one: one.state)
    return ArchivedInstant(done.requested, done.completed, done.action, done.content, next(plans, None))


def publish(table: Table, rows: Iterable[ArchivedInstant], level: int, merged: Iterable[HistoryFile] = ()) -> Effects:
    """A new version of the history, with one more file in the place of those merged into it.

    Clauses: HS-002, HS-003, AR-010.
    """
    file, manifest = history.history_file(rows, level), history.current_manifest(table.history)
    kept = (name for name in manifest.files if name not in {file.name, *(one.name for one in merged)})
    following = Manifest(manifest.version + 1, (*kept, file.name))
    return effects.PutHistoryFile(file), effects.PutManifest(following), effects.SwapVersion(following.version)


def removal(leaving: Iterable[Group]) -> Effects:
    """The files of actions go: those of earlier states first, then the completed ones, the oldest before the newer.

    Clauses: AR-011.
    """
    files = (one for group in leaving for one in group)
    ordered = sorted(files, key=lambda one: (one.state is State.COMPLETED, one.requested, one.state))
    return tuple(effects.DeleteInstant(one.name) for one in ordered)


def merge_levels(table: Table, settings: Mapping[str, str]) -> Effects:
    """The oldest files of a full level become one file of the next, level by level; then old versions go.

    Clauses: HS-009, HS-011.
    """
    batch, level = max(2, number(settings, "hoodie.timeline.compaction.batch.size")), 0
    done: Effects = ()
    while len(oldest := [one for one in history.current_files(table.history) if one.level == level][:batch]) == batch:
        step = publish(table, (row for file in oldest for row in file.instants), level + 1, oldest)
        table, level, done = perform(table, step), level + 1, (*done, *step)
    return (*done, *trim(table, RETAINED_MANIFESTS + level))


def trim(table: Table, retained: int) -> Effects:
    """Manifests beyond the newest go, then the files that none of those names."""
    manifests = sorted(table.history.manifests, key=lambda one: -one.version)
    named = {name for one in manifests[:retained] for name in one.files}
    older = tuple(f"manifest_{one.version}" for one in manifests[retained:])
    unused = (one.name for one in table.history.files if older and one.name not in named)
    return tuple(map(effects.DeleteHistoryFile, (*older, *unused)))


def actions_to_archive(opened: OpenTable, settings: Mapping[str, str], data_table: Table | None) -> list[Instant]:
    """The oldest completed writes beyond those to keep, and the cleans and rollbacks that are older than the last one.

    What something on the timeline, in storage or in the metadata table still needs stays, and all after it.

    Clauses: AR-003, AR-004.
    """
    writes = sorted(completed_data(opened.timeline), key=lambda one: one.requested)
    least, most = writes_to_keep(opened, writes, settings)
    if len(writes) <= most:
        return []
    first = open_table(data_table).timeline.instants[:1] if data_table else ()
    limits = (before_pending(opened), uncompacted(opened, settings), uncleaned(opened), unindexed(opened))
    limit = min((one for one in (*limits, *(one.requested for one in first)) if one), default=None)
    kept = kept_by_savepoints(opened, beyond=switch(settings, "hoodie.archive.beyond.savepoint"))
    old = [one for one in writes if one.requested not in kept and (limit is None or one.requested < limit)]
    leaving = old[: len(writes) - least]
    last = max((one.requested for one in leaving), default="")
    return leaving + [one for one in opened.timeline.instants if one.requested < last and is_finished(one, opened)]


def writes_to_keep(opened: OpenTable, writes: list[Instant], settings: Mapping[str, str]) -> tuple[int, int]:
    """How many completed writes stay at least, and at most: what the cleaner retains and one more in any case.

    Clauses: AR-003.
    """
    least, most = number(settings, "hoodie.keep.min.commits"), number(settings, "hoodie.keep.max.commits")
    now = max((one.requested for one in writes), default=InstantTime(""))
    earliest = earliest_to_retain(view_at(opened, None, RELEASED), now, settings) if writes else None
    needed = sum(one.requested >= earliest for one in writes) + 1 if earliest else 0
    return max(least, needed), most + max(0, needed - least)


def kept_by_savepoints(opened: OpenTable, *, beyond: bool) -> frozenset[InstantTime]:
    """What savepoints keep on the timeline: their own instants, and all later ones unless archival may go beyond.

    Clauses: AR-006.
    """
    saved = [one.requested for one in opened.timeline.instants if one.action is Action.SAVEPOINT]
    later = (one.requested for one in opened.timeline.instants if saved and one.requested >= min(saved))
    return frozenset(saved if beyond else later)


def before_pending(opened: OpenTable) -> InstantTime | None:
    """The last completed write before the first pending one, or that one.

    Clauses: AR-005.
    """
    writes = [one for one in opened.timeline.instants if one.action in WRITE_ACTIONS]
    pending = min((one.requested for one in writes if one.state is not State.COMPLETED), default="")
    return max((one.requested for one in writes if one.requested < pending), default=InstantTime(pending) or None)


def uncompacted(opened: OpenTable, settings: Mapping[str, str]) -> InstantTime | None:
    """The first of the deltacommits that make a compaction due by their number; the last compaction before that.

    Clauses: AR-012.
    """
    instants, wanted = opened.timeline.instants, max(1, number(settings, "hoodie.compact.inline.max.delta.commits"))
    last = max((one.requested for one in instants if one.action is Action.COMMIT), default=InstantTime(""))
    since = sorted(one.requested for one in instants if one.action is Action.DELTA_COMMIT and completion(one) > last)
    counted = setting(settings, "hoodie.compact.inline.trigger.strategy").upper() in ("NUM_COMMITS", "NUM_AND_TIME")
    found = since[-wanted] if len(since) >= wanted else last or min(since, default=None)
    return found if counted and opened.configuration.merge_on_read else None


def uncleaned(opened: OpenTable) -> InstantTime | None:
    """The first replacecommit some of whose replaced files are still in storage.

    Clauses: AR-007.
    """
    groups = set(map(group_of, data_files(opened.state)))
    writes = ((one, one.content) for one in completed_data(opened.timeline))
    found = (one.requested for one, done in writes if isinstance(done, CommitMetadata) and done.replaced & groups)
    return min(found, default=None)


def unindexed(opened: OpenTable) -> InstantTime | None:
    """The first write that completed after the last compaction of the metadata table, or the first one of all.

    Clauses: AR-008.
    """
    if opened.state.metadata is None:
        return None
    commits = (one for one in opened.state.metadata.timeline if one.action is Action.COMMIT)
    last = max((one.requested for one in commits if one.state is State.COMPLETED), default="")
    return min((one.requested for one in completed_data(opened.timeline) if completion(one) > last), default=None)


def is_finished(one: Instant, opened: OpenTable) -> bool:
    """Whether an action is a completed clean, or a completed rollback that left no file behind that does not count.

    Clauses: AR-004, AR-009.
    """
    undone = one.content.rolled_back if isinstance(one.content, RollbackMetadata) else ()
    found = one.action in (Action.CLEAN, Action.ROLLBACK) and one.state is State.COMPLETED
    left = (file.instant for file in data_files(opened.state) if file.instant in undone)
    return found and all(is_committed(opened.timeline, one) for one in left)
