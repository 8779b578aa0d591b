"""Custom merging: the record merger, how one is chosen, and four to test implementations with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hudi_model.merge_rules import MergeRule, Version, is_greater, ordering_of
from hudi_model.records import Record, Value
from hudi_model.rejection import Reason, Rejection

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
    """The columns that a reference merger works on: what the table tells its merger, else the ordering fields.

    Clauses: RM-011.
    """
    told = rule.properties.get("hoodie.record.merge.property.hudi.conformance.columns", "")
    return tuple(name.strip() for name in told.split(",") if name.strip()) or rule.ordering


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
    """The values of a row's columns, or a tombstone's ordering values; None where any is missing."""
    found = tuple(data_of(version).get(name) for name in columns_of(rule))
    return version.ordering if version.record is None else None if None in found else found


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
