"""Which slices a compaction takes on, and when: triggers, strategies, and the plan.

Clauses: CP-005, CP-013, CP-001, CP-003, CP-008, LC-008, CP-009.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Final

from hudi_format.timeline.plan_values import CompactionOperation, CompactionPlan

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.metadata import milliseconds_of
from hudi_spark.options import Options
from hudi_spark.schema import Origins, origins_of
from hudi_spark.table_state import (
    COMPACTION,
    FileSlice,
    Instant,
    Snapshot,
    TableConfiguration,
    Timeline,
    file_name_of,
    groups_in_pending_plans,
)
from hudi_spark.write import TableWork

LOG_FILES: Final = "TOTAL_LOG_FILES"
LOG_BYTES: Final = "TOTAL_LOG_FILES_SIZE"
READ: Final = "TOTAL_IO_READ_MB"
WRITE: Final = "TOTAL_IO_WRITE_MB"
IO: Final = "TOTAL_IO_MB"
_MEGABYTE: Final = 1024 * 1024


def metrics_of(one: FileSlice, sizes: Mapping[str, int], largest_file: int) -> dict[str, float]:
    """Bytes of logs, and whole megabytes to read and to write; `sizes` in bytes by path.

    What a slice without base file will need is taken for a full file of `largest_file` bytes.

    Clauses: CP-013.
    """
    logs = sum(sizes.get(path, 0) for path in one.log_files)
    base = 0 if one.base_file is None else sizes.get(one.base_file, 0)
    read = (base + logs) // _MEGABYTE
    write = (largest_file if one.base_file is None else base) // _MEGABYTE
    return {
        LOG_FILES: float(len(one.log_files)),
        IO: float(read + write),
        READ: float(read),
        LOG_BYTES: float(logs),
        WRITE: float(write),
    }


@dataclass(frozen=True, slots=True)
class Candidates:
    """Slices with logs, by partition and file id, and the partitions of those that pending plans hold."""

    slices: tuple[FileSlice, ...]
    held: frozenset[str]


def candidates(work: TableWork, snapshot: Snapshot) -> Candidates:
    """The slices with logs that no pending plan holds; called under the lock, so that all their logs have completed.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for a plan that does not parse.

    Clauses: CP-001, CP-003, CP-005.

    """
    logged = [one for one in snapshot.slices if one.log_files]
    planned = groups_in_pending_plans(work.storage, snapshot.timeline)
    free = tuple(one for one in logged if (one.partition, one.file_id) not in planned)
    return Candidates(free, frozenset(one.partition for one in logged if (one.partition, one.file_id) in planned))


def operations(work: TableWork, snapshot: Snapshot, slices: Iterable[FileSlice]) -> tuple[CompactionOperation, ...]:
    """The operations of slices; their partitions are listed for the sizes of files.

    Clauses: CP-005.
    """
    chosen = tuple(slices)
    partitions = sorted({one.partition for one in chosen})
    sizes = {file.path: file.size for name in partitions for file in work.storage.list_files(name, recursive=False)}
    largest = work.options.number("hoodie.parquet.max.file.size")
    origins = origins_of(work.storage, snapshot)
    return tuple(
        CompactionOperation(
            base_instant_time=one.base_instant,
            delta_file_paths=tuple(file_name_of(path) for path in one.log_files),
            data_file_path=None if one.base_file is None else file_name_of(one.base_file),
            file_id=one.file_id,
            partition_path=one.partition,
            metrics=metrics_of(one, sizes, largest),
            bootstrap_file_path=_bootstrapped(one, origins),
        )
        for one in chosen
    )


def _bootstrapped(one: FileSlice, origins: Origins) -> str | None:
    """Where the data of a slice lies that was bootstrapped."""
    external = origins.external(one)
    return None if external is None else external.storage.uri(external.path)


_STRATEGY: Final = "hoodie.compaction.strategy"
_TARGET_IO: Final = "hoodie.compaction.target.io"
_LOG_BYTES: Final = "hoodie.compaction.logfile.size.threshold"
_LOG_FILES: Final = "hoodie.compaction.logfile.num.threshold"
_DAYS: Final = "hoodie.compaction.daybased.target.partitions"
_PATTERN: Final = "hoodie.compaction.partition.path.regex"
_DAY: Final = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})")

Operations = tuple[CompactionOperation, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What strategies choose from: the operations so far, all partitions of the table, the options, and the day."""

    operations: Operations
    partitions: tuple[str, ...]
    options: Options
    today: date


