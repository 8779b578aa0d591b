"""Rollback: writes that nobody finishes, and attempts at services that died, are taken back.

The lock is held all the way: a rollback is short, and two that carry out one plan would tell the metadata table of
different files.

Clauses: MK-004, RB-010.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

import pyarrow as pa
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.log.content import rollback_block
from hudi_format.names import LogFileName, TimelineFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.table.markers import HEARTBEATS_FOLDER, MARKERS_FOLDER, heartbeat_instant
from hudi_format.timeline.commit_metadata import WriteStat
from hudi_format.timeline.plans import (
    InstantInfo,
    RollbackMetadata,
    RollbackPartition,
    RollbackPlan,
    RollbackRequest,
    serialise_rollback_metadata,
    serialise_rollback_plan,
)

from hudi_spark.concurrency import DOWNWARDS, Effects, Holding, afterwards, delete_entries, heartbeats, joined
from hudi_spark.errors import HudiError, Reason
from hudi_spark.files import WrittenFile
from hudi_spark.metadata import FinishedWrite
from hudi_spark.options import Options
from hudi_spark.read import TaskIdentity
from hudi_spark.services.rollback_planning import (
    ROLLBACK,
    PendingRollback,
    Search,
    absolute,
    is_service_plan,
    pending_rollbacks,
    plan_rollback,
    unneeded_rollbacks,
)
from hudi_spark.table_state import DATA_ACTIONS, WRITE_ACTIONS, Instant, Snapshot, Timeline, load_timeline
from hudi_spark.write import Completion, Outcome, TableWork, complete_locked, nothing_to_check


def is_alive(work: TableWork, requested: str) -> bool:
    """Whether a heartbeat is live under an instant, in this process or elsewhere.

    Clauses: RB-002, MK-005.
    """
    return heartbeats.is_alive(work.storage, work.options, requested)


def end_heartbeat(work: TableWork, requested: str) -> None:
    """What a failed writer left of its heartbeat goes.

    Clauses: RB-010.
    """
    if work.storage.exists(joined(HEARTBEATS_FOLDER, requested)):
        work.effects.remove_heartbeat(requested)


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
    pending = {one.requested for one in timeline.one_of_each_time if not one.is_completed}
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


PARALLELISM: Final = "hoodie.rollback.parallelism"
_COMMANDS: Final = pa.schema([("partition", pa.string()), ("name", pa.string()), ("size", pa.int64())])
_Found = list[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Removal:
    """Removes what an action left, on behalf of the action `instant`; can be pickled.

    Clauses: RB-004, RB-007.
    """

    effects: Effects
    instant: str
    undone: str

    def run(self, requests: Sequence[RollbackRequest], identity: TaskIdentity) -> pa.Table:
        """The logs that hold a command now: what a task returns."""
        found: _Found = []
        for one in requests:
            for path in one.files_to_be_deleted:
                self._delete(one.partition_path, PurePosixPath(path).name)
            found += self._commanded(one, identity)
        columns = zip(*found, strict=True) if found else ((), (), ())
        return pa.table(
            [pa.array(list(column), kind.type) for column, kind in zip(columns, _COMMANDS, strict=True)], _COMMANDS
        )

    def _delete(self, partition: str, name: str) -> None:
        if self.effects.storage.exists(joined(partition, name)):
            self.effects.delete_data_file(self.instant, partition, name)

    def _commanded(self, request: RollbackRequest, identity: TaskIdentity) -> _Found:
        """The logs of a slice with a command to the undone blocks; one is added where there is none.

        Clauses: RB-004, RB-007, LF-009, LF-015.
        """
        wanted = [parse_data_file_name(PurePosixPath(path).name) for path in request.log_blocks_to_be_deleted or {}]
        named = [one for one in wanted if isinstance(one, LogFileName)]
        for one in named:
            if one.instant == self.undone:
                self._delete(request.partition_path, str(one))
        older = [one for one in named if one.instant != self.undone]
        if not older:
            return []
        first = min(older, key=lambda one: one.version)
        return self._commands_in(request.partition_path, first, identity)

    def _commands_in(self, partition: str, first: LogFileName, identity: TaskIdentity) -> _Found:
        storage = self.effects.storage
        stored = {one.path.rpartition("/")[2]: one.size for one in storage.list_files(partition, recursive=False)}
        slice_ = (first.file_id, first.instant)
        parsed = (parse_data_file_name(name) for name in stored)
        logs = [one for one in parsed if isinstance(one, LogFileName) and (one.file_id, one.instant) == slice_]
        done = [one for one in logs if one.version >= first.version and self._is_commanded(partition, one)]
        if done:
            return [(partition, str(one), stored[str(one)]) for one in done]
        version = max(one.version for one in (first, *logs)) + 1
        name = LogFileName(first.file_id, first.instant, version, identity.write_token)
        data = rollback_block(self.instant, self.undone)
        self.effects.put_log_file(self.instant, partition, str(name), data)
        return [(partition, str(name), len(data))]

    def _is_commanded(self, partition: str, log: LogFileName) -> bool:
        path = joined(partition, str(log))
        blocks = (one for one in read_blocks(self.effects.storage.read(path), path) if isinstance(one, RawBlock))
        commands = (one for one in blocks if one.type is BlockType.COMMAND)
        return any(one.header.get(HeaderKey.TARGET_INSTANT_TIME) == self.undone for one in commands)


def remove(
    work: TableWork, requests: Sequence[RollbackRequest], instant: str, undone: str
) -> tuple[RollbackPartition, ...]:
    """Carry out the requests of a plan; what was done, by partition.

    Clauses: RB-003, RB-004, RB-007.
    """
    if not requests:
        return ()
    parts = max(1, min(len(requests), work.options.number(PARALLELISM)))
    tasks = [tuple(requests[at::parts]) for at in range(parts)]
    removal = Removal(work.effects, instant, undone)
    commands = work.executor.tasks(tasks, removal.run, _COMMANDS).gathered()
    added: dict[str, dict[str, int]] = {}
    for row in commands.to_pylist():
        path = absolute(work.storage, row["partition"], row["name"])
        added.setdefault(row["partition"], {})[path] = row["size"]
    partitions = dict.fromkeys(one.partition_path for one in requests)
    return tuple(_rollback_partition(one, requests, added.get(one, {})) for one in partitions)


def _rollback_partition(
    partition: str, requests: Sequence[RollbackRequest], added: dict[str, int]
) -> RollbackPartition:
    own = [one for one in requests if one.partition_path == partition]
    failed = {path: size for one in own for path, size in (one.log_blocks_to_be_deleted or {}).items()}
    return RollbackPartition(
        partition, tuple(path for one in own for path in one.files_to_be_deleted), (), added, failed
    )


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
        timeline = self.without_unneeded()
        pending = next(
            (one for one in pending_rollbacks(self._storage, timeline) if one.undone == target.requested), None
        )
        return self.finish(pending or self._requested(timeline, target))

    def without_unneeded(self) -> Timeline:
        """The timeline, from which rollbacks have gone that nobody is to carry out.

        Clauses: RB-004.
        """
        for one in unneeded_rollbacks(self._storage, self._timeline()):
            delete_entries(self.work.effects, self.snapshot.configuration, one)
        return self._timeline()

    def finish(self, pending: PendingRollback) -> Outcome:
        """Carry out a rollback by its plan, also where what it undoes has left the timeline.

        Clauses: RB-004, RB-009, RB-010, RB-011.
        """
        started = time.monotonic()
        rollback, undone = pending.instant.requested, pending.undone
        if pending.instant.state == "REQUESTED":
            name = TimelineFileName(rollback, ROLLBACK, "INFLIGHT")
            self.work.effects.create_instant(self.snapshot.configuration, name)
        done = remove(self.work, pending.plan.rollback_requests, rollback, undone)
        taken = int((time.monotonic() - started) * 1000)
        content = serialise_rollback_metadata(rollback_metadata(pending.plan, rollback, taken, done))
        gone = _deleted(done)
        finished = FinishedWrite(rollback, ROLLBACK, OPERATION, self._logs(done), deleted=gone, rolled_back=undone)
        completion = Completion(finished, content, retire=lambda: self._retire(undone))
        completed = complete_locked(self.work, self.holding, self.snapshot, completion, nothing_to_check)
        # Side effects of the write, and of attempts to undo it, go last.
        with afterwards("delete_markers"):
            clear(self.work, undone)
            clear(self.work, rollback)
        return Outcome(rollback, completed, ROLLBACK, OPERATION, deleted=gone)

    def _requested(self, timeline: Timeline, target: Instant) -> PendingRollback:
        configuration = self.snapshot.configuration
        plan = plan_rollback(Search(self._storage, configuration, target), self.work.options)
        requested = self.work.request(configuration, timeline, ROLLBACK, serialise_rollback_plan(plan))
        return PendingRollback(Instant(requested, ROLLBACK, "REQUESTED", None, {}), plan)

    def _retire(self, undone: str) -> None:
        """The entries of what was undone go; of a service's attempt those above its plan.

        Clauses: RB-008, RB-009.
        """
        for one in self._timeline().one_of_each_time:
            if one.requested == undone and not one.is_completed:
                states = DOWNWARDS[:-1] if is_service_plan(self._storage, one) else DOWNWARDS
                delete_entries(self.work.effects, self.snapshot.configuration, one, states)

    def _logs(self, done: tuple[RollbackPartition, ...]) -> tuple[WrittenFile, ...]:
        """The logs that stay in storage, as the metadata table is informed of files: commands, and what they undo.

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


