"""What table services owe the table: they change how it is stored and never what it holds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import permutations
from typing import Any, TypeAlias

from hudi_model.actions import State
from hudi_model.contents import CleanPlan, IndexPlan
from hudi_model.effects import Effects, perform
from hudi_model.files import LogFile
from hudi_model.queries import read_as_of, read_optimized, read_snapshot
from hudi_model.reading import read_slice
from hudi_model.readings import RELEASED, Reading, Readings
from hudi_model.records import Record
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Write
from hudi_model.schemas import table_schema
from hudi_model.services import (
    cleaning,
    clustering,
    compaction,
    indexing,
    log_compaction,
    plans,
    savepoints,
    time_to_live,
)
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data
from hudi_model.views import view_at
from hudi_model.writers import Operation, Request, abort, begin, commit, stage
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.obligations.histories import (
    COMMIT_TIME,
    DAYS,
    EVENT_TIME,
    KEYS,
    Row,
    Shape,
    Step,
    Story,
    new_table,
    played,
    rows_of,
    shapes,
    steps,
    stories,
    taken,
)
from hudi_conformance.obligations.registry import Counterexample, obligation, property_check

EAGER = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clustering.plan.strategy.sort.columns": "note,ts",
    "hoodie.clean.commits.retained": "2",
    "hoodie.clean.hours.retained": "1",
    "hoodie.clean.fileversions.retained": "1",
}
"""Settings under which a service runs as soon as there is anything to do."""
ALL_SERVICES = ("compaction", "log_compaction", "clustering", "cleaning")
HOUR = 3600 * 1000
BEFORE, SOON, LAST = HOUR + 30, HOUR + 55, HOUR + 100
"""Ticks: between story and plan, between plan and execution, after both."""
PLAN, DONE, AGAIN = tick(HOUR + 50), tick(HOUR + 70), tick(HOUR + 80)
MERGE_ON_READ = shapes(types=("MERGE_ON_READ",))
COPY_ON_WRITE = shapes(types=("COPY_ON_WRITE",))
WRITES = (*(Operation.UPSERT,) * 4, Operation.DELETE)
POLICIES = ("KEEP_LATEST_COMMITS", "KEEP_LATEST_BY_HOURS", "KEEP_LATEST_FILE_VERSIONS")
NON_BLOCKING = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
}
Rows: TypeAlias = list[tuple[tuple[str, Any], ...]]


def busy(of: st.SearchStrategy[Shape], *services: str, replacing: bool = False) -> st.SearchStrategy[Story]:
    """Stories in which enough happens for services to have work."""
    operations = WRITES + ((Operation.INSERT_OVERWRITE, Operation.DELETE_PARTITION) if replacing else ())
    told = st.lists(steps(operations, services), min_size=4, max_size=12).map(tuple)
    return st.builds(Story, of, told)


def busy_of_both_types(*services: str) -> st.SearchStrategy[Story]:
    """Stories of both table types; only a merge-on-read table has logs to compact."""
    copied = busy(COPY_ON_WRITE, *sorted({*services} & {"clustering"}), replacing=True)
    return st.one_of(busy(MERGE_ON_READ, *services, replacing=True), copied)


def rows_and_origins(table: Table, readings: Readings = RELEASED) -> Rows:
    """What a snapshot holds, with the write that each row comes from; where it lies is left out."""
    return as_rows(read_snapshot(table, readings, meta_columns=True).rows)


def as_rows(found: Any) -> Rows:
    """Rows that compare, without the names of their files."""
    kept = (sorted((name, value) for name, value in row.items() if name != "_hoodie_file_name") for row in found)
    return sorted((tuple(row) for row in kept), key=repr)


def module_of(service: str) -> Any:
    """The model's module of a service."""
    return import_module(f"hudi_model.services.{service}")


def ready(told: Story, service: str, settings: Mapping[str, str] = EAGER) -> tuple[Table, Effects]:
    """The table after a story, and what planning the service on it does."""
    table = played(told, settings)
    return table, module_of(service).schedule(table, PLAN, settings)


def short(rows: Rows) -> list[tuple[Any, ...]]:
    """Rows as a counterexample shows them."""
    return [tuple(dict(row).get(name) for name in ("day", "id", "ts", "note", "_hoodie_commit_time")) for row in rows]


def prefixes(table: Table, effects: Effects) -> Iterator[Table]:
    """The table before, between and after effects: where a process may have died."""
    for length in range(len(effects) + 1):
        yield perform(table, effects[:length])


def refuse_change(table: Table, expected: Rows, told: Story, what: str, readings: Readings = RELEASED) -> None:
    """Nothing, unless a table holds other rows than it did, or cannot be read any more."""
    try:
        found = rows_and_origins(table, readings)
    except Rejection as rejection:
        raise Counterexample(f"{what}: {rejection}", table, told.lines()) from rejection
    if found != expected:
        raise Counterexample(f"{what}: {short(expected)} became {short(found)}", table, told.lines())


