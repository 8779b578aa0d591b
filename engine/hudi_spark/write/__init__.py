"""Operations on a table: planned, tagged, routed, written as tasks, and committed as one action."""

from hudi_spark.write.action import (
    Outcome,
    TableWork,
    folders_of_actions,
    html_table,
    misplaced_heartbeats,
    state_of_table,
)
from hudi_spark.write.actions import IndexRequest, TableActions, changes_of
from hudi_spark.write.base_groups import changes_between, stamped, store_rows
from hudi_spark.write.completing import (
    Check,
    Completion,
    announced,
    back_to_requested,
    complete,
    complete_locked,
    give_up,
    nothing_to_check,
    remove_unnamed,
)
from hudi_spark.write.conflicts import refuse_conflicts
from hudi_spark.write.creation import (
    PAYLOAD_OF_MODE,
    STRATEGY_OF_MODE,
    TRANSLATED,
    WRITTEN_VERSIONS,
    TableDefinition,
    create_table,
    settled,
    table_properties,
)
from hudi_spark.write.planning import OPERATIONS, Operation, WriteContext, WriteRequest, context_of_write, write_id_of
from hudi_spark.write.routing import TARGET, TARGET_FIELD
from hudi_spark.write.running import Write
from hudi_spark.write.schema_metadata import table_avro
from hudi_spark.write.transaction import completed_metadata, metadata_content, requested_content
from hudi_spark.write.writer import StartedWrite, TableWriter, shown

__all__ = [
    "OPERATIONS",
    "PAYLOAD_OF_MODE",
    "STRATEGY_OF_MODE",
    "TARGET",
    "TARGET_FIELD",
    "TRANSLATED",
    "WRITTEN_VERSIONS",
    "Check",
    "Completion",
    "IndexRequest",
    "Operation",
    "Outcome",
    "StartedWrite",
    "TableActions",
    "TableDefinition",
    "TableWork",
    "TableWriter",
    "Write",
    "WriteContext",
    "WriteRequest",
    "announced",
    "back_to_requested",
    "changes_between",
    "changes_of",
    "complete",
    "complete_locked",
    "completed_metadata",
    "context_of_write",
    "create_table",
    "folders_of_actions",
    "give_up",
    "html_table",
    "metadata_content",
    "misplaced_heartbeats",
    "nothing_to_check",
    "refuse_conflicts",
    "remove_unnamed",
    "requested_content",
    "settled",
    "shown",
    "stamped",
    "state_of_table",
    "store_rows",
    "table_avro",
    "table_properties",
    "write_id_of",
]
