"""Run by test_writing_spark in a process of its own: writes on executors that are processes of their own."""

import json
import sys

from hudi_spark import HudiTable
from hudi_spark_adapter.executors import local_session

spark = local_session("local cluster", "local-cluster[2,1,1024]")
context = spark.sparkContext
context.setLogLevel("ERROR")
# Few rows would be written by the driver.
spark.conf.set("spark.hudi.driver.bytes", "0")


def rows(first: int, last: int, ts: int):
    columns = ("concat('k', id) as id", "concat('p', id % 5) as part", f"{ts}L as ts")
    return spark.range(first, last, 1, 4).selectExpr(*columns)


table = HudiTable.create(
    spark,
    sys.argv[1],
    name="cluster",
    schema=rows(0, 1, 1).schema,
    record_key="id",
    partition_by="part",
    ordering="ts",
)
table.bulk_insert(rows(0, 50_000, 1))
table.upsert(rows(49_500, 50_500, 2))
totals = table.snapshot().selectExpr("count(*) AS found", "sum(ts) AS total").collect()[0]
answer = {
    "rows": totals["found"],
    "total": totals["total"],
    "executors": context._jsc.sc().getExecutorMemoryStatus().size() - 1,
    "limit": spark.conf.get("spark.driver.maxResultSize"),
}
sys.stdout.write(json.dumps(answer) + "\n")
spark.stop()
