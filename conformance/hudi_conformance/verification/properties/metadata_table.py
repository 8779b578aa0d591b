"""The metadata table says what storage says, at every moment and whoever dies."""

import importlib
from dataclasses import replace

from hudi_model import metadata, writers
from hudi_model.actions import State
from hudi_model.effects import CommitMetadataTable, CreateInstant, Effects, perform
from hudi_model.files import Record
from hudi_model.metadata import valid
from hudi_model.requests import Operation, Request
from hudi_model.services import archival, indexing, rollback
from hudi_model.tables import RELEASED, TEXT, Readings, Table
from hudi_model.time import tick
from hudi_model_tools.checks.metadata import metadata_differences
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    Shape,
    Step,
    Story,
    new_table,
    request_of,
    shapes,
    stories,
    taken,
)
from hudi_conformance.verification.properties.indexed_tables import (
    EAGER,
    GLOBAL,
    HISTORIES,
    INDEXED,
    LAST,
    OPERATIONS,
    SERVICES,
    everything,
    indexed,
    refuse_stale,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


def write_effects(table: Table, request: Request) -> Effects:
    """All effects of a write."""
    started_write, first = writers.begin(table, request, tick(LAST))
    staged, second = writers.stage(perform(table, first), started_write)
    return *first, *second, *writers.commit(perform(table, (*first, *second)), staged, tick(LAST + 1))


def service_effects(table: Table, service: str) -> Effects:
    """All effects of a service with work to do."""
    module = importlib.import_module(f"hudi_model.services.{service}")
    first: Effects = module.schedule(table, tick(LAST), EAGER)
    return (*first, *module.execute(perform(table, first), tick(LAST), tick(LAST + 1))) if first else ()


@model_property(
    "PO-300",
    "The metadata table says what storage and rows say after every completed action, of writes and of services",
    "MT-003 MT-005 MT-010 MT-011 MT-014",
    broken_by="stale-entries-kept unpartitioned-without-name",
)
@property_check
@given(story=HISTORIES)
def equals_storage(story: Story) -> None:
    """After each step of a story."""
    indexed(story, after=lambda table: refuse_stale(table, story, "after a step"))


@model_property(
    "PO-301",
    "Neither a write that dies at any moment nor its rollback, begun and done again, makes the metadata table wrong",
    "MT-003 MT-004 MT-006 RB-011",
    broken_by="uncommitted-metadata-used metadata-after-data",
)
@property_check
@given(story=stories(shapes(), OPERATIONS, longest=3), cut=st.integers(0, 30), left=st.integers(0, 8))
def survives_crashes(story: Story, cut: int, left: int) -> None:
    """The last write stops after some of its effects; the rollback of it stops too, and is repeated."""
    *before, last = story.steps
    table = indexed(Story(story.shape, tuple(before)))
    effects = write_effects(table, request_of(last, GLOBAL))
    table = perform(table, effects[: cut % (len(effects) + 1)])
    refuse_stale(table, story, f"after {cut % (len(effects) + 1)} of {len(effects)} effects")
    for one in rollback.failed_writes(table, tick(LAST + 2), {"hoodie.clean.failed.writes.policy": "EAGER"}):
        undone = rollback.roll_back(table, one, tick(LAST + 3), tick(LAST + 4), {})
        table = perform(table, undone[:left])
        if rollback.pending_rollback(table, one) or any(entry.requested == one for entry in table.timeline):
            table = perform(table, rollback.roll_back(table, one, tick(LAST + 3), tick(LAST + 4), {}))
        refuse_stale(table, story, f"after a rollback that stopped after {left} effects")


@model_property(
    "PO-318",
    "The metadata table lists the logs by which a rollback of version 6 takes blocks back, whichever attempt wrote",
    "MT-010 RB-007 RB-011",
    broken_by="rollback-logs-unlisted",
)
@property_check
@given(story=stories(shapes((6,), ("MERGE_ON_READ",)), (Operation.UPSERT,), longest=3), left=st.integers(0, 8))
def lists_commands(story: Story, left: int) -> None:
    """The last write dies before it completes."""
    *before, last = story.steps
    table = indexed(Story(story.shape, tuple(before)))
    effects = write_effects(table, request_of(last, GLOBAL))
    table = perform(table, effects[: next(number for number, one in enumerate(effects) if is_completion(one))])
    undone = rollback.roll_back(table, tick(LAST), tick(LAST + 3), tick(LAST + 4), {})
    table = perform(table, undone[: min(left, len(undone) - 3)])
    table = perform(table, rollback.roll_back(table, tick(LAST), tick(LAST + 3), tick(LAST + 4), {}))
    refuse_stale(table, story, f"after a rollback that stopped after {left} effects")


@model_property(
    "PO-302",
    "A service that dies at any moment and is done again leaves the metadata table right",
    "MT-003 MT-004 MT-006",
    broken_by="metadata-after-data stale-entries-kept",
)
@property_check
@given(story=stories(shapes(), OPERATIONS, longest=4), service=st.sampled_from(SERVICES))
def services_survive_crashes(story: Story, service: str) -> None:
    """A compaction, a clustering or a clean after a story; only what a clean is removing may still be listed."""
    before = indexed(story)
    effects = serviced(before, story, service)
    for cut in range(len(effects) + 1):
        table = perform(before, effects[:cut])
        if service != "cleaning":
            refuse_stale(table, story, f"{service} stopped after {cut} effects")
        if any(one.requested == tick(LAST) for one in table.timeline):
            module = importlib.import_module(f"hudi_model.services.{service}")
            table = perform(table, module.execute(table, tick(LAST), tick(LAST + 2)))
        refuse_stale(table, story, f"{service} stopped after {cut} effects and done again")


@model_property(
    "PO-303",
    "The metadata table commits before the action that it records, under the same instant",
    "MT-003 MT-004",
    broken_by="metadata-after-data",
)
@property_check
@given(story=stories(shapes(), OPERATIONS, longest=3), service=st.sampled_from(SERVICES))
def metadata_first(story: Story, service: str) -> None:
    """The effects of the last write, or of a service after it."""
    *before, last = story.steps
    table = indexed(Story(story.shape, tuple(before)))
    for effects in (write_effects(table, request_of(last, GLOBAL)), serviced(indexed(story), story, service)):
        kinds = [one for one in effects if isinstance(one, CommitMetadataTable) or is_completion(one)]
        if effects and (len(kinds) != 2 or not isinstance(kinds[0], CommitMetadataTable)):
            raise Counterexample(f"{[type(one).__name__ for one in kinds]}", None, story.lines())
        for one in kinds[:1]:
            assert isinstance(one, CommitMetadataTable)
            assert one.table is not None
            if not any(
                entry.requested == tick(LAST) and entry.state == State.COMPLETED for entry in one.table.timeline
            ):
                raise Counterexample("no deltacommit has the action's instant", one.table, story.lines())


def serviced(table: Table, story: Story, service: str) -> Effects:
    """The effects of a service that goes with the table's type."""
    return (
        () if service == "compaction" and story.shape.table_type == "COPY_ON_WRITE" else service_effects(table, service)
    )


def is_completion(effect: object) -> bool:
    """Whether an effect makes an action count."""
    return isinstance(effect, CreateInstant) and effect.entry.state is State.COMPLETED


@model_property(
    "PO-312",
    "What the metadata table holds of a write that has not completed is never used",
    "MT-006",
    broken_by="uncommitted-metadata-used",
)
@property_check
@given(story=stories(shapes(), OPERATIONS, longest=4))
def uncommitted_is_unseen(story: Story) -> None:
    """The last write dies between the two commits; then an other goes on."""
    *before, last = story.steps
    table = indexed(Story(story.shape, tuple(before)))
    known, effects = everything(table), write_effects(table, request_of(last, GLOBAL))
    place = next(number for number, one in enumerate(effects) if is_completion(one))
    table = perform(table, effects[:place])
    if everything(table) != known:
        raise Counterexample("the metadata of a pending write is used", table, story.lines())
    step = Step(Operation.UPSERT, ({"id": "new", "day": "d1", "ts": 9, "note": "one"},))
    refuse_stale(taken(table, step, LAST + 10, GLOBAL), story, "after another write")


@model_property(
    "PO-313",
    "Compaction and archival of the metadata table, and archival of the table itself, change nothing that it says",
    "MT-006 MT-015 MT-016",
    broken_by="uncommitted-metadata-used",
)
@property_check
@given(story=stories(shapes(), OPERATIONS, longest=5), settings=st.sampled_from((1, 2)))
def maintained(story: Story, settings: int) -> None:
    """A write that died leaves its metadata; then both timelines shrink."""
    table = indexed(story)
    effects = write_effects(
        table, request_of(Step(Operation.UPSERT, ({"id": "new", "day": "d1", "ts": 9, "note": "x"},)), GLOBAL)
    )
    known = everything(table)
    place = next(number for number, one in enumerate(effects) if is_completion(one))
    table = perform(table, effects[:place])
    table = perform(table, indexing.compact(table, tick(LAST + 3), tick(LAST + 4), EAGER))
    if everything(table) != known:
        raise Counterexample("compaction changed what the metadata table says", table, story.lines())
    keep = {"hoodie.keep.min.commits": str(settings), "hoodie.keep.max.commits": str(settings + 1)}
    own = valid(table)
    table = replace(
        table, metadata=perform(own, archival.archive(own, {**keep, "hoodie.clean.commits.retained": "1"}, table))
    )
    table = perform(table, archival.archive(table, {**keep, "hoodie.clean.commits.retained": "1"}))
    if everything(table) != known:
        raise Counterexample("archival changed what the metadata table says", table, story.lines())


def overlapping(readings: Readings) -> None:
    """A began first and completes last; both write to one partition, B with the smaller values.

    Raises:
        Counterexample: the metadata table says what is not so.

    """
    table = new_table(Shape())
    table = perform(table, metadata.configured_effects(table, INDEXED))
    rows = [Record({"id": key, "day": "d1", "ts": ts, "note": key}) for key, ts in (("a", 9), ("b", 1))]
    requests = [Request(Operation.UPSERT, (one,)) for one in rows]
    started_writes = []
    for number, request in enumerate(requests):
        write, effects = writers.begin(table, request, tick(number + 1))
        table = perform(table, effects)
        started_writes.append(write)
    for number in (1, 0):
        write, effects = writers.stage(table, started_writes[number])
        table = perform(table, effects)
        table = perform(table, writers.commit(table, write, tick(10 - number)))
    wrong = metadata_differences(table, readings)
    if wrong:
        raise Counterexample(f"of two writers that overlapped, {wrong[0]} is that of the first to complete", table)


@model_property(
    "PO-314",
    "The statistics of a partition bound its values, in whatever order overlapping writers complete",
    "MT-014 RD-007",
    refuted=True,
    holds_instead="PO-315",
    assumptions="the logs of the metadata table are merged as released, by requested time",
)
def overlapping_as_released() -> None:
    """The newer tight bounds stand before the older ones."""
    overlapping(RELEASED)


@model_property(
    "PO-315",
    "With logs merged by completion time the metadata table is right, in whatever order overlapping writers complete",
    "MT-014 RD-007",
    broken_by="stale-entries-kept-by-overlap",
    assumptions="the logs of the metadata table are merged as the text has it, by completion time",
    exhaustive=True,
)
def overlapping_by_completion() -> None:
    """The same two writers."""
    overlapping(TEXT)
