"""The task of a compaction: one planned slice becomes one base file.

Clauses: CP-004, CP-006, CP-007.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa
from hudi_format.names import BaseFileName
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, RuntimeStats, WriteStat

from hudi_spark.effects.helper import joined
from hudi_spark.execution.tasks import ReadContext
from hudi_spark.files.base import BaseFileBytes, BaseFileForm, base_file
from hudi_spark.files.changes import ChangeForm, write_changes
from hudi_spark.files.places import Place
from hudi_spark.files.statistics import base_file_statistics
from hudi_spark.files.written import WrittenFile, to_rows
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.indexing.column_statistics import StatisticsPlan
from hudi_spark.services.compaction.merged_slice import MergedSlice, merged_slice
from hudi_spark.services.compaction.metrics import LOG_BYTES
from hudi_spark.services.compaction.planned_slices import PlannedSlice, refuse_missing
from hudi_spark.writing.changed_rows import changes_between

_PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Rewrites planned slices; what all tasks of a compaction share.

    `form`, `changes`: how base files and change logs look. `statistics`: of which columns tasks tell them.

    Clauses: CP-006, BF-001.
    """

    read: ReadContext
    place: Place
    form: BaseFileForm
    changes: ChangeForm | None
    statistics: StatisticsPlan
    has_completion_times: bool

    def __call__(self, planned: PlannedSlice, identity: TaskIdentity) -> pa.Table:
        """What was written, as rows.

        Raises:
            HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING; as `merged_slice`.

        """
        task = planned.read
        refuse_missing(self.read.storage, task.base_file, task.log_files)
        merged = merged_slice(task, self.read)
        logged = self._logged(merged, planned, identity)
        name = BaseFileName(task.file_id, identity.write_token, self.place.requested, _PARQUET)
        made = base_file(merged.rows, str(name), self.form)
        io_type = "CREATE" if task.base_file is None else "MERGE"
        created = self.place.put_base_file(task.partition, name, made.data, io_type)
        wanted = self.statistics
        statistics = base_file_statistics(str(name), made.metadata, wanted.columns, wanted.version, made.column)
        stat = replace(self._stat(made, name, merged, planned), cdc_stats=logged)
        return to_rows((WrittenFile(stat, statistics, created),))

    def _logged(self, merged: MergedSlice, planned: PlannedSlice, identity: TaskIdentity) -> Mapping[str, int] | None:
        """Clauses: CD-008, CD-009, CD-011."""
        if self.changes is None or planned.read.base_file is None:
            return None
        changes = changes_between(merged.before, merged.changed, merged.after, self.read.keys)
        if not changes.num_rows:
            return None
        task = planned.read
        return write_changes(self.place, changes, task.partition, task.file_id, self.changes, identity)

    def _stat(self, made: BaseFileBytes, name: BaseFileName, merged: MergedSlice, planned: PlannedSlice) -> WriteStat:
        """Clauses: CP-006, TL-019, TL-020."""
        operation, task = planned.operation, planned.read
        stat = WriteStat(
            file_id=name.file_id,
            path=joined(task.partition, str(name)),
            prev_commit=NO_PREVIOUS_COMMIT if task.base_file is None else operation.base_instant_time,
            num_writes=made.rows,
            num_deletes=merged.deletes,
            num_update_writes=merged.updates,
            num_inserts=merged.inserts,
            total_write_bytes=len(made.data),
            total_write_errors=0,
            partition_path=task.partition,
            total_log_records=merged.versions,
            total_updated_records_compacted=merged.keys,
            total_log_blocks=len(merged.scan.blocks),
            total_corrupt_log_block=len(merged.scan.skipped),
            total_rollback_blocks=0,
            file_size_in_bytes=len(made.data),
            runtime_stats=RuntimeStats(0, 0, 0),
            total_log_files_compacted=len(task.log_files),
            total_log_size_compacted=int((operation.metrics or {}).get(LOG_BYTES, 0)),
        )
        if not self.has_completion_times:
            return stat
        before = None if task.base_file is None else task.base_file.rpartition("/")[2]
        return replace(stat, total_log_read_time_ms=0, num_updates=0, prev_base_file=before)
