"""Partitions that are too old deleted, as one action on the timeline.

Clauses: OW-018.
"""

from typing import Final

from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.services.time_to_live.expired import expired_partitions
from hudi_spark.writing.operations import OPERATIONS
from hudi_spark.writing.running import Write

_INLINE: Final = "hoodie.partition.ttl.inline"


def drop_old_partitions(work: TableWork) -> Outcome | None:
    """Delete the partitions that are older than the options let them become; None where there are none.

    Raises:
        HudiError: WRITE_CONFLICT where somebody wrote to one of them meanwhile.
        UnsupportedFeature: a strategy of one's own.

    Clauses: OW-018.

    """
    snapshot = work.snapshot()
    partitions = expired_partitions(work.storage, snapshot, work.options, work.clock.instant())
    if not partitions:
        return None
    write = Write(work, snapshot, OPERATIONS["delete_partition"])
    write.prepare(None)
    write.begin()
    write.stage(None, partitions)
    return write.commit()


def drop_old_partitions_inline(work: TableWork) -> None:
    """The same after a commit, where the options ask for it."""
    if work.options.flag(_INLINE):
        drop_old_partitions(work)
