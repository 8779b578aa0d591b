"""Whether what happened since an action began leaves it standing.

completed since      a write, overwrite, clustering of the same file groups: the first to complete wins (OW-005)
                     an overwrite of a partition that the action overwrites too (OW-035)
                     a compaction or log compaction that was planned before the action: in nobody's way (OW-006)
planned since        a compaction, log compaction or clustering of the same file groups (OW-006)
rollback             of the action itself (OW-008)

What a pending clustering does to a write is told in `clustered_groups`.

Clauses: OW-004, OW-005, OW-006, OW-008, TL-023.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.options.resolving import Options
from hudi_spark.state.commits import Commit, GroupId, commit_of
from hudi_spark.state.pending_plans import pending_compactions, pending_log_compactions, rollback_plan
from hudi_spark.state.snapshots import Snapshot
from hudi_spark.state.timeline import Instant, Timeline
from hudi_spark.tagging.buckets import BUCKET_DIGITS

_STRATEGY: Final = "hoodie.write.lock.conflict.resolution.strategy"
_STRATEGIES: Final = ("SimpleConcurrentFileWrites", "BucketIndexConcurrentFileWrites", "PreferWriter")
_ENDING: Final = "ConflictResolutionStrategy"
_REWRITES: Final = ("COMPACT", "LOG_COMPACT")
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
    named = options.text(_STRATEGY).rpartition(".")[2].removesuffix(_ENDING)
    if named not in _STRATEGIES:
        hint = f"choose {', '.join(_STRATEGIES)}, each with {_ENDING} after it"
        raise HudiError(Reason.CONFIG_INVALID, "OW-030", f"{_STRATEGY}: {named} is no strategy", hint=hint)
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
            rewrites = instant.was_compaction or commit.metadata.operation_type in _REWRITES
            if not rewrites or self._is_newer(instant):
                changed = commit.groups() | commit.replaced_groups()
                _refuse_shared(instant, changed, self.groups, self.rules, "OW-006" if rewrites else "OW-005")
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
        by_time = {one.requested: one for one in timeline.instants if not one.is_savepoint}
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
