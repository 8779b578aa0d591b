"""Incremental queries and change feeds: what a reader who follows a table step by step ends up with."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations, pairwise

from hudi_model.actions import Action
from hudi_model.files import Record, Value
from hudi_model.incremental import read_changes, read_incremental
from hudi_model.queries import Selection, read_snapshot
from hudi_model.requests import Operation, Request
from hudi_model.tables import RELEASED, Reading, Readings, Table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data, completion, timeline_of
from hudi_model.writers import write
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    DAYS,
    EVENT_TIME,
    KEYS,
    Shape,
    Story,
    completing_shapes,
    new_table,
    rows,
    shapes,
    stories,
    taken,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check

Image = str
"""A row in one line, so that bags of rows compare."""

EVERYTHING = "0"
OPERATIONS = (*[Operation.UPSERT] * 3, Operation.DELETE, Operation.INSERT_OVERWRITE, Operation.DELETE_PARTITION)
MERGED = shapes(types=("MERGE_ON_READ",))
STORIES = st.one_of(
    stories(MERGED, OPERATIONS, services=("compaction",), longest=5),
    stories(shapes(types=("COPY_ON_WRITE",)), OPERATIONS, longest=5),
)
AGAIN = (*[Operation.UPSERT] * 4, Operation.DELETE)
FEW_ROWS = rows(2, KEYS[1:3], DAYS[:1])
COMPLETED = st.one_of(
    stories(
        st.one_of(st.just(Shape(update="IGNORE_DEFAULTS")), completing_shapes("MERGE_ON_READ"), MERGED),
        AGAIN,
        services=("compaction", "clustering"),
        longest=7,
        shortest=3,
        brought=FEW_ROWS,
    ),
    stories(completing_shapes("COPY_ON_WRITE"), AGAIN, ("clustering",), longest=5, shortest=2, brought=FEW_ROWS),
)
"""The same few rows again and again, in tables in which versions complete each other and in others."""
MERGED_ROWS = replace(RELEASED, incremental_merge=Reading.TEXT)
"""The text's reading of what competes in a range, and the released one of all else."""
EAGER = {"hoodie.compact.inline.max.delta.commits": "1"}
WITH_ROWS = Selection(meta_columns=True)


def with_feed(table: Table) -> Table:
    """The same table with a change feed."""
    assert isinstance(table.properties, Mapping)
    return replace(table, properties={**table.properties, "hoodie.table.cdc.enabled": "true"})


def states(story: Story) -> list[tuple[str, Table]]:
    """The table before the story and after each step that completed anything, with the time of it."""
    table = with_feed(new_table(story.shape))
    found: dict[str, Table] = {EVERYTHING: table}
    for number, step in enumerate(story.steps):
        table = taken(table, step, 10 * number + 1, EAGER)
        done = completed_data(timeline_of(table.timeline))
        found[max((completion(one) for one in done), default=InstantTime(EVERYTHING))] = table
    return list(found.items())


def bag(rows: Iterable[Mapping[str, Value]]) -> Counter[Image]:
    """Rows as a bag; of the meta fields the commit time alone, where it was requested."""
    kept = (name for name in ("_hoodie_commit_time", "id", "day", "ts", "note"))
    names = tuple(kept)
    return Counter(str({name: row[name] for name in names if name in row}) for row in rows)


def incremental(table: Table, begin: str, end: str, readings: Readings = MERGED_ROWS) -> Counter[Image]:
    """The rows of a range, with the commits that brought them."""
    return bag(read_incremental(table, begin, end, readings, WITH_ROWS).rows)


def snapshot(table: Table) -> Counter[Image]:
    """The rows of a table, with the commits that brought them."""
    return bag(read_snapshot(table, selection=Selection(meta_columns=True)).rows)


def images(table: Table, begin: str, end: str, side: str) -> Counter[Image]:
    """The rows before, or after, the changes of a range."""
    return bag(row[side] for row in read_changes(table, begin, end).rows if isinstance(row[side], dict))  # type: ignore[misc]


def key_of(shape: Shape, image: Image) -> str:
    """What of a row its key is, and its partition where there are several."""
    return image.partition("'id'")[2].partition(", 'ts'" if shape.partitioned else ", 'day'")[0]


@model_property(
    "PO-150",
    "An incremental query answers the rows of the state at its end that the state at its begin does not have",
    "IN-001 IN-002 IN-003 IN-004",
    broken_by="range-begin-inclusive range-end-exclusive later-rows-compete",
    assumptions="the text's reading of what competes",
)
@property_check
@given(story=st.one_of(STORIES, COMPLETED))
def answers_the_difference(story: Story) -> None:
    """Whatever was written later, a chunk is reported from the two states that it lies between."""
    found = states(story)
    for (begin, older), (end, newer) in combinations(found, 2):
        expected = snapshot(newer) - snapshot(older)
        answered = incremental(found[-1][1], begin, end)
        if answered != expected:
            raise Counterexample(
                f"({begin}, {end}]: {answered - expected} - {expected - answered}", newer, story.lines()
            )


