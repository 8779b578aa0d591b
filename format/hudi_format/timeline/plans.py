"""Plans and results of table services: one Avro record in an object container, read by the schema in the file."""

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from hudi_format.avro.files import SYNC_MARKER, read_container, write_container
from hudi_format.avro.values import from_record, to_record
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.timeline import timeline_schemas
from hudi_format.timeline.plan_values import (
    ActionInstant,
    CleanerPlan,
    CleanFileInfo,
    CleanMetadata,
    CleanPartition,
    ClusteringGroup,
    ClusteringPlan,
    ClusteringStrategy,
    CompactionOperation,
    CompactionPlan,
    CompactionStrategy,
    IndexCommit,
    IndexPartition,
    IndexPlan,
    InstantInfo,
    RequestedReplace,
    RestoreMetadata,
    RestorePlan,
    RollbackMetadata,
    RollbackPartition,
    RollbackPlan,
    RollbackRequest,
    SavepointMetadata,
    SavepointPartition,
    SliceInfo,
)

Plan = TypeVar("Plan")


@dataclass(frozen=True, slots=True)
class PlanForm(Generic[Plan]):
    """One kind of plan file: its values and its Avro schema."""

    kind: type[Plan]
    schema: dict[str, Any]

    def parse(self, data: bytes, file: str) -> Plan:
        """The plan in a timeline file.

        Raises:
            FormatError: TIMELINE_FILE_CORRUPT when the file is empty, no container, or holds another record.

        Clauses: TL-014, TL-033.

        """
        if not data:
            raise self._corrupt(file, "the file is empty")
        schema, records = read_container(data, file)
        name = str(schema.get("name") if isinstance(schema, dict) else schema).rpartition(".")[2]
        if name != self.schema["name"]:
            raise self._corrupt(file, f"the file holds {name} instead of {self.schema['name']}")
        if len(records) != 1:
            raise self._corrupt(file, f"the file holds {len(records)} records instead of one")
        with refusing(Reason.TIMELINE_FILE_CORRUPT, "TL-014", file, None, f"no {name}"):
            return from_record(self.kind, records[0])

    def serialise(self, plan: Plan, sync_marker: bytes = SYNC_MARKER) -> bytes:
        """The bytes of a timeline file: the same for the same plan.

        Clauses: TL-014.
        """
        return write_container(self.schema, [to_record(plan)], sync_marker)

    @staticmethod
    def _corrupt(file: str, message: str) -> FormatError:
        return FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-014", file, None, message)


COMPACTION_PLAN: Final = PlanForm(CompactionPlan, timeline_schemas.COMPACTION_PLAN)
REQUESTED_REPLACE: Final = PlanForm(RequestedReplace, timeline_schemas.REQUESTED_REPLACE)
CLEANER_PLAN: Final = PlanForm(CleanerPlan, timeline_schemas.CLEANER_PLAN)
CLEAN_METADATA: Final = PlanForm(CleanMetadata, timeline_schemas.CLEAN_METADATA)
ROLLBACK_PLAN: Final = PlanForm(RollbackPlan, timeline_schemas.ROLLBACK_PLAN)
ROLLBACK_METADATA: Final = PlanForm(RollbackMetadata, timeline_schemas.ROLLBACK_METADATA)
SAVEPOINT_METADATA: Final = PlanForm(SavepointMetadata, timeline_schemas.SAVEPOINT_METADATA)
RESTORE_PLAN: Final = PlanForm(RestorePlan, timeline_schemas.RESTORE_PLAN)
RESTORE_METADATA: Final = PlanForm(RestoreMetadata, timeline_schemas.RESTORE_METADATA)
INDEX_PLAN: Final = PlanForm(IndexPlan, timeline_schemas.INDEX_PLAN)
INDEX_COMMIT: Final = PlanForm(IndexCommit, timeline_schemas.INDEX_COMMIT)

parse_compaction_plan = COMPACTION_PLAN.parse
serialise_compaction_plan = COMPACTION_PLAN.serialise
parse_requested_replace = REQUESTED_REPLACE.parse
serialise_requested_replace = REQUESTED_REPLACE.serialise
parse_cleaner_plan = CLEANER_PLAN.parse
serialise_cleaner_plan = CLEANER_PLAN.serialise
parse_clean_metadata = CLEAN_METADATA.parse
serialise_clean_metadata = CLEAN_METADATA.serialise
parse_rollback_plan = ROLLBACK_PLAN.parse
serialise_rollback_plan = ROLLBACK_PLAN.serialise
parse_rollback_metadata = ROLLBACK_METADATA.parse
serialise_rollback_metadata = ROLLBACK_METADATA.serialise
parse_savepoint_metadata = SAVEPOINT_METADATA.parse
serialise_savepoint_metadata = SAVEPOINT_METADATA.serialise
parse_restore_plan = RESTORE_PLAN.parse
serialise_restore_plan = RESTORE_PLAN.serialise
parse_restore_metadata = RESTORE_METADATA.parse
serialise_restore_metadata = RESTORE_METADATA.serialise
parse_index_plan = INDEX_PLAN.parse
serialise_index_plan = INDEX_PLAN.serialise
parse_index_commit = INDEX_COMMIT.parse
serialise_index_commit = INDEX_COMMIT.serialise

__all__ = [
    "CLEANER_PLAN",
    "CLEAN_METADATA",
    "COMPACTION_PLAN",
    "INDEX_COMMIT",
    "INDEX_PLAN",
    "REQUESTED_REPLACE",
    "RESTORE_METADATA",
    "RESTORE_PLAN",
    "ROLLBACK_METADATA",
    "ROLLBACK_PLAN",
    "SAVEPOINT_METADATA",
    "ActionInstant",
    "CleanFileInfo",
    "CleanMetadata",
    "CleanPartition",
    "CleanerPlan",
    "ClusteringGroup",
    "ClusteringPlan",
    "ClusteringStrategy",
    "CompactionOperation",
    "CompactionPlan",
    "CompactionStrategy",
    "IndexCommit",
    "IndexPartition",
    "IndexPlan",
    "InstantInfo",
    "PlanForm",
    "RequestedReplace",
    "RestoreMetadata",
    "RestorePlan",
    "RollbackMetadata",
    "RollbackPartition",
    "RollbackPlan",
    "RollbackRequest",
    "SavepointMetadata",
    "SavepointPartition",
    "SliceInfo",
    "parse_clean_metadata",
    "parse_cleaner_plan",
    "parse_compaction_plan",
    "parse_index_commit",
    "parse_index_plan",
    "parse_requested_replace",
    "parse_restore_metadata",
    "parse_restore_plan",
    "parse_rollback_metadata",
    "parse_rollback_plan",
    "parse_savepoint_metadata",
    "serialise_clean_metadata",
    "serialise_cleaner_plan",
    "serialise_compaction_plan",
    "serialise_index_commit",
    "serialise_index_plan",
    "serialise_requested_replace",
    "serialise_restore_metadata",
    "serialise_restore_plan",
    "serialise_rollback_metadata",
    "serialise_rollback_plan",
    "serialise_savepoint_metadata",
]
