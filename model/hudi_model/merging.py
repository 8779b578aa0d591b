"""Versions of one record compete: by commit time, by event time, as data or as deletes."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hudi_model.merge_modes import MergeMode, MergeRule
from hudi_model.readings import Reading, Readings
from hudi_model.records import Delete, Ordering, Record, Value


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: a row, or None for a delete; without ordering values, it competes by position."""

    key: str
    record: Record | None
    ordering: tuple[Value, ...] | None

    @property
    def is_delete(self) -> bool:
        """Whether this version removes its key."""
        return self.record is None


def version_of_record(record: Record, key: str, rule: MergeRule) -> Version:
    """A data record as a version: a row, or a delete where the record is marked as one.

    Clauses: MG-006, MG-008.
    """
    return Version(key, None if is_marked_deleted(record, rule) else record, ordering_of(record.values, rule))


def version_of_row(record: Record, key: str, rule: MergeRule) -> Version:
    """A row of a base file as a version: whatever it holds, it is there.

    Clauses: MG-008.
    """
    return Version(key, record, ordering_of(record.values, rule))


def version_of_delete(delete: Delete, rule: MergeRule) -> Version:
    """A tombstone as a version.

    Clauses: LF-017, MG-005, MG-006.
    """
    if is_without_ordering(delete):
        return Version(delete.key, None, None)
    values = delete.ordering if isinstance(delete.ordering, tuple) else (delete.ordering,)
    fits = len(values) == len(rule.ordering) and None not in values
    return Version(delete.key, None, values if fits else None)


def is_without_ordering(delete: Delete) -> bool:
    """Whether a tombstone carries no ordering value: the integer 0 stands for none, whatever the field's type.

    Clauses: LF-017.
    """
    is_zero = type(delete.ordering) is int and delete.ordering == 0
    return delete.ordering is None or (is_zero and not delete.zero_is_value)


def is_marked_deleted(record: Record, rule: MergeRule) -> bool:
    """Whether a data record deletes its key: by `_hoodie_is_deleted`, by its operation, or by the table's marker.

    Clauses: MG-008.
    """
    values = record.values
    if values.get("_hoodie_is_deleted") is True or values.get("_hoodie_operation") == "D":
        return True
    if rule.delete_field is None or rule.delete_marker is None:
        return False
    marker = values.get(rule.delete_field)
    return marker is not None and str(marker) == rule.delete_marker


def ordering_of(values: Mapping[str, Value], rule: MergeRule) -> tuple[Value, ...] | None:
    """A row's ordering values; None where there are no ordering fields, or one of them is null.

    Clauses: MG-007, MG-011.
    """
    found = tuple(values.get(name) for name in rule.ordering)
    return found if found and None not in found else None


def merge(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The version that wins; `newer` stands later in merge order.

    Clauses: MG-002, MG-003.
    """
    if rule.mode is MergeMode.EVENT_TIME_ORDERING:
        return merge_by_event_time(older, newer)
    return merge_by_commit_time(older, newer)


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


def is_greater(left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
    """Whether ordering values are greater than others, field by field; values of two kinds do not compare.

    Clauses: MG-004, MG-007.
    """
    try:
        return [comparable(value) for value in left] > [comparable(value) for value in right]
    except TypeError:
        return False


def comparable(value: Ordering) -> Any:
    """A value in a form that Python orders as the format does: minus zero before zero, not-a-number last.

    Clauses: MG-003.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    if value != value:  # noqa: PLR0124 - not-a-number, of either kind
        return (True, 0, 1.0)
    return (False, value, math.copysign(1.0, value) if isinstance(value, float) else 1.0)


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
    """The rows of a slice: those of its base file that no change beats, and the changes that win and are no deletes.

    As released the changes compete among themselves first, and the winner meets the base row.
    In the text's order each change meets what the ones before it left: a delete stays done.
    Where a base file holds a key twice, each of its rows meets the changes on its own.

    Clauses: DM-001, MG-012, MG-013, RD-017.
    """
    base, changed = tuple(rows), tuple(changes)
    winners = fold(rule, changed)
    if readings.delete_without_ordering is Reading.TEXT:
        of_key = {key: [change for change in changed if change.key == key] for key in winners}
        left = [fold(rule, of_key.get(row.key, ()), {row.key: row})[row.key] for row in base]
    else:
        left = [merge(rule, row, winners[row.key]) if row.key in winners else row for row in base]
    added = [winners[key] for key in sorted(winners.keys() - {row.key for row in base})]
    return tuple(version.record for version in (*left, *added) if version.record is not None)
