"""The indexes that indexing actions are going to build, or are building.

Clauses: IG-001, IG-003.
"""

from collections.abc import Mapping
from typing import Final

from hudi_format.storage import Storage
from hudi_format.timeline.plans import IndexPlan, parse_index_plan

from hudi_spark.state.timeline import Instant, Timeline

INDEXING: Final = "indexing"


def index_plan(storage: Storage, indexing: Instant) -> IndexPlan:
    """The plan of an indexing action.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.

    Clauses: IG-001, TL-033.

    """
    file = indexing.files.get("REQUESTED", indexing.file)
    return parse_index_plan(storage.read(file), file)


def planned_indexes(storage: Storage, timeline: Timeline) -> Mapping[str, Instant]:
    """The actions that have not completed, by the partitions of the metadata table that they build.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.

    Clauses: IG-001, IG-003.

    """
    found: dict[str, Instant] = {}
    for one in timeline.pending(INDEXING):
        for info in index_plan(storage, one).index_partition_infos:
            found.setdefault(info.metadata_partition_path or "", one)
    return found
