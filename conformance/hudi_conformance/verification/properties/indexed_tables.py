"""Tables with a metadata table that holds every kind of index, and what it is compared with."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hudi_model import metadata
from hudi_model.actions import IndexDefinition, RollbackMetadata, State
from hudi_model.effects import perform
from hudi_model.metadata import rows_of, valid, view_of
from hudi_model.pruning import read_pruned
from hudi_model.queries import Selection, read_snapshot
from hudi_model.requests import Operation
from hudi_model.tables import Table
from hudi_model_tools.checks.metadata import metadata_differences
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import DAYS, KEYS, Story, new_table, shapes, stories, taken
from hudi_conformance.verification.properties.registry import Counterexample

GLOBAL = {"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"}
EAGER = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "1",
}
LISTED = {"hoodie.metadata.enable": "true", **GLOBAL, **EAGER}
INDEXED = {**LISTED, **dict.fromkeys(metadata.OPTIONAL, "true")}
DEFINED = (
    IndexDefinition("secondary_index_note", "secondary_index", "identity", ("note",)),
    IndexDefinition("expr_index_lower", "column_stats", "lower", ("note",)),
    IndexDefinition("expr_index_upper", "bloom_filters", "upper", ("note",)),
)
OPERATIONS = (
    Operation.UPSERT,
    Operation.UPSERT,
    Operation.DELETE,
    Operation.INSERT_OVERWRITE,
    Operation.DELETE_PARTITION,
)
SERVICES = ("compaction", "clustering", "cleaning")
HISTORIES = stories(shapes(), OPERATIONS, SERVICES, longest=5)
PARTITIONED = stories(shapes(partitioned=(True,)), OPERATIONS, SERVICES, longest=5)
LAST = 900


def indexed(story: Story, *, kept: bool = True, after: Callable[[Table], None] = lambda _: None) -> Table:
    """The table after a story; its metadata table is kept from the start, with every kind of index, or not at all."""
    table = new_table(story.shape)
    if kept:
        configured = metadata.configured_effects(table, INDEXED)
        table = perform(table, configured)
        table = replace(table, metadata=metadata.with_indexes(table, DEFINED))
        names = metadata.built(table) | {one.name for one in DEFINED}
        table = perform(table, (metadata.listing(table, names),))
    for number, step in enumerate(story.steps):
        if step.service != "compaction" or story.shape.table_type == "MERGE_ON_READ":
            table = taken(table, step, 10 * number + 1, {**GLOBAL, **EAGER})
            after(table)
    return table


def everything(table: Table) -> dict[str, dict[str, Any]]:
    """What the metadata table of a table holds for readers."""
    return rows_of(view_of(valid(table)))


def listing_of(table: Table) -> dict[str, set[str]]:
    """The files of completed actions, and those that a rollback left under its command, from storage alone."""
    done = {one.requested for one in table.timeline if one.state is State.COMPLETED}
    undone = (one.content for one in table.timeline if isinstance(one.content, RollbackMetadata))
    done |= {instant for one in undone for instant in one.rolled_back}
    held: dict[str, set[str]] = {}
    for base in table.base_files:
        if base.instant in done:
            held.setdefault(base.partition or ".", set()).add(base.name)
    for log in table.log_files:
        assert isinstance(log.blocks, tuple)
        if any(getattr(block, "instant", "") in done for block in log.blocks):
            held.setdefault(log.partition or ".", set()).add(log.name)
    return held


def refuse_stale(table: Table, story: Story, what: str) -> None:
    """Nothing, unless an index or the list of files says what is not so."""
    wrong = metadata_differences(table)
    if wrong:
        raise Counterexample(f"{what}: {wrong[:3]}", table, story.lines())
    listed = {key: set(names) for key, names in everything(table).get("files", {}).items()}
    partitions, held = listed.pop("__all_partitions__", set()), listing_of(table)
    if listed != held or partitions != set(held):
        raise Counterexample(f"{what}: {partitions} {listed} are listed, {held} is held", table, story.lines())


VALUES = {"id": st.sampled_from(KEYS), "day": st.sampled_from(DAYS), "ts": st.integers(-1, 5)}
VALUES |= {"note": st.sampled_from(("one", "two", "ONE", "", "zz"))}


@st.composite
def leaves(draw: st.DrawFn) -> list[Any]:
    """A comparison of a column, or of a function of one, with a value or some."""
    name = draw(st.sampled_from(("id", "day", "ts", "note", "_hoodie_record_key", "_hoodie_partition_path")))
    kind = {"_hoodie_record_key": "id", "_hoodie_partition_path": "day"}.get(name, name)
    column: Any = (
        draw(st.sampled_from([name, ["fn", "lower", name], ["fn", "upper", name]])) if name == "note" else name
    )
    word = draw(st.sampled_from(("=", "=", "=", "!=", "<", "<=", ">", ">=", "in", "is_null", "is_not_null")))
    if word.startswith("is_"):
        return [column, word]
    value = draw(st.lists(VALUES[kind], max_size=3)) if word == "in" else draw(VALUES[kind])
    return [column, word, value]


FILTERS = st.recursive(
    leaves(),
    lambda part: st.one_of(
        st.builds(
            lambda word, parts: [word, *parts], st.sampled_from(("and", "or")), st.lists(part, min_size=1, max_size=3)
        ),
        part.map(lambda one: ["not", one]),
    ),
    max_leaves=4,
)


def refuse_pruned_away(table: Table, form: Any, story: Story) -> None:
    """Nothing, unless an answer differs from that without indexes."""
    whole, found = read_snapshot(table, selection=Selection(filter=form)).rows, read_pruned(table, form).rows
    if list(whole) != list(found):
        raise Counterexample(f"{form}: {len(whole)} rows, pruned {len(found)}", table, story.lines())