def keeps_the_table(told: Story, service: str, settings: Mapping[str, str] = EAGER) -> None:
    """A service is planned, dies after each of its effects in turn, and is tried again; the rows stay the same."""
    table, planned = ready(told, service, settings)
    expected = rows_and_origins(table)
    for waiting in prefixes(table, planned):
        refuse_change(waiting, expected, told, f"{service} planned")
    if not planned:
        return
    waiting = perform(table, planned)
    for left in prefixes(waiting, module_of(service).execute(waiting, PLAN, DONE)):
        refuse_change(left, expected, told, f"{service} under way")
        again = perform(left, module_of(service).execute(left, PLAN, AGAIN))
        refuse_change(again, expected, told, f"{service} tried again")


@obligation(
    "PO-200",
    "Compaction never changes the table, wherever it dies and is tried again",
    "CP-002 CP-004 CP-005 CP-006 CP-010",
    broken_by="compaction-reads-logs-only plan-skips-a-log",
)
@property_check
@given(told=busy(MERGE_ON_READ, "log_compaction", "clustering"))
def _compaction_keeps_the_table(told: Story) -> None:
    keeps_the_table(told, "compaction")


@obligation(
    "PO-201",
    "Log compaction never changes the table, nor which write a row comes from",
    "LC-001 LC-003 LC-004 LC-007",
    broken_by="log-compaction-drops-deletes log-compaction-rewrites-commit-time plan-skips-a-log",
)
@property_check
@given(told=busy(MERGE_ON_READ, "log_compaction", "compaction"))
def _log_compaction_keeps_the_table(told: Story) -> None:
    keeps_the_table(told, "log_compaction")


@obligation(
    "PO-202",
    "Clustering never changes the table",
    "CL-004 CL-006 CL-007",
    broken_by="clustering-reads-base-files-only clustering-replaces-nothing",
)
@property_check
@given(told=busy_of_both_types("compaction", "clustering"))
def _clustering_keeps_the_table(told: Story) -> None:
    keeps_the_table(told, "clustering")


@obligation(
    "PO-203",
    "Cleaning never changes the latest table, under any policy",
    "CN-001 CN-002 CN-003 CN-004 CN-009",
    broken_by="clean-takes-the-newest-slice",
)
@property_check
@given(told=busy_of_both_types("compaction", "clustering", "log_compaction"), policy=st.sampled_from(POLICIES))
def _cleaning_keeps_the_table(told: Story, policy: str) -> None:
    keeps_the_table(told, "cleaning", {**EAGER, "hoodie.clean.policy": policy})


PARTIAL = (Operation.UPSERT, *(Operation.PARTIAL_UPDATE,) * 4, Operation.DELETE)


def with_gaps(step: Step) -> Step:
    """A step whose partial updates leave out a column in every other row."""
    if step.operation is not Operation.PARTIAL_UPDATE:
        return step
    rows = ({key: row[key] for key in row if key != "note" or number % 2} for number, row in enumerate(step.rows))
    return replace(step, rows=tuple(rows))


@obligation(
    "PO-227",
    "Compaction, log compaction and clustering keep what partial updates say, with and without a base file below",
    "CP-004 LC-004 CL-004 MG-021",
    assumptions="versions 8 and 9",
    broken_by="log-compaction-fills-partial-rows compaction-reads-logs-only",
)
@property_check
@given(
    shape=shapes((8, 9), ("MERGE_ON_READ",)),
    told=st.lists(steps(PARTIAL, ("compaction",)).map(with_gaps), min_size=3, max_size=10),
    service=st.sampled_from(("log_compaction", "log_compaction", "compaction", "clustering")),
    index=st.sampled_from(("SIMPLE", "BUCKET")),
)
def _services_keep_partial_updates(shape: Shape, told: list[Step], service: str, index: str) -> None:
    story = Story(shape, (Step(Operation.UPSERT, all_keys("d1")), *told))
    keeps_the_table(story, service, {**EAGER, "hoodie.index.type": index})


@obligation(
    "PO-228",
    "A compaction whose file groups were replaced since it was planned changes nothing, carried out or not",
    "CP-014 RD-003",
    broken_by="new-slice-revives-a-replaced-group",
)
@property_check
@given(told=busy(MERGE_ON_READ), day=st.sampled_from(DAYS))
def _compaction_of_replaced_groups(told: Story, day: str) -> None:
    table, planned = ready(told, "compaction")
    if not planned:
        return
    table = taken(perform(table, planned), Step(Operation.INSERT_OVERWRITE, all_keys(day)), SOON)
    expected = rows_and_origins(table)
    for left in prefixes(table, compaction.execute(table, PLAN, DONE)):
        refuse_change(left, expected, told, "compaction of replaced groups")


