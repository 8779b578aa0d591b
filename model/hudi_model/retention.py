"""What a table must still have: the files that the timeline names, and the past that cleans left."""

from collections.abc import Collection, Iterable, Iterator

from hudi_model.actions import (
    Action,
    CleanMetadata,
    CleanPlan,
    CommitMetadata,
    CompactionPlan,
    Instant,
    ReplacePlan,
    RollbackMetadata,
)
from hudi_model.files import NATIVE_LOG, FileSlice, GroupId
from hudi_model.rejection import Reason, Rejection
from hudi_model.slicing import data_files, group_of, path_of
from hudi_model.tables import View, replaced_groups, visible_commits
from hudi_model.time import InstantTime
from hudi_model.timeline import Timeline, commit_metadata, completed_actions, completion, valid_content


def refuse_unretained(timeline: Timeline, read_time: InstantTime) -> None:
    """Nothing, unless a completed clean kept files only for later times.

    Raises: RANGE_NOT_RETAINED, TIMELINE_FILE_CORRUPT.

    Clauses: RD-014.
    """
    for one in completed_actions(timeline, Action.CLEAN):
        content = valid_content(one)
        earliest = content.earliest_to_retain if isinstance(content, CleanMetadata) else None
        if earliest and read_time < earliest:
            detail = f"as of {read_time}: cleaned files were kept from {earliest} on"
            raise Rejection(Reason.RANGE_NOT_RETAINED, "RD-014", f"{one.requested}.clean", detail)


def refuse_lost_timeline(view: View) -> None:
    """Nothing, unless there are data files and not one action that could have written them.

    Raises: TIMELINE_FILE_CORRUPT.

    Clauses: TL-022.
    """
    files = data_files(view.table.state)
    if files and not view.table.timeline.instants:
        where = path_of(files[0])
        raise Rejection(Reason.TIMELINE_FILE_CORRUPT, "TL-022", where, "there are data files and no timeline")


def refuse_missing(view: View, slices: tuple[FileSlice, ...], only: Collection[GroupId] | None = None) -> None:
    """Nothing, unless a group to be read lacks the base file that the timeline names last, by requested time.

    Groups to be read are those of `only`, all of them by default.

    Raises: BASE_FILE_MISSING; RANGE_NOT_RETAINED where a clean deleted what an older time needs;
    TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RD-011, RD-014.
    """
    newest: dict[GroupId, tuple[InstantTime, str]] = {}
    for one, group, path in sorted(named_files(view, only), key=lambda found: found[0].requested):
        name = path.rpartition("/")[2]
        if name.count("_") == 2 and not name.startswith("."):
            newest[group] = one.requested, path
    named = ((group, *found) for group, found in newest.items())
    refuse_absent(view, slices, named, Reason.BASE_FILE_MISSING, "RD-011")


def refuse_missing_logs(view: View, slices: tuple[FileSlice, ...], only: Collection[GroupId] | None = None) -> None:
    """Nothing, unless a slice to be read lacks a log file with rows that a visible commit names.

    Groups to be read are those of `only`, all of them by default.
    A version 6 log names its slice. [Modified in v8] The completion of its commit places it.

    Raises: LOG_FILE_MISSING; RANGE_NOT_RETAINED where a clean deleted what an older time needs;
    TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RD-005, RD-006, RD-014, RD-018.
    """
    by_name, named = view.configuration.rules.logs_name_their_slice, []
    for one, group, path in named_files(view, only):
        own = instant_of_log(path)
        if own is not None and not path.endswith((".cdc", ".cdc.parquet")):
            named.append((group, own if by_name else completion(one), path))
    refuse_absent(view, slices, named, Reason.LOG_FILE_MISSING, "RD-018")


def instant_of_log(path: str) -> InstantTime | None:
    """The instant in a log file's name, None of any other file: the slice's in version 6, later the log's own.

    Clauses: SL-005, NL-001.
    """
    name = path.rpartition("/")[2]
    if native := NATIVE_LOG.fullmatch(name):
        return InstantTime(native["instant"])
    is_log = name.startswith(".") and ".log." in name and "_" in name
    return InstantTime(name.split("_")[1].partition(".")[0]) if is_log else None


def refuse_absent(
    view: View, slices: Iterable[FileSlice], named: Iterable[tuple[GroupId, InstantTime, str]], why: Reason, clause: str
) -> None:
    """Nothing, unless storage lacks a file that is named and not older than the base file its group is read from.

    Raises: the reason; RANGE_NOT_RETAINED where a clean deleted what an older time needs, or has begun to.

    Clauses: RD-011, RD-014, RD-018.
    """
    replaced, present = replaced_groups(view), {path_of(one) for one in data_files(view.table.state)}
    read_from = {group_of(one): one.base_instant for one in slices if one.base_file}
    for group, time, path in named:
        if group in replaced or path in present or time < read_from.get(group, ""):
            continue
        if path not in removed_files(view.table.timeline):
            if path in planned_removals(view.table.timeline):
                raise Rejection(Reason.RANGE_NOT_RETAINED, "RD-014", path, "a clean that has not completed deleted it")
            raise Rejection(why, clause, path, "the timeline names it, storage lacks it")
        if view.read_time is not None:
            detail = f"as of {view.read_time}: a clean deleted the file"
            raise Rejection(Reason.RANGE_NOT_RETAINED, "RD-014", path, detail)


def named_files(view: View, only: Collection[GroupId] | None = None) -> Iterator[tuple[Instant, GroupId, str]]:
    """The files that visible commits name, of all groups or of some: by which commit, in which group, under which path.

    Raises: TIMELINE_FILE_CORRUPT, PATH_ESCAPES_TABLE.

    Clauses: RD-011, RD-018.
    """
    for one in visible_commits(view):
        for stat in commit_metadata(one).write_stats:
            path = inner_path(stat.path or "")
            group = path.rpartition("/")[0], stat.file_id
            if only is None or group in only:
                yield one, group, path


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
    contents = map(valid_content, completed_actions(timeline, Action.CLEAN, Action.ROLLBACK, Action.RESTORE))
    pairs = (one.deleted_files for one in contents if isinstance(one, CleanMetadata | RollbackMetadata))
    return frozenset(f"{partition}/{name}" if partition else name for many in pairs for partition, name in many)


def planned_removals(timeline: Timeline) -> frozenset[str]:
    """The paths that the plans of pending cleans name.

    Clauses: CN-009, RD-014.
    """
    done = {one.requested for one in completed_actions(timeline, Action.CLEAN)}
    pending = (one.content for one in timeline.entries if one.requested not in done)
    plans = (one for one in pending if isinstance(one, CleanPlan))
    return frozenset(f"{partition}/{name}" if partition else name for one in plans for partition, name in one.files)


def groups_of(content: object) -> frozenset[GroupId]:
    """The file groups that the content of a timeline file names.

    Clauses: OW-005, OW-006.
    """
    match content:
        case CommitMetadata(write_stats=stats, replaced=replaced):
            return replaced | set(map(group_of, stats))
        case CompactionPlan(operations):
            return frozenset(map(group_of, operations))
        case ReplacePlan(groups=groups):
            return frozenset(group_of(one) for group in groups for one in group.slices)
    return frozenset()
