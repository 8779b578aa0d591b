"""Run by test_local_cluster in a process of its own: count the rows and the tasks of a snapshot."""

import json
import sys

from hudi_spark import HudiTable
from hudi_spark_adapter.executors import local_session

spark = local_session("local cluster", "local-cluster[2,1,1024]")
context = spark.sparkContext
context.setLogLevel("ERROR")
context.setJobGroup("snapshot", "snapshot of all slices")
frame = HudiTable(spark, sys.argv[1]).snapshot()
totals = frame.selectExpr("count(*) AS found", "sum(ts) AS total").collect()[0]
tracker = context.statusTracker()
stages = [stage for job in tracker.getJobIdsForGroup("snapshot") for stage in tracker.getJobInfo(job).stageIds]
tasks = [info.numTasks for info in (tracker.getStageInfo(stage) for stage in stages) if info is not None]
answer = {
    "found": totals["found"],
    "total": totals["total"],
    "tasks": max(tasks),
    "executors": context._jsc.sc().getExecutorMemoryStatus().size() - 1,
    "limit": spark.conf.get("spark.driver.maxResultSize"),
}
sys.stdout.write(json.dumps(answer) + "\n")
spark.stop()
