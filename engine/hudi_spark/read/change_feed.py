"""The change feed: a task for each file group that a write of the range touched, and what it answers."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.log.blocks import BlockType
from hudi_format.log.changes import decode_changes
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, WriteStat

from hudi_spark.errors import HudiError, Reason, SkippedBytes, typed_errors
from hudi_spark.merge import RECORD_KEY, same_values
from hudi_spark.options import check_configs, refuse_unmerged
from hudi_spark.read.planning import Query, read_context, slice_task
from hudi_spark.read.tasks import ReadContext, SliceRows, SliceTask, run_task
from hudi_spark.readings import RELEASED, Readings
from hudi_spark.schema import Origins, SliceColumns, concatenate, one_chunk, origins_of
from hudi_spark.table_state import (
    COMMIT_TIME,
    PROPERTIES_FILE,
    Commit,
    FileGroup,
    FileSlice,
    GroupId,
    LogFile,
    SlicingRules,
    Snapshot,
    TableConfiguration,
    Timeline,
    Visibility,
    WritesOfRange,
    cleaned_paths,
    completion_times,
    flag,
    full_timeline,
    latest_slice,
    list_file_groups,
    lister,
    load_commits,
    load_table,
    log_blocks,
    pending_compactions,
    planned_paths,
    refuse_escape,
    time_range,
    timeline_of_range,
    undone_writes,
    visibility,
    writes_of_range,
)

INSERT: Final = "i"
UPDATE: Final = "u"
DELETE: Final = "d"
STATE_COLUMNS: Final = (RECORD_KEY, COMMIT_TIME)
"""What a state of a file group is read with, besides the table's columns."""


def changes_schema(columns: pa.Schema, *, commit_time: bool) -> pa.Schema:
    """`op`, `before`, `after`; with the commit time first where it is requested.

    Clauses: CD-002.
    """
    image = pa.struct(list(columns))
    fields = [pa.field("op", pa.string()), pa.field("before", image), pa.field("after", image)]
    return pa.schema([pa.field(COMMIT_TIME, pa.string()), *fields] if commit_time else fields)


def derived(before: pa.Table, after: pa.Table, instant: str, columns: pa.Schema) -> pa.Table:
    """The changes between two states of a file group, of which `instant` wrote the second.

    A key that was not there is inserted, one that is gone deleted, one whose row is now of the instant, or has other
    values, updated.

    Clauses: CD-004, CD-005.
    """
    found = pc.index_in(after.column(RECORD_KEY), value_set=one_chunk(before.column(RECORD_KEY)))
    was = before.take(one_chunk(found))
    other = pc.invert(reduce(pc.and_, (same_values(after.column(name), was.column(name)) for name in columns.names)))
    own = pc.and_(pc.is_valid(found), pc.or_(pc.equal(after.column(COMMIT_TIME), instant), pa.chunked_array([other])))
    kept = pc.is_in(before.column(RECORD_KEY), value_set=one_chunk(after.column(RECORD_KEY)))
    inserted = after.filter(pc.is_null(found))
    updated = after.filter(own)
    parts = [
        change_rows(INSERT, None, inserted, columns),
        change_rows(UPDATE, before.take(one_chunk(found.filter(own))), updated, columns),
        change_rows(DELETE, before.filter(pc.invert(kept)), None, columns),
    ]
    return pa.concat_tables(parts)


def change_rows(operation: str, before: pa.Table | None, after: pa.Table | None, columns: pa.Schema) -> pa.Table:
    """Changes of one operation; an image that is None is null in each.

    Clauses: CD-002.
    """
    rows = next(table.num_rows for table in (before, after) if table is not None)
    operations = pa.repeat(pa.scalar(operation, pa.string()), rows)
    images = [_image(table, rows, columns) for table in (before, after)]
    return pa.Table.from_arrays([operations, *images], schema=changes_schema(columns, commit_time=False))


def found_images(keys: pa.ChunkedArray, wanted: pa.ChunkedArray, state: pa.Table, columns: pa.Schema) -> pa.Array:
    """For each key the row of a state, null where none is wanted or the state has none.

    Clauses: CD-003.
    """
    found = one_chunk(pc.index_in(keys, value_set=one_chunk(state.column(RECORD_KEY))))
    found = pc.if_else(one_chunk(wanted), found, pa.scalar(None, found.type))
    return struct_of(state.select(columns.names).take(found), pc.is_null(found))


