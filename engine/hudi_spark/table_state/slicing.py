"""File groups and file slices, and the blocks of their logs that count: what a query reads together.

time ─────────────────────────────────────────────────────────────▶
group f1   base@10  log  log │ compaction requested @40 │ log
           └── slice 10 ─────┘                          └ slice 40, joined with slice 10 while 40 is pending
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hudi_format.log.blocks import BlockType, CorruptBlock, HeaderKey, RawBlock, read_blocks
from hudi_format.log.content import decode_command
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason, SkippedBytes
from hudi_spark.table_state.commits import GroupId, commit_of
from hudi_spark.table_state.configuration import load_configuration
from hudi_spark.table_state.listing import FileListing, file_name_of, read_log, stored_files
from hudi_spark.table_state.timeline import Timeline, Visibility, load_timeline


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
        return _merge_order(log.name, self.completions if self.text_order else {})


def _merge_order(name: LogFileName, completions: Mapping[str, str]) -> tuple[str, int, str]:
    return completions.get(name.instant, name.instant), name.version, name.write_token or ""


def completion_times(timeline: Timeline) -> dict[str, str]:
    """Completion time of each completed data action that has one."""
    return {one.requested: one.completed for one in timeline.completed_data() if one.completed is not None}


def list_file_groups(
    storage: Storage, listing: FileListing | None = None, *, change_logs: bool = False
) -> dict[GroupId, FileGroup]:
    """File groups by partition and file id, from the names of files in a listing, or in storage without one.

    Logs of change data capture hold no data and are left out, but where they are requested.

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


def logs_of_plan(partition: str, files: Iterable[str], completions: Mapping[str, str]) -> tuple[str, ...]:
    """The paths of the logs that a plan names for a slice, in the order in which they are merged.

    Releases list them the other way round in plans of clusterings. `completions`: as of `SlicingRules` where logs are
    merged by completion time, else empty.

    Clauses: CP-005, RD-007.
    """

    def order(path: str) -> tuple[str, int, str]:
        name = parse_data_file_name(path.rpartition("/")[2])
        return _merge_order(name, completions) if isinstance(name, LogFileName) else (path, 0, "")

    return tuple(sorted((f"{partition}/{file_name_of(path)}".lstrip("/") for path in files), key=order))


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


@dataclass(frozen=True, slots=True)
class LocatedBlock:
    """A data or delete block and the file that holds it."""

    file: str
    instant: str
    block: RawBlock

    @property
    def compacted(self) -> tuple[str, ...]:
        """Instants whose blocks this one replaces, newest first.

        Clauses: LF-019.
        """
        text = self.block.header.get(HeaderKey.COMPACTED_BLOCK_TIMES, "")
        return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class LogScan:
    """What the log files of a slice say: blocks in merge order, and the bytes that were skipped."""

    blocks: tuple[LocatedBlock, ...]
    skipped: tuple[SkippedBytes, ...]


def scan_logs(storage: Storage, log_files: Sequence[str], visibility: Visibility) -> LogScan:
    """The blocks of log files, given in merge order, that a query reads.

    Rolled back blocks, blocks of instants that the query does not see, and log-compacted blocks are left out.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for a block that breaks the format inside an intact frame.
        HudiError: LOG_CONTENT_CORRUPT for a block without instant, and for one of the change feed; LOG_FILE_MISSING.

    Clauses: LF-010, LF-012, LF-015, LF-016, LF-018, LF-019, RD-013.

    """
    blocks: list[LocatedBlock] = []
    skipped: list[SkippedBytes] = []
    for file in log_files:
        found, lost = log_blocks(storage, file)
        skipped += lost
        for block in found:
            if block.type is BlockType.COMMAND:
                # Only what precedes the command: an instant may be used again later.
                target = decode_command(block, file).target
                blocks = [one for one in blocks if one.instant != target]
            else:
                blocks.append(_located(block, file))
    visible = [one for one in blocks if visibility.sees(one.instant)]
    for one in visible:
        if one.block.type is BlockType.CDC_DATA:
            message = "a log of rows has a block of the change feed, whose type may have been changed"
            hint = "restore the log file from a copy"
            raise HudiError(Reason.LOG_CONTENT_CORRUPT, "LF-018", message, one.file, one.block.offset, hint)
    return LogScan(tuple(_without_compacted(visible)), tuple(skipped))


def log_blocks(storage: Storage, file: str) -> tuple[list[RawBlock], list[SkippedBytes]]:
    """The blocks of a log, and the bytes of it that are none.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for a block that breaks the format inside an intact frame.
        HudiError: LOG_FILE_MISSING.

    Clauses: LF-010, LF-012, RD-013, SA-001.

    """
    data = read_log(storage, file)
    blocks: list[RawBlock] = []
    skipped = [] if data else list(_emptied(storage, file))
    for block in read_blocks(data, file):
        if isinstance(block, CorruptBlock):
            skipped.append(SkippedBytes(file, block.offset, "LF-010", f"{block.length} bytes skipped: {block.why}"))
        else:
            blocks.append(block)
    return blocks, skipped


def _emptied(storage: Storage, file: str) -> Iterator[SkippedBytes]:
    """What a log has lost that has no byte left; nothing where no completed write counts any.

    The latter is what a writer leaves that failed right away, so that the timeline is looked at here alone.

    Clauses: LF-012, RD-013, SA-001.
    """
    for instant in load_timeline(storage, load_configuration(storage)).completed_data():
        for _, stat in commit_of(storage, instant).stats():
            size = stat.file_size_in_bytes if stat.path == file else (stat.cdc_stats or {}).get(file)
            if size:
                message = f"no byte is left of the {size} that the write {instant.requested} put"
                yield SkippedBytes(file, 0, "SA-001", message)


def _located(block: RawBlock, file: str) -> LocatedBlock:
    instant = block.header.get(HeaderKey.INSTANT_TIME)
    if instant is None:
        message = "the block names no instant in its header"
        hint = "restore the log file from a copy"
        raise HudiError(Reason.LOG_CONTENT_CORRUPT, "LF-006", message, file, block.offset, hint)
    return LocatedBlock(file, instant, block)


def _without_compacted(blocks: list[LocatedBlock]) -> list[LocatedBlock]:
    """Each log-compacted block at the place of the newest block that it replaces.

    Clauses: LF-019.
    """
    final = _final_instants(blocks)
    if not final:
        return blocks
    of_instant: dict[str, list[LocatedBlock]] = {}
    for one in blocks:
        of_instant.setdefault(one.instant, []).append(one)
    placed: list[str] = []
    for one in reversed(blocks):
        instant = final.get(one.instant, one.instant)
        # Its rows, or those of what replaced it in turn, come where the blocks stand that it was made of.
        waits = _has_sources(of_instant[one.instant][0], of_instant)
        if instant not in placed and not waits:
            placed.append(instant)
    return [one for instant in reversed(placed) for one in of_instant[instant]]


def _final_instants(blocks: list[LocatedBlock]) -> dict[str, str]:
    """For each replaced instant, the outermost log compaction that holds its records."""
    replaced_by = {source: one.instant for one in blocks for source in one.compacted if source != one.instant}
    final = {}
    for source in replaced_by:
        outermost, seen = source, {source}
        while replaced_by.get(outermost, outermost) not in seen:
            outermost = replaced_by[outermost]
            seen.add(outermost)
        final[source] = outermost
    return final


def _has_sources(one: LocatedBlock, of_instant: dict[str, list[LocatedBlock]]) -> bool:
    """Whether blocks that this one replaces are still there, so that their place is its place."""
    return any(source < one.instant and source in of_instant for source in one.compacted)
