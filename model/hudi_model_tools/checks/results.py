"""What services made, against what they were to make it of, as long as that is still there."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from hudi_model.actions import (
    Action,
    CommitMetadata,
    CompactionOperation,
    CompactionPlan,
    Instant,
    ReplacePlan,
    State,
    TimelineEntry,
    WriteStat,
)
from hudi_model.creation import MODE, PACKAGE, PAYLOAD, STRATEGY
from hudi_model.files import META_FIELDS, BaseFile, DataBlock, DeleteBlock, LogFile, Record
from hudi_model.merge_modes import table_rule
from hudi_model.merge_rules import LATEST, MergeMode
from hudi_model.reading import read_slice
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.schemas import table_schema
from hudi_model.services.clustering import rank
from hudi_model.services.log_compaction import blocks_of
from hudi_model.services.plans import planned_slice, view_before
from hudi_model.slicing import data_files, group_of, path_of, snapshot_slices
from hudi_model.tables import RELEASED, View
from hudi_model.time import InstantTime
from hudi_model.timeline import completed_data
from hudi_model.upgrades import INITIAL, LEGACY_PAYLOAD, V8

from hudi_model_tools.checks.finding import Violation, error, warning

Rows: TypeAlias = Counter[tuple[tuple[str, str], ...]]


def result_violations(view: View, *, deep: bool) -> Iterator[Violation]:
    """Every fault of what completed services made; where their inputs are gone nothing can be determined.

    Clauses: CL-004, CL-009, CP-004, LC-003, LC-005.
    """
    files = {path_of(one): one for one in data_files(view.table.state)}
    requested = {one.requested: one for one in view.table.timeline.entries if one.state is State.REQUESTED}
    for one in completed_data(view.table.timeline):
        request = requested.get(one.requested)
        if request is None or not isinstance(one.content, CommitMetadata):
            continue
        made = [(stat, files[stat.path]) for stat in one.content.write_stats if stat.path in files]
        if request.action is Action.LOG_COMPACTION:
            yield from log_compaction_violations(view, request, made)
        elif deep and len(made) == len(one.content.write_stats):
            yield from rewriting_violations(view, one, request, [file for _, file in made])
            yield from order_violations(request, [file for _, file in made])


def began_with_logs_by_slice(view: View) -> bool:
    """Whether the table was made before version 8: newer ones state the version that they began with."""
    return int(view.configuration.properties.get(INITIAL, "6")) < V8


def log_compaction_violations(
    view: View, request: TimelineEntry, made: Iterable[tuple[WriteStat, BaseFile | LogFile]]
) -> Iterator[Violation]:
    """Logs under another name than a log compaction's, and blocks that it left out.

    Clauses: LC-003, LC-005.
    """
    planned = {group_of(one): one for one in operations(request)}
    for stat, file in made:
        operation = planned.get(group_of(stat))
        if operation is None or not isinstance(file, LogFile):
            continue
        by_slice = view.configuration.rules.logs_name_their_slice
        wanted = operation.base_instant if by_slice else request.requested
        # A table that was upgraded or downgraded may have logs of before, under the name of then (RD-005).
        other = request.requested if by_slice else operation.base_instant
        came_along = file.instant == other and began_with_logs_by_slice(view) is not by_slice
        if file.instant != wanted and not came_along:
            yield error("LC-005", path_of(file), f"the log of the plan {request.requested} is to bear {wanted}")
        stored = file.blocks if isinstance(file.blocks, tuple) else ()
        blocks = [one for one in stored if isinstance(one, DataBlock | DeleteBlock)]
        for block in (one for one in blocks if one.instant != request.requested):
            yield error("LC-005", path_of(file), f"a block of the log compaction bears {block.instant}")
        stands_for = {instant for one in blocks for instant in one.compacted_instants}
        before = instants_before(view, operation, request, file.name)
        last = max((place for place, one in enumerate(before) if one in stands_for), default=0)
        # What came after all that the block stands for is merged after it, as it was before.
        left = sorted({*before[:last]} - stands_for)
        if left:
            yield error("LC-003", path_of(file), f"stands for none of the blocks of {', '.join(left)}")


def operations(request: TimelineEntry) -> tuple[CompactionOperation, ...]:
    """The slices of a plan."""
    match request.content:
        case CompactionPlan(operations=planned):
            return planned
        case ReplacePlan(groups=groups):
            return tuple(one for group in groups for one in group.slices)
    return ()


def instants_before(
    view: View, operation: CompactionOperation, request: TimelineEntry, made: str
) -> tuple[InstantTime, ...]:
    """The instants of the blocks that counted in a planned slice when the plan was made, in merge order.

    Clauses: LC-003.
    """
    try:
        before = view_before(view.table.state, request.requested, RELEASED)
        planned_slice(before, operation)
        slices = (one for one in snapshot_slices(before) if group_of(one) == group_of(operation))
        found = [one for one in slices if one.base_instant == operation.base_instant]
        earlier = (replace(one, log_files=tuple(log for log in one.log_files if log.name != made)) for one in found)
        instants = (block.instant for one in earlier for block in blocks_of(before, one))
        return tuple(one for one in instants if one < request.requested)
    except (Rejection, Unsupported):
        return ()


def rewriting_violations(
    view: View, one: Instant, request: TimelineEntry, made: Iterable[BaseFile | LogFile]
) -> Iterator[Violation]:
    """Base files of a compaction or clustering that do not hold the rows of the slices they came of.

    Clauses: CL-004, CP-004.
    """
    files = [file for file in made if isinstance(file, BaseFile) and isinstance(file.records, tuple)]
    compacts = request.action is Action.COMPACTION
    if not compacts and not (isinstance(request.content, ReplacePlan) and request.content.operation == "CLUSTER"):
        return
    planned = operations(request)
    if not planned:
        return
    parts = [[each] for each in planned] if compacts else [list(planned)]
    for part in parts:
        own = [file for file in files if not compacts or group_of(file) == group_of(part[0])]
        expected = rows_before(view, part, request)
        found = rows_of(row for file in own for row in valid_rows(file))
        if own and expected is not None and found != expected and found != rows_by_commit_time(view, part, request):
            clause, where = ("CP-004", path_of(own[0])) if compacts else ("CL-004", f"{one.requested}.{one.action}")
            lacking, extra = (expected - found).total(), (found - expected).total()
            yield error(clause, where, f"of the rows of what was planned {lacking} are not there, {extra} are others")


def order_violations(request: TimelineEntry, made: Iterable[BaseFile | LogFile]) -> Iterator[Violation]:
    """Base files of a clustering whose rows do not follow the one column that its plan sorts by.

    Several columns may be a space-filling curve's, of which a plan says nothing.

    Clauses: CL-009, CL-010.
    """
    plan = request.content
    if not isinstance(plan, ReplacePlan) or plan.operation != "CLUSTER" or len(plan.sort_columns) != 1:
        return
    for file in (one for one in made if isinstance(one, BaseFile)):
        if any(rank(row, plan) > rank(after, plan) for row, after in pairwise(valid_rows(file))):
            yield warning("CL-009", path_of(file), f"the rows do not follow {plan.sort_columns[0]}, as planned")


def valid_rows(file: BaseFile) -> tuple[Record, ...]:
    """The rows of a file that was read."""
    return file.records if isinstance(file.records, tuple) else ()


def rows_before(view: View, planned: Iterable[CompactionOperation], request: TimelineEntry) -> Rows | None:
    """The rows that a snapshot read of slices when they were planned; None where that can no longer be determined.

    Clauses: CL-004, CP-004.
    """
    try:
        before = view_before(view.table.state, request.requested, RELEASED)
        read = partial(read_slice, before, schema=table_schema(before))
        return rows_of(row for one in planned for row in read(planned_slice(before, one)))
    except (Rejection, Unsupported):
        return None


def rows_by_commit_time(view: View, planned: Iterable[CompactionOperation], request: TimelineEntry) -> Rows | None:
    """The same by commit time, where event time was that before an upgrade from version 6; None where it was not.

    What was compacted until then, by the upgrade itself too, has the rows of then, and nothing says when that was.

    Clauses: CP-004, VR-007.
    """
    properties = view.configuration.properties
    upgraded = INITIAL in properties and began_with_logs_by_slice(view)
    if not upgraded or table_rule(view).mode is not MergeMode.EVENT_TIME_ORDERING:
        return None
    kept = {name: text for name, text in properties.items() if name not in {MODE, STRATEGY, LEGACY_PAYLOAD}}
    by_mode = view.configuration.rules.version >= V8
    mode = {MODE: MergeMode.COMMIT_TIME_ORDERING.value} if by_mode else {}
    mode[PAYLOAD] = PACKAGE + LATEST
    opened = replace(view.table, state=replace(view.table.state, properties={**kept, **mode}))
    return rows_before(replace(view, table=opened), planned, request)


def rows_of(records: Iterable[Record]) -> Rows:
    """Rows by what they say, however often; null says what a column that is not there says."""
    kept = (
        sorted((name, repr(_by_name(one))) for name, one in row.values.items() if one is not None) for row in records
    )
    return Counter(tuple(pair for pair in row if pair[0] not in META_FIELDS) for row in kept)


def _by_name(value: object) -> object:
    """A value without the order in which a file has the entries of its maps, which states nothing."""
    if isinstance(value, dict):
        return {name: _by_name(value[name]) for name in sorted(value)}
    return [_by_name(one) for one in value] if isinstance(value, list) else value
