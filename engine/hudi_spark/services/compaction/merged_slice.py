"""The rows of a planned slice, merged, and what became of those that its logs change.

Clauses: CP-004, CP-007.
"""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.arrays import one_chunk
from hudi_spark.execution.tasks import ReadContext, SliceTask
from hudi_spark.merging.kernel import merge
from hudi_spark.merging.log_records import LogRecords, decode_log_records
from hudi_spark.merging.log_scan import LogScan, scan_logs
from hudi_spark.schemas.base_rows import read_base_rows

_COMMIT = ("_hoodie_commit_time", "_hoodie_commit_seqno")


@dataclass(frozen=True, slots=True)
class MergedSlice:
    """A slice merged: all its rows, and of the keys in its logs the rows before and after, both in the same columns.

    `scan`: the blocks that count. `versions`: how many records and deletes they hold, `keys`: of how many keys.
    """

    rows: pa.Table
    before: pa.Table
    after: pa.Table
    known: pa.ChunkedArray
    scan: LogScan
    versions: int
    keys: int

    @property
    def updates(self) -> int:
        """Rows that are there before and after."""
        return int(pc.sum(self.known.cast(pa.int64())).as_py() or 0)

    @property
    def inserts(self) -> int:
        """Rows of new keys."""
        return int(self.after.num_rows) - self.updates

    @property
    def deletes(self) -> int:
        """Rows that are gone."""
        return int(self.before.num_rows) - self.updates


def merged_slice(task: SliceTask, context: ReadContext) -> MergedSlice:
    """A slice merged as a snapshot of the plan's time reads it, all columns and meta fields as they are stored.

    Raises:
        HudiError: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT, SCHEMA_INCOMPATIBLE, KEY_MISSING.
        UnsupportedFeature: content that is not built.

    Clauses: CP-004, CP-007, RD-017.

    """
    scan = scan_logs(context.storage, task.log_files, context.visibility)
    records = decode_log_records(scan.blocks, context.schema, context.keys, context.rule, task.columns)
    base = _base_rows(task, context)
    rows = merge(base, records, context.keys, context.rule)
    before, after = _touched(base, records, context), _touched(rows, records, context)
    known = pc.is_in(context.keys.keys(after), value_set=one_chunk(context.keys.keys(before)))
    keys = pc.count_distinct(records.versions.column("key")).as_py()
    return MergedSlice(rows, before, after, known, scan, records.versions.num_rows, keys)


def changed_after(merged: MergedSlice, context: ReadContext) -> pa.Table:
    """Of the rows after those that a write in the logs has put there, not the ones that won over it.

    Clauses: CD-007, CD-011.
    """
    keys = [context.keys.keys(table) for table in (merged.before, merged.after)]
    places = pc.index_in(keys[1], value_set=one_chunk(keys[0]))
    same = [pc.equal(merged.after.column(name), merged.before.column(name).take(places)) for name in _COMMIT]
    return merged.after.filter(pc.invert(pc.fill_null(pc.and_(*same), fill_value=False)))


def _base_rows(task: SliceTask, context: ReadContext) -> pa.Table:
    if task.base_file is None:
        return context.schema.empty_table()
    return read_base_rows(
        context.storage, task.base_file, context.schema, task.columns, lambda _: None, external=task.external
    )


def _touched(rows: pa.Table, records: LogRecords, context: ReadContext) -> pa.Table:
    return rows.filter(pc.is_in(context.keys.keys(rows), value_set=one_chunk(records.versions.column("key"))))
