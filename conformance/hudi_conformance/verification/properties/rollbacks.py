"""Rollbacks: exact, repeatable, and only of what has failed."""

from hudi_model.actions import Action, State
from hudi_model.effects import perform
from hudi_model.files import Damaged, DataBlock, DeleteBlock, LogFile, RollbackBlock
from hudi_model.requests import Operation
from hudi_model.services import compaction, rollback
from hudi_model.slicing import data_files
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import Row, Shape, Step, Story, new_table, rows, shapes, stories
from hudi_conformance.verification.properties.recovery_checks import (
    CRASHES,
    EVERY,
    LATER,
    attempt,
    crashing_step,
    done,
    lines_of,
    same,
    snapshot,
    table_of,
    went_on,
)
from hudi_conformance.verification.properties.registry import model_property, property_check

EAGER = {"hoodie.clean.failed.writes.policy": "EAGER"}


def data_of(table: Table) -> frozenset[tuple[str, str]]:
    """The data files of a table."""
    return frozenset((one.partition, one.name) for one in data_files(table))


def traces(table: Table, instant: InstantTime) -> tuple[str, ...]:
    """What is left of an action: its entries, its files and its blocks that count."""
    entries = [one.name for one in table.timeline if one.requested == instant]
    files = [one.name for one in data_files(table) if one.instant == instant]
    markers = [one.name for one in table.markers if one.instant == instant]
    blocks = [log.name for log in table.log_files if instant in counted_instants(log)]
    return (*entries, *files, *markers, *blocks)


def counted_instants(log: LogFile) -> set[InstantTime]:
    """The instants of a log's blocks."""
    blocks = () if isinstance(log.blocks, Damaged) else log.blocks
    return {one.instant for one in blocks if isinstance(one, DataBlock | DeleteBlock)}


def taken_back(table: Table) -> set[InstantTime]:
    """The writes whose blocks a command in some log takes back."""
    blocks = (one for log in table.log_files if not isinstance(log.blocks, Damaged) for one in log.blocks)
    return {one.target for one in blocks if isinstance(one, RollbackBlock)}


@model_property(
    "PO-230",
    "A rollback removes all and only what its write left behind",
    "RB-003 RB-005 RB-006 RB-007 RB-009",
    broken_by="rollback-leaves-base-files markers-announce-no-logs",
)
@property_check
@given(story=stories(services=("compaction",), longest=4), crash=CRASHES, by_markers=st.booleans())
def rollback_is_exact(story: Story, crash: tuple[Step, int], by_markers: bool) -> None:
    """Rows and files are those from before. Where version 6 leaves blocks of the write, a command takes them back."""
    before = table_of(story)
    left = attempt(before, crashing_step(story, crash), LATER, crash[1])
    lines = lines_of(story, f"a write that dies after {crash[1]} effects: {crashing_step(story, crash)}")
    settings = {"hoodie.rollback.using.markers": str(by_markers).lower()}
    after = perform(left, rollback.roll_back(left, tick(LATER), tick(LATER + 5), tick(LATER + 6), settings))
    same(snapshot(after, lines), snapshot(before, lines), "rows after the rollback", after, lines)
    left_over = traces(after, tick(LATER))
    if story.shape.version < 8 and tick(LATER) in taken_back(after):
        left_over = ()
    same(left_over, (), "traces of the write", after, lines)
    same(data_of(before) <= data_of(after), True, "files of others are there", after, lines)


