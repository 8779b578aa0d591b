"""How a write shares its table with others: alone, optimistic or non-blocking, and what conflicts.

completed since      a write, overwrite, clustering of the same file groups: the first to complete wins (OW-005)
                     an overwrite of a partition that the action overwrites too (OW-035)
                     a compaction that was planned before the action: in nobody's way (OW-006)
planned since        a compaction, log compaction or clustering of the same file groups (OW-006)
rollback             of the action itself (OW-008)

                        before the write            before and after its files      under the lock
alone, optimistic       -                           markers of others, if asked     completed, planned, clustered
non-blocking            MOR, version 8, buckets     markers of others, if asked     clustered; all for bulk inserts
                        no overwrite                                                and deletions of partitions

One that gives up takes its logs along; a write that began before goes on without them.

Clauses: OW-011, CL-005, OW-004, OW-005, OW-006, OW-008, TL-023, OW-026, OW-029, SW-001, SW-003, SW-004.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from hudi_format.names import parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.table.markers import MARKERS_FOLDER

from hudi_spark.concurrency import is_alive
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.keys import BUCKET_DIGITS, hashes_consistently, index_of
from hudi_spark.options import INDEX_TYPE, Options, is_non_blocking
from hudi_spark.schema import WriterState
from hudi_spark.table_state import (
    Commit,
    GroupId,
    Instant,
    Snapshot,
    TableConfiguration,
    Timeline,
    commit_of,
    load_timeline,
    pending_clusterings,
    pending_compactions,
    pending_log_compactions,
    rollback_plan,
)
from hudi_spark.write.action import TableWork
from hudi_spark.write.completing import announced, give_up
from hudi_spark.write.planning import Operation, Replaces

_UPDATES_STRATEGY: Final = "hoodie.clustering.updates.strategy"
_REJECTS: Final = "SparkRejectUpdateStrategy"
_ALLOWS: Final = "SparkAllowUpdateStrategy"
_GIVES_UP: Final = "hoodie.clustering.rollback.pending.replacecommit.on.conflict"


def refuse_clustered(storage: Storage, options: Options, timeline: Timeline, groups: frozenset[GroupId]) -> None:
    """Nothing where no pending clustering has planned one of the groups, or the options let a write go on.

    Where they do, the clustering does not complete. With consistent hashing none do: a clustering of another writer may
    complete, and its rows take the place of the write's.

    Raises:
        HudiError: WRITE_CONFLICT naming the clustering and a group.
        UnsupportedFeature: another strategy, such as that which writes to old and new groups alike.

    Clauses: OW-011, OW-034.

    """
    strategy = options.text(_UPDATES_STRATEGY).rpartition(".")[2]
    if strategy not in (_REJECTS, _ALLOWS):
        raise UnsupportedFeature("clustering-updates-strategy", f"{_UPDATES_STRATEGY} may be {_REJECTS} or {_ALLOWS}")
    if strategy == _ALLOWS and not hashes_consistently(options):
        return
    for group, instant in sorted(pending_clusterings(storage, timeline).items()):
        if group in groups:
            where = "/".join(part for part in group if part)
            message = f"the clustering {instant.requested}, which has not completed, is to replace file group {where}"
            hint = f"write again once it has; or let {_UPDATES_STRATEGY} allow it, and the clustering will not complete"
            raise HudiError(Reason.WRITE_CONFLICT, "OW-011", message, instant.file, hint=hint)


def check_pending_clusterings(work: TableWork, configuration: TableConfiguration, groups: frozenset[GroupId]) -> None:
    """What a write does about pending clusterings of its groups before it writes: refused, or they are given up.

    Raises:
        HudiError: WRITE_CONFLICT.

    Clauses: OW-011.

    """
    timeline = load_timeline(work.storage, configuration)
    refuse_clustered(work.storage, work.options, timeline, groups)
    if work.options.flag(_GIVES_UP):
        met = {one.requested for group, one in pending_clusterings(work.storage, timeline).items() if group in groups}
        for requested in sorted(met):
            give_up(work, configuration, requested)


_CONFLICT_STRATEGY: Final = "hoodie.write.lock.conflict.resolution.strategy"
_STRATEGIES: Final = ("SimpleConcurrentFileWrites", "BucketIndexConcurrentFileWrites", "PreferWriter")
_ENDING: Final = "ConflictResolutionStrategy"
_OVERWRITES: Final[Mapping[str, str]] = {"INSERT_OVERWRITE": "partitions", "INSERT_OVERWRITE_TABLE": "table"}
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class ConflictRules:
    """What counts as a conflict.

    `plans_count`: whether a plan that waits and was made after the write began does. `by_bucket`: whether two file
    groups of one bucket are one.

    Clauses: OW-006, OW-023.
    """

    plans_count: bool = True
    by_bucket: bool = False

    def key(self, group: GroupId) -> GroupId:
        """What two actions must not both change.

        Clauses: OW-023.
        """
        return (group[0], group[1][:BUCKET_DIGITS]) if self.by_bucket else group


def conflict_rules(options: Options, *, by_bucket: bool) -> ConflictRules:
    """The rules that the options choose, by Apache Hudi's class names or these without their ending.

    Raises:
        HudiError: CONFIG_INVALID for a strategy that is none.

    Clauses: OW-006.

    """
    named = options.text(_CONFLICT_STRATEGY).rpartition(".")[2].removesuffix(_ENDING)
    if named not in _STRATEGIES:
        hint = f"choose {', '.join(_STRATEGIES)}, each with {_ENDING} after it"
        raise HudiError(Reason.CONFIG_INVALID, "OW-030", f"{_CONFLICT_STRATEGY}: {named} is no strategy", hint=hint)
    return ConflictRules(named != _STRATEGIES[-1], by_bucket or named == _STRATEGIES[1])


def refuse_conflicts(storage: Storage, began_with: Snapshot, timeline: Timeline, groups: frozenset[GroupId]) -> None:
    """Nothing when no action that completed since an action began touched its file groups.

    Raises:
        HudiError: WRITE_CONFLICT naming the other action and the groups.

    Clauses: OW-004, OW-005, TL-023.

    """
    for instant in _completed_since(began_with, timeline):
        commit = commit_of(storage, instant)
        _refuse_shared(instant, commit.groups() | commit.replaced_groups(), groups, ConflictRules())


@dataclass(frozen=True, slots=True)
class WriteConflicts:
    """What a write that was requested at a time, on what it began with, conflicts with.

    Clauses: OW-004, OW-005, OW-006, OW-008, OW-035.
    """

    storage: Storage
    began_with: Snapshot
    requested: str
    groups: frozenset[GroupId]
    rules: ConflictRules
    overwrites: Literal["nothing", "partitions", "table"] = "nothing"

    def refuse_any(self, timeline: Timeline) -> None:
        """Nothing when the write may complete; called under the lock.

        Raises:
            HudiError: WRITE_CONFLICT naming the other action and the file groups.

        Clauses: OW-004, OW-005, OW-006, OW-008, TL-023.

        """
        self.refuse_completed(timeline)
        self._refuse_planned(timeline)
        self.refuse_undone(timeline)

    def refuse_undone(self, timeline: Timeline) -> None:
        """Nothing when nobody has begun to roll the write back.

        Raises:
            HudiError: WRITE_CONFLICT.

        Clauses: OW-008.

        """
        for instant in timeline.pending("rollback"):
            undone = rollback_plan(self.storage, instant).instant_to_rollback
            if undone is not None and undone.commit_time == self.requested:
                message = f"the write {self.requested} is being rolled back by {instant.requested}"
                raise HudiError(Reason.WRITE_CONFLICT, "OW-008", message, instant.file, hint="write again")

    def refuse_completed(self, timeline: Timeline) -> None:
        """Nothing when no action that completed since the write began changed its file groups.

        Raises:
            HudiError: WRITE_CONFLICT.

        Clauses: OW-004, OW-005, OW-006.

        """
        for instant in _completed_since(self.began_with, timeline):
            commit = commit_of(self.storage, instant)
            is_compaction = instant.was_compaction or commit.metadata.operation_type == "COMPACT"
            if not is_compaction or self._is_newer(instant):
                changed = commit.groups() | commit.replaced_groups()
                _refuse_shared(instant, changed, self.groups, self.rules, "OW-006" if is_compaction else "OW-005")
            self._refuse_overwrite(instant, commit)

    def _refuse_overwrite(self, instant: Instant, commit: Commit) -> None:
        """No order of two overwrites of a partition leaves the rows of both.

        Clauses: OW-035.
        """
        other = _OVERWRITES.get(commit.metadata.operation_type or "")
        if self.overwrites == "nothing" or other is None:
            return
        shared = sorted({group[0] for group in self.groups} & {group[0] for group in commit.groups()})
        if shared or other == self.overwrites == "table":
            place = f"the partition {shared[0]!r}" if shared else "the table"
            message = (
                f"{instant.action} {instant.requested}, which completed since the write began, overwrote {place} too"
            )
            raise HudiError(Reason.WRITE_CONFLICT, "OW-035", message, instant.file, hint="write again")

    def _refuse_planned(self, timeline: Timeline) -> None:
        """Before version 8 a log is named after the slice that its writer saw: there no strategy lets a plan pass.

        Clauses: OW-006.
        """
        if not self.rules.plans_count and self.began_with.configuration.has_completion_times:
            return
        by_time = {one.requested: one for one in timeline.one_of_each_time}
        planned = {
            group: by_time[requested]
            for group, requests in pending_compactions(self.storage, timeline).items()
            for requested in requests
        }
        self._refuse_pending({group: one for group, one in planned.items() if self._is_newer(one)})
        for instant in timeline.pending("logcompaction"):
            one = Timeline((instant,))
            groups = pending_log_compactions(self.storage, one) if self._is_newer(instant) else ()
            self._refuse_pending(dict.fromkeys(groups, instant))

    def _refuse_pending(self, planned: Mapping[GroupId, Instant]) -> None:
        for instant in {one.requested: one for one in planned.values()}.values():
            groups = (group for group, one in planned.items() if one == instant)
            _refuse_shared(instant, groups, self.groups, self.rules, "OW-006")

    def _is_newer(self, instant: Instant) -> bool:
        """Whether a plan was made after the write began.

        Clauses: OW-006.
        """
        if instant.requested in {one.requested for one in self.began_with.timeline.instants}:
            return False
        return not self.began_with.configuration.has_completion_times or instant.requested > self.requested


def _completed_since(began_with: Snapshot, timeline: Timeline) -> Iterator[Instant]:
    """Clauses: OW-002, OW-004."""
    seen = {one.requested for one in began_with.timeline.completed_data()}
    return (one for one in timeline.completed_data() if one.requested not in seen)


def _refuse_shared(
    instant: Instant,
    changed: Iterable[GroupId],
    own: frozenset[GroupId],
    rules: ConflictRules,
    clause: str = "OW-005",
) -> None:
    keys = {rules.key(group) for group in own}
    shared = sorted(group for group in changed if rules.key(group) in keys)
    if shared:
        does = "changed" if instant.is_completed else "is about to rewrite"
        message = f"{instant.action} {instant.requested} {does} the same file groups: {_named(shared)}"
        raise HudiError(Reason.WRITE_CONFLICT, clause, message, instant.file, hint="write again")


def _named(groups: list[GroupId]) -> str:
    named = [f"{partition}/{file_id}" if partition else file_id for partition, file_id in groups]
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    return ", ".join(named[:_SHOWN]) + more


_MODE: Final = "hoodie.write.concurrency.mode"
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
    non_blocking = is_non_blocking(state.options)
    if non_blocking:
        _refuse_blocking(state, operation)
    bucketed = state.options.text(INDEX_TYPE) == "BUCKET" and index_of(state).kind == "bucket"
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


_DELTACOMMIT: Final = "deltacommit"


def without_vanished_logs(storage: Storage, snapshot: Snapshot) -> Snapshot:
    """The snapshot without logs that are gone and that no completed write names.

    Clauses: RD-018, SL-002.
    """
    configuration, timeline = snapshot.configuration, snapshot.timeline
    if configuration.has_completion_times or not timeline.pending(_DELTACOMMIT):
        return snapshot
    named = {path for commit in snapshot.commits for _, path, _ in commit.log_files()}
    listed = {path for one in snapshot.slices for path in one.log_files} - named
    gone = {path for path in listed if not storage.exists(path)}
    if not gone:
        return snapshot
    slices = (
        replace(one, log_files=tuple(path for path in one.log_files if path not in gone)) for one in snapshot.slices
    )
    return replace(snapshot, slices=tuple(slices))
