"""Which partitions a clustering plan looks at.

selected ones, or those that were written since the last clustering, or all
    -> those that a pattern matches
    -> those that the filter mode leaves: the newest days, every n-th by the hour, a range
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.options.resolving import Options
from hudi_spark.state.commits import Commit
from hudi_spark.state.pending_plans import clustering_plan
from hudi_spark.state.snapshots import Snapshot

_MODE: Final = "hoodie.clustering.plan.partition.filter.mode"
_SELECTED: Final = "hoodie.clustering.plan.strategy.partition.selected"
_PATTERN: Final = "hoodie.clustering.plan.strategy.partition.regex.pattern"
_BEGIN: Final = "hoodie.clustering.plan.strategy.cluster.begin.partition"
_END: Final = "hoodie.clustering.plan.strategy.cluster.end.partition"
_DAYS: Final = "hoodie.clustering.plan.strategy.daybased.lookback.partitions"
_SKIPPED: Final = "hoodie.clustering.plan.strategy.daybased.skipfromlatest.partitions"
_INCREMENTAL: Final = "hoodie.table.services.incremental.enabled"
# Every hour of a day has its share of the partitions.
_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Candidates:
    """The partitions that a plan may hold, in the order in which they are taken, and those that a filter leaves out.

    Clauses: CL-001.
    """

    wanted: tuple[str, ...]
    left_out: tuple[str, ...]


def candidates(
    storage: Storage, snapshot: Snapshot, options: Options, mode: str, hour: Callable[[], int]
) -> Candidates:
    """The partitions that the options and the timeline give.

    `mode`: the filter, where the strategy has one of its own; `hour`: that of the day, by the table's clock.

    Raises:
        HudiError: CONFIG_INVALID for a pattern that is none.

    Clauses: CL-001.

    """
    there = sorted({one.partition for one in snapshot.slices})
    chosen = frozenset(options.names(_SELECTED)) or _written_since(storage, snapshot, options)
    window = [one for one in there if chosen is None or one in chosen]
    wanted = _filtered(_matched(window, options.text(_PATTERN)), options, mode or options.text(_MODE), hour)
    return Candidates(tuple(wanted), tuple(one for one in window if one not in wanted))


def _filtered(partitions: list[str], options: Options, mode: str, hour: Callable[[], int]) -> list[str]:
    if mode == "RECENT_DAYS":
        return _recent(partitions, options)
    if mode == "DAY_ROLLING":
        return partitions[hour() :: _HOURS]
    if mode == "SELECTED_PARTITIONS":
        begin, end = options.text(_BEGIN), options.text(_END)
        return [one for one in partitions if begin <= one and (not end or one <= end)]
    return partitions


def _recent(partitions: Sequence[str], options: Options) -> list[str]:
    skipped, days = max(options.number(_SKIPPED), 0), options.number(_DAYS)
    newest = sorted(partitions, reverse=True)[skipped:]
    return newest[:days] if days > 0 else newest


def _matched(partitions: list[str], pattern: str) -> list[str]:
    if not pattern:
        return partitions
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        message = f"{_PATTERN} = {pattern!r} is no pattern: {error}"
        raise HudiError(Reason.CONFIG_INVALID, "CL-001", message, hint="give a regular expression") from error
    return [one for one in partitions if wanted.fullmatch(one)]


def _written_since(storage: Storage, snapshot: Snapshot, options: Options) -> frozenset[str] | None:
    """The partitions that were written since the last clustering, and those that it left out; None for all.

    Without completion times a write that began before it and ended after it could not be told.
    """
    if not (options.flag(_INCREMENTAL) and snapshot.configuration.has_completion_times):
        return None
    clusterings = [one for one in snapshot.commits if one.metadata.operation_type == "CLUSTER"]
    last = max(clusterings, key=lambda one: one.instant.requested, default=None)
    plan = None if last is None else clustering_plan(storage, last.instant)
    if last is None or plan is None:
        return None
    later = (one for one in snapshot.commits if _is_later(one, last))
    written = {group[0] for one in later for group in one.groups()}
    return frozenset({*written, *(plan.missing_schedule_partitions or ())})


def _is_later(commit: Commit, clustering: Commit) -> bool:
    return commit is not clustering and commit.instant.at("completed") >= clustering.instant.requested
