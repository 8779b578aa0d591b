"""Optimistic writers beside each other: which orders they can be determined in, and what they can lose."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from hudi_model.requests import Operation, Request
from hudi_model.tables import Table
from hypothesis import assume, given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import DAYS, KEYS, Shape, new_table
from hudi_conformance.verification.properties.interleaved_writers import (
    BUCKETS,
    KEY_CHECK,
    SHAPES,
    Outcome,
    bag,
    changes,
    describe_schedule,
    interleaved,
    orders,
    row,
    seed,
    serially,
    write_request,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


@model_property(
    "PO-172",
    "Two writes that change one file group, each begun before the other committed, never both commit",
    "OW-004 OW-005",
    broken_by="overlap-not-checked concurrent-set-by-begin-time",
)
@property_check
@given(
    shape=SHAPES,
    order=orders(2),
    rows=st.lists(st.integers(1, 4), min_size=2, max_size=2),
    settings=st.sampled_from(({}, BUCKETS)),
)
def overlapping_updates(shape: Shape, order: Sequence[int], rows: Sequence[int], settings: Mapping[str, str]) -> None:
    """Updates of one key."""
    first_commit = min(index for index, number in enumerate(order) if list(order[: index + 1]).count(number) == 3)
    assume(all(number in order[:first_commit] for number in (0, 1)))
    requests = [write_request(Operation.UPSERT, [row("a", ts)], settings) for ts in rows]
    outcome = interleaved(seed(shape, settings), requests, order)
    if len(outcome.committed) != 1:
        raise Counterexample(
            f"{len(outcome.committed)} of 2 committed", outcome.table, describe_schedule(requests, order)
        )


@model_property(
    "PO-173",
    "Optimistic writers leave what some serial order of those that commit would leave",
    "OW-005 OW-007",
    refuted=True,
    holds_instead="PO-174",
    assumptions="the optional key check is off",
)
def serializable_in_general() -> None:
    """Two writers bring the same new key: both open a file group for it, and both commit."""
    table, order = new_table(Shape(table_type="COPY_ON_WRITE")), (0, 1, 0, 1, 0, 1)
    requests = [write_request(Operation.UPSERT, [row("a", 1, note)]) for note in ("first", "second")]
    refuse_unless_serial(table, requests, interleaved(table, requests, order), order)


def refuse_unless_serial(
    table: Table, requests: Sequence[Request], outcome: Outcome, order: Sequence[int], *, as_completed: bool = False
) -> None:
    """Nothing, unless no serial order, or not that of completion, leaves the same rows."""
    candidates = [outcome.committed] if as_completed else list(permutations(outcome.committed))
    if all(bag(serially(table, requests, one)) != bag(outcome.table) for one in candidates):
        message = (
            f"rows {bag(outcome.table)}, in the order of completion {bag(serially(table, requests, outcome.committed))}"
        )
        raise Counterexample(message, outcome.table, describe_schedule(requests, order))


@model_property(
    "PO-174",
    "Optimistic upserts and deletes of keys that are there are serializable in completion order, and no row is lost",
    "OW-003 OW-004 OW-005",
    broken_by="overlap-not-checked concurrent-set-by-begin-time",
    assumptions="released readings; every key is in the table when the writers begin",
)
@property_check
@given(shape=SHAPES, requests=st.lists(changes(KEYS[:2], DAYS[:1]), min_size=2, max_size=3), data=st.data())
def serializable_known_keys(shape: Shape, requests: Sequence[Request], data: st.DataObject) -> None:
    """Two or three writers, their phases in any order."""
    order, table = data.draw(orders(len(requests))), seed(shape)
    first_commit = next(index for index, number in enumerate(order) if list(order[: index + 1]).count(number) == 3)
    started = set(order[:first_commit])
    requests = [
        one if number in started else replace(one, operation=Operation.UPSERT) for number, one in enumerate(requests)
    ]
    assume(len(started) == len(requests) or all(one.operation is Operation.UPSERT for one in requests))
    outcome = interleaved(table, requests, order)
    refuse_unless_serial(table, requests, outcome, order, as_completed=True)


@model_property(
    "PO-175",
    "With the key check upserts of new keys are serializable in completion order too",
    "OW-007",
    broken_by="key-check-not-made concurrent-set-by-begin-time",
    assumptions="released readings; the key check is on; nothing is deleted or overwritten meanwhile",
)
@property_check
@given(shape=SHAPES, requests=st.lists(changes(KEYS[2:], DAYS[:1]), min_size=2, max_size=3), data=st.data())
def serializable_with_key_check(shape: Shape, requests: Sequence[Request], data: st.DataObject) -> None:
    """Upserts of keys that are there and keys that are not."""
    order, table = data.draw(orders(len(requests))), seed(shape)
    upserts = [replace(one, operation=Operation.UPSERT, settings=KEY_CHECK) for one in requests]
    refuse_unless_serial(table, upserts, interleaved(table, upserts, order), order, as_completed=True)


@model_property(
    "PO-176",
    "With the key check optimistic writers are serializable in completion order",
    "OW-007 OW-018",
    refuted=True,
    holds_instead="PO-175",
    assumptions="released readings; the key check is on",
)
def serializable_with_overwrites() -> None:
    """A delete of a partition finds no file group of a row that is inserted meanwhile: the row outlives it."""
    table, order = seed(Shape()), (0, 1, 1, 1, 0, 0)
    gone = Request(Operation.DELETE_PARTITION, partitions=("d1",), settings=KEY_CHECK)
    requests = [gone, write_request(Operation.INSERT, [row("new")], KEY_CHECK)]
    refuse_unless_serial(table, requests, interleaved(table, requests, order), order, as_completed=True)


@model_property(
    "PO-177",
    "With the key check optimistic writers leave what some serial order of those that commit would leave",
    "OW-007 OW-013",
    refuted=True,
    holds_instead="PO-175",
    assumptions="released readings; the key check is on",
)
def serializable_with_deletes() -> None:
    """Each of two upserts brings a row that the other marks as deleted: neither finds what it is to delete."""
    table, order = new_table(Shape(table_type="COPY_ON_WRITE")), (0, 1, 0, 1, 0, 1)
    gone = {"_hoodie_is_deleted": True}
    requests = [
        write_request(Operation.UPSERT, [row("a"), {**row("b"), **gone}], KEY_CHECK),
        write_request(Operation.UPSERT, [row("b"), {**row("a"), **gone}], KEY_CHECK),
    ]
    refuse_unless_serial(table, requests, interleaved(table, requests, order), order)


INSERTS = st.lists(
    st.lists(st.builds(row, st.sampled_from(KEYS), day=st.sampled_from(DAYS)), min_size=1, max_size=3).map(
        lambda rows: write_request(Operation.INSERT, rows)
    ),
    min_size=2,
    max_size=3,
)


@model_property(
    "PO-182",
    "Inserts that open file groups of their own never conflict, and every row of each is there",
    "OW-012 OW-028",
    broken_by="insert-groups-by-partition inserts-replace",
)
@property_check
@given(shape=SHAPES, requests=INSERTS, data=st.data())
def inserts_never_conflict(shape: Shape, requests: Sequence[Request], data: st.DataObject) -> None:
    """Inserts beside each other, also of the same keys."""
    order, table = data.draw(orders(len(requests))), seed(shape)
    outcome = interleaved(table, requests, order)
    if outcome.refused or bag(outcome.table) != bag(serially(table, requests, range(len(requests)))):
        raise Counterexample(
            f"refused {outcome.refused}; rows {bag(outcome.table)}", outcome.table, describe_schedule(requests, order)
        )


@model_property(
    "PO-183",
    "If there are only inserts to the table, there are no conflicts",
    "OW-012 OW-028",
    refuted=True,
    holds_instead="PO-182",
    assumptions="writers fill up small files, as released ones do by default",
)
def inserts_that_fill_files() -> None:
    """Two inserts of different keys choose the same small file."""
    small = {"hoodie.parquet.small.file.limit": "104857600"}
    requests = [write_request(Operation.INSERT, [row(key)], small) for key in ("new", "newer")]
    order = (0, 1, 0, 1, 0, 1)
    outcome = interleaved(seed(Shape(table_type="COPY_ON_WRITE")), requests, order)
    if outcome.refused:
        raise Counterexample("an insert was refused", outcome.table, describe_schedule(requests, order))
