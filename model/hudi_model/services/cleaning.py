"""Cleaning: files that no retained instant, no savepoint and no pending plan needs are removed, planned first."""

import datetime as dt

from hudi_model.actions import Action, CleanMetadata, CleanPlan, SavepointMetadata, State
from hudi_model.effects import PARTITION_METAFILE, DeleteDataFile, Effects, entry
from hudi_model.files import FileGroup, FileSlice, GroupId
from hudi_model.metadata import with_metadata
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import number, setting
from hudi_model.services import plans
from hudi_model.slicing import file_groups, group_of
from hudi_model.tables import RELEASED, Table, View, open_table, replaced_groups, view_at, visible_commits
from hudi_model.time import InstantTime, instant_of, moment_of
from hudi_model.timeline import WRITE_ACTIONS, commit_metadata, completion, is_committed

Files = frozenset[tuple[str, str]]
"""Files by partition and name."""


def schedule(table: Table, requested: InstantTime, settings: plans.Settings) -> Effects:
    """A plan of what may go; none while a clean is pending, before enough commits, or where all is needed.

    Raises: CONFIG_INVALID.

    Clauses: CN-001, CN-006, CN-009.
    """
    view = view_at(open_table(table), None, RELEASED)
    cleans = [one for one in view.timeline.instants if one.action is Action.CLEAN]
    last = max((one.requested for one in cleans), default="")
    commits = visible_commits(view)
    known = max((one.requested for one in commits if completion(one) < last), default="")
    fresh = sum(one.requested > known for one in commits)
    pending = any(one.state < State.COMPLETED for one in cleans)
    policy, earliest = setting(settings, "hoodie.clean.policy"), earliest_to_retain(view, requested, settings)
    keeps_all = policy != "KEEP_LATEST_FILE_VERSIONS" and earliest is None
    if pending or keeps_all or fresh < number(settings, "hoodie.clean.trigger.max.commits"):
        return ()
    files = removable_files(view, earliest, settings)
    plan = CleanPlan(earliest, files, policy, empty_partitions(view, files))
    return plans.request(table, requested, Action.CLEAN, plan) if plan.files else ()


def earliest_to_retain(view: View, now: InstantTime, settings: plans.Settings) -> InstantTime | None:
    """The first instant as of which the table stays readable; None where all is kept, or versions are counted.

    Raises: CONFIG_INVALID.

    Clauses: CN-002, CN-003, CN-004.
    """
    policy = setting(settings, "hoodie.clean.policy")
    writes = [one for one in view.timeline.instants if one.action in WRITE_ACTIONS]
    done = [one.requested for one in writes if one.state is State.COMPLETED]
    if policy == "KEEP_LATEST_COMMITS":
        found = done[-number(settings, "hoodie.clean.commits.retained") :][:1]
        pending = min((one.requested for one in writes if one.state < State.COMPLETED), default=now)
        return None if found == done[:1] else max((one for one in done if one <= min(*found, pending)), default=None)
    if policy == "KEEP_LATEST_BY_HOURS":
        since = instant_of(moment_of(now) - dt.timedelta(hours=number(settings, "hoodie.clean.hours.retained")))
        return min((one for one in done if one >= since), default=None)
    if policy == "KEEP_LATEST_FILE_VERSIONS":
        return None
    raise Rejection(Reason.CONFIG_INVALID, "CN-001", "hoodie.clean.policy", f"{policy!r} is no policy")


def removable_files(view: View, earliest: InstantTime | None, settings: plans.Settings) -> Files:
    """The files of old slices in which nothing is needed, and base files that lost to another attempt of their task.

    A group that was replaced not long ago stays whole until it goes whole.

    Clauses: CN-001, CN-005, CN-007, CN-008, CN-010.
    """
    needed, gone = needed_files(view), replaced_before(view, earliest)
    versions = None if earliest else number(settings, "hoodie.clean.fileversions.retained")
    groups, waiting = file_groups(view), replaced_groups(view) - gone
    kept = (group for group in groups if group_of(group) not in waiting)
    old = (one for group in kept for one in old_slices(group, earliest, versions, gone))
    removed = (files for one in old if not (files := files_of(view, one)) & needed)
    read = {one.base_file.name for group in groups for one in group.slices if one.base_file}
    written = (one for one in view.table.state.base_files if is_committed(view.timeline, one.instant))
    return frozenset().union(*removed, ((one.partition, one.name) for one in written if one.name not in read))


