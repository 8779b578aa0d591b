"""Merging where the loser of two versions completes the winner: partial updates, and modes that leave columns out.

Rows are not moved while versions merge. Of each version it is known from which row of the slice it has each column:

version        id   name  price     name and price may come from different rows,
base row 0      0    0     0        and only at the end the values are taken
partial row 7   7    7     -  ->  7  7  0
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.schemas import META_FIELDS

from hudi_spark.merging.fields import column_of
from hudi_spark.merging.folding import KEY, fold, fold_over
from hudi_spark.merging.log_records import LogRecords
from hudi_spark.merging.ordering import all_valid, exceeds, ordering_columns, ordering_names
from hudi_spark.merging.rules import Completion, MergeRule

_DELETED, _NATURAL = "deleted", "natural"


@dataclass(frozen=True, slots=True)
class _Source:
    """Columns that always come from one row together, and which rows set them; None when all do."""

    columns: tuple[str, ...]
    sets: pa.ChunkedArray | None
    newest: bool = False


def merge_completing(base: pa.Table, base_keys: pa.ChunkedArray, records: LogRecords, rule: MergeRule) -> pa.Table:
    """The merged rows of the keys in the logs; every row of `base` has one of them.

    Clauses: MG-021, MG-022, MG-023, MG-024, MG-025.
    """
    rows = pa.concat_tables([base, records.rows]).combine_chunks()
    sources = _sources(rows, base.num_rows, records, rule)
    merger = _Completing(rule, sources, rows)
    logs = merger.versions(records.versions, base.num_rows)
    merged = fold_over(merger.base_versions(base, base_keys), logs, merger.pair, base_first=rule.deletes_reach_base)
    return merger.rows(merged.filter(pc.invert(merged.column(_DELETED))))


def fold_logs(records: LogRecords, rule: MergeRule) -> tuple[pa.Table, pa.Table]:
    """The versions in logs merged among themselves, one line a key, and the rows of those that are no deletes.

    Clauses: LC-004, MG-025.
    """
    rows = records.rows.combine_chunks()
    merger = _Completing(rule, _sources(rows, 0, records, rule), rows)
    merged = fold(merger.versions(records.versions, 0), merger.pair)
    return merged, merger.rows(merged.filter(pc.invert(merged.column(_DELETED))))


class _Completing:
    """Merges pairs of versions, given as lines of row numbers."""

    def __init__(self, rule: MergeRule, sources: Sequence[_Source], rows: pa.Table) -> None:
        self._rule = rule
        self._sources = sources
        self._rows = rows
        self._ordering = ordering_columns(rows, rule)
        self._ordering_sources = _places(rule, sources, rows.schema) if self._ordering else []

    def base_versions(self, base: pa.Table, keys: pa.ChunkedArray) -> pa.Table:
        """A version of each base row."""
        count = base.num_rows
        ordering = [column.slice(0, count) for column in self._ordering]
        numbers = pa.arange(0, count)
        deleted = pa.repeat(pa.scalar(value=False), count)
        natural = pc.invert(all_valid(ordering, count))
        return self._table(keys, deleted, natural, ordering, [numbers] * len(self._sources))

    def versions(self, versions: pa.Table, first: int) -> pa.Table:
        """The versions in the logs, whose rows stand from number `first` on."""
        numbers = pc.add(versions.column("row"), first)
        ordering = [versions.column(name) for name in ordering_names(self._rule)]
        deleted, natural = versions.column(_DELETED), versions.column(_NATURAL)
        return self._table(versions.column(KEY), deleted, natural, ordering, [numbers] * len(self._sources))

    def pair(self, older: pa.Table, newer: pa.Table) -> pa.Table:
        """For each line the winner, completed from the loser.

        Clauses: MG-003, MG-004, MG-005, MG-006, MG-025.
        """
        wins = self._newer_wins(older, newer)
        both = pc.invert(pc.or_(older.column(_DELETED), newer.column(_DELETED)))
        if self._rule.completion is not None and self._rule.completion.newer_only:
            both = pc.and_(both, wins)
        numbers = [
            self._completed(source, wins, both, older.column(f"from {index}"), newer.column(f"from {index}"))
            for index, source in enumerate(self._sources)
        ]
        deleted = pc.if_else(wins, newer.column(_DELETED), older.column(_DELETED))
        natural, ordering = self._merged_ordering(wins, deleted, numbers, older, newer)
        return self._table(older.column(KEY), deleted, natural, ordering, numbers)

    def rows(self, merged: pa.Table) -> pa.Table:
        """The rows that versions stand for."""
        taken: dict[str, pa.ChunkedArray] = {}
        for index, source in enumerate(self._sources):
            part = self._rows.select(list(source.columns)).take(merged.column(f"from {index}"))
            taken.update(zip(source.columns, part.columns, strict=True))
        return pa.Table.from_arrays([taken[name] for name in self._rows.column_names], schema=self._rows.schema)

    def _newer_wins(self, older: pa.Table, newer: pa.Table) -> pa.ChunkedArray:
        if not self._rule.compares_event_time:
            return pa.chunked_array([pa.repeat(pa.scalar(value=True), newer.num_rows)])
        names = ordering_names(self._rule)
        first, second = ([one.column(name) for name in names] for one in (older, newer))
        greater = pc.fill_null(exceeds(first, second, newer.num_rows), fill_value=False)
        uncompared = pc.or_(older.column(_NATURAL), newer.column(_NATURAL))
        return pc.or_(uncompared, pc.invert(greater))

    def _completed(
        self, source: _Source, wins: pa.ChunkedArray, both: pa.ChunkedArray, older: pa.Array, newer: pa.Array
    ) -> pa.Array:
        """Where the merged version has its columns from.

        Clauses: MG-021, MG-025, PL-004.
        """
        winner = pc.if_else(wins, newer, older)
        if source.newest:
            return pc.if_else(both, newer, winner)
        if source.sets is None:
            return winner
        loser = pc.if_else(wins, older, newer)
        lacks = pc.invert(pc.fill_null(source.sets.take(winner), fill_value=True))
        return pc.if_else(pc.and_(both, lacks), loser, winner)

    def _merged_ordering(
        self, wins: pa.ChunkedArray, deleted: pa.ChunkedArray, numbers: Sequence[Any], older: pa.Table, newer: pa.Table
    ) -> tuple[pa.ChunkedArray, list[pa.ChunkedArray]]:
        """The winner's ordering value, or that of the merged columns where the winner has none.

        Clauses: MG-025.
        """
        natural = pc.if_else(wins, newer.column(_NATURAL), older.column(_NATURAL))
        names = ordering_names(self._rule)
        ordering = [pc.if_else(wins, newer.column(name), older.column(name)) for name in names]
        if not names:
            return natural, ordering
        lacks = pc.and_not(natural, deleted)
        found = [
            column.take(numbers[place]) for column, place in zip(self._ordering, self._ordering_sources, strict=True)
        ]
        filled = [pc.if_else(lacks, one, other) for one, other in zip(found, ordering, strict=True)]
        still = pc.invert(all_valid(filled, len(natural)))
        return pc.if_else(lacks, still, natural), filled

    def _table(
        self, keys: Any, deleted: Any, natural: Any, ordering: Sequence[Any], numbers: Sequence[Any]
    ) -> pa.Table:
        names = [KEY, _DELETED, _NATURAL, *ordering_names(self._rule)]
        sources = [f"from {index}" for index in range(len(self._sources))]
        return pa.table([keys, deleted, natural, *ordering, *numbers], names=[*names, *sources])


def _places(rule: MergeRule, sources: Sequence[_Source], schema: pa.Schema) -> list[int]:
    """For each ordering column the source that its field belongs to."""
    place = {name: index for index, source in enumerate(sources) for name in source.columns}
    fields = [place[column_of(name, schema) or name] for name in rule.ordering]
    return fields * len(ordering_names(rule)) if rule.ordering_form == "log_places" else fields


def _sources(rows: pa.Table, base_rows: int, records: LogRecords, rule: MergeRule) -> list[_Source]:
    """Columns by what decides from which row they come: the blocks that leave them out, or their own values."""
    newest = META_FIELDS if rule.completion is not None and rule.completion.newest_meta else ()
    names = [name for name in rows.column_names if name not in newest]
    own = {name: _set_by_value(name, rows, rule.completion) for name in names}
    by_blocks: dict[tuple[bool, ...], list[str]] = {}
    sources: list[_Source] = []
    for name in names:
        left_out = tuple(name in missing for missing, _ in records.missing)
        if own[name] is None:
            by_blocks.setdefault(left_out, []).append(name)
        else:
            sets = pc.and_(own[name], _set_by_block(left_out, base_rows, records)) if any(left_out) else own[name]
            sources.append(_Source((name,), sets))
    for left_out, together in by_blocks.items():
        sources.append(_Source(tuple(together), _set_by_block(left_out, base_rows, records) if any(left_out) else None))
    meta = tuple(name for name in newest if name in rows.column_names)
    return [*sources, _Source(meta, None, newest=True)] if meta else sources


def _set_by_block(left_out: Sequence[bool], base_rows: int, records: LogRecords) -> pa.ChunkedArray:
    counts = [count for _, count in records.missing]
    parts = [pa.repeat(pa.scalar(not out), count) for out, count in zip(left_out, counts, strict=True)]
    return pa.chunked_array([pa.repeat(pa.scalar(value=True), base_rows), *parts])


def _set_by_value(name: str, rows: pa.Table, completion: Completion | None) -> pa.ChunkedArray | None:
    """Which rows hold a value of their own in a column; None where the mode takes every value for one.

    Clauses: MG-023, MG-024.
    """
    if completion is None or name in META_FIELDS:
        return None
    column = rows.column(name)
    if completion.unset == "unavailable":
        return _is_other_than(column, completion.unavailable) if _is_text(column.type) else None
    defaults: Mapping[str, Any] = dict(completion.defaults)
    if completion.unset == "defaults" and name in defaults:
        return _is_other_than(column, defaults[name])
    return pc.is_valid(column)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _is_other_than(column: pa.ChunkedArray, value: Any) -> pa.ChunkedArray:
    if pa.types.is_nested(column.type):
        return pa.chunked_array(
            [pa.array([one != value for one in column.to_pylist(maps_as_pydicts="lossy")], pa.bool_())]
        )
    wanted = value.encode() if isinstance(value, str) and pa.types.is_binary(column.type) else value
    return pc.fill_null(pc.not_equal(column, pa.scalar(wanted, column.type)), fill_value=True)
