"""Clustering planned: when it is due, which slices go together, and the plan as it stands in the requested file.

Clauses: CL-001, CL-002, CL-003, CL-008.
"""

from itertools import groupby
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage
from hudi_format.timeline.plan_values import (
    ClusteringGroup,
    ClusteringPlan,
    ClusteringStrategy,
    RequestedReplace,
    SliceInfo,
)

from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.merging.fields import column_of
from hudi_spark.options.resolving import Options
from hudi_spark.schemas.origins import Origins, origins_of
from hudi_spark.services.clustering.grouping import InputGroup, SizedSlice, Sizes, grouped, sized, sizes_of
from hudi_spark.services.clustering.partitions import candidates
from hudi_spark.services.clustering.strategies import EXECUTION_KEY, PlanStrategy, is_file_by_file, plan_strategy
from hudi_spark.state.pending_plans import clustering_plan, groups_in_pending_plans
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import DATA_ACTIONS

SORT_KEY: Final = "hoodie.clustering.plan.strategy.sort.columns"
_INLINE: Final = "hoodie.clustering.inline"
_SCHEDULED: Final = "hoodie.clustering.schedule.inline"
_BESIDE: Final = "hoodie.clustering.async.enabled"
_INLINE_COMMITS: Final = "hoodie.clustering.inline.max.commits"
_BESIDE_COMMITS: Final = "hoodie.clustering.async.max.commits"
_INDEX: Final = "hoodie.index.type"


def is_due(storage: Storage, snapshot: Snapshot, options: Options) -> bool:
    """Whether enough has been committed since the last clustering was requested, where the options let that decide.

    Clauses: CL-008.
    """
    asked = (
        (_INLINE_COMMITS, options.flag(_INLINE)),
        (_BESIDE_COMMITS, options.flag(_BESIDE) or options.flag(_SCHEDULED)),
    )
    needed = max((options.number(key) for key, counts in asked if counts), default=0)
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
    if options.text(_INDEX).upper() == "BUCKET":
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
