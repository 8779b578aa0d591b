"""Whether skipping what indexes, statistics and paths rule out changes an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from hudi_model import metadata, pruning, writers
from hudi_model.creation import create_table
from hudi_model.effects import perform
from hudi_model.files import Field, FileSlice, Record, Schema
from hudi_model.indexes import joined
from hudi_model.metadata import view_of
from hudi_model.pruning import Facts
from hudi_model.queries import META_SCHEMA, Selection, answer, read_snapshot, validated_snapshot
from hudi_model.requests import Operation, Request
from hudi_model.time import tick
from hypothesis import assume, given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    DAYS,
    SCHEMA,
    Shape,
    Step,
    Story,
    new_table,
    shapes,
    stories,
    taken,
)
from hudi_conformance.verification.properties.indexed_tables import (
    FILTERS,
    GLOBAL,
    INDEXED,
    OPERATIONS,
    PARTITIONED,
    everything,
    indexed,
    refuse_pruned_away,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check


@model_property(
    "PO-304",
    "Pruning by every kind of index, alone and together, never changes an answer",
    "IX-051 IX-052 IX-053 IX-054 IX-055 IX-056 IX-057 IX-058",
    broken_by="or-as-and unknown-part-is-false record-index-for-any-column",
    assumptions="released readings; keys are unique in the table, and every row lies in the partition of its columns",
)
@property_check
@given(story=PARTITIONED, forms=st.lists(FILTERS, min_size=3, max_size=3), kept=st.integers(0, 7))
def pruning_changes_nothing(story: Story, forms: Sequence[Any], kept: int) -> None:
    """Random filters, with all indexes and with one alone, beside the record index where that is what it needs."""
    table = indexed(story)
    rows = read_snapshot(table).rows
    assume(len({one["id"] for one in rows}) == len(rows))
    every = sorted(metadata.built(table) - {"files"})
    alone = {"files", *every[kept : kept + 1]}
    some = perform(table, metadata.drop(table, sorted(metadata.built(table) - alone)))
    both = perform(table, metadata.drop(table, sorted(metadata.built(table) - alone - {"record_index"})))
    for form in forms:
        refuse_pruned_away(table, form, story)
        refuse_pruned_away(some, form, story)
        refuse_pruned_away(both, form, story)


@model_property(
    "PO-305",
    "Where statistics are absent nothing is skipped",
    "MT-013 IX-053",
    broken_by="unknown-statistics-prune unknown-is-all-null or-as-and",
)
@property_check
@given(story=stories(shapes(), OPERATIONS, longest=4), place=st.integers(0, 9))
def absent_means_unknown(story: Story, place: int) -> None:
    """A file's statistics are missing; each value that is there is looked up."""
    table = indexed(story)
    known, view, schema = pruning.usable(table), view_of(table), Schema((*META_SCHEMA, *SCHEMA.fields))
    names = sorted({key.rpartition("|")[2] for key in known["column_stats"][1]})
    for key in [one for one in known["column_stats"][1] if one.endswith(f"|{names[place % len(names)]}")]:
        known = {**known, "column_stats": (known["column_stats"][0], without(known["column_stats"][1], key))}
    known = {name: known[name] for name in ("column_stats", "partition_stats")}
    rows = read_snapshot(table).rows
    leaves = [["ts", "=", row["ts"]] for row in rows] + [["id", "=", row["id"]] for row in rows]
    for form in [["or", *pair] for pair in zip(leaves, reversed(leaves), strict=True)] + leaves:
        facts = [(one, pruning.facts_of(view, one, known)) for one in validated_snapshot(view)]
        kept = tuple(one for one, fact in facts if True in pruning.possible(form, fact, schema))
        if (
            answer(view, kept, Selection(filter=form)).rows
            != read_snapshot(table, selection=Selection(filter=form)).rows
        ):
            raise Counterexample(f"{form} where a file has no statistics", table, story.lines())


def without(held: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An index without one entry."""
    return {one: value for one, value in held.items() if one != key}


@model_property(
    "PO-316",
    "A slice may be skipped when each of its files, judged by its own statistics, may be",
    "IX-054 MG-026",
    refuted=True,
    holds_instead="PO-304",
    assumptions="partial update mode IGNORE_DEFAULTS; as released, each file is judged by itself",
)
def files_checked_alone() -> None:
    """A row whose columns come from two files."""
    properties = {**Shape().properties(), "hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}
    schema = Schema((*SCHEMA.fields, Field("more", "string")))
    table = create_table(properties, schema)
    table = perform(table, metadata.configured_effects(table, INDEXED))
    for number, (note, more) in enumerate((("one", None), (None, "two"))):
        row = Record({"id": "a", "day": "d1", "ts": number, "note": note, "more": more})
        table = writers.write(table, Request(Operation.UPSERT, (row,)), tick(2 * number + 1), tick(2 * number + 2))
    form = ["and", ["note", "=", "one"], ["more", "=", "two"]]
    view, stored = view_of(table), everything(table)["column_stats"]
    whole = Schema((*META_SCHEMA, *schema.fields))

    def may_hold(found: FileSlice, name: str) -> bool:
        known = Facts(lambda _, column: [stored[joined(column, found.partition, name)]], lambda *_: False)
        return True in pruning.possible(form, known, whole)

    for found in validated_snapshot(view):
        names = [one.name for one in (found.base_file, *found.log_files) if one]
        if read_snapshot(table, selection=Selection(filter=form)).rows and not any(
            may_hold(found, name) for name in names
        ):
            raise Counterexample("no file may hold the row that both hold together", table)


@model_property(
    "PO-317",
    "Skipping partitions by their path never changes an answer",
    "IX-056 OW-021",
    refuted=True,
    holds_instead="PO-304",
    assumptions="a global index without hoodie.record.index.update.partition.path",
)
def rows_beside_their_partition() -> None:
    """An update keeps the row in its old partition, with a new value in the partition's column."""
    table = new_table(Shape())
    settings = {**GLOBAL, "hoodie.record.index.update.partition.path": "false"}
    for number, day in enumerate(DAYS):
        step = Step(Operation.UPSERT, ({"id": "a", "day": day, "ts": number, "note": "one"},))
        table = taken(table, step, 10 * number + 1, settings)
    refuse_pruned_away(table, ["day", "=", DAYS[1]], Story(Shape(), ()))
