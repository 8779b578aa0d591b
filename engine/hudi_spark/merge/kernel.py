"""The merge kernel: a slice's base rows and the versions in its logs become the rows of a snapshot.

Versions compete by key first among themselves, oldest to newest, then the winner meets the base row:

commit time   the later version wins
event time    the greater ordering value wins, a tie goes to the later version;
              a version without ordering value beats what precedes it and loses to what follows
completed     what a partial update leaves out comes from the version that lost: see `pairwise`
custom        a merger makes one version of two: see `pairwise`

Clauses: LC-004, MG-002.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.merge.keys import RECORD_KEY, KeyRule, field_type
from hudi_spark.merge.log_records import (
    LogRecords,
    any_valid,
    exceeds,
    flagged_deletes,
    is_unordered,
    marked_deletes,
    ordering_columns,
    ordering_names,
    stored_ordering,
    version_schema,
)
from hudi_spark.merge.mergers import CarriedMerger
from hudi_spark.merge.pairwise import (
    combine_completing,
    combine_custom,
    fold,
    fold_custom_logs,
    fold_logs,
    merge_completing,
    merge_custom,
)
from hudi_spark.merge.rules import MergeRule
from hudi_spark.schema import one_chunk, paired, plain_values
from hudi_spark.table_state import COMMIT_TIME

_CODE: Final = "code"
_SEQUENCE: Final = "sequence"
_SHIELDED: Final = "shielded"


def winning_versions(versions: pa.Table, rule: MergeRule) -> pa.Table:
    """One line for each key: the version that wins among those in the logs.

    Clauses: MG-002, MG-003, MG-004, MG-005, MG-006, MG-007.
    """
    codes = one_chunk(versions.column("key").combine_chunks().dictionary_encode())
    if len(codes.dictionary) == versions.num_rows:
        # No two of one key: each wins, and what has no ordering value beats what came before the logs.
        return versions.append_column(_SHIELDED, versions.column("natural")) if rule.compares_event_time else versions
    sequence = pa.arange(0, versions.num_rows)
    numbered = versions.append_column(_CODE, codes.indices).append_column(_SEQUENCE, sequence)
    if not rule.compares_event_time:
        return _last_of_each(numbered, [])
    numbered = _from_last_natural(numbered)
    if _has_gaps(numbered, rule):
        return fold(numbered, partial(_later_unless_greater, rule)).drop_columns([_CODE, _SEQUENCE])
    # The natural version that is left is the oldest of its key: whatever else is left beats it.
    ranked = numbered.append_column("competes", pc.invert(numbered.column("natural")).cast(pa.int8()))
    return _last_of_each(ranked, ["competes", *ordering_names(rule)]).drop_columns(["competes"])


def merge(base: pa.Table, records: LogRecords, keys: KeyRule, rule: MergeRule, file: str = "") -> pa.Table:
    """The rows that base rows, those of `file`, and versions of records in the logs merge to.

    `base` and `records.rows` have the same columns. Where a base file holds a key twice, each of its rows meets the
    version on its own, so that both stay, go, or are replaced.

    Raises:
        HudiError: KEY_MISSING for a base row that has no key to be merged by.

    Clauses: DM-001, MG-002, MG-003, MG-004, MG-018, RD-017.

    """
    found = _base_keys(base, records, keys, file)
    if not (rule.completes or records.partial):
        return _merge_whole(base, found, records, rule)
    touched = pc.is_in(found, value_set=one_chunk(records.versions.column("key")))
    met, of_met = base.filter(touched), found.filter(touched)
    if rule.merger is not None:
        merged = merge_custom(met, of_met, records, rule, rule.merger)
    else:
        merged = merge_completing(met, of_met, records, rule)
    return pa.concat_tables([base.filter(pc.invert(touched)), merged])


def _base_keys(base: pa.Table, records: LogRecords, keys: KeyRule, file: str) -> pa.ChunkedArray:
    """The key of each base row; where versions state positions, of those rows only that they change.

    Clauses: DM-001, LF-023.
    """
    if records.positions is None:
        return keys.stored_keys(base, file)
    versions = pc.index_in(pa.chunked_array([pa.arange(0, base.num_rows)]), value_set=one_chunk(records.positions))
    return records.versions.column("key").take(versions)


def _merge_whole(base: pa.Table, keys: pa.ChunkedArray, records: LogRecords, rule: MergeRule) -> pa.Table:
    """Base rows that no version beats, then the winning versions that are no deletes."""
    winners = winning_versions(records.versions, rule)
    positions = pc.index_in(keys, value_set=winners.column("key").combine_chunks())
    beaten = _base_wins(base, winners, positions, rule)
    kept = base.filter(pc.or_(pc.is_null(positions), beaten))
    numbers = pa.chunked_array([pa.arange(0, winners.num_rows).cast(pa.int32())])
    alone = numbers.filter(pc.invert(pc.is_in(numbers, value_set=one_chunk(positions))))
    replacing = positions.filter(pc.and_(pc.is_valid(positions), pc.invert(beaten)))
    won = winners.take(pa.chunked_array([*replacing.chunks, *alone.chunks], pa.int32()))
    return pa.concat_tables([kept, records.rows.take(won.filter(pc.invert(won.column("deleted"))).column("row"))])


def _from_last_natural(numbered: pa.Table) -> pa.Table:
    """The versions from the last one without ordering value on, for each key.

    Clauses: MG-005, MG-011.
    """
    natural = numbered.filter(numbered.column("natural"))
    if not natural.num_rows:
        return numbered.append_column(_SHIELDED, pa.repeat(pa.scalar(value=False), numbered.num_rows))
    last = natural.group_by(_CODE, use_threads=False).aggregate([(_SEQUENCE, "max")])
    position = pc.index_in(numbered.column(_CODE), value_set=last.column(_CODE).combine_chunks())
    barrier = pc.fill_null(last.column(f"{_SEQUENCE}_max").take(position), -1)
    shielded = numbered.append_column(_SHIELDED, pc.is_valid(position))
    return shielded.filter(pc.greater_equal(numbered.column(_SEQUENCE), barrier))


def _has_gaps(versions: pa.Table, rule: MergeRule) -> bool:
    """Whether a version has some of several ordering values only, so that versions have no one order.

    Clauses: MG-011.
    """
    ordering, count = [versions.column(name) for name in ordering_names(rule)], versions.num_rows
    if len(ordering) < 2:
        return False
    lacks_any, lacks_all = (is_unordered(ordering, count, whole=whole) for whole in (False, True))
    return bool(pc.any(pc.and_not(lacks_any, lacks_all)).as_py())


def _later_unless_greater(rule: MergeRule, older: pa.Table, newer: pa.Table) -> pa.Table:
    """Clauses: MG-003, MG-007, MG-011."""
    first, second = ([one.column(name) for name in ordering_names(rule)] for one in (older, newer))
    natural = pc.or_(older.column("natural"), newer.column("natural"))
    stays = pc.and_not(pc.fill_null(exceeds(first, second, newer.num_rows), fill_value=False), natural)
    lines = pa.arange(0, newer.num_rows)
    return pa.concat_tables([older, newer]).take(pc.if_else(stays, lines, pc.add(lines, newer.num_rows)))


def _last_of_each(numbered: pa.Table, ranks: list[str]) -> pa.Table:
    """The last version of each key by the ranks given, then by position.

    Clauses: MG-004, MG-007.
    """
    order = [(name, "ascending", "at_start") for name in (_CODE, *ranks, _SEQUENCE)]
    placed = numbered.take(pc.sort_indices(numbered, sort_keys=order))
    codes = placed.column(_CODE).combine_chunks()
    if not len(codes):
        return placed.drop_columns([_CODE, _SEQUENCE])
    changes = pc.not_equal(codes[:-1], codes[1:])
    last = pa.concat_arrays([one_chunk(changes), pa.array([True])])
    return placed.filter(last).drop_columns([_CODE, _SEQUENCE])


def _base_wins(base: pa.Table, winners: pa.Table, positions: pa.ChunkedArray, rule: MergeRule) -> pa.ChunkedArray:
    """For each base row whether a version of its key lost to it; false where there is none.

    Clauses: MG-003, MG-004, MG-005, MG-007, MG-011, MG-013.
    """
    if not rule.compares_event_time:
        return pa.chunked_array([pa.repeat(pa.scalar(value=False), base.num_rows)])
    ordering = ordering_columns(base, rule)
    # As released only the version that is left meets the base row, in the text also those that it has beaten.
    alone = _SHIELDED if rule.deletes_reach_base else "natural"
    met = winners.select([alone, *ordering_names(rule)]).take(positions)
    beaten = met.column(alone)
    competes = pc.and_(any_valid(ordering, base.num_rows), pc.fill_null(pc.invert(beaten), fill_value=False))
    greater = exceeds(ordering, [met.column(name) for name in ordering_names(rule)], base.num_rows)
    return pc.and_(competes, pc.fill_null(greater, fill_value=False))


def incoming_records(
    rows: pa.Table,
    rule: MergeRule,
    *,
    deletes: pa.ChunkedArray | None = None,
    missing: frozenset[str] = frozenset(),
    keys: pa.ChunkedArray | None = None,
) -> LogRecords:
    """Incoming rows, oldest first, as the versions that a merge takes.

    `deletes`: rows that remove their key whatever ordering value they have. `missing`: columns that the rows, being
    partial updates, leave out. `keys`: by what versions meet, where that is more than `_hoodie_record_key`.

    Clauses: MG-003, MG-005, MG-008, MG-021, RM-004.
    """
    count = rows.num_rows
    none = pa.chunked_array([pa.repeat(pa.scalar(value=False), count)])
    unconditional = none if deletes is None else deletes
    flagged, marked = flagged_deletes(rows), marked_deletes(rows, rule)
    ordering = ordering_columns(rows, rule)
    natural = pc.or_(is_unordered(ordering, count, whole=not missing), unconditional)
    places = pa.chunked_array([pa.arange(0, count)])
    if rule.merger is not None:
        # To a merger a delete by key is a tombstone, as a log has it: without ordering values and columns.
        ordering = [pc.if_else(unconditional, pa.scalar(None, one.type), one) for one in ordering]
        places = pc.if_else(unconditional, pa.scalar(None, places.type), places)
    if rule.plain_marks:
        natural = pc.or_(natural, pc.or_(flagged, marked))
    deleted = pc.or_(pc.or_(flagged, marked), unconditional)
    met_by = rows.column(RECORD_KEY) if keys is None else keys
    columns = [met_by, places, deleted, natural, *ordering]
    versions = pa.Table.from_arrays(columns, schema=version_schema(rows.schema, rule))
    return LogRecords(rows, versions, ((missing, count),))


def combined(
    rows: pa.Table, rule: MergeRule, missing: frozenset[str] = frozenset(), keys: pa.ChunkedArray | None = None
) -> pa.Table:
    """One row for each key: its versions merged, oldest first. Rows that delete stay, being versions like others.

    `keys` as for `incoming_records`.

    Clauses: MG-002, MG-003, MG-004, DM-001.
    """
    met_by = rows.column(RECORD_KEY) if keys is None else keys
    if pc.count_distinct(met_by).as_py() == rows.num_rows:
        return rows
    records = incoming_records(rows, rule, missing=missing, keys=met_by)
    if rule.merger is not None:
        return _combined_by_merger(records, rule, rule.merger)
    if rule.completes or records.partial:
        return combine_completing(records, rule)
    alive = pa.chunked_array([pa.repeat(pa.scalar(value=False), rows.num_rows)])
    place = records.versions.column_names.index("deleted")
    versions = records.versions.set_column(place, "deleted", alive)
    kept = LogRecords(records.rows, versions, records.missing)
    return merge(rows.schema.empty_table(), kept, KeyRule(), rule)


def _combined_by_merger(records: LogRecords, rule: MergeRule, carried: CarriedMerger) -> pa.Table:
    """The same by a merger, to which rows that delete are tombstones; of a key that ends in one its last stays.

    Clauses: MG-017, RM-001.
    """
    versions = records.versions
    deletes, rows = versions.column("deleted"), versions.column("row")
    bare = pc.if_else(deletes, pa.scalar(None, rows.type), rows)
    bare_versions = versions.set_column(versions.column_names.index("row"), "row", bare)
    gone, keys, merged = combine_custom(LogRecords(records.rows, bare_versions, records.missing), rule, carried)
    last = pa.table({"key": versions.column("key").filter(deletes), "row": rows.filter(deletes)})
    last = last.group_by("key").aggregate([("row", "max")])
    last = last.filter(pc.is_in(last.column("key"), value_set=one_chunk(keys.filter(gone))))
    return pa.concat_tables([merged.filter(pc.invert(gone)), records.rows.take(last.column("row_max"))])


@dataclass(frozen=True, slots=True)
class LogWinners:
    """One version a key: rows that stay with their keys, and keys that are deleted.

    `ordering`: for each ordering field that counts what the deletes compete with, as the table's column has it.
    `natural`: the deletes that go without.

    Clauses: LC-004, MG-005.
    """

    rows: pa.Table
    keys: pa.ChunkedArray
    deleted: pa.ChunkedArray
    natural: pa.ChunkedArray
    ordering: Sequence[pa.ChunkedArray]


def log_winners(records: LogRecords, rule: MergeRule) -> LogWinners:
    """What is left of the versions in logs when they have met each other, in the way in which they do in a query.

    Clauses: LC-004, MG-002, MG-003, MG-004, MG-025, RM-001.
    """
    if rule.merger is not None:
        folded, rows = fold_custom_logs(records, rule, rule.merger)
    elif rule.completes or records.partial:
        folded, rows = fold_logs(records, rule)
    else:
        folded = winning_versions(records.versions, rule)
        rows = records.rows.take(_kept(folded).column("row"))
    gone = folded.filter(folded.column("deleted"))
    schema = records.rows.schema
    kinds = [field_type(name, schema) for name in rule.ordering] if ordering_names(rule) else []
    ordering = stored_ordering([gone.column(name) for name in ordering_names(rule)], kinds, rule)
    natural = is_unordered(ordering, gone.num_rows, whole=False) if ordering else _all(gone.num_rows)
    if "natural" in gone.column_names and ordering:
        natural = pc.or_(natural, gone.column("natural"))
    return LogWinners(rows, _kept(folded).column("key"), gone.column("key"), natural, ordering)


def _kept(folded: pa.Table) -> pa.Table:
    return folded.filter(pc.invert(folded.column("deleted")))


def _all(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.repeat(pa.scalar(value=True), count)])


_BITS: Final = {32: pa.int32(), 64: pa.int64()}


def differs(rows: pa.Table, before: pa.Table, columns: Sequence[str]) -> pa.ChunkedArray:
    """For each row whether no row of its key was there before with its commit time and its values in some columns.

    Clauses: IN-001.
    """
    if not before.num_rows:
        return pa.chunked_array([pa.repeat(pa.scalar(value=True), rows.num_rows)])
    # A key may stand twice where inserts left it so: each row is compared with each of its key.
    pairs = paired(rows, before, [RECORD_KEY], "inner")
    left, right = rows.take(pairs.column("row")), before.take(pairs.column("other"))
    same = pa.repeat(pa.scalar(value=True), pairs.num_rows)
    for name in (COMMIT_TIME, *columns):
        same = pc.and_(same, same_values(left.column(name), right.column(name)))
    unchanged = one_chunk(pairs.column("row").filter(same))
    numbers = pa.chunked_array([pa.arange(0, rows.num_rows)])
    return pc.invert(pc.is_in(numbers, value_set=unchanged))


def same_values(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.Array:
    """For each place whether two columns of one type hold the same: null is null, and not-a-number itself.

    Clauses: IN-001, CD-004.
    """
    one, other = one_chunk(left), one_chunk(right)
    if pa.types.is_nested(one.type):
        same = (repr(a) == repr(b) for a, b in zip(plain_values(one), plain_values(other), strict=True))
        return pa.array(same, pa.bool_())
    if pa.types.is_floating(one.type):
        bits = _BITS[one.type.bit_width]
        one, other = one.view(bits), other.view(bits)
    equal = pc.fill_null(pc.equal(one, other), fill_value=False)
    return pc.or_(equal, pc.and_(pc.is_null(one), pc.is_null(other)))
