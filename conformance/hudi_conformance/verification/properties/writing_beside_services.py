"""Writers beside a compaction or a clustering that is planned and carried out among their phases."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import ModuleType

from hudi_model import writers
from hudi_model.actions import ReplacePlan, State
from hudi_model.effects import CreateInstant, Effects, perform
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request, Write
from hudi_model.services import clustering, compaction
from hudi_model.tables import Table
from hudi_model.time import InstantTime, tick
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import DAYS, KEYS, Shape
from hudi_conformance.verification.properties.interleaved_writers import (
    NON_BLOCKING,
    SHAPES,
    Outcome,
    bag,
    changes,
    may,
    row,
    seed,
    serially,
    write_request,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check

EAGER = {"hoodie.compact.inline.max.delta.commits": "1", "hoodie.clustering.inline.max.commits": "1"}
PLAN, RUN = 100, 101
"""What a service does in an interleaving, where writers are numbers."""


def beside_service(table: Table, requests: Sequence[Request], order: Sequence[int], service: ModuleType) -> Outcome:
    """Writers, and a service that is planned and carried out, or gives up, among their phases."""
    open_writes, phases = dict[int, Write](), dict.fromkeys(order, 0)
    committed, refused, plans = list[int](), list[int](), list[InstantTime]()
    for moment, number in enumerate(order, start=1000):
        phases[number] += 1
        effects: Effects = ()
        try:
            if number == PLAN:
                effects = service.schedule(table, tick(moment), EAGER)
                plans += [tick(moment)] if effects else []
            elif number == RUN:
                effects = service.execute(table, plans.pop(0), tick(moment)) if plans else ()
            elif phases[number] == 1:
                open_writes[number], effects = writers.begin(table, requests[number], tick(moment))
            elif phases[number] == 2:
                open_writes[number], effects = writers.stage(table, open_writes[number])
            elif number not in refused:
                effects = writers.commit(table, open_writes[number], tick(moment))
                committed.append(number)
        except Rejection as rejection:
            if rejection.reason is not Reason.WRITE_CONFLICT:
                raise
            refused.append(number)
            effects = () if number == RUN else writers.abort(table, open_writes[number])
        table = perform(table, effects)
    return Outcome(table, tuple(committed), tuple(refused))


def orders() -> st.SearchStrategy[tuple[int, ...]]:
    """Two writers and a compaction in any order, the plan before it is carried out."""
    return (
        st.permutations((0, 0, 0, 1, 1, 1, PLAN, RUN)).map(tuple).filter(lambda one: one.index(PLAN) < one.index(RUN))
    )


@model_property(
    "PO-194",
    "Optimistic upserts beside a compaction or a clustering are serializable in completion order",
    "OW-006 OW-011 OW-016 RD-006 CL-005",
    broken_by="overlap-not-checked",
    assumptions="released readings; keys that are in the table; one service",
)
@property_check
@given(
    shape=SHAPES,
    requests=st.lists(changes(KEYS[:2], DAYS[:1]), min_size=2, max_size=2),
    order=orders(),
    clusters=st.booleans(),
)
def optimistic_beside_service(
    shape: Shape, requests: Sequence[Request], order: Sequence[int], *, clusters: bool
) -> None:
    """What a service has not seen is not lost, whoever was first."""
    service = clustering if clusters or shape.table_type == "COPY_ON_WRITE" else compaction
    upserts = [replace(one, operation=Operation.UPSERT) for one in requests]
    start = seed(shape)
    outcome = beside_service(start, upserts, order, service)
    found, expected = bag(outcome.table), bag(serially(start, upserts, outcome.committed))
    if found != expected:
        raise Counterexample(f"rows {found}, serially {expected}", outcome.table, (str(shape), str(order)))


@model_property(
    "PO-195",
    "Non-blocking writers and a compaction never refuse each other and lose nothing, however they overlap",
    "SW-003 SW-005 SW-006",
    broken_by="log-slice-by-requested-time",
    assumptions="merge by event time, ordering values that differ, one compaction",
)
@property_check
@given(keys=st.lists(st.sampled_from(KEYS[:2]), min_size=2, max_size=2), turned=st.booleans(), order=orders())
def non_blocking_beside_compaction(keys: Sequence[str], turned: bool, order: Sequence[int]) -> None:
    """Logs that complete after the plan join the slice that it opens."""
    values = (7, 8) if turned else (8, 7)
    requests = [
        write_request(Operation.UPSERT, [row(key, ts)], NON_BLOCKING) for key, ts in zip(keys, values, strict=True)
    ]
    outcome = beside_service(seed(Shape(), NON_BLOCKING), requests, order, compaction)
    greatest = {key: max(ts for one, ts in zip(keys, values, strict=True) if one == key) for key in keys}
    there = {(one["id"], one["ts"]) for one in read_snapshot(outcome.table).rows if one["day"] == "d1"}
    if outcome.refused or not set(greatest.items()) <= there:
        raise Counterexample(f"rows {sorted(there)}, brought {greatest}", outcome.table, (str(order),))


@model_property(
    "PO-196",
    "While a clustering of a file group waits, writes of that group are refused and writes of others are not",
    "OW-011",
    broken_by="pending-clustering-not-seen",
    exhaustive=True,
    assumptions="plans with and without an inflight file, updates and deletions of partitions",
)
def clustering_waits() -> None:
    """A plan for one partition; a write there, and one in the other partition."""
    for version, kind, started in product((6, 8, 9), ("COPY_ON_WRITE", "MERGE_ON_READ"), (False, True)):
        table = seed(Shape(version, kind))
        effects = clustering.schedule(table, tick(500), EAGER)
        table = perform(table, planned_for(effects, "d1", started=started))
        for day in DAYS:
            for request in (
                write_request(Operation.UPSERT, [row("a", 9, day=day)]),
                Request(Operation.DELETE_PARTITION, (), (day,)),
            ):
                started_write, effects = writers.begin(table, request, tick(501))
                refused = not may(partial(writers.stage, perform(table, effects), started_write))
                if refused is not (day == "d1"):
                    raise Counterexample(
                        f"version {version}, {kind}: {request.operation} in {day}, refused: {refused}", table
                    )


def planned_for(effects: Effects, day: str, *, started: bool) -> Effects:
    """The plan of a clustering, cut down to one partition, and its inflight file, which says nothing."""
    found = [one.entry for one in effects if isinstance(one, CreateInstant)]
    assert isinstance(found[0].content, ReplacePlan)
    groups = tuple(one for one in found[0].content.groups if one.slices[0].partition == day)
    requested = replace(found[0], content=replace(found[0].content, groups=groups))
    inflight = replace(
        requested, state=State.INFLIGHT, content=None, name=requested.name.replace("requested", "inflight")
    )
    return tuple(CreateInstant(one) for one in ((requested, inflight) if started else (requested,)))
