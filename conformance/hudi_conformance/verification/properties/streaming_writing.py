"""Non-blocking writers: buckets, streams, and the slices and the order of their logs."""

from collections.abc import Callable
from typing import Any

from hudi_model import tagging, writers
from hudi_model.actions import Action, CommitMetadata, CompactionOperation, CompactionPlan, State, TimelineEntry
from hudi_model.effects import CreateInstant, PutBaseFile, base_file_name, perform, timeline_file_name
from hudi_model.files import BaseFile
from hudi_model.queries import list_file_slices, read_snapshot
from hudi_model.requests import Operation, Write
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, TEXT, Table, open_table, view_at
from hudi_model.time import tick
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import COMMIT_TIME, KEYS, Row, Shape, new_table
from hudi_conformance.verification.properties.interleaved_writers import (
    NON_BLOCKING,
    bag,
    describe_schedule,
    interleaved,
    orders,
    row,
    seed,
    write_request,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


def streams(ts: st.SearchStrategy[int]) -> st.SearchStrategy[list[list[Row]]]:
    """What two or three non-blocking writers bring."""
    one = st.lists(
        st.builds(row, st.sampled_from(KEYS[:2]), ts), min_size=1, max_size=2, unique_by=lambda made: made["id"]
    )
    return st.lists(one, min_size=2, max_size=3)


@model_property(
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
    outcome = interleaved(table, [write_request(Operation.UPSERT, rows, NON_BLOCKING) for rows in shuffled], order)
    greatest = {one["id"]: one["ts"] for rows in numbered for one in rows}
    for readings in (RELEASED, TEXT):
        found = read_snapshot(outcome.table, readings).rows
        there = sorted((str(one["id"]), one["ts"]) for one in found if one["day"] == "d1" and one["id"] in greatest)
        if outcome.refused or there != sorted(greatest.items()):
            requests = [write_request(Operation.UPSERT, rows, NON_BLOCKING) for rows in shuffled]
            raise Counterexample(f"rows {there}, brought {greatest}", outcome.table, describe_schedule(requests, order))


@model_property(
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
    requests = [
        write_request(Operation.UPSERT, [row("a", 1, note)], NON_BLOCKING) for note in ("begun first", "begun last")
    ]
    table = interleaved(new_table(Shape()), requests, order).table
    if bag(table, RELEASED) != bag(table, TEXT):
        message = f"requested time {bag(table, RELEASED)}, completion time {bag(table, TEXT)}"
        raise Counterexample(message, table, describe_schedule(requests, order))


EXAMPLE = {"base@10": (10, 20), "log@21": (21, 40), "log@30": (30, 50), "base@60": (60, 80), "log@35": (35, 90)}
"""RFC-66's example of one file group: what was written when, requested and completed."""
SLICES = {"base@10": ["log@21", "log@30"], "base@60": ["log@35"]}
"""And the slices it gives."""


@model_property(
    "PO-186",
    "RFC-66's temporal order rules give its own slicing example",
    "SW-006 RD-006",
    refuted=True,
    holds_instead="PO-187",
)
def example_by_rules() -> None:
    """A log belongs to the last base file that it follows: the one requested before the log was (rule 1)."""
    refuse_other_slices(lambda base, log: base[0] < log[0])


@model_property(
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
            request = write_request(
                Operation.UPSERT, [row("a", note=name)], {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
            )
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


@model_property(
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
