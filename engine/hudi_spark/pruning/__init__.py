"""Which file slices a query need not read."""

from hudi_spark.pruning.pruner import Pruned, partitions_left, prune, time_setting
from hudi_spark.pruning.situation import PruningQuery, column_of_definition

__all__ = ["Pruned", "PruningQuery", "column_of_definition", "partitions_left", "prune", "time_setting"]
