"""From files to file slices: the reader's steps up to the choice of what to read in each file group.

requested time ─────────────────────────────────────────────────▶
group f1   base@10  log  log │ compaction requested @40 │ log  log
           └── slice 10 ─────┘                          └ slice 40, joined with slice 10 while 40 is pending
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from hudi_model.actions import Action, CompactionOperation, CompactionPlan, State, WriteStat
from hudi_model.files import BaseFile, Damaged, FileGroup, FileSlice, GroupId, LogFile
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Reading, Table, View, is_within, replaced_groups
from hudi_model.time import InstantTime, at_or_before
from hudi_model.timeline import DATA_ACTIONS, Timeline, commit_metadata, completed_data, completion_time, is_committed

NATIVE_KINDS = ("", "log", "deletes", "cdc")
"""What a log may be, in the order in which those of one version are merged."""


def pending_compactions(timeline: Timeline) -> dict[GroupId, frozenset[InstantTime]]:
    """For each file group, the requested or inflight compactions whose plan holds it.

    Raises: TIMELINE_FILE_CORRUPT where a plan does not parse or is empty.

    Clauses: RD-008.
    """
    pending: dict[GroupId, frozenset[InstantTime]] = {}
    for one in timeline.instants:
        if one.action is Action.COMPACTION and one.state is not State.COMPLETED:
            for operation in compaction_plan(timeline, one.requested).operations:
                pending[group_of(operation)] = pending.get(group_of(operation), frozenset()) | {one.requested}
    return pending


def compaction_plan(timeline: Timeline, requested: InstantTime) -> CompactionPlan:
    """The plan of a compaction, from its requested entry.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: RD-008.
    """
    for entry in timeline.entries:
        if entry.requested == requested and entry.state is State.REQUESTED:
            if isinstance(entry.content, Damaged):
                raise entry.content.refusal()
            if isinstance(entry.content, CompactionPlan):
                return entry.content
    where = f"{requested}.compaction.requested"
    raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "RD-008", where, "the pending compaction has no plan")


def file_groups(view: View) -> tuple[FileGroup, ...]:
    """The file groups of a table, replaced ones too, with the slices that hold committed files.

    Clauses: SL-003, RD-002.
    """
    pending = pending_compactions(view.timeline)
    bases, logs = defaultdict[GroupId, list[BaseFile]](list), defaultdict[GroupId, list[LogFile]](list)
    for base in view.table.state.base_files:
        bases[group_of(base)].append(base)
    for log in data_logs(view):
        logs[group_of(log)].append(log)
    groups = sorted({*bases, *logs})
    return tuple(
        FileGroup(*one, slices_of(view, bases[one], logs[one], pending.get(one, frozenset()))) for one in groups
    )


def group_of(file: BaseFile | LogFile | FileSlice | FileGroup | WriteStat | CompactionOperation) -> GroupId:
    """The file group that a file belongs to, or what is said of one.

    Clauses: SL-003.
    """
    return file.partition, file.file_id


def data_files(table: Table) -> tuple[BaseFile | LogFile, ...]:
    """All files of a table that hold rows or changes."""
    return (*table.base_files, *table.log_files)


def data_logs(view: View) -> tuple[LogFile, ...]:
    """The log files that hold rows: none in a copy-on-write table, and never those of the change feed.

    Native logs are foreign files before version 10. [Draft, v10]

    Clauses: TT-001, TT-002, LF-018, NL-001.
    """
    if not view.configuration.merge_on_read:
        return ()
    natively = view.configuration.rules.native_logs
    return tuple(log for log in view.table.state.log_files if not log.cdc and (natively or not log.native))


def slices_of(
    view: View, base_files: Iterable[BaseFile], log_files: Iterable[LogFile], pending: frozenset[InstantTime]
) -> tuple[FileSlice, ...]:
    """The slices of one file group, oldest first, from its files and the compactions that wait for it.

    Clauses: RD-002, RD-004, RD-005, RD-006, RD-016, RD-017.
    """
    bases = committed_base_files(view, base_files)
    boundaries = set(bases) | pending
    assigned: dict[InstantTime, list[LogFile]] = {}
    for log in sorted(log_files, key=requested_order):
        if is_committed(view.timeline, log.instant) or log.instant in pending:
            boundary = slice_of_log(view, log, boundaries)
            boundaries.add(boundary)
            assigned.setdefault(boundary, []).append(log)
    slices = []
    for instant in sorted({*bases, *assigned}):
        base, logs = bases.get(instant), assigned.get(instant, [])
        group = group_of(base or logs[0])
        slices.append(FileSlice(*group, instant, base, in_merge_order(view, logs)))
    return tuple(slices)


def committed_base_files(view: View, base_files: Iterable[BaseFile]) -> dict[InstantTime, BaseFile]:
    """The base files of committed writes, one for each instant: what failed task attempts left does not count.

    Of several of one instant that one does which the commit names; where it names none, the last by name.

    Clauses: RD-002, RD-004.
    """
    attempts = defaultdict[InstantTime, list[BaseFile]](list)
    for base in base_files:
        if is_committed(view.timeline, base.instant):
            attempts[base.instant].append(base)
    commits = completed_data(view.timeline) if any(many[1:] for many in attempts.values()) else ()
    named = {stat.path for one in commits for stat in commit_metadata(one).write_stats}
    return {at: max(many, key=lambda base: (path_of(base) in named, base.name)) for at, many in attempts.items()}


def path_of(file: BaseFile | LogFile) -> str:
    """Where a file lies, relative to the table."""
    return f"{file.partition}/{file.name}" if file.partition else file.name


def slice_of_log(view: View, log: LogFile, boundaries: Iterable[InstantTime]) -> InstantTime:
    """The base instant of the slice that a log belongs to; its own instant where none is old enough.

    A version 6 log names its slice. [Modified in v8] A log belongs to the youngest slice that its commit,
    when it completed, found requested.

    Raises: TIMELINE_FILE_CORRUPT where the history is damaged that has to tell.

    Clauses: RD-005, RD-006, SW-006.
    """
    known = set(boundaries)
    if view.configuration.rules.logs_name_their_slice or log.instant in known:
        return log.instant
    completed = completed_at(view, log.instant) if any(one > log.instant for one in known) else log.instant
    return max((one for one in known if at_or_before(one, completed)), default=log.instant)


def completed_at(view: View, requested: InstantTime) -> InstantTime:
    """When a write completed that the timeline has, or has had; its own instant where neither has it.

    Raises: TIMELINE_FILE_CORRUPT where the history is damaged.

    Clauses: RD-005, HS-001, HS-007.
    """
    if any(one.requested == requested for one in view.table.timeline.entries):
        return completion_time(view.timeline, requested)
    history = view.table.state.history
    rows = (*history.archived_log, *(row for file in history.files for row in file.instants))
    own = tuple(row for row in rows if row.requested == requested and row.action in DATA_ACTIONS)
    if history.unreadable and not own:
        raise history.unreadable[0].refusal()
    return next((row.completed or requested for row in own), requested)


def requested_order(log: LogFile) -> tuple[InstantTime, int, str, int]:
    """Where a log stands by requested instant, version and write token. [Draft, v10] Rows stand before deletes.

    Clauses: RD-007, NL-006.
    """
    return log.instant, log.version, log.write_token, NATIVE_KINDS.index(log.native)


def in_merge_order(view: View, logs: Iterable[LogFile]) -> tuple[LogFile, ...]:
    """The logs of a slice, oldest first: by requested time as released, by completion time in the text.

    Clauses: RD-007.
    """
    by_request = sorted(logs, key=requested_order)
    if view.readings.log_order is Reading.RELEASED:
        return tuple(by_request)
    times = {log.instant: completed_at(view, log.instant) for log in by_request}
    return tuple(sorted(by_request, key=lambda log: (times[log.instant], *requested_order(log)[1:])))


def current_slice(view: View, group: FileGroup, pending: frozenset[InstantTime]) -> FileSlice | None:
    """The slice of a group that a snapshot reads, or None where it holds nothing for the question.

    Clauses: RD-004, RD-008, RD-010.
    """
    reached = [one for one in group.slices if is_within(view, one.base_instant)]
    if not reached:
        return None
    found = reached.pop()
    while reached and found.base_instant in pending:
        found = join(view, reached.pop(), found)
    found = replace(found, log_files=tuple(log for log in found.log_files if is_within(view, log.instant)))
    return found if found.base_file or found.log_files else None


def join(view: View, older: FileSlice, newer: FileSlice) -> FileSlice:
    """A slice that a pending compaction opened, as part of the slice before it.

    Clauses: RD-008.
    """
    return replace(older, log_files=in_merge_order(view, (*older.log_files, *newer.log_files)))


def present_groups(view: View) -> tuple[FileGroup, ...]:
    """The file groups that no visible replacecommit took out of the table.

    Clauses: RD-003.
    """
    replaced = replaced_groups(view)
    return tuple(group for group in file_groups(view) if group_of(group) not in replaced)


def snapshot_slices(view: View) -> tuple[FileSlice, ...]:
    """The slices that a snapshot reads, one for each file group that is not replaced.

    Clauses: RD-004, RD-008.
    """
    pending = pending_compactions(view.timeline)
    slices = (current_slice(view, one, pending.get(group_of(one), frozenset())) for one in present_groups(view))
    return tuple(one for one in slices if one is not None)
