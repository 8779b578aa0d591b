"""A table as a query sees it: configuration, timeline, commits, and the file slices to read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hudi_adapter.instants import InstantFormError, normal_instant
from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.readings import Readings
from hudi_spark.state.commits import Commit, GroupId, load_commits, newest_base_files, replaced_groups
from hudi_spark.state.configuration import TableConfiguration, load_configuration
from hudi_spark.state.history import archived_since, completions_of, whole_timeline
from hudi_spark.state.listing import STORAGE, FileListing, ListFiles, list_stored, stored_files
from hudi_spark.state.pending_plans import pending_compactions
from hudi_spark.state.removals import is_cleaned, is_undone, planned_paths, refuse_cleaned, undone_instants
from hudi_spark.state.slicing import (
    FileGroup,
    FileSlice,
    LogFile,
    SlicingRules,
    completion_times,
    latest_base_slice,
    latest_slice,
    list_file_groups,
)
from hudi_spark.state.timeline import Axis, Timeline, Visibility, load_timeline, visibility
from hudi_spark.state.vanishing import read_anew


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a query at one read time sees.

    Clauses: RD-001.
    """

    configuration: TableConfiguration
    timeline: Timeline
    commits: tuple[Commit, ...]
    visibility: Visibility
    slices: tuple[FileSlice, ...]
    listed_by: str = STORAGE


@read_anew
def load_snapshot(
    storage: Storage,
    readings: Readings,
    as_of: str | None = None,
    list_files: ListFiles = list_stored,
    *,
    read_optimized: bool = False,
) -> Snapshot:
    """The newest state of a table, or its state as of a time; `list_files` tells which files there are.

    Raises:
        HudiError: the reasons of a refused table; RANGE_NOT_RETAINED; INSTANT_MALFORMED for a senseless time.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: a table that this reader cannot read yet.

    Clauses: RD-001, RD-002, RD-003, RD-009, RD-010, RD-014, HS-001.

    """
    time = as_of_time(as_of)
    configuration, timeline = load_table(storage)
    if time is not None and time < (timeline.first_write() or ""):
        timeline = whole_timeline(storage, configuration, timeline)
    refuse_cleaned(storage, timeline, time)
    axis: Axis = "completed" if readings.time_travel == "text" else "requested"
    table = (configuration, timeline)
    listing = list_files(storage, configuration, timeline)
    try:
        return snapshot_at(storage, table, readings, time, axis, read_optimized=read_optimized, listing=listing)
    except HudiError as error:
        if listing.is_stored:
            raise
        # Whoever else lists files may miss some that commits name; what storage lacks is missing.
        listing = stored_files(storage, f"{STORAGE}: the {listing.source} is not whole: {error}")
        return snapshot_at(storage, table, readings, time, axis, read_optimized=read_optimized, listing=listing)


def snapshot_at(  # noqa: PLR0917 - a state is told by all of them
    storage: Storage,
    table: tuple[TableConfiguration, Timeline],
    readings: Readings,
    time: str | None,
    axis: Axis,
    only: frozenset[GroupId] | None = None,
    *,
    read_optimized: bool = False,
    listing: FileListing | None = None,
) -> Snapshot:
    """The state of a table as of a time on an axis; where `only` is given, of these file groups.

    Raises:
        HudiError: BASE_FILE_MISSING, LOG_FILE_MISSING; RANGE_NOT_RETAINED where a clean deleted what is needed.
        FormatError: what a file of the timeline breaks.

    Clauses: RD-001, RD-002, RD-003, RD-009, RD-010, RD-014.

    """
    configuration, timeline = table
    commits = load_commits(storage, timeline, time, axis)
    undone = undone_instants(storage, timeline)
    seen = visibility(timeline, time, axis, undone)
    # As released slices are formed of all that is committed by now, and time travel picks among them.
    counted = seen if axis == "completed" else visibility(timeline, None, axis, undone)
    listed = listing or stored_files(storage)
    found = _Slices(storage, configuration, timeline, commits, seen, counted, readings, listed, only)
    return Snapshot(configuration, timeline, commits, seen, found.slices(read_optimized=read_optimized), listed.source)


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


# What a bootstrap's commits have for a time: of meta fields alone, and of whole records.
_BOOTSTRAPS = ("00000000000001", "00000000000002")


def as_of_time(text: str | None) -> str | None:
    """The instant to travel to, in 17 digits.

    Raises:
        HudiError: INSTANT_MALFORMED.

    Clauses: TM-001, TM-002.

    """
    if text is None or text in _BOOTSTRAPS:
        return text
    try:
        return normal_instant(text)
    except InstantFormError as error:
        hint = "give 17 digits, yyyyMMddHHmmssSSS, or 14"
        raise HudiError(Reason.INSTANT_MALFORMED, "TM-001", str(error), hint=hint) from error


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

    def _is_read(self, id_: GroupId, replaced: frozenset[GroupId]) -> bool:
        return id_ not in replaced and (self.only is None or id_ in self.only)

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

        They join their groups, so that slicing tells whether a slice that is read would hold them.

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
            timeline = whole_timeline(self.storage, self.configuration, timeline)
        if is_cleaned(self.storage, timeline, path):
            if self.visibility.limit is not None:
                message = f"as of {self.visibility.limit} needs a file that a clean deleted"
                raise HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, path, hint="ask for a later instant")
        elif not is_undone(self.storage, timeline, path):
            if path in planned_paths(self.storage, self.timeline):
                message = "a clean that has not completed deleted the file"
                hint = "ask for a later instant, or again, where the table was written meanwhile"
                raise HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, path, hint=hint)
            message = "the timeline names the file and storage lacks it"
            hint = "restore the file, or restore the table to a savepoint"
            raise HudiError(reason, clause, message, path, hint=hint)


def _instant_of(path: str) -> str:
    return path.rpartition("_")[2].partition(".")[0]
