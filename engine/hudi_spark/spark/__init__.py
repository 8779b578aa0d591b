"""Everything that knows Spark: its scan, its executor."""

from hudi_spark.spark.executor import OnSpark
from hudi_spark.spark.queries import accumulator, run_any_on_spark, split_tasks, use_same_python

__all__ = ["OnSpark", "accumulator", "run_any_on_spark", "split_tasks", "use_same_python"]