WANTED = {"hoodie.metadata.index.column.stats.enable": "true", "hoodie.metadata.record.index.enable": "true"}


def hollow(table: Table, _plan: IndexPlan) -> Table:
    """A metadata table that stands for one with the partitions: what they hold is not this rule's concern."""
    return replace(table, metadata=None)


@obligation(
    "PO-204",
    "Indexing never changes the table; an index counts once it is there and holds all that completed before",
    "IG-001 IG-002 IG-003 IG-004 IG-005 IG-006",
    assumptions="whatever the partitions hold",
    broken_by="index-used-before-it-is-whole index-stops-at-its-plan index-plan-skips-a-gap",
)
@property_check
@given(told=busy_of_both_types("compaction"), gap=st.booleans(), later=st.booleans())
def _indexing_keeps_the_table(told: Story, *, gap: bool, later: bool) -> None:
    table = played(told)
    done = [one.requested for one in completed_data(open_table(table).timeline)]
    if gap:
        table = perform(table, begin(table, Request(Operation.UPSERT), tick(BEFORE))[1])
        table = try_write(table, all_keys("d2"), BEFORE + 1)
    table = perform(table, indexing.schedule(table, PLAN, WANTED))
    planned = [one.content for one in table.timeline if isinstance(one.content, IndexPlan)]
    if [one.upto for one in planned] != done[-1:] if done else planned:
        raise Counterexample(f"planned {planned}, completed without a gap are {done}", table, told.lines())
    table = try_write(table, all_keys("d1"), SOON) if later and not gap else table
    last = max(one.requested for one in completed_data(open_table(table).timeline)) if later and not gap else done[-1]
    expected = rows_and_origins(table)
    for left in prefixes(table, indexing.execute(table, PLAN, DONE, hollow)):
        for one in (left, perform(left, indexing.execute(left, PLAN, AGAIN, hollow))):
            refuse_change(one, expected, told, "indexing")
            check_index(one, last)


def check_index(table: Table, last: InstantTime) -> None:
    """Nothing, unless a partition is used that is not there, or the completed entry tells less than it should."""
    used = open_table(table).configuration.properties.get("hoodie.table.metadata.partitions")
    if used and table.metadata is None:
        raise Counterexample(f"{used} are used and not there", table)
    for one in table.timeline:
        if one.state == State.COMPLETED and isinstance(one.content, IndexPlan) and one.content.upto != last:
            raise Counterexample(f"indexed {one.content}, the last write is {last}", table)


NOT_RETAINED = frozenset({Reason.RANGE_NOT_RETAINED})
GOING = NOT_RETAINED | {Reason.BASE_FILE_MISSING, Reason.LOG_FILE_MISSING}
"""With what a query of the past is refused once a clean has completed, and while it is under way."""


INDEXES = st.sampled_from(("SIMPLE", "BUCKET"))
"""A bucket's first rows go to a log: its group has no base file before it is compacted."""


def history(table: Table, readings: Readings) -> dict[InstantTime, Rows]:
    """What the table held as of each of its writes."""
    instants = [one.requested for one in completed_data(open_table(table).timeline)]
    return {one: as_rows(read_as_of(table, one, readings).rows) for one in instants}


def refuse_wrong_past(
    table: Table, past: Mapping[InstantTime, Rows], earliest: str | None, reasons: frozenset[Reason], readings: Readings
) -> None:
    """Nothing, unless a retained instant is refused, or any instant answers otherwise than it did."""
    for instant, expected in past.items():
        try:
            found = as_rows(read_as_of(table, instant, readings).rows)
        except Rejection as rejection:
            if rejection.reason in reasons and (earliest is None or instant < earliest):
                continue
            raise Counterexample(f"as of {instant}, {earliest} being retained: {rejection}", table) from rejection
        if found != expected:
            raise Counterexample(
                f"as of {instant}, {earliest} being retained: {short(expected)} became {short(found)}", table
            )


def keeps_the_past(told: Story, policy: str, index: str, dies: int, readings: Readings) -> None:
    """A clean is planned, dies after some of its effects and is tried again; the past stays or is refused."""
    settings = {**EAGER, "hoodie.clean.policy": policy, "hoodie.index.type": index}
    table, planned = ready(told, "cleaning", settings)
    if not planned:
        return
    past, waiting = history(table, readings), perform(table, planned)
    earliest = plans.plan_of(waiting, PLAN, CleanPlan).earliest_to_retain
    left = perform(waiting, cleaning.execute(waiting, PLAN, DONE)[:dies])
    if not plans.is_completed(left, PLAN):
        refuse_wrong_past(left, past, earliest, GOING, readings)
    again = perform(left, cleaning.execute(left, PLAN, AGAIN))
    refuse_wrong_past(again, past, earliest, NOT_RETAINED, readings)


