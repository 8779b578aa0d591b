"""Writers, alone and beside each other: what a write leaves at every moment, and what several leave together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations, product
from types import ModuleType
from typing import Any

from hudi_model import conflicts, locks, tagging, writers
from hudi_model.actions import Action, State, TimelineEntry
from hudi_model.contents import CommitMetadata, CompactionOperation, CompactionPlan, ReplacePlan
from hudi_model.effects import CreateInstant, Effects, PutBaseFile, perform
from hudi_model.files import BaseFile
from hudi_model.locks import Lease
from hudi_model.names import base_file_name, timeline_file_name
from hudi_model.queries import list_file_slices, read_snapshot
from hudi_model.readings import RELEASED, TEXT, Readings
from hudi_model.records import Record
from hudi_model.rejection import Reason, Rejection
from hudi_model.services import clustering, compaction
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.views import view_at
from hudi_model.violations import violations
from hudi_model.writers import Operation, Request, Write
from hypothesis import assume, given
from hypothesis import strategies as st

from hudi_conformance.obligations.histories import (
    COMMIT_TIME,
    DAYS,
    KEYS,
    Row,
    Shape,
    Story,
    new_table,
    played,
    remembered,
    request_of,
    rows_of,
    shapes,
    stories,
)
from hudi_conformance.obligations.registry import Counterexample, obligation, property_check

KEY_CHECK = {"hoodie.write.concurrency.record.key.check": "true"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
NON_BLOCKING = {**BUCKETS, "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
EVERY_OPERATION = (*Operation,)
Bag = list[tuple[str, ...]]


def row(key: str, ts: int = 1, note: str = "one", day: str = "d1") -> Row:
    """A row of the stories' columns."""
    return {"id": key, "day": day, "ts": ts, "note": note}


def asked(operation: Operation, rows: Iterable[Row] = (), settings: Mapping[str, str] | None = None) -> Request:
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


def told(requests: Sequence[Request], order: Sequence[int]) -> tuple[str, ...]:
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
        fresh = asked(Operation.INSERT, [row(key, 0, "seed", day)], settings)
        table = writers.write(table, fresh, tick(2 * number + 1), tick(2 * number + 2))
    return table


def changes(keys: Sequence[str] = KEYS[:3], days: Sequence[str] = DAYS) -> st.SearchStrategy[Request]:
    """An upsert or a delete of some keys."""
    one = st.builds(row, st.sampled_from(keys), st.integers(0, 4), st.sampled_from(("x", "y")), st.sampled_from(days))
    some = st.lists(one, min_size=1, max_size=2, unique_by=lambda made: (made["id"], made["day"]))
    return st.builds(asked, st.sampled_from((Operation.UPSERT, Operation.UPSERT, Operation.DELETE)), some)


SHAPES = shapes(partitioned=(True,))


@obligation(
    "PO-170",
    "A write is invisible before its completed instant, and the table is sound after each of its effects",
    "OW-001 OW-010 MK-001 RD-002",
    broken_by="files-count-when-staged completed-without-files inflight-counts-as-committed",
)
@property_check
@given(story=stories(operations=[one for one in Operation if one is not Operation.PARTIAL_UPDATE], longest=4))
def invisible_before_completion(story: Story) -> None:
    """Every prefix of the last step's effects."""
    *before, last = story.steps
    try:
        table = played(Story(story.shape, tuple(before)))
        known, then, effects = bag(table), bag(played(story)), phases_of(table, request_of(last))
    except Rejection as rejection:
        raise Counterexample(str(rejection), None, story.lines()) from None
    for effect in effects:
        table = perform(table, (effect,))
        done = isinstance(effect, CreateInstant) and effect.entry.state is State.COMPLETED
        known = then if done else known
        if any(one.severity == "error" for one in violations(table)) or bag(table) != known:
            raise Counterexample(f"after {type(effect).__name__} rows or soundness changed", table, story.lines())


def phases_of(table: Table, request: Request) -> Effects:
    """All effects of a write, as one that is alone has them."""
    begun, first = writers.begin(table, request, tick(501))
    table = perform(table, first)
    staged, second = writers.stage(table, begun)
    return *first, *second, *writers.commit(perform(table, second), staged, tick(502))


