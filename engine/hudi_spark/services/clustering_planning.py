"""Clustering planned: when it is due, in which partitions, which slices go together.

selected ones, or those that were written since the last clustering, or all
    -> those that a pattern matches
    -> those that the filter mode leaves: the newest days, every n-th by the hour, a range

Clauses: CL-001, CL-002, CL-003, CL-008.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import (
    ClusteringGroup,
    ClusteringPlan,
    ClusteringStrategy,
    RequestedReplace,
    SliceInfo,
)

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.merge import column_of
from hudi_spark.options import INDEX_TYPE, Options
from hudi_spark.schema import Origins, origins_of
from hudi_spark.table_state import DATA_ACTIONS, Commit, FileSlice, Snapshot, clustering_plan, groups_in_pending_plans
from hudi_spark.write import TableWork, state_of_table

PLAN_KEY: Final = "hoodie.clustering.plan.strategy.class"
EXECUTION_KEY: Final = "hoodie.clustering.execution.strategy.class"
_FILE_BY_FILE: Final = "SparkSingleFileSortExecutionStrategy"
_EXECUTIONS: Final = (
    "SparkSortAndSizeExecutionStrategy",
    "JavaSortAndSizeExecutionStrategy",
    _FILE_BY_FILE,
)


@dataclass(frozen=True, slots=True)
class PlanStrategy:
    """How a plan is made.

    `mode`: the filter of partitions that goes with the strategy, empty for the one that the options name.
    `file_by_file`: each file is rewritten for itself.
    """

    mode: str = ""
    file_by_file: bool = False


_PLANS: Final = {
    "SparkSizeBasedClusteringPlanStrategy": PlanStrategy(),
    "JavaSizeBasedClusteringPlanStrategy": PlanStrategy(),
    "FlinkSizeBasedClusteringPlanStrategy": PlanStrategy(),
    "SparkRecentDaysClusteringPlanStrategy": PlanStrategy("RECENT_DAYS"),
    "JavaRecentDaysClusteringPlanStrategy": PlanStrategy("RECENT_DAYS"),
    "SparkSelectedPartitionsClusteringPlanStrategy": PlanStrategy("SELECTED_PARTITIONS"),
    "SparkSingleFileSortPlanStrategy": PlanStrategy(file_by_file=True),
}


def plan_strategy(options: Options) -> PlanStrategy:
    """The strategy that the options name.

    Raises:
        UnsupportedFeature: one that is not built.

    """
    name = _short(options.text(PLAN_KEY))
    if name not in _PLANS:
        raise UnsupportedFeature(f"clustering-plan-{name}", f"{PLAN_KEY} may be one of {', '.join(_PLANS)}")
    return _PLANS[name]


def is_file_by_file(execution: str) -> bool:
    """Whether the strategy that a plan names writes one file for each group, however large.

    Raises:
        UnsupportedFeature: one that is not built.

    """
    name = _short(execution)
    if name not in _EXECUTIONS:
        raise UnsupportedFeature(f"clustering-{name}", f"{EXECUTION_KEY} may be one of {', '.join(_EXECUTIONS)}")
    return name == _FILE_BY_FILE


def _short(class_name: str) -> str:
    return class_name.rpartition(".")[2]


SORT_KEY: Final = "hoodie.clustering.plan.strategy.sort.columns"
_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes in bytes by which groups are made.

    `small`: base files below it are clustered. `a_file`: what a new file is to have, `a_group`: what a group may have.
    `without_base`: what a slice of logs alone counts as. `alone`: whether a single file is clustered by itself.

    Clauses: CL-001.
    """

    small: int
    a_file: int
    a_group: int
    groups: int
    without_base: int
    alone: bool


def sizes_of(options: Options) -> Sizes:
    """What the options say."""
    alone = options.flag("hoodie.clustering.plan.strategy.single.group.clustering.enabled")
    return Sizes(
        small=options.number("hoodie.clustering.plan.strategy.small.file.limit"),
        a_file=options.number("hoodie.clustering.plan.strategy.target.file.max.bytes"),
        a_group=options.number("hoodie.clustering.plan.strategy.max.bytes.per.group"),
        groups=options.number("hoodie.clustering.plan.strategy.max.num.groups"),
        without_base=options.number("hoodie.parquet.max.file.size"),
        # A file that is to be sorted is worth its own while.
        alone=alone or bool(options.names(SORT_KEY)),
    )


