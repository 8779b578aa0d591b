"""Queries and flows of rows become tasks over file groups, and an executor runs them."""

from hudi_spark.pruning import Pruned
from hudi_spark.read.change_feed import ChangesQuery, ChangeTask, run_change_task
from hudi_spark.read.checkpoints import Batch, Checkpoints, batch_ranges, is_later, latest_checkpoint
from hudi_spark.read.flow import ROWS, Executor, Flow, TaskIdentity, Work
from hudi_spark.read.in_process import InProcess, LocalFlow
from hudi_spark.read.incremental import IncrementalQuery
from hudi_spark.read.planning import UNMERGED, Plan, Query, counted, plan_query, read_context, slice_task
from hudi_spark.read.queries import (
    AnyPlan,
    AnyQuery,
    TableInfo,
    plan_any,
    read_query,
    stream_any,
    table_info,
    table_storage,
)
from hudi_spark.read.tasks import (
    OPENING_BYTES,
    UNKNOWN_BYTES,
    ReadContext,
    SliceRows,
    SliceTask,
    bytes_to_read,
    has_other_size,
    needs_commit_times,
    refuse_lost_rows,
    run_task,
)
from hudi_spark.table_state import EARLIEST

__all__ = [
    "EARLIEST",
    "OPENING_BYTES",
    "ROWS",
    "UNKNOWN_BYTES",
    "UNMERGED",
    "AnyPlan",
    "AnyQuery",
    "Batch",
    "ChangeTask",
    "ChangesQuery",
    "Checkpoints",
    "Executor",
    "Flow",
    "InProcess",
    "IncrementalQuery",
    "LocalFlow",
    "Plan",
    "Pruned",
    "Query",
    "ReadContext",
    "SliceRows",
    "SliceTask",
    "TableInfo",
    "TaskIdentity",
    "Work",
    "batch_ranges",
    "bytes_to_read",
    "counted",
    "has_other_size",
    "is_later",
    "latest_checkpoint",
    "needs_commit_times",
    "plan_any",
    "plan_query",
    "read_context",
    "read_query",
    "refuse_lost_rows",
    "run_change_task",
    "run_task",
    "slice_task",
    "stream_any",
    "table_info",
    "table_storage",
]