@model_property(
    "PO-231",
    "A rollback may die after any effect, and a retry ends it under its own instant",
    "RB-004 RB-009 RB-010",
    broken_by="rollback-started-anew write-forgotten-before-its-files",
)
@property_check
@given(story=stories(longest=3), crash=CRASHES, cut=st.integers(0, 12))
def rollback_is_idempotent(story: Story, crash: tuple[Step, int], cut: int) -> None:
    """Nobody sees a difference meanwhile, and in the end there is one rollback and no trace of the write."""
    before = table_of(story)
    left = attempt(before, crashing_step(story, crash), LATER, crash[1])
    lines = lines_of(
        story,
        f"a write that dies after {crash[1]} effects: {crashing_step(story, crash)}",
        f"a rollback that dies after {cut}",
    )
    stopped = perform(left, rollback.roll_back(left, tick(LATER), tick(LATER + 5), tick(LATER + 6), {})[:cut])
    same(snapshot(stopped, lines), snapshot(before, lines), "rows meanwhile", stopped, lines)
    target = tick(LATER)
    waits = rollback.pending_rollback(stopped, target) or any(one.requested == target for one in stopped.timeline)
    retried = lambda: rollback.roll_back(stopped, target, tick(LATER + 7), tick(LATER + 8), {})  # noqa: E731
    after = perform(stopped, done(retried, stopped, lines)) if waits else stopped
    found = [(one.requested, one.state) for one in open_table(after).timeline.instants if one.action is Action.ROLLBACK]
    same([state for _, state in found], [State.COMPLETED], "rollbacks", after, lines)
    if story.shape.version >= 8:
        same(data_of(after), data_of(before), "files", after, lines)
    same(snapshot(after, lines), snapshot(before, lines), "rows in the end", after, lines)


@model_property(
    "PO-232",
    "A service whose attempt is rolled back stays planned, and logs that wait for it stay",
    "RB-001 RB-008",
    broken_by="rolled-back-plan-is-dropped services-are-failed-writes",
)
@property_check
@given(
    story=stories(shapes(types=("MERGE_ON_READ",)), operations=(Operation.UPSERT,), longest=4),
    more=rows(),
    cut=st.integers(1, 9),
)
def rolled_back_services_stay_planned(story: Story, more: tuple[Row, ...], cut: int) -> None:
    """A compaction dies, rows are logged after its plan, the attempt is rolled back, and the compaction is done."""
    lines = lines_of(story, f"a compaction that dies after {cut} effects", "an upsert", "a rollback", "the compaction")
    table = table_of(story)
    table = perform(table, planned := compaction.schedule(table, tick(LATER), EVERY))
    if planned:
        table = perform(table, compaction.execute(table, tick(LATER), tick(LATER + 1))[:cut][:-3])
    table = went_on(table, (Step(Operation.UPSERT, more),), LATER + 10, {})
    expected = snapshot(table, lines)
    same(rollback.failed_writes(table, tick(LATER + 20), EAGER), (), "failed writes", table, lines)
    if planned:
        table = perform(table, rollback.roll_back(table, tick(LATER), tick(LATER + 30), tick(LATER + 31), {}))
        same(snapshot(table, lines), expected, "rows after the rollback", table, lines)
        finish = lambda: compaction.execute(table, tick(LATER), tick(LATER + 40))  # noqa: E731
        table = perform(table, done(finish, table, lines))
    same(snapshot(table, lines), expected, "rows in the end", table, lines)


@model_property(
    "PO-233",
    "A write whose heartbeat is live is not rolled back by others, and one whose heartbeat stopped is",
    "RB-001 RB-002",
    broken_by="live-writes-are-failed",
)
@property_check
@given(shape=shapes(), crash=CRASHES, waited=st.integers(0, 300_000))
def heartbeats_mark_active_writes(shape: Shape, crash: tuple[Step, int], waited: int) -> None:
    """Two missed beats of a minute are tolerated."""
    table = attempt(new_table(shape), crash[0], LATER, crash[1])
    found = rollback.failed_writes(table, tick(LATER + waited), {})
    same(found, (tick(LATER),) if waited > 120_000 else (), f"failed after {waited} ms", table, (str(shape),))
    eager = rollback.failed_writes(table, tick(LATER + waited), EAGER)
    same(eager, (tick(LATER),), "failed where one writer is alone", table, (str(shape),))
