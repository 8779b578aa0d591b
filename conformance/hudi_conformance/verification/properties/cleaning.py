"""Cleaning and time to live: they take what nobody needs, and nothing else."""

from collections.abc import Mapping
from dataclasses import replace

from hudi_model.actions import CleanPlan, State
from hudi_model.effects import perform
from hudi_model.files import LogFile
from hudi_model.queries import read_as_of
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation
from hudi_model.services import cleaning, plans, savepoints, time_to_live
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, Reading, Readings, Table, open_table, view_at
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import DAYS, Step, Story, played, shapes, stories, taken
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check
from hudi_conformance.verification.properties.service_checks import (
    AGAIN,
    BEFORE,
    DONE,
    EAGER,
    PLAN,
    POLICIES,
    SOON,
    WRITES,
    Rows,
    all_keys,
    as_rows,
    busy,
    busy_of_both_types,
    keeps_the_table,
    module_of,
    ready,
    refuse_change,
    rows_and_origins,
    short,
    try_write,
)


@model_property(
    "PO-203",
    "Cleaning never changes the latest table, under any policy",
    "CN-001 CN-002 CN-003 CN-004 CN-009",
    broken_by="clean-takes-the-newest-slice",
)
@property_check
@given(story=busy_of_both_types("compaction", "clustering", "log_compaction"), policy=st.sampled_from(POLICIES))
def _cleaning_keeps_the_table(story: Story, policy: str) -> None:
    keeps_the_table(story, "cleaning", {**EAGER, "hoodie.clean.policy": policy})


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


def keeps_the_past(story: Story, policy: str, index: str, crash: int, readings: Readings) -> None:
    """A clean is planned, dies after some of its effects and is tried again; the past stays or is refused."""
    settings = {**EAGER, "hoodie.clean.policy": policy, "hoodie.index.type": index}
    table, planned = ready(story, "cleaning", settings)
    if not planned:
        return
    past, waiting = history(table, readings), perform(table, planned)
    earliest = plans.plan_of(waiting, PLAN, CleanPlan).earliest_to_retain
    left = perform(waiting, cleaning.execute(waiting, PLAN, DONE)[:crash])
    if not plans.is_completed(left, PLAN):
        refuse_wrong_past(left, past, earliest, GOING, readings)
    again = perform(left, cleaning.execute(left, PLAN, AGAIN))
    refuse_wrong_past(again, past, earliest, NOT_RETAINED, readings)


@model_property(
    "PO-205",
    "Time travel answers what it did until an instant is cleaned, and is refused afterwards, never wrong",
    "CN-002 CN-003 CN-004 CN-007 CN-012 RD-014",
    broken_by="clean-takes-every-old-slice clean-takes-replaced-groups-at-once retried-clean-forgets-the-first-try",
)
@property_check
@given(
    story=busy_of_both_types("compaction"), policy=st.sampled_from(POLICIES), index=INDEXES, crash=st.integers(0, 12)
)
def _the_past_stays_or_is_refused(story: Story, policy: str, index: str, crash: int) -> None:
    keeps_the_past(story, policy, index, crash, RELEASED)


@model_property(
    "PO-223",
    "Time travel along completion times answers what it did until cleaned, and is refused afterwards, never wrong",
    "CN-002 CN-003 CN-004 CN-007 RD-010 RD-014",
    assumptions="time travel as the text has it",
    broken_by="clean-takes-every-old-slice",
)
@property_check
@given(
    story=busy_of_both_types("compaction"), policy=st.sampled_from(POLICIES), index=INDEXES, crash=st.integers(0, 12)
)
def _the_past_by_completion_stays_or_is_refused(story: Story, policy: str, index: str, crash: int) -> None:
    keeps_the_past(story, policy, index, crash, Readings(time_travel=Reading.TEXT))


@model_property(
    "PO-206",
    "The cleaner removes nothing that a retained instant, a savepoint or a pending plan needs",
    "CN-005 CN-008",
    broken_by="clean-ignores-savepoints clean-ignores-pending-plans clean-takes-every-old-slice",
)
@property_check
@given(
    story=busy_of_both_types("compaction", "log_compaction"),
    service=st.sampled_from(("compaction", "compaction", "log_compaction", "clustering")),
    policy=st.sampled_from((*POLICIES, *POLICIES[2:])),
    chosen=st.integers(0, 7),
    later=st.lists(st.sampled_from(DAYS), min_size=1, max_size=3),
)
def _the_cleaner_spares_what_is_needed(story: Story, service: str, policy: str, chosen: int, later: list[str]) -> None:
    if story.shape.table_type == "COPY_ON_WRITE":
        service = "clustering"
    table, saved = with_savepoint(played(story, EAGER), chosen)
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
        raise Counterexample(f"a savepoint lost {sorted(gone)}", table, story.lines())
    waiting = {one.requested for one in table.timeline} - {
        one.requested for one in table.timeline if one.state is State.COMPLETED
    }
    for requested in waiting:
        try:
            after = perform(table, module_of(service).execute(table, requested, AGAIN))
        except Rejection as rejection:
            if rejection.reason is Reason.WRITE_CONFLICT:
                continue
            raise Counterexample(f"a pending plan cannot be executed: {rejection}", table, story.lines()) from rejection
        refuse_change(after, expected, story, f"{service} after a clean")