@obligation(
    "PO-205",
    "Time travel answers what it did until an instant is cleaned, and is refused afterwards, never wrong",
    "CN-002 CN-003 CN-004 CN-007 CN-012 RD-014",
    broken_by="clean-takes-every-old-slice clean-takes-replaced-groups-at-once retried-clean-forgets-the-first-try",
)
@property_check
@given(told=busy_of_both_types("compaction"), policy=st.sampled_from(POLICIES), index=INDEXES, dies=st.integers(0, 12))
def _the_past_stays_or_is_refused(told: Story, policy: str, index: str, dies: int) -> None:
    keeps_the_past(told, policy, index, dies, RELEASED)


@obligation(
    "PO-223",
    "Time travel along completion times answers what it did until cleaned, and is refused afterwards, never wrong",
    "CN-002 CN-003 CN-004 CN-007 RD-010 RD-014",
    assumptions="time travel as the text has it",
    broken_by="clean-takes-every-old-slice",
)
@property_check
@given(told=busy_of_both_types("compaction"), policy=st.sampled_from(POLICIES), index=INDEXES, dies=st.integers(0, 12))
def _the_past_by_completion_stays_or_is_refused(told: Story, policy: str, index: str, dies: int) -> None:
    keeps_the_past(told, policy, index, dies, Readings(time_travel=Reading.TEXT))


@obligation(
    "PO-206",
    "The cleaner removes nothing that a retained instant, a savepoint or a pending plan needs",
    "CN-005 CN-008",
    broken_by="clean-ignores-savepoints clean-ignores-pending-plans clean-takes-every-old-slice",
)
@property_check
@given(
    told=busy_of_both_types("compaction", "log_compaction"),
    service=st.sampled_from(("compaction", "compaction", "log_compaction", "clustering")),
    policy=st.sampled_from((*POLICIES, *POLICIES[2:])),
    chosen=st.integers(0, 7),
    later=st.lists(st.sampled_from(DAYS), min_size=1, max_size=3),
)
def _the_cleaner_spares_what_is_needed(told: Story, service: str, policy: str, chosen: int, later: list[str]) -> None:
    if told.shape.table_type == "COPY_ON_WRITE":
        service = "clustering"
    table, saved = with_savepoint(played(told, EAGER), chosen)
    table = try_write(table, all_keys("d1"), BEFORE - 9)
    table = perform(table, module_of(service).schedule(table, tick(BEFORE), EAGER))
    for number, day in enumerate(later):
        table = try_write(table, all_keys(day), BEFORE + 1 + 2 * number)
    expected, past = rows_and_origins(table), history(table, RELEASED)
    planned = cleaning.schedule(table, PLAN, {**EAGER, "hoodie.clean.policy": policy})
    table = perform(table, planned)
    if planned:
        earliest = plans.plan_of(table, PLAN, CleanPlan).earliest_to_retain
        table = perform(table, cleaning.execute(table, PLAN, DONE))
        refuse_wrong_past(table, past, earliest, NOT_RETAINED, RELEASED)
    gone = saved - {(one.partition, one.name) for one in table.base_files}
    gone -= {(one.partition, one.name) for one in table.log_files}
    if gone:
        raise Counterexample(f"a savepoint lost {sorted(gone)}", table, told.lines())
    waiting = {one.requested for one in table.timeline} - {
        one.requested for one in table.timeline if one.state is State.COMPLETED
    }
    for requested in waiting:
        try:
            after = perform(table, module_of(service).execute(table, requested, AGAIN))
        except Rejection as rejection:
            if rejection.reason is Reason.WRITE_CONFLICT:
                continue
            raise Counterexample(f"a pending plan cannot be executed: {rejection}", table, told.lines()) from rejection
        refuse_change(after, expected, told, f"{service} after a clean")


def with_savepoint(table: Table, chosen: int) -> tuple[Table, frozenset[tuple[str, str]]]:
    """The table with a savepoint of one of its writes, and the files that it is to keep."""
    done = completed_data(open_table(table).timeline)
    effects = savepoints.savepoint(table, done[chosen % len(done)].requested, tick(BEFORE - 1)) if done else ()
    contents = (getattr(getattr(one, "entry", None), "content", None) for one in effects)
    files = [one.files for one in contents if one is not None]
    return perform(table, effects), frozenset().union(*files)


def all_keys(day: str) -> tuple[Row, ...]:
    """A row for every key that stories know."""
    return tuple({"id": key, "day": day, "ts": 4, "note": "later"} for key in KEYS)


def try_write(table: Table, rows: tuple[Row, ...], first: int, settings: Mapping[str, str] | None = None) -> Table:
    """The table after one upsert; as it was where the write is refused."""
    step = Step(Operation.UPSERT, rows, settings=settings or {})
    try:
        return taken(table, step, first)
    except Rejection:
        return table


