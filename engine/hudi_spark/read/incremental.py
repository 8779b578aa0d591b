"""An incremental query becomes tasks: the slices at the end of the range, compared with those at its begin."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError, Reason, warn_of_range
from hudi_spark.filters import And, Filter, filter_of
from hudi_spark.merge import PARTIAL_UPDATES, RECORD_KEY, merge_mode, merge_rule
from hudi_spark.options import END_SCHEMA, FALLBACK, check_configs, refuse_unmerged
from hudi_spark.read.planning import Plan, Query, counted, pruned_slices, read_context, slice_task, stated_locally
from hudi_spark.read.tasks import Changes, ReadContext, SliceTask
from hudi_spark.schema import Origins, origins_of
from hudi_spark.table_state import (
    COMMIT_TIME,
    PROPERTIES_FILE,
    Commit,
    FileListing,
    FileSlice,
    GroupId,
    Snapshot,
    TableConfiguration,
    Timeline,
    Visibility,
    WritesOfRange,
    commits_of,
    flag,
    list_file_groups,
    lister,
    load_table,
    refuse_cleaned,
    snapshot_at,
    time_range,
    timeline_of_range,
    writes_of_range,
)


@dataclass(frozen=True, slots=True)
class IncrementalQuery(Query):
    """A query for the rows that were changed after `begin` and up to `end`; `as_of` has no meaning here.

    Clauses: IN-001, IN-002.
    """

    begin: str = "earliest"
    end: str | None = None


def plan_incremental(storage: Storage, query: IncrementalQuery) -> Plan:
    """The tasks whose rows together are those that changed in a range, as they are at its end.

    Raises:
        HudiError: a refused table; INSTANT_MALFORMED; CONFIG_INVALID for a table without commit times, unknown
            columns, filters or options; RANGE_NOT_RETAINED where a clean removed what the end of the range needs.
        FormatError: what a file of the timeline breaks.
        UnsupportedFeature: what this reader cannot read yet.

    Clauses: IN-001, IN-002, IN-003, IN-004, IN-005, IN-006, IN-007, IN-009.

    """
    check_configs(query.configs)
    refuse_unmerged(query.configs)
    wanted = time_range(query.begin, query.end)
    configuration, active = load_table(storage)
    _refuse_without_commit_times(configuration)
    timeline = timeline_of_range(storage, configuration, active, wanted)
    writes = writes_of_range(timeline, wanted)
    listing = lister(query.configs)(storage, configuration, active)
    table = (configuration, timeline)
    commits: tuple[Commit, ...] | None = None
    try:
        commits = commits_of(storage, writes.inside)
        snapshot = _state_at_end(storage, table, query, writes, commits, listing)
        slices = () if wanted.is_empty else tuple(one for one in snapshot.slices if _may_hold(one, writes))
        before = _states_at_begin(storage, table, query, writes, commits, slices, listing)
    except HudiError as error:
        if error.reason != Reason.RANGE_NOT_RETAINED or not flag(query.configs, FALLBACK, default=False):
            raise
        warn_of_range(f"rows that changed after the range {wanted} are missing: {error}")
        snapshot = snapshot_at(storage, table, query.readings, None, "requested", listing=listing)
        slices, before = tuple(one for one in snapshot.slices if _may_hold(one, writes)), {}
    earlier = tuple(one for found in before.values() if found is not None for one in found.slices)
    whole = replace(snapshot, slices=(*snapshot.slices, *earlier))
    described = replace(whole, commits=_stating(storage, (configuration, active), query, snapshot))
    context, origins = read_context(storage, query, described), origins_of(storage, described)
    # Indexes of records know the newest rows alone, and not a late one that lost.
    pruned = pruned_slices(storage, query, replace(snapshot, slices=slices), origins, context, latest=False)
    ranged = _Ranged(query, configuration, writes, context, snapshot.visibility, origins)
    stated = stated_locally(storage, described, pruned.slices)
    tasks = counted((ranged.task(one, before) for one in pruned.slices), stated)
    return Plan(tasks, ranged.filtered, snapshot, pruned, _rows_written(commits))


def _rows_written(commits: Sequence[Commit] | None) -> int | None:
    """How many rows commits inserted and updated; None where one of them does not say it."""
    stats = None if commits is None else [stat for one in commits for stat in one.metadata.write_stats]
    if stats is None or any(one.num_inserts is None or one.num_update_writes is None for one in stats):
        return None
    return sum((one.num_inserts or 0) + (one.num_update_writes or 0) for one in stats)


def _stating(
    storage: Storage, table: tuple[TableConfiguration, Timeline], query: Query, at_end: Snapshot
) -> tuple[Commit, ...]:
    """The commits that the columns follow from: all there are, or on request those up to the end of the range.

    Clauses: IN-009.
    """
    if flag(query.configs, END_SCHEMA, default=False):
        return at_end.commits
    return snapshot_at(storage, table, query.readings, None, "requested", frozenset()).commits


def _refuse_without_commit_times(configuration: TableConfiguration) -> None:
    """Clauses: IN-006."""
    if not configuration.populates_meta_fields:
        message = "the rows carry no commit times: hoodie.populate.meta.fields is false"
        hint = "read snapshots, or rewrite the table with its meta fields"
        raise HudiError(Reason.CONFIG_INVALID, "IN-006", message, PROPERTIES_FILE, hint=hint)


def _state_at_end(  # noqa: PLR0917 - a state is reported by all of them
    storage: Storage,
    table: tuple[TableConfiguration, Timeline],
    query: Query,
    writes: WritesOfRange,
    commits: tuple[Commit, ...] | None,
    listing: FileListing,
) -> Snapshot:
    """The file groups that the range touched, as they were at its end.

    Which they are is reported by the range's commits, services among them; where one of those is not known, every group
    may be touched. What a clean took of those is unknown as well: that it kept less than the end of the range needs is
    enough to refuse then. No range has such a commit unless files of one are there.

    Clauses: IN-007.
    """
    end = writes.range.end
    unknown = writes.reaches_unknown and _has_unknown_files(storage, writes, listing)
    touched = None if unknown else _touched(commits, writes)
    found = snapshot_at(storage, table, query.readings, end, "completed", touched, listing=listing)
    if touched is None and (commits is None or _holds_unknown(found, writes)):
        refuse_cleaned(storage, table[1], end)
    return found


def _has_unknown_files(storage: Storage, writes: WritesOfRange, listing: FileListing) -> bool:
    """Whether there are files of writes from before all that a timeline records.

    A range that begins at a write that a savepoint keeps may reach such writes, and hardly ever does.

    Clauses: IN-007, TL-018.
    """
    groups = list_file_groups(storage, listing).values()
    found = {one.name.instant for group in groups for one in group.base_files}
    found |= {one.name.instant for group in groups for one in group.log_files}
    return any(writes.oldest is None or one < writes.oldest for one in found - writes.known)


def _holds_unknown(snapshot: Snapshot, writes: WritesOfRange) -> bool:
    """Whether a slice was begun by a write that no timeline records.

    Clauses: IN-007, TL-018.
    """
    return any(one.base_instant not in writes.known for one in snapshot.slices)


def _touched(commits: tuple[Commit, ...] | None, writes: WritesOfRange) -> frozenset[GroupId] | None:
    if writes.range.is_empty:
        return frozenset()
    if commits is None:
        return None
    if all(commit.is_service for commit in commits):
        return frozenset()
    return frozenset(group for commit in commits for group in commit.groups())


def _states_at_begin(  # noqa: PLR0917 - a state is reported by all of them
    storage: Storage,
    table: tuple[TableConfiguration, Timeline],
    query: IncrementalQuery,
    writes: WritesOfRange,
    commits: tuple[Commit, ...] | None,
    slices: Sequence[FileSlice],
    listing: FileListing,
) -> dict[GroupId, Snapshot | None]:
    """For each slice the state at the begin of the groups that its rows come from; None where that is gone.

    Rows change under their commit time where logs are merged, or versions complete each other. A begin that is open has
    nothing before it.

    Raises:
        HudiError: RANGE_NOT_RETAINED or what is missing, where versions complete each other and the state is gone.

    Clauses: IN-001, IN-007.

    """
    configuration, _ = table
    begin = writes.range.begin
    if not begin or not (configuration.table_type == "MERGE_ON_READ" or _completes(configuration, query)):
        return {}
    origins = {one.group: _origins(one.group, commits) for one in slices}

    def at_begin(groups: frozenset[GroupId]) -> Snapshot:
        return snapshot_at(storage, table, query.readings, begin, "completed", groups, listing=listing)

    try:
        whole = at_begin(frozenset().union(*origins.values()))
    except HudiError:
        if _completes(configuration, query):
            raise
        return {group: _or_none(at_begin, of) for group, of in origins.items()}
    return {group: _part(whole, of) for group, of in origins.items()}


def _completes(configuration: TableConfiguration, query: Query) -> bool:
    return merge_rule(configuration, query.configs).completes


def _part(whole: Snapshot, groups: frozenset[GroupId]) -> Snapshot:
    return replace(whole, slices=tuple(one for one in whole.slices if one.group in groups))


def _or_none(state: Callable[[frozenset[GroupId]], Snapshot], groups: frozenset[GroupId]) -> Snapshot | None:
    try:
        return state(groups)
    except HudiError:
        return None


def _origins(group: GroupId, commits: Sequence[Commit] | None) -> frozenset[GroupId]:
    """The groups whose rows a group may have at the end of a range: itself, and those that were clustered into it.

    Clauses: IN-001, IN-005.
    """
    origins = frozenset({group})
    for commit in reversed(commits or ()):
        if commit.is_service and origins & commit.groups():
            origins |= commit.replaced_groups()
    # A clustering may replace groups of several partitions; it moves no row into another one.
    return frozenset(one for one in origins if one[0] == group[0])


@dataclass(frozen=True)
class _Ranged:
    """Makes the tasks of slices of a range.

    Clauses: IN-001, IN-004.
    """

    query: IncrementalQuery
    configuration: TableConfiguration
    writes: WritesOfRange
    context: ReadContext
    visible: Visibility
    origins: Origins

    @cached_property
    def rows(self) -> Filter:
        """The filter by commit time."""
        return filter_of(self.writes.filter(), self.context.schema)

    @cached_property
    def filtered(self) -> ReadContext:
        """The context of slices whose rows commit times tell."""
        wanted = self.context.row_filter
        return replace(self.context, row_filter=self.rows if wanted is None else And((self.rows, wanted)))

    def task(self, one: FileSlice, before: Mapping[GroupId, Snapshot | None]) -> SliceTask:
        """The task of one slice as of the end of the range."""
        if one.group not in before:
            return slice_task(one, self.filtered, self.origins)
        state = before[one.group]
        earlier = None if state is None else tuple(self._earlier(found, state) for found in state.slices)
        if not one.log_files and earlier is None:
            return slice_task(one, self.filtered, self.origins)
        blocks = replace(
            self.visible, visible=self.visible.visible & self.writes.members, since=self.writes.range.begin
        )
        late = None if self.query.readings.incremental_merge == "text" else blocks
        changes = Changes(self.rows, earlier, late, self._versions_are_rows())
        return replace(slice_task(one, self.context, self.origins), changes=changes)

    def _earlier(self, one: FileSlice, state: Snapshot) -> SliceTask:
        own = (name for name in self.context.schema.names if name not in META_FIELDS)
        output = (RECORD_KEY, COMMIT_TIME, *own)
        context = replace(self.context, output=output, row_filter=None, visibility=state.visibility, by_positions=False)
        return slice_task(one, context, self.origins)

    def _versions_are_rows(self) -> bool:
        whole = self.configuration.properties.get(PARTIAL_UPDATES, "").strip() in {"", "NONE"}
        return whole and merge_mode(self.configuration) == "COMMIT_TIME_ORDERING"


def _may_hold(one: FileSlice, writes: WritesOfRange) -> bool:
    """Whether a slice may hold rows of the range: a base file holds none that is later than itself.

    Clauses: IN-003, IN-005.
    """
    return bool(one.log_files) or writes.holds(one.base_instant)