Strategy = Callable[[Choice], Iterable[CompactionOperation]]


def chosen(choice: Choice) -> Operations:
    """What the strategies that the options name leave, each of what the one before it left.

    Raises:
        HudiError: CONFIG_INVALID for partitions that are no days, for a pattern that is missing or none.
        UnsupportedFeature: compaction-strategy, for one of a user's own.

    Clauses: CP-013.

    """
    left = choice
    for name in choice.options.names(_STRATEGY):
        strategy = _STRATEGIES.get(name.rpartition(".")[2])
        if strategy is None:
            raise UnsupportedFeature("compaction-strategy", f"{name} is none of {', '.join(_STRATEGIES)}")
        left = Choice(tuple(strategy(left)), left.partitions, left.options, left.today)
    return left.operations


def _all(choice: Choice) -> Iterable[CompactionOperation]:
    return choice.operations


def _bounded(choice: Choice) -> Iterable[CompactionOperation]:
    """Operations until the target is met, the one that meets it among them."""
    left = choice.options.number(_TARGET_IO)
    for one in choice.operations:
        yield one
        left -= int(_metric(one, IO))
        if left <= 0:
            return


def _by_log_bytes(choice: Choice) -> Iterable[CompactionOperation]:
    """Those with the most bytes of logs first."""
    return _bounded(_with(choice, _largest(choice.operations, choice.options)))


def _by_log_files(choice: Choice) -> Iterable[CompactionOperation]:
    """Those with the most log files first."""
    least = choice.options.number(_LOG_FILES)
    enough = (one for one in choice.operations if len(one.delta_file_paths) >= least)
    return _bounded(_with(choice, sorted(enough, key=lambda one: -len(one.delta_file_paths))))


def _by_day(choice: Choice) -> Iterable[CompactionOperation]:
    """Those of the newest days."""
    days = sorted(choice.partitions, key=_day, reverse=True)[: choice.options.number(_DAYS)]
    return sorted((one for one in choice.operations if _partition(one) in days), key=_day_of, reverse=True)


def _by_day_bounded(choice: Choice) -> Iterable[CompactionOperation]:
    """Those of the newest days with the most bytes of logs, as long as they stay below the target."""
    left = choice.options.number(_TARGET_IO)
    for one in _largest(_by_day(choice), choice.options):
        left -= int(_metric(one, IO))
        if left <= 0:
            return
        yield one


def _of_last_days(choice: Choice) -> Iterable[CompactionOperation]:
    """Those of the days from some days ago on, days to come among them."""
    earliest = choice.today - timedelta(days=choice.options.number(_DAYS))
    return sorted((one for one in choice.operations if _day_of(one) >= earliest), key=_day_of, reverse=True)


def _of_days_before(choice: Choice) -> Iterable[CompactionOperation]:
    """Those that the strategy of the last days leaves out."""
    recent = list(_of_last_days(choice))
    return sorted((one for one in choice.operations if one not in recent), key=_day_of, reverse=True)


def _by_pattern(choice: Choice) -> Iterable[CompactionOperation]:
    """Those of partitions whose paths have the pattern somewhere in them."""
    text = choice.options.text(_PATTERN)
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise _refused(f"{_PATTERN} {text!r} is no pattern: {error}", "give a regular expression") from error
    if not text:
        raise _refused(f"{_PATTERN} is missing", "give the pattern of the partitions to compact")
    return (one for one in choice.operations if pattern.search(_partition(one)))


