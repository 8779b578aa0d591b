"""What a write finishes before it begins: a restore that stopped, and rollbacks of what dead writers left."""

from hudi_spark.committing.work import TableWork
from hudi_spark.services.restoring.restoring import finish_restores
from hudi_spark.services.rollback.failed_writes import roll_back_failed_writes
from hudi_spark.services.rollback.timeline_entries import RESTORE
from hudi_spark.state.configuration import load_configuration
from hudi_spark.state.timeline import load_timeline


def take_back_leftovers(work: TableWork) -> None:
    """Finish what somebody began to undo; roll dead writes back where the policy is eager.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST.

    Clauses: RB-001, RB-004, SR-006.

    """
    if load_timeline(work.storage, load_configuration(work.storage)).pending(RESTORE):
        finish_restores(work)
    roll_back_failed_writes(work, "EAGER")
