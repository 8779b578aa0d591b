"""A table as a query sees it: its file slices now, as of an instant, or over a range of time.

begin is out, end is in:   c1   (begin   c2   c3   end]   c4
A write stands where it completed; before table version 8 where it was requested.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from hudi_format.errors import FormatError
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason, warn_of_range
from hudi_spark.readings import RELEASED, Readings
from hudi_spark.table_state.commits import (
    Commit,
    GroupId,
    cleaned_paths,
    commit_of,
    is_cleaned,
    is_undone,
    load_commits,
    newest_base_files,
    planned_paths,
    refuse_cleaned,
    replaced_groups,
)
from hudi_spark.table_state.configuration import TableConfiguration, load_configuration
from hudi_spark.table_state.history import (
    archived_since,
    completions_of,
    full_timeline,
    has_completed_after,
    undone_writes,
)
from hudi_spark.table_state.instants import EARLIEST, as_of_time, is_open
from hudi_spark.table_state.listing import STORAGE, FileListing, ListFiles, list_stored, read_anew, stored_files
from hudi_spark.table_state.pending_plans import pending_compactions
from hudi_spark.table_state.slicing import (
    FileGroup,
    FileSlice,
    LogFile,
    SlicingRules,
    all_slices,
    completion_times,
    latest_base_slice,
    latest_slice,
    list_file_groups,
)
from hudi_spark.table_state.timeline import Axis, Instant, Timeline, Visibility, beside, load_timeline, visibility


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a query at one read time sees; `passed_over`: how many partitions there are of which no slice is wanted.

    Clauses: RD-001.
    """

    configuration: TableConfiguration
    timeline: Timeline
    commits: tuple[Commit, ...]
    visibility: Visibility
    slices: tuple[FileSlice, ...]
    listed_by: str = STORAGE
    passed_over: int = 0


@dataclass(frozen=True, slots=True)
class StatedFile:
    """The bytes and rows of a base file, as its commit counts them.

    Clauses: OW-017, SA-001.
    """

    size: int
    rows: int


def stated_files(snapshot: Snapshot, slices: Iterable[FileSlice]) -> dict[str, StatedFile]:
    """What the commits of a snapshot count of base files of slices, by path; one that states a number of none is none.

    Clauses: OW-017, SA-001.
    """
    instants = {one.base_instant for one in slices}
    stats = (stat for one in snapshot.commits if one.instant.requested in instants for _, stat in one.stats())
    return {
        stat.path: StatedFile(stat.file_size_in_bytes, stat.num_writes)
        for stat in stats
        if stat.path and stat.file_size_in_bytes and stat.num_writes
    }


ChoosePartitions = Callable[[Snapshot, frozenset[str]], frozenset[str]]
"""Of partitions those of which slices are wanted, by a snapshot that has none yet."""


@read_anew
def load_snapshot(
    storage: Storage,
    readings: Readings = RELEASED,
    as_of: str | None = None,
    list_files: ListFiles = list_stored,
    *,
    read_optimized: bool = False,
    choose: ChoosePartitions | None = None,
) -> Snapshot:
    """The newest state of a table, or its state as of a time; `list_files` states which files there are.

    `choose`: slices of some partitions are enough. A table that lacks files elsewhere is refused all the same.

    Raises:
        HudiError: the reasons of a refused table; RANGE_NOT_RETAINED; INSTANT_MALFORMED for a senseless time.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: a table that this reader cannot read yet.

    Clauses: RD-001, RD-002, RD-003, RD-009, RD-010, RD-014, HS-001.

    """
    time = as_of_time(as_of)
    configuration, timeline = load_table(storage)
    if time is not None and _needs_history(storage, timeline, time):
        timeline = full_timeline(storage, configuration, timeline)
    refuse_cleaned(storage, timeline, time)
    axis: Axis = "completed" if readings.time_travel == "text" else "requested"
    table = (configuration, timeline)
    listing = list_files(storage, configuration, timeline)
    part = partial(snapshot_at, storage, table, readings, time, axis, read_optimized=read_optimized, choose=choose)
    try:
        return part(listing=listing)
    except HudiError as error:
        if listing.is_stored:
            raise
        # Whoever else lists files may miss some that commits name; what storage lacks is missing.
        listing = stored_files(storage, f"{STORAGE}: the {listing.source} is not whole: {error}")
        return part(listing=listing)


