"""Before version 8 a log's name does not say whose it is, so a listing has those of writers that are still at work.

One that gives up takes its logs along; a write that began before goes on without them.
"""

from dataclasses import replace
from typing import Final

from hudi_format.storage import Storage

from hudi_spark.state.snapshots import Snapshot

_DELTACOMMIT: Final = "deltacommit"


def without_vanished_logs(storage: Storage, snapshot: Snapshot) -> Snapshot:
    """The snapshot without logs that are gone and that no completed write names.

    Clauses: RD-018, SL-002.
    """
    configuration, timeline = snapshot.configuration, snapshot.timeline
    if configuration.has_completion_times or not timeline.pending(_DELTACOMMIT):
        return snapshot
    named = {path for commit in snapshot.commits for _, path, _ in commit.log_files()}
    listed = {path for one in snapshot.slices for path in one.log_files} - named
    gone = {path for path in listed if not storage.exists(path)}
    if not gone:
        return snapshot
    slices = (
        replace(one, log_files=tuple(path for path in one.log_files if path not in gone)) for one in snapshot.slices
    )
    return replace(snapshot, slices=tuple(slices))
