"""A write from its request to its completion.

begin    a requested time and its file                    nothing else is in storage
stage    tagged, routed, inflight; markers and files      nothing of it counts
commit   the lock: checks, metadata table, completed      all of it counts
abort    files that markers announce, markers, instant    as if it had never been
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hudi_format.names import TimelineFileName, TimelineState
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.clock import Clock
from hudi_spark.effects.helper import Effects, timeline_path
from hudi_spark.errors import HudiError
from hudi_spark.evolution.statements import SchemaStatement, put_history
from hudi_spark.files.written import WrittenFile
from hudi_spark.flows.flow import Executor
from hudi_spark.indexing.updating import FinishedWrite, take_back, update_metadata_table
from hudi_spark.state.commits import GroupId
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Timeline
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.conflicts import refuse_conflicts
from hudi_spark.writing.contents import completed_metadata, inflight_content, metadata_content, requested_content
from hudi_spark.writing.locks import table_lock
from hudi_spark.writing.operations import Operation
from hudi_spark.writing.reconciling import remove_announced, remove_unnamed
from hudi_spark.writing.routing import Routes

_BEFORE_COMPLETION: Final[tuple[TimelineState, ...]] = ("INFLIGHT", "REQUESTED")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A completed write: its times (before version 8 there is no completion time), its action, what it wrote."""

    requested: str
    completed: str | None
    action: str
    operation: str
    written: tuple[WriteStat, ...] = field(repr=False, default=())
    replaced: Mapping[str, tuple[str, ...]] = field(repr=False, default_factory=dict)

    def __str__(self) -> str:
        partitions = {one.partition_path for one in self.written} | set(self.replaced)
        rows = {name: _total(self.written, name) for name in ("num_inserts", "num_update_writes", "num_deletes")}
        gone = sum(len(ids) for ids in self.replaced.values())
        parts = [
            f"{self.operation} {self.requested} {self.action}",
            f"{len(self.written)} files in {len(partitions)} partitions",
            f"{rows['num_inserts']} rows new, {rows['num_update_writes']} updated, {rows['num_deletes']} deleted",
            *([f"{gone} file groups replaced"] if gone else []),
            f"{_total(self.written, 'total_write_bytes') / 1_000_000:.1f} MB",
        ]
        return ": ".join((parts[0], ", ".join(parts[1:])))


def _total(written: tuple[WriteStat, ...], name: str) -> int:
    return sum(getattr(one, name) or 0 for one in written)


