"""What a table must still have: base files that the timeline names, and the past that cleans left."""

from hudi_model.files import FileSlice, GroupId
from hudi_model.rejection import Reason, Rejection
from hudi_model.slicing import path_of
from hudi_model.time import InstantTime
from hudi_model.timeline import (
    Action,
    CleanMetadata,
    RollbackMetadata,
    State,
    Timeline,
    commit_metadata,
    completion_time,
    sound_content,
)
from hudi_model.views import View, replaced_groups, visible_commits


def refuse_unretained(timeline: Timeline, read_time: InstantTime) -> None:
    """Nothing, unless a completed clean kept files only for later times.

    Raises: RANGE_NOT_RETAINED, TIMELINE_FILE_CORRUPT.

    Clauses: RD-014.
    """
    for one in timeline.instants:
        content = sound_content(one) if one.action is Action.CLEAN and one.state is State.COMPLETED else None
        earliest = content.earliest_to_retain if isinstance(content, CleanMetadata) else None
        if earliest and read_time < earliest:
            detail = f"as of {read_time}: cleaned files were kept from {earliest} on"
            raise Rejection(Reason.RANGE_NOT_RETAINED, "RD-014", f"{one.requested}.clean", detail)


def refuse_lost_timeline(view: View) -> None:
    """Nothing, unless there are data files and not one action that could have written them.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: TL-022.
    """
    state = view.table.state
    files = [*map(path_of, state.base_files), *map(path_of, state.log_files)]
    if files and not view.table.timeline.instants:
        raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "TL-022", files[0], "there are data files and no timeline")


def refuse_missing(view: View, slices: tuple[FileSlice, ...]) -> None:
    """Nothing, unless a group to be read lacks the base file that the timeline names last.

    Raises: BASE_FILE_MISSING; RANGE_NOT_RETAINED where a clean deleted what an older time needs;
    TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RD-011, RD-014.
    """
    present = {path_of(base) for base in view.table.state.base_files}
    replaced = replaced_groups(view)
    bases = {(one.partition, one.file_id): one.base_instant for one in slices if one.base_file}
    for group, (instant, path) in newest_named(view).items():
        if group in replaced or path in present or bases.get(group, "") > instant:
            continue
        if path not in removed_files(view.table.timeline):
            raise Rejection(Reason.BASE_FILE_MISSING, "RD-011", path, "the timeline names it, storage lacks it")
        if view.read_time is not None:
            detail = f"as of {view.read_time}: a clean deleted the base file"
            raise Rejection(Reason.RANGE_NOT_RETAINED, "RD-014", path, detail)


def refuse_missing_logs(view: View, slices: tuple[FileSlice, ...]) -> None:
    """Nothing, unless a slice to be read lacks a log file that a visible commit names.

    Raises: LOG_FILE_MISSING; RANGE_NOT_RETAINED where a clean deleted what an older time needs;
    TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RD-014, RD-018.
    """
    replaced = replaced_groups(view)
    read_from = {(one.partition, one.file_id): one.base_instant for one in slices if one.base_file}
    present = {path_of(log) for log in view.table.state.log_files}
    for (group, path), time in named_logs(view).items():
        if group in replaced or path in present or time < read_from.get(group, ""):
            continue
        if path not in removed_files(view.table.timeline):
            raise Rejection(Reason.LOG_FILE_MISSING, "RD-018", path, "the timeline names it, storage lacks it")
        if view.read_time is not None:
            detail = f"as of {view.read_time}: a clean deleted the log file"
            raise Rejection(Reason.RANGE_NOT_RETAINED, "RD-014", path, detail)


def named_logs(view: View) -> dict[tuple[GroupId, str], InstantTime]:
    """The log files with rows that visible commits name, and the time that places each in a slice.

    A version 6 log names its slice. [Modified in v8] The completion of its commit places it.

    Raises: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RD-005, RD-006, RD-018.
    """
    named: dict[tuple[GroupId, str], InstantTime] = {}
    for one in visible_commits(view):
        for stat in commit_metadata(one).write_stats:
            path = inner_path(stat.path or "")
            partition, _, name = path.rpartition("/")
            if is_log_file(name):
                own = InstantTime(name.split("_")[1].partition(".")[0])
                by_name = view.configuration.rules.logs_name_their_slice
                time = own if by_name else completion_time(view.timeline, one.requested)
                named[(partition, stat.file_id), path] = time
    return named


def is_log_file(name: str) -> bool:
    """Whether a name is that of a log file with rows: those of the change feed end in `.cdc`."""
    return name.startswith(".") and ".log." in name and "_" in name and not name.endswith(".cdc")


def newest_named(view: View) -> dict[GroupId, tuple[InstantTime, str]]:
    """The base file that visible commits name last for each file group, by requested time.

    Raises: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RD-011.
    """
    named: dict[GroupId, tuple[InstantTime, str]] = {}
    for one in sorted(visible_commits(view), key=lambda instant: instant.requested):
        for stat in commit_metadata(one).write_stats:
            path = inner_path(stat.path or "")
            if is_base_file(path):
                named[path.rpartition("/")[0], stat.file_id] = (one.requested, path)
    return named


def is_base_file(path: str) -> bool:
    """Whether a path that a commit names is that of a base file: log files begin with a dot."""
    name = path.rpartition("/")[2]
    return name.count("_") == 2 and not name.startswith(".")


def inner_path(path: str) -> str:
    """A path of the metadata, which must lie inside the table.

    Raises: PATH_ESCAPES_TABLE.

    Clauses: RD-011.
    """
    if path.startswith("/") or ".." in path.split("/") or ":/" in path:
        raise Rejection(Reason.PATH_ESCAPES_TABLE, "SL-007", path, "the path leaves the table")
    return path


def removed_files(timeline: Timeline) -> frozenset[str]:
    """The paths that completed cleans, rollbacks and restores say they deleted.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: RD-011.
    """
    removing = (Action.CLEAN, Action.ROLLBACK, Action.RESTORE)
    done = (one for one in timeline.instants if one.action in removing and one.state is State.COMPLETED)
    contents = (sound_content(one) for one in done)
    pairs = (one.deleted_files for one in contents if isinstance(one, CleanMetadata | RollbackMetadata))
    return frozenset(f"{partition}/{name}" if partition else name for many in pairs for partition, name in many)
