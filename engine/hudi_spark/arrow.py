"""Tables without Spark: rows written from Arrow, services run and tables checked in this process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_spark.concurrency.effects import Effects, hooks_of_environment
from hudi_spark.errors import boundary
from hudi_spark.fsck import check
from hudi_spark.fsck.violations import Violation
from hudi_spark.options.readings import Reading, Readings, readings_named
from hudi_spark.read.in_process import InProcess
from hudi_spark.read.queries import table_storage
from hudi_spark.services.inline import InlineServices
from hudi_spark.services.table_services import TableServices
from hudi_spark.write.action import Outcome
from hudi_spark.write.creation import TableDefinition, create_table
from hudi_spark.write.planning import WriteRequest, write_id_of
from hudi_spark.write.writer import TableWriter


def write_arrow(
    path: str | Path,
    rows: pa.Table | None = None,
    operation: str = "",
    *,
    filter: Any = None,  # noqa: A002 - the word that reads use
    partitions: Sequence[str] = (),
    write_id: str = "",
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Outcome:
    """One write to a Hudi table, in this process: for what fits into its memory.

    `operation`: insert, upsert, bulk_insert, delete (of `rows`, or of the stored rows that `filter` chooses),
    insert_overwrite, insert_overwrite_table, delete_partition (of `partitions`), partial_update; empty for the one that
    the options name, or an upsert.
    `write_id`: an id of the caller's own; a write of an id that a commit of the active timeline has is not done again.
    What it answers tells what was committed, and which services failed after it; printed, that is one line.

    Raises:
        HudiError: the table, a row or an option is refused, or STORAGE_FAILED; nothing is changed.
        OutcomeUnknownError: whether the write stands is not known; `services_arrow(path).has_completed(instant)` asks.

    Clauses: OW-001, OW-010, OW-014.

    """
    writer = TableWriter(
        table_storage(path, storage_options), InProcess(), {}, readings_named(readings), lifecycle=InlineServices()
    )
    once = write_id_of(write_id)
    return writer.write(WriteRequest(operation, rows, filter, tuple(partitions), configs or {}, once=once))


def services_arrow(
    path: str | Path,
    *,
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> TableServices:
    """The table services of a Hudi table, run in this process: `services_arrow(path).run("compaction")`.

    Raises:
        HudiError: CONFIG_INVALID for an unknown reading.

    Clauses: CP-002, CP-015.

    """
    writer = TableWriter(
        table_storage(path, storage_options),
        InProcess(),
        configs or {},
        readings_named(readings),
        lifecycle=InlineServices(),
    )
    return TableServices(writer)


def create_arrow(
    path: str | Path, definition: TableDefinition, storage_options: Mapping[str, str] | None = None
) -> None:
    """Make an empty table.

    Raises:
        HudiError: CONFIG_INVALID for a definition that is no table, or where there is one;
            TABLE_VERSION_UNSUPPORTED, SCHEMA_INCOMPATIBLE.

    Clauses: OW-031, OW-032.

    """
    with boundary(path):
        create_table(Effects(table_storage(path, storage_options), hooks_of_environment()), definition)


def check_table(
    path: str | Path, *, deep: bool = False, storage_options: Mapping[str, str] | None = None
) -> tuple[Violation, ...]:
    """Every clause of the format that a table breaks, errors first; nothing is written.

    `deep` reads the rows of base files too, and compares indexes with them.

    Raises:
        HudiError: NOT_A_TABLE; STORAGE_FAILED.

    Clauses: MT-005, RD-011, RD-018, TL-014.

    """
    with boundary(path):
        return check.check_table(table_storage(path, storage_options), InProcess(), deep=deep)