@dataclass(frozen=True, slots=True)
class Staged:
    """What a write has put into storage and not committed.

    `stated`: what its commit says of the schema. `extra`: further entries of the commit's metadata.
    """

    written: tuple[WrittenFile, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stated: SchemaStatement = field(default_factory=lambda: SchemaStatement({}))
    extra: Mapping[str, str] = field(default_factory=dict)

    def groups(self) -> frozenset[GroupId]:
        """The file groups that it wrote to or replaces."""
        wrote = {(one.stat.partition_path or "", one.stat.file_id or "") for one in self.written}
        gone = {(partition, file_id) for partition, ids in self.replaced.items() for file_id in ids}
        return frozenset(wrote | gone)


class Transaction:
    """One action of a writer on the timeline.

    Clauses: OW-001, OW-010, TL-002, TL-003.
    """

    def __init__(self, effects: Effects, snapshot: Snapshot, operation: Operation, clock: Clock) -> None:
        self.effects = effects
        self.snapshot = snapshot
        self.operation = operation
        self.requested = ""
        self._clock = clock

    @property
    def action(self) -> str:
        """The action on the timeline.

        Clauses: OW-014.
        """
        if self.operation.replaces != "nothing":
            return "replacecommit"
        return "commit" if self._configuration.table_type == "COPY_ON_WRITE" else "deltacommit"

    def begin(self) -> str:
        """A requested time, and its file.

        Clauses: OW-001, TM-003, TM-007.
        """
        times = (time for one in self.snapshot.timeline.instants for time in (one.requested, one.completed or ""))
        time = self._clock.instant(max((one[:17] for one in times), default=""))
        with self.effects.tell("generate_time", time=time):
            pass
        name = self._name("REQUESTED", time)
        self.effects.create_instant(self._configuration, name, requested_content(self.action))
        self.requested = time
        return time

    def go_inflight(self, routes: Routes) -> None:
        """The inflight file: what the write is about to do.

        Clauses: TL-003, TL-033.
        """
        content = inflight_content(self._configuration, self.operation.stored, routes)
        self.effects.create_instant(self._configuration, self._name("INFLIGHT", self.requested), content)

    def commit(self, staged: Staged, state: WriterState, executor: Executor) -> Outcome:
        """The write completes, or is refused and aborted.

        Raises:
            HudiError: WRITE_CONFLICT when what completed meanwhile touched the same file groups.

        Clauses: OW-004, OW-005, OW-010, TL-023, TL-026, LK-003, MK-003, MK-004.

        """
        remove_unnamed(self.effects, self.requested, [one.stat for one in staged.written])
        try:
            with table_lock(self.effects, self.requested):
                completed = self._completed_or_taken_back(staged, state, executor)
        except HudiError:
            self.abort()
            raise
        self.effects.delete_markers(self.requested)
        stats = tuple(one.stat for one in staged.written)
        return Outcome(self.requested, completed, self.action, self.operation.stored, stats, staged.replaced)

    def _completed_or_taken_back(self, staged: Staged, state: WriterState, executor: Executor) -> str | None:
        try:
            return self._complete(staged, state, executor)
        except HudiError:
            take_back(self.effects, self.requested, self._clock)
            raise

    def _complete(self, staged: Staged, state: WriterState, executor: Executor) -> str | None:
        timeline = refuse_conflicts(state.storage, self.snapshot, self.requested, staged.groups())
        told = (self.requested, self.action, self.operation.stored)
        finished = FinishedWrite(*told, staged.written, staged.replaced)
        put_history(self.effects, self._configuration, self.requested, staged.stated, self._clock)
        update_metadata_table(self.effects, state, finished, executor, self._clock)
        completed = self._completion_time(timeline)
        stats = tuple(one.stat for one in staged.written)
        extra = {**staged.extra, **staged.stated.extra}
        metadata = completed_metadata(self.operation.stored, stats, staged.replaced, extra)
        content = metadata_content(self._configuration, self.action, metadata)
        self.effects.create_instant(self._configuration, self._name("COMPLETED", self.requested, completed), content)
        return completed

    def _completion_time(self, timeline: Timeline) -> str | None:
        """Clauses: TL-011, TM-003."""
        if not self._configuration.has_completion_times:
            return None
        latest = max((one.completed or "" for one in timeline.instants), default="")
        time = self._clock.instant(max(self.requested, latest))
        with self.effects.tell("generate_time", time=time):
            return time

    def abort(self) -> None:
        """Take back all that the write put into storage: files, then markers, then its instant.

        Clauses: OW-009, MK-003.
        """
        remove_announced(self.effects, self.requested)
        self.effects.delete_markers(self.requested)
        for state in _BEFORE_COMPLETION:
            name = self._name(state, self.requested)
            if self.effects.storage.exists(timeline_path(self._configuration, name)):
                self.effects.delete_instant(self._configuration, name)

    @property
    def _configuration(self) -> TableConfiguration:
        return self.snapshot.configuration

    def _name(self, state: TimelineState, requested: str, completed: str | None = None) -> TimelineFileName:
        return TimelineFileName(requested, self.action, state, completed)


def replaced_by(operation: Operation, snapshot: Snapshot, partitions: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The file groups that leave the table with an operation, by partition: those of the write's snapshot.

    Clauses: OW-018.
    """
    if operation.replaces == "nothing":
        return {}
    found: dict[str, list[str]] = {}
    asked = frozenset(partitions)
    for one in snapshot.slices:
        if operation.replaces == "table" or one.partition in asked:
            found.setdefault(one.partition, []).append(one.file_id)
    return {partition: tuple(sorted(ids)) for partition, ids in found.items()}
