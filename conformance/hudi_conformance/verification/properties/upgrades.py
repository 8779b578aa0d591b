"""Versions: what an upgrade, a downgrade and a reader of another version may change, and what is refused."""

from dataclasses import replace

from hudi_model import configuration, upgrades
from hudi_model.actions import State
from hudi_model.configuration import DRAFT, OVERLAYS
from hudi_model.effects import PutProperties, perform
from hudi_model.files import Damaged
from hudi_model.history import full_timeline
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation
from hudi_model.services import archival, compaction
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    EVENT_TIME,
    Shape,
    Step,
    Story,
    new_table,
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
    as_of,
    attempt,
    done,
    lines_of,
    same,
    snapshot,
    table_of,
    went_on,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check

TWO = Step(Operation.INSERT, tuple({"id": key, "day": "d1", "ts": 1, "note": "one"} for key in ("a", "b")))
"""Two rows of one file group."""
NEWER = Step(Operation.UPSERT, ({"id": "a", "day": "d1", "ts": 1000, "note": "newer"},))
"""An update of one of them."""
WAYS = {6: (8, 9), 8: (9, 6), 9: (8, 6)}


@model_property(
    "PO-240",
    "An upgrade or downgrade changes no row of a snapshot, wherever it stops, and ends when it is tried again",
    "VR-004 VR-005 VR-006 VR-011",
    broken_by="upgrade-moves-at-once downgrade-keeps-logs layouts-are-mixed",
)
@property_check
@given(
    story=stories(operations=ALL, services=SERVICES, longest=5),
    crash=CRASHES,
    way=st.integers(0, 1),
    cut=st.integers(0, 60),
)
def versions_change_no_snapshot(story: Story, crash: tuple[Step, int], way: int, cut: int) -> None:
    """With logs, a pending plan and a write that died."""
    story = Story(story.shape, (TWO, *story.steps, again(Story(story.shape, (TWO,)))))
    table, to = table_of(story), WAYS[story.shape.version][way]
    if story.shape.table_type == "MERGE_ON_READ":
        table = perform(table, compaction.schedule(table, tick(LATER - 10), EVERY))
    table = attempt(table, crash[0], LATER, crash[1])
    lines = lines_of(story, f"dies: {crash[0]}", f"to version {to}, dying after {cut} effects")
    expected = snapshot(table, lines)
    version_effects = done(lambda: upgrades.change_version(table, to, tick(LATER + 100)), table, lines)
    stopped = perform(table, version_effects[:cut])
    same(snapshot(stopped, lines), expected, "rows meanwhile", stopped, lines)
    after = perform(stopped, done(lambda: upgrades.change_version(stopped, to, tick(LATER + 200)), stopped, lines))
    same(snapshot(after, lines), expected, "rows in the end", after, lines)
    same(open_table(after).configuration.rules.version, to, "version", after, lines)
    layouts = {one.completed is None for one in after.timeline if one.state is State.COMPLETED}
    same(layouts <= {to < 8}, True, "all completed files have the names of the version", after, lines)


@model_property(
    "PO-241",
    "Down and up again, a table has the actions, the history and the properties that it had",
    "VR-006 VR-008 VR-010",
    broken_by="downgrade-drops-history",
    assumptions="properties of the key generator and the metadata table aside",
)
@property_check
@given(story=stories(shapes(versions=(8, 9)), operations=ALL, longest=5), few=st.booleans())
def round_trips_lose_nothing(story: Story, few: bool) -> None:
    """To version 6 and back, with or without an archive."""
    table = table_of(story)
    if few:
        table = went_on(table, [again(story)] * 3, 500, {})
        table = perform(table, archival.archive(table, {**ARCHIVES, "hoodie.clean.commits.retained": "1"}))
    version = story.shape.version
    lower = perform(table, upgrades.change_version(table, 6, tick(LATER)))
    back = perform(lower, upgrades.change_version(lower, version, tick(LATER + 100)))
    known = {(one.requested, one.action) for one in full_timeline(table)}
    for other in (lower, back):
        missing = known - {(one.requested, one.action) for one in full_timeline(other)}
        same(missing, set(), "actions that are gone", other, story.lines())
    merging = ("hoodie.record.merge.mode", "hoodie.table.partition.fields", "hoodie.table.recordkey.fields")
    before, after = (open_table(one).configuration for one in (table, back))
    same(after.ordering, before.ordering, "ordering fields", back, story.lines())
    for name in merging if story.shape.mode == EVENT_TIME else merging[1:]:
        same(after.properties.get(name), before.properties.get(name), name, back, story.lines())


