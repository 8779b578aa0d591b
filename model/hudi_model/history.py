"""The timeline's history: what archival moved off the active timeline, as a log-structured merge tree of files."""

from collections.abc import Iterable
from dataclasses import replace

from hudi_model.actions import Action, CompactionPlan, Instant, OtherContent, State, TimelineEntry
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import ArchivedInstant, History, HistoryFile, Manifest, OpenTable, Table, open_table
from hudi_model.timeline import identity, rolled_back, timeline_of

VERSION_FILE = "_version_"


def history_file(instants: Iterable[ArchivedInstant], level: int) -> HistoryFile:
    """A file of the history; its name holds the least and the greatest requested time in it, and its level.

    Clauses: HS-005, HS-006.
    """
    ordered = tuple(sorted(instants, key=lambda one: one.requested))
    return HistoryFile(f"{ordered[0].requested}_{ordered[-1].requested}_{level}.parquet", level, ordered)


def current_manifest(history: History) -> Manifest:
    """The manifest that the version file names, the newest one where there is no such file, an empty one at first.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: HS-002, HS-003, HS-004.
    """
    for damage in (one for one in history.unreadable if one.where.endswith(VERSION_FILE)):
        raise damage.refusal()
    known = {0: Manifest(0, ())} | {one.version: one for one in history.manifests}
    version = max(known) if history.current is None else history.current
    if version not in known:
        refuse_unreadable(history, f"manifest_{version}")
        raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "HS-004", f"manifest_{version}", "the version file names it")
    return known[version]


def current_files(history: History) -> tuple[HistoryFile, ...]:
    """The files that the current manifest names; no other file counts.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: HS-002, HS-004.
    """
    present = {one.name: one for one in history.files}
    names = current_manifest(history).files
    for name in (one for one in names if one not in present):
        refuse_unreadable(history, name)
        raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "HS-004", name, "the manifest names it, storage lacks it")
    return tuple(present[name] for name in names)


def refuse_unreadable(history: History, name: str) -> None:
    """A file of the history that is there and does not parse.

    Raises: TIMELINE_FILE_CORRUPT, by the clause that says what it holds.

    Clauses: HS-004.
    """
    for damage in (one for one in history.unreadable if one.where.rpartition("/")[2] == name):
        raise damage.refusal()


def history_instants(history: History, layout: int = 2) -> tuple[ArchivedInstant, ...]:
    """The archived actions, each once, by requested time. [Modified in v8] Layout 1 has one log, layout 2 a tree.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: HS-001, HS-007, HS-010.
    """
    rows = history.archived_log
    if layout == 2:
        rows = tuple(row for file in current_files(history) for row in file.instants)
    elif history.unreadable:
        raise history.unreadable[0].refusal()
    # A row that an interrupted archival wrote again may lack its plan: the other one stands.
    found = {(row.requested, row.action): row for row in sorted(rows, key=lambda row: row.plan is not None)}
    return tuple(found[key] for key in sorted(found))


def entries_of_archived(one: ArchivedInstant) -> tuple[TimelineEntry, ...]:
    """The files that an archived action had on the timeline: the completed one, and a compaction's plan.

    There are none where the history has lost what the action did.

    Clauses: HS-007, RD-008.
    """
    if one.metadata is None or isinstance(one.metadata, OtherContent):
        return ()
    done = TimelineEntry(one.requested, one.action, State.COMPLETED, one.completed, one.metadata, "history")
    plan = TimelineEntry(one.requested, Action.COMPACTION, State.REQUESTED, None, one.plan, "history")
    return (plan, done) if isinstance(one.plan, CompactionPlan) else (done,)


def with_history(active: Iterable[Instant], history: Iterable[ArchivedInstant]) -> tuple[Instant, ...]:
    """Active and archived actions together, each once in its highest state, by requested time.

    Clauses: HS-008.
    """
    past = (Instant(one.requested, one.action, State.COMPLETED, one.completed, one.metadata) for one in history)
    found = {identity(one.requested, one.action): one for one in sorted((*past, *active), key=lambda one: one.state)}
    return tuple(found[key] for key in sorted(found))


def full_timeline(table: Table) -> tuple[Instant, ...]:
    """The active timeline and its history, each action once in its highest state, by requested time.

    Raises: as `open_table`.

    Clauses: HS-008.
    """
    opened = open_table(table)
    return with_history(opened.timeline.instants, history_instants(table.history, opened.configuration.timeline_layout))


def unarchived(opened: OpenTable) -> OpenTable:
    """The table as if archival had left every action on its timeline: what the past was does not depend on archival.

    Raises: TIMELINE_FILE_CORRUPT where the history is damaged, or a rollback that says what never counts.

    Clauses: AR-001, HS-001, HS-008, TL-017, TL-018.
    """
    active = {(one.requested, one.action) for one in opened.timeline.instants}
    rows = history_instants(opened.state.history, opened.configuration.timeline_layout)
    past = [entry for one in rows if (one.requested, one.action) not in active for entry in entries_of_archived(one)]
    whole = timeline_of((*past, *opened.timeline.entries))
    return replace(opened, timeline=replace(whole, start=opened.timeline.start, later=rolled_back(whole)))