@obligation(
    "PO-207",
    "A compaction writes exactly the rows that its slices held, each once",
    "CP-004 CP-007",
    broken_by="compaction-reads-logs-only",
)
@property_check
@given(told=busy(MERGE_ON_READ, "log_compaction"))
def _a_new_base_file_holds_the_merged_slice(told: Story) -> None:
    table, planned = ready(told, "compaction")
    if not planned:
        return
    view = view_at(open_table(table), None, RELEASED)
    held = {one.file_id: read_slice(view, one, table_schema(view)) for one in snapshot_slices(view)}
    table = perform(table, planned)
    table = perform(table, compaction.execute(table, PLAN, DONE))
    for one in (one for one in table.base_files if one.instant == PLAN):
        records = one.records if isinstance(one.records, tuple) else ()
        if keys_of(records) != keys_of(held[one.file_id]):
            detail = f"{len(held[one.file_id])} rows became {len(records)} in {one.name}"
            raise Counterexample(detail, table, told.lines())


def keys_of(records: tuple[Record, ...]) -> list[Any]:
    """The keys of rows and what they come from, as often as they are there."""
    return sorted((one.values["_hoodie_record_key"], one.values["_hoodie_commit_seqno"]) for one in records)


@obligation(
    "PO-208",
    "A plan that is executed twice, or again after a crash, leaves the table that executing it once leaves",
    "CP-010 LC-005 CL-006 CN-012",
    broken_by="retry-keeps-what-failed",
)
@property_check
@given(told=busy(MERGE_ON_READ, "compaction"), service=st.sampled_from(ALL_SERVICES))
def _a_plan_may_be_executed_again(told: Story, service: str) -> None:
    table, planned = ready(told, service)
    if not planned:
        return
    waiting = perform(table, planned)
    effects = module_of(service).execute(waiting, PLAN, DONE)
    expected = contents_of(perform(waiting, effects))
    for left in prefixes(waiting, effects):
        again = perform(left, module_of(service).execute(left, PLAN, DONE))
        if contents_of(again) != expected and plans.is_completed(left, PLAN) <= (not left.markers):
            raise Counterexample(f"{service} tried again leaves another table", again, told.lines())


def contents_of(table: Table) -> tuple[list[str], ...]:
    """Everything in a table, in an order of its own."""
    return tuple(sorted(map(repr, part)) for part in (table.timeline, table.base_files, table.log_files))


@obligation(
    "PO-212",
    "Right after a compaction a read-optimized query answers what a snapshot does",
    "CP-001 CP-004 RD-009",
    broken_by="plan-takes-one-slice",
)
@property_check
@given(told=busy(MERGE_ON_READ, "log_compaction"))
def _read_optimized_is_fresh_after_compaction(told: Story) -> None:
    table, planned = ready(told, "compaction")
    table = perform(table, planned)
    if planned:
        table = perform(table, compaction.execute(table, PLAN, DONE))
    optimized = as_rows(read_optimized(table, meta_columns=True).rows)
    if optimized != rows_and_origins(table):
        raise Counterexample(f"base files hold {short(optimized)}", table, told.lines())


def compaction_in_between(told: Story, row: Row) -> None:
    """One more write, with and without a compaction before it, gives one table."""
    table, planned = ready(told, "compaction")
    expected = rows_of(try_write(table, (row,), LAST))
    compacted = perform(table, planned)
    if planned:
        compacted = perform(compacted, compaction.execute(compacted, PLAN, DONE))
    found = rows_of(try_write(compacted, (row,), LAST))
    if found != expected:
        lines = (*told.lines(), "compaction or none", f"upsert {row}")
        raise Counterexample(f"with a compaction {found}, without one {expected}", compacted, lines)


LATE = st.builds(
    lambda key, stamp: {"id": key, "day": "d1", "ts": stamp, "note": "last"}, st.just("a"), st.integers(0, 4)
)


@obligation(
    "PO-213",
    "A later write gives the same table whether or not a compaction ran before it",
    "CP-004 MG-005 MG-013",
    refuted=True,
    holds_instead="PO-214",
)
@property_check
@given(told=stories(shapes((9,), ("MERGE_ON_READ",), (EVENT_TIME,), (True,)), WRITES, longest=8), row=LATE)
def _compaction_shows_in_later_merges(told: Story, row: Row) -> None:
    compaction_in_between(told, row)


@obligation(
    "PO-214",
    "Where the later commit wins, a later write gives the same table whether or not a compaction ran before it",
    "CP-004 MG-002",
    assumptions="commit time ordering; writers one after the other",
    broken_by="compaction-reads-logs-only",
)
@property_check
@given(told=busy(shapes(types=("MERGE_ON_READ",), modes=(COMMIT_TIME,))), row=LATE)
def _compaction_does_not_show_by_commit_time(told: Story, row: Row) -> None:
    compaction_in_between(told, row)


