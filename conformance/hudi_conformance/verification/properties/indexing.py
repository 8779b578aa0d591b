"""Indexing: it changes no row, and an index that is built later or anew is the one that was kept."""

from dataclasses import replace
from typing import Any

from hudi_model import metadata, writers
from hudi_model.actions import IndexPlan, State
from hudi_model.effects import CommitMetadataTable, perform
from hudi_model.metadata import valid
from hudi_model.requests import Operation, Request
from hudi_model.services import indexing
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data
from hudi_model.writers import begin
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import Story, played, request_of, shapes, stories, taken
from hudi_conformance.verification.properties.indexed_tables import (
    DEFINED,
    FILTERS,
    HISTORIES,
    INDEXED,
    LAST,
    LISTED,
    PARTITIONED,
    everything,
    indexed,
    refuse_pruned_away,
    refuse_stale,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check
from hudi_conformance.verification.properties.service_checks import (
    AGAIN,
    BEFORE,
    DONE,
    PLAN,
    SOON,
    all_keys,
    busy_of_both_types,
    prefixes,
    refuse_change,
    rows_and_origins,
    try_write,
)

WANTED = {"hoodie.metadata.index.column.stats.enable": "true", "hoodie.metadata.record.index.enable": "true"}


def hollow(table: Table, _plan: IndexPlan) -> Table:
    """A metadata table that stands for one with the partitions: what they hold is not this rule's concern."""
    return replace(table, metadata=None)


@model_property(
    "PO-204",
    "Indexing never changes the table; an index counts once it is there and holds all that completed before",
    "IG-001 IG-002 IG-003 IG-004 IG-005 IG-006",
    assumptions="whatever the partitions hold",
    broken_by="index-used-before-it-is-whole index-stops-at-its-plan index-plan-skips-a-gap",
)
@property_check
@given(story=busy_of_both_types("compaction"), gap=st.booleans(), later=st.booleans())
def _indexing_keeps_the_table(story: Story, *, gap: bool, later: bool) -> None:
    table = played(story)
    done = [one.requested for one in completed_data(open_table(table).timeline)]
    if gap:
        table = perform(table, begin(table, Request(Operation.UPSERT), tick(BEFORE))[1])
        table = try_write(table, all_keys("d2"), BEFORE + 1)
    table = perform(table, indexing.schedule(table, PLAN, WANTED))
    planned = [one.content for one in table.timeline if isinstance(one.content, IndexPlan)]
    if [one.upto for one in planned] != done[-1:] if done else planned:
        raise Counterexample(f"planned {planned}, completed without a gap are {done}", table, story.lines())
    if not done:
        return
    table = try_write(table, all_keys("d1"), SOON) if later and not gap else table
    last = max(one.requested for one in completed_data(open_table(table).timeline)) if later and not gap else done[-1]
    expected = rows_and_origins(table)
    for left in prefixes(table, indexing.execute(table, PLAN, DONE, hollow)):
        for one in (left, perform(left, indexing.execute(left, PLAN, AGAIN, hollow))):
            refuse_change(one, expected, story, "indexing")
            check_index(one, last)


def check_index(table: Table, last: InstantTime) -> None:
    """Nothing, unless a partition is used that is not there, or the completed entry states less than it should."""
    used = open_table(table).configuration.properties.get("hoodie.table.metadata.partitions")
    if used and table.metadata is None:
        raise Counterexample(f"{used} are used and not there", table)
    for one in table.timeline:
        if one.state == State.COMPLETED and isinstance(one.content, IndexPlan) and one.content.upto != last:
            raise Counterexample(f"indexed {one.content}, the last write is {last}", table)


@model_property(
    "PO-309",
    "A metadata table made for a table that has a history equals one that was kept from its start",
    "MT-009 IX-002",
    broken_by="bootstrap-lists-last-write stale-entries-kept",
)
@property_check
@given(story=HISTORIES)
def made_later(story: Story) -> None:
    """Every index, built at the end."""
    kept, later = indexed(story), indexed(story, kept=False)
    later = replace(later, metadata=metadata.with_indexes(later, valid(kept).indexes))
    if everything(kept) != everything(later):
        raise Counterexample("an index built later is another", later, story.lines())


@model_property(
    "PO-310",
    "An index that is dropped and built anew is the same, and at no moment does it change an answer",
    "MT-007 MT-009",
    broken_by="bootstrap-lists-last-write",
)
@property_check
@given(story=PARTITIONED, form=FILTERS, place=st.integers(0, 8))
def built_anew(story: Story, form: Any, place: int) -> None:
    """Every prefix of the effects of both."""
    table = indexed(story)
    names = sorted(metadata.built(table) - {"files"})
    name = names[place % len(names)]
    dropped = metadata.drop(table, [name])
    gone = perform(table, dropped)
    again = metadata.with_indexes(gone, [one for one in valid(table).indexes if one.name == name])
    effects = (*dropped, CommitMetadataTable(again), metadata.listing(gone, metadata.built(table)))
    for count in range(len(effects) + 1):
        refuse_pruned_away(perform(table, effects[:count]), form, story)
    if everything(perform(table, effects)) != everything(table):
        raise Counterexample(f"{name} is another when it is built anew", table, story.lines())


@model_property(
    "PO-311",
    "Indexing beside a writer ends with an index that holds what the writer wrote, whenever the writer completes",
    "IG-003 IG-004 MT-007 MT-009",
    broken_by="indexer-stops-at-its-plan writer-drops-unrequested-indexes",
)
@property_check
@given(
    story=stories(shapes(), (Operation.UPSERT,), longest=3),
    beside=stories(shapes(), (Operation.UPSERT,), longest=1),
    cut=st.integers(0, 4),
    started=st.booleans(),
)
def indexed_beside_writers(story: Story, beside: Story, cut: int, started: bool) -> None:
    """A write that began before the plan or after it completes between two effects of the indexing."""
    table = played(story, LISTED)
    request = request_of(beside.steps[0], LISTED)
    early = writers.begin(table, request, tick(LAST)) if started else None
    table = perform(table, early[1] if early else ())
    table = perform(table, indexing.schedule(table, tick(LAST + 1), INDEXED, DEFINED[:1]))
    table = perform(table, indexing.execute(table, tick(LAST + 1), tick(LAST + 4))[:cut])
    write, first = early or writers.begin(table, request, tick(LAST + 2))
    table = table if early else perform(table, first)
    write, second = writers.stage(table, write)
    table = perform(table, second)
    table = perform(table, writers.commit(table, write, tick(LAST + 3)))
    table = perform(table, indexing.execute(table, tick(LAST + 1), tick(LAST + 4)))
    refuse_stale(table, story, f"written after {cut} effects of the indexing")
    if not {"record_index", "secondary_index_note"} <= metadata.built(table):
        raise Counterexample(f"only {sorted(metadata.built(table))} are built", table, story.lines())
    table = taken(table, beside.steps[0], LAST + 10, LISTED)
    if "record_index" not in metadata.built(table):
        raise Counterexample("a writer that did not request the index has dropped it", table, story.lines())
