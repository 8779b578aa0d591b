"""Requests of writers, the ways in which their phases interleave, and what that leaves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hudi_model import writers
from hudi_model.effects import perform
from hudi_model.files import Record
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request, Write
from hudi_model.tables import RELEASED, Readings, Table
from hudi_model.time import tick
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import DAYS, KEYS, Row, Shape, new_table, shapes

KEY_CHECK = {"hoodie.write.concurrency.record.key.check": "true"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
NON_BLOCKING = {**BUCKETS, "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
Bag = list[tuple[str, ...]]


def row(key: str, ts: int = 1, note: str = "one", day: str = "d1") -> Row:
    """A row of the stories' columns."""
    return {"id": key, "day": day, "ts": ts, "note": note}


def write_request(operation: Operation, rows: Iterable[Row] = (), settings: Mapping[str, str] | None = None) -> Request:
    """A request on these rows."""
    return Request(operation, tuple(Record(one) for one in rows), settings=settings or {})


def bag(table: Table, readings: Readings = RELEASED) -> Bag:
    """The rows of a snapshot, doubles included, in an order of their own."""
    return sorted(
        tuple(f"{name}={value!r}" for name, value in sorted(one.items())) for one in read_snapshot(table, readings).rows
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What interleaved writers left: the table, who committed in which order, and who was refused."""

    table: Table
    committed: tuple[int, ...]
    refused: tuple[int, ...]


def interleaved(table: Table, requests: Sequence[Request], order: Sequence[int]) -> Outcome:
    """Writers beside each other: each time a number comes up, its writer has its next phase; refused ones abort."""
    open_writes: dict[int, Write] = {}
    phases, committed, refused = dict.fromkeys(order, 0), list[int](), list[int]()
    for moment, number in enumerate(order, start=1000):
        phases[number] += 1
        try:
            if phases[number] == 1:
                open_writes[number], effects = writers.begin(table, requests[number], tick(moment))
            elif phases[number] == 2:
                open_writes[number], effects = writers.stage(table, open_writes[number])
            else:
                effects = writers.commit(table, open_writes[number], tick(moment))
                committed.append(number)
        except Rejection as rejection:
            if rejection.reason is not Reason.WRITE_CONFLICT:
                raise
            effects = writers.abort(table, open_writes[number])
            refused.append(number)
            phases[number] = 3
        table = perform(table, effects) if phases[number] <= 3 else table
    return Outcome(table, tuple(committed), tuple(refused))


def serially(table: Table, requests: Sequence[Request], order: Iterable[int]) -> Table:
    """The same writes one after another."""
    for moment, number in enumerate(order):
        table = writers.write(table, requests[number], tick(2000 + 2 * moment), tick(2001 + 2 * moment))
    return table


def orders(writers: int) -> st.SearchStrategy[tuple[int, ...]]:
    """All ways to interleave the three phases of each writer."""
    return st.permutations([number for number in range(writers) for _ in range(3)]).map(tuple)


def describe_schedule(requests: Sequence[Request], order: Sequence[int]) -> tuple[str, ...]:
    """What happened, as lines."""
    phases = dict.fromkeys(order, 0)
    lines = []
    for number in order:
        phases[number] += 1
        name = ("begin", "stage", "commit")[min(phases[number], 3) - 1]
        rows = ", ".join(
            f"{one.values.get('day')!s}/{one.values['id']!s}@{one.values.get('ts')!s}" for one in requests[number].rows
        )
        lines.append(f"writer {number}: {name} {requests[number].operation} {rows}")
    return tuple(lines)


def seed(shape: Shape, settings: Mapping[str, str] | None = None) -> Table:
    """A table with a row of every key, each key's day in a file group of its own."""
    table = new_table(shape)
    for number, (key, day) in enumerate(product(KEYS[:3], DAYS)):
        fresh = write_request(Operation.INSERT, [row(key, 0, "seed", day)], settings)
        table = writers.write(table, fresh, tick(2 * number + 1), tick(2 * number + 2))
    return table


def changes(keys: Sequence[str] = KEYS[:3], days: Sequence[str] = DAYS) -> st.SearchStrategy[Request]:
    """An upsert or a delete of some keys."""
    one = st.builds(row, st.sampled_from(keys), st.integers(0, 4), st.sampled_from(("x", "y")), st.sampled_from(days))
    some = st.lists(one, min_size=1, max_size=2, unique_by=lambda made: (made["id"], made["day"]))
    return st.builds(write_request, st.sampled_from((Operation.UPSERT, Operation.UPSERT, Operation.DELETE)), some)


SHAPES = shapes(partitioned=(True,))


def may(act: Callable[[], object]) -> bool:
    """Whether an act is not refused."""
    try:
        act()
    except Rejection:
        return False
    return True
