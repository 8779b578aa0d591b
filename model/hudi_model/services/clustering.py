"""Clustering: file slices are read together and written anew, sorted, as file groups that replace theirs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from math import ceil

from hudi_model.actions import (
    Action,
    ClusteringGroup,
    CommitMetadata,
    CompactionOperation,
    Content,
    ReplacePlan,
    WriteStat,
)
from hudi_model.effects import FIRST_ATTEMPT, Effects, base_file_name, new_file_id
from hudi_model.files import BaseFile, Record
from hudi_model.merge_rules import comparable
from hudi_model.reading import read_slice
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.requests import number, setting, switch
from hudi_model.schemas import table_schema
from hudi_model.services import plans
from hudi_model.slicing import path_of, snapshot_slices
from hudi_model.staging import Staged, base_extension, in_file
from hudi_model.tables import RELEASED, Readings, Table, View, open_table, view_at, visible_commits
from hudi_model.time import InstantTime
from hudi_model.timeline import commit_metadata

STRATEGY = "hoodie.clustering.plan.strategy."
DAYS = "skipfromlatest", "lookback"


def schedule(table: Table, requested: InstantTime, settings: plans.Settings, readings: Readings = RELEASED) -> Effects:
    """A plan of the small slices that nobody else rewrites; none before it is due.

    Clauses: CL-001, CL-002, CL-003, CL-008.
    """
    view = plans.view_before(table, requested, readings)
    groups = tuple(clustering_groups(view, requested, settings))[: number(settings, f"{STRATEGY}max.num.groups")]
    columns = tuple(name.strip() for name in setting(settings, f"{STRATEGY}sort.columns").split(",") if name.strip())
    if not is_due(view, settings) or not groups:
        return ()
    return plans.request(table, requested, action_of(view), ReplacePlan("CLUSTER", groups, columns))


def is_due(view: View, settings: plans.Settings) -> bool:
    """Whether enough commits have completed that were requested after the last clustering was.

    Clauses: CL-008.
    """
    inline = switch(settings, "hoodie.clustering.inline")
    beside = any(switch(settings, f"hoodie.clustering.{name}") for name in ("async.enabled", "schedule.inline"))
    counts = (("inline.max.commits", inline), ("async.max.commits", beside))
    needed = max((number(settings, f"hoodie.clustering.{name}") for name, enabled in counts if enabled), default=0)
    planned = (one.requested for one in view.timeline.entries if is_clustering(one.content))
    last = max(planned, default=InstantTime(""))
    return sum(one.requested > last for one in visible_commits(view)) >= needed


def is_clustering(content: Content) -> bool:
    """Whether a file of the timeline plans a clustering, or records one that completed."""
    return isinstance(content, ReplacePlan | CommitMetadata) and content.operation == "CLUSTER"


def action_of(view: View) -> Action:
    """The action under which clustering waits. [Modified in v8] One of its own.

    Clauses: CL-003.
    """
    return Action.REPLACE_COMMIT if view.configuration.rules.timeline_layout == 1 else Action.CLUSTERING


def clustering_groups(view: View, requested: InstantTime, settings: plans.Settings) -> Iterator[ClusteringGroup]:
    """The small slices of each wanted partition, and into how many files of the target size they fit.

    Clauses: CL-001.
    """
    limit, target = (number(settings, STRATEGY + name) for name in ("small.file.limit", "target.file.max.bytes"))
    wanted = wanted_partitions({one.partition for one in snapshot_slices(view)}, requested, settings)
    sizes = {stat.path: stat.size for one in visible_commits(view) for stat in commit_metadata(one).write_stats}
    sized = [
        (one, sizes.get(path_of(one.base_file), 0) if one.base_file else 0)
        for one in plans.free_slices(view, Action.CLUSTERING)
        if one.partition in wanted
    ]
    for _, found in groupby((one for one in sized if one[1] < limit), key=lambda one: one[0].partition):
        small = tuple(found)
        outputs = max(1, ceil(sum(size for _, size in small) / target))
        if len(small) > 1 or switch(settings, f"{STRATEGY}single.group.clustering.enabled"):
            yield ClusteringGroup(tuple(plans.operation_on(one) for one, _ in small), outputs)


def wanted_partitions(partitions: Iterable[str], requested: InstantTime, settings: plans.Settings) -> tuple[str, ...]:
    """Those that are named, or all; of them those whose whole path has a pattern; of these what a filter leaves.

    Days are the last partitions as text orders them, some of the very last left out; of hours each has its own.

    Raises: Unsupported for another filter.

    Clauses: CL-001.
    """
    named = [one for one in setting(settings, f"{STRATEGY}partition.selected").split(",") if one]
    pattern = setting(settings, f"{STRATEGY}partition.regex.pattern")
    found = sorted(one for one in partitions if not named or one in named)
    found = [one for one in found if not pattern or re.fullmatch(pattern, one)]
    match setting(settings, "hoodie.clustering.plan.partition.filter.mode"):
        case "RECENT_DAYS":
            skipped, count = (number(settings, f"{STRATEGY}daybased.{name}.partitions") for name in DAYS)
            return tuple(found[::-1][skipped:][:count])
        case "SELECTED_PARTITIONS":
            begin, end = (setting(settings, f"{STRATEGY}cluster.{name}.partition") for name in ("begin", "end"))
            return tuple(one for one in found if begin <= one and (not end or one <= end))
        case "DAY_ROLLING":
            return tuple(found[int(requested[8:10]) :: 24])
        case "NONE":
            return tuple(found)
        case mode:
            raise Unsupported(f"clustering-filter-{mode}")


def execute(table: Table, requested: InstantTime, completed: InstantTime, readings: Readings = RELEASED) -> Effects:
    """The planned groups as new base files, and the replacecommit that puts them in the place of the old.

    Raises: INSTANT_NOT_FOUND, WRITE_CONFLICT, and every reason of the files read.

    Clauses: CL-004, CL-005, CL-006, SL-007.
    """
    if plans.is_completed(table, requested):
        return ()
    view, plan = plans.view_before(table, requested, readings), plans.plan_of(table, requested, ReplacePlan)
    plans.refuse_foreign(plans.files_of_slices(one for group in plan.groups for one in group.slices))
    refuse_updated(table, plan, readings)
    staged = (one for place, _ in enumerate(plan.groups) for one in clustered(view, plan, place, requested))
    replaced = frozenset((one.partition, one.file_id) for group in plan.groups for one in group.slices)
    return plans.carry_out(view, action_of(view), requested, completed, staged, replaced)


def refuse_updated(table: Table, plan: ReplacePlan, readings: Readings) -> None:
    """Nothing, unless a planned slice is no longer what its file group holds.

    Raises: WRITE_CONFLICT.

    Clauses: CL-005.
    """
    slices = snapshot_slices(view_at(open_table(table), None, readings))
    now = {in_any_order(plans.operation_on(one)) for one in slices}
    for one in (found for group in plan.groups for found in group.slices):
        if in_any_order(one) not in now:
            raise Rejection(Reason.WRITE_CONFLICT, "CL-005", one.file_id, "the group was written since it was planned")


def in_any_order(operation: CompactionOperation) -> CompactionOperation:
    """A slice that a plan names, in whatever order it names the logs.

    Clauses: CP-005.
    """
    return replace(operation, log_files=tuple(sorted(operation.log_files)))


def clustered(view: View, plan: ReplacePlan, place: int, requested: InstantTime) -> Iterator[Staged]:
    """The base files that one group becomes: its rows as a snapshot reads them, sorted, with their commit times.

    Clauses: CL-004, CL-007, CL-009.
    """
    group, schema = plan.groups[place], table_schema(view)
    slices = (plans.planned_slice(view, one) for one in group.slices)
    rows = sorted((row for one in slices for row in read_slice(view, one, schema)), key=lambda row: rank(row, plan))
    extension, length = base_extension(view.configuration), max(1, ceil(len(rows) / group.outputs))
    for start in range(0, len(rows), length):
        partition, file_id = group.slices[0].partition, new_file_id(requested, place, start)
        name = base_file_name(file_id, FIRST_ATTEMPT, requested, extension)
        records = tuple(in_file(row, name) for row in rows[start : start + length])
        file = BaseFile(partition, file_id, FIRST_ATTEMPT, requested, extension, name, records)
        yield Staged(file, WriteStat(partition, file_id, path_of(file), "null", len(records)), "CREATE")


def rank(row: Record, plan: ReplacePlan) -> list[tuple[bool, object]]:
    """Where a row stands: by the sort columns in turn, null before every value."""
    return [(value is not None, comparable(value)) for value in map(row.values.get, plan.sort_columns)]
