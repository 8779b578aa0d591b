"""What a write finishes before it begins: a restore or savepoint that stopped, and rollbacks of what died."""

from hudi_spark.committing.work import TableWork
from hudi_spark.services.restoring.restoring import finish_restores
from hudi_spark.services.rollback.failed_writes import look, roll_back_failed_writes
from hudi_spark.services.rollback.timeline_entries import RESTORE
from hudi_spark.services.savepoints.saving import SAVEPOINT, remove_half_made
from hudi_spark.state.snapshots import load_table


def take_back_leftovers(work: TableWork) -> None:
    """Finish what somebody began to undo; roll dead writes back where the policy is eager.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST.

    Clauses: RB-001, RB-004, SR-003, SR-006.

    """
    seen = look(work, "EAGER")
    if seen.timeline.pending(RESTORE):
        finish_restores(work)
        seen = look(work, "EAGER")
    if seen.timeline.pending(SAVEPOINT):
        with work.lock(SAVEPOINT):
            remove_half_made(work, *load_table(work.storage))
    roll_back_failed_writes(work, "EAGER", seen)
