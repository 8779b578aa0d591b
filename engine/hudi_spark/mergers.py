"""Mergers of your own, for tables with custom merging."""

from hudi_spark.merge import MergeContext, Merger, RowMerger, Versions, register

__all__ = ["MergeContext", "Merger", "RowMerger", "Versions", "register"]
