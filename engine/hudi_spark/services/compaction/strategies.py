"""Which of the slices that could be compacted a plan takes on, and in which order.

Clauses: CP-013.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from hudi_adapter.reasons import Reason
from hudi_format.timeline.plan_values import CompactionOperation

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.options.resolving import Options
from hudi_spark.services.compaction.metrics import IO, LOG_BYTES

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
