"""Random small tables and what happens to them, for every property that wants more than one hand-made history.

    @model_property("PO-nnn", "...", "...", broken_by="...")
    @property_check
    @given(story=stories())
    def check(story: Story) -> None:
        table = played(story)                         # through the model's writers and services
        if rows_of(table) != remembered(story):        # a plain dict, no code of the model in it
            raise Counterexample("...", table, story.lines())

A story is a shape (version, type, merge mode, partitioned or not) and steps: writes by operation, services by name.
`stories(shapes=..., operations=..., services=...)` narrows it. Times are ticks, two for each step.
Keys hold characters beyond ASCII, ordering values are late as often as not, and a key may live in two partitions.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hudi_model.actions import State
from hudi_model.creation import create_table
from hudi_model.effects import Effects, perform
from hudi_model.files import Field, Record, Schema
from hudi_model.merge_rules import BY_PAYLOAD, UNAVAILABLE
from hudi_model.queries import read_snapshot
from hudi_model.requests import Operation, Request
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.timeline import timeline_of
from hudi_model.writers import write
from hypothesis import strategies as st

from hudi_conformance.verification.properties.registry import Counterexample

SCHEMA = Schema((Field("id", "string"), Field("day", "string"), Field("ts", "int64"), Field("note", "string")))
KEYS = ("a", "b", "ключ", "k€y 🗝")
DAYS = ("d1", "d2")
NOTES = ("one", "two", None)
COMMIT_TIME, EVENT_TIME = "COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"
PAYLOADS = {COMMIT_TIME: "OverwriteWithLatestAvroPayload", EVENT_TIME: "DefaultHoodieRecordPayload"}
COMPLETING = {COMMIT_TIME: "OverwriteNonDefaultsWithLatestAvroPayload", EVENT_TIME: "PartialUpdateAvroPayload"}
"""The payload classes that, before version 9, do what the partial update mode does."""
UPDATES = ("NONE", "IGNORE_DEFAULTS", "FILL_UNAVAILABLE")
Row: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, str]
"""Partition and key."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What kind of table a story is about."""

    version: int = 9
    table_type: str = "MERGE_ON_READ"
    mode: str = EVENT_TIME
    partitioned: bool = True
    update: str = "NONE"

    def properties(self) -> dict[str, str]:
        """The properties that make a table so."""
        ordering = "hoodie.table.ordering.fields" if self.version == 9 else "hoodie.table.precombine.field"
        found = {
            "hoodie.table.name": "story",
            "hoodie.table.type": self.table_type,
            "hoodie.table.version": str(self.version),
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.partition.fields": "day" if self.partitioned else "",
            ordering: "ts",
        }
        return found | self._merging()

    def _merging(self) -> dict[str, str]:
        payloads = PAYLOADS if self.update == "NONE" else COMPLETING
        payload = {"hoodie.compaction.payload.class": f"org.apache.hudi.common.model.{payloads[self.mode]}"}
        if self.version < 8:
            return payload
        if self.update == "NONE":
            return {"hoodie.record.merge.mode": self.mode}
        if self.version == 8:
            return payload | {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": BY_PAYLOAD}
        return {
            "hoodie.record.merge.mode": self.mode,
            "hoodie.table.partial.update.mode": self.update,
            UNAVAILABLE: str(NOTES[0]),
        }


@dataclass(frozen=True, slots=True)
class Step:
    """A write, or a service with the settings it runs under."""

    operation: Operation | None
    rows: tuple[Row, ...] = ()
    partitions: tuple[str, ...] = ()
    service: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """The step as a line of a counterexample."""
        if self.operation is None:
            return self.service
        rows = ", ".join(f"{row['day']}/{row['id']}@{row['ts']}={row.get('note', '-')}" for row in self.rows)
        return f"{self.operation} {rows}{' '.join(self.partitions)}"


@dataclass(frozen=True, slots=True)
class Story:
    """A shape and what happens to a table of it."""

    shape: Shape
    steps: tuple[Step, ...]

    def lines(self) -> tuple[str, ...]:
        """The story, to be reported."""
        return (str(self.shape), *(f"{number}. {step}" for number, step in enumerate(self.steps, start=1)))


def deletes_are_plain(shape: Shape) -> bool:
    """Whether a plain dict states what a delete does.

    In logs under event time a delete without ordering value, then a late upsert, may bring back the row before both.
    """
    return shape.table_type == "COPY_ON_WRITE" or shape.mode == COMMIT_TIME


def shapes(
    versions: Sequence[int] = (6, 8, 9),
    types: Sequence[str] = ("COPY_ON_WRITE", "MERGE_ON_READ"),
    modes: Sequence[str] = (COMMIT_TIME, EVENT_TIME),
    partitioned: Sequence[bool] = (True, False),
) -> st.SearchStrategy[Shape]:
    """Kinds of tables; the newest version and the simplest kind come first when a counterexample shrinks."""
    newest = sorted(versions, reverse=True)
    return st.builds(Shape, *map(st.sampled_from, (newest, types, modes, partitioned)))


def completing_shapes(table_type: str) -> st.SearchStrategy[Shape]:
    """Kinds of tables in which versions of a row complete each other."""
    return shapes(types=(table_type,)).flatmap(
        lambda of: st.sampled_from(UPDATES[1:] if of.version == 9 else UPDATES[1:2]).map(
            lambda update: replace(of, update=update)
        )
    )


def rows(
    greatest: int = 3, keys: Sequence[str] = KEYS, days: Sequence[str] = DAYS
) -> st.SearchStrategy[tuple[Row, ...]]:
    """Rows of one write, each key once."""
    row = st.builds(
        lambda key, day, ts, note: {"id": key, "day": day, "ts": ts, "note": note},
        st.sampled_from(keys),
        st.sampled_from(days),
        st.integers(0, 4),
        st.sampled_from(NOTES),
    )
    unique = st.lists(row, min_size=1, max_size=greatest, unique_by=lambda one: one["id"])
    return unique.map(tuple)


def steps(
    operations: Sequence[Operation],
    services: Sequence[str],
    brought: st.SearchStrategy[tuple[Row, ...]] | None = None,
) -> st.SearchStrategy[Step]:
    """One step: mostly writes, of any rows or of those that are given."""
    found = rows() if brought is None else brought
    written = [st.builds(Step, st.just(one), found) for one in operations if one is not Operation.DELETE_PARTITION]
    if Operation.DELETE_PARTITION in operations:
        written.append(
            st.builds(Step, st.just(Operation.DELETE_PARTITION), st.just(()), st.sampled_from([(day,) for day in DAYS]))
        )
    served = [st.builds(Step, st.none(), service=st.just(name)) for name in services]
    return st.one_of(*written, *served)


USUAL = (Operation.UPSERT, Operation.UPSERT, Operation.DELETE)


def stories(
    of: st.SearchStrategy[Shape] | None = None,
    operations: Sequence[Operation] = USUAL,
    services: Sequence[str] = (),
    *,
    longest: int = 6,
    shortest: int = 1,
    brought: st.SearchStrategy[tuple[Row, ...]] | None = None,
) -> st.SearchStrategy[Story]:
    """Whole stories. Their operations may repeat, to be drawn more often."""
    chosen = st.lists(steps(operations, services, brought), min_size=shortest, max_size=longest).map(tuple)
    return st.builds(Story, shapes() if of is None else of, chosen)


def new_table(shape: Shape) -> Table:
    """An empty table of a shape."""
    return create_table(shape.properties(), SCHEMA)


def request_of(step: Step, settings: Mapping[str, str] | None = None) -> Request:
    """The step as it is put to a writer."""
    assert step.operation is not None
    records = tuple(Record(dict(row)) for row in step.rows)
    return Request(step.operation, records, step.partitions, settings={**step.settings, **(settings or {})})


def played(story: Story, settings: Mapping[str, str] | None = None) -> Table:
    """The table after a story; `settings` hold for all of its steps."""
    table = new_table(story.shape)
    for number, step in enumerate(story.steps):
        table = taken(table, step, 10 * number + 1, settings)
    return table


def taken(table: Table, step: Step, first: int, settings: Mapping[str, str] | None = None) -> Table:
    """The table after one step that begins at a tick and is done at the next but seven."""
    if step.operation is None:
        return served(table, step.service, first, {**step.settings, **(settings or {})})
    return write(table, request_of(step, settings), tick(first), tick(first + 1))


def served(table: Table, service: str, first: int, settings: Mapping[str, str]) -> Table:
    """The table after a service has planned, if there is anything to plan, and carried its plan out."""
    module = importlib.import_module(f"hudi_model.services.{service}")
    before = {one.requested for one in pending(table)}
    planned: Effects = module.schedule(table, tick(first), settings)
    table = perform(table, planned)
    for number, requested in enumerate(sorted({one.requested for one in pending(table)} - before)):
        table = perform(table, module.execute(table, requested, tick(first + 1 + number)))
    return table


def pending(table: Table) -> tuple[Any, ...]:
    """The actions that have not completed."""
    return tuple(one for one in timeline_of(table.timeline).instants if one.state is not State.COMPLETED)


def rows_of(table: Table) -> dict[Place, Row]:
    """What a snapshot of the table holds.

    Raises:
        Counterexample: a place has two rows.

    """
    found = [dict(row) for row in read_snapshot(table).rows]
    assert isinstance(table.properties, Mapping)
    partitioned = bool(table.properties["hoodie.table.partition.fields"])
    places = {place_of(row, partitioned=partitioned): row for row in found}
    if len(places) != len(found):
        raise Counterexample(f"a key has two rows in one partition: {found}", table)
    return places


def place_of(row: Row, *, partitioned: bool) -> Place:
    """Where a row lives."""
    return (row["day"] if partitioned else "", row["id"])


def remembered(story: Story) -> dict[Place, Row]:
    """What the table is to hold, by a plain dict: the later wins, or the greater ordering value."""
    held: dict[Place, Row] = {}
    for step in story.steps:
        remember(held, step, story.shape)
    return held


def remember(held: dict[Place, Row], step: Step, shape: Shape) -> None:
    """What one step makes of it."""
    places = {place_of(row, partitioned=shape.partitioned): dict(row) for row in step.rows}
    match step.operation:
        case None:
            return
        case Operation.DELETE:
            for place in places:
                held.pop(place, None)
            return
        case Operation.INSERT_OVERWRITE_TABLE:
            held.clear()
        case Operation.INSERT_OVERWRITE:
            forget(held, {day for day, _ in places})
        case Operation.DELETE_PARTITION:
            forget(held, set(step.partitions))
    for place, row in places.items():
        known = held.get(place)
        if known is None or shape.mode == COMMIT_TIME or row["ts"] >= known["ts"]:
            held[place] = row


def forget(held: dict[Place, Row], days: set[str]) -> None:
    """Rows of whole partitions go."""
    for place in [one for one in held if one[0] in days]:
        del held[place]