@obligation(
    "PO-171",
    "An aborted write leaves the table as it was, whenever it aborts",
    "OW-009 MK-001 MK-003",
    broken_by="abort-forgets-files marker-after-file",
)
@property_check
@given(story=stories(operations=[one for one in Operation if one is not Operation.PARTIAL_UPDATE], longest=3))
def aborted_leaves_nothing(story: Story) -> None:
    """Every prefix of begin and stage, then abort; folders that became partitions may stay."""
    *before, last = story.steps
    start = played(Story(story.shape, tuple(before)))
    begun, first = writers.begin(start, request_of(last), tick(501))
    _, second = writers.stage(perform(start, first), begun)
    effects = (*first, *second)
    for count in range(len(effects) + 1):
        table = perform(start, effects[:count])
        table = perform(table, writers.abort(table, begun))
        if replace(table, partitions=start.partitions) != start:
            raise Counterexample(f"something is left of a write aborted after {count} effects", table, story.lines())


@obligation(
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
    requests = [asked(Operation.UPSERT, [row("a", ts)], settings) for ts in rows]
    outcome = interleaved(seed(shape, settings), requests, order)
    if len(outcome.committed) != 1:
        raise Counterexample(f"{len(outcome.committed)} of 2 committed", outcome.table, told(requests, order))


@obligation(
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
    requests = [asked(Operation.UPSERT, [row("a", 1, note)]) for note in ("first", "second")]
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
        raise Counterexample(message, outcome.table, told(requests, order))


@obligation(
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
    begun = set(order[:first_commit])
    requests = [
        one if number in begun else replace(one, operation=Operation.UPSERT) for number, one in enumerate(requests)
    ]
    assume(len(begun) == len(requests) or all(one.operation is Operation.UPSERT for one in requests))
    outcome = interleaved(table, requests, order)
    refuse_unless_serial(table, requests, outcome, order, as_completed=True)


@obligation(
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


@obligation(
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
    requests = [gone, asked(Operation.INSERT, [row("new")], KEY_CHECK)]
    refuse_unless_serial(table, requests, interleaved(table, requests, order), order, as_completed=True)


@obligation(
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
        asked(Operation.UPSERT, [row("a"), {**row("b"), **gone}], KEY_CHECK),
        asked(Operation.UPSERT, [row("b"), {**row("a"), **gone}], KEY_CHECK),
    ]
    refuse_unless_serial(table, requests, interleaved(table, requests, order), order)


@obligation(
    "PO-178",
    "A partition and key have one file group, and with a global index a key has one in the table",
    "OW-020 OW-021 OW-022 OW-023 DM-001",
    broken_by="tagging-sees-nothing global-index-by-partition moved-row-stays-too",
    assumptions="released readings; writers one after another, no inserts and overwrites, which look no key up",
)
@property_check
@given(
    story=stories(SHAPES, (Operation.UPSERT, Operation.UPSERT, Operation.DELETE)),
    kind=st.sampled_from(("SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", "RECORD_INDEX", "BUCKET")),
    moves=st.sampled_from(("true", "false")),
)
def one_group_for_a_key(story: Story, kind: str, moves: str) -> None:
    """The rows of every slice, by where they are."""
    names = {f"hoodie.{name}.index.update.partition.path": moves for name in ("simple", "bloom", "record")}
    table = played(story, {**names, **BUCKETS, "hoodie.index.type": kind})
    places = list(held(table))
    if kind.startswith("GLOBAL") or kind == "RECORD_INDEX":
        places = [("", key) for _, key in places]
    if len(places) != len(set(places)):
        raise Counterexample(f"a key is there twice: {sorted(places)}", table, (kind, *story.lines()))


def held(table: Table) -> Iterable[tuple[str, str]]:
    """Partition and key of every row, as its meta fields say."""
    for one in read_snapshot(table, meta_columns=True).rows:
        yield str(one["_hoodie_partition_path"]), str(one["_hoodie_record_key"])


@obligation(
    "PO-179",
    "The same writes leave the same rows on copy-on-write and merge-on-read",
    "OW-015 TT-001 TT-002 MG-018",
    broken_by="copy-on-write-forgets-old-rows delete-writes-nothing",
    assumptions="the text's reading of MG-013 (as released, a delete does not shield from the base row)",
)
@property_check
@given(
    story=stories(operations=[one for one in Operation if one is not Operation.PARTIAL_UPDATE]),
    settings=st.sampled_from(({}, BUCKETS, {"hoodie.parquet.small.file.limit": "1"})),
)
def same_on_both_types(story: Story, settings: Mapping[str, str]) -> None:
    """Inserts bring keys that are new, since a log merges a repeated key and a base file keeps it."""
    steps = tuple(
        replace(one, operation=Operation.UPSERT) if is_plain_insert(one.operation) else one for one in story.steps
    )
    both = [
        bag(played(Story(replace(story.shape, table_type=kind), steps), settings), TEXT)
        for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    ]
    if both[0] != both[1]:
        raise Counterexample(
            f"copy-on-write {both[0]}, merge-on-read {both[1]}", None, Story(story.shape, steps).lines()
        )


def is_plain_insert(operation: Operation | None) -> bool:
    """Whether an operation adds rows without looking for their keys."""
    return operation in (Operation.INSERT, Operation.BULK_INSERT)


@obligation(
    "PO-180",
    "To combine rows of one key before an upsert changes nothing but how much is written",
    "OW-019 MG-017",
    broken_by="combine-keeps-the-first",
    assumptions="the text's reading of MG-013; merge modes, no payload class of its own",
)
@property_check
@given(
    shape=shapes(versions=(8, 9)),
    batches=st.lists(
        st.lists(
            st.builds(row, st.sampled_from(KEYS[:2]), st.integers(0, 3), st.sampled_from("xyz")), min_size=1, max_size=4
        ),
        min_size=1,
        max_size=3,
    ),
)
def combine_or_not(shape: Shape, batches: Sequence[Sequence[Row]]) -> None:
    """Upserts that hold a key more than once."""
    found = []
    for combines in ("true", "false"):
        settings = {"hoodie.combine.before.upsert": combines}
        requests = [asked(Operation.UPSERT, rows, settings) for rows in batches]
        found.append(bag(serially(new_table(shape), requests, range(len(requests))), TEXT))
    if found[0] != found[1]:
        lines = tuple(str([(one["id"], one["ts"], one["note"]) for one in rows]) for rows in batches)
        raise Counterexample(f"combined {found[0]}, as they came {found[1]}", None, (str(shape), *lines))


@obligation(
    "PO-181",
    "An upsert repeated changes no row",
    "OW-003 MG-002 MG-003 MG-004",
    broken_by="tagging-sees-nothing",
    assumptions="released readings",
)
@property_check
@given(story=stories(operations=(Operation.UPSERT,), longest=4), again=st.sampled_from(({}, BUCKETS)))
def upsert_is_idempotent(story: Story, again: Mapping[str, str]) -> None:
    """The last upsert once and twice."""
    once, twice = played(story, again), played(Story(story.shape, (*story.steps, story.steps[-1])), again)
    if bag(once) != bag(twice):
        raise Counterexample(f"once {bag(once)}, twice {bag(twice)}", twice, story.lines())


INSERTS = st.lists(
    st.lists(st.builds(row, st.sampled_from(KEYS), day=st.sampled_from(DAYS)), min_size=1, max_size=3).map(
        lambda rows: asked(Operation.INSERT, rows)
    ),
    min_size=2,
    max_size=3,
)


@obligation(
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
            f"refused {outcome.refused}; rows {bag(outcome.table)}", outcome.table, told(requests, order)
        )


@obligation(
    "PO-183",
    "If there are only inserts to the table, there are no conflicts",
    "OW-012 OW-028",
    refuted=True,
    holds_instead="PO-182",
    assumptions="writers fill up small files, as released ones do unless told otherwise",
)
def inserts_that_fill_files() -> None:
    """Two inserts of different keys choose the same small file."""
    small = {"hoodie.parquet.small.file.limit": "104857600"}
    requests = [asked(Operation.INSERT, [row(key)], small) for key in ("new", "newer")]
    order = (0, 1, 0, 1, 0, 1)
    outcome = interleaved(seed(Shape(table_type="COPY_ON_WRITE")), requests, order)
    if outcome.refused:
        raise Counterexample("an insert was refused", outcome.table, told(requests, order))


def streams(ts: st.SearchStrategy[int]) -> st.SearchStrategy[list[list[Row]]]:
    """What two or three non-blocking writers bring."""
    one = st.lists(
        st.builds(row, st.sampled_from(KEYS[:2]), ts), min_size=1, max_size=2, unique_by=lambda made: made["id"]
    )
    return st.lists(one, min_size=2, max_size=3)


@obligation(
    "PO-184",
    "Non-blocking writers never conflict and lose nothing: by event time the greatest value of each key is there",
    "SW-001 SW-002 SW-003 SW-005",
    broken_by="non-blocking-writers-check new-bucket-group-each-time event-time-ignores-ordering",
    assumptions="merge by event time, ordering values that differ, either order of logs",
)
@property_check
@given(brought=streams(st.integers(0, 1)), version=st.sampled_from((8, 9)), data=st.data())
def non_blocking_writers(brought: list[list[Row]], version: int, data: st.DataObject) -> None:
    """Writers in any order, into a table that is empty or not."""
    numbered = [
        [{**one, "ts": 10 * number + place} for place, one in enumerate(rows)] for number, rows in enumerate(brought)
    ]
    shuffled = data.draw(st.permutations(numbered))
    order = data.draw(orders(len(shuffled)))
    table = seed(Shape(version), NON_BLOCKING) if data.draw(st.booleans()) else new_table(Shape(version))
    outcome = interleaved(table, [asked(Operation.UPSERT, rows, NON_BLOCKING) for rows in shuffled], order)
    greatest = {one["id"]: one["ts"] for rows in numbered for one in rows}
    for readings in (RELEASED, TEXT):
        found = read_snapshot(outcome.table, readings).rows
        there = sorted((str(one["id"]), one["ts"]) for one in found if one["day"] == "d1" and one["id"] in greatest)
        if outcome.refused or there != sorted(greatest.items()):
            requests = [asked(Operation.UPSERT, rows, NON_BLOCKING) for rows in shuffled]
            raise Counterexample(f"rows {there}, brought {greatest}", outcome.table, told(requests, order))


@obligation(
    "PO-185",
    "The two orders of logs that RFC-66 states give one answer",
    "SW-005 RD-007",
    refuted=True,
    holds_instead="PO-184",
    assumptions="merge by commit time, or equal ordering values",
)
def one_order_of_logs() -> None:
    """By completion time, as the slicing sorts logs; by requested time, version and write token, as names compare."""
    order = (0, 1, 0, 1, 1, 0)
    requests = [asked(Operation.UPSERT, [row("a", 1, note)], NON_BLOCKING) for note in ("begun first", "begun last")]
    table = interleaved(new_table(Shape()), requests, order).table
    if bag(table, RELEASED) != bag(table, TEXT):
        message = f"requested time {bag(table, RELEASED)}, completion time {bag(table, TEXT)}"
        raise Counterexample(message, table, told(requests, order))


EXAMPLE = {"base@10": (10, 20), "log@21": (21, 40), "log@30": (30, 50), "base@60": (60, 80), "log@35": (35, 90)}
"""RFC-66's example of one file group: what was written when, requested and completed."""
SLICES = {"base@10": ["log@21", "log@30"], "base@60": ["log@35"]}
"""And the slices it gives."""


@obligation(
    "PO-186",
    "RFC-66's temporal order rules give its own slicing example",
    "SW-006 RD-006",
    refuted=True,
    holds_instead="PO-187",
)
def example_by_rules() -> None:
    """A log belongs to the last base file that it follows: the one requested before the log was (rule 1)."""
    refuse_other_slices(lambda base, log: base[0] < log[0])


@obligation(
    "PO-187",
    "A log belongs to the youngest slice requested before the log completed: RFC-66's slicing example, and the model's",
    "SW-006 RD-006",
    broken_by="logs-join-newest-slice log-slice-by-requested-time",
    exhaustive=True,
)
def example_by_completion() -> None:
    """By the rule itself, and by the model's file slicing."""
    refuse_other_slices(lambda base, log: base[0] < log[1])
    found = {one["base_instant"]: [name.split("_")[1][:17] for name in one["log_files"]] for one in sliced_example()}
    if found != {tick(60): [tick(35)]}:
        raise Counterexample(f"the newest slice is {found}")


def refuse_other_slices(follows: Callable[[tuple[int, int], tuple[int, int]], bool]) -> None:
    """Nothing, unless the example's slices are not those that a rule gives."""
    found: dict[str, list[str]] = {name: [] for name in EXAMPLE if name.startswith("base")}
    for name, times in EXAMPLE.items():
        bases = [one for one in found if follows(EXAMPLE[one], times)]
        if name.startswith("log"):
            found[max(bases, key=lambda one: EXAMPLE[one])].append(name)
    if found != SLICES:
        raise Counterexample(f"the rule gives {found}, the example {SLICES}", None, tuple(map(str, EXAMPLE.items())))


def sliced_example() -> list[dict[str, Any]]:
    """The example as a table: a bulk insert, three logs, and a compaction requested at 60."""
    table = new_table(Shape(mode=COMMIT_TIME))
    events = sorted((moment, name) for name, times in EXAMPLE.items() for moment in times)
    open_writes: dict[str, Write] = {}
    for moment, name in events:
        if name == "base@60":
            table = compacted(table, moment)
        elif moment == EXAMPLE[name][0]:
            request = asked(Operation.UPSERT, [row("a", note=name)], {"hoodie.write.concurrency.mode": "SINGLE_WRITER"})
            open_writes[name], effects = writers.begin(table, request, tick(moment))
            table = perform(table, effects)
            open_writes[name], effects = writers.stage(table, open_writes[name])
            table = perform(table, effects)
        else:
            table = perform(table, writers.commit(table, open_writes[name], tick(moment)))
    return list_file_slices(table)


def compacted(table: Table, moment: int) -> Table:
    """The compaction of the example: its plan at its request, its base file and commit at its completion."""
    requested, group = tick(EXAMPLE["base@60"][0]), snapshot_slices(view_at(open_table(table), None, RELEASED))[0]
    if moment == EXAMPLE["base@60"][0]:
        names = tuple(one.name for one in group.log_files)
        assert group.base_file
        planned = CompactionOperation(group.partition, group.file_id, group.base_instant, group.base_file.name, names)
        plan = CompactionPlan((planned,))
        return perform(
            table, (entry(Action.COMPACTION, State.REQUESTED, plan), entry(Action.COMPACTION, State.INFLIGHT, None))
        )
    name = base_file_name(group.file_id, "0-1-0", requested)
    file = BaseFile(group.partition, group.file_id, "0-1-0", requested, "parquet", name, ())
    return perform(
        table, (PutBaseFile(file), entry(Action.COMMIT, State.COMPLETED, CommitMetadata("COMPACT", compacted=True)))
    )


def entry(action: Action, state: State, content: CompactionPlan | CommitMetadata | None) -> CreateInstant:
    """A timeline file of the example's compaction."""
    requested, completed = map(tick, EXAMPLE["base@60"])
    done = completed if state is State.COMPLETED else None
    name = timeline_file_name(requested, action, state, done, 2)
    return CreateInstant(TimelineEntry(requested, action, state, done, content, name))


@obligation(
    "PO-188",
    "Two optimistic writers that open the same bucket never both commit",
    "OW-005 OW-023",
    broken_by="buckets-conflict-by-file-id overlap-not-checked",
    exhaustive=True,
    assumptions="every interleaving of two writers",
)
def buckets_opened_twice() -> None:
    """Each opens a file group of its own for the bucket, in an empty table."""
    requests = [asked(Operation.UPSERT, [row("a", 1, note)], BUCKETS) for note in ("first", "second")]
    for order in sorted(set(permutations((0, 0, 0, 1, 1, 1)))):
        for version in (6, 8, 9):
            outcome = interleaved(new_table(Shape(version)), requests, order)
            if len(bag(outcome.table)) != 1:
                raise Counterexample("the bucket has two file groups", outcome.table, told(requests, order))


@obligation(
    "PO-189",
    "A write that was rolled back never commits",
    "OW-008",
    broken_by="rolled-back-writer-commits",
    exhaustive=True,
)
def rolled_back_never_commits() -> None:
    """Someone takes the writer for dead and undoes it after its files are there; then it comes back."""
    for version, kind in product((6, 8, 9), ("COPY_ON_WRITE", "MERGE_ON_READ")):
        table = seed(Shape(version, kind))
        begun, effects = writers.begin(table, asked(Operation.UPSERT, [row("a", 9)]), tick(501))
        table = perform(table, effects)
        staged, effects = writers.stage(table, begun)
        table = perform(table, effects)
        table = perform(table, writers.abort(table, staged))
        try:
            writers.commit(table, staged, tick(502))
        except Rejection:
            continue
        raise Counterexample("the write commits without its files", table)


@obligation(
    "PO-190",
    "A write never commits over a compaction or clustering of its file groups that was planned since it began",
    "OW-006 OW-011",
    broken_by="plans-never-conflict every-plan-conflicts",
    exhaustive=True,
    assumptions="compactions; plans before and after the write began, pending or completed",
)
def plans_in_the_way() -> None:
    """A compaction planned before the write began is in nobody's way; one planned since is, done or not."""
    for version, late, done in product((6, 8, 9), (False, True), (False, True)):
        table = seed(Shape(version))
        moments = {"plan": 502 if late else 500, "begin": 501, "stage": 503, "finish": 504}
        for step in sorted(moments, key=lambda name: moments[name]):
            if step == "plan":
                table = perform(table, plan_for_all(table, moments[step]))
            elif step == "begin":
                begun, effects = writers.begin(table, asked(Operation.UPSERT, [row("a", 9)]), tick(501))
                table = perform(table, effects)
            elif step == "stage":
                begun, effects = writers.stage(table, begun)
                table = perform(table, effects)
            elif done:
                table = perform(table, completed_plan(table, moments["plan"]))
        if commits(table, begun) is late:
            raise Counterexample(
                f"version {version}: planned {'since' if late else 'before'}, the write is judged wrongly", table
            )


def plan_for_all(table: Table, moment: int) -> Effects:
    """A compaction requested for every file group."""
    slices = snapshot_slices(view_at(open_table(table), None, RELEASED))
    bases = {(one.partition, one.file_id): one.base_file.name for one in slices if one.base_file}
    operations = (CompactionOperation(*group_of_slice, tick(0), name, ()) for group_of_slice, name in bases.items())
    name = timeline_file_name(tick(moment), Action.COMPACTION, State.REQUESTED, None, 2)
    plan = CompactionPlan(tuple(operations))
    return (CreateInstant(TimelineEntry(tick(moment), Action.COMPACTION, State.REQUESTED, None, plan, name)),)


def completed_plan(table: Table, moment: int) -> Effects:
    """The compaction's commit, as far as conflicts need it."""
    stats = [one.content for one in table.timeline if one.requested == tick(moment)]
    assert isinstance(stats[0], CompactionPlan)
    groups = frozenset((one.partition, one.file_id) for one in stats[0].operations)
    content = CommitMetadata("COMPACT", compacted=True, replaced=groups)
    name = timeline_file_name(tick(moment), Action.COMMIT, State.COMPLETED, tick(600), 2)
    return (CreateInstant(TimelineEntry(tick(moment), Action.COMMIT, State.COMPLETED, tick(600), content, name)),)


def commits(table: Table, staged: Write) -> bool:
    """Whether a write may commit now."""
    try:
        writers.commit(table, staged, tick(700))
    except Rejection:
        return False
    return True


@obligation(
    "PO-191",
    "Writers whose markers name no common file group are never refused for overlap, those that do always are",
    "OW-029 MK-006",
    broken_by="markers-name-no-group",
    assumptions="two writers that have staged their files before either commits; released readings",
)
@property_check
@given(shape=SHAPES, requests=st.lists(changes(), min_size=2, max_size=2))
def markers_tell_early(shape: Shape, requests: Sequence[Request]) -> None:
    """What the second writer could have known when it had staged its files, and what it is told at commit."""
    table, staged = seed(shape), list[Write]()
    for number, request in enumerate(requests):
        begun, effects = writers.begin(table, request, tick(501 + number))
        table = perform(table, effects)
        staged.append(begun)
    for number in (0, 1):
        staged[number], effects = writers.stage(table, staged[number])
        table = perform(table, effects)
    early = bool(conflicts.marker_conflicts(table, staged[1]))
    table = perform(table, writers.commit(table, staged[0], tick(510)))
    if early is commits(table, staged[1]):
        raise Counterexample(
            f"markers say conflict: {early}, the commit does not", table, told(requests, (0, 1, 0, 1, 0, 1))
        )


@obligation(
    "PO-192",
    "Writers that lock their file groups before they write are never refused at commit",
    "LK-001 LK-005",
    broken_by="locks-are-shared",
    assumptions="leases that do not end; keys that are there; who gets no lock begins anew later",
)
@property_check
@given(shape=SHAPES, requests=st.lists(changes(), min_size=2, max_size=3))
def pessimistic_writers(shape: Shape, requests: Sequence[Request]) -> None:
    """All begin; each stages if it gets its locks; the others begin anew when those have committed."""
    table, taken = seed(shape), dict[tuple[str, str], Lease]()
    ready = list[Write]()
    for number, request in enumerate(requests):
        begun, effects = writers.begin(table, request, tick(501 + number))
        staged, more = writers.stage(perform(table, effects), begun)
        assert staged.metadata
        groups = {(one.partition, one.file_id) for one in staged.metadata.write_stats}
        try:
            taken = dict(locks.acquire_groups(taken, groups, str(number), tick(600), tick(999)))
        except Rejection:
            continue
        table = perform(table, (*effects, *more))
        ready.append(staged)
    for number, one in enumerate(ready):
        if not commits(table, one):
            raise Counterexample("a writer that held its locks was refused", table)
        table = perform(table, writers.commit(table, one, tick(700 + number)))


@obligation(
    "PO-193",
    "At every moment at most one process may act as holder of a lock",
    "LK-001 LK-002",
    broken_by="locks-are-shared lost-lease-still-counts",
    exhaustive=True,
    assumptions="two processes, every schedule of taking and acting in five ticks, leases of two",
)
def one_holder() -> None:
    """Each tick one process takes the lock, or nobody does; who may act is who was given a lease that runs."""
    for schedule in product((None, "a", "b"), repeat=5):
        lease: Lease | None = None
        given_until: dict[str, InstantTime] = {}
        for now, process in enumerate(schedule):
            if process and may(partial(locks.acquire, lease, process, tick(now), tick(now + 2))):
                lease = locks.acquire(lease, process, tick(now), tick(now + 2))
                given_until[process] = lease.until
            acting = [one for one in ("a", "b") if may(partial(locks.refuse_lost, lease, one, tick(now)))]
            believing = sorted(one for one, until in given_until.items() if tick(now) <= until)
            if len(believing) > 1 or acting != believing:
                raise Counterexample(
                    f"at {now} {acting} act, {believing} were told so", None, tuple(map(str, schedule))
                )


def may(act: Callable[[], object]) -> bool:
    """Whether an act is not refused."""
    try:
        act()
    except Rejection:
        return False
    return True


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


def schedules() -> st.SearchStrategy[tuple[int, ...]]:
    """Two writers and a compaction in any order, the plan before it is carried out."""
    return (
        st.permutations((0, 0, 0, 1, 1, 1, PLAN, RUN)).map(tuple).filter(lambda one: one.index(PLAN) < one.index(RUN))
    )


@obligation(
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
    order=schedules(),
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


@obligation(
    "PO-195",
    "Non-blocking writers and a compaction never refuse each other and lose nothing, however they overlap",
    "SW-003 SW-005 SW-006",
    broken_by="log-slice-by-requested-time",
    assumptions="merge by event time, ordering values that differ, one compaction",
)
@property_check
@given(keys=st.lists(st.sampled_from(KEYS[:2]), min_size=2, max_size=2), turned=st.booleans(), order=schedules())
def non_blocking_beside_compaction(keys: Sequence[str], turned: bool, order: Sequence[int]) -> None:
    """Logs that complete after the plan join the slice that it opens."""
    values = (7, 8) if turned else (8, 7)
    requests = [asked(Operation.UPSERT, [row(key, ts)], NON_BLOCKING) for key, ts in zip(keys, values, strict=True)]
    outcome = beside_service(seed(Shape(), NON_BLOCKING), requests, order, compaction)
    greatest = {key: max(ts for one, ts in zip(keys, values, strict=True) if one == key) for key in keys}
    there = {(one["id"], one["ts"]) for one in read_snapshot(outcome.table).rows if one["day"] == "d1"}
    if outcome.refused or not set(greatest.items()) <= there:
        raise Counterexample(f"rows {sorted(there)}, brought {greatest}", outcome.table, (str(order),))


@obligation(
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
                asked(Operation.UPSERT, [row("a", 9, day=day)]),
                Request(Operation.DELETE_PARTITION, (), (day,)),
            ):
                begun, effects = writers.begin(table, request, tick(501))
                refused = not may(partial(writers.stage, perform(table, effects), begun))
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


@obligation(
    "PO-197",
    "The bucket of a key is that of Java's hash of the list that holds it",
    "OW-022",
    broken_by="bucket-hash-keeps-its-sign",
    exhaustive=True,
    assumptions="texts whose Java hash is known, of both signs and outside the basic plane",
)
def buckets_as_in_java() -> None:
    """`polygenelubricants` is known for the least hash there is, -2^31."""
    known = {
        ("",): 31,
        ("a",): 128,
        ("a", "b"): 4066,
        ("polygenelubricants",): 31 - 2**31,
        ("\U0001f6b2",): 31 + 1773077,
    }
    for values, hashed in known.items():
        for buckets in range(1, 300):
            found = tagging.bucket_of(values, buckets)
            if found != (hashed & 0x7FFFFFFF) % buckets:
                raise Counterexample(f"{values}: bucket {found} of {buckets}")


@obligation(
    "PO-198",
    "Writes do to a table what they do to a plain dictionary",
    "OW-012 OW-013 OW-014 OW-018 DM-001",
    broken_by="overwrite-keeps-old-groups tagging-sees-nothing copy-on-write-forgets-old-rows",
    assumptions="one after another; copy-on-write, or merge-on-read by commit time; no plain inserts",
)
@property_check
@given(
    story=stories(
        st.one_of(shapes(types=("COPY_ON_WRITE",)), shapes(modes=(COMMIT_TIME,))),
        [one for one in Operation if not is_plain_insert(one) and one is not Operation.PARTIAL_UPDATE],
    )
)
def as_a_dictionary(story: Story) -> None:
    """The dictionary knows nothing of files."""
    table = played(story)
    try:
        found = rows_of(table)
    except ValueError as doubled:
        raise Counterexample(str(doubled), table, story.lines()) from None
    if found != remembered(story):
        raise Counterexample(f"rows {found}, remembered {remembered(story)}", table, story.lines())


@obligation(
    "PO-199",
    "A row keeps the commit time of the write that brought it, and names the file it lies in",
    "MF-010 MF-013 OW-015",
    broken_by="carried-row-gets-new-time",
    assumptions="released readings; upserts and deletes",
)
@property_check
@given(story=stories(shapes(types=("COPY_ON_WRITE",)), longest=4))
def rows_keep_their_commit(story: Story) -> None:
    """Rows that the last step did not bring are as they were but for their file."""
    before = {row_id(one): one for one in meta_rows(played(Story(story.shape, story.steps[:-1])))}
    table = played(story)
    files = {base.name: base for base in table.base_files}
    brought = {(one["id"], one["day"]) for one in story.steps[-1].rows}
    for one in meta_rows(table):
        old = before.get(row_id(one), {})
        is_old = (one["id"], one["day"]) not in brought
        kept = not is_old or one["_hoodie_commit_time"] == old.get("_hoodie_commit_time")
        if not kept or one["_hoodie_file_name"] not in files:
            raise Counterexample(f"{one} was {old}", table, story.lines())


def meta_rows(table: Table) -> list[dict[str, Any]]:
    """The rows of a snapshot with their meta fields."""
    return [dict(one) for one in read_snapshot(table, meta_columns=True).rows]


def row_id(one: Mapping[str, Any]) -> tuple[str, str]:
    """What tells a row in its table."""
    return str(one["_hoodie_partition_path"]), str(one["_hoodie_record_key"])
