"""Pruning: which slices a filter need not read, as indexes tell; what they do not know keeps a slice."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

from hudi_model.actions import IndexDefinition
from hudi_model.configuration import Configuration
from hudi_model.files import FileSlice, Record, Schema, Value
from hudi_model.filters import (
    IDENTITY,
    RESULTS,
    Function,
    column_of,
    compare_value,
    is_junction,
    junction,
    literal,
    type_of,
)
from hudi_model.indexes import NO_PARTITION, Contents, joined, secondary_key, slice_statistics, together
from hudi_model.keys import key_text
from hudi_model.metadata import built, rows_of, valid, view_of
from hudi_model.partitions import partition_path, record_key
from hudi_model.queries import ALL, META_SCHEMA, Answer, Selection, answer, validated_snapshot
from hudi_model.rejection import Rejection
from hudi_model.schemas import table_schema, versions_by_id
from hudi_model.tables import RELEASED, OpenTable, Readings, Table, View

Truth: TypeAlias = frozenset[bool | None]
"""What a filter may be for the rows of a slice: true, false, unknown."""
Known: TypeAlias = Mapping[str, tuple[IndexDefinition, Contents]]
"""Indexes by name, each with what it holds."""
ANY: Truth = frozenset({True, False, None})
FLOATING = ("float32", "float64")
EXACT = ("string", "int32", "int64", "date")
"""The types whose equal values have one text."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What indexes say of one slice: the ranges of a function of a column, and whether it lacks a value."""

    ranges: Callable[[Function, str], Sequence[list[Any]]]
    lacks: Callable[[Function, str, Value], bool]


def read_pruned(table: Table, form: Any, readings: Readings = RELEASED, selection: Selection = ALL) -> Answer:
    """The rows of a snapshot that a filter wants, from the slices that indexes leave over.

    Raises: as for a snapshot.

    Clauses: IX-051.
    """
    view = view_of(table, readings)
    return answer(view, kept_slices(view, validated_snapshot(view), form), replace(selection, filter=form))


def kept_slices(view: View, slices: Sequence[FileSlice], form: Any) -> tuple[FileSlice, ...]:
    """The slices in which a filter may be true for some row; no index knows the rows of a bootstrapped table's sources.

    Clauses: BF-012, IX-051.
    """
    if view.table.state.sources:
        return tuple(slices)
    schema, known = Schema((*META_SCHEMA, *table_schema(view).fields)), usable(view.table.state)
    return tuple(one for one in slices if True in possible(form, facts_of(view, one, known), schema))


def usable(table: Table) -> Known:
    """The indexes that readers may use, and what each holds."""
    metadata, names = valid(table), built(table)
    rows = rows_of(view_of(metadata))
    return {one.name: (one, rows.get(one.name, {})) for one in metadata.indexes if one.name in names}


def possible(form: Any, facts: Facts, schema: Schema) -> Truth:
    """What a filter may be: three-valued, and a part that no index knows may be anything.

    Clauses: IX-052, IX-053.
    """
    if is_junction(form):
        parts = [possible(part, facts, schema) for part in form[1:]]
        # Two by two: what many parts may be together has no more than three values.
        while len(parts) > 1:
            parts[:2] = [frozenset(junction(form[0], list(both)) for both in product(*parts[:2]))]
        return frozenset(junction(form[0], list(choice)) for choice in product(*parts))
    (function, column), word = column_of(form[0]), form[1]
    if word == "in":
        either = ["or", *([form[0], "=", one] for one in form[2])]
        return possible(either, facts, schema) if form[2] else frozenset({False})
    own = type_of(column, schema)
    kind, found = RESULTS.get(function.name, own), ANY
    for bounds in facts.ranges(function, column):
        found &= within(bounds, word, form[2:], kind)
    value = literal(form[2], kind) if word == "=" and kind in EXACT else None
    return found - {True} if value is not None and facts.lacks(function, column, value) else found


