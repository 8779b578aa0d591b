"""Every kind of query: planned, and answered in this process."""

import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_format.errors import InvalidOption
from hudi_format.storage import Storage, open_storage
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hudi_spark.errors import DamagedLogWarning, HudiError, Reason, SkippedBytes, boundary, typed_errors
from hudi_spark.options.readings import Reading, Readings, readings_named
from hudi_spark.pruning.pruner import Pruned
from hudi_spark.read.change_feed import ChangesPlan, ChangesQuery, plan_changes, run_change_task
from hudi_spark.read.checkpoints import EARLIEST, Batch, Checkpoints, batch_ranges
from hudi_spark.read.incremental import IncrementalQuery, plan_incremental
from hudi_spark.read.planning import Plan, Query, plan_query
from hudi_spark.read.tasks import SliceRows, run_task
from hudi_spark.schema.columns import concatenate
from hudi_spark.table_state.listing import read_anew

_QUIET_SECONDS = 2.0


def run_in_process(plan: Plan) -> SliceRows:
    """The rows of all tasks, in the order of the tasks, and what they skipped.

    Raises:
        HudiError: the first error of a task.
        UnsupportedFeature: content that is not built.

    """
    with ThreadPoolExecutor(max_workers=min(len(plan.tasks), os.cpu_count() or 1) or 1) as pool:
        results = list(_watched(pool.map(run_task, plan.tasks), len(plan.tasks)))
    return gather(results, plan.schema)


def gather(results: Sequence[SliceRows], schema: pa.Schema) -> SliceRows:
    """The rows of slices one after the other."""
    skipped = tuple(one for result in results for one in result.skipped)
    return SliceRows(concatenate((result.rows for result in results), schema), skipped)


