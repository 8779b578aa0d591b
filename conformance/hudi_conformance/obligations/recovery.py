"""What must hold of rollback, savepoints, restore, recovery from names, upgrades and versions."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from hudi_model import recovery, upgrades, versions
from hudi_model.actions import Action, State
from hudi_model.effects import Effects, PutProperties, perform
from hudi_model.files import DataBlock, DeleteBlock, LogFile, RollbackBlock
from hudi_model.queries import read_as_of, read_snapshot
from hudi_model.readings import RELEASED, Reading
from hudi_model.records import Damaged
from hudi_model.rejection import Reason, Rejection
from hudi_model.services import archival, compaction, restore, rollback, savepoints
from hudi_model.slicing import data_files
from hudi_model.tables import Table, open_table, whole_timeline
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data
from hudi_model.versions import OVERLAYS
from hudi_model.writers import Operation, begin, commit, stage
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.obligations.histories import (
    EVENT_TIME,
    SCHEMA,
    Row,
    Shape,
    Step,
    Story,
    new_table,
    remembered,
    request_of,
    rows,
    rows_of,
    shapes,
    stories,
    taken,
)
from hudi_conformance.obligations.registry import Counterexample, obligation, property_check

LATER = 10_000
"""The tick at which what a check does after its story begins."""

ARCHIVES = {"hoodie.keep.min.commits": "1", "hoodie.keep.max.commits": "2"}
EAGER = {"hoodie.clean.failed.writes.policy": "EAGER"}
EVERY = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.clean.trigger.max.commits": "1"}
KEEPS_LITTLE = {**EVERY, "hoodie.clean.policy": "KEEP_LATEST_COMMITS", "hoodie.clean.commits.retained": "1"}

Rows = tuple[str, ...]


def bag(answer: Any) -> Rows:
    """Rows without their order."""
    return tuple(sorted(repr(sorted(row.items())) for row in answer.rows))


def answered(ask: Callable[[], Any], table: Table, told: Iterable[str]) -> Rows:
    """The rows of an answer.

    Raises:
        Counterexample: the table gives none.

    """
    try:
        return bag(ask())
    except Rejection as refused:
        raise Counterexample(f"no answer: {refused}", table, tuple(told)) from None


def snapshot(table: Table, told: Iterable[str]) -> Rows:
    """What a snapshot holds."""
    return answered(lambda: read_snapshot(table), table, told)


def as_of(table: Table, instant: InstantTime, told: Iterable[str]) -> Rows:
    """What time travel finds."""
    return answered(lambda: read_as_of(table, instant), table, told)


def done(make: Callable[[], Effects], table: Table, told: Iterable[str]) -> Effects:
    """The effects of an operation.

    Raises:
        Counterexample: the operation is refused.

    """
    try:
        return make()
    except Rejection as refused:
        raise Counterexample(f"refused: {refused}", table, tuple(told)) from None


def same(found: Any, expected: Any, message: str, table: Table, told: Iterable[str]) -> None:
    """Nothing, unless two things differ.

    Raises:
        Counterexample: they do.

    """
    if found != expected:
        raise Counterexample(f"{message}: {found} where {expected} was", table, tuple(told))


def data_of(table: Table) -> frozenset[tuple[str, str]]:
    """The data files of a table."""
    return frozenset((one.partition, one.name) for one in data_files(table))


def went_on(table: Table, steps: Iterable[Step], first: int, settings: Mapping[str, str]) -> Table:
    """The table after more steps; services that only merge-on-read tables know do nothing elsewhere."""
    on_read = open_table(table).configuration.merge_on_read
    for number, step in enumerate(steps):
        if step.operation is not None or on_read or step.service not in ("compaction", "log_compaction"):
            table = taken(table, step, first + 10 * number + 1, settings)
    return table


def told_table(told: Story, settings: Mapping[str, str] = EVERY) -> Table:
    """The table after a story."""
    return went_on(new_table(told.shape), told.steps, 0, settings)


def attempt(table: Table, step: Step, first: int, effects: int) -> Table:
    """The table that a write leaves which dies after some of its effects; the requested file is always there."""
    begun, opening = begin(table, request_of(step), tick(first))
    table = perform(table, opening)
    _, staging = stage(table, begun)
    return perform(table, staging[:effects])


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


DIES = st.tuples(st.builds(Step, st.sampled_from([Operation.UPSERT, Operation.INSERT]), rows()), st.integers(0, 12))


def dying(told: Story, dies: tuple[Step, int]) -> Step:
    """The write that dies: an upsert touches what the story has written first."""
    known = {row["id"] for row in dies[0].rows}
    first = tuple(row for row in told.steps[0].rows if row["id"] not in known)
    return replace(dies[0], rows=(*dies[0].rows, *first)) if dies[0].operation is Operation.UPSERT else dies[0]


def again(told: Story, ts: int = 4) -> Step:
    """An upsert of the row that the story has written first."""
    return Step(Operation.UPSERT, tuple({**row, "ts": ts} for row in told.steps[0].rows[:1]))


def lines_of(told: Story, *more: str) -> tuple[str, ...]:
    """A story and what a check added to it."""
    return (*told.lines(), *more)


@obligation(
    "PO-230",
    "A rollback removes all and only what its write left behind",
    "RB-003 RB-005 RB-006 RB-007 RB-009",
    broken_by="rollback-leaves-base-files markers-announce-no-logs",
)
@property_check
@given(told=stories(services=("compaction",), longest=4), dies=DIES, by_markers=st.booleans())
def rollback_is_exact(told: Story, dies: tuple[Step, int], by_markers: bool) -> None:
    """Rows and files are those from before. Where version 6 leaves blocks of the write, a command takes them back."""
    before = told_table(told)
    left = attempt(before, dying(told, dies), LATER, dies[1])
    lines = lines_of(told, f"a write that dies after {dies[1]} effects: {dying(told, dies)}")
    settings = {"hoodie.rollback.using.markers": str(by_markers).lower()}
    after = perform(left, rollback.roll_back(left, tick(LATER), tick(LATER + 5), tick(LATER + 6), settings))
    same(snapshot(after, lines), snapshot(before, lines), "rows after the rollback", after, lines)
    left_over = traces(after, tick(LATER))
    if told.shape.version < 8 and tick(LATER) in taken_back(after):
        left_over = ()
    same(left_over, (), "traces of the write", after, lines)
    same(data_of(before) <= data_of(after), True, "files of others are there", after, lines)


@obligation(
    "PO-231",
    "A rollback may die after any effect, and a retry ends it under its own instant",
    "RB-004 RB-009 RB-010",
    broken_by="rollback-started-anew write-forgotten-before-its-files",
)
@property_check
@given(told=stories(longest=3), dies=DIES, cut=st.integers(0, 12))
def rollback_is_idempotent(told: Story, dies: tuple[Step, int], cut: int) -> None:
    """Nobody sees a difference meanwhile, and in the end there is one rollback and no trace of the write."""
    before = told_table(told)
    left = attempt(before, dying(told, dies), LATER, dies[1])
    lines = lines_of(
        told, f"a write that dies after {dies[1]} effects: {dying(told, dies)}", f"a rollback that dies after {cut}"
    )
    stopped = perform(left, rollback.roll_back(left, tick(LATER), tick(LATER + 5), tick(LATER + 6), {})[:cut])
    same(snapshot(stopped, lines), snapshot(before, lines), "rows meanwhile", stopped, lines)
    target = tick(LATER)
    waits = rollback.pending_rollback(stopped, target) or any(one.requested == target for one in stopped.timeline)
    retried = lambda: rollback.roll_back(stopped, target, tick(LATER + 7), tick(LATER + 8), {})  # noqa: E731
    after = perform(stopped, done(retried, stopped, lines)) if waits else stopped
    found = [(one.requested, one.state) for one in open_table(after).timeline.instants if one.action is Action.ROLLBACK]
    same([state for _, state in found], [State.COMPLETED], "rollbacks", after, lines)
    if told.shape.version >= 8:
        same(data_of(after), data_of(before), "files", after, lines)
    same(snapshot(after, lines), snapshot(before, lines), "rows in the end", after, lines)


@obligation(
    "PO-232",
    "A service whose attempt is rolled back stays planned, and logs that wait for it stay",
    "RB-001 RB-008",
    broken_by="rolled-back-plan-is-dropped services-are-failed-writes",
)
@property_check
@given(
    told=stories(shapes(types=("MERGE_ON_READ",)), operations=(Operation.UPSERT,), longest=4),
    more=rows(),
    cut=st.integers(1, 9),
)
def rolled_back_services_stay_planned(told: Story, more: tuple[Row, ...], cut: int) -> None:
    """A compaction dies, rows are logged after its plan, the attempt is rolled back, and the compaction is done."""
    lines = lines_of(told, f"a compaction that dies after {cut} effects", "an upsert", "a rollback", "the compaction")
    table = told_table(told)
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


@obligation(
    "PO-233",
    "A write whose heart beats is not rolled back by others, and one whose heart stopped is",
    "RB-001 RB-002",
    broken_by="living-writes-are-failed",
)
@property_check
@given(shape=shapes(), dies=DIES, waited=st.integers(0, 300_000))
def hearts_tell_the_living(shape: Shape, dies: tuple[Step, int], waited: int) -> None:
    """Two missed beats of a minute are tolerated."""
    table = attempt(new_table(shape), dies[0], LATER, dies[1])
    found = rollback.failed_writes(table, tick(LATER + waited), {})
    same(found, (tick(LATER),) if waited > 120_000 else (), f"failed after {waited} ms", table, (str(shape),))
    eager = rollback.failed_writes(table, tick(LATER + waited), EAGER)
    same(eager, (tick(LATER),), "failed where one writer is alone", table, (str(shape),))


SERVICES = ("compaction", "log_compaction", "clustering", "cleaning")
ALL = (Operation.UPSERT, Operation.UPSERT, Operation.DELETE, Operation.INSERT_OVERWRITE, Operation.DELETE_PARTITION)


def saved_last(table: Table, at: int) -> tuple[InstantTime, Table]:
    """A savepoint of the write that completed last."""
    instant = completed_data(open_table(table).timeline)[-1].requested
    return instant, perform(table, savepoints.savepoint(table, instant, tick(at)))


@obligation(
    "PO-234",
    "A restore gives the rows that were there when its savepoint was made, whatever happened since",
    "SR-002 SR-004 SR-005 SR-006 SR-007 SR-009 TL-018",
    broken_by="restore-leaves-phantom-logs savepoint-keeps-nothing saved-writes-begin-nothing",
    assumptions="released readings; no write overlaps the saved one",
)
@property_check
@given(
    told=stories(operations=(Operation.UPSERT,), longest=3),
    later=stories(operations=ALL, services=SERVICES, longest=3),
    dies=DIES,
    cut=st.integers(0, 30),
)
def restore_is_exact(told: Story, later: Story, dies: tuple[Step, int], cut: int) -> None:
    """Writes, services, cleaning and archival, a pending compaction, a write that died, a restore that died."""
    before = went_on(told_table(told), (again(told),), 900, {})
    expected = snapshot(before, told.lines())
    saved, table = saved_last(before, 990)
    compacted, cleaned = (Step(None, service=name) for name in ("compaction", "cleaning"))
    steps = (*later.steps, compacted, *[again(told), compacted] * 3, cleaned)
    table = went_on(table, steps, 1000, KEEPS_LITTLE)
    table = perform(table, archival.archive(table, {**KEEPS_LITTLE, **ARCHIVES}))
    if told.shape.table_type == "MERGE_ON_READ":
        table = perform(table, compaction.schedule(table, tick(LATER - 10), EVERY))
    table = attempt(table, dying(told, dies), LATER, dies[1])
    lines = lines_of(
        told, f"a savepoint of {saved}", *map(str, later.steps), f"dies: {dies[0]}", f"restore dies at {cut}"
    )
    table = perform(table, restore.schedule(table, tick(LATER + 10), {}, saved))
    stopped = perform(table, restore.execute(table, tick(LATER + 10), tick(LATER + 11))[:cut])
    after = perform(stopped, restore.execute(stopped, tick(LATER + 10), tick(LATER + 12)))
    same(snapshot(after, lines), expected, "rows after the restore", after, lines)
    undone = {one.requested for one in table.timeline} - {one.requested for one in before.timeline}
    left_over = sorted(one.name for one in data_files(after) if one.instant in undone)
    same(left_over, [], "files of what was undone", after, lines)
    more = went_on(after, told.steps, LATER + 100, {})
    unrestored = went_on(before, told.steps, LATER + 100, {})
    same(snapshot(more, lines), snapshot(unrestored, lines), "rows after more writes", more, lines)


@obligation(
    "PO-235",
    "Nobody sees a state between two commits while a restore runs",
    "SR-006",
    broken_by="restore-oldest-first",
    assumptions="released readings; nothing was cleaned; writes follow each other",
)
@property_check
@given(
    told=stories(longest=2),
    later=stories(operations=(Operation.INSERT, Operation.INSERT_OVERWRITE), longest=4),
    cut=st.integers(0, 40),
)
def restore_goes_back_step_by_step(told: Story, later: Story, cut: int) -> None:
    """A restore that stops leaves the rows of some moment since the savepoint."""
    before = told_table(told)
    if not completed_data(open_table(before).timeline):
        return
    saved, table = saved_last(before, 990)
    moments = [snapshot(table, ())]
    for number, step in enumerate(later.steps):
        table = went_on(table, (step,), 1000 + 10 * number, {})
        moments.append(snapshot(table, ()))
    table = perform(table, restore.schedule(table, tick(LATER), {}, saved))
    stopped = perform(table, restore.execute(table, tick(LATER), tick(LATER + 1))[:cut])
    lines = lines_of(
        told, f"a savepoint of {saved}", *map(str, later.steps), f"a restore that dies after {cut} effects"
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
    table = perform(table, restore.schedule(table, tick(LATER), {}, saved))
    return perform(table, restore.execute(table, tick(LATER), tick(LATER + 1)))


@obligation(
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


@obligation(
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


@obligation(
    "PO-238",
    "A savepoint is made of nothing that a clean may have taken from",
    "SR-001 SR-002 SR-009",
    broken_by="savepoint-of-cleaned-files",
)
@property_check
@given(told=stories(shapes(types=("COPY_ON_WRITE",)), longest=3), place=st.integers(0, 5))
def savepoints_are_whole(told: Story, place: int) -> None:
    """A savepoint is refused, or a restore to it gives what was there."""
    told = Story(told.shape, (*told.steps, *[again(told)] * 3, Step(None, service="cleaning")))
    table = told_table(told, KEEPS_LITTLE)
    commits = completed_data(open_table(table).timeline)
    if place >= len(commits):
        return
    try:
        effects = savepoints.savepoint(table, commits[place].requested, tick(LATER))
    except Rejection as refused:
        same(refused.reason, Reason.RANGE_NOT_RETAINED, "refused for", table, told.lines())
        return
    saved = restored(perform(table, effects), commits[place].requested)
    expected = remembered(Story(told.shape, until(told, commits[place].requested)))
    same(rows_of(saved), expected, "rows of the savepoint", saved, told.lines())


def until(told: Story, instant: InstantTime) -> tuple[Step, ...]:
    """The steps of a story up to the one of an instant."""
    return tuple(step for number, step in enumerate(told.steps) if tick(10 * number + 1) <= instant)


@obligation(
    "PO-239",
    "A savepointed instant stays readable by time travel, whatever cleaning does",
    "SR-008 RD-014",
    refuted=True,
    holds_instead="PO-250",
)
def saved_instants_stay_readable() -> None:
    """As released the retained range of the last clean decides, and no savepoint is asked for."""
    row = {"id": "a", "day": "d1", "ts": 1, "note": "one"}
    table = taken(new_table(Shape(table_type="COPY_ON_WRITE")), Step(Operation.INSERT, (row,)), 1)
    saved, table = saved_last(table, 9)
    steps = [Step(Operation.UPSERT, ({**row, "ts": ts},)) for ts in (2, 3, 4)]
    table = went_on(table, (*steps, Step(None, service="cleaning")), 10, KEEPS_LITTLE)
    answered(
        lambda: read_as_of(table, saved), table, ("an insert, saved", "three upserts", "a clean that keeps one commit")
    )


@obligation(
    "PO-250",
    "A savepointed instant stays readable by time travel where savepoints are asked, whatever was cleaned",
    "SR-002 SR-008 RD-014",
    broken_by="savepoint-keeps-nothing no-savepoint-is-asked",
    assumptions="the reading of the text",
)
@property_check
@given(
    told=stories(operations=(Operation.UPSERT,), longest=3), later=stories(operations=ALL, services=SERVICES, longest=3)
)
def saved_instants_stay_readable_in_the_text(told: Story, later: Story) -> None:
    """Its rows are those that a snapshot had then."""
    before = told_table(told)
    saved, table = saved_last(before, 990)
    compacted, cleaned = (Step(None, service=name) for name in ("compaction", "cleaning"))
    steps = (*later.steps, compacted, *[again(told), compacted] * 3, cleaned)
    table = went_on(table, steps, 1000, KEEPS_LITTLE)
    table = perform(table, archival.archive(table, {**KEEPS_LITTLE, **ARCHIVES}))
    lines = lines_of(told, f"a savepoint of {saved}", *map(str, steps))
    readings = replace(RELEASED, saved_travel=Reading.TEXT)
    found = answered(lambda: read_as_of(table, saved, readings), table, lines)
    same(found, snapshot(before, lines), "rows as of the savepoint", table, lines)


TWO = Step(Operation.INSERT, tuple({"id": key, "day": "d1", "ts": 1, "note": "one"} for key in ("a", "b")))
"""Two rows of one file group."""

WAYS = {6: (8, 9), 8: (9, 6), 9: (8, 6)}


@obligation(
    "PO-240",
    "An upgrade or downgrade changes no row of a snapshot, wherever it stops, and ends when it is tried again",
    "VR-004 VR-005 VR-006 VR-011",
    broken_by="upgrade-moves-at-once downgrade-keeps-logs layouts-are-mixed",
)
@property_check
@given(
    told=stories(operations=ALL, services=SERVICES, longest=5),
    dies=DIES,
    way=st.integers(0, 1),
    cut=st.integers(0, 60),
)
def versions_change_no_snapshot(told: Story, dies: tuple[Step, int], way: int, cut: int) -> None:
    """With logs, a pending plan and a write that died."""
    told = Story(told.shape, (TWO, *told.steps, again(Story(told.shape, (TWO,)))))
    table, to = told_table(told), WAYS[told.shape.version][way]
    if told.shape.table_type == "MERGE_ON_READ":
        table = perform(table, compaction.schedule(table, tick(LATER - 10), EVERY))
    table = attempt(table, dies[0], LATER, dies[1])
    lines = lines_of(told, f"dies: {dies[0]}", f"to version {to}, dying after {cut} effects")
    expected = snapshot(table, lines)
    changing = done(lambda: upgrades.change_version(table, to, tick(LATER + 100)), table, lines)
    stopped = perform(table, changing[:cut])
    same(snapshot(stopped, lines), expected, "rows meanwhile", stopped, lines)
    after = perform(stopped, done(lambda: upgrades.change_version(stopped, to, tick(LATER + 200)), stopped, lines))
    same(snapshot(after, lines), expected, "rows in the end", after, lines)
    same(open_table(after).configuration.rules.version, to, "version", after, lines)
    layouts = {one.completed is None for one in after.timeline if one.state is State.COMPLETED}
    same(layouts <= {to < 8}, True, "all completed files have the names of the version", after, lines)


@obligation(
    "PO-241",
    "Down and up again, a table has the actions, the history and the properties that it had",
    "VR-006 VR-008 VR-010",
    broken_by="downgrade-drops-history",
    assumptions="properties of the key generator and the metadata table aside",
)
@property_check
@given(told=stories(shapes(versions=(8, 9)), operations=ALL, longest=5), few=st.booleans())
def round_trips_lose_nothing(told: Story, few: bool) -> None:
    """To version 6 and back, with or without an archive."""
    table = told_table(told)
    if few:
        table = went_on(table, [again(told)] * 3, 500, {})
        table = perform(table, archival.archive(table, {**ARCHIVES, "hoodie.clean.commits.retained": "1"}))
    version = told.shape.version
    lower = perform(table, upgrades.change_version(table, 6, tick(LATER)))
    back = perform(lower, upgrades.change_version(lower, version, tick(LATER + 100)))
    known = {(one.requested, one.action) for one in whole_timeline(table)}
    for other in (lower, back):
        missing = known - {(one.requested, one.action) for one in whole_timeline(other)}
        same(missing, set(), "actions that are gone", other, told.lines())
    merging = ("hoodie.record.merge.mode", "hoodie.table.partition.fields", "hoodie.table.recordkey.fields")
    before, after = (open_table(one).configuration for one in (table, back))
    same(after.ordering, before.ordering, "ordering fields", back, told.lines())
    for name in merging if told.shape.mode == EVENT_TIME else merging[1:]:
        same(after.properties.get(name), before.properties.get(name), name, back, told.lines())


@obligation(
    "PO-242",
    "A downgrade changes no answer, those of time travel included",
    "VR-005 RD-006",
    refuted=True,
    holds_instead="PO-243",
)
def downgrades_change_no_time_travel() -> None:
    """Before version 8 the name of a log tells its slice: logs named after their own commits make new ones."""
    table, instants = logged_twice(Shape(version=8))
    after = perform(table, upgrades.change_version(table, 6, tick(LATER)))
    for one in instants:
        expected = as_of(table, one, ())
        found = as_of(after, one, ())
        same(
            found,
            expected,
            f"rows as of {one}",
            after,
            ("an insert of a and b", "an upsert of a", "from version 8 to 6"),
        )


def logged_twice(shape: Shape) -> tuple[Table, tuple[InstantTime, ...]]:
    """Two rows in one group, one of them updated in a log."""
    row = {"id": "a", "day": "d1", "ts": 1, "note": "one"}
    table = taken(new_table(shape), Step(Operation.INSERT, (row, {**row, "id": "b"})), 1)
    return taken(table, Step(Operation.UPSERT, ({**row, "ts": 2},)), 10), (tick(1), tick(10))


@obligation(
    "PO-243",
    "An upgrade changes no answer, those of time travel included",
    "VR-005 VR-006 VR-007 RD-005 RD-006",
    broken_by="upgrade-to-commit-time",
    assumptions="released readings; merging by event time, or by commit time without ordering fields",
)
@property_check
@given(told=stories(shapes(versions=(6, 8), modes=(EVENT_TIME,)), operations=ALL, services=SERVICES[:3], longest=5))
def upgrades_change_no_answer(told: Story) -> None:
    """As of every completed write, before and after, late rows among them."""
    table = went_on(told_table(told), (again(told), again(told, 0)), 900, {})
    after = perform(table, upgrades.change_version(table, 9, tick(LATER)))
    for one in completed_data(open_table(table).timeline):
        expected = as_of(table, one.requested, told.lines())
        found = as_of(after, one.requested, told.lines())
        same(found, expected, f"rows as of {one.requested}", after, told.lines())


@obligation(
    "PO-244",
    "An upgrade in the released order of its effects may stop anywhere without hiding rows",
    "VR-006",
    refuted=True,
    holds_instead="PO-240",
)
def released_upgrades_may_stop() -> None:
    """Released handlers move each timeline file, new one put and old one deleted, and put the properties last."""
    table, _ = logged_twice(Shape(version=6))
    expected = snapshot(table, ())
    effects = list(upgrades.change_version(table, 8, tick(LATER)))
    properties = [one for one in effects if isinstance(one, PutProperties)]
    order = [*(one for one in effects if one not in properties), *properties]
    for cut in range(len(order)):
        stopped = perform(table, order[:cut])
        same(
            snapshot(stopped, ()),
            expected,
            f"rows after {cut} of {len(order)} effects",
            stopped,
            ("from version 6 to 8",),
        )


@obligation(
    "PO-245",
    "A table rebuilt from the names of its files shows no row that nobody wrote, and has a row for every key it had",
    "SR-010 SR-011",
    broken_by="recovery-of-foreign-instants",
)
@property_check
@given(
    told=stories(operations=(Operation.UPSERT, Operation.INSERT_OVERWRITE), services=SERVICES[:3], longest=5), dies=DIES
)
def recovery_invents_nothing(told: Story, dies: tuple[Step, int]) -> None:
    """Rows of writes that died may come back, and replaced ones: names do not tell. Others do not."""
    table = attempt(told_table(told), dying(told, dies), LATER, dies[1])
    written = {tuple(sorted(row.items())) for step in (*told.steps, dying(told, dies)) for row in step.rows}
    rebuilt = perform(lost(table), recovery.recover(lost(table), SCHEMA))
    lines = lines_of(told, f"dies: {dying(told, dies)}", "the timeline is lost and rebuilt")
    keys = {row["id"] for row in read_snapshot(table).rows}
    try:
        found = [dict(row) for row in read_snapshot(rebuilt).rows]
    except Rejection as refused:
        raise Counterexample(f"no answer: {refused}", rebuilt, lines) from None
    same({tuple(sorted(row.items())) for row in found} - written, set(), "rows that nobody wrote", rebuilt, lines)
    same(keys - {row["id"] for row in found}, set(), "keys that are gone", rebuilt, lines)


def lost(table: Table) -> Table:
    """A table without timeline, history, markers and metadata table."""
    return Table(table.properties, None, (), table.base_files, table.log_files, create_schema=None)


@obligation(
    "PO-246",
    "A table rebuilt from the names of its files shows what it showed",
    "SR-010 SR-011 TL-018",
    broken_by="recovery-of-blocks-forgotten",
    assumptions="every write had completed before the next began, and nothing was replaced",
)
@property_check
@given(told=stories(services=("compaction", "log_compaction", "cleaning"), longest=6), cut=st.integers(0, 40))
def recovery_is_exact_without_replacement(told: Story, cut: int) -> None:
    """A rebuild that stopped is done again."""
    table = went_on(told_table(told), (again(told),), 900, {})
    expected = snapshot(table, told.lines())
    bare = lost(table)
    stopped = perform(bare, recovery.recover(bare, SCHEMA)[:cut])
    rebuilt = perform(stopped, recovery.recover(stopped, SCHEMA))
    lines = lines_of(told, f"the timeline is lost; its rebuilding dies after {cut} effects and is done again")
    if stopped.timeline:
        same(snapshot(stopped, lines), expected, "rows meanwhile", stopped, lines)
    same(snapshot(rebuilt, lines) if rebuilt.timeline else expected, expected, "rows", rebuilt, lines)


@obligation(
    "PO-247",
    "A version without rules is refused before anything else is looked at",
    "VR-001 VR-002 VR-020",
    broken_by="unknown-version-is-read older-reader-guesses",
    exhaustive=True,
)
def unknown_versions_are_refused() -> None:
    """Versions 0 to 30, on a table whose every part is damaged; and every reader of a known version."""
    damage = Damaged(Reason.TIMELINE_FILE_CORRUPT, "TL-015", "somewhere", "torn")
    for version in sorted(set(range(31)) - OVERLAYS.keys()):
        stated = {"hoodie.table.name": "t", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.version": str(version)}
        table = Table({**stated, "hoodie.record.merge.mode": "NONE"}, None, (), (), (), (damage,))
        try:
            read_snapshot(table)
        except Rejection as refused:
            same(refused.reason, Reason.TABLE_VERSION_UNSUPPORTED, f"version {version}", table, ())
            continue
        raise Counterexample(f"version {version} is read", table)
    for reader in OVERLAYS:
        newer = [one for one in OVERLAYS if one > reader and versions.is_read(one, reader)]
        same(newer, [], f"newer versions that a reader of version {reader} reads", Table(None, None, (), (), ()), ())


@obligation(
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
    told = ("an insert of a, saved", "inserts of b, c, d and e, archived", "the restore", "an insert of f")
    same(sorted(row["id"] for row in read_snapshot(after).rows), ["a", "f"], "rows after the restore", after, told)


@obligation(
    "PO-248",
    "Tables of versions 4 and 5 answer as the same table of version 6",
    "VR-001 VR-003",
    broken_by="oldest-versions-by-new-rules",
)
@property_check
@given(
    told=stories(shapes(versions=(6,)), operations=ALL, services=SERVICES, longest=4), version=st.sampled_from([4, 5])
)
def oldest_versions_answer_as_6(told: Story, version: int) -> None:
    """Timeline, names, blocks and payload classes are those of version 6; the checksum and the layout may be absent."""
    table = told_table(told)
    properties = {**open_table(table).configuration.properties, "hoodie.table.version": str(version)}
    for name in ("hoodie.table.checksum", "hoodie.timeline.layout.version"):
        properties.pop(name, None)
    older = replace(table, properties=properties)
    same(
        snapshot(older, told.lines()), snapshot(table, told.lines()), f"rows in version {version}", older, told.lines()
    )
