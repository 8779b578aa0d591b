"""Everything that knows Spark: its scan, its executor."""

from hudi_spark.spark.executor import OnSpark
from hudi_spark.spark.queries import (
    accumulator,
    arrow_schema,
    batches_of_pack,
    check_session,
    files_of_changes,
    is_connect,
    packed_for,
    run_any_on_spark,
    spare_archives,
    spark_schema,
    split_tasks,
    use_same_python,
    wire_schema,
)

__all__ = [
    "OnSpark",
    "accumulator",
    "arrow_schema",
    "batches_of_pack",
    "check_session",
    "files_of_changes",
    "is_connect",
    "packed_for",
    "run_any_on_spark",
    "spare_archives",
    "spark_schema",
    "split_tasks",
    "use_same_python",
    "wire_schema",
]
