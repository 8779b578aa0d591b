"""Plans and results of table services: values of the model from bytes, and back."""

from collections.abc import Callable, Iterable, Mapping

from hudi_format.timeline import plans
from hudi_model.actions import (
    CleanPlan,
    ClusteringGroup,
    CompactionOperation,
    Content,
    IndexPlan,
    ReplacePlan,
    RestorePlan,
    RollbackPlan,
    SavepointMetadata,
)
from hudi_model.time import InstantTime

Pairs = Iterable[tuple[str, str]]
Decode = Callable[[bytes, str], Content]

FIRST_INSTANT = InstantTime("00000000000000")
"""What a plan without a base instant means: before everything."""


def filed(pairs: Pairs) -> dict[str, tuple[str, ...]]:
    """Names by partition, both in order."""
    folders: dict[str, tuple[str, ...]] = {}
    for partition, name in sorted(pairs):
        folders[partition] = (*folders.get(partition, ()), name)
    return folders


def _name(path: str | None) -> str:
    return (path or "").rpartition("/")[2]


def _replace_plan(data: bytes, file: str) -> ReplacePlan:
    found = plans.parse_requested_replace(data, file)
    plan = found.clustering_plan
    strategy = plan.strategy.strategy_params if plan and plan.strategy else None
    columns = (strategy or {}).get("hoodie.clustering.plan.strategy.sort.columns", "")
    groups = tuple(map(_clustering_group, plan.input_groups)) if plan else ()
    return ReplacePlan(found.operation_type or "", groups, tuple(filter(None, columns.split(","))))


def _clustering_group(group: plans.ClusteringGroup) -> ClusteringGroup:
    return ClusteringGroup(tuple(map(_clustered_slice, group.slices)), group.num_output_file_groups or 1)


def _clustered_slice(found: plans.SliceInfo) -> CompactionOperation:
    base = _name(found.data_file_path) or None
    logs = tuple(_name(path) for path in found.delta_file_paths)
    # The instant is the last part of either kind of name.
    instant = (base or logs[0].partition(".log.")[0] if base or logs else "").rpartition("_")[2].partition(".")[0]
    return CompactionOperation(
        found.partition_path or "", found.file_id or "", InstantTime(instant) if instant else FIRST_INSTANT, base, logs
    )


def _clean_plan(data: bytes, file: str) -> CleanPlan:
    found = plans.parse_cleaner_plan(data, file)
    listed = {(part, _name(name)) for part, names in found.files_to_be_deleted_per_partition.items() for name in names}
    paths = found.file_paths_to_be_deleted_per_partition.items()
    listed |= {(part, _name(one.file_path)) for part, infos in paths for one in infos}
    earliest = found.earliest_instant_to_retain
    retained = earliest.timestamp if earliest else None
    return CleanPlan(retained or None, frozenset(listed), found.policy, frozenset(found.partitions_to_be_deleted))


def _rollback_plan(data: bytes, file: str) -> RollbackPlan:
    found = plans.parse_rollback_plan(data, file)
    target = found.instant_to_rollback or plans.InstantInfo("", "")
    files = {(one.partition_path, _name(path)) for one in found.rollback_requests for path in one.files_to_be_deleted}
    commands = {
        (one.partition_path, one.file_id or "", InstantTime(one.latest_base_instant or ""))
        for one in found.rollback_requests
        if one.file_id and not one.files_to_be_deleted
    }
    return RollbackPlan(InstantTime(target.commit_time), target.action, frozenset(files), frozenset(commands))


def _restore_plan(data: bytes, file: str) -> RestorePlan:
    found = plans.parse_restore_plan(data, file)
    instants = tuple(InstantTime(one.commit_time) for one in found.instants_to_rollback)
    return RestorePlan(InstantTime(found.savepoint_to_restore_timestamp or ""), instants)


def _savepoint(data: bytes, file: str) -> SavepointMetadata:
    found = plans.parse_savepoint_metadata(data, file)
    files = {(part, _name(path)) for part, one in found.partition_metadata.items() for path in one.savepoint_data_file}
    return SavepointMetadata(frozenset(files), found.comments)


def _index_plan(data: bytes, file: str) -> IndexPlan:
    return _index(plans.parse_index_plan(data, file).index_partition_infos)


def _index_commit(data: bytes, file: str) -> IndexPlan:
    return _index(plans.parse_index_commit(data, file).index_partition_infos)


def _index(infos: tuple[plans.IndexPartition, ...]) -> IndexPlan:
    upto = max((one.index_upto_instant or "" for one in infos), default="")
    return IndexPlan(tuple(one.metadata_partition_path or "" for one in infos), InstantTime(upto))