Policy = Literal["EAGER", "LAZY", "NEVER"]

POLICY: Final = "hoodie.clean.failed.writes.policy"
_CONCURRENCY: Final = "hoodie.write.concurrency.mode"
_ALONE: Final = "SINGLE_WRITER"


def policy_of(options: Options) -> Policy:
    """Who rolls failed writes back: as the options say; else the next write of who writes alone, else the clean.

    Clauses: RB-001.
    """
    if not options.given(POLICY) and options.text(_CONCURRENCY).upper() != _ALONE:
        return "LAZY"
    policy = options.text(POLICY).upper()
    return "LAZY" if policy == "LAZY" else "NEVER" if policy == "NEVER" else "EAGER"


def failed_writes(work: TableWork, timeline: Timeline) -> tuple[Instant, ...]:
    """The pending writes that nobody is at any more, the youngest first.

    Clauses: RB-001, RB-002.
    """
    pending = (one for one in timeline.instants if one.action in DATA_ACTIONS and not one.is_completed)
    writes = (one for one in pending if not is_service_plan(work.storage, one))
    failed = (one for one in writes if not is_alive(work, one.requested))
    return tuple(sorted(failed, key=lambda one: one.requested, reverse=True))


@dataclass(frozen=True, slots=True)
class Look:
    """A table looked at without its lock: the instants that have markers or a heartbeat, and after them the timeline.

    Clauses: MK-001, MK-005.
    """

    strays: frozenset[str]
    timeline: Timeline


