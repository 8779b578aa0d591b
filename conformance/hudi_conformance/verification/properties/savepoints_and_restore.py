"""Savepoints keep what they name, and a restore gives it back."""

from dataclasses import replace

from hudi_model.effects import perform
from hudi_model.queries import read_as_of, read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation
from hudi_model.services import archival, compaction, savepoints
from hudi_model.slicing import data_files
from hudi_model.tables import RELEASED, Reading, Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data
from hudi_model.writers import begin, commit, stage
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    Shape,
    Step,
    Story,
    new_table,
    remembered,
    request_of,
    rows_of,
    shapes,
    stories,
    taken,
)
from hudi_conformance.verification.properties.recovery_checks import (
    ALL,
    ARCHIVES,
    CRASHES,
    EVERY,
    LATER,
    SERVICES,
    again,
    answered,
    as_of,
    attempt,
    crashing_step,
    lines_of,
    not_refused,
    same,
    snapshot,
    table_of,
    went_on,
)
from hudi_conformance.verification.properties.registry import model_property, property_check

KEEPS_LITTLE = {**EVERY, "hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "1"}


def saved_last(table: Table, at: int) -> tuple[InstantTime, Table]:
    """A savepoint of the write that completed last."""
    instant = completed_data(open_table(table).timeline)[-1].requested
    return instant, perform(table, savepoints.savepoint(table, instant, tick(at)))


@model_property(
    "PO-234",
    "A restore gives the rows that were there when its savepoint was made, whatever happened since",
    "SR-002 SR-004 SR-005 SR-006 SR-007 SR-009 TL-018",
    broken_by="restore-leaves-phantom-logs savepoint-keeps-nothing saved-writes-begin-nothing",
    assumptions="released readings; no write overlaps the saved one",
)
@property_check
@given(
    story=stories(operations=(Operation.UPSERT,), longest=3),
    later=stories(operations=ALL, services=SERVICES, longest=3),
    crash=CRASHES,
    cut=st.integers(0, 30),
)
def restore_is_exact(story: Story, later: Story, crash: tuple[Step, int], cut: int) -> None:
    """Writes, services, cleaning and archival, a pending compaction, a write that died, a restore that died."""
    before = went_on(table_of(story), (again(story),), 900, {})
    expected = snapshot(before, story.lines())
    saved, table = saved_last(before, 990)
    compacted, cleaned = (Step(None, service=name) for name in ("compaction", "cleaning"))
    steps = (*later.steps, compacted, *[again(story), compacted] * 3, cleaned)
    table = went_on(table, steps, 1000, KEEPS_LITTLE)
    table = perform(table, archival.archive(table, {**KEEPS_LITTLE, **ARCHIVES}))
    if story.shape.table_type == "MERGE_ON_READ":
        table = perform(table, compaction.schedule(table, tick(LATER - 10), EVERY))
    table = attempt(table, crashing_step(story, crash), LATER, crash[1])
    lines = lines_of(
        story, f"a savepoint of {saved}", *map(str, later.steps), f"dies: {crash[0]}", f"restore dies at {cut}"
    )
    table = not_refused(lambda: perform(table, savepoints.schedule(table, tick(LATER + 10), {}, saved)), table, lines)
    stopped = perform(table, savepoints.execute(table, tick(LATER + 10), tick(LATER + 11))[:cut])
    after = perform(stopped, savepoints.execute(stopped, tick(LATER + 10), tick(LATER + 12)))
    same(snapshot(after, lines), expected, "rows after the restore", after, lines)
    undone = {one.requested for one in table.timeline} - {one.requested for one in before.timeline}
    left_over = sorted(one.name for one in data_files(after) if one.instant in undone)
    same(left_over, [], "files of what was undone", after, lines)
    more = went_on(after, story.steps, LATER + 100, {})
    unrestored = went_on(before, story.steps, LATER + 100, {})
    same(snapshot(more, lines), snapshot(unrestored, lines), "rows after more writes", more, lines)


@model_property(
    "PO-235",
    "Nobody sees a state between two commits while a restore runs",
    "SR-006",
    broken_by="restore-oldest-first",
    assumptions="released readings; nothing was cleaned; writes follow each other",
)
@property_check
@given(
    story=stories(longest=2),
    later=stories(operations=(Operation.INSERT, Operation.INSERT_OVERWRITE), longest=4),
    cut=st.integers(0, 40),
)
def restore_goes_back_step_by_step(story: Story, later: Story, cut: int) -> None:
    """A restore that stops leaves the rows of some moment since the savepoint."""
    before = table_of(story)
    if not completed_data(open_table(before).timeline):
        return
    saved, table = saved_last(before, 990)
    moments = [snapshot(table, ())]
    for number, step in enumerate(later.steps):
        table = went_on(table, (step,), 1000 + 10 * number, {})
        moments.append(snapshot(table, ()))
    table = perform(table, savepoints.schedule(table, tick(LATER), {}, saved))
    stopped = perform(table, savepoints.execute(table, tick(LATER), tick(LATER + 1))[:cut])
    lines = lines_of(
        story, f"a savepoint of {saved}", *map(str, later.steps), f"a restore that dies after {cut} effects"
    )
    same(snapshot(stopped, lines) in moments, True, "rows of some moment", stopped, lines)


def overlapping() -> tuple[Table, InstantTime]:
    """A write begins, a second one begins and completes and is saved, then the first completes."""
    table = new_table(Shape())
    row = {"id": "a", "day": "d1", "ts": 1, "note": "one"}
    slow, effects = begin(table, request_of(Step(Operation.INSERT, (row,))), tick(1))
    table = perform(table, effects)
    table = taken(table, Step(Operation.INSERT, ({**row, "id": "b"},)), 10)
    table = perform(table, savepoints.savepoint(table, tick(10), tick(20)))
    slow, effects = stage(table, slow)
    table = perform(table, effects)
    return perform(table, commit(table, slow, tick(30))), tick(10)


def restored(table: Table, saved: InstantTime) -> Table:
    """The table after a restore."""
    table = perform(table, savepoints.schedule(table, tick(LATER), {}, saved))
    return perform(table, savepoints.execute(table, tick(LATER), tick(LATER + 1)))


@model_property(
    "PO-236",
    "A restore gives what a query as of the saved instant gave before",
    "SR-005 RD-010",
    refuted=True,
    holds_instead="PO-237",
)
def restore_agrees_with_time_travel() -> None:
    """As released a query goes by requested times, and a restore by completion times."""
    table, saved = overlapping()
    lines = ("an insert of a begins", "an insert of b, saved", "the insert of a completes")
    expected = as_of(table, saved, lines)
    same(snapshot(restored(table, saved), lines), expected, "rows after the restore", table, lines)


@model_property(
    "PO-237",
    "A restore gives what a query as of the completion of the saved write gave before",
    "SR-005 RD-010",
    broken_by="restore-by-request",
    assumptions="time travel as in the text, by completion times; version 8 and later",
    exhaustive=True,
)
def restore_agrees_with_completion_times() -> None:
    """Also where a write that had begun before completes after the saved one."""
    table, saved = overlapping()
    moment = next(one.completed for one in completed_data(open_table(table).timeline) if one.requested == saved)
    readings = replace(RELEASED, time_travel=Reading.TEXT)
    expected = answered(lambda: read_as_of(table, moment or saved, readings), table, ())
    same(snapshot(restored(table, saved), ()), expected, "rows after the restore", table, ())


@model_property(
    "PO-238",
    "A savepoint is made of nothing that a clean may have taken from",
    "SR-001 SR-002 SR-009",
    broken_by="savepoint-of-cleaned-files",
)
@property_check
@given(story=stories(shapes(types=("COPY_ON_WRITE",)), longest=3), place=st.integers(0, 5))
def savepoints_are_whole(story: Story, place: int) -> None:
    """A savepoint is refused, or a restore to it gives what was there."""
    story = Story(story.shape, (*story.steps, *[again(story)] * 3, Step(None, service="cleaning")))
    table = table_of(story, KEEPS_LITTLE)
    commits = completed_data(open_table(table).timeline)
    if place >= len(commits):
        return
    try:
        effects = savepoints.savepoint(table, commits[place].requested, tick(LATER))
    except Rejection as refused:
        same(refused.reason, Reason.RANGE_NOT_RETAINED, "refused for", table, story.lines())
        return
    saved = not_refused(lambda: restored(perform(table, effects), commits[place].requested), table, story.lines())
    expected = remembered(Story(story.shape, until(story, commits[place].requested)))
    same(rows_of(saved), expected, "rows of the savepoint", saved, story.lines())


def until(story: Story, instant: InstantTime) -> tuple[Step, ...]:
    """The steps of a story up to the one of an instant."""
    return tuple(step for number, step in enumerate(story.steps) if tick(10 * number + 1) <= instant)


@model_property(
    "PO-239",
    "A savepointed instant stays readable by time travel, whatever cleaning does",
    "SR-008 RD-014",
    refuted=True,
    holds_instead="PO-250",
)
def saved_instants_stay_readable() -> None:
    """As released the retained range of the last clean decides, and no savepoint is looked up."""
    row = {"id": "a", "day": "d1", "ts": 1, "note": "one"}
    table = taken(new_table(Shape(table_type="COPY_ON_WRITE")), Step(Operation.INSERT, (row,)), 1)
    saved, table = saved_last(table, 9)
    steps = [Step(Operation.UPSERT, ({**row, "ts": ts},)) for ts in (2, 3, 4)]
    table = went_on(table, (*steps, Step(None, service="cleaning")), 10, KEEPS_LITTLE)
    answered(
        lambda: read_as_of(table, saved), table, ("an insert, saved", "three upserts", "a clean that keeps one commit")
    )


@model_property(
    "PO-250",
    "A savepointed instant stays readable by time travel where savepoints are asked, whatever was cleaned",
    "SR-002 SR-008 RD-014",
    broken_by="savepoint-keeps-nothing savepoints-are-ignored",
    assumptions="the reading of the text",
)
@property_check
@given(
    story=stories(operations=(Operation.UPSERT,), longest=3),
    later=stories(operations=ALL, services=SERVICES, longest=3),
)
def saved_instants_stay_readable_in_the_text(story: Story, later: Story) -> None:
    """Its rows are those that a snapshot had then."""
    before = table_of(story)
    saved, table = saved_last(before, 990)
    compacted, cleaned = (Step(None, service=name) for name in ("compaction", "cleaning"))
    steps = (*later.steps, compacted, *[again(story), compacted] * 3, cleaned)
    table = went_on(table, steps, 1000, KEEPS_LITTLE)
    table = perform(table, archival.archive(table, {**KEEPS_LITTLE, **ARCHIVES}))
    lines = lines_of(story, f"a savepoint of {saved}", *map(str, steps))
    readings = replace(RELEASED, saved_travel=Reading.TEXT)
    found = answered(lambda: read_as_of(table, saved, readings), table, lines)
    same(found, snapshot(before, lines), "rows as of the savepoint", table, lines)


@model_property(
    "PO-249",
    "A restore is refused where writes after its savepoint have left the timeline",
    "SR-004 AR-006",
    broken_by="restore-overlooks-the-archive",
    exhaustive=True,
)
def restores_do_not_leave_archived_writes() -> None:
    """Archival may be allowed to go beyond savepoints: what it took stays, and a later write revives it."""
    row = {"id": "a", "day": "d1", "ts": 1, "note": "one"}
    table = taken(new_table(Shape(table_type="COPY_ON_WRITE")), Step(Operation.INSERT, (row,)), 1)
    saved, table = saved_last(table, 9)
    steps = [Step(Operation.INSERT, ({**row, "id": name},)) for name in ("b", "c", "d", "e")]
    table = went_on(table, steps, 10, {})
    beyond = {**ARCHIVES, "hoodie.archive.beyond.savepoint": "true", "hoodie.clean.commits.retained": "1"}
    table = perform(table, archival.archive(table, beyond))
    try:
        after = restored(table, saved)
    except Rejection as refused:
        same(refused.reason, Reason.RANGE_NOT_RETAINED, "refused for", table, ())
        return
    after = went_on(after, (Step(Operation.INSERT, ({**row, "id": "f"},)),), LATER + 100, {})
    lines = ("an insert of a, saved", "inserts of b, c, d and e, archived", "the restore", "an insert of f")
    same(sorted(row["id"] for row in read_snapshot(after).rows), ["a", "f"], "rows after the restore", after, lines)
