"""The task of a log compaction: the blocks of one planned slice become one log file.

Clauses: LC-001, LC-003, LC-004, LC-005, LC-007.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from hudi_format.metadata.records import ColumnStats
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.arrays import one_chunk
from hudi_spark.errors import UnsupportedFeature
from hudi_spark.execution.tasks import ReadContext
from hudi_spark.files.log_blocks import LogRows
from hudi_spark.files.log_form import LogForm, LogGroup
from hudi_spark.files.logs import write_log
from hudi_spark.files.places import Place
from hudi_spark.files.statistics import no_rows_statistics, rows_statistics
from hudi_spark.files.written import WrittenFile, to_rows
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.column_statistics import StatisticsPlan
from hudi_spark.merging.log_records import LogRecords, decode_log_records
from hudi_spark.merging.log_scan import LogScan, scan_logs
from hudi_spark.merging.log_winners import LogWinners, log_winners
from hudi_spark.services.compaction.metrics import LOG_BYTES
from hudi_spark.services.compaction.planned_slices import PlannedSlice, refuse_missing

_KEY: Final = "_hoodie_record_key"


@dataclass(frozen=True, slots=True)
class Appending:
    """Writes the compacted logs of planned slices; what all tasks of a log compaction share.

    `form`: how logs look. `statistics`: of which columns tasks tell them.

    Clauses: LC-001, LC-005.
    """

    read: ReadContext
    place: Place
    form: LogForm
    statistics: StatisticsPlan

    def __call__(self, planned: PlannedSlice, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows; nothing where no block of the slice counts.

        Raises:
            HudiError: LOG_FILE_MISSING; LOG_CONTENT_CORRUPT, SCHEMA_INCOMPATIBLE, KEY_MISSING.
            UnsupportedFeature: log-compaction-of-partial-updates.

        """
        task, context = planned.read, self.read
        refuse_missing(context.storage, None, task.log_files)
        scan = scan_logs(context.storage, task.log_files, context.visibility)
        if not scan.blocks:
            return to_rows(())
        records = decode_log_records(scan.blocks, context.schema, context.keys, context.rule, task.columns)
        if records.partial:
            raise UnsupportedFeature("log-compaction-of-partial-updates", f"{task.partition}/{task.file_id}")
        rows = self._rows(log_winners(records, context.rule))
        logs = write_log(self.place, rows, self._group(planned, scan), self.form, identity)
        written = (WrittenFile(log.stat, self._told(log.stat, log.rows), log.created_partition) for log in logs)
        counted = tuple(replace(one, stat=_counted(one.stat, planned, scan, records)) for one in written)
        return to_rows(counted)

    def _rows(self, winners: LogWinners) -> LogRows:
        """Rows that stay, then one for each key that is deleted, of nothing but its key and ordering values."""
        schema = self.read.schema
        rows = winners.rows.set_column(schema.names.index(_KEY), schema.field(_KEY), winners.keys)
        stay, gone = rows.num_rows, len(winners.deleted)
        ordering = zip(self.read.rule.ordering, winners.ordering, strict=False)
        known = {(_KEY,): winners.deleted, **{tuple(name.split(".")): values for name, values in ordering}}
        columns = [_filled(one.type, (one.name,), known, gone) for one in schema]
        deleted = pa.Table.from_arrays(columns, schema=schema)
        false = pa.repeat(pa.scalar(value=False), stay)
        natural = pa.chunked_array([false, *winners.natural.chunks], pa.bool_())
        deletes = pa.chunked_array([false, pa.repeat(pa.scalar(value=True), gone)])
        updates = pa.chunked_array([pa.repeat(pa.scalar(value=True), stay + gone)])
        return LogRows(pa.concat_tables([rows, deleted]), natural, updates, deletes=deletes)

    def _group(self, planned: PlannedSlice, scan: LogScan) -> LogGroup:
        """The group with the logs that its slice has by now, which the plan may not know.

        Clauses: LC-003, LC-005.
        """
        task, operation = planned.read, planned.operation
        listed = self.read.storage.list_files(task.partition, recursive=False)
        parsed = ((one.path.rpartition("/")[2], parse_data_file_name(one.path.rpartition("/")[2])) for one in listed)
        logs = tuple(text for text, name in parsed if isinstance(name, LogFileName) and name.file_id == task.file_id)
        instants = tuple(dict.fromkeys(one.instant for one in scan.blocks))
        base = None if task.base_file is None else task.base_file.rpartition("/")[2]
        return LogGroup(task.partition, task.file_id, operation.base_instant_time, base, logs, instants)

    def _told(self, stat: WriteStat, rows: pa.Table) -> tuple[ColumnStats, ...]:
        form, name = self.statistics, (stat.path or "").rpartition("/")[2]
        if rows.num_rows:
            return rows_statistics(name, rows, form.columns, form.version)
        return no_rows_statistics(name, form.columns, form.version)


def _filled(
    kind: pa.DataType, path: tuple[str, ...], known: Mapping[tuple[str, ...], pa.ChunkedArray], count: int
) -> pa.Array:
    """A column that is null but for known fields, which may stand inside it."""
    if path in known:
        return one_chunk(known[path].cast(kind))
    if not any(name[: len(path)] == path for name in known):
        return pa.nulls(count, kind)
    children = [_filled(one.type, (*path, one.name), known, count) for one in kind]
    return pa.StructArray.from_arrays(children, fields=list(kind))


def _counted(stat: WriteStat, planned: PlannedSlice, scan: LogScan, records: LogRecords) -> WriteStat:
    """The stat with what the log stands for.

    Clauses: LC-006, TL-019, TL-020.
    """
    operation = planned.operation
    return replace(
        stat,
        prev_commit=operation.base_instant_time,
        total_log_records=records.versions.num_rows,
        total_updated_records_compacted=(stat.num_writes or 0) + (stat.num_deletes or 0),
        total_log_blocks=len(scan.blocks),
        total_corrupt_log_block=len(scan.skipped),
        total_log_files_compacted=len(planned.read.log_files),
        total_log_size_compacted=int((operation.metrics or {}).get(LOG_BYTES, 0)),
    )
