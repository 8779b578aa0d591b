"""The plan of a rollback: what an action put into storage, and what is done to each file group.

Base files and logs that bear the action's instant are its own and go whole. Before table version 8 a log bears the
instant of its slice: where the action only added blocks to a slice, a command takes these back.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from hudi_format.errors import FormatError
from hudi_format.log.blocks import HeaderKey, RawBlock, read_blocks
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import FileStatus, Storage
from hudi_format.timeline.commit_metadata import parse_commit_metadata
from hudi_format.timeline.plans import InstantInfo, RollbackPlan, RollbackRequest

from hudi_spark.concurrency import joined
from hudi_spark.options import Options
from hudi_spark.table_state import Instant, PlanGoneError, TableConfiguration, Timeline, clustering_plan, rollback_plan
from hudi_spark.write import announced

ROLLBACK: Final = "rollback"
RESTORE: Final = "restore"
_SERVICES: Final = ("compaction", "logcompaction", "clustering")


@dataclass(frozen=True, slots=True)
class PendingRollback:
    """A rollback that somebody requested and did not finish.

    Clauses: RB-004.
    """

    instant: Instant
    plan: RollbackPlan

    @property
    def undone(self) -> str:
        """The instant that it undoes."""
        return "" if self.plan.instant_to_rollback is None else self.plan.instant_to_rollback.commit_time


def pending_rollbacks(storage: Storage, timeline: Timeline) -> tuple[PendingRollback, ...]:
    """The pending rollbacks whose plan can be read; those of the youngest instants first.

    Clauses: RB-001, RB-004.
    """
    pending = (
        PendingRollback(one, plan) for one in timeline.pending(ROLLBACK) if (plan := _plan(storage, one)) is not None
    )
    return tuple(sorted(pending, key=lambda one: one.undone, reverse=True))


def unneeded_rollbacks(storage: Storage, timeline: Timeline) -> tuple[Instant, ...]:
    """Pending rollbacks that nobody is to carry out.

    Those whose plan cannot be read: what they have removed a new plan passes over. And those of an action that was
    tried again, and has completed: its files count.

    Clauses: RB-004, TL-017.
    """
    completed = {one.requested for one in timeline.one_of_each_time if one.is_completed}
    plans = {one.instant.requested: one.undone for one in pending_rollbacks(storage, timeline)}
    pending = timeline.pending(ROLLBACK)
    return tuple(one for one in pending if plans.get(one.requested) is None or plans[one.requested] in completed)


def _plan(storage: Storage, rollback: Instant) -> RollbackPlan | None:
    if "REQUESTED" not in rollback.files:
        return None
    try:
        return rollback_plan(storage, rollback)
    except (FormatError, PlanGoneError):
        return None


def is_service_plan(storage: Storage, instant: Instant) -> bool:
    """Whether a pending action is a plan that a table service made: its attempts are undone, the plan stays.

    Clauses: RB-001, RB-008.
    """
    if instant.action in _SERVICES:
        return True
    with suppress(PlanGoneError):
        return clustering_plan(storage, instant) is not None
    return False


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that an action is to blame for; `goes`: all of it is the action's, else a command takes its part back.

    Clauses: RB-006, RB-007.
    """

    partition: str
    name: BaseFileName | LogFileName
    size: int
    goes: bool


