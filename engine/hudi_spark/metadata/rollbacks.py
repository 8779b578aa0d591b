"""What failed writers left in a metadata table is rolled back before a new deltacommit.

version 6       a command block in each slice that has blocks of the instant; its base files are deleted
version 8 on    the instant's files are deleted
then            the instant's timeline files are deleted, and a rollback is completed in their place
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from hudi_format.log.blocks import HeaderKey, RawBlock, read_blocks
from hudi_format.log.content import rollback_block
from hudi_format.names import LogFileName, TimelineFileName
from hudi_format.timeline.plan_values import (
    InstantInfo,
    RollbackMetadata,
    RollbackPartition,
    RollbackPlan,
    RollbackRequest,
)
from hudi_format.timeline.plans import serialise_rollback_metadata, serialise_rollback_plan

from hudi_spark.concurrency import Clock, Effects, delete_entries
from hudi_spark.metadata.file_groups import metadata_groups
from hudi_spark.metadata.layout import INSTANT_DIGITS, MetadataLayout, newest_time
from hudi_spark.table_state import (
    INITIAL_PREFIX,
    METADATA_FOLDER,
    PARTITIONS_KEY,
    PROPERTIES_FILE,
    BaseFile,
    Instant,
    LogFile,
    TableConfiguration,
    Timeline,
    load_configuration,
    load_table,
    rollback_plan,
)

_DELTACOMMIT: Final = "deltacommit"
_ROLLBACK: Final = "rollback"
# Three digits behind an instant of version 6: a rollback.
_SUFFIX: Final = "006"
_COMMAND_TOKEN: Final = "1-0-1"  # noqa: S105 - a write token is no secret


@dataclass(frozen=True, slots=True)
class Recovery:
    """Takes deltacommits of a metadata table back; `effects`, `configuration` and `timeline` are that table's own.

    Clauses: MT-006, RB-001.
    """

    effects: Effects
    configuration: TableConfiguration
    timeline: Timeline
    layout: MetadataLayout

    def failed(self, data: Timeline, archived: Callable[[], Timeline], *repeated: str) -> tuple[Instant, ...]:
        """The deltacommits that nobody finishes, those of actions that are done again or undone, or that are no more.

        A deltacommit is made under the lock of the table, so one that is pending has lost its writer. One whose action
        the data timeline does not have is of a write that was taken back; `archived` answers the whole timeline
        only where there are such.

        Clauses: MT-006.
        """
        ours = [one for one in self.timeline.instants if one.action == _DELTACOMMIT]
        found = [one for one in ours if not one.is_completed or one.requested in repeated]
        known = {one.requested for one in data.instants}
        strange = [one for one in ours if one not in found and one.requested not in known and _is_of_an_action(one)]
        # What a compaction has taken up stays in its base files.
        since = max([data.first_write() or "9", *(one.requested for one in self.timeline.instants if _compacts(one))])
        strange = [one for one in strange if one.requested > since]
        if strange:
            known = {one.requested for one in archived().instants}
        return (*found, *(one for one in strange if one.requested not in known))

    def roll_back(self, failed: Instant, action: str, clock: Clock) -> None:
        """Take one deltacommit back, on behalf of an action.

        Clauses: MT-006, RB-001, LF-009.
        """
        instant = self._started(failed) or self._requested(failed, action, clock)
        done = tuple(self._undone(failed.requested, instant))
        delete_entries(self.effects, self.configuration, failed)
        metadata = RollbackMetadata(
            start_rollback_time=instant,
            total_files_deleted=sum(len(one.success_delete_files) for one in done),
            commits_rollback=(failed.requested,),
            partition_metadata={one.partition_path: one for one in done},
            instants_rollback=(InstantInfo(failed.requested, failed.action),),
        )
        completed = clock.instant(instant[:INSTANT_DIGITS]) if self.layout.has_completion_times else None
        self._put(TimelineFileName(instant, _ROLLBACK, "COMPLETED", completed), serialise_rollback_metadata(metadata))

    def finish(self, pending: Instant, action: str, clock: Clock) -> None:
        """A rollback that somebody began and did not finish is finished, whether what it undoes is still there or not.

        Clauses: MT-006, RB-001.
        """
        target = rollback_plan(self.effects.storage, pending).instant_to_rollback
        failed = InstantInfo("", _DELTACOMMIT) if target is None else target
        found = [one for one in self.timeline.instants if one.requested == failed.commit_time]
        self.roll_back(
            next(iter(found), Instant(failed.commit_time, failed.action, "REQUESTED", None, {})), action, clock
        )

    def _started(self, failed: Instant) -> str | None:
        """The rollback of the same deltacommit that somebody began and did not finish."""
        for one in self.timeline.pending(_ROLLBACK):
            if "REQUESTED" in one.files:
                target = rollback_plan(self.effects.storage, one).instant_to_rollback
                if target is not None and target.commit_time == failed.requested:
                    if one.state == "REQUESTED":
                        self._put(TimelineFileName(one.requested, _ROLLBACK, "INFLIGHT"), b"")
                    return one.requested
        return None

    def _requested(self, failed: Instant, action: str, clock: Clock) -> str:
        newer, newest = self.layout.has_completion_times, newest_time(self.timeline)
        instant = clock.instant(newest) if newer else self._free_instant(failed, action, clock)
        requests = tuple(RollbackRequest(one.partition, one.file_id) for one in _touched(self, failed.requested))
        plan = RollbackPlan(InstantInfo(failed.requested, failed.action), requests)
        self._put(TimelineFileName(instant, _ROLLBACK, "REQUESTED"), serialise_rollback_plan(plan))
        self._put(TimelineFileName(instant, _ROLLBACK, "INFLIGHT"), b"")
        return instant

    def _free_instant(self, failed: Instant, action: str, clock: Clock) -> str:
        """The action's, or that of what is undone; an action that is tried again may have used both."""
        known = {one.requested for one in self.timeline.instants}
        own = (f"{base}{_SUFFIX}" for base in (action, failed.requested))
        return next((one for one in own if one not in known), None) or f"{clock.instant(action)}{_SUFFIX}"

    def _undone(self, failed: str, instant: str) -> Iterator[RollbackPartition]:
        removed: dict[str, list[str]] = {}
        for one in _touched(self, failed):
            for name in one.whole_files:
                self.effects.delete_data_file(failed, one.partition, name)
                removed.setdefault(one.partition, []).append(name)
            if one.next_log is not None:
                data = rollback_block(instant, failed)
                self.effects.put_log_file(instant, one.partition, str(one.next_log), data)
                removed.setdefault(one.partition, [])
        for partition, names in removed.items():
            yield RollbackPartition(partition, tuple(names), rollback_log_files={}, log_files_from_failed_commit={})

    def _put(self, name: TimelineFileName, content: bytes) -> None:
        self.effects.create_instant(self.configuration, name, content)


