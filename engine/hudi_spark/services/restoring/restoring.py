"""A restore, under the table's lock: planned, or taken up where somebody left it, and finished.

requested   the plan: what is undone, in order
inflight    the metadata table goes; of each undone action the completed entry, its files, its other entries
completed   rollbacks that came after the target have left the timeline
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.errors import FormatError
from hudi_format.names import TimelineFileName, TimelineState
from hudi_format.storage import FileStatus, Storage
from hudi_format.timeline.plans import (
    RestoreMetadata,
    RestorePlan,
    RollbackMetadata,
    parse_restore_plan,
    serialise_restore_metadata,
    serialise_restore_plan,
)

from hudi_spark.committing.completing import Completion, complete_locked, nothing_to_check
from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.entries import DOWNWARDS, delete_entries
from hudi_spark.effects.helper import joined
from hudi_spark.errors import HudiError
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.indexing.updating import update_metadata_table
from hudi_spark.locks.holding import Holding
from hudi_spark.services.restoring.planning import restore_plan
from hudi_spark.services.rollback.own_files import Search
from hudi_spark.services.rollback.planning import listing_plan
from hudi_spark.services.rollback.removing import remove
from hudi_spark.services.rollback.rolling_back import rollback_metadata
from hudi_spark.services.rollback.strays import clear
from hudi_spark.services.rollback.timeline_entries import RESTORE, ROLLBACK
from hudi_spark.services.savepoints.saving import SAVEPOINT
from hudi_spark.state.named_files import refuse_no_instant
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline, load_timeline

OPERATION: Final = "RESTORE"
_Done = Mapping[str, tuple[RollbackMetadata, ...]]


def restore(work: TableWork, to: str, *, saved: bool = False) -> Outcome:
    """Bring a table back to what it was when a write had completed; a restore that somebody left is finished first.

    `saved`: the write must have a savepoint.

    Raises:
        HudiError: INSTANT_NOT_FOUND, CONFIG_INVALID, RANGE_NOT_RETAINED where there is no way back, before any damage.

    Clauses: SR-004, SR-005, SR-006, SR-009, SR-012.

    """
    with work.lock(RESTORE) as holding:
        finished = _finished(work, holding)
        snapshot = work.snapshot()
        if saved and not any(one.requested == to for one in snapshot.timeline.completed(SAVEPOINT)):
            message, hint = f"there is no savepoint {to}", "look at the timeline for savepoints"
            raise HudiError(Reason.INSTANT_NOT_FOUND, "SR-004", message, hint=hint)
        plan = restore_plan(work, snapshot, to)
        if to in finished and not plan.instants_to_rollback:
            return finished[to]
        content = serialise_restore_plan(plan)
        requested = work.request(snapshot.configuration, snapshot.timeline, RESTORE, content)
        return Restoring(work, holding, snapshot, requested, plan).finish()


def finish_restores(work: TableWork) -> None:
    """Finish the restores that somebody left.

    Clauses: SR-006.
    """
    with work.lock(RESTORE) as holding:
        _finished(work, holding)


def _finished(work: TableWork, holding: Holding) -> dict[str, Outcome]:
    """Restores that somebody left, finished; what came of them, by the writes that they go back to."""
    snapshot = work.snapshot()
    found: dict[str, Outcome] = {}
    for one in snapshot.timeline.pending(RESTORE):
        plan = _plan(work.storage, one)
        if plan is None:
            delete_entries(work.effects, snapshot.configuration, one)
        else:
            outcome = Restoring(work, holding, snapshot, one.requested, plan).finish()
            found[plan.savepoint_to_restore_timestamp or ""] = outcome
    return found


def _plan(storage: Storage, pending: Instant) -> RestorePlan | None:
    """What a pending restore is to undo; None where that cannot be read: the table is as after some write, then.

    Clauses: SR-006.
    """
    file = pending.files.get("REQUESTED")
    if file is None:
        return None
    try:
        plan = parse_restore_plan(storage.read(file), file)
        for one in plan.instants_to_rollback:
            refuse_no_instant(one.commit_time, file)
    except FormatError:
        return None
    return plan


@dataclass(frozen=True, slots=True)
class Restoring:
    """Carries out the plan of a restore; `holding`: the table's lock.

    Clauses: SR-006, LK-004.
    """

    work: TableWork
    holding: Holding
    snapshot: Snapshot
    requested: str
    plan: RestorePlan

    def finish(self) -> Outcome:
        """Undo what is left of the plan, and complete.

        Clauses: SR-006, SR-009, SR-012.
        """
        started = time.monotonic()
        self._go_inflight()
        self._drop_metadata_table()
        done = self._undone()
        taken = int((time.monotonic() - started) * 1000)
        content = serialise_restore_metadata(self._metadata(taken, done))
        finished = FinishedWrite(self.requested, RESTORE, OPERATION)
        completion = Completion(finished, content, retire=self._retire_rollbacks)
        completed = complete_locked(self.work, self.holding, self.snapshot, completion, nothing_to_check)
        return Outcome(self.requested, completed, RESTORE, OPERATION, deleted=_deleted(done))

    def _metadata(self, taken: int, done: _Done) -> RestoreMetadata:
        """What the plan names is undone, whoever did it."""
        return RestoreMetadata(
            start_restore_time=self.requested,
            time_taken_in_millis=taken,
            instants_to_rollback=tuple(one.commit_time for one in self.plan.instants_to_rollback),
            hoodie_restore_metadata=done,
            restore_instant_info=self.plan.instants_to_rollback,
        )

    def _go_inflight(self) -> None:
        found = [one for one in self._timeline().instants if one.requested == self.requested]
        if found and found[0].state == "REQUESTED":
            name = TimelineFileName(self.requested, RESTORE, "INFLIGHT")
            self.work.effects.create_instant(self.snapshot.configuration, name)

    def _drop_metadata_table(self) -> None:
        """Before anything is undone: it knows the files that are about to go. The next write makes it anew.

        Clauses: SR-012, MT-022.
        """
        work = self.work
        state = state_of_table(work.storage, self.snapshot, work.options)
        write = FinishedWrite(self.requested, RESTORE, OPERATION)
        update_metadata_table(work.effects, state, write, work.executor, work.clock)

    def _undone(self) -> _Done:
        """All of the plan, in its order; the table's files are listed once, and where logs were added."""
        stored = self._stored()
        done: dict[str, tuple[RollbackMetadata, ...]] = {}
        for one in self.plan.instants_to_rollback:
            metadata = self._undo(one.commit_time, stored)
            if metadata is not None:
                done[one.commit_time] = (metadata,)
                gone = {joined(within, name) for within, names in _deleted(done).items() for name in names}
                added = any(each.rollback_log_files for each in metadata.partition_metadata.values())
                stored = self._stored() if added else [status for status in stored if status.path not in gone]
        return done

    def _stored(self) -> list[FileStatus]:
        return self._storage.list_files(skip=(".hoodie",))

    def _undo(self, undone: str, stored: list[FileStatus]) -> RollbackMetadata | None:
        """One action as a whole; None where an earlier attempt has undone it.

        What is to be removed is looked up first: later the completed entry does not tell any more.

        Clauses: SR-006, SR-007, RB-006, RB-007.
        """
        own = [one for one in self._timeline().instants if one.requested == undone and not one.is_savepoint]
        if not own:
            clear(self.work, undone)
            return None
        target, started = own[0], time.monotonic()
        search = Search(self._storage, self.snapshot.configuration, target, restoring=True)
        plan = listing_plan(search, stored)
        self._delete(target, DOWNWARDS[:1])
        done = remove(self.work, plan.rollback_requests, self.requested, undone)
        self._delete(target, DOWNWARDS[1:])
        # Side effects go last, above also those that an earlier attempt did not come to.
        clear(self.work, undone)
        taken = int((time.monotonic() - started) * 1000)
        return rollback_metadata(plan, self.requested, taken, done)

    def _retire_rollbacks(self) -> None:
        """Rollbacks that came after the target tell of nothing any more.

        Clauses: SR-009.
        """
        target = self.plan.savepoint_to_restore_timestamp or ""
        for one in self._timeline().instants:
            if one.action == ROLLBACK and one.requested > target:
                self._delete(one, DOWNWARDS)

    def _delete(self, instant: Instant, states: tuple[TimelineState, ...]) -> None:
        delete_entries(self.work.effects, self.snapshot.configuration, instant, states)

    def _timeline(self) -> Timeline:
        return load_timeline(self._storage, self.snapshot.configuration)

    @property
    def _storage(self) -> Storage:
        return self.work.storage


def _deleted(done: _Done) -> dict[str, tuple[str, ...]]:
    """Names of files by partition."""
    found: dict[str, list[str]] = {}
    for each in done.values():
        for one in each:
            for partition, removed in one.partition_metadata.items():
                names = (path.rpartition("/")[2] for path in removed.success_delete_files)
                found.setdefault(partition, []).extend(names)
    return {partition: tuple(names) for partition, names in found.items() if names}
