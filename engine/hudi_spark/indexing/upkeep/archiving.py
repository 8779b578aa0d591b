"""Archival of the metadata table's timeline; it keeps one action more than the data table, and what that one has."""

from typing import Final

from hudi_spark.history.archiving import HistorySizes, archive_actions, finish_interrupted
from hudi_spark.indexing.upkeep.own_table import OwnTable
from hudi_spark.state.timeline import DATA_ACTIONS, WRITE_ACTIONS, Instant

_MOST: Final = "hoodie.keep.max.commits"
_LEAST: Final = "hoodie.keep.min.commits"
_BATCH: Final = "hoodie.timeline.compaction.batch.size"
_RECORDS: Final = "hoodie.commits.archival.batch"
_BEYOND: Final = "hoodie.archive.beyond.savepoint"
_DELTACOMMITS: Final = "hoodie.metadata.compact.max.delta.commits"
_BESIDE: Final = ("clean", "rollback")


def archive_when_due(own: OwnTable) -> bool:
    """Archive where the timeline has grown long; whether it did.

    Clauses: AR-003, AR-004, AR-008, MT-016.
    """
    if len(own.timeline.completed_data()) <= own.options.number(_MOST) + 1:
        return False
    left = finish_interrupted(own.inside, own.configuration, own.timeline)
    own = own.again() if left else own
    gone = _leaving(own)
    if gone:
        sizes = HistorySizes(own.options.number(_BATCH), own.options.number(_RECORDS))
        archive_actions(own.inside, own.configuration, gone, sizes)
    return bool(left or gone)


def _leaving(own: OwnTable) -> tuple[Instant, ...]:
    """The oldest commits, and the cleans and rollbacks requested before the last of them.

    Clauses: AR-003, AR-004, AR-008, AR-012.
    """
    commits = sorted(own.timeline.completed_data(), key=lambda one: one.requested)
    bound = min((*_of_data(own), *_of_compaction(own)), default="9")
    old = [one for one in commits if one.requested < bound]
    gone = old[: max(len(commits) - own.options.number(_LEAST) - 1, 0)]
    if not gone:
        return ()
    last = gone[-1].requested
    beside = [
        one for one in own.timeline.instants if one.action in _BESIDE and one.is_completed and one.requested < last
    ]
    return tuple(sorted((*gone, *beside), key=lambda one: one.requested))


def _of_data(own: OwnTable) -> tuple[str, ...]:
    """From where on the data table's timeline needs the metadata table's: its first write, its first pending action.

    Clauses: AR-008, MT-016.
    """
    timeline = own.data.timeline
    saved = {one.requested for one in timeline.instants if one.is_savepoint} if own.options.flag(_BEYOND) else set()
    writes = [one.requested for one in timeline.instants if one.action in (*DATA_ACTIONS, *WRITE_ACTIONS)]
    pending = [one.requested for one in own.data.pending()]
    return tuple(min(each) for each in ([one for one in writes if one not in saved], pending) if each)


def _of_compaction(own: OwnTable) -> tuple[str, ...]:
    """From where on deltacommits stay, so that a compaction is still due: the last so many, or the last compaction.

    Clauses: AR-012.
    """
    last = own.last("compaction")
    number = own.options.number(_DELTACOMMITS)
    after = sorted(one.requested for one in own.timeline.completed("deltacommit") if one.requested > last)
    if len(after) >= number > 0:
        return (after[-number],)
    return (last,) if last else tuple(after[:1])