def struct_of(table: pa.Table, null: pa.Array) -> pa.StructArray:
    """The rows of a table as structs, null where the mask says so."""
    arrays: Sequence[pa.Array] = [one_chunk(column) for column in table.columns]
    return pa.StructArray.from_arrays(arrays, fields=list(table.schema), mask=one_chunk(null))


def _image(table: pa.Table | None, rows: int, columns: pa.Schema) -> pa.Array:
    if table is None:
        return pa.nulls(rows, pa.struct(list(columns)))
    return struct_of(table.select(columns.names), pa.repeat(pa.scalar(value=False), rows))


@dataclass(frozen=True, slots=True)
class LoggedChanges:
    """The changes in one block: columns `op`, and of `record_key`, `before`, `after` those that its mode logs.

    Clauses: CD-003, CD-008.
    """

    rows: pa.Table

    def has(self, name: str) -> bool:
        """Whether the logging mode kept a column."""
        return name in self.rows.column_names


def read_logged(
    storage: Storage, files: Sequence[str], place: Callable[[pa.Table, str], pa.Table]
) -> tuple[tuple[LoggedChanges, ...], tuple[SkippedBytes, ...]]:
    """The changes in change logs, in order, and the bytes that are no blocks; `place` brings images into columns.

    Raises:
        FormatError: LOG_CONTENT_CORRUPT for a block that does not decode.
        HudiError: SCHEMA_INCOMPATIBLE for an image that does not fit the table's columns.

    Clauses: CD-003, CD-009, LF-010, RD-013.

    """
    changes: list[LoggedChanges] = []
    skipped: list[SkippedBytes] = []
    for file in files:
        blocks, lost = log_blocks(storage, file)
        skipped += lost
        logged = (decode_changes(block, file) for block in blocks if block.type is BlockType.CDC_DATA)
        changes += (LoggedChanges(pa.table(dict(_columns(each, place, file)))) for each in logged)
    return tuple(changes), tuple(skipped)


def _columns(
    changes: pa.Table, place: Callable[[pa.Table, str], pa.Table], file: str
) -> Iterator[tuple[str, pa.ChunkedArray | pa.Array]]:
    for name in changes.column_names:
        column = changes.column(name)
        yield name, _in_columns(column, place, file) if pa.types.is_struct(column.type) else column


def _in_columns(images: pa.ChunkedArray, place: Callable[[pa.Table, str], pa.Table], file: str) -> pa.StructArray:
    """Images, written in the columns of their time, in those that the table has now.

    Clauses: CD-002, DM-004, DM-021.
    """
    whole = images.combine_chunks()
    parts = [pc.struct_field(whole, [index]) for index in range(whole.type.num_fields)]
    table = pa.table(parts, names=[field.name for field in whole.type])
    return struct_of(place(table, file), pc.is_null(whole))