def look(work: TableWork, policy: Policy) -> Look:
    """What there is to see; strays only where the caller is responsible for them.

    Clauses: RB-001.
    """
    strays = stray_instants(work.storage) if policy_of(work.options) == policy else frozenset()
    return Look(strays, work.timeline())


def roll_back_failed_writes(work: TableWork, policy: Policy, seen: Look | None = None) -> tuple[Outcome, ...]:
    """Roll back what failed writers left, where the caller is responsible: EAGER before a write, LAZY in a clean.

    No caller is responsible where the policy is NEVER, for every caller.
    Rollbacks that somebody left are finished, too, and side effects of actions that are over go. `seen`: a look that
    was taken just now; without the lock it states only whether there is anything to do.

    Raises:
        HudiError: LOCK_UNAVAILABLE, LOCK_LOST; TIMELINE_FILE_CORRUPT where a completed file was lost.

    Clauses: RB-001, RB-002, RB-004, RB-010, CN-016.

    """
    if policy == "NEVER" or policy_of(work.options) != policy or not _is_any(work, seen or look(work, policy)):
        return ()
    with work.lock(ROLLBACK) as holding:
        rolling = RollingBack(work, holding, work.snapshot())
        _refuse_built_upon(work, rolling)
        outcomes = tuple(_rolled_back(work, rolling))
        strays = stray_instants(work.storage)
        sweep(work, over(work, strays, load_timeline(work.storage, rolling.snapshot.configuration)))
        return outcomes


def _refuse_built_upon(work: TableWork, rolling: RollingBack) -> None:
    """Nothing, unless what has completed builds on a write that has not: the completed file of that one was lost.

    Raises:
        HudiError: TIMELINE_FILE_CORRUPT.

    Clauses: OW-002, RB-001.

    """
    failed = {one.requested: one for one in failed_writes(work, rolling.snapshot.timeline)}
    for commit in rolling.snapshot.commits if failed else ():
        for requested in sorted(commit.built_on() & failed.keys()):
            message = f"the write {commit.instant.requested} builds on this one, whose completed file is not there"
            hint = "put it back from a copy; or roll the write back by its time, which removes rows that were committed"
            raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "OW-002", message, failed[requested].file, hint=hint)


