"""Tables without Spark: read as Arrow, written, served and checked in this process."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.storage import Storage

from hudi_spark.concurrency import Effects, hooks_of_environment
from hudi_spark.errors import DamagedLogWarning, HudiError, Reason, SkippedBytes, boundary, typed_errors
from hudi_spark.fsck import Violation, check
from hudi_spark.pruning import Pruned
from hudi_spark.read import (
    EARLIEST,
    AnyQuery,
    Batch,
    ChangesQuery,
    Checkpoints,
    IncrementalQuery,
    InProcess,
    Query,
    batch_ranges,
    plan_any,
    plan_query,
    read_query,
    stream_any,
    table_storage,
)
from hudi_spark.readings import Reading, Readings, readings_named
from hudi_spark.services.inline import InlineServices
from hudi_spark.services.table_services import TableServices
from hudi_spark.table_state import GivenInstants, InstantLike
from hudi_spark.write import Outcome, TableDefinition, TableWriter, WriteRequest, create_table, write_id_of

_ROWS_A_BATCH: Final = 1 << 16


def read_arrow(
    path: str | Path,
    as_of: InstantLike | None = None,
    columns: Sequence[str] | None = None,
    filter: Any = None,  # noqa: A002 - the word that Arrow's readers use
    *,
    meta_columns: bool = False,
    read_optimized: bool = False,
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> pa.Table:
    """The rows of a Hudi table, now or as of an instant: digits, text such as `2025-01-31 12:00`, `datetime` or `date`.

    `filter` is SQL text, `"fare > 10 AND city IN ('oslo', 'lima')"`, or a list:
    `[column, "="|"!="|"<"|"<="|">"|">="|"in"|"is_null"|"is_not_null", value]`, `["and"|"or", f, ...]` or `["not", f]`.
    Values are text, or Python's: `Decimal`, `bytes`, `date`, `time`, `datetime` with a zone where the column has one.
    A `pyarrow.compute.Expression` is taken as well: Arrow evaluates it on the rows that were read, and no file is left
    out by it, as Arrow does not show what it is made of.
    Skipped bytes of log files, and base files with fewer rows than their commits count, are reported as
    `DamagedLogWarning`.
    `storage_options` say how to reach an object store, where the environment does not: `{"endpoint": ...}` or
    `{"fs.s3a.endpoint": ...}`.

    Raises:
        HudiError: the table or the request is refused; `reason` says why, the text what to do.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-001, RD-009, RD-010, RD-012, RD-013, MF-002.

    """
    when = _given(path, storage_options)(as_of)
    query = Query(when, columns, filter, meta_columns, read_optimized, readings_named(readings), configs or {})
    return _rows(path, storage_options, query)


def read_batches(
    path: str | Path,
    as_of: InstantLike | None = None,
    columns: Sequence[str] | None = None,
    filter: Any = None,  # noqa: A002 - the word that Arrow's readers use
    *,
    begin: InstantLike | None = None,
    end: InstantLike | None = None,
    meta_columns: bool = False,
    read_optimized: bool = False,
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> pa.RecordBatchReader:
    """The rows of `read_arrow` as a stream of record batches; with `begin`, and `end`, those of `read_incremental`.

    The table is planned at once, so that what is refused is refused here; file slices are read as batches are
    requested, at most four at a time. The reader can be read once, by anything that takes `__arrow_c_stream__`.

    Raises:
        HudiError: as `read_arrow` and `read_incremental`; CONFIG_INVALID for a range together with `as_of` or
            `read_optimized`. While batches are read: RANGE_NOT_RETAINED where a clean was faster.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-001, RD-012, RD-013, RD-014, IN-001.

    """
    query = Query(None, columns, filter, meta_columns, read_optimized, readings_named(readings), configs or {})
    if begin is None and end is None:
        query = replace(query, as_of=_given(path, storage_options)(as_of))
    else:
        given = _given(path, storage_options)
        query = _ranged(query, as_of, given(EARLIEST if begin is None else begin), given(end))
    with boundary(path):
        return batches_of(table_storage(path, storage_options), query)


def _ranged(query: Query, as_of: InstantLike | None, begin: str, end: str | None) -> IncrementalQuery:
    if as_of is not None or query.read_optimized:
        message = "a range has begin and end, and neither as_of nor read_optimized"
        hint = "leave begin and end out for a snapshot"
        raise HudiError(Reason.CONFIG_INVALID, "IN-002", message, hint=hint)
    return IncrementalQuery(
        columns=query.columns,
        filter=query.filter,
        meta_columns=query.meta_columns,
        readings=query.readings,
        configs=query.configs,
        begin=begin,
        end=end,
    )


def batches_of(storage: Storage, query: AnyQuery) -> pa.RecordBatchReader:
    """The answer of a query as a stream, planned now and read later.

    Raises:
        HudiError: the table or the request is refused.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-013, RD-014.

    """
    if isinstance(query, Query) and isinstance(query.filter, pc.Expression):
        return _by_expression(storage, query, query.filter)
    with typed_errors():
        plan = plan_any(storage, query)

    def batches() -> Iterator[pa.RecordBatch]:
        with boundary(storage.base):
            for part in stream_any(storage, plan):
                warn_of_damage(part.skipped)
                yield from part.rows.to_batches(max_chunksize=_ROWS_A_BATCH)

    return pa.RecordBatchReader.from_batches(plan.schema, batches())


def _by_expression(storage: Storage, query: Query, condition: pc.Expression) -> pa.RecordBatchReader:
    """The rows for which an expression of Arrow is true."""
    with typed_errors():
        whole = plan_any(storage, replace(query, filter=None, columns=None, meta_columns=True)).schema.empty_table()
    try:
        whole.filter(condition)
    except (pa.ArrowException, TypeError) as error:
        message = f"the filter {str(condition)[:60]} does not fit the table: {str(error).splitlines()[0]}"
        hint = f"the table has {', '.join(whole.column_names)}"
        raise HudiError(Reason.CONFIG_INVALID, "RD-012", message, hint=hint) from error
    with typed_errors():
        names = plan_any(storage, replace(query, filter=None)).schema.names
    further = [
        one for one in whole.column_names if one not in names and not _is_evaluated_without(condition, whole, one)
    ]
    read = batches_of(storage, replace(query, filter=None, columns=[*names, *further]))
    schema = pa.schema([read.schema.field(name) for name in names])

    def batches() -> Iterator[pa.RecordBatch]:
        for one in read:
            yield from pa.Table.from_batches([one]).filter(condition).select(names).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def _is_evaluated_without(condition: pc.Expression, rows: pa.Table, column: str) -> bool:
    """Whether an expression does not name a column."""
    try:
        rows.drop_columns([column]).filter(condition)
    except pa.ArrowException:
        return False
    return True


def read_incremental(
    path: str | Path,
    begin: InstantLike,
    end: InstantLike | None = None,
    columns: Sequence[str] | None = None,
    filter: Any = None,  # noqa: A002 - the word that Arrow's readers use
    *,
    meta_columns: bool = False,
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> pa.Table:
    """The rows that were changed after `begin` and up to `end`, each as it is at the end; the rest as `read_arrow`.

    Bounds are completion times, before table version 8 requested times, written as `as_of` there; `earliest` leaves the
    begin open.

    Raises:
        HudiError: INSTANT_MALFORMED, RANGE_NOT_RETAINED, CONFIG_INVALID without commit times; or as `read_arrow`.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: IN-001, IN-002, IN-003, IN-004, IN-006, IN-007.

    """
    query = IncrementalQuery(
        columns=columns,
        filter=filter,
        meta_columns=meta_columns,
        readings=readings_named(readings),
        configs=configs or {},
        begin=_given(path, storage_options)(begin),
        end=_given(path, storage_options)(end),
    )
    return _rows(path, storage_options, query)


def read_changes(
    path: str | Path,
    begin: InstantLike,
    end: InstantLike | None = None,
    *,
    commit_time: bool = False,
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> pa.Table:
    """The change feed after `begin` and up to `end`: `op` (i, u, d), `before` and `after` as structs.

    `commit_time` puts the instant of each change before it, `_hoodie_commit_time`: to replay a feed, sort by it and
    take deletes first. Bounds as in `read_incremental`.

    Raises:
        HudiError: CONFIG_INVALID for a table without change feed, INSTANT_MALFORMED, RANGE_NOT_RETAINED,
            LOG_FILE_MISSING; or as `read_arrow`.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: CD-001, CD-002, CD-006, IN-002.

    """
    given = _given(path, storage_options)
    query = ChangesQuery(given(begin), given(end), commit_time, readings_named(readings), configs or {})
    return _rows(path, storage_options, query)


def explain(
    path: str | Path,
    filter: Any = None,  # noqa: A002 - the word that Arrow's readers use
    as_of: InstantLike | None = None,
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Pruned:
    """What `read_arrow` with this filter reads, and by what means it leaves files out; printed, one a line.

    Raises:
        HudiError: the table or the request is refused.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: IX-051.

    """
    with boundary(path):
        query = Query(_given(path, storage_options)(as_of), filter=filter, configs=configs or {})
        return plan_query(table_storage(path, storage_options), query).pruned


def read_stream(
    path: str | Path,
    checkpoint: str | Path,
    begin: InstantLike = EARLIEST,
    *,
    changes: bool = False,
    poll_seconds: float | None = None,
    readings: Reading | Readings = "released",
    storage_options: Mapping[str, str] | None = None,
) -> Iterator[Batch[pa.Table]]:
    """Batches of changed rows (or of the change feed) from where the last run stopped; `checkpoint` is a folder.

    A batch is finished when the next one is requested. One that was not finished comes again after a restart, with
    the same number and the same range. Without `poll_seconds` the stream ends where nothing new is there.

    Raises:
        HudiError: RANGE_NOT_RETAINED when a clean was faster; WRITE_CONFLICT for two readers of one checkpoint; or as
            `read_incremental` and `read_changes`.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: IN-002, IN-008, CD-002.

    """
    read = read_changes if changes else read_incremental
    with boundary(path):
        checkpoints = Checkpoints(table_storage(checkpoint, storage_options))
        first = _given(path, storage_options)(begin)
        for one in batch_ranges(table_storage(path, storage_options), checkpoints, first, poll_seconds):
            rows = read(path, one.begin, one.end, readings=readings, storage_options=storage_options)
            yield Batch(one.number, one.begin, one.end, rows)


def _given(path: str | Path, storage_options: Mapping[str, str] | None) -> GivenInstants:
    return GivenInstants(partial(table_storage, path, storage_options), path)


def _rows(path: str | Path, storage_options: Mapping[str, str] | None, query: AnyQuery) -> pa.Table:
    with boundary(path):
        if isinstance(query, Query) and isinstance(query.filter, pc.Expression):
            return batches_of(table_storage(path, storage_options), query).read_all()
        answer = read_query(table_storage(path, storage_options), query)
    warn_of_damage(answer.skipped)
    return answer.rows


def warn_of_damage(skipped: Sequence[SkippedBytes]) -> None:
    """One `DamagedLogWarning` for each stretch of a log file that was skipped, and base file that lacks rows.

    Clauses: RD-013.
    """
    for one in skipped:
        warnings.warn(str(one), DamagedLogWarning, stacklevel=4)


def write_arrow(
    path: str | Path,
    rows: Any = None,
    operation: str = "",
    *,
    filter: Any = None,  # noqa: A002 - the word that reads use
    partitions: Sequence[str] = (),
    write_id: str = "",
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Outcome:
    """One write to a Hudi table, in this process.

    `rows`: an Arrow table, a record batch, or what can be read once: a `RecordBatchReader`, anything with
    `__arrow_c_stream__` (of Polars, DuckDB, pandas, DataFusion), an iterator of batches. A stream is stored below
    `TMPDIR` first, and written in parts.
    `operation`: insert, upsert, bulk_insert, delete (of `rows`, or of the stored rows that `filter` chooses),
    insert_overwrite, insert_overwrite_table, delete_partition (of `partitions`), partial_update; empty for the one that
    the options name, or an upsert.
    `write_id`: an id of the caller's own; a write of an id that a commit of the active timeline has is not done again.
    What it answers states what was committed, and which services failed after it; printed, that is one line.

    Raises:
        HudiError: the table, a row or an option is refused, or STORAGE_FAILED; nothing is changed.
        OutcomeUnknownError: whether the write stands is not known; `services_arrow(path).has_completed(instant)` asks.

    Clauses: OW-001, OW-010, OW-014.

    """
    writer = TableWriter(
        table_storage(path, storage_options), InProcess(), {}, readings_named(readings), lifecycle=InlineServices()
    )
    once = write_id_of(write_id)
    return writer.write(WriteRequest(operation, rows, filter, partitions, configs or {}, once=once))


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
