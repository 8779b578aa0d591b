"""Whether what completed since a write began leaves it standing.

Clauses: OW-004, OW-005, OW-008, TL-023.
"""

from collections.abc import Iterable

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.state.commits import GroupId, commit_of
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline, load_timeline


def refuse_conflicts(storage: Storage, began_with: Snapshot, requested: str, groups: frozenset[GroupId]) -> Timeline:
    """The timeline as it is now, when nothing that completed since the write began touched its file groups.

    Raises:
        HudiError: WRITE_CONFLICT naming the other action and the groups; or that the write was rolled back.

    Clauses: OW-004, OW-005, OW-008, TL-023.

    """
    timeline = load_timeline(storage, began_with.configuration)
    _refuse_rolled_back(timeline, requested)
    seen = {one.requested for one in began_with.timeline.completed_data()}
    for instant in timeline.completed_data():
        if instant.requested not in seen:
            _refuse_overlap(storage, instant, groups)
    return timeline


def _refuse_rolled_back(timeline: Timeline, requested: str) -> None:
    own = [one for one in timeline.instants if one.requested == requested and not one.is_savepoint]
    if not own or own[0].state != "INFLIGHT":
        message = f"the write {requested} is no longer inflight: it was rolled back, or has completed"
        raise HudiError(Reason.WRITE_CONFLICT, "OW-008", message, hint="write again")


def _refuse_overlap(storage: Storage, instant: Instant, groups: frozenset[GroupId]) -> None:
    commit = commit_of(storage, instant)
    shared = sorted((commit.groups() | commit.replaced_groups()) & groups)
    if shared:
        message = f"{instant.action} {instant.requested} changed the same file groups: {_named(shared)}"
        raise HudiError(Reason.WRITE_CONFLICT, "OW-005", message, instant.file, hint="write again")


def _named(groups: Iterable[GroupId]) -> str:
    named = [f"{partition}/{file_id}" if partition else file_id for partition, file_id in groups]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    return ", ".join(named[:3]) + more
