"""Versions of one record compete: by commit time, by event time, or by the table's own merger; partial updates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hudi_model.files import META_FIELDS, DataBlock, Record, Schema, Value, source_of
from hudi_model.merge_rules import MergeMode, MergeRule, PartialUpdate, Version, is_greater, ordering_of
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Reading, Readings


def merge(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The version that wins, completed from the other; `newer` stands later in merge order.

    Raises: MERGER_UNKNOWN.

    Clauses: MG-002, MG-003, MG-025, RM-001.
    """
    if rule.strategy:
        return merged_by_strategy(rule, older, newer)
    by_event_time = rule.mode is MergeMode.EVENT_TIME_ORDERING
    winner = merge_by_event_time(older, newer) if by_event_time else merge_by_commit_time(older, newer)
    return completed(rule, newer, older) if winner is newer else kept(rule, older, newer)


def merge_by_commit_time(older: Version, newer: Version) -> Version:  # noqa: ARG001 - the rule is that it does not matter
    """The later write wins, whatever the two hold.

    Clauses: MG-002.
    """
    return newer


def merge_by_event_time(older: Version, newer: Version) -> Version:
    """The greater ordering value wins, a tie goes to the newer; what has no ordering value beats what precedes it.

    Clauses: MG-003, MG-004, MG-005, MG-006, MG-011.
    """
    if older.ordering is None or newer.ordering is None:
        return newer
    return older if is_greater(older.ordering, newer.ordering) else newer


def fold(
    rule: MergeRule, versions: Iterable[Version], start: Mapping[str, Version] | None = None
) -> dict[str, Version]:
    """The winner of each key among versions in merge order, deletes that won included.

    Clauses: DM-001, MG-002, MG-003.
    """
    winners = dict(start or {})
    for version in versions:
        older = winners.get(version.key)
        winners[version.key] = version if older is None else merge(rule, older, version)
    return winners


def merge_slice(
    rule: MergeRule, rows: Iterable[Version], changes: Iterable[Version], readings: Readings
) -> tuple[Record, ...]:
    """The rows of a slice, for a query as for its compaction: what is left of its base file's, and what changes add.

    As released the changes compete among themselves first, and the winner meets the base row.
    In the text's order each change meets what the ones before it left: a delete stays done.
    Where a base file holds a key twice, each of its rows meets the changes on its own.

    Clauses: DM-001, MG-012, MG-013, MG-018, RD-017.
    """
    base, changed = tuple(rows), tuple(changes)
    winners = fold(rule, changed)
    if readings.delete_without_ordering is Reading.TEXT:
        of_key = {key: [change for change in changed if change.key == key] for key in winners}
        left = [fold(rule, of_key.get(row.key, ()), {row.key: row})[row.key] for row in base]
    else:
        left = [merge(rule, row, winners[row.key]) if row.key in winners else row for row in base]
    added = [winners[key] for key in sorted(winners.keys() - {row.key for row in base})]
    return tuple(version.record for version in (*left, *added) if version.record and not version.is_delete)


def completed(rule: MergeRule, winner: Version, loser: Version) -> Version:
    """The winner, with the loser's values for the columns that it does not set; a delete neither gives nor takes.

    Clauses: MG-021, MG-022, MG-023, MG-024, MG-025.
    """
    if winner.record is None or loser.record is None:
        return winner
    taken = {name: value for name, value in loser.record.values.items() if not sets_column(rule, winner, name)}
    record = Record({**winner.record.values, **taken})
    own = winner.ordering
    ordering = ordering_of(record.values, rule) if own is None or None in own else own
    return Version(winner.key, record, ordering, winner.partial and loser.partial) if taken else winner


def sets_column(rule: MergeRule, winner: Version, name: str) -> bool:
    """Whether a version says what a column holds: a partial one where it has the column.

    By the table's mode the column's default, or the text (or bytes) that stands for an unavailable value, says nothing.

    Clauses: MG-021, MG-023, MG-024.
    """
    if winner.record is None or name not in winner.record.values:
        return not winner.partial
    value = winner.record.values[name]
    if rule.partial_update is PartialUpdate.IGNORE_DEFAULTS:
        return value != rule.defaults.get(name)
    sentinel = rule.unavailable if rule.partial_update is PartialUpdate.FILL_UNAVAILABLE else None
    return sentinel is None or value not in (sentinel, sentinel.encode())