@obligation(
    "PO-215",
    "Any two services may be planned one after the other and executed in either order, and change nothing",
    "CP-003 LC-002 CL-002 CN-006",
    broken_by="plans-share-groups",
)
@property_check
@given(
    told=busy(MERGE_ON_READ),
    pair=st.sampled_from(sorted(permutations(ALL_SERVICES, 2))),
    policy=st.sampled_from(POLICIES),
    swapped=st.booleans(),
)
def _services_run_beside_each_other(told: Story, pair: tuple[str, str], policy: str, *, swapped: bool) -> None:
    table, settings = played(told, EAGER), {**EAGER, "hoodie.clean.policy": policy}
    expected, planned = rows_and_origins(table), []
    for number, service in enumerate(pair):
        effects = module_of(service).schedule(table, tick(SOON + number), settings)
        planned += [(service, tick(SOON + number))] if effects else []
        table = perform(table, effects)
    for number, (service, requested) in enumerate(reversed(planned) if swapped else planned):
        try:
            table = perform(table, module_of(service).execute(table, requested, tick(LAST + number)))
        except Rejection as rejection:
            raise Counterexample(f"{service} beside {pair}: {rejection}", table, told.lines()) from rejection
        refuse_change(table, expected, told, f"{service} of {pair}")


@obligation(
    "PO-216",
    "Clustering loses no update that came after its plan: it gives up instead",
    "CL-005",
    broken_by="clustering-over-updates",
)
@property_check
@given(told=busy_of_both_types("compaction"), row=LATE)
def _clustering_gives_up_for_updates(told: Story, row: Row) -> None:
    table, planned = ready(told, "clustering")
    if not planned:
        return
    allowed = {"hoodie.clustering.updates.strategy": "SparkAllowUpdateStrategy"}
    table = try_write(perform(table, planned), (row,), SOON, allowed)
    expected = rows_and_origins(table)
    try:
        table = perform(table, clustering.execute(table, PLAN, DONE))
    except Rejection as rejection:
        if rejection.reason is not Reason.WRITE_CONFLICT:
            raise Counterexample(f"clustering after an update: {rejection}", table, told.lines()) from rejection
    refuse_change(table, expected, told, "clustering after an update")


DAY = 24 * 3600 * 1000


def expires_nothing_young(told: Story, cut: int) -> None:
    """Partitions expire; what was written since the limit is there."""
    settings = {"hoodie.partition.ttl.strategy.days.retain": "1"}
    table, now, limit = played(told), tick(DAY + 10 * cut), tick(10 * cut)
    expired = time_to_live.expired_partitions(table, now, settings)
    expected = [one for one in rows_and_origins(table) if dict(one)["_hoodie_partition_path"] not in expired]
    young = [one for one in rows_and_origins(table) if dict(one)["_hoodie_commit_time"] >= limit]
    table = perform(table, time_to_live.schedule(table, now, settings))
    if expired:
        table = perform(table, time_to_live.execute(table, now, tick(DAY + 10 * cut + 5), settings))
    refuse_change(table, expected, told, f"{expired} expired")
    if not {*young} <= {*rows_and_origins(table)}:
        raise Counterexample(f"{expired} expired at {limit} and took {short(young)}", table, told.lines())


@obligation(
    "PO-217",
    "Time to live deletes the partitions it names, and in them no row that is younger than the days to keep",
    "CN-013 CN-014",
    assumptions="copy on write",
    broken_by="live-partitions-expire",
)
@property_check
@given(told=busy(shapes(types=("COPY_ON_WRITE",), partitioned=(True,))), cut=st.integers(0, 6))
def _no_young_row_expires(told: Story, cut: int) -> None:
    expires_nothing_young(told, cut)


@obligation(
    "PO-222",
    "Time to live deletes no row that is younger than the days to keep, whatever the table type",
    "CN-013",
    refuted=True,
    holds_instead="PO-217",
)
@property_check
@given(told=stories(shapes((9,), ("MERGE_ON_READ",), partitioned=(True,)), WRITES), cut=st.integers(0, 6))
def _young_log_rows_expire(told: Story, cut: int) -> None:
    expires_nothing_young(told, cut)


