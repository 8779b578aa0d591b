"""One action rolled back, under the table's lock: planned, or taken up where somebody left it, and finished.

The lock is held all the way: a rollback is short, and two that carry out one plan would tell the metadata table of
different files.
"""

import time
from dataclasses import dataclass
from typing import Final

from hudi_format.names import TimelineFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_format.timeline.plans import (
    InstantInfo,
    RollbackMetadata,
    RollbackPartition,
    RollbackPlan,
    serialise_rollback_metadata,
    serialise_rollback_plan,
)

from hudi_spark.committing.completing import Completion, complete_locked, nothing_to_check
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.afterwards import afterwards
from hudi_spark.effects.entries import DOWNWARDS, delete_entries
from hudi_spark.effects.helper import joined
from hudi_spark.files.written import WrittenFile
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.locks.holding import Holding
from hudi_spark.services.rollback.own_files import Search
from hudi_spark.services.rollback.planning import rollback_plan
from hudi_spark.services.rollback.removing import remove
from hudi_spark.services.rollback.strays import clear
from hudi_spark.services.rollback.timeline_entries import (
    ROLLBACK,
    BegunRollback,
    begun_rollbacks,
    idle_rollbacks,
    is_service_plan,
)
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline, load_timeline

OPERATION: Final = "ROLLBACK"


@dataclass(frozen=True, slots=True)
class RollingBack:
    """Rolls actions of one table back; `holding`: the table's lock.

    `snapshot`: the table as it was when the lock was taken.

    Clauses: RB-003, RB-004, RB-009, LK-004.
    """

    work: TableWork
    holding: Holding
    snapshot: Snapshot

    def undo(self, target: Instant) -> Outcome:
        """Roll back a pending action: by the rollback that somebody began, else by a new one.

        Raises:
            HudiError: LOCK_LOST.

        Clauses: RB-003, RB-004.

        """
        timeline = self.without_idle()
        begun = next((one for one in begun_rollbacks(self._storage, timeline) if one.undone == target.requested), None)
        return self.finish(begun or self._requested(timeline, target))

    def without_idle(self) -> Timeline:
        """The timeline, from which rollbacks have gone that nobody is to carry out.

        Clauses: RB-004.
        """
        for one in idle_rollbacks(self._storage, self._timeline()):
            delete_entries(self.work.effects, self.snapshot.configuration, one)
        return self._timeline()

    def finish(self, begun: BegunRollback) -> Outcome:
        """Carry out a rollback by its plan, also where what it undoes has left the timeline.

        Clauses: RB-004, RB-009, RB-010, RB-011.
        """
        started = time.monotonic()
        rollback, undone = begun.instant.requested, begun.undone
        if begun.instant.state == "REQUESTED":
            name = TimelineFileName(rollback, ROLLBACK, "INFLIGHT")
            self.work.effects.create_instant(self.snapshot.configuration, name)
        done = remove(self.work, begun.plan.rollback_requests, rollback, undone)
        taken = int((time.monotonic() - started) * 1000)
        content = serialise_rollback_metadata(rollback_metadata(begun.plan, rollback, taken, done))
        gone = _deleted(done)
        finished = FinishedWrite(rollback, ROLLBACK, OPERATION, self._logs(done), deleted=gone, rolled_back=undone)
        completion = Completion(finished, content, retire=lambda: self._retire(undone))
        completed = complete_locked(self.work, self.holding, self.snapshot, completion, nothing_to_check)
        # Side effects of the write, and of attempts to undo it, go last.
        with afterwards("delete_markers"):
            clear(self.work, undone)
            clear(self.work, rollback)
        return Outcome(rollback, completed, ROLLBACK, OPERATION, deleted=gone)

    def _requested(self, timeline: Timeline, target: Instant) -> BegunRollback:
        configuration = self.snapshot.configuration
        plan = rollback_plan(Search(self._storage, configuration, target), self.work.options)
        requested = self.work.request(configuration, timeline, ROLLBACK, serialise_rollback_plan(plan))
        return BegunRollback(Instant(requested, ROLLBACK, "REQUESTED", None, {}), plan)

    def _retire(self, undone: str) -> None:
        """The entries of what was undone go; of a service's attempt those above its plan.

        Clauses: RB-008, RB-009.
        """
        for one in self._timeline().instants:
            if one.requested == undone and not one.is_savepoint and not one.is_completed:
                states = DOWNWARDS[:-1] if is_service_plan(self._storage, one) else DOWNWARDS
                delete_entries(self.work.effects, self.snapshot.configuration, one, states)

    def _logs(self, done: tuple[RollbackPartition, ...]) -> tuple[WrittenFile, ...]:
        """The logs that stay in storage, as the metadata table is told of files: commands, and what they undo.

        Clauses: RB-007, MT-010.
        """
        found: list[WrittenFile] = []
        for one in done:
            paths = (*(one.rollback_log_files or {}), *(one.log_files_from_failed_commit or {}))
            for name in dict.fromkeys(path.rpartition("/")[2] for path in paths):
                found += self._written(one.partition_path, name)
        return tuple(found)

    def _written(self, partition: str, name: str) -> list[WrittenFile]:
        parsed, path = parse_data_file_name(name), joined(partition, name)
        if parsed is None or not self._storage.exists(path):
            return []
        size = self._storage.size(path)
        return [WrittenFile(WriteStat(parsed.file_id, path, partition_path=partition, file_size_in_bytes=size))]

    def _timeline(self) -> Timeline:
        return load_timeline(self._storage, self.snapshot.configuration)

    @property
    def _storage(self) -> Storage:
        return self.work.storage


def rollback_metadata(
    plan: RollbackPlan, rollback: str, taken: int, done: tuple[RollbackPartition, ...]
) -> RollbackMetadata:
    """What a rollback did, in `taken` milliseconds.

    Clauses: RB-003, TL-017.
    """
    undone = plan.instant_to_rollback or InstantInfo("", "")
    return RollbackMetadata(
        start_rollback_time=rollback,
        time_taken_in_millis=taken,
        total_files_deleted=sum(len(one.success_delete_files) for one in done),
        commits_rollback=(undone.commit_time,),
        partition_metadata={one.partition_path: one for one in done},
        instants_rollback=(undone,),
    )


def _deleted(done: tuple[RollbackPartition, ...]) -> dict[str, tuple[str, ...]]:
    """Names of files by partition."""
    names = {one.partition_path: tuple(path.rpartition("/")[2] for path in one.success_delete_files) for one in done}
    return {partition: each for partition, each in names.items() if each}