_STRATEGIES: Final[Mapping[str, Strategy]] = {
    "LogFileSizeBasedCompactionStrategy": _by_log_bytes,
    "LogFileNumBasedCompactionStrategy": _by_log_files,
    "BoundedIOCompactionStrategy": _bounded,
    "UnBoundedCompactionStrategy": _all,
    "DayBasedCompactionStrategy": _by_day,
    "DayBasedAndBoundedIOCompactionStrategy": _by_day_bounded,
    "BoundedPartitionAwareCompactionStrategy": _of_last_days,
    "UnBoundedPartitionAwareCompactionStrategy": _of_days_before,
    "PartitionRegexBasedCompactionStrategy": _by_pattern,
}


def _largest(operations: Iterable[CompactionOperation], options: Options) -> list[CompactionOperation]:
    least = options.number(_LOG_BYTES)
    enough = (one for one in operations if _metric(one, LOG_BYTES) >= least)
    return sorted(enough, key=lambda one: -_metric(one, LOG_BYTES))


def _with(choice: Choice, operations: Iterable[CompactionOperation]) -> Choice:
    return Choice(tuple(operations), choice.partitions, choice.options, choice.today)


def _metric(one: CompactionOperation, name: str) -> float:
    return (one.metrics or {}).get(name, 0.0)


def _partition(one: CompactionOperation) -> str:
    return one.partition_path or ""


def _day_of(one: CompactionOperation) -> date:
    return _day(_partition(one))


def _day(partition: str) -> date:
    """The day of a partition path such as `2024/01/31`, `2024-01-31` or `year=2024/month=01/day=31`."""
    plain = "/".join(part.rpartition("=")[2] for part in partition.split("/"))
    found = _DAY.match(plain)
    try:
        if found is not None:
            return date(*(int(part) for part in found.groups()))
    except ValueError:
        pass
    raise _refused(f"the partition {partition!r} is no day", "use a strategy that does not go by days")


def _refused(message: str, hint: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "CP-013", message, hint=hint)


_MOST_COMMITS: Final = "hoodie.compact.inline.max.delta.commits"
_MOST_SECONDS: Final = "hoodie.compact.inline.max.delta.seconds"
_TRIGGER_STRATEGY: Final = "hoodie.compact.inline.trigger.strategy"
_COMMIT, _DELTACOMMIT = "commit", "deltacommit"

ALWAYS: Final[Mapping[str, str]] = {_MOST_COMMITS: "0", _TRIGGER_STRATEGY: "NUM_COMMITS"}
"""Options by which a compaction is due at any time."""

Trigger = Callable[[Callable[[], bool], Callable[[], bool]], bool]
"""Asks whether enough was written, and whether enough time has gone by."""

_TRIGGERS: Final[Mapping[str, Trigger]] = {
    "NUM_COMMITS": lambda many, _: many(),
    "NUM_COMMITS_AFTER_LAST_REQUEST": lambda many, _: many(),
    "TIME_ELAPSED": lambda _, late: late(),
    "NUM_AND_TIME": lambda many, late: many() and late(),
    "NUM_OR_TIME": lambda many, late: many() or late(),
}