def _needs_history(storage: Storage, timeline: Timeline, time: str) -> bool:
    """Whether archived writes may tell what a state lacks: one from before the timeline, or behind a clean.

    A clean that took a file which a write of the active timeline needs is later than that write, and so active too.

    Clauses: RD-014, HS-001.
    """
    first = timeline.first_write() or ""
    return time < first or any(_instant_of(path) < first for path in cleaned_paths(storage, timeline))


def snapshot_at(  # noqa: PLR0917 - a state is reported by all of them
    storage: Storage,
    table: tuple[TableConfiguration, Timeline],
    readings: Readings,
    time: str | None,
    axis: Axis,
    only: frozenset[GroupId] | None = None,
    *,
    read_optimized: bool = False,
    listing: FileListing | None = None,
    choose: ChoosePartitions | None = None,
) -> Snapshot:
    """The state of a table as of a time on an axis; where `only` is given, of these file groups.

    `choose`: as of `load_snapshot`.

    Raises:
        HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING; RANGE_NOT_RETAINED where a clean deleted what is needed.
        FormatError: what a file of the timeline breaks.

    Clauses: RD-001, RD-002, RD-003, RD-009, RD-010, RD-014.

    """
    configuration, timeline = table
    commits = load_commits(storage, timeline, time, axis)
    undone = undone_writes(storage, configuration, timeline)
    seen = visibility(timeline, time, axis, undone)
    # As released slices are formed of all that is committed by now, and time travel picks among them.
    counted = seen if axis == "completed" else visibility(timeline, None, axis, undone)
    listed = listing or stored_files(storage)
    found = _Slices(storage, configuration, timeline, commits, seen, counted, readings, listed, only)
    snapshot = Snapshot(configuration, timeline, commits, seen, (), listed.source)
    partitions = frozenset(partition for partition, _ in listed.files)
    wanted = choose(snapshot, partitions) if choose is not None and commits else partitions
    if wanted != partitions and found.has_newest(base_only=read_optimized):
        within = tuple(one for one in listed.files if one[0] in wanted)
        found = replace(found, listing=replace(listed, files=within), partitions=wanted)
        snapshot = replace(snapshot, passed_over=len(partitions - wanted))
    return replace(snapshot, slices=found.slices(read_optimized=read_optimized))


@read_anew
def committed_slices(storage: Storage) -> tuple[FileSlice, ...]:
    """Every committed slice that storage has files of, also those that newer ones follow; no group that is replaced.

    Raises:
        HudiError, FormatError, UnsupportedFeature: as `load_snapshot`, but for files that are missing.

    Clauses: RD-002, RD-003, RD-004, RD-008.

    """
    configuration, timeline = load_table(storage)
    commits = load_commits(storage, timeline, None, "requested")
    seen = visibility(timeline, None, "requested", undone_writes(storage, configuration, timeline))
    listing = stored_files(storage)
    return _Slices(storage, configuration, timeline, commits, seen, seen, RELEASED, listing).every()


def load_table(storage: Storage) -> tuple[TableConfiguration, Timeline]:
    """Configuration and active timeline of a table; no content of the timeline is read.

    Raises:
        HudiError: the reasons of a refused table.
        FormatError: PROPERTIES_INVALID, CHECKSUM_MISMATCH, INSTANT_MALFORMED.
        UnsupportedFeature: a table that this reader cannot read yet.

    Clauses: PR-002, TL-004.

    """
    configuration = load_configuration(storage)
    return configuration, load_timeline(storage, configuration)