def take_back(effects: Effects, requested: str, clock: Clock) -> None:
    """Nothing of an action stays in the metadata table: for a write that is aborted, before its own files go.

    Called under the table's lock.

    Clauses: MT-006, OW-009.
    """
    configuration = load_configuration(effects.storage)
    if PARTITIONS_KEY in configuration.properties and effects.storage.exists(f"{METADATA_FOLDER}/{PROPERTIES_FILE}"):
        inside = effects.inside(METADATA_FOLDER)
        recovery = Recovery(inside, *load_table(inside.storage), MetadataLayout(configuration.version))
        for one in recovery.timeline.instants:
            if one.requested == requested:
                recovery.roll_back(one, requested, clock)


@dataclass(frozen=True, slots=True)
class _Touched:
    """What an instant left in one file group: files that are only its own, and the log for a command to the others."""

    partition: str
    file_id: str
    whole_files: tuple[str, ...]
    next_log: LogFileName | None


def _touched(recovery: Recovery, failed: str) -> Iterator[_Touched]:
    storage, newer = recovery.effects.storage, recovery.layout.has_completion_times
    for (partition, file_id), group in metadata_groups(storage).items():
        own: list[BaseFile | LogFile] = [one for one in group.base_files if one.name.instant == failed]
        if newer:
            own += [one for one in group.log_files if one.name.instant == failed]
            written: list[LogFile] = []
        else:
            written = [one for one in group.log_files if failed in _instants(storage.read(one.path), one.path)]
        if own or written:
            yield _Touched(partition, file_id, tuple(str(one.name) for one in own), _next(written, group.log_files))


def _instants(data: bytes, file: str) -> set[str | None]:
    blocks = (one for one in read_blocks(data, file) if isinstance(one, RawBlock))
    return {one.header.get(HeaderKey.INSTANT_TIME) for one in blocks}


def _next(written: list[LogFile], logs: list[LogFile]) -> LogFileName | None:
    if not written:
        return None
    newest = max((one.name for one in written), key=lambda name: (name.instant, name.version))
    version = max(one.name.version for one in logs if one.name.instant == newest.instant) + 1
    return LogFileName(newest.file_id, newest.instant, version, _COMMAND_TOKEN)


def _compacts(instant: Instant) -> bool:
    return instant.action == "compaction" or (instant.action == "commit" and instant.is_completed)


def _is_of_an_action(instant: Instant) -> bool:
    """Whether a deltacommit is that of an action of the data table: no beginning of an index, and no service."""
    service = any(".logcompaction." in path for path in instant.files.values())
    return len(instant.requested) == INSTANT_DIGITS and not (instant.requested.startswith(INITIAL_PREFIX) or service)