@model_property(
    "PO-162",
    "Who applies all ranges in turn, by key, has the snapshot, but for rows that are deleted",
    "IN-001 IN-004 IN-005",
    broken_by="ranges-by-commit-time-alone later-rows-compete",
    assumptions="the text's reading of what competes; nothing is restored",
)
@property_check
@given(story=COMPLETED)
def applied_ranges(story: Story) -> None:
    """Whatever completes rows, brings them back, or is compacted between: no change is left out."""
    found, applied = states(story), Counter[Image]()
    for (begin, _), (end, newer) in pairwise(found):
        applied = fold(story.shape, applied, incremental(found[-1][1], begin, end))
        held = snapshot(newer)
        keys = {key_of(story.shape, image) for image in held}
        left = Counter({image: count for image, count in applied.items() if key_of(story.shape, image) in keys})
        if left != held:
            raise Counterexample(f"up to {end}: {left - held} for {held - left}", newer, story.lines())


@model_property(
    "PO-163",
    "As released a range answers besides the rows that changed only rows of keys whose row did not",
    "IN-001 IN-004",
    broken_by="released-rows-alone",
)
@property_check
@given(story=COMPLETED)
def released_rows_are_besides(story: Story) -> None:
    """A late row that lost hides no change of its key."""
    found = states(story)
    for (begin, _), (end, newer) in combinations(found, 2):
        changed = incremental(found[-1][1], begin, end)
        besides = incremental(found[-1][1], begin, end, RELEASED) - changed
        keys = {key_of(story.shape, image) for image in changed}
        missing = changed - incremental(found[-1][1], begin, end, RELEASED)
        if missing or any(key_of(story.shape, image) in keys for image in besides):
            raise Counterexample(f"({begin}, {end}] lacks {missing}, and has {besides}", newer, story.lines())


@model_property(
    "PO-151",
    "Two incremental chunks fold to the chunk over both, but for rows that the second deleted or gave back",
    "IN-001 IN-003",
    broken_by="incremental-unmerged",
    assumptions="the text's reading of what competes",
)
@property_check
@given(story=STORIES)
def chunks_fold(story: Story) -> None:
    """A reader who replaces rows by key, and learns of deletes elsewhere, misses nothing by reading in chunks."""
    table = states(story)[-1][1]
    for (begin, older), (middle, _), (end, newest) in combinations(states(story), 3):
        folded = fold(story.shape, incremental(table, begin, middle), incremental(table, middle, end))
        changed = snapshot(newest) - snapshot(older)
        left = Counter({image: count for image, count in folded.items() if image in changed})
        if left != incremental(table, begin, end):
            raise Counterexample(f"({begin}, {middle}] and ({middle}, {end}] give {folded}", table, story.lines())


def fold(shape: Shape, first: Counter[Image], second: Counter[Image]) -> Counter[Image]:
    """The rows of the second, and those of the first whose key the second does not have."""
    newer = {key_of(shape, image) for image in second}
    return second + Counter({image: count for image, count in first.items() if key_of(shape, image) not in newer})


@model_property(
    "PO-152",
    "Two incremental chunks fold to the chunk over both",
    "IN-001",
    refuted=True,
    holds_instead="PO-151",
    assumptions="the text's reading of what competes",
)
@property_check
@given(story=STORIES)
def chunks_fold_without_exception(story: Story) -> None:
    """A row of the first chunk that the second deleted is in no answer that could take it away."""
    table = states(story)[-1][1]
    for (begin, _), (middle, _), (end, _) in combinations(states(story), 3):
        folded = fold(story.shape, incremental(table, begin, middle), incremental(table, middle, end))
        if folded != incremental(table, begin, end):
            raise Counterexample(f"({begin}, {middle}] and ({middle}, {end}] give {folded}", table, story.lines())


@model_property(
    "PO-153",
    "As released an incremental query answers rows of the state at its end",
    "IN-001 IN-004",
    refuted=True,
    holds_instead="PO-150",
)
@property_check
@given(story=stories(shapes(types=("MERGE_ON_READ",), modes=(EVENT_TIME,)), (Operation.UPSERT,), longest=3))
def released_rows_are_rows(story: Story) -> None:
    """A late row that lost against a base file from before the range is answered all the same."""
    found = states(story)
    for (begin, _), (end, newer) in combinations(found, 2):
        unexpected = incremental(found[-1][1], begin, end, RELEASED) - snapshot(newer)
        if unexpected:
            raise Counterexample(f"({begin}, {end}] answers {unexpected}", newer, story.lines())


