"""How a write shares its table with others: alone, optimistic, or non-blocking.

                        before the write            before and after its files      under the lock
alone, optimistic       -                           markers of others, if asked     completed, planned, clustered
non-blocking            MOR, version 8, buckets     markers of others, if asked     clustered; all for bulk inserts
                        no overwrite                                                and deletions of partitions

Clauses: OW-004, OW-026, OW-029, SW-001, SW-003, SW-004.
"""

from dataclasses import dataclass
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.table.markers import MARKERS_FOLDER

from hudi_spark.committing.clustered_groups import refuse_clustered
from hudi_spark.committing.conflicts import ConflictRules, WriteConflicts, conflict_rules
from hudi_spark.committing.reconciling import announced
from hudi_spark.errors import HudiError
from hudi_spark.locks.heartbeats import is_alive
from hudi_spark.options.resolving import Options
from hudi_spark.state.commits import GroupId
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Timeline, load_timeline
from hudi_spark.tagging.kinds import index_of
from hudi_spark.writer_state import WriterState
from hudi_spark.writing.operations import Operation, Replaces

_MODE: Final = "hoodie.write.concurrency.mode"
_NON_BLOCKING: Final = "NON_BLOCKING_CONCURRENCY_CONTROL"
_OPTIMISTIC: Final = "OPTIMISTIC_CONCURRENCY_CONTROL"
_EARLY: Final = "hoodie.write.concurrency.early.conflict.detection.enable"
_EARLY_COMMITS: Final = "hoodie.write.concurrency.early.conflict.check.commit.conflict"
_LEAST_VERSION: Final = 8


@dataclass(frozen=True, slots=True)
class Concurrency:
    """What a write looks for, and when.

    Clauses: OW-026, SW-003.
    """

    storage: Storage
    options: Options
    began_with: Snapshot
    rules: ConflictRules
    only_logs: bool
    overwrites: Replaces = "nothing"

    def refuse_under_lock(self, timeline: Timeline, requested: str, groups: frozenset[GroupId]) -> None:
        """Nothing when the write may complete.

        Raises:
            HudiError: WRITE_CONFLICT naming the other action and the file groups.

        Clauses: OW-004, OW-005, OW-006, OW-011, SW-003, SW-004.

        """
        conflicts = self._conflicts(requested, groups)
        refuse_clustered(self.storage, self.options, timeline, groups)
        if self.only_logs:
            conflicts.refuse_undone(timeline)
        else:
            conflicts.refuse_any(timeline)

    def refuse_early(self, requested: str, groups: frozenset[GroupId], *, staged: bool) -> None:
        """Nothing when the markers of no other write that lives name a file group of this one.

        Before its own markers are there, whoever sees another's gives up; of two whose markers are all there (`staged`)
        the later one does.

        Raises:
            HudiError: WRITE_CONFLICT.

        Clauses: MK-006, OW-029.

        """
        optimistic = self.options.text(_MODE) == _OPTIMISTIC
        if self.only_logs or not (optimistic and self.options.flag(_EARLY)):
            return
        timeline = load_timeline(self.storage, self.began_with.configuration)
        if self.options.flag(_EARLY_COMMITS):
            self._conflicts(requested, groups).refuse_completed(timeline)
        pending = {one.requested for one in timeline.instants if not one.is_completed} - {requested}
        for other in sorted(pending & self._marked()):
            if (not staged or other < requested) and is_alive(self.storage, self.options, other):
                self._refuse_marked(other, groups)

    def _conflicts(self, requested: str, groups: frozenset[GroupId]) -> WriteConflicts:
        return WriteConflicts(self.storage, self.began_with, requested, groups, self.rules, self.overwrites)

    def _marked(self) -> set[str]:
        return {folder.rpartition("/")[2] for folder in self.storage.list_folders(MARKERS_FOLDER)}

    def _refuse_marked(self, other: str, groups: frozenset[GroupId]) -> None:
        own = {self.rules.key(group) for group in groups}
        marked = ((one.partition, parse_data_file_name(one.name.data_file)) for one in announced(self.storage, other))
        named = {(partition, name.file_id) for partition, name in marked if name is not None}
        shared = sorted(group for group in named if self.rules.key(group) in own)
        if shared:
            groups_text = ", ".join("/".join(part for part in group if part) for group in shared[:3])
            message = f"the write {other}, which is under way, changes the same file groups: {groups_text}"
            raise HudiError(Reason.WRITE_CONFLICT, "MK-006", message, hint="write again when that one has ended")


def concurrency_of(state: WriterState, operation: Operation) -> Concurrency:
    """How a write shares its table.

    Raises:
        HudiError: CONFIG_INVALID for a table or an operation that the mode does not allow.

    Clauses: OW-026, SW-001, SW-003, SW-004.

    """
    non_blocking = state.options.text(_MODE) == _NON_BLOCKING
    if non_blocking:
        _refuse_blocking(state, operation)
    bucketed = state.options.text("hoodie.index.type") == "BUCKET" and index_of(state).kind == "bucket"
    rules = conflict_rules(state.options, by_bucket=bucketed)
    only_logs = non_blocking and not operation.bulk and operation.name != "delete_partition"
    overwrites = "nothing" if operation.name == "delete_partition" else operation.replaces
    return Concurrency(state.storage, state.options, state.snapshot, rules, only_logs, overwrites)


def _refuse_blocking(state: WriterState, operation: Operation) -> None:
    """Clauses: SW-001, SW-004."""
    configuration = state.configuration
    for wrong, hint in (
        (configuration.table_type != "MERGE_ON_READ" and "a copy-on-write table", "write optimistically"),
        (configuration.version < _LEAST_VERSION and f"version {configuration.version}", "upgrade the table to 8 or 9"),
        (index_of(state).kind != "bucket" and "this index", "let hoodie.index.type be BUCKET, with the engine SIMPLE"),
        (operation.replaces != "nothing" and operation.name != "delete_partition" and operation.name, "delete first"),
    ):
        if wrong:
            message = f"non-blocking writers cannot do with {wrong}"
            raise HudiError(Reason.CONFIG_INVALID, "SW-001", message, hint=hint)
