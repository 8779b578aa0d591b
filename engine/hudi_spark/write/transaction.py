"""A write from its request to its completion, and what its files on the timeline hold.

begin    a requested time and its file                    nothing else is in storage
stage    tagged, routed, inflight; markers and files      nothing of it counts
commit   the lock: checks, metadata table, completed      all of it counts
abort    files that markers announce, markers, instant    as if it had never been

Clauses: TL-014, TL-019, TL-020, TL-033, OW-017.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from hudi_format.compat import add_note
from hudi_format.names import TimelineFileName
from hudi_format.timeline.commit_metadata import (
    NO_PREVIOUS_COMMIT,
    CommitMetadata,
    WriteStat,
    serialise_avro,
    serialise_json,
)
from hudi_format.timeline.plans import RequestedReplace, serialise_requested_replace

from hudi_spark.concurrency import (
    Effects,
    afterwards,
    delete_entries,
    place_of,
    reject_unknown_writers,
    remove_heartbeat,
    start_heartbeat,
    stop_heartbeat,
)
from hudi_spark.errors import HudiError, OutcomeUnknownError, Reason, UnsupportedFeature, typed_errors
from hudi_spark.files import WrittenFile
from hudi_spark.metadata import FinishedWrite
from hudi_spark.schema import WriterState, schema_changes
from hudi_spark.table_state import GroupId, Snapshot, TableConfiguration, Timeline, load_timeline
from hudi_spark.write.action import Outcome, TableWork
from hudi_spark.write.completing import Completion, complete, remove_announced, remove_unnamed
from hudi_spark.write.conflicts import Concurrency, check_pending_clusterings, concurrency_of
from hudi_spark.write.planning import Once, Operation, refuse_repeated
from hudi_spark.write.routing import Routes, Target
from hudi_spark.write.schema_metadata import SchemaStatement, table_avro

REPLACE = "replacecommit"

_NOTHING = WriteStat(
    num_writes=0,
    num_deletes=0,
    num_update_writes=0,
    num_inserts=0,
    total_write_bytes=0,
    total_write_errors=0,
    total_log_records=0,
    total_updated_records_compacted=0,
    total_log_blocks=0,
    total_corrupt_log_block=0,
    total_rollback_blocks=0,
    file_size_in_bytes=0,
    total_log_files_compacted=0,
    total_log_size_compacted=0,
)


def requested_content(action: str) -> bytes:
    """What the requested file of a write holds: nothing, or a plan without a word.

    Clauses: TL-033.
    """
    if action != REPLACE:
        return b""
    return serialise_requested_replace(RequestedReplace(None, None, None, None))


def metadata_content(configuration: TableConfiguration, action: str, metadata: CommitMetadata) -> bytes:
    """A commit's metadata in the form of the table's version; completed replacecommits have one field more.

    Clauses: TL-019, TL-020.
    """
    if not configuration.has_completion_times:
        return serialise_json(metadata)
    return serialise_avro(metadata, replace=action == REPLACE)


def inflight_content(configuration: TableConfiguration, operation: str, routes: Routes) -> bytes:
    """What a write is about to do: for each partition its new rows, for each group its updates.

    Clauses: TL-033.
    """
    metadata = CommitMetadata(operation, write_stats=tuple(_expected(routes)))
    # Also an overwrite says beforehand what any commit would.
    return metadata_content(configuration, "commit", metadata)


def _expected(routes: Routes) -> Iterable[WriteStat]:
    by_partition: dict[str, list[Target]] = {}
    for target in routes.targets:
        by_partition.setdefault(target.partition, []).append(target)
    for partition, targets in sorted(by_partition.items()):
        inserts = sum(one.inserts for one in targets)
        yield replace(
            _NOTHING, file_id="", prev_commit=NO_PREVIOUS_COMMIT, partition_path=partition, num_inserts=inserts
        )
        for one in targets:
            if one.slice is not None and one.updates:
                yield replace(
                    _NOTHING,
                    file_id=one.file_id,
                    prev_commit=one.slice.base_instant,
                    partition_path=partition,
                    num_update_writes=one.updates,
                )


def completed_metadata(
    operation: str, stats: tuple[WriteStat, ...], replaced: Mapping[str, tuple[str, ...]], extra: Mapping[str, str]
) -> CommitMetadata:
    """What a write did.

    Clauses: TL-019, OW-017, OW-018.
    """
    return CommitMetadata(operation, write_stats=stats, replaced_file_ids=replaced, extra=extra)


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
            self._reject_unknown_writers()
        except HudiError:
            self.abort()
            raise
        return self.requested

    def _live(self, requested: str) -> None:
        """The write beats from here on.

        Clauses: MK-005.
        """
        self.requested = requested
        start_heartbeat(self._effects, self.work.options, requested, place_of(self.work.storage, self.work.options))

    def _reject_unknown_writers(self) -> None:
        """Its heartbeat is there, so of two processes that begin at once one sees the other.

        Clauses: LK-006.
        """
        lock = place_of(self.work.storage, self.work.options)
        reject_unknown_writers(self.work.storage, self.work.options, lock, self.requested)

    def silence(self) -> None:
        """Nobody goes on with the write: it has failed for others, whatever it left.

        Clauses: MK-005.
        """
        stop_heartbeat(self._effects, self.requested)

    def check_pending_clusterings(self, groups: frozenset[GroupId]) -> None:
        """Whether the write may change these file groups, though a clustering of them is pending.

        Raises:
            HudiError: WRITE_CONFLICT.

        Clauses: OW-011.

        """
        check_pending_clusterings(self.work, self._configuration, groups)

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
        concurrency = concurrency_of(state, self.operation)
        check = partial(self._refuse, concurrency, staged.groups())
        try:
            with typed_errors():
                remove_unnamed(self._effects, self.requested, stats)
                concurrency.refuse_early(self.requested, staged.groups(), staged=True)
                completed = complete(self.work, self.snapshot, self._completion(staged), check, state)
        except OutcomeUnknownError:
            raise
        except (HudiError, UnsupportedFeature) as error:
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
        head = (self.requested, self.action, self.operation.stored)
        stats = tuple(one.stat for one in staged.written)
        extra = {**staged.extra, **staged.stated.extra}
        metadata = completed_metadata(self.operation.stored, stats, staged.replaced, extra)
        content = metadata_content(self._configuration, self.action, metadata)
        return Completion(FinishedWrite(*head, staged.written, staged.replaced), content, stated=staged.stated)

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
        remove_heartbeat(self._effects, self.requested)

    def _clear(self) -> None:
        """What is needed until a write has completed goes.

        Clauses: OW-010, MK-004.
        """
        with afterwards("delete_markers"):
            self._effects.delete_markers(self.requested)
        with afterwards("stop_heartbeat"):
            remove_heartbeat(self._effects, self.requested)

    def _give_up(self, error: HudiError | UnsupportedFeature) -> None:
        """Take the write back; after a lost lock only under it, since somebody may be at work on what was left.

        Clauses: OW-009, LK-002.
        """
        if not (isinstance(error, HudiError) and error.reason is Reason.LOCK_LOST):
            self.abort()
            return
        try:
            with self.work.lock(self.requested):
                self.abort()
        except HudiError as again:
            self.silence()
            add_note(error, f"and what was written stays until it is rolled back: {again}")

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
    wanted = frozenset(partitions)
    for one in snapshot.slices:
        if operation.replaces == "table" or one.partition in wanted:
            found.setdefault(one.partition, []).append(one.file_id)
    return {partition: tuple(sorted(ids)) for partition, ids in found.items()}
