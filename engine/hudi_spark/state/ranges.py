"""Ranges of time that incremental and change queries ask for, and which writes belong to them.

begin is out, end is in:   c1   (begin   c2   c3   end]   c4
A write stands where it completed; before table version 8 where it was requested.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hudi_format.storage import Storage

from hudi_spark.state.commits import Commit, commit_of
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.history import has_completed_after, whole_timeline
from hudi_spark.state.snapshots import as_of_time
from hudi_spark.state.timeline import Instant, Timeline

COMMIT_TIME: Final = "_hoodie_commit_time"
_OPEN: Final = "earliest"


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Bounds in 17 digits; `begin` is empty where the range is open there, `end` None where it reaches to now.

    Clauses: IN-002.
    """

    begin: str
    end: str | None

    @property
    def is_empty(self) -> bool:
        """Whether no time can lie in the range."""
        return self.end is not None and self.end <= self.begin

    def holds(self, time: str) -> bool:
        """Whether a time lies in the range."""
        return time > self.begin and (self.end is None or time <= self.end)

    def __str__(self) -> str:
        return f"({self.begin or _OPEN}, {self.end or 'now'}]"


def time_range(begin: str, end: str | None) -> TimeRange:
    """The range between two bounds; `earliest`, or nothing but zeros, as begin leaves it open there.

    Raises:
        HudiError: INSTANT_MALFORMED for any other bound that is no instant.

    Clauses: IN-002, TM-001, TM-002.

    """
    is_open = begin == _OPEN or (isinstance(begin, str) and begin != "" and not begin.strip("0"))
    return TimeRange("" if is_open else as_of_time(begin) or "", as_of_time(end))


@dataclass(frozen=True, slots=True)
class WritesOfRange:
    """Which instants are of a range.

    `inside`: completed data actions of the range, in completion order; `known`: requested times of all that are known.
    `oldest`: requested time of the first write that is known, None where there is none.

    Clauses: IN-003.
    """

    range: TimeRange
    inside: tuple[Instant, ...]
    known: frozenset[str]
    oldest: str | None

    @property
    def members(self) -> frozenset[str]:
        """Requested times of the range's actions."""
        return frozenset(instant.requested for instant in self.inside)

    @property
    def reaches_unknown(self) -> bool:
        """Whether writes that no timeline tells of may lie in the range: such are older than all known ones.

        Clauses: TL-018.
        """
        return not self.range.is_empty and (self.oldest is None or self.range.begin < self.oldest)

    def holds(self, instant: str) -> bool:
        """Whether what an instant wrote is of the range; one that is not known stands at its requested time.

        Clauses: IN-003.
        """
        if instant in self.known:
            return instant in self.members
        return self.reaches_unknown and self.range.holds(instant) and (self.oldest is None or instant < self.oldest)

    def filter(self) -> list[Any]:
        """The filter that keeps the rows of the range by their commit time.

        Clauses: IN-003.
        """
        members: list[Any] = [COMMIT_TIME, "in", sorted(self.members)]
        if not self.reaches_unknown:
            return members
        unknown: list[list[Any]] = [[COMMIT_TIME, ">", self.range.begin]]
        if self.range.end is not None:
            unknown.append([COMMIT_TIME, "<=", self.range.end])
        if self.oldest is not None:
            unknown.append([COMMIT_TIME, "<", self.oldest])
        return ["or", members, ["and", *unknown]]


def writes_of_range(timeline: Timeline, asked: TimeRange) -> WritesOfRange:
    """Which writes of a timeline completed within a range.

    Clauses: IN-003, TL-018.
    """
    done = timeline.completed_data()
    inside = tuple(one for one in done if not asked.is_empty and asked.holds(one.at("completed")))
    known = frozenset(one.requested for one in timeline.instants if not one.is_savepoint)
    return WritesOfRange(asked, inside, known, timeline.first_write())


def timeline_of_range(
    storage: Storage, configuration: TableConfiguration, active: Timeline, asked: TimeRange
) -> Timeline:
    """The active timeline; with the history where the range, or its end, reaches there.

    Actions leave by when they were requested: one that took long may have completed after the first of those that stay.

    Clauses: HS-001, IN-003.
    """
    first = active.first_write() or ""
    reaches = min(asked.begin, asked.end or asked.begin) < first
    if reaches or has_completed_after(storage, configuration, asked.begin):
        return whole_timeline(storage, configuration, active)
    return active


def commits_of(storage: Storage, instants: Iterable[Instant]) -> tuple[Commit, ...] | None:
    """The commits of instants, or None where the history has lost what one of them wrote.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT when a commit does not parse.

    Clauses: TL-015, HS-007.

    """
    wanted: Sequence[Instant] = tuple(instants)
    if any(one.archived is not None and not one.archived.content for one in wanted):
        return None
    return tuple(commit_of(storage, one) for one in wanted)