@read_anew
def has_completed(storage: Storage, requested: str) -> bool:
    """Whether an action has completed, by its requested time: on the active timeline, or in the history.

    Raises:
        HudiError, FormatError: as `load_table`; TIMELINE_FILE_CORRUPT for a broken history.

    Clauses: TL-004, HS-001.

    """
    configuration, timeline = load_table(storage)
    for known in (timeline.instants, archived_since(storage, configuration, requested)):
        if any(one.requested == requested and one.is_completed and not one.is_savepoint for one in known):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Slices:
    """Finds the slices of a snapshot."""

    storage: Storage
    configuration: TableConfiguration
    timeline: Timeline
    commits: tuple[Commit, ...]
    visibility: Visibility
    counted: Visibility
    readings: Readings
    listing: FileListing
    only: frozenset[GroupId] | None = None
    partitions: frozenset[str] | None = None

    def has_newest(self, *, base_only: bool) -> bool:
        """Whether the files are there that commits name last, base files and logs on them.

        Clauses: RD-011, RD-018.
        """
        replaced, newest = replaced_groups(self.commits), newest_base_files(self.commits)
        there = {f"{partition}/{name}" if partition else name for partition, name in self.listing.files}
        if any(path not in there for id_, path in newest.items() if id_ not in replaced):
            return False
        logs = () if base_only else (one for commit in self.commits for one in commit.log_files())
        return all(
            path in there or id_ in replaced or (id_ in newest and name.instant < _instant_of(newest[id_]))
            for id_, path, name in logs
        )

    def slices(self, *, read_optimized: bool) -> tuple[FileSlice, ...]:
        """The slice to read of each file group, ordered by partition and file id.

        Clauses: RD-003, RD-004, RD-008, RD-009.
        """
        replaced = replaced_groups(self.commits)
        listed = list_file_groups(self.storage, self.listing)
        groups = {id_: group for id_, group in listed.items() if self._is_read(id_, replaced)}
        self._refuse_lost_timeline(groups)
        base_only = read_optimized or self._is_copy_on_write()
        lost = set() if base_only else self._lost_logs(groups, replaced)
        chosen = self._chosen(groups, base_only=base_only)
        self._refuse_missing(groups, chosen, replaced)
        self._refuse_lost_logs(chosen, lost)
        return tuple(chosen[id_] for id_ in sorted(chosen))

    def every(self) -> tuple[FileSlice, ...]:
        """All committed slices of the file groups that are not replaced, by partition and file id, the oldest first.

        Logs of change data capture are among their logs, as releases count them.

        Clauses: RD-003, RD-004, RD-005, RD-006, RD-008.
        """
        replaced = replaced_groups(self.commits)
        listed = list_file_groups(self.storage, self.listing, change_logs=True)
        groups = {id_: listed[id_] for id_ in sorted(listed) if self._is_read(id_, replaced)}
        pending = pending_compactions(self.storage, self.timeline, self.counted.limit)
        rules = self._rules(self._completions(groups, pending))
        return tuple(
            one for id_, group in groups.items() for one in all_slices(id_, group, pending.get(id_, ()), rules)
        )

    def _is_read(self, id_: GroupId, replaced: frozenset[GroupId]) -> bool:
        wanted = (self.only is None or id_ in self.only) and (self.partitions is None or id_[0] in self.partitions)
        return id_ not in replaced and wanted

    def _refuse_lost_timeline(self, groups: dict[GroupId, FileGroup]) -> None:
        """Clauses: TL-022."""
        if groups and not self.timeline.instants:
            message = f"there are data files in {len(groups)} file groups and no action in the timeline"
            hint = "look for the timeline's folder: its files, or the property that names it, are lost"
            folder = self.configuration.timeline_folder
            raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-022", message, folder, hint=hint)

    def _is_copy_on_write(self) -> bool:
        """Clauses: TT-001, TT-002."""
        return self.configuration.table_type == "COPY_ON_WRITE"

    def _chosen(self, groups: dict[GroupId, FileGroup], *, base_only: bool) -> dict[GroupId, FileSlice]:
        if base_only:
            rules = self._rules(completion_times(self.timeline))
            slices = {id_: latest_base_slice(id_, group, rules) for id_, group in groups.items()}
        else:
            pending = pending_compactions(self.storage, self.timeline, self.counted.limit)
            rules = self._rules(self._completions(groups, pending))
            slices = {id_: latest_slice(id_, group, pending.get(id_, ()), rules) for id_, group in groups.items()}
        return {id_: found for id_, found in slices.items() if found is not None}

    def _completions(
        self, groups: Mapping[GroupId, FileGroup], pending: Mapping[GroupId, tuple[str, ...]]
    ) -> dict[str, str]:
        """Completion times by which logs find their slices; those of archived writes where they can matter.

        Clauses: RD-005, HS-001.
        """
        if not self.configuration.has_completion_times:
            return completion_times(self.timeline)
        later = [one for id_, group in groups.items() for one in self._may_belong_later(group, pending.get(id_, ()))]
        return completions_of(self.storage, self.configuration, self.timeline, later)

    def _may_belong_later(self, group: FileGroup, pending: tuple[str, ...]) -> Iterator[str]:
        """The archived writes whose logs precede a slice that they may have completed after, or are ordered by it."""
        newest = max((*(base.name.instant for base in group.base_files), *pending), default="")
        logs = (log.name.instant for log in group.log_files if log.name.instant not in self.counted.listed)
        return (instant for instant in logs if instant < newest or self._orders_by_completion())

    def _rules(self, completions: Mapping[str, str]) -> SlicingRules:
        return SlicingRules(
            visibility=self.counted,
            limit=self.visibility.limit,
            named=frozenset(path for commit in self.commits for path in commit.base_files().values()),
            completions=completions,
            logs_by_completion=self.configuration.has_completion_times,
            text_order=self._orders_by_completion(),
        )

    def _orders_by_completion(self) -> bool:
        """Clauses: RD-007."""
        return self.readings.log_order == "text"

    def _lost_logs(self, groups: dict[GroupId, FileGroup], replaced: frozenset[GroupId]) -> set[str]:
        """Paths of log files that commits name and storage lacks.

        They join their groups, so that slicing states whether a slice that is read would hold them.

        Clauses: RD-018.
        """
        present = {log.path for group in groups.values() for log in group.log_files}
        lost: set[str] = set()
        for commit in self.commits:
            for id_, path, name in commit.log_files():
                if self._is_read(id_, replaced) and path not in present and path not in lost:
                    lost.add(path)
                    groups.setdefault(id_, FileGroup([], [])).log_files.append(LogFile(path, name))
        return lost

    def _refuse_lost_logs(self, chosen: dict[GroupId, FileSlice], lost: set[str]) -> None:
        """Clauses: RD-018."""
        for id_, found in chosen.items():
            gone = [path for path in found.log_files if path in lost]
            for path in gone:
                self._refuse_unless_deleted(path, Reason.LOG_FILE_MISSING, "RD-018")
            if gone:
                chosen[id_] = replace(found, log_files=tuple(path for path in found.log_files if path not in lost))

    def _refuse_missing(
        self,
        groups: dict[GroupId, FileGroup],
        chosen: dict[GroupId, FileSlice],
        replaced: frozenset[GroupId],
    ) -> None:
        """Clauses: RD-011, RD-014."""
        for id_, path in newest_base_files(self.commits).items():
            present = id_ in groups and any(base.path == path for base in groups[id_].base_files)
            if present or not self._is_read(id_, replaced):
                continue
            found = chosen.get(id_)
            if found is not None and found.base_file is not None and found.base_instant > _instant_of(path):
                continue
            self._refuse_unless_deleted(path, Reason.BASE_FILE_MISSING, "RD-011")

    def _refuse_unless_deleted(self, path: str, reason: Reason, clause: str) -> None:
        """Clauses: RD-011, RD-014, RD-018, HS-001."""
        timeline = self.timeline
        if not (is_cleaned(self.storage, timeline, path) or is_undone(self.storage, timeline, path)):
            timeline = full_timeline(self.storage, self.configuration, timeline)
        if is_cleaned(self.storage, timeline, path):
            if self.visibility.limit is not None:
                message = f"as of {self.visibility.limit} needs a file that a clean deleted"
                raise HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, path, hint="request a later instant")
        elif not is_undone(self.storage, timeline, path):
            if path in planned_paths(self.storage, self.timeline):
                message = "a clean that has not completed deleted the file"
                hint = "request a later instant, or again, where the table was written meanwhile"
                raise HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, path, hint=hint)
            message = "the timeline names the file and storage lacks it"
            hint = "restore the file, or restore the table to a savepoint"
            raise HudiError(reason, clause, message, path, hint=hint)