def is_due(timeline: Timeline, configuration: TableConfiguration, options: Options, now: Callable[[], str]) -> bool:
    """Whether a compaction is to be planned, as the options' trigger says; never before the first deltacommit.

    `now`: the time that the plan would get, requested only where it counts.

    Raises:
        HudiError: CONFIG_INVALID for an unknown trigger.

    Clauses: CP-008.

    """
    name = options.text(_TRIGGER_STRATEGY).upper()
    if name not in _TRIGGERS:
        hint = f"use one of {', '.join(_TRIGGERS)}"
        raise HudiError(Reason.CONFIG_INVALID, "CP-008", f"{_TRIGGER_STRATEGY} {name!r} is no trigger", hint=hint)
    last = last_of(timeline, pending=name == "NUM_COMMITS_AFTER_LAST_REQUEST")
    written = deltacommits_since(timeline, last)
    first = last or (written[0] if written else None)
    if first is None:
        return False

    def many() -> bool:
        return len(written) >= options.number(_MOST_COMMITS)

    def late() -> bool:
        elapsed = milliseconds_of(now(), configuration) - milliseconds_of(first.requested, configuration)
        return elapsed >= 1000 * options.number(_MOST_SECONDS)

    return _TRIGGERS[name](many, late)


def last_of(timeline: Timeline, *, pending: bool = False) -> Instant | None:
    """The compaction that was requested last among the completed ones; among all of them where `pending` is true."""
    wanted = {_COMMIT, COMPACTION} if pending else {_COMMIT}
    found = [one for one in timeline.instants if one.action in wanted and (pending or one.is_completed)]
    return found[-1] if found else None


def deltacommits_since(timeline: Timeline, last: Instant | None) -> list[Instant]:
    """The deltacommits that completed after another action was requested, or all.

    Before version 8 they were requested after it.

    Clauses: CP-008.
    """
    done = [one for one in timeline.completed_data() if one.action == _DELTACOMMIT]
    return [one for one in done if last is None or (one != last and one.at("completed") > last.requested)]


def plan_compaction(work: TableWork, snapshot: Snapshot) -> CompactionPlan | None:
    """What a compaction is to do now; None where it is not due, or where there is nothing that it may do.

    Raises:
        HudiError: CONFIG_INVALID for a copy-on-write table, an unknown trigger, a strategy that does not fit.
        UnsupportedFeature: compaction-strategy.

    Clauses: CP-001, CP-003, CP-005, CP-008, CP-009, CP-013.

    """
    configuration, timeline = snapshot.configuration, snapshot.timeline
    refuse_copy_on_write(snapshot, "compacted")
    if awaits_writes(snapshot) or not is_due(timeline, configuration, work.options, work.clock.instant):
        return None
    found = candidates(work, snapshot)
    could = operations(work, snapshot, found.slices)
    partitions = tuple(sorted({one.partition for one in snapshot.slices}))
    taken = chosen(Choice(could, partitions, work.options, datetime.now(timezone.utc).date()))
    if not taken:
        return None
    return CompactionPlan(taken, {}, missing_schedule_partitions=left_out(could, taken, found))


def refuse_copy_on_write(snapshot: Snapshot, done: str) -> None:
    """Nothing for a table that has logs.

    Raises:
        HudiError: CONFIG_INVALID.

    Clauses: CP-001.

    """
    if snapshot.configuration.table_type != "MERGE_ON_READ":
        message = f"only merge-on-read tables are {done}: a copy-on-write table has no logs"
        raise HudiError(Reason.CONFIG_INVALID, "CP-001", message, hint="cluster the table to have larger files")


def awaits_writes(snapshot: Snapshot) -> bool:
    """Whether a plan waits for writes that are pending: version 6 names a log after the slice that its writer found.

    Clauses: CP-009.
    """
    return not snapshot.configuration.has_completion_times and _writes(snapshot.timeline)


def _writes(timeline: Timeline) -> bool:
    return any(one.action == "deltacommit" and not one.is_completed for one in timeline.instants)


def left_out(
    could: Iterable[CompactionOperation], taken: Iterable[CompactionOperation], found: Candidates
) -> tuple[str, ...]:
    """The partitions with something that the plan does not take on: a planner that looks at changes only goes there.

    Clauses: CP-013.
    """
    held = {(one.partition_path, one.file_id) for one in taken}
    left = {one.partition_path or "" for one in could if (one.partition_path, one.file_id) not in held}
    return tuple(sorted(left | found.held))