def _watched(results: Iterable[SliceRows], total: int) -> Iterator[SliceRows]:
    """The same results; a bar appears on a terminal when they take longer than two seconds."""
    if not sys.stderr.isatty():
        yield from results
        return
    columns = (TextColumn("reading slices"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("slices", total=total, visible=False)
        show = threading.Timer(_QUIET_SECONDS, progress.update, (bar,), {"visible": True})
        show.start()
        try:
            for result in results:
                progress.advance(bar)
                yield result
        finally:
            show.cancel()


AnyQuery = Query | ChangesQuery
AnyPlan = Plan | ChangesPlan


@read_anew
def plan_any(storage: Storage, query: AnyQuery) -> AnyPlan:
    """The tasks that answer a query of any kind.

    Raises:
        HudiError: the table or the request is refused.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-001, IN-001, CD-002.

    """
    if isinstance(query, ChangesQuery):
        return plan_changes(storage, query)
    return plan_incremental(storage, query) if isinstance(query, IncrementalQuery) else plan_query(storage, query)


def run_any(plan: AnyPlan) -> SliceRows:
    """The rows of a plan, computed in this process.

    Raises:
        HudiError: the first error of a task.
        UnsupportedFeature: content that is not built.

    """
    if isinstance(plan, Plan):
        return run_in_process(plan)
    with ThreadPoolExecutor(max_workers=min(len(plan.tasks), os.cpu_count() or 1) or 1) as pool:
        return gather(list(pool.map(run_change_task, plan.tasks)), plan.schema)


def read_arrow(
    path: str | Path,
    as_of: str | None = None,
    columns: Sequence[str] | None = None,
    filter: Any = None,  # noqa: A002 - the word that Arrow's readers use
    *,
    meta_columns: bool = False,
    read_optimized: bool = False,
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> pa.Table:
    """The rows of a Hudi table, now or as of an instant.

    `filter` is `[column, "="|"!="|"<"|"<="|">"|">="|"in"|"is_null"|"is_not_null", value]`, `["and"|"or", f, ...]`
    or `["not", f]`. Skipped bytes of log files are reported as `DamagedLogWarning`.
    `storage_options` say how to reach an object store, where the environment does not: `{"endpoint": ...}` or
    `{"fs.s3a.endpoint": ...}`.

    Raises:
        HudiError: the table or the request is refused; `reason` says why, the text what to do.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-001, RD-009, RD-010, RD-012, RD-013, MF-002.

    """
    query = Query(as_of, columns, filter, meta_columns, read_optimized, readings_named(readings), configs or {})
    return _rows(path, storage_options, query)


def read_incremental(
    path: str | Path,
    begin: str,
    end: str | None = None,
    columns: Sequence[str] | None = None,
    filter: Any = None,  # noqa: A002 - the word that Arrow's readers use
    *,
    meta_columns: bool = False,
    readings: Reading | Readings = "released",
    configs: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> pa.Table:
    """The rows that were changed after `begin` and up to `end`, each as it is at the end; the rest as `read_arrow`.

    Bounds are completion times, before table version 8 requested times; `earliest` leaves the begin open.

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
        begin=begin,
        end=end,
    )
    return _rows(path, storage_options, query)


def read_changes(
    path: str | Path,
    begin: str,
    end: str | None = None,
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
    query = ChangesQuery(begin, end, commit_time, readings_named(readings), dict(configs or {}))
    return _rows(path, storage_options, query)


def explain(
    path: str | Path,
    filter: Any = None,  # noqa: A002 - the word that Arrow's readers use
    as_of: str | None = None,
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
        return plan_query(
            table_storage(path, storage_options), Query(as_of, filter=filter, configs=configs or {})
        ).pruned


def read_stream(
    path: str | Path,
    checkpoint: str | Path,
    begin: str = EARLIEST,
    *,
    changes: bool = False,
    poll_seconds: float | None = None,
    readings: Reading | Readings = "released",
    storage_options: Mapping[str, str] | None = None,
) -> Iterator[Batch[pa.Table]]:
    """Batches of changed rows (or of the change feed) from where the last run stopped; `checkpoint` is a folder.

    A batch is finished when the next one is asked for. One that was not finished comes again after a restart, with
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
        for one in batch_ranges(table_storage(path, storage_options), checkpoints, begin, poll_seconds):
            rows = read(path, one.begin, one.end, readings=readings, storage_options=storage_options)
            yield Batch(one.number, one.begin, one.end, rows)


def _rows(path: str | Path, storage_options: Mapping[str, str] | None, query: AnyQuery) -> pa.Table:
    with boundary(path):
        answer = read_query(table_storage(path, storage_options), query)
    warn_of_damage(answer.skipped)
    return answer.rows


def read_query(storage: Storage, query: AnyQuery) -> SliceRows:
    """The answer of a query, computed in this process.

    Raises:
        HudiError: the table or the request is refused.
        UnsupportedFeature: what this reader cannot read yet.

    """
    with typed_errors():
        return _answered(storage, query)


@read_anew
def _answered(storage: Storage, query: AnyQuery) -> SliceRows:
    """Planned and read; planned again where a clean took away what was to be read.

    Clauses: RD-014.
    """
    return run_any(plan_any(storage, query))


def table_storage(path: str | Path, options: Mapping[str, str] | None = None) -> Storage:
    """The storage that holds a table.

    Raises:
        HudiError: NOT_A_TABLE for a path that no storage of this reader can hold; CONFIG_INVALID for its options.

    Clauses: SL-001.

    """
    try:
        return open_storage(path, options)
    except InvalidOption as error:
        hint = "see the options of object stores in docs/for-data-engineers.md"
        raise HudiError(Reason.CONFIG_INVALID, "SL-001", str(error), hint=hint) from error
    except ValueError as error:
        hint = "give a local path or s3://bucket/path"
        raise HudiError(Reason.NOT_A_TABLE, "SL-001", str(error), hint=hint) from error


def warn_of_damage(skipped: Sequence[SkippedBytes]) -> None:
    """One `DamagedLogWarning` for each stretch of a log file that was skipped.

    Clauses: RD-013.
    """
    for one in skipped:
        warnings.warn(str(one), DamagedLogWarning, stacklevel=4)
