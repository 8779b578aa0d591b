"""An incremental query becomes tasks: the slices at the end of the range, their rows told by commit time."""

from dataclasses import dataclass, replace

from hudi_adapter.filters import And, Filter
from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.execution.filters import filter_of
from hudi_spark.execution.planning import Plan, Query, pruned_slices, read_context, slice_task
from hudi_spark.execution.tasks import Competition, ReadContext
from hudi_spark.metadata.listing import lister
from hudi_spark.read_configs import check_configs
from hudi_spark.schemas.origins import origins_of
from hudi_spark.state.commits import GroupId
from hudi_spark.state.configuration import PROPERTIES_FILE, TableConfiguration
from hudi_spark.state.listing import FileListing
from hudi_spark.state.ranges import WritesOfRange, commits_of, time_range, timeline_of_range, writes_of_range
from hudi_spark.state.removals import refuse_cleaned
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot, load_table, snapshot_at
from hudi_spark.state.timeline import Timeline, Visibility


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

    Clauses: IN-001, IN-002, IN-003, IN-004, IN-005, IN-006, IN-007.

    """
    check_configs(query.configs)
    asked = time_range(query.begin, query.end)
    configuration, active = load_table(storage)
    _refuse_without_commit_times(configuration)
    timeline = timeline_of_range(storage, configuration, active, asked)
    writes = writes_of_range(timeline, asked)
    listing = lister(query.configs)(storage, configuration, active)
    snapshot = _state_at_end(storage, (configuration, timeline), query, writes, listing)
    context = read_context(storage, query, snapshot)
    slices = () if asked.is_empty else tuple(one for one in snapshot.slices if _may_hold(one, writes))
    origins = origins_of(storage, snapshot)
    # Indexes of records know the newest rows alone, and not a late one that lost.
    pruned = pruned_slices(storage, query, replace(snapshot, slices=slices), origins, context, latest=False)
    ranged = _of_range(context, query, writes, snapshot.visibility)
    return Plan(tuple(slice_task(one, ranged, origins) for one in pruned.slices), ranged, snapshot, pruned)


def _refuse_without_commit_times(configuration: TableConfiguration) -> None:
    """Clauses: IN-006."""
    if not configuration.populates_meta_fields:
        message = "the rows carry no commit times: hoodie.populate.meta.fields is false"
        hint = "read snapshots, or rewrite the table with its meta fields"
        raise HudiError(Reason.CONFIG_INVALID, "IN-006", message, PROPERTIES_FILE, hint=hint)


def _state_at_end(
    storage: Storage,
    table: tuple[TableConfiguration, Timeline],
    query: Query,
    writes: WritesOfRange,
    listing: FileListing,
) -> Snapshot:
    """The file groups that the range touched, as they were at its end.

    Which they are is told by the range's commits, services among them; where one of those is not known, every group
    may be touched, and a clean that kept less than the end of the range needs is enough to refuse.

    Clauses: IN-007.
    """
    end = writes.range.end
    touched = _touched(storage, writes)
    if touched is None and not writes.range.is_empty:
        refuse_cleaned(storage, table[1], end)
    return snapshot_at(storage, table, query.readings, end, "completed", touched, listing=listing)


def _touched(storage: Storage, writes: WritesOfRange) -> frozenset[GroupId] | None:
    if writes.range.is_empty:
        return frozenset()
    commits = commits_of(storage, writes.inside)
    if commits is None or writes.reaches_unknown:
        return None
    return frozenset(group for commit in commits for group in commit.groups())


def _of_range(context: ReadContext, query: Query, writes: WritesOfRange, visible: Visibility) -> ReadContext:
    """The context that keeps the rows of the range; as released nothing else competes with them.

    A rule that builds rows out of several versions needs them all: what the range brought is no row without them.

    Clauses: IN-001, IN-004.
    """
    rows = filter_of(writes.filter(), context.schema)
    wanted: Filter = rows if context.row_filter is None else And((rows, context.row_filter))
    kept = replace(context, row_filter=wanted)
    if query.readings.incremental_merge == "text" or context.rule.completes:
        return kept
    blocks = replace(visible, visible=visible.visible & writes.members, since=writes.range.begin)
    return replace(kept, competition=Competition(blocks, rows))


def _may_hold(one: FileSlice, writes: WritesOfRange) -> bool:
    """Whether a slice may hold rows of the range: a base file holds none that is later than itself.

    Clauses: IN-003, IN-005.
    """
    return bool(one.log_files) or writes.holds(one.base_instant)
