"""Runs tasks in this process: for small inputs, for `read_arrow`, and so that many histories play in minutes."""

import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hudi_spark.execution.planning import Plan
from hudi_spark.execution.tasks import SliceRows, run_task
from hudi_spark.schemas.columns import concatenate

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
