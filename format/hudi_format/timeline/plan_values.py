"""Plans and results of table services as values; fields have the names and order of the Avro records."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hudi_format.avro.values import NAME


@dataclass(frozen=True, slots=True)
class CompactionOperation:
    """One file slice to compact; paths are file names without folder, `data_file_path` null for log-only slices."""

    base_instant_time: str | None = None
    delta_file_paths: tuple[str, ...] = ()
    data_file_path: str | None = None
    file_id: str | None = None
    partition_path: str | None = None
    metrics: Mapping[str, float] | None = None
    bootstrap_file_path: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionStrategy:
    """Who compacts; only log compaction names one."""

    compactor_class_name: str | None = None
    strategy_params: Mapping[str, str] | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """HoodieCompactionPlan, the content of compaction and logcompaction requests."""

    operations: tuple[CompactionOperation, ...] = ()
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 2
    strategy: CompactionStrategy | None = None
    preserve_hoodie_metadata: bool = False
    missing_schedule_partitions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SliceInfo:
    """One file slice to cluster; paths are absolute URIs."""

    data_file_path: str | None = None
    delta_file_paths: tuple[str, ...] = ()
    file_id: str | None = None
    partition_path: str | None = None
    bootstrap_file_path: str | None = None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class ClusteringGroup:
    """File slices that are rewritten together."""

    slices: tuple[SliceInfo, ...] = ()
    metrics: Mapping[str, float] | None = None
    num_output_file_groups: int | None = 1
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class ClusteringStrategy:
    """How the rewritten records are laid out."""

    strategy_class_name: str | None = None
    strategy_params: Mapping[str, str] | None = None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class ClusteringPlan:
    """HoodieClusteringPlan."""

    input_groups: tuple[ClusteringGroup, ...] = ()
    strategy: ClusteringStrategy | None = None
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 1
    preserve_hoodie_metadata: bool | None = None
    missing_schedule_partitions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class RequestedReplace:
    """HoodieRequestedReplaceMetadata; all null for insert overwrite and delete partition."""

    operation_type: str | None = None
    clustering_plan: ClusteringPlan | None = None
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class ActionInstant:
    """An instant as cleaner plans name it."""

    timestamp: str
    action: str
    state: str


@dataclass(frozen=True, slots=True)
class CleanFileInfo:
    """One file to clean; the path is absolute without scheme."""

    file_path: str | None = None
    is_bootstrap_base_file: bool | None = None


@dataclass(frozen=True, slots=True)
class CleanerPlan:
    """HoodieCleanerPlan."""

    earliest_instant_to_retain: ActionInstant | None = None
    last_completed_commit_timestamp: str = ""
    policy: str = "KEEP_LATEST_COMMITS"
    files_to_be_deleted_per_partition: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: int | None = 2
    file_paths_to_be_deleted_per_partition: Mapping[str, tuple[CleanFileInfo, ...]] = field(default_factory=dict)
    partitions_to_be_deleted: tuple[str, ...] = ()
    extra_metadata: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CleanPartition:
    """What a clean did in one partition; lists hold file names."""

    partition_path: str
    policy: str = "KEEP_LATEST_COMMITS"
    delete_path_patterns: tuple[str, ...] = ()
    success_delete_files: tuple[str, ...] = ()
    failed_delete_files: tuple[str, ...] = ()
    is_partition_deleted: bool | None = False


@dataclass(frozen=True, slots=True)
class CleanMetadata:
    """HoodieCleanMetadata."""

    start_clean_time: str
    time_taken_in_millis: int = 0
    total_files_deleted: int = 0
    earliest_commit_to_retain: str = ""
    last_completed_commit_timestamp: str = ""
    partition_metadata: Mapping[str, CleanPartition] = field(default_factory=dict)
    version: int | None = 2
    bootstrap_partition_metadata: Mapping[str, CleanPartition] | None = None
    extra_metadata: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class InstantInfo:
    """An instant as rollbacks and restores name it."""

    commit_time: str
    action: str


@dataclass(frozen=True, slots=True)
class RollbackRequest:
    """What a rollback does to one file group."""

    partition_path: str
    file_id: str | None = None
    latest_base_instant: str | None = None
    files_to_be_deleted: tuple[str, ...] = ()
    log_blocks_to_be_deleted: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """HoodieRollbackPlan."""

    instant_to_rollback: InstantInfo | None = None
    rollback_requests: tuple[RollbackRequest, ...] = field(default=(), metadata={NAME: "RollbackRequests"})
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class RollbackPartition:
    """What a rollback did in one partition."""

    partition_path: str
    success_delete_files: tuple[str, ...] = ()
    failed_delete_files: tuple[str, ...] = ()
    rollback_log_files: Mapping[str, int] | None = None
    log_files_from_failed_commit: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class RollbackMetadata:
    """HoodieRollbackMetadata."""

    start_rollback_time: str
    time_taken_in_millis: int = 0
    total_files_deleted: int = 0
    commits_rollback: tuple[str, ...] = ()
    partition_metadata: Mapping[str, RollbackPartition] = field(default_factory=dict)
    version: int | None = 1
    instants_rollback: tuple[InstantInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class SavepointPartition:
    """The files that a savepoint keeps in one partition, logs included."""

    partition_path: str
    savepoint_data_file: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavepointMetadata:
    """HoodieSavepointMetadata."""

    savepointed_by: str = ""
    savepointed_at: int = 0
    comments: str = ""
    partition_metadata: Mapping[str, SavepointPartition] = field(default_factory=dict)
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """HoodieRestorePlan: instants to roll back, newest first."""

    instants_to_rollback: tuple[InstantInfo, ...] = ()
    version: int | None = 2
    savepoint_to_restore_timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class RestoreMetadata:
    """HoodieRestoreMetadata."""

    start_restore_time: str
    time_taken_in_millis: int = 0
    instants_to_rollback: tuple[str, ...] = ()
    hoodie_restore_metadata: Mapping[str, tuple[RollbackMetadata, ...]] = field(default_factory=dict)
    version: int | None = 1
    restore_instant_info: tuple[InstantInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexPartition:
    """One partition of the metadata table that an indexing action builds."""

    version: int | None = 1
    metadata_partition_path: str | None = None
    index_upto_instant: str | None = None
    extra_metadata: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """HoodieIndexPlan."""

    version: int | None = 1
    index_partition_infos: tuple[IndexPartition, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexCommit:
    """HoodieIndexCommitMetadata."""

    version: int | None = 1
    operation_type: str | None = None
    index_partition_infos: tuple[IndexPartition, ...] = ()
