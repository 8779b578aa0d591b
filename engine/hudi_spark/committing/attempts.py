"""Attempts at a plan: one that died is taken back and the plan stays, or the plan leaves the timeline, too.

Clauses: RB-008, CL-005.
"""

from hudi_spark.committing.reconciling import remove_announced
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.entries import delete_entries
from hudi_spark.indexing.recovering import take_back
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Instant, load_timeline


def back_to_requested(work: TableWork, configuration: TableConfiguration, inflight: Instant) -> None:
    """What an attempt at a plan left behind goes, and the plan waits again. Called under the table's lock.

    Clauses: RB-008, MK-003, MT-006.
    """
    take_back(work.effects, inflight.requested, work.clock)
    remove_announced(work.effects, inflight.requested)
    work.effects.delete_markers(inflight.requested)
    delete_entries(work.effects, configuration, inflight, ("INFLIGHT",))


def give_up(work: TableWork, configuration: TableConfiguration, requested: str) -> None:
    """A plan that nobody can carry out any more leaves the timeline, and every attempt with it; takes the lock.

    Nothing where it has completed, or is gone.

    Clauses: CL-005, MK-003.
    """
    with work.lock(requested):
        timeline = load_timeline(work.storage, configuration)
        for one in timeline.instants:
            if one.requested == requested and not one.is_completed and not one.is_savepoint:
                if one.state == "INFLIGHT":
                    back_to_requested(work, configuration, one)
                delete_entries(work.effects, configuration, one, ("REQUESTED",))
