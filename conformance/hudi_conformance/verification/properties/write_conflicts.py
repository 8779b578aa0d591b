"""When a writer is refused, and how markers tell early and locks spare it."""

from collections.abc import Sequence
from functools import partial
from itertools import permutations, product

from hudi_model import conflicts, writers
from hudi_model.actions import Action, CommitMetadata, CompactionOperation, CompactionPlan, State, TimelineEntry
from hudi_model.effects import CreateInstant, Effects, perform, timeline_file_name
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation, Request, Write
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, Table, open_table, view_at
from hudi_model.time import InstantTime, tick
from hudi_model_tools import locks
from hudi_model_tools.locks import Lease
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import Shape, new_table
from hudi_conformance.verification.properties.interleaved_writers import (
    BUCKETS,
    SHAPES,
    bag,
    changes,
    describe_schedule,
    interleaved,
    may,
    row,
    seed,
    write_request,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


@model_property(
    "PO-188",
    "Two optimistic writers that open the same bucket never both commit",
    "OW-005 OW-023",
    broken_by="buckets-conflict-by-file-id overlap-not-checked",
    exhaustive=True,
    assumptions="every interleaving of two writers",
)
def buckets_opened_twice() -> None:
    """Each opens a file group of its own for the bucket, in an empty table."""
    requests = [write_request(Operation.UPSERT, [row("a", 1, note)], BUCKETS) for note in ("first", "second")]
    for order in sorted(set(permutations((0, 0, 0, 1, 1, 1)))):
        for version in (6, 8, 9):
            outcome = interleaved(new_table(Shape(version)), requests, order)
            if len(bag(outcome.table)) != 1:
                raise Counterexample(
                    "the bucket has two file groups", outcome.table, describe_schedule(requests, order)
                )


@model_property(
    "PO-189",
    "A write that was rolled back never commits",
    "OW-008",
    broken_by="rolled-back-writer-commits",
    exhaustive=True,
)
def rolled_back_never_commits() -> None:
    """Someone takes the writer for failed and undoes it after its files are there; then it comes back."""
    for version, kind in product((6, 8, 9), ("COPY_ON_WRITE", "MERGE_ON_READ")):
        table = seed(Shape(version, kind))
        started_write, effects = writers.begin(table, write_request(Operation.UPSERT, [row("a", 9)]), tick(501))
        table = perform(table, effects)
        staged, effects = writers.stage(table, started_write)
        table = perform(table, effects)
        table = perform(table, writers.abort(table, staged))
        try:
            writers.commit(table, staged, tick(502))
        except Rejection:
            continue
        raise Counterexample("the write commits without its files", table)


@model_property(
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
                started_write, effects = writers.begin(table, write_request(Operation.UPSERT, [row("a", 9)]), tick(501))
                table = perform(table, effects)
            elif step == "stage":
                started_write, effects = writers.stage(table, started_write)
                table = perform(table, effects)
            elif done:
                table = perform(table, completed_plan(table, moments["plan"]))
        if commits(table, started_write) is late:
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


@model_property(
    "PO-191",
    "Writers whose markers name no common file group are never refused for overlap, those that do always are",
    "OW-029 MK-006",
    broken_by="markers-name-no-group",
    assumptions="two writers that have staged their files before either commits; released readings",
)
@property_check
@given(shape=SHAPES, requests=st.lists(changes(), min_size=2, max_size=2))
def markers_show_conflicts_early(shape: Shape, requests: Sequence[Request]) -> None:
    """What the second writer could have known when it had staged its files, and what it learns at commit."""
    table, staged = seed(shape), list[Write]()
    for number, request in enumerate(requests):
        started_write, effects = writers.begin(table, request, tick(501 + number))
        table = perform(table, effects)
        staged.append(started_write)
    for number in (0, 1):
        staged[number], effects = writers.stage(table, staged[number])
        table = perform(table, effects)
    early = bool(conflicts.marker_conflicts(table, staged[1]))
    table = perform(table, writers.commit(table, staged[0], tick(510)))
    if early is commits(table, staged[1]):
        raise Counterexample(
            f"markers say conflict: {early}, the commit does not",
            table,
            describe_schedule(requests, (0, 1, 0, 1, 0, 1)),
        )


@model_property(
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
        started_write, effects = writers.begin(table, request, tick(501 + number))
        staged, more = writers.stage(perform(table, effects), started_write)
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


@model_property(
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
                    f"at {now} {acting} act, {believing} were given so", None, tuple(map(str, schedule))
                )
