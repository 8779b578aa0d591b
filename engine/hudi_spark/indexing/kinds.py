"""The kinds of indexes that a metadata table has, in the order in which they begin."""

from collections.abc import Sequence
from typing import Final

from hudi_spark.indexing.bloom_filters import BloomFilters
from hudi_spark.indexing.column_statistics import ColumnStatistics
from hudi_spark.indexing.expression_index import ExpressionIndex
from hudi_spark.indexing.file_lists import FileLists
from hudi_spark.indexing.index import Index, Keeping
from hudi_spark.indexing.partition_statistics import PartitionStatistics
from hudi_spark.indexing.record_index import RecordIndex
from hudi_spark.indexing.secondary_index import SecondaryIndex

KINDS: Final[Sequence[Index]] = (
    FileLists(),
    ColumnStatistics(),
    BloomFilters(),
    PartitionStatistics(),
    # Secondary indexes lead to record keys, and the record index on from there.
    RecordIndex(),
    SecondaryIndex(),
    ExpressionIndex(),
)


def kind_of(partition: str) -> Index | None:
    """The kind of a partition of the metadata table; None for one that this engine does not keep."""
    return next((kind for kind in KINDS if kind.holds(partition)), None)


def wanted_indexes(keeping: Keeping) -> tuple[str, ...]:
    """The indexes that a write's options ask for, in the order in which they begin.

    Clauses: MT-009, MT-022.
    """
    return tuple(partition for kind in KINDS for partition in kind.wanted(keeping))
