"""A write from its request to its completion.

begin    a requested time and its file                    nothing else is in storage
stage    tagged, routed, inflight; markers and files      nothing of it counts
commit   the lock: checks, metadata table, completed      all of it counts
abort    files that markers announce, markers, instant    as if it had never been
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from hudi_format.names import TimelineFileName, TimelineState

from hudi_spark.committing.completing import Completion, complete
from hudi_spark.committing.conflicts import refuse_conflicts
from hudi_spark.committing.outcome import Outcome
from hudi_spark.committing.reconciling import remove_announced, remove_unnamed
from hudi_spark.committing.work import TableWork
from hudi_spark.effects.helper import Effects, timeline_path
from hudi_spark.errors import HudiError
from hudi_spark.evolution.statements import SchemaStatement
from hudi_spark.files.written import WrittenFile
from hudi_spark.indexing.index import FinishedWrite
from hudi_spark.state.commits import GroupId
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import load_timeline
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.contents import completed_metadata, inflight_content, metadata_content, requested_content
from hudi_spark.writing.operations import Operation
from hudi_spark.writing.routing import Routes

_BEFORE_COMPLETION: Final[tuple[TimelineState, ...]] = ("INFLIGHT", "REQUESTED")


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

    def __init__(self, work: TableWork, snapshot: Snapshot, operation: Operation) -> None:
        self.work = work
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
        content = requested_content(self.action)
        self.requested = self.work.request(self._configuration, self.snapshot.timeline, self.action, content)
        return self.requested

    def go_inflight(self, routes: Routes) -> None:
        """The inflight file: what the write is about to do.

        Clauses: TL-003, TL-033.
        """
        content = inflight_content(self._configuration, self.operation.stored, routes)
        self._effects.create_instant(self._configuration, self._name("INFLIGHT", self.requested), content)

    def commit(self, staged: Staged, state: WriterState) -> Outcome:
        """The write completes, or is refused and aborted.

        Raises:
            HudiError: WRITE_CONFLICT when what completed meanwhile touched the same file groups.

        Clauses: OW-004, OW-005, OW-010, TL-023, TL-026, LK-003, MK-003, MK-004.

        """
        stats = tuple(one.stat for one in staged.written)
        remove_unnamed(self._effects, self.requested, stats)
        check = partial(refuse_conflicts, self.work.storage, self.snapshot, groups=staged.groups())
        try:
            completed = complete(self.work, self.snapshot, self._completion(staged), check, state)
        except HudiError:
            self.abort()
            raise
        self._effects.delete_markers(self.requested)
        return Outcome(self.requested, completed, self.action, self.operation.stored, stats, staged.replaced)

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
            # An error may be told of a put that took place.
            self._effects.delete_markers(self.requested)
            return
        remove_announced(self._effects, self.requested)
        self._effects.delete_markers(self.requested)
        for state in _BEFORE_COMPLETION:
            name = self._name(state, self.requested)
            if self._effects.storage.exists(timeline_path(self._configuration, name)):
                self._effects.delete_instant(self._configuration, name)

    @property
    def _effects(self) -> Effects:
        return self.work.effects

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
