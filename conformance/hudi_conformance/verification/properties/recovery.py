"""Tables whose timeline is lost, rebuilt from the names of their files."""

from hudi_model.effects import perform
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation
from hudi_model.tables import Table
from hudi_model_tools import recovery
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import SCHEMA, Step, Story, stories
from hudi_conformance.verification.properties.recovery_checks import (
    CRASHES,
    LATER,
    SERVICES,
    again,
    attempt,
    crashing_step,
    lines_of,
    same,
    snapshot,
    table_of,
    went_on,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


@model_property(
    "PO-245",
    "A table rebuilt from the names of its files shows no row that nobody wrote, and has a row for every key it had",
    "SR-010 SR-011",
    broken_by="recovery-of-foreign-instants",
)
@property_check
@given(
    story=stories(operations=(Operation.UPSERT, Operation.INSERT_OVERWRITE), services=SERVICES[:3], longest=5),
    crash=CRASHES,
)
def recovery_invents_nothing(story: Story, crash: tuple[Step, int]) -> None:
    """Rows of writes that died may come back, and replaced ones: names do not tell. Others do not."""
    table = attempt(table_of(story), crashing_step(story, crash), LATER, crash[1])
    written = {tuple(sorted(row.items())) for step in (*story.steps, crashing_step(story, crash)) for row in step.rows}
    rebuilt = perform(lost(table), recovery.recover(lost(table), SCHEMA))
    lines = lines_of(story, f"dies: {crashing_step(story, crash)}", "the timeline is lost and rebuilt")
    keys = {row["id"] for row in read_snapshot(table).rows}
    try:
        found = [dict(row) for row in read_snapshot(rebuilt).rows]
    except Rejection as refused:
        raise Counterexample(f"no answer: {refused}", rebuilt, lines) from None
    same({tuple(sorted(row.items())) for row in found} - written, set(), "rows that nobody wrote", rebuilt, lines)
    same(keys - {row["id"] for row in found}, set(), "keys that are gone", rebuilt, lines)


def lost(table: Table) -> Table:
    """A table without timeline, history, markers and metadata table."""
    return Table(table.properties, None, (), table.base_files, table.log_files, create_schema=None)


@model_property(
    "PO-246",
    "A table rebuilt from the names of its files shows what it showed",
    "SR-010 SR-011 TL-018",
    broken_by="recovery-of-blocks-forgotten",
    assumptions="every write had completed before the next began, and nothing was replaced",
)
@property_check
@given(story=stories(services=("compaction", "log_compaction", "cleaning"), longest=6), cut=st.integers(0, 40))
def recovery_is_exact_without_replacement(story: Story, cut: int) -> None:
    """A rebuild that stopped is done again."""
    table = went_on(table_of(story), (again(story),), 900, {})
    expected = snapshot(table, story.lines())
    bare = lost(table)
    stopped = perform(bare, recovery.recover(bare, SCHEMA)[:cut])
    rebuilt = perform(stopped, recovery.recover(stopped, SCHEMA))
    lines = lines_of(story, f"the timeline is lost; its rebuilding dies after {cut} effects and is done again")
    if stopped.timeline:
        same(snapshot(stopped, lines), expected, "rows meanwhile", stopped, lines)
    same(snapshot(rebuilt, lines) if rebuilt.timeline else expected, expected, "rows", rebuilt, lines)
