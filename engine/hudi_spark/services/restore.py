"""Savepoints keep what a table was at a write; a restore takes it back there, the youngest write undone first.

inflight    empty
completed   by partition the names of the files that a snapshot as of the saved write reads

requested   the plan: what is undone, in order
inflight    the metadata table goes; of each undone action the completed entry, its files, its other entries
completed   rollbacks that came after the target have left the timeline
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hudi_format.errors import FormatError
from hudi_format.names import TimelineFileName, TimelineState
from hudi_format.storage import FileStatus, Storage
from hudi_format.timeline.plans import (
    InstantInfo,
    RestoreMetadata,
    RestorePlan,
    RollbackMetadata,
    SavepointMetadata,
    SavepointPartition,
    parse_clean_metadata,
    parse_cleaner_plan,
    parse_restore_plan,
    parse_savepoint_metadata,
    serialise_restore_metadata,
    serialise_restore_plan,
    serialise_savepoint_metadata,
)

from hudi_spark.concurrency import DOWNWARDS, Holding, delete_entries, joined, note
from hudi_spark.errors import HudiError, Reason
from hudi_spark.metadata import FinishedWrite, milliseconds_of, update_metadata_table
from hudi_spark.options import refuse_no_text
from hudi_spark.services.rollback import clear, remove, rollback_metadata
from hudi_spark.services.rollback_planning import RESTORE, ROLLBACK, Search, listing_plan
from hudi_spark.table_state import (
    WRITE_ACTIONS,
    Axis,
    FileSlice,
    Instant,
    Snapshot,
    TableConfiguration,
    Timeline,
    archived_instants,
    beside,
    load_timeline,
    refuse_no_instant,
    snapshot_at,
    stored_files,
)
from hudi_spark.write import (
    Completion,
    Outcome,
    TableWork,
    announced,
    complete_locked,
    nothing_to_check,
    state_of_table,
)


def refuse_cleaned_since(storage: Storage, timeline: Timeline, instant: str) -> None:
    """Nothing when no clean, done or pending, has been at files that a snapshot as of an instant needs.

    Raises:
        HudiError: RANGE_NOT_RETAINED.
        FormatError: TIMELINE_FILE_CORRUPT for a clean that does not parse.

    Clauses: SR-001.

    """
    for clean in timeline.instants:
        if clean.action == "clean":
            for earliest in _retained(storage, timeline, clean):
                if instant < earliest:
                    message = f"savepoint of a cleaned instant: the clean {clean.requested} keeps what {earliest} needs"
                    hint = f"take {earliest} or a later write"
                    raise HudiError(
                        Reason.RANGE_NOT_RETAINED, "SR-001", f"{message}, not {instant}", clean.file, hint=hint
                    )


def _retained(storage: Storage, timeline: Timeline, clean: Instant) -> Iterator[str]:
    """The earliest write that a clean keeps whole; one that counts versions keeps the last write before it."""
    earliest = _stated(storage, clean)
    if earliest is None:
        return
    if earliest:
        yield earliest
        return
    before = (one.requested for one in timeline.completed_data() if one.requested <= clean.requested)
    yield max(before, default=clean.requested)


def _stated(storage: Storage, clean: Instant) -> str | None:
    """What a clean says itself; empty where it counts versions, None where it says nothing."""
    if clean.is_completed:
        data = storage.read(clean.file)
        return parse_clean_metadata(data, clean.file).earliest_commit_to_retain or "" if data else None
    file = clean.files.get("REQUESTED")
    data = b"" if file is None else storage.read(file)
    if not data or file is None:
        return None
    earliest = parse_cleaner_plan(data, file).earliest_instant_to_retain
    return "" if earliest is None else earliest.timestamp


SAVEPOINT: Final = "savepoint"
_OPERATION: Final = "SAVEPOINT"


def savepoint(work: TableWork, instant: str | None = None, comment: str = "", by: str = "") -> Outcome:
    """Keep what a snapshot as of a completed write reads, of the newest one where none is named.

    A restore that somebody left is finished first: what it is still to undo cannot be kept.

    Raises:
        HudiError: INSTANT_NOT_FOUND for a write that is not on the timeline or has not completed; RANGE_NOT_RETAINED
            for one whose files a clean may have removed; CONFIG_INVALID for one that is saved already, and for a
            comment that no file can hold.

    Clauses: SR-001, SR-002, SR-006, TL-010.

    """
    refuse_no_text(comment, "the comment of a savepoint", "SR-001")
    with work.lock(SAVEPOINT) as holding:
        after_restores(work)
        configuration, timeline = (snapshot := work.snapshot()).configuration, snapshot.timeline
        saved = completed_write(timeline, instant)
        if any(one.requested == saved.requested for one in timeline.completed(SAVEPOINT)):
            raise _refused(f"the {saved.action} {saved.requested} is saved already")
        refuse_cleaned_since(work.storage, timeline, saved.requested)
        remove_half_made(work, configuration, timeline, saved.requested)
        files = files_as_of(work, snapshot, saved)
        return _saved(work, holding, configuration, saved.requested, _content(work, configuration, files, comment, by))


def delete_savepoint(work: TableWork, instant: str) -> Outcome:
    """End a savepoint: what it kept is cleaned like other files. One that was never whole goes as well.

    Raises:
        HudiError: INSTANT_NOT_FOUND.

    Clauses: SR-003.

    """
    with work.lock(SAVEPOINT):
        configuration = work.snapshot().configuration
        timeline = load_timeline(work.storage, configuration)
        found = [one for one in timeline.instants if one.is_savepoint and one.requested == instant]
        if not found:
            message, hint = f"there is no savepoint {instant}", "look at the timeline for savepoints"
            raise HudiError(Reason.INSTANT_NOT_FOUND, "SR-003", message, hint=hint)
        delete_entries(work.effects, configuration, found[0])
        return Outcome(instant, None, SAVEPOINT, "DELETE_SAVEPOINT")


def remove_half_made(work: TableWork, configuration: TableConfiguration, timeline: Timeline, but: str = "") -> None:
    """Savepoints go whose maker, or whose deleter, died over them; under the lock nobody is at one.

    Clauses: SR-003.
    """
    for one in timeline.pending(SAVEPOINT):
        if one.requested != but:
            delete_entries(work.effects, configuration, one)


def completed_write(timeline: Timeline, instant: str | None) -> Instant:
    """The completed write of a time, or the newest one.

    Raises:
        HudiError: INSTANT_NOT_FOUND.

    Clauses: SR-001, SR-004.

    """
    done = timeline.completed_data()
    found = [one for one in done if instant in (None, one.requested)]
    if not found:
        message = "nothing has completed" if instant is None else f"no write {instant} has completed on the timeline"
        hint = "name a commit, deltacommit or replacecommit that the active timeline has as completed"
        raise HudiError(Reason.INSTANT_NOT_FOUND, "SR-001", message, hint=hint)
    return found[-1]


def files_as_of(work: TableWork, snapshot: Snapshot, saved: Instant) -> dict[str, tuple[str, ...]]:
    """By partition the names of the files that the table needs to be what it was at a write.

    Time travel goes by the requested time, a restore by the completion; where writes overlap both are kept. Before
    version 8 a log's name does not say whose it is: those of a write that has not completed may go again.

    Clauses: SR-002, SR-005, RD-006.
    """
    unsettled = set() if snapshot.configuration.has_completion_times else _unsettled_logs(work.storage, snapshot)
    slices = _slices(work.storage, work, snapshot, saved.requested, "requested")
    if saved.completed is not None and _overlap(snapshot.timeline, saved):
        slices += _slices(work.storage, work, snapshot, saved.completed, "completed")
    found: dict[str, dict[str, None]] = {}
    for one in slices:
        paths = (*([one.base_file] if one.base_file else []), *(log for log in one.log_files if log not in unsettled))
        found.setdefault(one.partition, {}).update(dict.fromkeys(path.rpartition("/")[2] for path in paths))
    return {partition: tuple(names) for partition, names in found.items()}


_DELTACOMMIT: Final = "deltacommit"


def _unsettled_logs(storage: Storage, snapshot: Snapshot) -> set[str]:
    """Logs that writes have announced which have not completed, and that no completed one has written to."""
    pending = (one.requested for one in snapshot.timeline.pending(_DELTACOMMIT))
    named = {joined(one.partition, one.name.data_file) for each in pending for one in announced(storage, each)}
    return named - {path for commit in snapshot.commits for _, path, _ in commit.log_files()}


def _overlap(timeline: Timeline, saved: Instant) -> bool:
    """Whether a write was requested after the saved one and completed before it."""
    return any(
        one.requested > saved.requested and one.at("completed") <= saved.at("completed")
        for one in timeline.completed_data()
    )


def _slices(storage: Storage, work: TableWork, snapshot: Snapshot, time: str, axis: Axis) -> tuple[FileSlice, ...]:
    table = (snapshot.configuration, snapshot.timeline)
    return snapshot_at(storage, table, work.readings, time, axis, listing=stored_files(storage)).slices


def _content(
    work: TableWork, configuration: TableConfiguration, files: dict[str, tuple[str, ...]], comment: str, by: str
) -> SavepointMetadata:
    partitions = {partition: SavepointPartition(partition, names) for partition, names in sorted(files.items())}
    return SavepointMetadata(by, milliseconds_of(work.clock.instant(), configuration), comment, partitions)


def _saved(
    work: TableWork, holding: Holding, configuration: TableConfiguration, requested: str, content: SavepointMetadata
) -> Outcome:
    """Clauses: TL-010, LK-004."""
    timeline = load_timeline(work.storage, configuration)
    has_savepoint = any(one.requested == requested and one.is_savepoint for one in timeline.instants)
    if not has_savepoint:
        work.effects.create_instant(configuration, TimelineFileName(requested, SAVEPOINT, "INFLIGHT"))
    completed = work.time(timeline) if configuration.has_completion_times else None
    name = TimelineFileName(requested, SAVEPOINT, "COMPLETED", completed)
    holding.complete(configuration, name, serialise_savepoint_metadata(content))
    return Outcome(requested, completed, SAVEPOINT, _OPERATION)


def _refused(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "SR-001", message, hint="delete the savepoint first to make it anew")


def restore_plan(work: TableWork, snapshot: Snapshot, to: str) -> RestorePlan:
    """Everything to undo so that a table is what it was at a completed write.

    Raises:
        HudiError: INSTANT_NOT_FOUND for a write that is not on the timeline; CONFIG_INVALID for a savepoint that would
            lose its write; RANGE_NOT_RETAINED where files that are needed are gone, or later writes were archived.

    Clauses: SR-004, SR-005, SR-006.

    """
    configuration, timeline = snapshot.configuration, snapshot.timeline
    target = completed_write(timeline, to)
    undone = later(configuration, timeline.instants, target)
    _refuse_saved(timeline, undone)
    archived = archived_instants(work.storage, configuration)
    _refuse_archived(later(configuration, archived, target), timeline)
    _refuse_gone(work, snapshot, target)
    order = sorted(undone, key=_age, reverse=True)
    return RestorePlan(tuple(InstantInfo(one.requested, one.action) for one in order), 2, target.requested)


def later(configuration: TableConfiguration, instants: Iterable[Instant], target: Instant) -> tuple[Instant, ...]:
    """The writes and services that a restore to a write undoes.

    Clauses: SR-005.
    """
    writes = (one for one in instants if one.action in WRITE_ACTIONS and one.requested != target.requested)
    return tuple(one for one in writes if _is_later(configuration, one, target))


def _is_later(configuration: TableConfiguration, one: Instant, target: Instant) -> bool:
    compacts = one.was_compaction or (one.action == "commit" and configuration.table_type == "MERGE_ON_READ")
    if not configuration.has_completion_times or compacts:
        return one.requested > target.requested
    return not one.is_completed or one.at("completed") > target.at("completed")


def _age(one: Instant) -> tuple[bool, str]:
    """Pending actions are the youngest, then goes what completed last.

    Clauses: SR-006.
    """
    return not one.is_completed, one.at("completed")


def _refuse_saved(timeline: Timeline, undone: Iterable[Instant]) -> None:
    """Clauses: SR-004."""
    going = {one.requested for one in undone}
    for one in timeline.instants:
        if one.is_savepoint and one.requested in going:
            message = f"the write {one.requested} that would be undone is saved"
            raise HudiError(Reason.CONFIG_INVALID, "SR-004", message, one.file, hint="delete its savepoint first")


def _refuse_archived(archived: Iterable[Instant], timeline: Timeline) -> None:
    """Clauses: SR-004."""
    active = {one.requested for one in timeline.instants if not one.is_savepoint}
    for one in archived:
        if one.requested not in active:
            message = f"the {one.action} {one.requested}, which came after, has been archived"
            hint = "restore to a later write"
            raise HudiError(Reason.RANGE_NOT_RETAINED, "SR-004", message, one.file, hint=hint)


def _refuse_gone(work: TableWork, snapshot: Snapshot, target: Instant) -> None:
    """Nothing while all is there that the restored table will read.

    A savepoint that was made after a clean does not name what that took: so commits are asked as well.

    Clauses: SR-001, SR-004.
    """
    saved = _saved_files(work.storage, snapshot.timeline, target)
    if saved is None:
        refuse_cleaned_since(work.storage, snapshot.timeline, target.requested)
    for path in saved or ():
        if not work.storage.exists(path):
            message = f"a file that the savepoint {target.requested} keeps is gone"
            raise HudiError(Reason.RANGE_NOT_RETAINED, "SR-004", message, path, hint="restore to a later write")
    files_as_of(work, snapshot, target)


def _saved_files(storage: Storage, timeline: Timeline, target: Instant) -> tuple[str, ...] | None:
    """Paths of the files that the savepoint of a write names; None where there is no savepoint."""
    for one in timeline.completed(SAVEPOINT):
        if one.requested == target.requested:
            partitions = parse_savepoint_metadata(storage.read(one.file), one.file).partition_metadata
            return tuple(
                joined(within, name) for within, kept in partitions.items() for name in kept.savepoint_data_file
            )
    return None


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


def after_restores(work: TableWork) -> Timeline:
    """The timeline, once restores that somebody left are finished.

    Clauses: SR-006.
    """
    timeline = work.timeline()
    if not timeline.pending(RESTORE):
        return timeline
    finish_restores(work)
    return work.timeline()


def _finished(work: TableWork, holding: Holding) -> dict[str, Outcome]:
    """Restores that somebody left, finished; what came of them, by the writes that they go back to."""
    snapshot = work.snapshot()
    found: dict[str, Outcome] = {}
    for one in snapshot.timeline.pending(RESTORE):
        plan = _plan(work.storage, one)
        if plan is None:
            delete_entries(work.effects, snapshot.configuration, one)
            message = "the plan of the restore cannot be read: it left the timeline, and may be half done"
            place, hint = f"{work.storage.base}/{one.file}", "look which writes are left, and restore again"
            note(RESTORE, HudiError(Reason.TIMELINE_FILE_CORRUPT, "SR-006", message, place, hint=hint))
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
        """What the plan names is undone, no matter who did it."""
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
        own = [one for one in self._timeline().instants if one.requested == undone and not beside(one.action)]
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