def _rolled_back(work: TableWork, rolling: RollingBack) -> Iterator[Outcome]:
    timeline = rolling.without_unneeded()
    failed = {one.requested: one for one in failed_writes(work, timeline)}
    # Who carries a plan out again does not mind that an earlier attempt at it was being taken back.
    pending = {one.undone: one for one in pending_rollbacks(work.storage, timeline) if not is_alive(work, one.undone)}
    for requested in sorted({*failed, *pending}, reverse=True):
        yield rolling.finish(pending[requested]) if requested in pending else rolling.undo(failed[requested])


def _is_any(work: TableWork, seen: Look) -> bool:
    """Whether there is anything to do."""
    timeline = seen.timeline
    return bool(failed_writes(work, timeline) or timeline.pending(ROLLBACK) or over(work, seen.strays, timeline))


_CLAUSE: Final = "RB-005"


def roll_back(work: TableWork, instant: str, *, unschedule: bool = False) -> Outcome:
    """Take back an action that has not completed.

    Of a table service the attempt is taken back, and its plan stays; with `unschedule` the plan goes, too.

    Raises:
        HudiError: INSTANT_NOT_FOUND; CONFIG_INVALID for what has completed, for a plan that nobody has begun, for a
            write that is under way.

    Clauses: RB-003, RB-005, RB-008.

    """
    with work.lock(ROLLBACK) as holding:
        rolling = RollingBack(work, holding, work.snapshot())
        found = _found(work, rolling, instant)
        if isinstance(found, PendingRollback):
            return rolling.finish(found)
        _refuse(work, found, unschedule=unschedule)
        if found.state == "REQUESTED" and unschedule:
            return _unscheduled(work, rolling, found)
        outcome = rolling.undo(found)
        if unschedule:
            _unscheduled(work, rolling, found)
        return outcome


def _found(work: TableWork, rolling: RollingBack, instant: str) -> Instant | PendingRollback:
    """The action to roll back, or the rollback of it that somebody left when the action was off the timeline."""
    timeline = load_timeline(work.storage, rolling.snapshot.configuration)
    known = [one for one in timeline.one_of_each_time if one.requested == instant]
    if known:
        return known[0]
    for one in pending_rollbacks(work.storage, timeline):
        if one.undone == instant:
            return one
    message = f"the timeline has no action {instant}"
    raise HudiError(Reason.INSTANT_NOT_FOUND, _CLAUSE, message, hint="look at the timeline for what is pending")


def _refuse(work: TableWork, found: Instant, *, unschedule: bool) -> None:
    """Nothing when the action can be rolled back.

    Clauses: RB-002, RB-005, RB-008.
    """
    named = f"the {found.action} {found.requested}"
    if found.is_completed:
        raise _invalid(f"{named} has completed", "a restore to an earlier write undoes it and all that came after it")
    if found.action not in WRITE_ACTIONS:
        raise _invalid(f"{named} is no write", "it is carried out again by the next worker")
    is_plan = is_service_plan(work.storage, found)
    if found.state == "REQUESTED" and is_plan and not unschedule:
        raise _invalid(
            f"{named} is a plan that nobody has begun", "execute it, or take it off the timeline: unschedule"
        )
    if not is_plan and is_alive(work, found.requested):
        raise _invalid(f"{named} is under way", "its writer aborts it; once that has failed its heartbeat ends")


def _unscheduled(work: TableWork, rolling: RollingBack, found: Instant) -> Outcome:
    """A plan leaves the timeline.

    Clauses: RB-008.
    """
    _refuse_logged(work, found)
    delete_entries(work.effects, rolling.snapshot.configuration, found, ("REQUESTED",))
    return Outcome(found.requested, None, found.action, "UNSCHEDULE")


def _refuse_logged(work: TableWork, found: Instant) -> None:
    """Before version 8 later writes log to the slices that a compaction opens, on the word of its plan.

    Clauses: RB-008, CP-003.
    """
    if not found.was_compaction:
        return
    names = (parse_data_file_name(one.path.rpartition("/")[2]) for one in work.storage.list_files(skip=(".hoodie",)))
    if any(isinstance(one, LogFileName) and one.instant == found.requested for one in names):
        message = f"later writes have logged to the slices that the compaction {found.requested} opens"
        raise _invalid(message, "execute the compaction")


def _invalid(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, _CLAUSE, message, hint=hint)
