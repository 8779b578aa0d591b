"""What the history may get wrong: its manifests, its files, its rows, and what the active timeline says beside it."""

from collections.abc import Iterable, Iterator
from functools import partial

from hudi_model.actions import CommitMetadata, Instant, RollbackMetadata, State
from hudi_model.files import BaseFile, Damaged, GroupId, LogFile, RollbackBlock
from hudi_model.history import current_files, history_instants
from hudi_model.indexes import instants_of
from hudi_model.slicing import data_files, group_of, path_of
from hudi_model.tables import ArchivedInstant, History, HistoryFile, OpenTable
from hudi_model.time import InstantTime
from hudi_model.timeline import COMPLETES_AS, DATA_ACTIONS, Timeline, identity, timeline_of

from hudi_model_tools.checks.finding import Violation, error, refusals, warning

KEPT_MANIFESTS = 3


def history_violations(opened: OpenTable) -> Iterator[Violation]:
    """Every fault of the history; what keeps it from being read at all comes alone.

    Clauses: HS-001, HS-003, HS-004, HS-005, HS-006, HS-007, HS-011, AR-004, AR-007, AR-009.
    """
    history, layout = opened.state.history, opened.configuration.timeline_layout
    broken = refusals(partial(history_instants, history, layout))
    if broken:
        yield from broken
        return
    if layout == 2:
        yield from manifest_violations(history)
        yield from (found for file in current_files(history) for found in file_violations(file))
    yield from past_violations(opened, history_instants(history, layout))


def manifest_violations(history: History) -> Iterator[Violation]:
    """Manifests that no writer numbers so, and the newest ones that name what is gone.

    Clauses: HS-003, HS-011.
    """
    present = {one.name for one in history.files} | {one.where.rpartition("/")[2] for one in history.unreadable}
    for manifest in history.manifests:
        if manifest.version < 1:
            yield error("HS-003", f"manifest_{manifest.version}", "manifests are numbered from 1")
    current = history.current or max((one.version for one in history.manifests), default=0)
    older = sorted((one for one in history.manifests if one.version < current), key=lambda one: -one.version)
    for manifest in older[: KEPT_MANIFESTS - 1]:
        for name in sorted(set(manifest.files) - present):
            yield error("HS-011", f"manifest_{manifest.version}", f"names {name}, which storage lacks")


def file_violations(file: HistoryFile) -> Iterator[Violation]:
    """A file whose name or order does not tell its rows, and rows that are no completed action.

    Clauses: HS-001, HS-005, HS-006, HS-007, TL-006, TL-011.
    """
    times = [one.requested for one in file.instants]
    bounds = tuple(file.name.split("_")[:2])
    if times and bounds != (min(times), max(times)):
        yield error("HS-005", file.name, f"the file holds {min(times)} to {max(times)}")
    if times != sorted(times):
        yield error("HS-006", file.name, "its actions do not stand by requested time")
    for row in file.instants:
        where = f"{file.name} {row.requested}.{row.action}"
        if isinstance(row.metadata, Damaged):
            yield error(row.metadata.clause, where, row.metadata.detail)
        if row.completed is None:
            yield error("HS-007", where, "the row has no completion time")
        elif row.completed <= row.requested:
            yield error("TL-011", where, f"completed at {row.completed}")
        if row.action in COMPLETES_AS:
            yield error("HS-007", where, f"a {row.action} stands under its completed name, {COMPLETES_AS[row.action]}")


