"""Compaction: it changes no row of the table, holds what its slices held, and where it shows later."""

from typing import Any

from hudi_model.effects import perform
from hudi_model.files import Record
from hudi_model.queries import Selection, read_optimized
from hudi_model.reading import read_slice
from hudi_model.requests import Operation
from hudi_model.schemas import table_schema
from hudi_model.services import compaction
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import RELEASED, open_table, view_at
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    COMMIT_TIME,
    DAYS,
    EVENT_TIME,
    Row,
    Step,
    Story,
    rows_of,
    shapes,
    taken,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check
from hudi_conformance.verification.properties.service_checks import (
    DONE,
    LAST,
    LATE,
    MERGE_ON_READ,
    PLAN,
    SOON,
    all_keys,
    as_rows,
    busy,
    keeps_the_table,
    prefixes,
    ready,
    refuse_change,
    rows_and_origins,
    short,
    try_write,
)


@model_property(
    "PO-200",
    "Compaction never changes the table, wherever it dies and is tried again",
    "CP-002 CP-004 CP-005 CP-006 CP-010",
    broken_by="compaction-reads-logs-only plan-skips-a-log",
)
@property_check
@given(story=busy(MERGE_ON_READ, "log_compaction", "clustering"))
def _compaction_keeps_the_table(story: Story) -> None:
    keeps_the_table(story, "compaction")


@model_property(
    "PO-228",
    "A compaction whose file groups were replaced since it was planned changes nothing, carried out or not",
    "CP-014 RD-003",
    broken_by="new-slice-revives-a-replaced-group",
)
@property_check
@given(story=busy(MERGE_ON_READ), day=st.sampled_from(DAYS))
def _compaction_of_replaced_groups(story: Story, day: str) -> None:
    table, planned = ready(story, "compaction")
    if not planned:
        return
    table = taken(perform(table, planned), Step(Operation.INSERT_OVERWRITE, all_keys(day)), SOON)
    expected = rows_and_origins(table)
    for left in prefixes(table, compaction.execute(table, PLAN, DONE)):
        refuse_change(left, expected, story, "compaction of replaced groups")


@model_property(
    "PO-207",
    "A compaction writes exactly the rows that its slices held, each once",
    "CP-004 CP-007",
    broken_by="compaction-reads-logs-only",
)
@property_check
@given(story=busy(MERGE_ON_READ, "log_compaction"))
def _a_new_base_file_holds_the_merged_slice(story: Story) -> None:
    table, planned = ready(story, "compaction")
    if not planned:
        return
    view = view_at(open_table(table), None, RELEASED)
    held = {one.file_id: read_slice(view, one, table_schema(view)) for one in snapshot_slices(view)}
    table = perform(table, planned)
    table = perform(table, compaction.execute(table, PLAN, DONE))
    for one in (one for one in table.base_files if one.instant == PLAN):
        records = one.records if isinstance(one.records, tuple) else ()
        if keys_of(records) != keys_of(held[one.file_id]):
            detail = f"{len(held[one.file_id])} rows became {len(records)} in {one.name}"
            raise Counterexample(detail, table, story.lines())


def keys_of(records: tuple[Record, ...]) -> list[Any]:
    """The keys of rows and what they come from, as often as they are there."""
    return sorted((one.values["_hoodie_record_key"], one.values["_hoodie_commit_seqno"]) for one in records)


@model_property(
    "PO-212",
    "Right after a compaction a read-optimized query answers what a snapshot does",
    "CP-001 CP-004 RD-009",
    broken_by="plan-takes-one-slice",
)
@property_check
@given(story=busy(MERGE_ON_READ, "log_compaction"))
def _read_optimized_is_fresh_after_compaction(story: Story) -> None:
    table, planned = ready(story, "compaction")
    table = perform(table, planned)
    if planned:
        table = perform(table, compaction.execute(table, PLAN, DONE))
    optimized = as_rows(read_optimized(table, selection=Selection(meta_columns=True)).rows)
    if optimized != rows_and_origins(table):
        raise Counterexample(f"base files hold {short(optimized)}", table, story.lines())


def compaction_in_between(story: Story, row: Row) -> None:
    """One more write, with and without a compaction before it, gives one table."""
    table, planned = ready(story, "compaction")
    expected = rows_of(try_write(table, (row,), LAST))
    compacted = perform(table, planned)
    if planned:
        compacted = perform(compacted, compaction.execute(compacted, PLAN, DONE))
    found = rows_of(try_write(compacted, (row,), LAST))
    if found != expected:
        lines = (*story.lines(), "compaction or none", f"upsert {row}")
        raise Counterexample(f"with a compaction {found}, without one {expected}", compacted, lines)


@model_property(
    "PO-213",
    "A later write gives the same table whether or not a compaction ran before it",
    "CP-004 MG-005 MG-013",
    refuted=True,
    holds_instead="PO-214",
)
@property_check
@given(story=busy(shapes((9,), ("MERGE_ON_READ",), (EVENT_TIME,), (False,))), row=LATE)
def _compaction_shows_in_later_merges(story: Story, row: Row) -> None:
    compaction_in_between(story, row)


@model_property(
    "PO-214",
    "Where the later commit wins, a later write gives the same table whether or not a compaction ran before it",
    "CP-004 MG-002",
    assumptions="commit time ordering; writers one after the other",
    broken_by="compaction-reads-logs-only",
)
@property_check
@given(story=busy(shapes(types=("MERGE_ON_READ",), modes=(COMMIT_TIME,))), row=LATE)
def _compaction_does_not_show_by_commit_time(story: Story, row: Row) -> None:
    compaction_in_between(story, row)
