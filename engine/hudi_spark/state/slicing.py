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

from hudi_spark.state.commits import GroupId
from hudi_spark.state.listing import FileListing, stored_files
from hudi_spark.state.timeline import Timeline, Visibility


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

    @property
    def group(self) -> tuple[str, str]:
        """Partition path and file id."""
        return self.partition, self.file_id

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

    `visibility` says which files count; `limit` is the base instant and requested time up to which they are read.
    `named`: paths of the base files that commits name.
    `completions`: completion time of each instant that has one (table version 8 and later); empty before.
    `logs_by_completion`: slices by completion time (version 8 and later) or by the name's instant (version 6).
    `text_order`: logs of a slice by completion time instead of requested time.

    Clauses: RD-005, RD-006, RD-007, RD-010.
    """

    visibility: Visibility
    limit: str | None
    named: frozenset[str]
    completions: Mapping[str, str]
    logs_by_completion: bool
    text_order: bool

    def completion(self, instant: str) -> str:
        """Completion time of an instant, or the instant where none is known."""
        return self.completions.get(instant, instant)

    def reaches(self, time: str) -> bool:
        """Whether a slice or log of a requested time is read.

        Clauses: RD-010.
        """
        return self.limit is None or time <= self.limit

    def order(self, log: LogFile) -> tuple[str, int, str]:
        """Where a log stands among those of its slice.

        Clauses: RD-007.
        """
        time = self.completion(log.name.instant) if self.text_order else log.name.instant
        return time, log.name.version, log.name.write_token or ""


def completion_times(timeline: Timeline) -> dict[str, str]:
    """Completion time of each completed data action that has one."""
    return {one.requested: one.completed for one in timeline.completed_data() if one.completed is not None}


def list_file_groups(
    storage: Storage, listing: FileListing | None = None, *, change_logs: bool = False
) -> dict[GroupId, FileGroup]:
    """File groups by partition and file id, from the names of files in a listing, or in storage without one.

    Logs of change data capture hold no data and are left out, but where they are asked for.

    Clauses: SL-002, SL-003, SL-004, SL-005, SL-006, LF-018.
    """
    groups: dict[GroupId, FileGroup] = {}
    for partition, file_name in (listing or stored_files(storage)).files:
        name = parse_data_file_name(file_name)
        if name is None or (isinstance(name, LogFileName) and name.cdc and not change_logs):
            continue
        path = f"{partition}/{file_name}" if partition else file_name
        group = groups.setdefault((partition, name.file_id), FileGroup([], []))
        if isinstance(name, BaseFileName):
            group.base_files.append(BaseFile(path, name))
        else:
            group.log_files.append(LogFile(path, name))
    return groups


def latest_slice(group_id: GroupId, group: FileGroup, pending: Iterable[str], rules: SlicingRules) -> FileSlice | None:
    """The slice of a file group that a snapshot reads, or None when nothing in the group is visible.

    A slice that a pending compaction opened is joined with the one before.

    Clauses: RD-004, RD-005, RD-006, RD-008, RD-016, RD-017.
    """
    bases = _committed_bases(group, rules)
    opened = {instant for instant in pending if instant not in bases}
    assigned = _assign_logs(group, sorted({*bases, *opened}), opened, rules)
    times = [time for time in sorted({*bases, *assigned, *opened}) if rules.reaches(time)]
    read = {time: [log for log in assigned.get(time, ()) if rules.reaches(log.name.instant)] for time in times}
    newest = [time for time in times if time in bases or read[time]][-1:]
    if not newest:
        return None
    joined = _joined_times(times, newest[0], opened)
    logs = sorted((log for time in joined for log in read[time]), key=rules.order)
    base = bases.get(joined[0])
    return FileSlice(*group_id, joined[0], None if base is None else base.path, tuple(log.path for log in logs))


def all_slices(
    group_id: GroupId, group: FileGroup, pending: Iterable[str], rules: SlicingRules
) -> tuple[FileSlice, ...]:
    """Every committed slice of a file group, the oldest first; one that a pending compaction opened may be empty.

    Clauses: RD-004, RD-005, RD-006, RD-008.
    """
    bases = _committed_bases(group, rules)
    opened = {instant for instant in pending if instant not in bases}
    assigned = _assign_logs(group, sorted({*bases, *opened}), opened, rules)
    return tuple(
        FileSlice(
            *group_id,
            time,
            bases[time].path if time in bases else None,
            tuple(log.path for log in sorted(assigned.get(time, ()), key=rules.order)),
        )
        for time in sorted({*bases, *assigned, *opened})
    )


def latest_base_slice(group_id: GroupId, group: FileGroup, rules: SlicingRules) -> FileSlice | None:
    """The newest visible base file of a file group, or None.

    Clauses: RD-009, RD-015.
    """
    bases = _committed_bases(group, rules)
    newest = max((time for time in bases if rules.reaches(time)), default=None)
    return None if newest is None else FileSlice(*group_id, newest, bases[newest].path, ())


def _committed_bases(group: FileGroup, rules: SlicingRules) -> dict[str, BaseFile]:
    """The base file of each committed instant; of several from failed attempts, the one that the commit names.

    Clauses: RD-002.
    """
    visible = [base for base in group.base_files if rules.visibility.sees(base.name.instant)]
    return {base.name.instant: base for base in sorted(visible, key=lambda one: (one.path in rules.named, one.path))}


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

    A log that is named after a base instant, as version 6 does, stays with it after an upgrade.

    Clauses: RD-005, RD-006.
    """
    if not rules.logs_by_completion or instant in known:
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
