"""Merging that looks at both versions of a record: partial updates, and mergers that the user registered.

key  versions      round 1    round 2
a    1 2 3     ->  (1+2) 3 -> ((1+2)+3)
b    4 5           (4+5)      .            records with more versions stand first, so that those
c    6             .          .            that go on are always a prefix

Rows are not moved while versions merge. Of each version it is known from which row of the slice it has each column:

version        id   name  price     name and price may come from different rows,
base row 0      0    0     0        and only at the end the values are taken
partial row 7   7    7     -  ->  7  7  0
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.schemas import META_FIELDS

from hudi_spark.merge.keys import column_of
from hudi_spark.merge.log_records import LogRecords, exceeds, is_unordered, ordering_columns, ordering_names
from hudi_spark.merge.mergers import CarriedMerger, Versions
from hudi_spark.merge.rules import Completion, MergeRule
from hudi_spark.schema import one_chunk

KEY: Final = "key"

Pair = Callable[[pa.Table, pa.Table], pa.Table]


def fold(versions: pa.Table, pair: Pair) -> pa.Table:
    """One line for each key, made of its versions from the oldest to the newest.

    `pair` makes one version of an older and a newer one, for tables whose lines belong together.

    Clauses: MG-025, RM-001.
    """
    if not versions.num_rows:
        return versions
    codes = versions.column(KEY).combine_chunks().dictionary_encode().indices
    placed, counts = _by_round(versions, codes)
    state, finished, start = placed.slice(0, counts[0]), [], counts[0]
    for count in counts[1:]:
        finished.append(state.slice(count))
        state = pair(state.slice(0, count), placed.slice(start, count))
        start += count
    return pa.concat_tables([state, *reversed(finished)])


def fold_over(base: pa.Table, logs: pa.Table, pair: Pair, *, base_first: bool) -> pa.Table:
    """Versions of base rows and of logs as one line for each base row, and for each key that no base row has.

    Every key of `base` is in `logs`. A key that stands twice in the base file has each of its rows met on its own.
    As released the logs are merged first and meet the base row then; `base_first` merges the other way.

    Clauses: DM-001, MG-013.
    """
    if not base_first:
        merged = fold(logs, pair)
        met = pc.index_in(base.column(KEY), value_set=merged.column(KEY).combine_chunks())
        numbers = pa.arange(0, merged.num_rows).cast(pa.int32())
        alone = pc.invert(pc.is_in(numbers, value_set=pa.chunked_array(met).combine_chunks()))
        return pa.concat_tables([pair(base, merged.take(met)), merged.filter(alone)]) if base.num_rows else merged
    parts: list[pa.Table] = []
    remaining, fitting = base, logs
    while not parts or remaining.num_rows:
        first = _first_of_each_key(remaining)
        heads = remaining.filter(first)
        parts.append(fold(pa.concat_tables([heads, fitting]), pair))
        remaining = remaining.filter(pc.invert(first))
        fitting = logs.filter(pc.is_in(logs.column(KEY), value_set=remaining.column(KEY).combine_chunks()))
    return pa.concat_tables(parts)


def _by_round(versions: pa.Table, codes: pa.Array) -> tuple[pa.Table, list[int]]:
    """The lines by number within their key, then by key, keys with most versions first; and how many each round has."""
    lines = pa.table({"code": codes, "line": pa.arange(0, len(codes))})
    counted = lines.group_by("code").aggregate([([], "count_all")])
    lines = lines.append_column("count", counted.column("count_all").take(pc.index_in(codes, counted.column("code"))))
    order = [("count", "descending"), ("code", "ascending"), ("line", "ascending")]
    lines = lines.take(pc.sort_indices(lines, sort_keys=order))
    number = _number_within(lines.column("code").combine_chunks())
    lines = lines.append_column("number", number)
    # The sort is stable: within a round the keys keep their order.
    rounds = lines.take(pc.sort_indices(lines, sort_keys=[("number", "ascending")]))
    sizes = rounds.group_by("number").aggregate([([], "count_all")]).sort_by("number").column("count_all").to_pylist()
    return versions.take(rounds.column("line")), sizes


def _number_within(codes: pa.Array) -> pa.Array:
    """For sorted codes, how many of the same stand before each."""
    positions = pa.arange(0, len(codes))
    begins = pa.concat_arrays([pa.array([True]), pc.not_equal(codes[1:], codes[:-1])])
    return pc.subtract(positions, pc.cumulative_max(pc.if_else(begins, positions, pa.scalar(0, pa.int64()))))


def _first_of_each_key(versions: pa.Table) -> pa.Array:
    codes = versions.column(KEY).combine_chunks().dictionary_encode().indices
    lines = pa.table({"code": codes, "line": pa.arange(0, len(codes))})
    firsts = lines.group_by("code").aggregate([("line", "min")]).column("line_min")
    return pc.is_in(lines.column("line"), value_set=firsts.combine_chunks())


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


def combine_completing(records: LogRecords, rule: MergeRule) -> pa.Table:
    """The row that the versions of each key end in, one that deletes included: nothing is completed from or into it.

    Clauses: MG-017, MG-025.
    """
    rows = records.rows.combine_chunks()
    merger = _Completing(rule, _sources(rows, 0, records, rule), rows)
    return merger.rows(fold(merger.versions(records.versions, 0), merger.pair))


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
        natural = is_unordered(ordering, count, whole=True)
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
        lacks = pc.and_not(is_unordered(ordering, len(natural), whole=False), deleted)
        found = [
            column.take(numbers[place]) for column, place in zip(self._ordering, self._ordering_sources, strict=True)
        ]
        filled = [pc.if_else(lacks, one, other) for one, other in zip(found, ordering, strict=True)]
        still = is_unordered(filled, len(natural), whole=True)
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


_KNOWN: Final = "known"
# Columns of the table stand beside those of the merge, so each kind has its prefix.
_ROW, _UNSET = "row:", "unset:"


def merge_custom(
    base: pa.Table, base_keys: pa.ChunkedArray, records: LogRecords, rule: MergeRule, carried: CarriedMerger
) -> pa.Table:
    """The merged rows of the keys in the logs; every row of `base` has one of them.

    Clauses: RM-001, RM-003, RM-004, RM-005, RM-006.
    """
    folding = _Custom(base.schema, rule, carried, tuple(sorted({name for out, _ in records.missing for name in out})))
    logs = folding.log_versions(records)
    merged = fold_over(folding.base_versions(base, base_keys), logs, folding.pair, base_first=rule.deletes_reach_base)
    present = merged.filter(pc.invert(merged.column(_DELETED)))
    return folding.versions(present).rows


def fold_custom_logs(records: LogRecords, rule: MergeRule, carried: CarriedMerger) -> tuple[pa.Table, pa.Table]:
    """The versions in logs merged among themselves, one line a key, and the rows of those that are no deletes.

    Clauses: LC-004, RM-001.
    """
    folding, merged = _folded(records, rule, carried)
    return merged, folding.versions(merged.filter(pc.invert(merged.column(_DELETED)))).rows


def combine_custom(
    records: LogRecords, rule: MergeRule, carried: CarriedMerger
) -> tuple[pa.ChunkedArray, pa.ChunkedArray, pa.Table]:
    """Of each key whether its versions end in a delete, the key, and the row that they end in.

    Clauses: MG-017, RM-001.
    """
    folding, merged = _folded(records, rule, carried)
    return merged.column(_DELETED), merged.column(KEY), folding.versions(merged).rows


def _folded(records: LogRecords, rule: MergeRule, carried: CarriedMerger) -> "tuple[_Custom, pa.Table]":
    unset = tuple(sorted({name for out, _ in records.missing for name in out}))
    folding = _Custom(records.rows.schema, rule, carried, unset)
    return folding, fold(folding.log_versions(records), folding.pair)


class _Custom:
    """Turns tables that fold into `Versions` and back, and asks the merger."""

    def __init__(self, schema: pa.Schema, rule: MergeRule, carried: CarriedMerger, partial: tuple[str, ...]) -> None:
        self._schema = schema
        self._rule = rule
        self._carried = carried
        self._partial = partial

    def base_versions(self, base: pa.Table, keys: pa.ChunkedArray) -> pa.Table:
        """A version of each base row."""
        count = base.num_rows
        true, false = (pa.repeat(pa.scalar(value), count) for value in (True, False))
        return self._table(keys, true, false, ordering_columns(base, self._rule), base, [false] * len(self._partial))

    def log_versions(self, records: LogRecords) -> pa.Table:
        """The versions in the logs; a tombstone's columns are null."""
        versions = records.versions
        places = versions.column("row")
        rows = records.rows.take(places)
        unset = [pc.fill_null(records.left_out(name).take(places), fill_value=False) for name in self._partial]
        ordering = [versions.column(name) for name in ordering_names(self._rule)]
        return self._table(versions.column(KEY), pc.is_valid(places), versions.column(_DELETED), ordering, rows, unset)

    def pair(self, older: pa.Table, newer: pa.Table) -> pa.Table:
        """What the merger makes of versions that meet."""
        first, second = self.versions(older), self.versions(newer)
        merged = self._carried.merger.merge(first, second, self._carried.context)
        unset = [merged.unset.get(name, pa.repeat(pa.scalar(value=False), len(merged))) for name in self._partial]
        rows = merged.rows.select(self._schema.names).cast(self._schema)
        ordering = self._kept_ordering(merged, first, second)
        return self._table(older.column(KEY), merged.known, merged.deleted, ordering, rows, unset)

    def versions(self, table: pa.Table) -> Versions:
        """Lines of a folding table as the merger sees them."""
        one = table.combine_chunks()
        rows = pa.Table.from_arrays([one.column(_ROW + name) for name in self._schema.names], schema=self._schema)
        ordering = pa.table([one.column(name) for name in ordering_names(self._rule)], names=list(self._rule.ordering))
        unset = {name: one_chunk(one.column(_UNSET + name)) for name in self._partial}
        return Versions(rows, one_chunk(one.column(_KNOWN)), one_chunk(one.column(_DELETED)), ordering, unset)

    def _kept_ordering(self, merged: Versions, older: Versions, newer: Versions) -> list[pa.ChunkedArray]:
        """Ordering values of the merged columns, else those that the merger answers, else those of either version.

        Clauses: RM-005.
        """
        of_rows = ordering_columns(merged.rows, self._rule)
        given = (merged.ordering, newer.ordering, older.ordering)
        return [pc.coalesce(column, *(table.column(index) for table in given)) for index, column in enumerate(of_rows)]

    def _table(  # noqa: PLR0917 - one line of a table needs them all
        self,
        keys: object,
        known: object,
        deleted: object,
        ordering: Sequence[object],
        rows: pa.Table,
        unset: Sequence[object],
    ) -> pa.Table:
        names = [KEY, _KNOWN, _DELETED, *ordering_names(self._rule)]
        names += [_ROW + name for name in self._schema.names] + [_UNSET + name for name in self._partial]
        return pa.table([keys, known, deleted, *ordering, *rows.columns, *unset], names=names)
