"""What each index holds: every key, value and range that a snapshot reads."""

from typing import Any

from hudi_model.indexes import joined, secondary_key
from hudi_model.metadata import view_of
from hudi_model.queries import Selection, read_snapshot, validated_snapshot
from hudi_model.requests import Operation
from hypothesis import assume, given

from hudi_conformance.verification.properties.histories import Shape, Step, Story, shapes, stories
from hudi_conformance.verification.properties.indexed_tables import (
    HISTORIES,
    OPERATIONS,
    everything,
    indexed,
    refuse_pruned_away,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


@model_property(
    "PO-306",
    "The record index maps every live key to the one file group that holds it, and holds no other key",
    "IX-020 IX-021",
    broken_by="stale-entries-kept delete-wins-over-put metadata-misses-replaced-groups",
    assumptions="released readings; the writers' index is global, too; no overwriting brought a key twice",
)
@property_check
@given(story=stories(shapes((9, 6), partitioned=(True,)), OPERATIONS, ("clustering",), longest=5))
def located(story: Story) -> None:
    """After upserts that move rows, deletes, overwrites and services."""
    table = indexed(story)
    rows, stored = (
        read_snapshot(table, selection=Selection(meta_columns=True)).rows,
        everything(table).get("record_index", {}),
    )
    assume(len({one["id"] for one in rows}) == len(rows))
    for one in rows:
        place = stored.get(str(one["_hoodie_record_key"]))
        if (
            not place
            or place[0] != one["_hoodie_partition_path"]
            or not str(one["_hoodie_file_name"]).startswith(place[1])
        ):
            raise Counterexample(
                f"{one['_hoodie_record_key']!r} is in {one['_hoodie_file_name']!r}: {place}", table, story.lines()
            )
    if len(rows) != len(stored):
        raise Counterexample(f"{len(rows)} rows, {len(stored)} keys in the index", table, story.lines())


@model_property(
    "PO-307",
    "A secondary index holds the values that merging leaves: a late update that loses changes nothing in it",
    "IX-030 IX-031",
    broken_by="index-of-incoming-rows stale-entries-kept",
)
@property_check
@given(story=HISTORIES)
def merged_values(story: Story) -> None:
    """The entries are the pairs of value and key that a snapshot reads."""
    table = indexed(story)
    pairs = {secondary_key(one["note"], str(one["id"])) for one in read_snapshot(table).rows}
    stored = everything(table).get("secondary_index_note", {})
    if pairs != set(stored):
        raise Counterexample(f"{pairs} are there, {set(stored)} in the index", table, story.lines())


@model_property(
    "PO-308",
    "Statistics bound every value that a query can see, of the files of its slice and of its partition",
    "MT-011 MT-012 MT-014",
    broken_by="statistics-without-logs statistics-of-first-row",
)
@property_check
@given(story=HISTORIES)
def bounded(story: Story) -> None:
    """Least, greatest and nulls, of every column of every row."""
    table = indexed(story)
    view, stored = view_of(table), everything(table)
    by_id = {one.file_id: one for one in validated_snapshot(view)}
    for one in read_snapshot(table, selection=Selection(meta_columns=True)).rows:
        found = next(known for name, known in by_id.items() if str(one["_hoodie_file_name"]).startswith(name))
        for name in ("_hoodie_record_key", "id", "ts", "note", "day"):
            value, where = one[name], found.partition or "."
            files = [known for known in (found.base_file, *found.log_files) if known]
            ranges = [stored.get("column_stats", {}).get(joined(name, where, known.name)) for known in files]
            own = stored.get("partition_stats", {}).get(joined(name, where))
            if not any(bounds(known, value) for known in ranges) or not bounds(own, value):
                raise Counterexample(f"{name} {value!r}: {ranges}, partition {own}", table, story.lines())


def bounds(known: Any, value: Any) -> bool:
    """Whether statistics allow a value; absent ones allow all."""
    if known is None:
        return True
    least, greatest, nulls, count = known
    return bool(nulls if value is None else count > nulls and least <= value <= greatest)


@model_property(
    "PO-319",
    "With a global record index every row is found by its key",
    "IX-020 IX-055 OW-018",
    refuted=True,
    holds_instead="PO-306",
    assumptions="the writers' index is global, too",
)
def overwritten_beside_the_index() -> None:
    """Overwriting looks no keys up: a key that another partition has lives twice, the index knows one place."""
    steps = (
        Step(Operation.UPSERT, ({"id": "a", "day": "d1", "ts": 1, "note": "one"},)),
        Step(Operation.INSERT_OVERWRITE, ({"id": "a", "day": "d2", "ts": 1, "note": "two"},)),
    )
    story = Story(Shape(), steps)
    refuse_pruned_away(indexed(story), ["id", "=", "a"], story)
