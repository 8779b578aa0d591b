"""Every kind of query: planned, run in this process, or run with Spark."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hudi_format.storage import Storage

from hudi_spark.changes.incremental import IncrementalQuery, plan_incremental
from hudi_spark.changes.planning import ChangesPlan, ChangesQuery, plan_changes
from hudi_spark.changes.tasks import run_change_task
from hudi_spark.execution.in_process import gather, run_in_process
from hudi_spark.execution.on_spark import Report, run_on_spark, run_tasks
from hudi_spark.execution.planning import Plan, Query, plan_query
from hudi_spark.execution.tasks import SliceRows
from hudi_spark.state.vanishing import read_anew

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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


def run_any_on_spark(spark: "SparkSession", plan: AnyPlan, storage: Storage, report: Report) -> "DataFrame":
    """The rows of a plan as a DataFrame; a change query is one job with a task for each file group.

    Raises:
        UnsupportedFeature: a type that Spark lacks.

    """
    if isinstance(plan, Plan):
        return run_on_spark(spark, plan, storage, report)
    return run_tasks(spark, plan.tasks, run_change_task, plan.schema, report)