@obligation(
    "PO-219",
    "A partition that a clean removes whole takes nothing with it that was written since the plan",
    "CN-011",
    broken_by="partition-goes-with-what-came-since",
)
@property_check
@given(told=busy(shapes(types=("COPY_ON_WRITE",), partitioned=(True,))), day=st.sampled_from(DAYS), writes=...)
def _a_partition_goes_only_empty(told: Story, day: str, *, writes: bool) -> None:
    table = taken(played(told), Step(Operation.DELETE_PARTITION, partitions=(day,)), BEFORE)
    planned = cleaning.schedule(table, PLAN, {**EAGER, "hoodie.clean.policy": POLICIES[2]})
    table = perform(table, planned)
    if writes:
        table = try_write(table, all_keys(day), SOON)
    expected = rows_and_origins(table)
    if planned:
        table = perform(table, cleaning.execute(table, PLAN, DONE))
    refuse_change(table, expected, told, "a partition was removed")
    if not writes and day in table.partitions:
        raise Counterexample(f"{day} holds nothing and is still a partition", table, told.lines())


@obligation(
    "PO-220",
    "A log file whose write token is not the latest of its slice can go",
    "CN-010",
    refuted=True,
    holds_instead="PO-203",
)
@property_check
@given(told=stories(shapes((6,), ("MERGE_ON_READ",)), WRITES))
def _older_write_tokens_count(told: Story) -> None:
    table = played(told)
    slices = snapshot_slices(view_at(open_table(table), None, RELEASED))
    kept: set[LogFile | str] = set()
    for one in slices:
        latest = max((log.write_token for log in one.log_files), default="")
        kept |= {log.name for log in one.log_files if log.write_token == latest}
    fewer = replace(
        table,
        log_files=tuple(log for log in table.log_files if log.name in kept),
    )
    try:
        refuse_change(fewer, rows_and_origins(table), told, "logs with older write tokens went")
    except Rejection as rejection:
        raise Counterexample(f"logs with older write tokens went: {rejection}", table, told.lines()) from rejection


@obligation(
    "PO-221",
    "Log compaction never changes the table where each change meets what the ones before it left",
    "LC-004 MG-013",
    assumptions="deletes without ordering value as the text has them",
    refuted=True,
    holds_instead="PO-201",
)
@property_check
@given(told=stories(shapes((9,), ("MERGE_ON_READ",), (EVENT_TIME,), (True,)), WRITES, longest=8))
def _log_compaction_forgets_deletes(told: Story) -> None:
    readings = Readings(delete_without_ordering=Reading.TEXT)
    table = played(told)
    expected = rows_and_origins(table, readings)
    planned = log_compaction.schedule(table, PLAN, EAGER, readings)
    table = perform(table, planned)
    if planned:
        table = perform(table, log_compaction.execute(table, PLAN, DONE, readings))
    refuse_change(table, expected, told, "log compaction", readings)


ORDERS = tuple(
    order
    for order in sorted(set(permutations(("A", "A", "B", "B", "service", "service"))))
    if order.index("A") < order.index("B")
)
"""Every way in which two writers and a service interleave, the writers being alike."""


@dataclass
class Overlap:
    """A table with one key, which two writers update while a service rewrites its file group."""

    table: Table
    settings: Mapping[str, str]
    service: str
    readings: Readings
    open: dict[str, Write] = field(default_factory=dict)
    planned: InstantTime | None = None
    committed: list[Row] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def step(self, who: str, stamp: int, now: int) -> None:
        """The next part of what somebody does."""
        self.steps.append(f"{who} {'ends' if who in self.open or self.planned else 'begins'} at {now}")
        if who == "service":
            self.serve(now)
        elif who in self.open:
            self.commit(self.open.pop(who), now)
        else:
            rows: tuple[Row, ...] = tuple({"id": key, "day": "d1", "ts": stamp, "note": who} for key in ("a", who))
            request = Request(Operation.UPSERT, tuple(map(Record, rows)), settings=self.settings)
            begun, effects = begin(self.table, request, tick(now))
            self.table = perform(self.table, effects)
            staged, effects = stage(self.table, begun)
            self.table = perform(self.table, effects)
            self.open[who] = staged

    def commit(self, write: Write, now: int) -> None:
        """The write completes, or gives up."""
        try:
            effects = commit(self.table, write, tick(now))
        except Rejection:
            self.table = perform(self.table, abort(self.table, write))
            return
        self.table = perform(self.table, effects)
        self.committed += [dict(one.values) for one in write.request.rows]

    def serve(self, now: int) -> None:
        """The service plans, or executes its plan; either must leave the rows as they are."""
        module, expected = module_of(self.service), self.rows()
        if self.planned is None:
            self.planned = tick(now)
            effects = module.schedule(self.table, self.planned, EAGER, self.readings)
        elif not any(one.requested == self.planned for one in self.table.timeline):
            effects = ()
        else:
            effects = module.execute(self.table, self.planned, tick(now), self.readings)
        self.table = perform(self.table, effects)
        if self.rows() != expected:
            raise Counterexample(
                f"{self.service}: {short(expected)} became {short(self.rows())}", self.table, tuple(self.steps)
            )

    def rows(self) -> Rows:
        """What the table holds."""
        return rows_and_origins(self.table, self.readings)


