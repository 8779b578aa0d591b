"""Changes of a file group as log files."""

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.files.log_blocks import LogRows
from hudi_spark.files.log_form import LogGroup
from hudi_spark.files.logs import WrittenLog, write_log
from hudi_spark.files.statistics import no_rows_statistics, rows_statistics
from hudi_spark.files.written import WrittenFile
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.tagging.columns import BASE_INSTANT, POSITION
from hudi_spark.writing.context import WriteContext
from hudi_spark.writing.routing import Target


def append_logs(  # noqa: PLR0917 - rows, and what is known of each
    target: Target,
    rows: pa.Table,
    deletes: pa.ChunkedArray,
    tags: pa.Table,
    context: WriteContext,
    identity: TaskIdentity,
) -> tuple[WrittenFile, ...]:
    """The rows of one file group as its next log files.

    `deletes`: rows that remove their key whatever ordering value they have. `tags`: where the index found each key.

    Clauses: OW-013, OW-016, LF-023.
    """
    group = LogGroup(target.partition, target.file_id) if target.slice is None else LogGroup.of(target.slice)
    known = pc.is_valid(tags.column(BASE_INSTANT))
    incoming = LogRows(rows, deletes, known, _positions(target, tags))
    logs = write_log(context.place, incoming, group, context.logs, identity)
    return tuple(_told(one, context) for one in logs)


def _positions(target: Target, tags: pa.Table) -> pa.ChunkedArray | None:
    """Places in the base file, if the slice has one that the index looked into.

    Clauses: LF-023.
    """
    return None if target.slice is None or target.slice.base_file is None else tags.column(POSITION)


def _told(log: WrittenLog, context: WriteContext) -> WrittenFile:
    form = context.statistics
    name = (log.stat.path or "").rpartition("/")[2]
    if log.rows.num_rows:
        statistics = rows_statistics(name, log.rows, form.columns, form.version)
    else:
        statistics = no_rows_statistics(name, form.columns, form.version)
    return WrittenFile(log.stat, statistics, log.created_partition)