def kept(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The older version where it wins: what came late still fills what it does not set.

    Before version 9 a payload lets late data fill with `PartialUpdateAvroPayload` alone, the meta fields with it.

    Clauses: MG-025, PL-004, PL-007.
    """
    if rule.payload and rule.partial_update is not PartialUpdate.IGNORE_DEFAULTS:
        return older
    found = completed(rule, older, newer)
    if not rule.payload or found.record is None or newer.record is None:
        return found
    late = {name: newer.record.values[name] for name in META_FIELDS if name in newer.record.values}
    return Version(found.key, Record({**found.record.values, **late}), found.ordering, found.partial)


def columns_of_block(block: DataBlock, schema: Schema, stored: Schema | None) -> Schema:
    """The table's columns that a block's records set: all, or in a partial block those that it holds.

    Clauses: MG-021, MG-022, DM-021.
    """
    own = (stored or schema).fields
    return Schema(tuple(one for one in schema.fields if source_of(one, own))) if block.partial else schema


Merge: TypeAlias = Callable[[MergeRule, Version, Version], Version]
"""The older and the newer version to one, which is never nothing."""


@dataclass(frozen=True, slots=True)
class RecordMerger:
    """What decides under custom merging: two functions, the id by which tables name it, the records it takes.

    Clauses: RM-001, RM-003, RM-006.
    """

    strategy: str
    merge: Merge
    partial_merge: Merge
    """For versions that may hold only some columns; the result holds those of either."""
    record_type: str = "AVRO"


RECORD_TYPES = {"JAVA": "AVRO", "HIVE": "AVRO", "SPARK": "SPARK", "FLINK": "FLINK"}
"""The records that each engine can hand to a merger."""


def select_merger(strategy: str, engine: str, implementations: Sequence[RecordMerger]) -> RecordMerger:
    """The first implementation listed that has the table's strategy id and takes the engine's records.

    Raises: MERGER_UNKNOWN where there is none.

    Clauses: RM-002.
    """
    for merger in implementations:
        if merger.strategy == strategy and merger.record_type == RECORD_TYPES.get(engine):
            return merger
    detail = f"no merger for {engine} has the strategy id {strategy}"
    raise Rejection(Reason.MERGER_UNKNOWN, "RM-002", "hoodie.properties", detail)


def merged_by_strategy(rule: MergeRule, older: Version, newer: Version) -> Version:
    """Two versions as the table's own merger has them; the model runs Avro mergers, as Java does.

    Raises: MERGER_UNKNOWN.

    Clauses: RM-001, RM-002, RM-006.
    """
    merger = select_merger(rule.strategy, "JAVA", (METADATA, *REFERENCE_MERGERS))
    return (merger.partial_merge if older.partial or newer.partial else merger.merge)(rule, older, newer)


def columns_of(rule: MergeRule) -> tuple[str, ...]:
    """The columns that a reference merger works on: what the table states its merger, else the ordering fields.

    Clauses: RM-011.
    """
    names = rule.properties.get("hoodie.record.merge.property.hudi.conformance.columns", "")
    return tuple(name.strip() for name in names.split(",") if name.strip()) or rule.ordering


def greater_of_two(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The record that is greater in the first column, then in the second; a tie goes to the newer.

    A tombstone without these values loses to every record.

    Clauses: RM-008.
    """
    left, right = columns_or_ordering(rule, older), columns_or_ordering(rule, newer)
    if left is None or right is None:
        return older if right is None and left is not None else newer
    return older if is_greater(left, right) else newer


def columns_or_ordering(rule: MergeRule, version: Version) -> tuple[Value, ...] | None:
    """The values of a row's columns; a tombstone has those that are ordering fields. None where any is missing."""
    known = data_of(version) if version.record else dict(zip(rule.ordering, version.ordering or (), strict=False))
    found = tuple(known.get(name) for name in columns_of(rule))
    return None if None in found else found


def counted(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The newer record with the columns of both put together. A delete keeps them, so that a later record adds to it.

    Clauses: RM-003, RM-004, RM-005, RM-007, RM-009.
    """
    first, second = data_of(older), data_of(newer)
    values = {**first, **second, **{name: together(first.get(name), second.get(name)) for name in columns_of(rule)}}
    ordering = ordering_of(values, rule) or newer.ordering or older.ordering
    return Version(newer.key, Record(values), ordering, older.partial and newer.partial, newer.is_delete)


def used_up(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The same, and the row is deleted where nothing is left in any of the columns; a tombstone takes nothing.

    Clauses: RM-004, RM-010.
    """
    found = counted(rule, older, newer)
    nothing_left = all(not data_of(found).get(name) for name in columns_of(rule))
    return Version(found.key, found.record, found.ordering, found.partial, nothing_left)


def data_of(version: Version) -> Mapping[str, Value]:
    """A version's columns; none of a tombstone."""
    return version.record.values if version.record else {}


def together(older: Value, newer: Value) -> Value:
    """Two values as one: the sum of numbers, the members of either list, sorted; a null adds nothing.

    Clauses: RM-007, RM-009.
    """
    if older is None or newer is None:
        return newer if older is None else older
    if isinstance(older, list) and isinstance(newer, list):
        return sorted({*older, *newer})  # type: ignore[type-var]
    return older + newer  # type: ignore[operator]


def listed(_: MergeRule, older: Version, newer: Version) -> Version:
    """A newer entry of the metadata table; of two lists of files what either says, and of a file what the newer says.

    Clauses: MT-008.
    """
    old, new = data_of(older), data_of(newer)
    both = {name for name in new if isinstance(old.get(name), dict) and isinstance(new[name], dict)}
    lists = {name: {**old[name], **new[name]} for name in both}  # type: ignore[dict-item]
    return Version(newer.key, Record({**new, **lists}) if lists else newer.record, None)


COUNTER = RecordMerger("2e073cb4-ac99-573a-986a-1e30a8c39b14", counted, counted)
GREATER_OF_TWO = RecordMerger("f4d090e1-8005-5437-b99b-455ae39820db", greater_of_two, greater_of_two)
SET_UNION = RecordMerger("a8a2be63-cd61-5653-a78e-c1ac920f0d25", counted, counted)
DELETE_AT_ZERO = RecordMerger("78bd11f0-7eb9-574e-b71c-8a553f04b96d", used_up, used_up)
METADATA = RecordMerger("HoodieMetadataPayload", listed, listed)
REFERENCE_MERGERS = (COUNTER, GREATER_OF_TWO, SET_UNION, DELETE_AT_ZERO)
"""The ids are those of the URLs `urn:hudi-conformance:merger:<name>` by uuid version 5."""
