"""The mergers of the conformance suite: each implementation may have them, so that custom merging can be compared."""

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_spark.merge import MergeContext, Versions, register

COLUMNS: Final = "hudi.conformance.columns"


def register_reference_mergers() -> None:
    """Let tables of the conformance suite's mergers be read."""
    for merger in (Counter(), GreaterOfTwo(), SetUnion(), DeleteAtZero()):
        register(merger)


class Counter:
    """Adds up the columns named; the other columns are the newer record's.

    Clauses: RM-007.
    """

    strategy_id = "2e073cb4-ac99-573a-986a-1e30a8c39b14"

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:
        """A tombstone deletes the row and keeps the sums."""
        return _combined(older, newer, context, _sum)


class SetUnion:
    """Unites the lists of texts in the columns named; the other columns are the newer record's.

    Clauses: RM-009.
    """

    strategy_id = "a8a2be63-cd61-5653-a78e-c1ac920f0d25"

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:
        """A tombstone deletes the row and keeps the members."""
        return _combined(older, newer, context, _union)


class DeleteAtZero:
    """Adds up the columns named, and deletes the row exactly where all of them are zero or null.

    Clauses: RM-010.
    """

    strategy_id = "78bd11f0-7eb9-574e-b71c-8a553f04b96d"

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:
        """A tombstone adds nothing."""
        merged = _combined(older, newer, context, _sum)
        gone = pa.repeat(pa.scalar(value=True), len(merged))
        for name in _columns(context):
            column = merged.column(name)
            gone = pc.and_(gone, pc.fill_null(pc.equal(column, pa.scalar(0, pa.int8())), fill_value=True))
        return merged.with_deleted(gone)


class GreaterOfTwo:
    """Keeps the record that is greater in the columns named, compared in turn; a tie goes to the newer.

    Clauses: RM-008.
    """

    strategy_id = "f4d090e1-8005-5437-b99b-455ae39820db"

    def merge(self, older: Versions, newer: Versions, context: MergeContext) -> Versions:
        """One of the two, whole; of partial updates the winner, completed from the other."""
        first, second = (_ranks(versions, context) for versions in (older, newer))
        greater = pa.repeat(pa.scalar(value=False), len(newer))
        for one, other in reversed(list(zip(first, second, strict=True))):
            greater = pc.or_kleene(pc.greater(one, other), pc.and_kleene(pc.equal(one, other), greater))
        ranked, met = _all_valid(first, len(newer)), _all_valid(second, len(newer))
        newer_wins = pc.if_else(
            pc.and_(ranked, met), pc.invert(pc.fill_null(greater, False)), pc.or_(met, pc.invert(ranked))
        )
        winner = newer.chosen_over(older, newer_wins)
        if not (older.unset or newer.unset):
            return winner
        completed = newer.completed_by(older).chosen_over(older.completed_by(newer), newer_wins)
        both = pc.invert(pc.or_(older.deleted, newer.deleted))
        return completed.chosen_over(winner, both)


def _columns(context: MergeContext) -> tuple[str, ...]:
    """Clauses: RM-011."""
    named = tuple(name.strip() for name in context.properties.get(COLUMNS, "").split(",") if name.strip())
    return named or context.ordering


def _combined(
    older: Versions, newer: Versions, context: MergeContext, combine: Callable[[pa.Array, pa.Array], pa.Array]
) -> Versions:
    merged = newer.completed_by(older)
    for name in _columns(context):
        merged = merged.with_column(name, combine(older.column(name), newer.column(name)))
    return merged


def _sum(older: pa.Array, newer: pa.Array) -> pa.Array:
    total = pc.add(pc.coalesce(older, newer), pc.if_else(pc.is_valid(older), newer, pa.scalar(0, newer.type)))
    return pc.coalesce(total, older, newer)


def _union(older: pa.Array, newer: pa.Array) -> pa.Array:
    pairs = zip(older.to_pylist(), newer.to_pylist(), strict=True)
    return pa.array(
        [None if one is other is None else sorted({*(one or ()), *(other or ())}) for one, other in pairs], newer.type
    )


def _ranks(versions: Versions, context: MergeContext) -> list[pa.Array]:
    """What a version competes with: a record's columns, a tombstone's ordering values of the same names."""
    ordering = versions.ordering.combine_chunks()
    deletes = pc.or_(versions.deleted, pc.invert(versions.known))
    ranks = []
    for name in _columns(context):
        column = versions.column(name)
        stated = pa.nulls(len(column), column.type)
        if name in context.ordering[: ordering.num_columns]:
            stated = ordering.column(context.ordering.index(name)).combine_chunks().cast(column.type)
        ranks.append(pc.if_else(deletes, stated, column))
    return ranks


def _all_valid(columns: list[pa.Array], count: int) -> pa.Array:
    valid = pa.repeat(pa.scalar(value=True), count)
    for column in columns:
        valid = pc.and_(valid, pc.is_valid(column))
    return valid