def past_violations(opened: OpenTable, rows: Iterable[ArchivedInstant]) -> Iterator[Violation]:
    """What the history and the active timeline say of each other, and of files that archival had to wait for.

    Clauses: HS-001, HS-008, TL-012, AR-004, AR-007, AR-009.
    """
    timeline, listed = opened.timeline, tuple(rows)
    active = {identity(one.requested, one.action): one for one in timeline.instants}
    past = {identity(row.requested, row.action) for row in listed}
    # What seems to be pending again is reported on its own, and begins no timeline.
    undead = {key for key, one in active.items() if one.state is not State.COMPLETED} & past
    kept = (one for one in timeline.entries if identity(one.requested, one.action) not in undead)
    standing = timeline_of(kept)
    for row in listed:
        found = active.get(identity(row.requested, row.action))
        yield from twice(row, found) if found else holes(standing, row)
    archived = tuple(row for row in listed if identity(row.requested, row.action) not in active)
    yield from leftovers(opened, archived)
    gone = {row.requested: row.action for row in archived}
    for instant in sorted({one.instant for one in opened.state.markers} & gone.keys()):
        yield warning("AR-009", f".hoodie/.temp/{instant}", f"markers of the {gone[instant]}, which is archived")


def twice(row: ArchivedInstant, found: Instant) -> Iterator[Violation]:
    """An action in both, which must be one and the same.

    Clauses: AR-011, HS-001, HS-008, TL-012.
    """
    where = f"history {row.requested}.{row.action}"
    if found.state is State.COMPLETED and found.action is not row.action:
        yield error("TL-005", where, f"the active timeline has a {found.action} of this instant")
    elif found.state is not State.COMPLETED:
        yield error("AR-011", where, "the active timeline has the action pending")
    elif found.completed and row.completed and found.completed != row.completed:
        yield error("TL-012", where, f"completed at {row.completed}, on the active timeline at {found.completed}")


def holes(timeline: Timeline, row: ArchivedInstant) -> Iterator[Violation]:
    """A write that has left although an older one has not: what it wrote no longer counts as committed.

    Clauses: AR-004, AR-005, TL-018.
    """
    if row.action in DATA_ACTIONS and timeline.start is not None and row.requested > timeline.start:
        where = f"history {row.requested}.{row.action}"
        waits = any(one.requested == timeline.start and one.state is not State.COMPLETED for one in timeline.instants)
        detail = f"the write was archived, the older one of {timeline.start} {'waits' if waits else 'was not'}"
        yield error("AR-005" if waits else "AR-004", where, detail)


def leftovers(opened: OpenTable, archived: tuple[ArchivedInstant, ...]) -> Iterator[Violation]:
    """Files that only an archived action removed from the table: they are taken for rows again.

    Clauses: AR-007, AR-009.
    """
    groups = dict[GroupId, str]()
    undone = dict[str, str]()
    written = {row.requested for row in archived if row.action in DATA_ACTIONS} | taken_back(opened)
    written |= {one.requested for one in opened.timeline.instants if one.action in DATA_ACTIONS}
    for row in archived:
        if isinstance(row.metadata, CommitMetadata):
            groups.update(dict.fromkeys(row.metadata.replaced, row.requested))
        if isinstance(row.metadata, RollbackMetadata):
            undone.update({one: row.requested for one in row.metadata.rolled_back if one not in written})
    still = {group for one in opened.timeline.instants for group in replaced_by(one)}
    for file in data_files(opened.state) if groups or undone else ():
        if group_of(file) in groups.keys() - still:
            detail = f"its group was replaced by {groups[group_of(file)]}, which is archived"
            yield error("AR-007", path_of(file), detail)
        elif tellers := sorted(undone[one] for one in writers_of(file) if one in undone):
            yield error("AR-009", path_of(file), f"its write was undone by {tellers[0]}, which is archived")


def taken_back(opened: OpenTable) -> set[InstantTime]:
    """The writes whose blocks commands take back: of them no block counts again, whoever records their rollback.

    Clauses: RB-007, LF-015.
    """
    readable = (log.blocks for log in opened.state.log_files if not isinstance(log.blocks, Damaged))
    blocks = (block for many in readable for block in many)
    return {block.target for block in blocks if isinstance(block, RollbackBlock)}


def replaced_by(one: Instant) -> frozenset[GroupId]:
    """The groups that a completed action took out of the table."""
    return one.content.replaced if isinstance(one.content, CommitMetadata) else frozenset()


def writers_of(file: BaseFile | LogFile) -> set[str]:
    """The instants whose rows a file holds."""
    return {file.instant} if isinstance(file, BaseFile) else set(instants_of(file))
