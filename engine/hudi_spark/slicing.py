"""File groups and file slices: which files a query reads together.

time ─────────────────────────────────────────────────────────────▶
group f1   base@10  log  log │ compaction requested @40 │ log
           └── slice 10 ─────┘                          └ slice 40, joined with slice 10 while 40 is pending
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.commits import GroupId
from hudi_spark.timeline import Timeline, Visibility


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A base file in storage.

    Clauses: SL-004.
    """

    path: str
    name: BaseFileName


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file in storage.

    Clauses: SL-005.
    """

    path: str
    name: LogFileName


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A base file, or none, and the log files to merge over it, in merge order.

    Clauses: RD-004, RD-005, RD-006, RD-007, RD-017.
    """

    partition: str
    file_id: str
    base_instant: str
    base_file: str | None
    log_files: tuple[str, ...]

    def __str__(self) -> str:
        base = (self.base_file or "no base file").rpartition("/")[2]
        logs = "".join(f" + {path.rpartition('/')[2]}" for path in self.log_files)
        return f"{self.partition or '.'}/{self.file_id} @ {self.base_instant}: {base}{logs}"


@dataclass(slots=True)
class FileGroup:
    """All base and log files of one file id in one partition.

    Clauses: SL-003.
    """

    base_files: list[BaseFile]
    log_files: list[LogFile]


@dataclass(frozen=True, slots=True)
class SlicingRules:
    """What decides to which slice a file belongs.

    `completions`: completion time of each instant that has one (table version 8 and later); empty before.
    `logs_by_completion`: slices by completion time (version 8 and later) or by the name's instant (version 6).
    `text_order`: logs of a slice by completion time instead of requested time.

    Clauses: RD-005, RD-006, RD-007.
    """

    visibility: Visibility
    completions: Mapping[str, str]
    logs_by_completion: bool
    text_order: bool

    def completion(self, instant: str) -> str:
        """Completion time of an instant, or the instant where none is known."""
        return self.completions.get(instant, instant)

    def order(self, log: LogFile) -> tuple[str, int, str]:
        """Where a log stands among those of its slice.

        Clauses: RD-007.
        """
        time = self.completion(log.name.instant) if self.text_order else log.name.instant
        return time, log.name.version, log.name.write_token or ""


def completion_times(timeline: Timeline) -> dict[str, str]:
    """Completion time of each completed data action that has one."""
    return {one.requested: one.completed for one in timeline.completed_data() if one.completed is not None}


def list_file_groups(storage: Storage) -> dict[GroupId, FileGroup]:
    """File groups by partition and file id, from the names of the files in storage.

    Logs of change data capture hold no data and are left out.

    Clauses: SL-003, SL-004, SL-005, SL-006, LF-018.
    """
    groups: dict[GroupId, FileGroup] = {}
    for status in storage.list_files(skip=(".hoodie",)):
        partition, _, file_name = status.path.rpartition("/")
        name = parse_data_file_name(file_name)
        if name is None or (isinstance(name, LogFileName) and name.cdc):
            continue
        group = groups.setdefault((partition, name.file_id), FileGroup([], []))
        if isinstance(name, BaseFileName):
            group.base_files.append(BaseFile(status.path, name))
        else:
            group.log_files.append(LogFile(status.path, name))
    return groups


def latest_slice(group_id: GroupId, group: FileGroup, pending: Iterable[str], rules: SlicingRules) -> FileSlice | None:
    """The slice of a file group that a snapshot reads, or None when nothing in the group is visible.

    A slice that a pending compaction opened is joined with the one before.

    Clauses: RD-004, RD-005, RD-006, RD-008, RD-016, RD-017.
    """
    bases = {base.name.instant: base for base in group.base_files if rules.visibility.sees(base.name.instant)}
    opened = {instant for instant in pending if instant not in bases}
    assigned = _assign_logs(group, sorted({*bases, *opened}), opened, rules)
    times = sorted({*bases, *assigned, *opened})
    newest = [time for time in times if time in bases or assigned.get(time)][-1:]
    if not newest:
        return None
    joined = _joined_times(times, newest[0], opened)
    logs = sorted((log for time in joined for log in assigned.get(time, ())), key=rules.order)
    base = bases.get(joined[0])
    return FileSlice(*group_id, joined[0], None if base is None else base.path, tuple(log.path for log in logs))


def latest_base_slice(group_id: GroupId, group: FileGroup, rules: SlicingRules) -> FileSlice | None:
    """The newest visible base file of a file group, or None.

    Clauses: RD-009, RD-015.
    """
    visible = [base for base in group.base_files if rules.visibility.sees(base.name.instant)]
    newest = max(visible, key=lambda base: base.name.instant, default=None)
    return None if newest is None else FileSlice(*group_id, newest.name.instant, newest.path, ())


def _assign_logs(
    group: FileGroup, boundaries: list[str], opened: set[str], rules: SlicingRules
) -> dict[str, list[LogFile]]:
    """Visible log files by the base instant of their slice.

    Clauses: RD-002, RD-005, RD-006.
    """
    assigned: dict[str, list[LogFile]] = {}
    known = list(boundaries)
    for log in sorted(group.log_files, key=lambda one: one.name.instant):
        # Version 6 names a log after its slice, and a pending compaction may have opened that.
        if rules.visibility.sees(log.name.instant) or log.name.instant in opened:
            time = _slice_time(log.name.instant, known, rules)
            if time not in known:
                insort(known, time)
            assigned.setdefault(time, []).append(log)
    return assigned


def _slice_time(instant: str, known: list[str], rules: SlicingRules) -> str:
    """Base instant of the slice of a log: the greatest up to its completion, or a new one.

    Clauses: RD-005, RD-006.
    """
    if not rules.logs_by_completion:
        return instant
    index = bisect_right(known, rules.completion(instant))
    return known[index - 1] if index else instant


def _joined_times(times: list[str], newest: str, opened: set[str]) -> list[str]:
    """The newest slice and, while pending compactions opened it, those before, oldest first.

    Clauses: RD-008.
    """
    joined = [newest]
    for time in reversed(times[: times.index(newest)]):
        if joined[0] not in opened:
            break
        joined.insert(0, time)
    return joined