@dataclass(frozen=True, slots=True)
class Search:
    """Looks for the files of one action.

    `restoring`: a compaction is undone with every log that bears its instant, else these belong to later writes.

    Clauses: RB-006, RB-008, SR-007.
    """

    storage: Storage
    configuration: TableConfiguration
    target: Instant
    restoring: bool = False

    def announced(self) -> tuple[OwnFile, ...] | None:
        """What the action's markers announce and storage holds; None where there is none, or one cannot be used.

        A listing finds the same files, so that a marker which does not parse, or names a file that is not the table's
        own, keeps nobody from taking the write back.

        Clauses: MK-001, MK-003, RB-006.
        """
        try:
            markers = announced(self.storage, self.target.requested)
        except FormatError:
            return None
        if not markers:
            return None
        wanted = {(one.partition, one.name.data_file) for one in markers}
        found: list[OwnFile] = []
        for partition in sorted({within for within, _ in wanted}):
            stored = self.storage.list_files(partition, recursive=False)
            names = {name for within, name in wanted if within == partition}
            found += self._of_markers(names, _data_files(stored))
        return tuple(found)

    def listed(self, stored: Iterable[FileStatus] | None = None) -> tuple[OwnFile, ...]:
        """What bears the action's instant among all files of the table.

        Clauses: RB-006, RB-007, SR-007.
        """
        statuses = self.storage.list_files(skip=(".hoodie",)) if stored is None else stored
        files = tuple(_data_files(statuses))
        own = [replace(one, goes=True) for one in files if self._is_whole(one.name)]
        if self._appends:
            partitions = self._partitions()
            logs = (one for one in files if self._is_older_log(one.name))
            within = (one for one in logs if partitions is None or one.partition in partitions)
            own += [one for one in within if self._has_blocks(one)]
        return tuple(own)

    def _of_markers(self, names: set[str], stored: Iterable[OwnFile]) -> Iterator[OwnFile]:
        # Releases before 0.14 name the base file, not the log, in the marker of an append.
        parsed = (parse_data_file_name(name) for name in names)
        bases = {(one.file_id, one.instant) for one in parsed if isinstance(one, BaseFileName)}
        for one in stored:
            named = str(one.name) in names
            if (named and self._is_whole(one.name)) or self._is_change_log(one.name):
                yield replace(one, goes=True)
            elif named and self._is_older_log(one.name):
                yield one
            elif (one.name.file_id, one.name.instant) in bases and self._is_older_log(one.name):
                yield from [one] if self._has_blocks(one) else []

    def _is_whole(self, name: BaseFileName | LogFileName) -> bool:
        """Whether all of a file is the action's."""
        if name.instant != self.target.requested:
            return False
        later_writes = self.target.was_compaction and not self.target.is_completed and not self.restoring
        return not (isinstance(name, LogFileName) and later_writes)

    def _is_change_log(self, name: BaseFileName | LogFileName) -> bool:
        """Whether a file is a change log of the action; not every release announces these."""
        return isinstance(name, LogFileName) and name.cdc and name.instant == self.target.requested

    def _is_older_log(self, name: BaseFileName | LogFileName) -> bool:
        return isinstance(name, LogFileName) and not name.cdc and name.instant != self.target.requested

    @property
    def _appends(self) -> bool:
        """Whether the action can have added blocks to slices of others."""
        configuration = self.configuration
        older = not configuration.has_completion_times and configuration.table_type == "MERGE_ON_READ"
        return older and not self.target.was_compaction

    def _partitions(self) -> frozenset[str] | None:
        """The partitions that the action said it would change; None where it says nothing.

        Clauses: TL-033.
        """
        file = self.target.files.get("COMPLETED") or self.target.files.get("INFLIGHT")
        data = b"" if file is None else self.storage.read(file)
        if not data or file is None:
            return None
        try:
            stats = parse_commit_metadata(data, file).write_stats
        except FormatError:
            return None
        return frozenset(one.partition_path or "" for one in stats) or None

    def _has_blocks(self, log: OwnFile) -> bool:
        """Whether blocks of a log are the action's."""
        path = joined(log.partition, str(log.name))
        blocks = (one for one in read_blocks(self.storage.read(path), path) if isinstance(one, RawBlock))
        return any(one.header.get(HeaderKey.INSTANT_TIME) == self.target.requested for one in blocks)


def _data_files(stored: Iterable[FileStatus]) -> Iterator[OwnFile]:
    """The base and log files among stored ones."""
    for status in stored:
        partition, _, file = status.path.rpartition("/")
        name = parse_data_file_name(file)
        if name is not None:
            yield OwnFile(partition, name, status.size, goes=False)


BY_MARKERS: Final = "hoodie.rollback.using.markers"


def plan_rollback(search: Search, options: Options) -> RollbackPlan:
    """What is to be removed of an action that has not completed: nothing of one that did not go inflight.

    Clauses: RB-003, RB-006, RB-007.
    """
    if search.target.state == "REQUESTED":
        return plan_of(search, ())
    by_markers = search.announced() if options.flag(BY_MARKERS) else None
    return plan_of(search, search.listed() if by_markers is None else by_markers)


def listing_plan(search: Search, stored: Iterable[FileStatus]) -> RollbackPlan:
    """What is to be removed of an action, of completed ones too, by a listing of the whole table.

    Clauses: SR-006, RB-006.
    """
    return plan_of(search, search.listed(stored))


def plan_of(search: Search, files: Iterable[OwnFile]) -> RollbackPlan:
    """The plan that removes some files of an action.

    Clauses: RB-003.
    """
    own = sorted(files, key=lambda one: (one.partition, str(one.name)))
    requests = [_deletion(search.storage, one) for one in own if one.goes]
    slices: dict[tuple[str, str, str], dict[str, int]] = {}
    for one in own:
        if not one.goes and isinstance(one.name, LogFileName):
            logs = slices.setdefault((one.partition, one.name.file_id, one.name.instant), {})
            logs[str(one.name)] = one.size
    requests += [RollbackRequest(*where, (), logs) for where, logs in slices.items()]
    undone = InstantInfo(search.target.requested, search.target.action)
    return RollbackPlan(undone, tuple(requests))


def _deletion(storage: Storage, file: OwnFile) -> RollbackRequest:
    """Releases take the whole path, without a scheme for local files."""
    path = absolute(storage, file.partition, str(file.name))
    return RollbackRequest(file.partition, file.name.file_id, file.name.instant, (path,), {})


def absolute(storage: Storage, partition: str, name: str) -> str:
    """A file's path as plans name it."""
    return f"{storage.base.rstrip('/')}/{joined(partition, name)}"