@model_property(
    "PO-154",
    "From the beginning an incremental query answers the snapshot",
    "IN-002 IN-004 IN-005",
    broken_by="range-end-exclusive incremental-unmerged",
    assumptions="both readings of what competes",
)
@property_check
@given(story=st.one_of(STORIES, COMPLETED))
def from_the_beginning(story: Story) -> None:
    """A reader without a past may begin with an incremental query."""
    end, table = states(story)[-1]
    for readings in (RELEASED, MERGED_ROWS) if end != EVERYTHING else ():
        answered = incremental(table, EVERYTHING, end, readings)
        if answered != snapshot(table):
            raise Counterexample(f"up to {end}: {answered}", table, story.lines())


@model_property(
    "PO-155",
    "A range in which services alone completed brings no rows and no changes, and a service adds no row to any range",
    "IN-005 CD-007",
    broken_by="rewritten-rows-are-new",
    assumptions="both readings of what competes",
)
@property_check
@given(story=stories(MERGED, services=("compaction", "compaction"), longest=5))
def services_bring_nothing(story: Story) -> None:
    """A reader need not know that a table was compacted."""
    found = states(story)
    for place, ((begin, _), (end, table)) in enumerate(pairwise(found)):
        newest = completed_data(timeline_of(table.timeline))[-1]
        if newest.action is not Action.COMMIT:
            continue
        brought = [incremental(table, begin, end, readings) for readings in (RELEASED, MERGED_ROWS)]
        if any(brought) or read_changes(table, begin, end).rows:
            raise Counterexample(f"({begin}, {end}] brings {brought}", table, story.lines())
        for earlier, _ in found[:place]:
            before, after = (incremental(table, earlier, one, MERGED_ROWS) for one in (begin, end))
            if before != after:
                raise Counterexample(f"({earlier}, {end}] brings {after}, up to {begin} {before}", table, story.lines())


@model_property(
    "PO-156",
    "Replaying the changes of a range on the state at its begin gives the state at its end",
    "CD-002 CD-004 CD-005",
    broken_by="deleted-rows-unreported before-is-after last-write-only range-begin-inclusive",
)
@property_check
@given(story=st.one_of(STORIES, COMPLETED))
def replay(story: Story) -> None:
    """As bags: what was there, without the rows before each change, with those after it."""
    found = states(story)
    table = found[-1][1]
    for (begin, older), (end, newer) in combinations(found, 2):
        state = bag(read_snapshot(older).rows)
        state.update(images(table, begin, end, "after"))
        state.subtract(images(table, begin, end, "before"))
        if +state != bag(read_snapshot(newer).rows) or -state:
            raise Counterexample(f"({begin}, {end}] leads to {state}", table, story.lines())


@model_property(
    "PO-157",
    "The changes of a range are those of its chunks",
    "CD-002 IN-002",
    broken_by="range-begin-inclusive last-write-only",
)
@property_check
@given(story=STORIES)
def changes_add_up(story: Story) -> None:
    """A reader who follows the feed in chunks gets every change once."""
    table = states(story)[-1][1]
    for (begin, _), (middle, _), (end, _) in combinations(states(story), 3):
        for side in ("before", "after"):
            chunks = images(table, begin, middle, side) + images(table, middle, end, side)
            if chunks != images(table, begin, end, side):
                raise Counterexample(f"({begin}, {middle}] and ({middle}, {end}] give {chunks}", table, story.lines())


@model_property(
    "PO-158",
    "A range is settled once its end has completed",
    "IN-003 TL-013",
    broken_by="later-rows-compete",
    assumptions="completion times are taken and published under the lock: none comes to light after a later one",
)
@property_check
@given(story=STORIES)
def settled(story: Story) -> None:
    """Nothing that completes later changes the answer to a range, in either reading."""
    found = states(story)
    for (begin, _), (end, then) in combinations(found, 2):
        for readings in (RELEASED, MERGED_ROWS):
            before, now = (incremental(table, begin, end, readings) for table in (then, found[-1][1]))
            if before != now:
                raise Counterexample(f"({begin}, {end}] was {before}, is {now}", found[-1][1], story.lines())


@model_property(
    "PO-159",
    "A range is settled once its end has completed, whatever times writers take",
    "IN-003 TL-013",
    refuted=True,
    holds_instead="PO-158",
    assumptions="a completion time may be published after a later one",
)
@property_check
@given(of=shapes(versions=(8, 9)))
def settled_without_lock(of: Shape) -> None:
    """A write that took its completion time early and published it late appears in a range that was read already."""
    first, late = (
        Request(Operation.UPSERT, (Record({"id": key, "day": "d1", "ts": 1, "note": "one"}),)) for key in ("a", "b")
    )
    table = write(new_table(of), first, tick(1), tick(9))
    read = incremental(table, EVERYTHING, tick(9))
    table = write(table, late, tick(2), tick(8))
    if incremental(table, EVERYTHING, tick(9)) != read:
        steps = ("a is written, completed at 9", "the range up to 9 is read", "b is written, completed at 8")
        raise Counterexample("the range up to 9 has another row now", table, steps)