@dataclass(frozen=True, slots=True)
class SizedSlice:
    """A slice with the bytes of its files."""

    slice: FileSlice
    base: int
    logs: int


def sized(storage: Storage, partition: str, slices: Iterable[FileSlice]) -> list[SizedSlice]:
    """The slices of a partition with their sizes, from one listing."""
    sizes = {file.path: file.size for file in storage.list_files(partition, recursive=False)}
    return [
        SizedSlice(one, sizes.get(one.base_file or "", 0), sum(sizes.get(path, 0) for path in one.log_files))
        for one in slices
    ]


@dataclass(frozen=True, slots=True)
class InputGroup:
    """Slices that are rewritten together, and into how many files."""

    slices: tuple[SizedSlice, ...]
    files: int

    def metrics(self, sizes: Sizes) -> Mapping[str, float]:
        """What a plan says of the work: whole megabytes to read and write, and the logs."""
        read = sum(one.base // _MEGABYTE + one.logs // _MEGABYTE for one in self.slices)
        bases = (one.base if one.slice.base_file is not None else sizes.without_base for one in self.slices)
        written = sum(base // _MEGABYTE for base in bases)
        return {
            "TOTAL_LOG_FILES": float(sum(len(one.slice.log_files) for one in self.slices)),
            "TOTAL_IO_MB": float(read + written),
            "TOTAL_IO_READ_MB": float(read),
            "TOTAL_LOG_FILES_SIZE": float(sum(one.logs for one in self.slices)),
            "TOTAL_IO_WRITE_MB": float(written),
        }


def grouped(slices: Sequence[SizedSlice], sizes: Sizes, *, file_by_file: bool) -> Iterator[InputGroup]:
    """The groups of a partition: small files, largest first, as many together as a group may hold.

    Clauses: CL-001.
    """
    small = [one for one in slices if one.base < sizes.small]
    if file_by_file:
        yield from (InputGroup((one,), 1) for one in small)
        return
    current: list[SizedSlice] = []
    total = 0
    for one in sorted(small, key=lambda each: -_counted(each, sizes)):
        if current and total + _counted(one, sizes) > sizes.a_group:
            yield InputGroup(tuple(current), math.ceil(total / sizes.a_file))
            current, total = [], 0
        current.append(one)
        total += _counted(one, sizes)
    if len(current) > 1 or (current and sizes.alone):
        yield InputGroup(tuple(current), math.ceil(total / sizes.a_file))


def _counted(one: SizedSlice, sizes: Sizes) -> int:
    return sizes.without_base if one.slice.base_file is None else one.base


_MODE: Final = "hoodie.clustering.plan.partition.filter.mode"
_SELECTED: Final = "hoodie.clustering.plan.strategy.partition.selected"
_PATTERN: Final = "hoodie.clustering.plan.strategy.partition.regex.pattern"
_BEGIN: Final = "hoodie.clustering.plan.strategy.cluster.begin.partition"
_END: Final = "hoodie.clustering.plan.strategy.cluster.end.partition"
_DAYS: Final = "hoodie.clustering.plan.strategy.daybased.lookback.partitions"
_SKIPPED: Final = "hoodie.clustering.plan.strategy.daybased.skipfromlatest.partitions"
_INCREMENTAL: Final = "hoodie.table.services.incremental.enabled"
# Every hour of a day has its share of the partitions.
_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Candidates:
    """The partitions that a plan may hold, in the order in which they are taken, and those that a filter leaves out.

    Clauses: CL-001.
    """

    wanted: tuple[str, ...]
    left_out: tuple[str, ...]


def candidates(
    storage: Storage, snapshot: Snapshot, options: Options, mode: str, hour: Callable[[], int]
) -> Candidates:
    """The partitions that the options and the timeline give.

    `mode`: the filter, where the strategy has one of its own; `hour`: that of the day, by the table's clock.

    Raises:
        HudiError: CONFIG_INVALID for a pattern that is none.

    Clauses: CL-001.

    """
    there = sorted({one.partition for one in snapshot.slices})
    chosen = frozenset(options.names(_SELECTED)) or _written_since(storage, snapshot, options)
    window = [one for one in there if chosen is None or one in chosen]
    wanted = _filtered(_matched(window, options.text(_PATTERN)), options, mode or options.text(_MODE), hour)
    return Candidates(tuple(wanted), tuple(one for one in window if one not in wanted))


def _filtered(partitions: list[str], options: Options, mode: str, hour: Callable[[], int]) -> list[str]:
    if mode == "RECENT_DAYS":
        return _recent(partitions, options)
    if mode == "DAY_ROLLING":
        return partitions[hour() :: _HOURS]
    if mode == "SELECTED_PARTITIONS":
        begin, end = options.text(_BEGIN), options.text(_END)
        return [one for one in partitions if begin <= one and (not end or one <= end)]
    return partitions


def _recent(partitions: Sequence[str], options: Options) -> list[str]:
    skipped, days = max(options.number(_SKIPPED), 0), options.number(_DAYS)
    newest = sorted(partitions, reverse=True)[skipped:]
    return newest[:days] if days > 0 else newest


def _matched(partitions: list[str], pattern: str) -> list[str]:
    if not pattern:
        return partitions
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        message = f"{_PATTERN} = {pattern!r} is no pattern: {error}"
        raise HudiError(Reason.CONFIG_INVALID, "CL-001", message, hint="give a regular expression") from error
    return [one for one in partitions if wanted.fullmatch(one)]


def _written_since(storage: Storage, snapshot: Snapshot, options: Options) -> frozenset[str] | None:
    """The partitions that were written since the last clustering, and those that it left out; None for all.

    Without completion times a write that began before it and ended after it could not be reported.
    """
    if not (options.flag(_INCREMENTAL) and snapshot.configuration.has_completion_times):
        return None
    clusterings = [one for one in snapshot.commits if one.metadata.operation_type == "CLUSTER"]
    last = max(clusterings, key=lambda one: one.instant.requested, default=None)
    plan = None if last is None else clustering_plan(storage, last.instant)
    if last is None or plan is None:
        return None
    later = (one for one in snapshot.commits if _is_later(one, last))
    written = {group[0] for one in later for group in one.groups()}
    return frozenset({*written, *(plan.missing_schedule_partitions or ())})


def _is_later(commit: Commit, clustering: Commit) -> bool:
    return commit is not clustering and commit.instant.at("completed") >= clustering.instant.requested


_INLINE: Final = "hoodie.clustering.inline"
_SCHEDULED: Final = "hoodie.clustering.schedule.inline"
_BESIDE: Final = "hoodie.clustering.async.enabled"
_INLINE_COMMITS: Final = "hoodie.clustering.inline.max.commits"
_BESIDE_COMMITS: Final = "hoodie.clustering.async.max.commits"


def is_due(storage: Storage, snapshot: Snapshot, options: Options) -> bool:
    """Whether enough has been committed since the last clustering was requested, where the options let that decide.

    Clauses: CL-008.
    """
    pairs = (
        (_INLINE_COMMITS, options.flag(_INLINE)),
        (_BESIDE_COMMITS, options.flag(_BESIDE) or options.flag(_SCHEDULED)),
    )
    needed = max((options.number(key) for key, counts in pairs if counts), default=0)
    return needed <= 0 or _commits_since(storage, snapshot) >= needed


def _commits_since(storage: Storage, snapshot: Snapshot) -> int:
    """How many commits were requested after the last clustering and have completed."""
    found = 0
    for instant in reversed(snapshot.timeline.instants):
        if clustering_plan(storage, instant) is not None:
            break
        found += instant.is_completed and instant.action in DATA_ACTIONS
    return found


def refuse_unclustered(options: Options) -> None:
    """Nothing for a table whose rows may lie in any file group.

    Raises:
        UnsupportedFeature: rows are found by the hash of their key, which says in which group they lie.

    Clauses: OW-022.

    """
    if options.text(INDEX_TYPE).upper() == "BUCKET":
        raise UnsupportedFeature("clustering-buckets", "the hash of a key says where its row lies: compact the table")


def plan_of(work: TableWork, snapshot: Snapshot) -> RequestedReplace | None:
    """The plan that the options give for a table; None where there is nothing to cluster.

    Raises:
        HudiError: CONFIG_INVALID for columns to sort by that the table does not have.
        UnsupportedFeature: a strategy that is not built, an index of buckets.

    Clauses: CL-001, CL-002, CL-003.

    """
    refuse_unclustered(work.options)
    strategy, execution = plan_strategy(work.options), work.options.text(EXECUTION_KEY)
    is_file_by_file(execution)
    columns = work.options.names(SORT_KEY)
    _refuse_unknown(work, snapshot, columns)
    sizes = sizes_of(work.options)
    groups, missing = _groups(work, snapshot, strategy, sizes)
    if not groups:
        return None
    origins = origins_of(work.storage, snapshot)
    plan = ClusteringPlan(
        input_groups=tuple(_planned(work.storage, one, sizes, origins) for one in groups),
        strategy=ClusteringStrategy(execution, {SORT_KEY: ",".join(columns)} if columns else {}),
        extra_metadata={},
        preserve_hoodie_metadata=work.options.flag("hoodie.clustering.preserve.commit.metadata"),
        missing_schedule_partitions=missing if snapshot.configuration.has_completion_times else None,
    )
    return RequestedReplace("CLUSTER", plan, {}, 1)


def _groups(
    work: TableWork, snapshot: Snapshot, strategy: PlanStrategy, sizes: Sizes
) -> tuple[list[InputGroup], tuple[str, ...]]:
    """As many groups as a plan may have, and the partitions of which some had no place in it.

    Clauses: CL-002.
    """
    found: list[InputGroup] = []
    named = candidates(work.storage, snapshot, work.options, strategy.mode, lambda: _hour(work))
    missing = list(named.left_out)
    taken = groups_in_pending_plans(work.storage, snapshot.timeline)
    free = (one for one in snapshot.slices if (one.partition, one.file_id) not in taken)
    by_partition = {partition: list(each) for partition, each in groupby(free, lambda one: one.partition)}
    for partition in named.wanted:
        room = sizes.groups - len(found)
        slices = sized(work.storage, partition, by_partition.get(partition, ())) if room > 0 else []
        groups = list(grouped(slices, sizes, file_by_file=strategy.file_by_file))
        found.extend(groups[: max(room, 0)])
        if room <= 0 or len(groups) > room:
            missing.append(partition)
    return found, tuple(sorted(missing))


def _hour(work: TableWork) -> int:
    return int(work.clock.instant()[8:10])


def _refuse_unknown(work: TableWork, snapshot: Snapshot, columns: tuple[str, ...]) -> None:
    schema = state_of_table(work.storage, snapshot, work.options).schema.arrow
    for name in columns:
        if name not in META_FIELDS and column_of(name, schema) is None:
            message = f"{SORT_KEY} names {name!r}, which is no column of the table"
            raise HudiError(Reason.CONFIG_INVALID, "CL-009", message, hint=f"the table has {', '.join(schema.names)}")


def _planned(storage: Storage, group: InputGroup, sizes: Sizes, origins: Origins) -> ClusteringGroup:
    slices = tuple(_slice_info(storage, one, origins) for one in group.slices)
    return ClusteringGroup(slices, group.metrics(sizes), group.files)


def _slice_info(storage: Storage, one: SizedSlice, origins: Origins) -> SliceInfo:
    stored: FileSlice = one.slice
    outside = origins.external(stored)
    return SliceInfo(
        data_file_path="" if stored.base_file is None else _whole_path(storage, stored.base_file),
        delta_file_paths=tuple(_whole_path(storage, path) for path in stored.log_files),
        file_id=stored.file_id,
        partition_path=stored.partition,
        bootstrap_file_path="" if outside is None else _whole_path(outside.storage, outside.path),
    )


def _whole_path(storage: Storage, path: str) -> str:
    """Plans name files from the root of the file system on.

    Clauses: CL-003.
    """
    scheme = "file:" if storage.base.startswith("/") else ""
    return f"{scheme}{storage.base}/{path}"
