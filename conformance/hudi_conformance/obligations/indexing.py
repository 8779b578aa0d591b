"""Indexing: it changes no row, and an index counts once it is there and holds all that completed before."""

from dataclasses import replace

from hudi_model.actions import State
from hudi_model.contents import IndexPlan
from hudi_model.effects import perform
from hudi_model.services import indexing
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import completed_data
from hudi_model.writers import Operation, Request, begin
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.obligations.histories import Story, played
from hudi_conformance.obligations.registry import Counterexample, obligation, property_check
from hudi_conformance.obligations.service_checks import (
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


@obligation(
    "PO-204",
    "Indexing never changes the table; an index counts once it is there and holds all that completed before",
    "IG-001 IG-002 IG-003 IG-004 IG-005 IG-006",
    assumptions="whatever the partitions hold",
    broken_by="index-used-before-it-is-whole index-stops-at-its-plan index-plan-skips-a-gap",
)
@property_check
@given(told=busy_of_both_types("compaction"), gap=st.booleans(), later=st.booleans())
def _indexing_keeps_the_table(told: Story, *, gap: bool, later: bool) -> None:
    table = played(told)
    done = [one.requested for one in completed_data(open_table(table).timeline)]
    if gap:
        table = perform(table, begin(table, Request(Operation.UPSERT), tick(BEFORE))[1])
        table = try_write(table, all_keys("d2"), BEFORE + 1)
    table = perform(table, indexing.schedule(table, PLAN, WANTED))
    planned = [one.content for one in table.timeline if isinstance(one.content, IndexPlan)]
    if [one.upto for one in planned] != done[-1:] if done else planned:
        raise Counterexample(f"planned {planned}, completed without a gap are {done}", table, told.lines())
    table = try_write(table, all_keys("d1"), SOON) if later and not gap else table
    last = max(one.requested for one in completed_data(open_table(table).timeline)) if later and not gap else done[-1]
    expected = rows_and_origins(table)
    for left in prefixes(table, indexing.execute(table, PLAN, DONE, hollow)):
        for one in (left, perform(left, indexing.execute(left, PLAN, AGAIN, hollow))):
            refuse_change(one, expected, told, "indexing")
            check_index(one, last)


def check_index(table: Table, last: InstantTime) -> None:
    """Nothing, unless a partition is used that is not there, or the completed entry tells less than it should."""
    used = open_table(table).configuration.properties.get("hoodie.table.metadata.partitions")
    if used and table.metadata is None:
        raise Counterexample(f"{used} are used and not there", table)
    for one in table.timeline:
        if one.state == State.COMPLETED and isinstance(one.content, IndexPlan) and one.content.upto != last:
            raise Counterexample(f"indexed {one.content}, the last write is {last}", table)
