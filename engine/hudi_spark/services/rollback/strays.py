"""Markers and heartbeats of actions that are over: whoever should have removed them died first.

Clauses: MK-004, RB-010.
"""

from collections.abc import Iterator

from hudi_format.storage import Storage
from hudi_format.table.markers import HEARTBEATS_FOLDER, MARKERS_FOLDER, heartbeat_instant

from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import joined
from hudi_spark.services.rollback.liveness import end_heartbeat, is_alive
from hudi_spark.state.timeline import Timeline


def stray_instants(storage: Storage) -> frozenset[str]:
    """Instants that have markers or a heartbeat; asked before the timeline, on which their actions stand first.

    Clauses: MK-001, MK-005.
    """
    beats = (one.path.rpartition("/")[2] for one in storage.list_files(HEARTBEATS_FOLDER, recursive=False))
    return frozenset({*_marked(storage), *(name for name in beats if heartbeat_instant(name))})


def over(work: TableWork, instants: frozenset[str], timeline: Timeline) -> tuple[str, ...]:
    """Those of whose actions nothing more comes: nobody is at them, and they are not pending.

    Clauses: MK-004.
    """
    pending = {one.requested for one in timeline.instants if not one.is_completed and not one.is_savepoint}
    return tuple(sorted(one for one in instants - pending if not is_alive(work, one)))


def sweep(work: TableWork, instants: tuple[str, ...]) -> None:
    """Their markers and heartbeats go.

    Clauses: MK-004, RB-010.
    """
    for one in instants:
        clear(work, one)


def clear(work: TableWork, requested: str) -> None:
    """The markers and the heartbeat of one action that is over go.

    Clauses: MK-004, RB-010.
    """
    if work.storage.exists(joined(MARKERS_FOLDER, requested)):
        work.effects.delete_markers(requested)
    end_heartbeat(work, requested)


def _marked(storage: Storage) -> Iterator[str]:
    """Folders of other names are not a write's."""
    names = (one.rpartition("/")[2] for one in storage.list_folders(MARKERS_FOLDER))
    return (name for name in names if heartbeat_instant(name))
