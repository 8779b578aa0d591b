"""Slices by what the metadata table's statistics say of their files, and of whole partitions.

Clauses: IX-053, IX-054, MT-011, MT-014.
"""

from collections.abc import Sequence

from hudi_adapter.filters import Column

from hudi_spark.expressions.literals import compared_type
from hudi_spark.pruning.facts import UNKNOWN, Facts, together
from hudi_spark.pruning.indexes import expression_indexes
from hudi_spark.pruning.situation import Situation, Source, columns_in, file_keys
from hudi_spark.pruning.statistics import facts_of
from hudi_spark.state.slicing import FileSlice


def by_column_stats(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The ranges of columns in the files of each slice."""
    names = sorted({column.name for column in columns_in(situation.asked.condition)})
    if situation.metadata is None or not situation.has("column_stats"):
        return None
    stats = situation.metadata.column_stats(names, [key for one in slices for key in file_keys(one)])

    def source(one: FileSlice, column: Column) -> Facts:
        if column.function != "identity" or not situation.speaks_of(one, column):
            return UNKNOWN
        kind = situation.kind(column)
        return together(facts_of(stats.get(key, {}).get(column.name), kind) for key in file_keys(one))

    return source


def by_partition_stats(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The ranges of columns in whole partitions; they are those of the newest state.

    While a compaction is pending, writers have counted only the slices that it opened, without what these are joined
    with, and called the bounds tight.

    Clauses: MT-014, IX-051.
    """
    if situation.metadata is None or not situation.has("partition_stats") or not situation.asked.latest:
        return None
    instants = situation.snapshot.timeline.instants
    if any(one.action == "compaction" and one.state != "COMPLETED" for one in instants):
        return None
    names = sorted({column.name for column in columns_in(situation.asked.condition)})
    stats = situation.metadata.partition_stats(names, sorted({one.partition for one in slices}))

    def source(one: FileSlice, column: Column) -> Facts:
        if column.function != "identity" or not situation.speaks_of(one, column):
            return UNKNOWN
        return facts_of(stats.get(one.partition, {}).get(column.name), situation.kind(column))

    return source


def by_expression_stats(situation: Situation, slices: Sequence[FileSlice]) -> Source | None:
    """The ranges of functions' results in the files of each slice, where an index has them.

    Clauses: IX-040, IX-041.
    """
    metadata = situation.metadata
    found = expression_indexes(situation, "column_stats")
    if metadata is None or not found:
        return None
    files = [key for one in slices for key in file_keys(one)]
    stats = {column: metadata.expression_stats(index, column.name, files) for column, index in found.items()}

    def source(one: FileSlice, column: Column) -> Facts:
        if column not in stats or not situation.speaks_of(one, column):
            return UNKNOWN
        kind = compared_type(column, situation.asked.schema)
        return together(facts_of(stats[column].get(key), kind) for key in file_keys(one))

    return source