@model_property(
    "PO-242",
    "A downgrade changes no answer, those of time travel included",
    "VR-005 RD-006",
    refuted=True,
    holds_instead="PO-243",
)
def downgrades_change_no_time_travel() -> None:
    """Before version 8 the name of a log states its slice: logs named after their own commits make new ones."""
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


@model_property(
    "PO-243",
    "An upgrade changes no answer, those of time travel included",
    "VR-005 VR-006 VR-007 RD-005 RD-006",
    broken_by="upgrade-to-commit-time",
    assumptions="released readings; merging by event time, or by commit time without ordering fields",
)
@property_check
@given(story=stories(shapes(versions=(6, 8), modes=(EVENT_TIME,)), operations=ALL, services=SERVICES[:3], longest=5))
def upgrades_change_no_answer(story: Story) -> None:
    """As of every completed write, before and after, late rows among them."""
    table = went_on(table_of(story), (again(story), again(story, 0)), 900, {})
    after = perform(table, upgrades.change_version(table, 9, tick(LATER)))
    for one in completed_data(open_table(table).timeline):
        expected = as_of(table, one.requested, story.lines())
        found = as_of(after, one.requested, story.lines())
        same(found, expected, f"rows as of {one.requested}", after, story.lines())


@model_property(
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


@model_property(
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
        newer = [one for one in OVERLAYS if one > reader and configuration.is_read(one, reader)]
        same(newer, [], f"newer versions that a reader of version {reader} reads", Table(None, None, (), (), ()), ())


@model_property(
    "PO-248",
    "Tables of versions 4 and 5 answer as the same table of version 6",
    "VR-001 VR-003",
    broken_by="oldest-versions-by-new-rules",
)
@property_check
@given(
    story=stories(shapes(versions=(6,)), operations=ALL, services=SERVICES, longest=4), version=st.sampled_from([4, 5])
)
def oldest_versions_answer_as_6(story: Story, version: int) -> None:
    """Timeline, names, blocks and payload classes are those of version 6; the checksum and the layout may be absent."""
    table = table_of(story)
    properties = {**open_table(table).configuration.properties, "hoodie.table.version": str(version)}
    for name in ("hoodie.table.checksum", "hoodie.timeline.layout.version"):
        properties.pop(name, None)
    older = replace(table, properties=properties)
    same(
        snapshot(older, story.lines()),
        snapshot(table, story.lines()),
        f"rows in version {version}",
        older,
        story.lines(),
    )


@model_property(
    "PO-345",
    "The same writes give the same rows in version 9 and in the draft of version 10",
    "NL-002 NL-005 NL-006 NL-009 NL-010",
    broken_by="native-logs-change-nothing",
)
@property_check
@given(story=stories(shapes(versions=(9,)), operations=ALL, services=SERVICES, longest=5))
def the_draft_answers_as_9(story: Story) -> None:
    """Only the form of logs differs, also after services."""
    draft = Story(replace(story.shape, version=DRAFT), story.steps)
    found = table_of(draft)
    expected = snapshot(table_of(story), story.lines())
    same(snapshot(found, draft.lines()), expected, "rows in the draft", found, draft.lines())


@model_property(
    "PO-346",
    "A table that becomes one of the draft of version 10, is written to and goes back to 9 keeps its rows",
    "NL-006 NL-020 NL-021",
    broken_by="inline-logs-left-behind downgrade-keeps-native-logs",
)
@property_check
@given(story=stories(shapes(versions=(9,)), operations=ALL, services=SERVICES, longest=4))
def there_and_back_keeps_rows(story: Story) -> None:
    """Logs of blocks, then native ones upon them, then none."""
    story = Story(story.shape, (TWO, *story.steps, again(Story(story.shape, (TWO,)))))
    table, lines = table_of(story), lines_of(story, "to version 10, written to, and back")
    expected = snapshot(table, lines)
    there = perform(table, done(lambda: upgrades.change_version(table, DRAFT, tick(LATER)), table, lines))
    same(snapshot(there, lines), expected, "rows in version 10", there, lines)
    written = went_on(there, (NEWER,), LATER + 100, EVERY)
    changed = snapshot(written, lines)
    back = perform(written, done(lambda: upgrades.change_version(written, 9, tick(LATER + 200)), written, lines))
    same(snapshot(back, lines), changed, "rows back in version 9", back, lines)
