"""Services that are planned and carried out among the phases of two writers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from hudi_model.effects import perform
from hudi_model.files import Record
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation, Request, Write
from hudi_model.services import cleaning
from hudi_model.tables import RELEASED, Reading, Readings, Table
from hudi_model.time import InstantTime, tick
from hudi_model.writers import abort, begin, commit, stage

from hudi_conformance.verification.properties.histories import COMMIT_TIME, EVENT_TIME, Row, Shape, new_table
from hudi_conformance.verification.properties.registry import Counterexample, model_property
from hudi_conformance.verification.properties.service_checks import (
    DONE,
    EAGER,
    PLAN,
    POLICIES,
    Rows,
    module_of,
    rows_and_origins,
    short,
    try_write,
)

NON_BLOCKING = {
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
}
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
            started_write, effects = begin(self.table, request, tick(now))
            self.table = perform(self.table, effects)
            staged, effects = stage(self.table, started_write)
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


@model_property(
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


@model_property(
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


@model_property(
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


@model_property(
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


@model_property(
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