def within(bounds: list[Any], word: str, value: Sequence[Any], kind: str) -> Truth:
    """What a comparison may be for values of which the statistics are known; not-a-number is left out of bounds.

    Two bounds of 0 say nothing: releases state them of floats that have none.

    Clauses: IX-053, MT-023.
    """
    least, greatest, nulls, count = bounds
    if word in ("is_null", "is_not_null"):
        return frozenset((word == "is_null") == is_null for is_null in [True] * nulls + [False] * (count - nulls))
    found: set[bool | None] = {None} if nulls else set()
    if kind in FLOATING and least == greatest == 0:
        return ANY
    if count > nulls:
        try:
            unbounded = (math.nan,) if kind in FLOATING else ()
            found |= {compare_value(word, end, value[0], kind) for end in (least, greatest, *unbounded)}
            inside = compare_value("<=", least, value[0], kind) and compare_value(">=", greatest, value[0], kind)
        except Rejection:
            return ANY
        found |= {True, False} if word in ("=", "!=") and inside and least != greatest else set()
    return frozenset(found)


def facts_of(view: View, found: FileSlice, known: Known) -> Facts:
    """What indexes say of a slice.

    Clauses: IX-054, IX-055, IX-056, IX-057, IX-058.
    """
    where, place, configuration = found.partition or NO_PARTITION, [found.partition, found.file_id], view.configuration
    index, located = known.get("record_index", (None, {}))
    prefix = f"{found.partition}|" if index and index.is_partitioned else ""
    here = {one.removeprefix(prefix) for one, group in located.items() if group == place}

    def ranges(function: Function, column: str) -> list[list[Any]]:
        if not is_unchanged(view.table, column):
            return []
        wanted = ("column_stats", *function)
        own = (rows for one, rows in known.values() if (one.kind, one.function, one.arguments) == wanted)
        statistics = [slice_statistics(view, found, rows, column) for rows in own]
        if function == IDENTITY and "partition_stats" in known:
            statistics.append(together([known["partition_stats"][1].get(joined(column, where))]))
        return [one for one in statistics if one]

    def lacks(function: Function, column: str, value: Value) -> bool:
        if not is_unchanged(view.table, column):
            return False
        key = key_of_value(configuration, column, value) if function == IDENTITY else None
        excluded = [index is not None and key is not None and key not in here]
        if (function, (column,)) == (IDENTITY, configuration.partition_by):
            excluded.append(partition_path(Record({column: value}), configuration) != found.partition)
        for one, rows in known.values():
            is_indexed = (*function, (column,)) == (one.function, one.arguments, one.sources)
            if one.kind == "secondary_index" and index and is_indexed:
                excluded.append(not any(secondary_key(value, kept) in rows for kept in here))
            if one.kind == "bloom_filters" and found.base_file and not found.log_files:
                text = key if not one.sources else key_text(value) if is_indexed else None
                excluded.append(text is not None and text not in rows.get(joined(where, found.base_file.name), [text]))
        return any(excluded)

    return Facts(ranges, lacks)


def is_unchanged(table: OpenTable, column: str) -> bool:
    """Whether a column with an id has had its name and its type since the first version that has it.

    Indexes know columns by the names and in the types of the time at which a file was written.

    Clauses: IX-054, DM-021.
    """
    fields = {(one.id, one.name, one.type) for version in versions_by_id(table) for one in version.schema.fields}
    named = {one for one in fields if one[1] == column}
    return len([one for one in fields if one[0] in {found[0] for found in named}]) <= 1 and len(named) <= 1


def key_of_value(configuration: Configuration, column: str, value: Value) -> str | None:
    """The record key that a row with this value has; None where the column is not the whole key, or no row has it."""
    if column == "_hoodie_record_key":
        return str(value)
    is_key = configuration.record_key == (column,) and value not in ("", b"")
    return record_key(Record({column: value}), configuration) if is_key else None
