"""What tests control: time, file ids, tasks and every effect on storage; and the state of a table, to compare with.

Tests of the engine, and of programs that write with it, import these names and no module behind them. A `Hook` sees
each `Effect` before and after it happens, so a test can stop a writer between any two; `SetClock` and fixed file ids
make the bytes of a table repeat.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from hudi_spark.concurrency import Effects, Hook, SetClock, SystemClock, is_alive, stop_heartbeat, table_lock
from hudi_spark.concurrency.effects import Effect, Hooks, KillAt, NoHook, StopAt, TraceFile
from hudi_spark.files import WrittenFile
from hudi_spark.metadata import FinishedWrite, update_metadata_table, validate_metadata_table
from hudi_spark.options import resolve
from hudi_spark.read import Executor, InProcess, Query, TaskIdentity, in_process, plan_query
from hudi_spark.readings import RELEASED, TEXT, readings_named
from hudi_spark.services.inline import InlineServices
from hudi_spark.services.table_services import TableServices
from hudi_spark.spark import OnSpark
from hudi_spark.table_state import (
    FileSlice,
    Instant,
    MetadataTable,
    Snapshot,
    TableConfiguration,
    Timeline,
    archived_instants,
    full_timeline,
    load_configuration,
    load_snapshot,
    load_table,
)
from hudi_spark.write import (
    IndexRequest,
    Outcome,
    StartedWrite,
    TableActions,
    TableWork,
    TableWriter,
    WriteRequest,
    changes_of,
    create_table,
    state_of_table,
    write_id_of,
)

__all__ = [
    "RELEASED",
    "TEXT",
    "Effect",
    "Effects",
    "Executor",
    "FileSlice",
    "FinishedWrite",
    "Hook",
    "Hooks",
    "InProcess",
    "IndexRequest",
    "InlineServices",
    "Instant",
    "KillAt",
    "MetadataTable",
    "NoHook",
    "OnSpark",
    "Outcome",
    "Query",
    "SetClock",
    "Snapshot",
    "StartedWrite",
    "StopAt",
    "SystemClock",
    "TableActions",
    "TableConfiguration",
    "TableServices",
    "TableWork",
    "TableWriter",
    "TaskIdentity",
    "Timeline",
    "TraceFile",
    "WriteRequest",
    "WrittenFile",
    "archived_instants",
    "changes_of",
    "create_table",
    "full_timeline",
    "is_alive",
    "load_configuration",
    "load_snapshot",
    "load_table",
    "parts_of",
    "plan_query",
    "readings_named",
    "resolve",
    "state_of_table",
    "stop_heartbeat",
    "table_lock",
    "update_metadata_table",
    "validate_metadata_table",
    "write_id_of",
]


@contextmanager
def parts_of(size: int) -> Iterator[None]:
    """Inside, writers without Spark work on rows in parts of about so many bytes."""
    with mock.patch.object(in_process, "PART_BYTES", size):
        yield