def old_slices(
    group: FileGroup, earliest: InstantTime | None, versions: int | None, gone: frozenset[GroupId]
) -> tuple[FileSlice, ...]:
    """The slices of a group that its policy lets go: all of a replaced one, else all but the newest.

    The last slice from before the earliest retained instant stays: a query as of that instant reads it.

    Clauses: CN-002, CN-004, CN-007, LC-009.
    """
    if group_of(group) in gone:
        return group.slices
    older = tuple(one for one in group.slices if versions or one.base_instant < (earliest or ""))
    return older[: -(versions or 1)]


def replaced_before(view: View, earliest: InstantTime | None) -> frozenset[GroupId]:
    """The groups that were replaced before the earliest retained instant; all replaced ones where versions count.

    Clauses: CN-007.
    """
    early = (one for one in visible_commits(view) if earliest is None or one.requested < earliest)
    return frozenset(group for one in early for group in commit_metadata(one).replaced)


def needed_files(view: View) -> Files:
    """The files that savepoints keep and that pending plans read.

    Clauses: CN-005, CN-008.
    """
    contents = (one.content for one in view.timeline.entries if one.state is State.COMPLETED)
    saved = (one.files for one in contents if isinstance(one, SavepointMetadata))
    waiting = (one for _, one in plans.pending_slices(view.timeline))
    planned = ((one, name) for one in waiting for name in (one.base_file, *one.log_files))
    return frozenset().union(*saved, ((one.partition, name) for one, name in planned if name))


def files_of(view: View, found: FileSlice) -> Files:
    """The files of a slice, and what the write of its base file logged for the change feed."""
    feed = tuple(one for one in view.table.state.log_files if one.cdc and one.instant == found.base_instant)
    base = {(found.partition, found.base_file.name)} if found.base_file else set()
    logs = (one for one in found.log_files + feed if group_of(one) == (found.partition, found.file_id))
    return frozenset(base.union((one.partition, one.name) for one in logs))


def empty_partitions(view: View, removed: Files) -> frozenset[str]:
    """The partitions of which nothing is left and into which nobody writes.

    Clauses: CN-011.
    """
    state = view.table.state
    present = {(one.partition, one.name) for one in state.base_files} | {
        (one.partition, one.name) for one in state.log_files
    }
    used = {partition for partition, _ in present - removed} | {one.partition for one in state.markers}
    return state.partitions - used - {""}


def execute(table: Table, requested: InstantTime, completed: InstantTime) -> Effects:
    """The planned files go, then partitions that are still empty; what an earlier try removed counts as removed.

    Raises: INSTANT_NOT_FOUND, PATH_ESCAPES_TABLE.

    Clauses: CN-009, CN-011, CN-012, SL-007.
    """
    if plans.is_completed(table, requested):
        return ()
    view, plan = view_at(open_table(table), None, RELEASED), plans.plan_of(table, requested, CleanPlan)
    plans.refuse_foreign(named_files(plan))
    copy = plan if view.configuration.rules.timeline_layout == 1 else None
    emptied = plan.partitions & empty_partitions(view, plan.files)
    done = CleanMetadata(plan.earliest_to_retain, plan.files)
    effects: Effects = (
        entry(table, requested, Action.CLEAN, State.INFLIGHT, copy, None),
        *(DeleteDataFile(*one) for one in sorted(plan.files)),
        *(DeleteDataFile(one, PARTITION_METAFILE) for one in sorted(emptied)),
        entry(table, requested, Action.CLEAN, State.COMPLETED, done, completed),
    )
    return with_metadata(table, effects)


def named_files(plan: CleanPlan) -> frozenset[tuple[str, str]]:
    """The files that a clean is to delete; of the partitions that are to go no name."""
    return plan.files | {(one, "") for one in plan.partitions}
