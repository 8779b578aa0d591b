"""A write from its request to its completion.

begin    a requested time and its file                    nothing else is in storage
stage    tagged, routed, inflight; markers and files      nothing of it counts
commit   the lock: checks, metadata table, completed      all of it counts
abort    files that markers announce, markers, instant    as if it had never been
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from hudi_adapter.reasons import Reason
from hudi_format.names import TimelineFileName

from hudi_spark.committing.clustered_groups import meet_clusterings
from hudi_spark.committing.completing import Completion, complete
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.reconciling import remove_announced, remove_unnamed
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.afterwards import afterwards
from hudi_spark.effects.entries import delete_entries
from hudi_spark.effects.helper import Effects
from hudi_spark.errors import HudiError, OutcomeUnknownError
from hudi_spark.evolution.schema import schema_changes
from hudi_spark.evolution.statements import SchemaStatement, table_avro
from hudi_spark.files.written import WrittenFile
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.locks.heartbeats import refuse_strangers, silence_heart, start_heart, stop_heart
from hudi_spark.locks.providers.choosing import place_of
from hudi_spark.state.commits import GroupId
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Timeline, load_timeline
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.concurrency import Concurrency, concurrency_of
from hudi_spark.writing.contents import completed_metadata, inflight_content, metadata_content, requested_content
from hudi_spark.writing.once import Once, refuse_repeated
from hudi_spark.writing.operations import Operation
from hudi_spark.writing.routing import Routes


@dataclass(frozen=True, slots=True)
class Staged:
    """What a write has put into storage and not committed.

    `stated`: what its commit says of the schema. `extra`: further entries of the commit's metadata. `missing`:
    partitions to be deleted that hold nothing.
    """

    written: tuple[WrittenFile, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stated: SchemaStatement = field(default_factory=lambda: SchemaStatement({}))
    extra: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def groups(self) -> frozenset[GroupId]:
        """The file groups that it wrote to or replaces."""
        wrote = {(one.stat.partition_path or "", one.stat.file_id or "") for one in self.written}
        return frozenset(wrote | groups_in(self.replaced))


class Transaction:
    """One action of a writer on the timeline.

    Clauses: OW-001, OW-010, TL-002, TL-003.
    """

    def __init__(self, work: TableWork, snapshot: Snapshot, operation: Operation, once: Once | None = None) -> None:
        self.work = work
        self.once = once
        self.snapshot = snapshot
        self.operation = operation
        self.requested = ""

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
        content, configuration = requested_content(self.action), self._configuration
        with self.work.lock("begin"):
            timeline = load_timeline(self.work.storage, configuration)
            self.work.request(configuration, timeline, self.action, content, self._live)
        try:
            self._refuse_strangers()
        except HudiError:
            self.abort()
            raise
        return self.requested

    def _live(self, requested: str) -> None:
        """The write beats from here on.

        Clauses: MK-005.
        """
        self.requested = requested
        start_heart(self._effects, self.work.options, requested, place_of(self.work.storage, self.work.options))

    def _refuse_strangers(self) -> None:
        """Its heartbeat is there, so of two processes that begin at once one sees the other.

        Clauses: LK-006.
        """
        lock = place_of(self.work.storage, self.work.options)
        refuse_strangers(self.work.storage, self.work.options, lock, self.requested)

    def silence(self) -> None:
        """Nobody goes on with the write: it is dead to others, whatever it left.

        Clauses: MK-005.
        """
        silence_heart(self._effects, self.requested)

    def meet_clusterings(self, groups: frozenset[GroupId]) -> None:
        """Whether the write may change these file groups, though a clustering of them is pending.

        Raises:
            HudiError: WRITE_CONFLICT.

        Clauses: OW-011.

        """
        meet_clusterings(self.work, self._configuration, groups)

    def go_inflight(self, routes: Routes, state: WriterState) -> None:
        """The inflight file: what the write is about to do.

        Raises:
            HudiError: WRITE_CONFLICT where another write that lives is doing the same, and early detection is on.

        Clauses: TL-003, TL-033, OW-029.

        """
        content = inflight_content(self._configuration, self.operation.stored, routes)
        name = TimelineFileName(self.requested, self.action, "INFLIGHT")
        self._effects.create_instant(self._configuration, name, content)
        groups = frozenset((one.partition, one.file_id) for one in routes.targets)
        concurrency_of(state, self.operation).refuse_early(self.requested, groups, staged=False)

    def commit(self, staged: Staged, state: WriterState) -> Outcome:
        """The write completes, or is refused and aborted.

        Raises:
            HudiError: WRITE_CONFLICT when what completed meanwhile touched the same file groups.
            OutcomeUnknownError: it may stand; all that it wrote stays.

        Clauses: OW-004, OW-005, OW-010, TL-023, TL-026, LK-003, MK-003, MK-004.

        """
        stats = tuple(one.stat for one in staged.written)
        remove_unnamed(self._effects, self.requested, stats)
        concurrency = concurrency_of(state, self.operation)
        check = partial(self._refuse, concurrency, staged.groups())
        try:
            concurrency.refuse_early(self.requested, staged.groups(), staged=True)
            completed = complete(self.work, self.snapshot, self._completion(staged), check, state)
        except OutcomeUnknownError:
            raise
        except HudiError as error:
            self._give_up(error)
            raise
        self._clear()
        return Outcome(
            self.requested,
            completed,
            self.action,
            self.operation.stored,
            stats,
            staged.replaced,
            schema_changes=schema_changes(table_avro(self.snapshot), state.schema),
            missing_partitions=staged.missing,
        )

    def _refuse(self, concurrency: Concurrency, groups: frozenset[GroupId], timeline: Timeline) -> None:
        """What completed meanwhile is neither this write nor in its way.

        Clauses: OW-004, OW-010.
        """
        if self.once is not None:
            refuse_repeated(self.work.storage, self.snapshot.timeline, timeline, self.once)
        concurrency.refuse_under_lock(timeline, requested=self.requested, groups=groups)

    def _completion(self, staged: Staged) -> Completion:
        told = (self.requested, self.action, self.operation.stored)
        stats = tuple(one.stat for one in staged.written)
        extra = {**staged.extra, **staged.stated.extra}
        metadata = completed_metadata(self.operation.stored, stats, staged.replaced, extra)
        content = metadata_content(self._configuration, self.action, metadata)
        return Completion(FinishedWrite(*told, staged.written, staged.replaced), content, stated=staged.stated)

    def abort(self) -> None:
        """Take back all that the write put into storage: files, then markers, then its instant; not if it completed.

        Clauses: OW-009, MK-003, SA-005.
        """
        timeline = load_timeline(self.work.storage, self._configuration)
        if self.requested in {one.requested for one in timeline.completed_data()}:
            self._clear()
            return
        remove_announced(self._effects, self.requested)
        self._effects.delete_markers(self.requested)
        for one in timeline.instants:
            if one.requested == self.requested and one.action == self.action:
                delete_entries(self._effects, self._configuration, one)
        stop_heart(self._effects, self.requested)

    def _clear(self) -> None:
        """What is needed until a write has completed goes.

        Clauses: OW-010, MK-004.
        """
        with afterwards("delete_markers"):
            self._effects.delete_markers(self.requested)
        with afterwards("stop_heartbeat"):
            stop_heart(self._effects, self.requested)

    def _give_up(self, error: HudiError) -> None:
        """Take the write back; after a lost lock only under it, since somebody may be at work on what was left.

        Clauses: OW-009, LK-002.
        """
        if error.reason is not Reason.LOCK_LOST:
            self.abort()
            return
        try:
            with self.work.lock(self.requested):
                self.abort()
        except HudiError as again:
            self.silence()
            error.add_note(f"and what was written stays until it is rolled back: {again}")

    @property
    def _effects(self) -> Effects:
        return self.work.effects

    @property
    def _configuration(self) -> TableConfiguration:
        return self.snapshot.configuration


def missing_partitions(snapshot: Snapshot, partitions: Sequence[str]) -> tuple[str, ...]:
    """Those of the partitions that hold no file group.

    Clauses: OW-018.
    """
    held = {one.partition for one in snapshot.slices}
    return tuple(one for one in dict.fromkeys(partitions) if one not in held)


def groups_in(replaced: Mapping[str, tuple[str, ...]]) -> frozenset[GroupId]:
    """File groups given as ids by partition."""
    return frozenset((partition, file_id) for partition, ids in replaced.items() for file_id in ids)


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
