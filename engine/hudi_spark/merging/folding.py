"""Versions of records merged pair by pair in merge order, all records of a slice at once.

key  versions      round 1    round 2
a    1 2 3     ->  (1+2) 3 -> ((1+2)+3)
b    4 5           (4+5)      .            records with more versions stand first, so that those
c    6             .          .            that go on are always a prefix
"""

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

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