def _instant_of(path: str) -> str:
    return path.rpartition("_")[2].partition(".")[0]


@contextmanager
def cleaned_files_refused(storage: Storage) -> Iterator[None]:
    """Within the block a missing file is RANGE_NOT_RETAINED where the timeline says now that a clean took it.

    Clauses: RD-014.
    """
    try:
        yield
    except HudiError as error:
        found = _why_lost(storage, error)
        if found is error:
            raise
        raise found from error


def _why_lost(storage: Storage, error: HudiError) -> HudiError:
    if error.reason not in {Reason.BASE_FILE_MISSING, Reason.LOG_FILE_MISSING}:
        return error
    try:
        _, timeline = load_table(storage)
        cleaned = is_cleaned(storage, timeline, error.file) or error.file in planned_paths(storage, timeline)
    except (HudiError, FormatError, OSError):
        return error
    if not cleaned:
        return error
    message = "a clean deleted the file after the slice was planned to be read"
    hint = "ask again; where it happens often let cleans retain more (hoodie.clean.commits.retained)"
    return HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, error.file, hint=hint)


COMMIT_TIME: Final = "_hoodie_commit_time"


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
        return f"({self.begin or EARLIEST}, {self.end or 'now'}]"


def time_range(begin: str, end: str | None) -> TimeRange:
    """The range between two bounds; `earliest`, or nothing but zeros, as begin leaves it open there.

    One that ends before it begins is empty, and a `RangeWarning`.

    Raises:
        HudiError: INSTANT_MALFORMED for any other bound that is no instant.

    Clauses: IN-002, TM-001, TM-002.

    """
    wanted = TimeRange("" if is_open(begin) else as_of_time(begin) or "", as_of_time(end))
    if wanted.end is not None and wanted.end < wanted.begin:
        warn_of_range(f"the range {wanted} ends before it begins, so no row is in it (IN-002): swap begin and end")
    return wanted


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
        """Whether writes that no timeline records may lie in the range: such are older than all known ones.

        Clauses: TL-018.
        """
        return not self.range.is_empty and (self.oldest is None or self.range.begin < self.oldest)

    def holds(self, instant: str) -> bool:
        """Whether what an instant wrote, of which files are seen, is of the range.

        One that is not known stands at its requested time; it is older than all that are known, or nothing sees it.

        Clauses: IN-003.
        """
        return instant in self.members if instant in self.known else self.range.holds(instant)

    def filter(self) -> list[Any]:
        """The filter that keeps the rows of the range by their commit time, of a state at its end.

        A write that is known, was requested within the range and completed after it is not in that state.

        Clauses: IN-003.
        """
        members: list[Any] = [COMMIT_TIME, "in", sorted(self.members)]
        if not self.reaches_unknown:
            return members
        unknown: list[list[Any]] = [[COMMIT_TIME, ">", self.range.begin]]
        if self.range.end is not None:
            unknown.append([COMMIT_TIME, "<=", self.range.end])
        return ["or", members, ["and", *unknown]]


def writes_of_range(timeline: Timeline, time_range: TimeRange) -> WritesOfRange:
    """Which writes of a timeline completed within a range.

    Clauses: IN-003, TL-018.
    """
    done = timeline.completed_data()
    inside = tuple(one for one in done if not time_range.is_empty and time_range.holds(one.at("completed")))
    known = frozenset(one.requested for one in timeline.instants if not beside(one.action))
    return WritesOfRange(time_range, inside, known, timeline.first_write())


def timeline_of_range(
    storage: Storage, configuration: TableConfiguration, active: Timeline, time_range: TimeRange
) -> Timeline:
    """The active timeline; with the history where the range, or its end, reaches there.

    Actions leave by when they were requested: one that took long may have completed after the first of those that stay.

    Clauses: HS-001, IN-003.
    """
    first = active.first_write() or ""
    reaches = min(time_range.begin, time_range.end or time_range.begin) < first
    if reaches or has_completed_after(storage, configuration, time_range.begin):
        return full_timeline(storage, configuration, active)
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
