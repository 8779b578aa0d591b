"""Whether somebody is at an action, and the end of its heartbeat."""

from hudi_format.table.markers import HEARTBEATS_FOLDER

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import joined
from hudi_spark.locks import heartbeats


def is_alive(work: TableWork, requested: str) -> bool:
    """Whether a heart beats under an instant, in this process or elsewhere.

    Clauses: RB-002, MK-005.
    """
    return heartbeats.is_alive(work.storage, work.options, requested)


def end_heartbeat(work: TableWork, requested: str) -> None:
    """What a dead writer left of its heartbeat goes.

    Clauses: RB-010.
    """
    if work.storage.exists(joined(HEARTBEATS_FOLDER, requested)):
        work.effects.stop_heart(requested)