def with_savepoint(table: Table, chosen: int) -> tuple[Table, frozenset[tuple[str, str]]]:
    """The table with a savepoint of one of its writes, and the files that it is to keep."""
    done = completed_data(open_table(table).timeline)
    effects = savepoints.savepoint(table, done[chosen % len(done)].requested, tick(BEFORE - 1)) if done else ()
    contents = (getattr(getattr(one, "entry", None), "content", None) for one in effects)
    files = [one.files for one in contents if one is not None]
    return perform(table, effects), frozenset().union(*files)


DAY = 24 * 3600 * 1000


def expires_nothing_young(story: Story, cut: int) -> None:
    """Partitions expire; what was written since the limit is there."""
    settings = {"hoodie.partition.ttl.strategy.days.retain": "1"}
    table, now, limit = played(story), tick(DAY + 10 * cut), tick(10 * cut)
    expired = time_to_live.expired_partitions(table, now, settings)
    expected = [one for one in rows_and_origins(table) if dict(one)["_hoodie_partition_path"] not in expired]
    young = [one for one in rows_and_origins(table) if dict(one)["_hoodie_commit_time"] >= limit]
    table = perform(table, time_to_live.schedule(table, now, settings))
    if expired:
        table = perform(table, time_to_live.execute(table, now, tick(DAY + 10 * cut + 5), settings))
    refuse_change(table, expected, story, f"{expired} expired")
    if not {*young} <= {*rows_and_origins(table)}:
        raise Counterexample(f"{expired} expired at {limit} and took {short(young)}", table, story.lines())


@model_property(
    "PO-217",
    "Time to live deletes the partitions it names, and in them no row that is younger than the days to keep",
    "CN-013 CN-014",
    assumptions="copy on write",
    broken_by="live-partitions-expire",
)
@property_check
@given(story=busy(shapes(types=("COPY_ON_WRITE",), partitioned=(True,))), cut=st.integers(0, 6))
def _no_young_row_expires(story: Story, cut: int) -> None:
    expires_nothing_young(story, cut)


@model_property(
    "PO-222",
    "Time to live deletes no row that is younger than the days to keep, whatever the table type",
    "CN-013",
    refuted=True,
    holds_instead="PO-217",
)
@property_check
@given(story=stories(shapes((9,), ("MERGE_ON_READ",), partitioned=(True,)), WRITES), cut=st.integers(0, 6))
def _young_log_rows_expire(story: Story, cut: int) -> None:
    expires_nothing_young(story, cut)


@model_property(
    "PO-219",
    "A partition that a clean removes whole takes nothing with it that was written since the plan",
    "CN-011",
    broken_by="partition-goes-with-what-came-since",
)
@property_check
@given(story=busy(shapes(types=("COPY_ON_WRITE",), partitioned=(True,))), day=st.sampled_from(DAYS), writes=...)
def _a_partition_goes_only_empty(story: Story, day: str, *, writes: bool) -> None:
    table = taken(played(story), Step(Operation.DELETE_PARTITION, partitions=(day,)), BEFORE)
    planned = cleaning.schedule(table, PLAN, {**EAGER, "hoodie.clean.policy": POLICIES[2]})
    table = perform(table, planned)
    if writes:
        table = try_write(table, all_keys(day), SOON)
    expected = rows_and_origins(table)
    if planned:
        table = perform(table, cleaning.execute(table, PLAN, DONE))
    refuse_change(table, expected, story, "a partition was removed")
    if not writes and day in table.partitions:
        raise Counterexample(f"{day} holds nothing and is still a partition", table, story.lines())


@model_property(
    "PO-220",
    "A log file whose write token is not the latest of its slice can go",
    "CN-010",
    refuted=True,
    holds_instead="PO-203",
)
@property_check
@given(story=stories(shapes((6,), ("MERGE_ON_READ",)), WRITES))
def _older_write_tokens_count(story: Story) -> None:
    table = played(story)
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
        refuse_change(fewer, rows_and_origins(table), story, "logs with older write tokens went")
    except Rejection as rejection:
        raise Counterexample(f"logs with older write tokens went: {rejection}", table, story.lines()) from rejection
