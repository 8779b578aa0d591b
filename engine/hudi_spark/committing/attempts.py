"""Attempts at a plan: one that died is taken back, the plan stays; one that somebody else took over does not complete.

Who carries a plan out may be slow rather than dead. Each attempt writes files of its own names, so that under the lock
the files that are there tell whose attempt still stands.

Clauses: RB-008, OW-008.
"""

from collections.abc import Iterable

from hudi_adapter.reasons import Reason
from hudi_format.names import TimelineFileName
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.committing.reconciling import remove_announced
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError
from hudi_spark.indexing.updating import take_back
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.timeline import Instant, load_timeline


def back_to_requested(work: TableWork, configuration: TableConfiguration, requested: str) -> None:
    """What an attempt at a plan left behind goes, and the plan waits again; nothing where it is not inflight.

    Takes the lock.

    Clauses: RB-008, MK-003.
    """
    with work.lock(requested):
        instant = _pending(work, configuration, requested)
        if instant is not None and instant.state == "INFLIGHT":
            _take_attempt_back(work, configuration, instant)


def give_up(work: TableWork, configuration: TableConfiguration, requested: str) -> None:
    """A plan that can no longer be carried out leaves the timeline, and its attempt with it; nothing where it is done.

    Takes the lock.

    Clauses: CL-005, MK-003.
    """
    with work.lock(requested):
        give_up_locked(work, configuration, requested)


def give_up_locked(work: TableWork, configuration: TableConfiguration, requested: str) -> None:
    """The same for who holds the lock."""
    instant = _pending(work, configuration, requested)
    if instant is None:
        return
    if instant.state == "INFLIGHT":
        _take_attempt_back(work, configuration, instant)
    work.effects.delete_instant(configuration, TimelineFileName(requested, instant.action, "REQUESTED"))


def _pending(work: TableWork, configuration: TableConfiguration, requested: str) -> Instant | None:
    timeline = load_timeline(work.storage, configuration)
    own = (one for one in timeline.instants if one.requested == requested and not one.is_savepoint)
    return next((one for one in own if not one.is_completed), None)


def _take_attempt_back(work: TableWork, configuration: TableConfiguration, instant: Instant) -> None:
    take_back(work.effects, instant.requested, work.clock)
    remove_announced(work.effects, instant.requested)
    work.effects.delete_markers(instant.requested)
    work.effects.delete_instant(configuration, TimelineFileName(instant.requested, instant.action, "INFLIGHT"))


def refuse_taken_over(storage: Storage, requested: str, written: Iterable[WriteStat]) -> None:
    """Nothing while all that an attempt wrote is there. Asked under the lock.

    Raises:
        HudiError: WRITE_CONFLICT where somebody took the attempt for dead and removed its files.

    Clauses: OW-008.

    """
    for stat in written:
        if stat.path is not None and not storage.exists(stat.path):
            message = f"somebody else took {requested} over: a file of this attempt is gone"
            raise HudiError(Reason.WRITE_CONFLICT, "OW-008", message, stat.path, hint="look at the timeline")


def remove_written(effects: Effects, requested: str, written: Iterable[WriteStat]) -> None:
    """The files of an attempt that does not complete go; those of others stay.

    Clauses: OW-009.
    """
    for stat in written:
        if stat.path is not None and effects.storage.exists(stat.path):
            partition, _, name = stat.path.rpartition("/")
            effects.delete_data_file(requested, partition, name)