DECODERS: Mapping[tuple[str, str], Decode] = {
    ("replacecommit", "REQUESTED"): _replace_plan,
    ("clustering", "REQUESTED"): _replace_plan,
    ("clean", "REQUESTED"): _clean_plan,
    ("clean", "INFLIGHT"): _clean_plan,
    ("rollback", "REQUESTED"): _rollback_plan,
    ("restore", "REQUESTED"): _restore_plan,
    ("savepoint", "COMPLETED"): _savepoint,
    ("indexing", "REQUESTED"): _index_plan,
    ("indexing", "COMPLETED"): _index_commit,
}
"""By action and state."""


def replace_plan_bytes(plan: ReplacePlan, base: str) -> bytes:
    """A requested replacecommit or clustering; a write's has no plan. Slices name whole paths below `base`."""
    if not plan.groups:
        return plans.serialise_requested_replace(plans.RequestedReplace(plan.operation or None))
    groups = tuple(
        plans.ClusteringGroup(
            tuple(_slice_info(one, base) for one in group.slices), {}, group.outputs, extra_metadata={}
        )
        for group in plan.groups
    )
    columns = {"hoodie.clustering.plan.strategy.sort.columns": ",".join(plan.sort_columns)} if plan.sort_columns else {}
    executor = "org.apache.hudi.client.clustering.run.strategy.SparkSortAndSizeExecutionStrategy"
    strategy = plans.ClusteringStrategy(executor, columns)
    whole = plans.ClusteringPlan(groups, strategy, {}, preserve_hoodie_metadata=True)
    return plans.serialise_requested_replace(plans.RequestedReplace(plan.operation, whole, {}, 1))


def _slice_info(one: CompactionOperation, base: str) -> plans.SliceInfo:
    folder = f"{base}/{one.partition}" if one.partition else base
    data = f"{folder}/{one.base_file}" if one.base_file else None
    return plans.SliceInfo(data, tuple(f"{folder}/{log}" for log in one.log_files), one.file_id, one.partition)


def clean_plan_bytes(plan: CleanPlan, base: str) -> bytes:
    """A requested or inflight clean."""
    files = {
        part: tuple(plans.CleanFileInfo(f"{base}/{part}/{name}" if part else f"{base}/{name}", False) for name in names)
        for part, names in filed(plan.files).items()
    }
    earliest = plans.ActionInstant(plan.earliest_to_retain, "commit", "COMPLETED") if plan.earliest_to_retain else None
    return plans.serialise_cleaner_plan(
        plans.CleanerPlan(
            earliest,
            policy=plan.policy,
            file_paths_to_be_deleted_per_partition=files,
            partitions_to_be_deleted=tuple(sorted(plan.partitions)),
        )
    )


def rollback_plan_bytes(plan: RollbackPlan) -> bytes:
    """A requested rollback."""
    deletions = tuple(
        plans.RollbackRequest(part, files_to_be_deleted=names, log_blocks_to_be_deleted={})
        for part, names in filed(plan.files).items()
    )
    commands = tuple(
        plans.RollbackRequest(part, file_id, base, log_blocks_to_be_deleted={})
        for part, file_id, base in sorted(plan.commands)
    )
    target = plans.InstantInfo(plan.target, plan.target_action)
    return plans.serialise_rollback_plan(plans.RollbackPlan(target, (*deletions, *commands)))


def restore_plan_bytes(plan: RestorePlan, actions: Mapping[InstantTime, str]) -> bytes:
    """A requested restore; `actions` names what each instant was."""
    instants = tuple(plans.InstantInfo(one, actions.get(one, "commit")) for one in plan.instants)
    return plans.serialise_restore_plan(
        plans.RestorePlan(instants, savepoint_to_restore_timestamp=plan.savepoint or None)
    )


def savepoint_bytes(metadata: SavepointMetadata) -> bytes:
    """A completed savepoint."""
    kept = {part: plans.SavepointPartition(part, names) for part, names in filed(metadata.files).items()}
    return plans.serialise_savepoint_metadata(
        plans.SavepointMetadata(comments=metadata.comment, partition_metadata=kept)
    )


def index_plan_bytes(plan: IndexPlan, *, completed: bool) -> bytes:
    """A requested or a completed indexing."""
    infos = tuple(
        plans.IndexPartition(metadata_partition_path=one, index_upto_instant=plan.upto) for one in plan.partitions
    )
    if completed:
        return plans.serialise_index_commit(plans.IndexCommit(index_partition_infos=infos))
    return plans.serialise_index_plan(plans.IndexPlan(index_partition_infos=infos))