@dataclass(frozen=True, slots=True)
class Moment:
    """A state of the table: how many commits had completed, and what a reader then saw.

    Clauses: CD-005.
    """

    count: int
    visibility: Visibility
    pending: Mapping[GroupId, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A data file that the commit at a position wrote."""

    position: int
    path: str
    name: BaseFileName | LogFileName


def written_files(commits: Sequence[Commit]) -> dict[GroupId, list[WrittenFile]]:
    """The base files and logs of data that commits name, by file group.

    Clauses: SL-008.
    """
    found: dict[GroupId, list[WrittenFile]] = {}
    for position, commit in enumerate(commits):
        for group, path, name in commit.data_files():
            if isinstance(name, BaseFileName) or not name.cdc:
                found.setdefault(group, []).append(WrittenFile(position, path, name))
    return found


@dataclass(frozen=True, slots=True)
class Moments:
    """Finds the states around each write; `commits` are all up to the end of the range, in completion order.

    `groups` are all file groups in storage, replaced ones among them; `written` is what the commits name of them.

    Clauses: CD-005, RD-010.
    """

    storage: Storage
    configuration: TableConfiguration
    timeline: Timeline
    commits: tuple[Commit, ...]
    groups: Mapping[GroupId, FileGroup]
    written: Mapping[GroupId, Sequence[WrittenFile]]
    completions: Mapping[str, str]
    whole: Visibility
    text_order: bool

    def around(self, position: int) -> tuple[Moment, Moment]:
        """The states just before and just after the commit at a position.

        Clauses: CD-005.
        """
        time = self.commits[position].instant.at("completed")
        pending = pending_compactions(self.storage, self.timeline, time)
        return self._moment(position, time, pending), self._moment(position + 1, time, pending)

    def _moment(self, count: int, time: str, pending: Mapping[GroupId, tuple[str, ...]]) -> Moment:
        visible = frozenset(commit.instant.requested for commit in self.commits[:count])
        return Moment(count, replace(self.whole, visible=visible, limit=time), pending)

    def slice(self, id_: GroupId, moment: Moment) -> FileSlice | None:
        """The slice of a file group at a moment, lost log files included; None where it held nothing.

        Clauses: RD-004, RD-008, RD-018.
        """
        group = self.groups.get(id_, FileGroup([], []))
        present = {log.path for log in group.log_files}
        logs = {one.path: one.name for one in self._named(id_, moment) if isinstance(one.name, LogFileName)}
        lost = [LogFile(path, name) for path, name in logs.items() if path not in present]
        rules = SlicingRules(
            visibility=moment.visibility,
            limit=moment.visibility.limit,
            named=frozenset(one.path for one in self._named(id_, moment) if isinstance(one.name, BaseFileName)),
            completions=self.completions,
            logs_by_completion=self.configuration.has_completion_times,
            text_order=self.text_order,
        )
        whole = FileGroup(group.base_files, [*group.log_files, *lost])
        return latest_slice(id_, whole, moment.pending.get(id_, ()), rules)

    def _named(self, id_: GroupId, moment: Moment) -> list[WrittenFile]:
        return [one for one in self.written.get(id_, ()) if one.position < moment.count]

    def knows_nothing_of(self, id_: GroupId) -> bool:
        """Whether no commit that is known wrote a group, and no file of it is left: what it held cannot be determined.

        Clauses: CD-006.
        """
        return not self.written.get(id_) and id_ not in self.groups

    def refusal(self, id_: GroupId, moment: Moment, found: FileSlice | None, stats: Sequence[WriteStat]) -> str | None:
        """The file, or the instant, without which the state of a group cannot be determined; None where it is whole.

        `stats` are those of the write that found the group in this state; none for the state after it.

        Clauses: CD-006, RD-011, RD-018.
        """
        group = self.groups.get(id_, FileGroup([], []))
        bases = [one for one in self._named(id_, moment) if isinstance(one.name, BaseFileName)]
        base = max(bases, key=lambda one: one.name.instant).path if bases else None
        reached = found.base_instant if found is not None else ""
        if base is not None and all(one.path != base for one in group.base_files) and reached <= _instant_of(base):
            return base
        present = {log.path for log in group.log_files}
        for path in found.log_files if found is not None else ():
            if path not in present:
                return path
        return next((name for stat in stats if (name := _missing_before(stat, moment, found)) is not None), None)


def _missing_before(stat: WriteStat, moment: Moment, found: FileSlice | None) -> str | None:
    """The instant of the slice that a write found, where storage no longer has that slice."""
    previous = stat.prev_commit
    if previous in (None, "", NO_PREVIOUS_COMMIT) or not moment.visibility.sees(previous):
        return None
    rewrites = isinstance(parse_data_file_name((stat.path or "").rpartition("/")[2]), BaseFileName)
    gone = found is None or (rewrites and found.base_instant < previous)
    return f"the slice of {previous}" if gone else None


def not_retained(range_: object, what: str, *, cleaned: bool) -> HudiError:
    """The refusal of a range whose changes can no longer be determined.

    Clauses: CD-006.
    """
    message = f"the changes of {range_} need rows that {'a clean removed' if cleaned else 'storage lacks'}"
    reason = Reason.RANGE_NOT_RETAINED if cleaned else Reason.BASE_FILE_MISSING
    return HudiError(reason, "CD-006" if cleaned else "RD-011", message, what, hint="request a later begin")


def _instant_of(path: str) -> str:
    name = parse_data_file_name(path.rpartition("/")[2])
    return name.instant if name is not None else ""


@dataclass(frozen=True, slots=True)
class GroupState:
    """A file group at a moment: the slice to read, None where it held nothing, or why it can no longer be determined.

    Clauses: CD-005, CD-006.
    """

    slice: SliceTask | None
    refusal: HudiError | None = None


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """What one write did to a file group.

    `logs` are its change logs, empty where its changes are derived. `replaces`: the write took the group away.

    Clauses: CD-003, CD-005.
    """

    instant: str
    before: GroupState
    after: GroupState
    logs: tuple[str, ...]
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """Tell the changes of one file group.

    `state_schema`: the columns of its states, with record key and commit time; `columns`: those of an image;
    `places`: where they stand in images that were logged.
    """

    storage: Storage
    steps: tuple[ChangeStep, ...]
    state_schema: pa.Schema
    columns: pa.Schema
    commit_time: bool
    places: SliceColumns

    @property
    def schema(self) -> pa.Schema:
        """Schema of the answer."""
        return changes_schema(self.columns, commit_time=self.commit_time)


def run_change_task(task: ChangeTask) -> SliceRows:
    """The changes of a file group in the order of its writes.

    Raises:
        HudiError: RANGE_NOT_RETAINED for rows that a clean removed, LOG_CONTENT_CORRUPT, or as a slice's task.
        UnsupportedFeature: content that is not built.

    Clauses: CD-002, CD-003, CD-004, CD-005, CD-006.

    """
    with typed_errors():
        return _ChangeRows(task).rows()


class _ChangeRows:
    """Derives the changes of a task's steps; it keeps the state after a write, often the one before the next."""

    def __init__(self, task: ChangeTask) -> None:
        self._task = task
        self._skipped: list[SkippedBytes] = []
        self._last: tuple[SliceTask, pa.Table] | None = None

    def rows(self) -> SliceRows:
        """The rows of all steps."""
        changed = [self._with_time(step, part) for step in self._task.steps for part in self._step(step)]
        return SliceRows(concatenate(changed, self._task.schema), tuple(sorted(set(self._skipped))))

    def _with_time(self, step: ChangeStep, part: pa.Table) -> pa.Table:
        if not self._task.commit_time:
            return part
        times = pa.repeat(pa.scalar(step.instant, pa.string()), part.num_rows)
        return pa.Table.from_arrays([times, *part.columns], schema=self._task.schema)

    def _step(self, step: ChangeStep) -> Iterator[pa.Table]:
        columns = self._task.columns
        if step.replaces:
            yield change_rows(DELETE, self._state(step.before), None, columns)
        elif step.logs:
            yield from self._logged(step)
        else:
            before, after = self._state(step.before), self._state(step.after)
            yield derived(before, after, step.instant, columns)

    def _logged(self, step: ChangeStep) -> Iterator[pa.Table]:
        """Clauses: CD-003, CD-008."""
        # Images have the columns of the write that logged them, whatever a block says of its time.
        place = partial(self._placed, step.instant)
        changes, skipped = read_logged(self._task.storage, step.logs, place)
        self._skipped += skipped
        for one in changes:
            before = one.rows.column("before") if one.has("before") else self._image(one, step.before, INSERT)
            after = one.rows.column("after") if one.has("after") else self._image(one, step.after, DELETE)
            schema = changes_schema(self._task.columns, commit_time=False)
            yield pa.Table.from_arrays([one.rows.column("op"), before, after], schema=schema)

    def _placed(self, instant: str, images: pa.Table, file: str) -> pa.Table:
        return self._task.places.conform(images, self._task.columns, file, instant)

    def _image(self, changes: LoggedChanges, state: GroupState, without: str) -> pa.Array:
        """The image that the log leaves out; changes of one operation have none, and need no state.

        Clauses: CD-003, CD-006.
        """
        wanted = pc.not_equal(changes.rows.column("op"), without)
        rows = self._state(state) if pc.any(wanted).as_py() else self._task.state_schema.empty_table()
        return found_images(changes.rows.column("record_key"), wanted, rows, self._task.columns)

    def _state(self, state: GroupState) -> pa.Table:
        """The rows of a state.

        Clauses: CD-006.
        """
        if state.refusal is not None:
            raise state.refusal
        if state.slice is None:
            return self._task.state_schema.empty_table()
        if self._last is None or not _same(self._last[0], state.slice):
            found = run_task(state.slice)
            self._skipped += found.skipped
            self._last = (state.slice, found.rows)
        return self._last[1]


def _same(first: SliceTask, second: SliceTask) -> bool:
    """Whether two descriptions of a slice read the same rows."""
    files = (first.base_file, first.log_files) == (second.base_file, second.log_files)
    return files and (not first.log_files or first.context.visibility == second.context.visibility)


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """What is asked of a change feed: what was changed after `begin` and up to `end`.

    `commit_time` requests the instant of each change beside it.

    Clauses: CD-002, IN-002.
    """

    begin: str
    end: str | None = None
    commit_time: bool = False
    readings: Readings = RELEASED
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangesPlan:
    """The tasks of a change query, and the schema of its answer."""

    tasks: tuple[ChangeTask, ...]
    schema: pa.Schema

    def refusals(self) -> Iterator[HudiError]:
        """Why states of file groups can no longer be determined, which a task raises that needs them."""
        states = (state for task in self.tasks for step in task.steps for state in (step.before, step.after))
        return (state.refusal for state in states if state.refusal is not None)


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
    refuse_unmerged(query.configs)
    configuration, active = load_table(storage)
    _refuse_without_feed(configuration)
    wanted = time_range(query.begin, query.end)
    timeline = timeline_of_range(storage, configuration, active, wanted)
    writes = writes_of_range(timeline, wanted)
    commits = load_commits(storage, timeline, wanted.end, "completed")
    planned = _Planning(storage, configuration, timeline, commits, writes, query)
    return planned.plan()


def _refuse_without_feed(configuration: TableConfiguration) -> None:
    """Clauses: CD-001."""
    enabled = flag(configuration.properties, "hoodie.table.cdc.enabled", default=False)
    if enabled and configuration.populates_meta_fields:
        return
    key = "hoodie.table.cdc.enabled" if not enabled else "hoodie.populate.meta.fields"
    message = f"the table keeps no change feed: {key} is not true"
    hint = "request what changed as an incremental query" if not enabled else "write the rows with their commit times"
    raise HudiError(Reason.CONFIG_INVALID, "CD-001", message, PROPERTIES_FILE, hint=hint)


class _Planning:
    """Plans one change query."""

    def __init__(  # noqa: PLR0917 - what a range is reported from
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
        undone = undone_writes(storage, configuration, timeline)
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
        whole = full_timeline(self._storage, self._configuration, self._timeline)
        return cleaned_paths(self._storage, whole) | planned_paths(self._storage, self._timeline)

    def _reading(self, drafts: Sequence["_Draft"]) -> "_Reading":
        """What all states are read with: every column, record key and commit time."""
        states = (state.slice for draft in drafts for state in (draft.before, draft.after))
        slices = tuple(one for one in states if one is not None)
        snapshot = Snapshot(self._configuration, self._timeline, self._commits, self._seen, slices)
        query = Query(readings=self._query.readings, configs=self._query.configs)
        context = read_context(self._storage, query, snapshot)
        whole = replace(context, output=(*STATE_COLUMNS, *context.output))
        return _Reading(whole, origins_of(self._storage, snapshot))

    def _task(self, drafts: Sequence["_Draft"], reading: "_Reading", columns: pa.Schema) -> ChangeTask:
        steps = tuple(self._step(draft, reading) for draft in drafts)
        schema, places = reading.context.output_schema, SliceColumns(reading.origins.ids)
        return ChangeTask(self._storage, steps, schema, columns, self._query.commit_time, places)

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
            cleaned = parse_data_file_name(missing.rpartition("/")[2]) is None or missing in self._cleaned
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
