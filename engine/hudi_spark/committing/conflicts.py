"""Whether what completed since a write began leaves it standing.

Clauses: OW-004, OW-005, TL-023.
"""

from collections.abc import Iterable

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.state.commits import GroupId, commit_of
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline


def refuse_conflicts(storage: Storage, began_with: Snapshot, timeline: Timeline, groups: frozenset[GroupId]) -> None:
    """Nothing when no action that completed since a write began touched its file groups.

    Raises:
        HudiError: WRITE_CONFLICT naming the other action and the groups.

    Clauses: OW-004, OW-005, TL-023.

    """
    seen = {one.requested for one in began_with.timeline.completed_data()}
    for instant in timeline.completed_data():
        if instant.requested not in seen:
            _refuse_overlap(storage, instant, groups)


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
