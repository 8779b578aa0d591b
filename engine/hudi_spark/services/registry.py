"""The services that are planned first and carried out after, by the names that the adapter protocol has for them."""

from collections.abc import Mapping
from typing import Final

from hudi_spark.services.compaction.service import Compaction
from hudi_spark.services.service import Service

SERVICES: Final[Mapping[str, Service]] = {
    "compaction": Compaction(),
}
"""compaction, logcompaction, clustering, clean, indexing."""
