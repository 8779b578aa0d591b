"""What must hold of the past once archival has moved it off the timeline: changes, and what a table was."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from hudi_model.actions import CommitMetadata, State
from hudi_model.effects import perform
from hudi_model.files import Field, Schema
from hudi_model.incremental import read_changes
from hudi_model.queries import read_as_of
from hudi_model.rejection import Reason, Rejection
from hudi_model.services import archival
from hudi_model.tables import RELEASED, TEXT, Readings, Table, open_table
from hudi_model.time import InstantTime
from hudi_model.timeline import completed_data, completion

from hudi_conformance.verification.properties.registry import Counterexample, model_property
from hudi_conformance.verification.properties.scenario_tables import SCHEMA, SETTINGS, scenario_tables


@model_property(
    "PO-343",
    "What changed in a range is reported after archival as before, or refused where a write of the range was archived",
    "CD-006 AR-001 HS-008",
    broken_by="archived-range-answered",
    exhaustive=True,
)
def _changes_are_reported_or_refused() -> None:
    for table in map(_with_feed, scenario_tables()):
        left = perform(table, archival.archive(table, SETTINGS))
        active = {one.requested for one in left.timeline}
        writes = completed_data(open_table(table).timeline)
        gone = {completion(one) for one in writes if one.requested not in active}
        for begin in ("0", *map(completion, writes)):
            expected = Reason.RANGE_NOT_RETAINED if any(one > begin for one in gone) else _changes(table, begin)
            if _changes(left, begin) != expected:
                raise Counterexample(f"after {begin}: {_changes(left, begin)}, not {expected}", left)


def _with_feed(table: Table) -> Table:
    properties = table.properties if isinstance(table.properties, Mapping) else {}
    return replace(table, properties={**properties, "hoodie.table.cdc.enabled": "true"})


def _changes(table: Table, begin: str) -> object:
    try:
        return read_changes(table, begin).rows
    except Rejection as refused:
        return refused.reason


@model_property(
    "PO-344",
    "What the table was at an earlier time is answered after archival as before, its columns too",
    "AR-001 DM-003 HS-008 RD-010",
    broken_by="past-of-the-active-timeline-only",
    exhaustive=True,
)
def _past_stays() -> None:
    for table in map(_with_growing_schema, scenario_tables()):
        left = perform(table, archival.archive(table, SETTINGS))
        for one, readings in product(completed_data(open_table(table).timeline), (RELEASED, TEXT)):
            time = completion(one)
            if _past(left, time, readings) != _past(table, time, readings):
                found = f"{_past(left, time, readings)}, not {_past(table, time, readings)}"
                raise Counterexample(f"as of {time}: {found}", left)


def _with_growing_schema(table: Table) -> Table:
    """The same, in which each commit but the first states a column that the first does not have."""
    first = min(one.requested for one in table.timeline if one.state is State.COMPLETED)
    entries = (
        replace(one, content=replace(one.content, schema=Schema((*SCHEMA.fields, Field("more", "string")))))
        if one.requested != first and isinstance(one.content, CommitMetadata)
        else one
        for one in table.timeline
    )
    return replace(table, timeline=tuple(entries))


def _past(table: Table, time: InstantTime, readings: Readings) -> object:
    try:
        return read_as_of(table, time, readings)
    except Rejection as refused:
        return refused.reason
