"""Every kind of query: planned, and answered in this process; what a table is."""

import json
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_format.errors import InvalidOption
from hudi_format.storage import Storage, in_threads, open_storage

from hudi_spark.errors import HudiError, Reason, typed_errors
from hudi_spark.merge import MergeMode, merge_mode
from hudi_spark.read.change_feed import ChangesPlan, ChangesQuery, plan_changes, run_change_task
from hudi_spark.read.incremental import IncrementalQuery, plan_incremental
from hudi_spark.read.planning import Plan, Query, plan_query
from hudi_spark.read.tasks import SliceRows, bytes_to_read, run_task
from hudi_spark.schema import concatenate, stated_schema, table_schema
from hudi_spark.table_state import ENABLED_KEY, TableType, cleaned_files_refused, load_commits, load_table, read_anew

_QUIET_SECONDS = 2.0
_MOST_AT_A_TIME = 4


def run_in_process(plan: Plan) -> SliceRows:
    """The rows of all tasks, in the order of the tasks, and what they skipped.

    Raises:
        HudiError: the first error of a task.
        UnsupportedFeature: content that is not built.

    """
    sizes = (bytes_to_read(task.context.storage, task.files) for task in plan.tasks)
    results = in_threads(run_task, plan.tasks, sizes)
    return gather(list(_watched(results, len(plan.tasks))), plan.schema)


def gather(results: Sequence[SliceRows], schema: pa.Schema) -> SliceRows:
    """The rows of slices one after the other."""
    skipped = tuple(one for result in results for one in result.skipped)
    return SliceRows(concatenate((result.rows for result in results), schema), skipped)


def _watched(results: Iterable[SliceRows], total: int) -> Iterator[SliceRows]:
    """The same results; a bar appears on a terminal when they take longer than two seconds."""
    if not sys.stderr.isatty():
        yield from results
        return
    # Not imported where nothing is shown: it costs a fiftieth of a second.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

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
        HudiError: the table or the request is refused; RANGE_NOT_RETAINED where a clean took a file.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: RD-001, RD-014, IN-001, CD-002.

    """
    with cleaned_files_refused(storage), typed_errors():
        if not isinstance(query, (ChangesQuery, IncrementalQuery)):
            return plan_query(storage, query)
        try:
            plan = _plan_of_range(storage, query)
            if isinstance(plan, Plan) or not any(map(_is_of_missing, plan.refusals())):
                return plan
        except HudiError as error:
            if not _is_of_missing(error):
                raise
        # A metadata table may miss files that commits name; what storage lacks is missing.
        return _plan_of_range(storage, replace(query, configs={**query.configs, ENABLED_KEY: "false"}))


def _plan_of_range(storage: Storage, query: ChangesQuery | IncrementalQuery) -> AnyPlan:
    if isinstance(query, ChangesQuery):
        return plan_changes(storage, query)
    return plan_incremental(storage, query)


def _is_of_missing(error: HudiError) -> bool:
    return error.reason in {Reason.BASE_FILE_MISSING, Reason.LOG_FILE_MISSING}


def run_any(plan: AnyPlan) -> SliceRows:
    """The rows of a plan, computed in this process.

    Raises:
        HudiError: the first error of a task.
        UnsupportedFeature: content that is not built.

    """
    if isinstance(plan, Plan):
        return run_in_process(plan)
    return gather(list(in_threads(run_change_task, plan.tasks)), plan.schema)


def stream_any(storage: Storage, plan: AnyPlan) -> Iterator[SliceRows]:
    """The rows of a plan, task by task in its order: at most four are held at a time, and none once it is handed on.

    Raises:
        HudiError: the first error of a task; RANGE_NOT_RETAINED where a clean took a file after it was planned.
        UnsupportedFeature: content that is not built.

    Clauses: RD-014.

    """
    run: Callable[[Any], SliceRows] = run_task if isinstance(plan, Plan) else run_change_task
    threads = min(_MOST_AT_A_TIME, os.cpu_count() or 1)
    tasks: Iterator[Any] = iter(plan.tasks)
    pool = ThreadPoolExecutor(max_workers=threads)
    try:
        waiting: deque[Future[SliceRows]] = deque(pool.submit(run, task) for task in islice(tasks, threads))
        while waiting:
            with cleaned_files_refused(storage), typed_errors():
                yield waiting.popleft().result()
            waiting.extend(pool.submit(run, task) for task in islice(tasks, 1))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


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
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        message = "the path is empty" if isinstance(path, str) else f"the path is a {type(path).__name__}: {path!r}"
        raise HudiError(Reason.NOT_A_TABLE, "SL-001", message, hint="give a text or a pathlib.Path")
    try:
        return open_storage(path if isinstance(path, str) else Path(path), options)
    except InvalidOption as error:
        hint = "the guide for data engineers lists the options of object stores"
        raise HudiError(Reason.CONFIG_INVALID, "SL-001", str(error), hint=hint) from error
    except ValueError as error:
        hint = "give a local path or s3://bucket/path"
        raise HudiError(Reason.NOT_A_TABLE, "SL-001", str(error), hint=hint) from error


@dataclass(frozen=True, slots=True)
class TableInfo:
    """What a table is; `comments`: the texts of the columns that have one; `required`: the columns without nulls.

    Clauses: PR-002, PR-005, PR-006, MG-001, DM-003.
    """

    name: str
    version: int
    table_type: TableType
    merge_mode: MergeMode
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: tuple[str, ...]
    schema: pa.Schema = field(hash=False)
    comments: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    required: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        keys = ", ".join(self.record_key) or "generated keys"
        parts = f" by {', '.join(self.partition_by)}" if self.partition_by else ""
        ordering = f" on {', '.join(self.ordering)}" if self.ordering else ""
        columns = ", ".join(f"{column.name} {column.type}" for column in self.schema)
        head = f"{self.name}: {self.table_type}, table version {self.version}, {self.merge_mode}{ordering}"
        return f"{head}\nkey {keys}{parts}\n{columns}"


def table_info(storage: Storage) -> TableInfo:
    """What a table is.

    Raises:
        HudiError: the reasons of a refused table.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: a table that this reader cannot read yet.

    Clauses: MG-001, DM-003.

    """
    configuration, timeline = load_table(storage)
    commits = load_commits(storage, timeline, None, "requested")
    stated = stated_schema(commits, configuration)
    fields = json.loads(stated[0])["fields"] if stated else []
    return TableInfo(
        name=configuration.name,
        version=configuration.version,
        table_type=configuration.table_type,
        merge_mode=merge_mode(configuration),
        record_key=configuration.record_key,
        partition_by=configuration.partition_by,
        ordering=configuration.ordering,
        schema=table_schema(commits, configuration),
        comments={one["name"]: one["doc"] for one in fields if one.get("doc")},
        required=tuple(one["name"] for one in fields if not (isinstance(one["type"], list) and "null" in one["type"])),
    )
