"""By which rule the versions of a record compete: modes, payload classes as rules, and what a version is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hudi_model.files import Delete, Ordering, Record, Value, value_at
from hudi_model.rejection import StrEnum


class MergeMode(StrEnum):
    """How versions of a record compete."""

    COMMIT_TIME_ORDERING = "COMMIT_TIME_ORDERING"
    EVENT_TIME_ORDERING = "EVENT_TIME_ORDERING"
    CUSTOM = "CUSTOM"


class PartialUpdate(StrEnum):
    """[New in v9] For which columns of the winner the loser's value stands."""

    NONE = "NONE"
    IGNORE_DEFAULTS = "IGNORE_DEFAULTS"
    FILL_UNAVAILABLE = "FILL_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class MergeRule:
    """The mode, the ordering fields, what marks a data record as a delete, and what a winner takes from the loser."""

    mode: MergeMode
    ordering: tuple[str, ...]
    delete_field: str | None = None
    delete_marker: str | None = None
    partial_update: PartialUpdate = PartialUpdate.NONE
    unavailable: str | None = None
    payload: str = ""
    """The payload class whose own habits the table has, before version 9."""
    strategy: str = ""
    """The id of the merger that decides in place of a mode."""
    properties: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Value] = field(default_factory=dict)
    """The columns whose default is another than null."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a record: a row, or None for a delete; without ordering values, it competes by position."""

    key: str
    record: Record | None
    ordering: tuple[Value, ...] | None
    partial: bool = False
    """The record holds only the columns that it changes."""
    deleted: bool = False
    """A merger deleted the row; its data stay for the merges that follow."""

    @property
    def is_delete(self) -> bool:
        """Whether this version removes its key."""
        return self.deleted or self.record is None


def version_of_record(record: Record, key: str, rule: MergeRule, *, partial: bool = False) -> Version:
    """A data record as a version: a row, or a delete where the record is marked as one.

    Clauses: MG-006, MG-008, PL-009.
    """
    ordering = ordering_of(record.values, rule)
    if not is_marked_deleted(record, rule):
        return Version(key, record, None if partial and None in (ordering or ()) else ordering, partial)
    return Version(key, None, None if rule.payload and rule.delete_field is None else ordering)


def version_of_row(record: Record, key: str, rule: MergeRule) -> Version:
    """A row of a base file as a version: whatever it holds, it is there.

    Clauses: MG-008.
    """
    return Version(key, record, ordering_of(record.values, rule))


def version_of_delete(delete: Delete, rule: MergeRule) -> Version:
    """A tombstone as a version. Payloads know nothing of a tombstone's ordering value.

    Clauses: LF-017, MG-005, MG-006, PL-009.
    """
    if is_without_ordering(delete) or rule.payload:
        return Version(delete.key, None, None)
    values = delete.ordering if isinstance(delete.ordering, tuple) else (delete.ordering,)
    return Version(delete.key, None, values if len(values) == len(rule.ordering) and None not in values else None)


def is_without_ordering(delete: Delete) -> bool:
    """Whether a tombstone carries no ordering value: the integer 0 stands for none, whatever the field's type.

    Clauses: LF-017.
    """
    return delete.ordering is None or (is_integer_zero(delete.ordering) and not delete.zero_is_value)


def is_integer_zero(ordering: Ordering) -> bool:
    """Whether an ordering value could be taken for none."""
    return type(ordering) is int and ordering == 0


def is_marked_deleted(record: Record, rule: MergeRule) -> bool:
    """Whether a data record deletes its key: by `_hoodie_is_deleted`, by its operation, or by the table's marker.

    `D` deletes, `-U` is what an update replaces. Payloads do not mind the case of their marker.

    Clauses: MG-008, MG-014, PL-006.
    """
    values = record.values
    if values.get("_hoodie_is_deleted") is True or values.get("_hoodie_operation") in ("D", "-U"):
        return True
    if rule.delete_field is None or rule.delete_marker is None or values.get(rule.delete_field) is None:
        return False
    marker = str(values[rule.delete_field])
    return marker == rule.delete_marker or (rule.payload != "" and marker.lower() == rule.delete_marker.lower())


def ordering_of(values: Mapping[str, Value], rule: MergeRule) -> tuple[Value, ...] | None:
    """A row's ordering values; None where there are no ordering fields, or all of them are null.

    Clauses: MG-007, MG-011, PL-008.
    """
    found = tuple(value_at(values, name) for name in rule.ordering)
    if all(one is None for one in found):
        return None
    return binlog_position(found[0]) if rule.ordering == ("_event_seq",) and rule.payload else found


def binlog_position(sequence: Value) -> tuple[Value, ...] | None:
    """The number of a binary log's file and the place in it, of a text like `003.120`; None for any other.

    Clauses: PL-008.
    """
    file, _, place = str(sequence).partition(".")
    return (int(file), int(place)) if file.isdecimal() and place.isdecimal() else None


def is_greater(left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
    """Whether ordering values are greater than others, field by field; null and other values do not compare.

    Clauses: MG-004, MG-007, MG-011.
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


DELETE_FIELD = "hoodie.record.merge.property.hoodie.payload.delete.field"
DELETE_MARKER = "hoodie.record.merge.property.hoodie.payload.delete.marker"
UNAVAILABLE = "hoodie.record.merge.property.hoodie.write.partial.update.unavailable.value"
EVENT_TIME, COMMIT_TIME = MergeMode.EVENT_TIME_ORDERING, MergeMode.COMMIT_TIME_ORDERING
STRATEGY_OF_MODE = {
    EVENT_TIME: "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
    COMMIT_TIME: "ce9acb64-bde0-424c-9b91-f6ebba25356d",
}
BY_PAYLOAD = "00000000-0000-0000-0000-000000000000"
"""The strategy id that says: the payload class merges."""
DEFAULT = "DefaultHoodieRecordPayload"
LATEST, POSTGRES, MYSQL = "OverwriteWithLatestAvroPayload", "PostgresDebeziumAvroPayload", "MySqlDebeziumAvroPayload"
NOTHING, DEFAULTS, FILL = PartialUpdate.NONE, PartialUpdate.IGNORE_DEFAULTS, PartialUpdate.FILL_UNAVAILABLE
CHANGE, TOAST = "_change_operation_type", "__debezium_unavailable_value"

PAYLOADS = {
    LATEST: MergeRule(COMMIT_TIME, ()),
    DEFAULT: MergeRule(EVENT_TIME, ()),
    "EventTimeAvroPayload": MergeRule(EVENT_TIME, ()),
    "OverwriteNonDefaultsWithLatestAvroPayload": MergeRule(COMMIT_TIME, (), partial_update=DEFAULTS),
    "PartialUpdateAvroPayload": MergeRule(EVENT_TIME, (), partial_update=DEFAULTS),
    "AWSDmsAvroPayload": MergeRule(COMMIT_TIME, (), "Op", "D"),
    POSTGRES: MergeRule(EVENT_TIME, ("_event_lsn",), CHANGE, "d", FILL, TOAST),
    MYSQL: MergeRule(EVENT_TIME, ("_event_seq",), CHANGE, "d"),
}
"""The payload classes that the format gives up. Two order by columns of their own, the others by the table's."""

MODE_OF_PAYLOAD = {name: rule.mode for name, rule in tuple(PAYLOADS.items())[:3]}
"""Those that are no more than a mode; before version 9 any other is custom."""


def payload_name(properties: Mapping[str, str]) -> str:
    """The payload class without its package, or the empty text."""
    return properties.get("hoodie.compaction.payload.class", "").strip().rpartition(".")[2]