def overlapping(shape: Shape, settings: Mapping[str, str], service: str, readings: Readings) -> Iterator[Overlap]:
    """Every interleaving of two writers and a service on one file group, either writer's value being the greater."""
    first = {"id": "a", "day": "d1", "ts": 0, "note": "first"}
    table = try_write(new_table(shape), (first,), 1, settings)
    table = try_write(table, ({**first, "ts": 1},), 11, settings)
    for order in ORDERS:
        for stamps in ({"A": 2, "B": 3}, {"A": 3, "B": 2}):
            world = Overlap(table, settings, service, readings)
            try:
                for number, who in enumerate(order):
                    world.step(who, stamps.get(who, 0), 100 + 10 * number)
            except Rejection as rejection:
                raise Counterexample(f"{rejection}", world.table, tuple(world.steps)) from rejection
            yield world


def refuse_loss(world: Overlap, mode: str) -> None:
    """Nothing, unless a row of a write that completed is not there, or an older one in its place."""
    expected = {"a": {"id": "a", "day": "d1", "ts": 1, "note": "first"}}
    for row in world.committed:
        known = expected.get(row["id"])
        if known is None or mode == COMMIT_TIME or row["ts"] >= known["ts"]:
            expected[row["id"]] = row
    found = {row["id"]: row for row in map(dict, read_snapshot(world.table, world.readings).rows)}
    if found != expected:
        raise Counterexample(f"{expected} expected, {found} found", world.table, tuple(world.steps))


BY_COMPLETION = Readings(log_order=Reading.TEXT)


@obligation(
    "PO-209",
    "A compaction or log compaction that is planned while writers are inflight loses nothing and changes nothing",
    "CP-005 CP-009 LC-003 RD-005",
    assumptions="versions 8 and 9; logs of a slice in the order of their completion",
    broken_by="v8-log-by-name",
    exhaustive=True,
)
def _planned_beside_writers_by_completion() -> None:
    for mode in (COMMIT_TIME, EVENT_TIME):
        for service in ("compaction", "log_compaction"):
            for world in overlapping(Shape(9, "MERGE_ON_READ", mode), NON_BLOCKING, service, BY_COMPLETION):
                refuse_loss(world, mode)


@obligation(
    "PO-210",
    "A compaction planned while writers are inflight changes nothing where logs are in the order of their requests",
    "CP-005 CP-009 RD-007",
    refuted=True,
    holds_instead="PO-209",
    exhaustive=True,
)
def _planned_beside_writers_by_request() -> None:
    for service in ("compaction", "log_compaction"):
        for _ in overlapping(Shape(9, "MERGE_ON_READ", COMMIT_TIME), NON_BLOCKING, service, RELEASED):
            pass


@obligation(
    "PO-226",
    "A compaction planned while writers are inflight changes nothing where the greater ordering value wins",
    "CP-005 CP-009 MG-003 RD-007",
    assumptions="versions 8 and 9; released log order; event time ordering, no two values equal",
    broken_by="v8-log-by-name",
    exhaustive=True,
)
def _planned_beside_writers_by_event_time() -> None:
    for service in ("compaction", "log_compaction"):
        for world in overlapping(Shape(9, "MERGE_ON_READ", EVENT_TIME), NON_BLOCKING, service, RELEASED):
            refuse_loss(world, EVENT_TIME)


@obligation(
    "PO-211",
    "In version 6 a compaction waits for the writes that began before it, and loses nothing of those that begin after",
    "CP-009 RD-006",
    assumptions="optimistic writers",
    broken_by="v6-compaction-beside-writers",
    exhaustive=True,
)
def _version_6_waits_for_writers() -> None:
    for mode in (COMMIT_TIME, EVENT_TIME):
        for world in overlapping(Shape(6, "MERGE_ON_READ", mode), {}, "compaction", RELEASED):
            refuse_loss(world, mode)


@obligation(
    "PO-218",
    "The cleaner leaves every log that a slow writer adds to a newer slice than the one it began with",
    "CN-005 RD-005",
    assumptions="versions 8 and 9; logs of a slice in the order of their completion",
    broken_by="cleaner-slices-logs-by-name",
    exhaustive=True,
)
def _cleaning_after_slow_writers() -> None:
    settings = {**EAGER, "hoodie.clean.policy": POLICIES[2]}
    for world in overlapping(Shape(9, "MERGE_ON_READ", EVENT_TIME), NON_BLOCKING, "compaction", BY_COMPLETION):
        expected = world.rows()
        planned = cleaning.schedule(world.table, PLAN, settings)
        table = perform(world.table, planned)
        if planned:
            table = perform(table, cleaning.execute(table, PLAN, DONE))
        found = rows_and_origins(table, BY_COMPLETION)
        if found != expected:
            raise Counterexample(f"cleaning: {short(expected)} became {short(found)}", table, tuple(world.steps))
