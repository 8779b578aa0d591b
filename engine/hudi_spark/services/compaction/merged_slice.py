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
    """A slice merged: all its rows, and of the keys in its logs the rows before, after, and those after that changed.

    `updates`, `inserts`: how many changed rows have replaced one, or none; `deletes`: how many rows are gone.
    `scan`: the blocks that count. `versions`: how many records and deletes they hold, `keys`: of how many keys.
    """

    rows: pa.Table
    before: pa.Table
    after: pa.Table
    changed: pa.Table
    updates: int
    inserts: int
    deletes: int
    scan: LogScan
    versions: int
    keys: int


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
    places = pc.index_in(context.keys.keys(after), value_set=one_chunk(context.keys.keys(before)))
    same = _same(after, before.take(places))
    replaced = _count(pc.is_valid(places))
    return MergedSlice(
        rows=rows,
        before=before,
        after=after,
        changed=after.filter(pc.invert(same)),
        updates=replaced - _count(same),
        inserts=int(after.num_rows) - replaced,
        deletes=int(before.num_rows) - replaced,
        scan=scan,
        versions=int(records.versions.num_rows),
        keys=pc.count_distinct(records.versions.column("key")).as_py(),
    )


def _same(after: pa.Table, before: pa.Table) -> pa.ChunkedArray:
    """For each row whether it is the one before, which won over all versions in the logs; null stands for no row.

    Clauses: CD-007, CD-011.
    """
    alike = [pc.equal(after.column(name), before.column(name)) for name in _COMMIT]
    return pc.fill_null(pc.and_(*alike), fill_value=False)


def _count(flags: pa.ChunkedArray) -> int:
    return int(pc.sum(flags.cast(pa.int64())).as_py() or 0)


def _base_rows(task: SliceTask, context: ReadContext) -> pa.Table:
    if task.base_file is None:
        return context.schema.empty_table()
    return read_base_rows(
        context.storage, task.base_file, context.schema, task.columns, lambda _: None, external=task.external
    )


def _touched(rows: pa.Table, records: LogRecords, context: ReadContext) -> pa.Table:
    return rows.filter(pc.is_in(context.keys.keys(rows), value_set=one_chunk(records.versions.column("key"))))
