"""The services that are planned first and carried out after, by the names that the adapter protocol has for them."""

from collections.abc import Mapping
from typing import Final

from hudi_spark.services.building_indexes.service import Indexing
from hudi_spark.services.cleaning.service import Cleaning
from hudi_spark.services.clustering.service import Clustering
from hudi_spark.services.compaction.service import Compaction
from hudi_spark.services.log_compaction.service import LogCompaction
from hudi_spark.services.service import Service

SERVICES: Final[Mapping[str, Service]] = {
    "compaction": Compaction(),
    "logcompaction": LogCompaction(),
    "clustering": Clustering(),
    "clean": Cleaning(),
    "indexing": Indexing(),
}
"""compaction, logcompaction, clustering, clean, indexing."""
