"""A change query becomes tasks, one for each file group that a write of the range touched."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa
from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import WriteStat

from hudi_spark.changes.images import STATE_COLUMNS, changes_schema
from hudi_spark.changes.states import Moment, Moments, not_retained, written_files
from hudi_spark.changes.tasks import ChangeStep, ChangeTask, GroupState
from hudi_spark.errors import HudiError
from hudi_spark.execution.planning import Query, read_context, slice_task
from hudi_spark.execution.tasks import ReadContext, SliceTask
from hudi_spark.metadata.listing import lister
from hudi_spark.read_configs import check_configs
from hudi_spark.readings import RELEASED, Readings
from hudi_spark.schemas.origins import Origins, origins_of
from hudi_spark.state.commits import Commit, GroupId, load_commits, refuse_escape
from hudi_spark.state.configuration import PROPERTIES_FILE, TableConfiguration, flag
from hudi_spark.state.history import whole_timeline
from hudi_spark.state.ranges import WritesOfRange, time_range, timeline_of_range, writes_of_range
from hudi_spark.state.removals import cleaned_paths, planned_paths, undone_instants
from hudi_spark.state.slicing import FileGroup, FileSlice, completion_times, list_file_groups
from hudi_spark.state.snapshots import Snapshot, load_table
from hudi_spark.state.timeline import Timeline, visibility


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """What is asked of a change feed: what was changed after `begin` and up to `end`.

    `commit_time` asks for the instant of each change beside it.

    Clauses: CD-002, IN-002.
    """

    begin: str
    end: str | None = None
    commit_time: bool = False
    readings: Readings = RELEASED
    configs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangesPlan:
    """The tasks of a change query, and the schema of its answer."""

    tasks: tuple[ChangeTask, ...]
    schema: pa.Schema


def plan_changes(storage: Storage, query: ChangesQuery) -> ChangesPlan:
    """The tasks that tell the changes of a range.

    Raises:
        HudiError: a refused table; CONFIG_INVALID without a change feed, INSTANT_MALFORMED, RANGE_NOT_RETAINED,
            LOG_FILE_MISSING.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: CD-001, CD-002, CD-006, CD-007, IN-002.

    """
    check_configs(query.configs)
    configuration, active = load_table(storage)
    _refuse_without_feed(configuration)
    asked = time_range(query.begin, query.end)
    timeline = timeline_of_range(storage, configuration, active, asked)
    writes = writes_of_range(timeline, asked)
    commits = load_commits(storage, timeline, asked.end, "completed")
    planned = _Planning(storage, configuration, timeline, commits, writes, query)
    return planned.plan()


def _refuse_without_feed(configuration: TableConfiguration) -> None:
    """Clauses: CD-001."""
    enabled = flag(configuration.properties, "hoodie.table.cdc.enabled", default=False)
    if enabled and configuration.populates_meta_fields:
        return
    key = "hoodie.table.cdc.enabled" if not enabled else "hoodie.populate.meta.fields"
    message = f"the table keeps no change feed: {key} is not true"
    hint = "ask for what changed as an incremental query" if not enabled else "write the rows with their commit times"
    raise HudiError(Reason.CONFIG_INVALID, "CD-001", message, PROPERTIES_FILE, hint=hint)


class _Planning:
    """Plans one change query."""

    def __init__(  # noqa: PLR0917 - what a range is told from
        self,
        storage: Storage,
        configuration: TableConfiguration,
        timeline: Timeline,
        commits: tuple[Commit, ...],
        writes: WritesOfRange,
        query: ChangesQuery,
    ) -> None:
        self._storage = storage
        self._configuration = configuration
        self._timeline = timeline
        self._commits = commits
        self._writes = writes
        self._query = query
        listing = lister(query.configs)(storage, configuration, timeline)
        self._groups = list_file_groups(storage, listing)
        self._listed = frozenset(f"{partition}/{name}" if partition else name for partition, name in listing.files)
        undone = undone_instants(storage, timeline)
        self._seen = visibility(timeline, writes.range.end, "completed", undone)
        text_order = query.readings.log_order == "text"
        written, times = written_files(commits), completion_times(timeline)
        self._moments = Moments(
            storage, configuration, timeline, commits, self._groups, written, times, self._seen, text_order=text_order
        )

    def plan(self) -> ChangesPlan:
        """The tasks, one for each file group, in the order of the groups."""
        self._refuse_archived()
        drafts: dict[GroupId, list[_Draft]] = {}
        for draft in self._drafts():
            drafts.setdefault(draft.group, []).append(draft)
        reading = self._reading([draft for found in drafts.values() for draft in found])
        context = reading.context
        columns = pa.schema([field for field in context.output_schema if field.name not in STATE_COLUMNS])
        tasks = tuple(self._task(drafts[group], reading, columns) for group in sorted(drafts))
        return ChangesPlan(tasks, changes_schema(columns, commit_time=self._query.commit_time))

    def _refuse_archived(self) -> None:
        """Clauses: CD-006."""
        archived = (
            commit.instant.requested
            for commit in self._inside()
            if commit.instant.archived is not None and not commit.is_service
        )
        unknown = (time for time in _instants(self._groups.values()) if time not in self._writes.known)
        for time in (*archived, *(time for time in unknown if self._writes.holds(time) and self._seen.sees(time))):
            message = f"the range {self._writes.range} begins among writes that left the active timeline: {time}"
            hint = f"begin at {self._oldest_begin() or 'a later time'} or later"
            raise HudiError(Reason.RANGE_NOT_RETAINED, "CD-006", message, hint=hint)

    def _oldest_begin(self) -> str | None:
        """The completion time of the last archived write."""
        times = [one.at("completed") for one in self._timeline.completed_data() if one.archived is not None]
        return max(times, default=None)

    def _inside(self) -> Iterator[Commit]:
        members = self._writes.members
        return (commit for commit in self._commits if commit.instant.requested in members)

    def _drafts(self) -> Iterator["_Draft"]:
        """Clauses: CD-005, CD-007."""
        members = self._writes.members
        for position, commit in enumerate(self._commits):
            if commit.instant.requested not in members or commit.is_service:
                continue
            before, after = self._moments.around(position)
            for group, stats in _stats_by_group(commit).items():
                yield self._draft(commit, group, (before, after), stats)
            for group in sorted(commit.replaced_groups()):
                yield replace(self._draft(commit, group, (before, after), ()), replaces=True)

    def _draft(
        self, commit: Commit, group: GroupId, moments: tuple[Moment, Moment], stats: tuple[WriteStat, ...]
    ) -> "_Draft":
        before, after = (_Found(moment, self._moments.slice(group, moment)) for moment in moments)
        return _Draft(commit, group, before, after, self._logs(stats), stats)

    def _logs(self, stats: Sequence[WriteStat]) -> tuple[str, ...]:
        """The change logs that write stats name, by file name.

        Clauses: CD-003, CD-010.
        """
        paths = {path for stat in stats for path in (stat.cdc_stats or {})}
        for path in sorted(paths):
            refuse_escape(self._storage, path)
            if path not in self._listed and not self._storage.exists(path):
                raise self._lost_log(path)
        return tuple(sorted(paths, key=lambda path: (path.rpartition("/")[2], path)))

    def _lost_log(self, path: str) -> HudiError:
        """Clauses: CD-003, CD-006."""
        if path in self._cleaned:
            return not_retained(self._writes.range, path, cleaned=True)
        message = "the timeline names the change log and storage lacks it"
        return HudiError(Reason.LOG_FILE_MISSING, "CD-003", message, path, hint="restore the file from a copy")

    @cached_property
    def _cleaned(self) -> frozenset[str]:
        """What cleans deleted, those in the history too.

        Clauses: CD-006, HS-008.
        """
        whole = whole_timeline(self._storage, self._configuration, self._timeline)
        return cleaned_paths(self._storage, whole) | planned_paths(self._storage, self._timeline)

    def _reading(self, drafts: Sequence["_Draft"]) -> "_Reading":
        """What all states are read with: every column, record key and commit time."""
        states = (state.slice for draft in drafts for state in (draft.before, draft.after))
        slices = tuple(one for one in states if one is not None)
        snapshot = Snapshot(self._configuration, self._timeline, self._commits, self._seen, slices)
        asked = Query(readings=self._query.readings, configs=self._query.configs)
        context = read_context(self._storage, asked, snapshot)
        whole = replace(context, output=(*STATE_COLUMNS, *context.output))
        return _Reading(whole, origins_of(self._storage, snapshot))

    def _task(self, drafts: Sequence["_Draft"], reading: "_Reading", columns: pa.Schema) -> ChangeTask:
        steps = tuple(self._step(draft, reading) for draft in drafts)
        return ChangeTask(self._storage, steps, reading.context.output_schema, columns, self._query.commit_time)

    def _step(self, draft: "_Draft", reading: "_Reading") -> ChangeStep:
        before = self._state(draft.group, draft.before, draft.stats, reading)
        if draft.replaces and draft.before.slice is None and self._moments.knows_nothing_of(draft.group):
            before = GroupState(
                None, not_retained(self._writes.range, "/".join(filter(None, draft.group)), cleaned=True)
            )
        after = self._state(draft.group, draft.after, (), reading)
        return ChangeStep(draft.commit.instant.requested, before, after, draft.logs, draft.replaces)

    def _state(self, group: GroupId, found: "_Found", stats: Sequence[WriteStat], reading: "_Reading") -> GroupState:
        missing = self._moments.refusal(group, found.moment, found.slice, stats)
        if missing is not None:
            # A slice is known by its instant alone only where the commit that wrote it has left the timeline.
            cleaned = "/" not in missing or missing in self._cleaned
            return GroupState(None, not_retained(self._writes.range, missing, cleaned=cleaned))
        return GroupState(None if found.slice is None else reading.task(found.slice, found.moment))


@dataclass(frozen=True, slots=True)
class _Found:
    """A moment, and the slice that a file group was at it."""

    moment: Moment
    slice: FileSlice | None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A write and a file group that it touched."""

    commit: Commit
    group: GroupId
    before: _Found
    after: _Found
    logs: tuple[str, ...]
    stats: tuple[WriteStat, ...]
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class _Reading:
    """How states of file groups are read."""

    context: ReadContext
    origins: Origins

    def task(self, found: FileSlice, moment: Moment) -> SliceTask:
        """The task that reads a slice as it was at a moment."""
        return slice_task(found, replace(self.context, visibility=moment.visibility), self.origins)


def _stats_by_group(commit: Commit) -> dict[GroupId, tuple[WriteStat, ...]]:
    """Clauses: SL-008."""
    found: dict[GroupId, tuple[WriteStat, ...]] = {}
    for group, stat in commit.stats():
        found[group] = (*found.get(group, ()), stat)
    return found


def _instants(groups: Collection[FileGroup]) -> set[str]:
    """Instants in the names of data files."""
    bases = {file.name.instant for group in groups for file in group.base_files}
    return bases | {file.name.instant for group in groups for file in group.log_files}
