"""The record payloads of Apache Hudi, as rules for merging without a payload."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from hudi_spark.merging.rules import Completion, MergeMode, MergeRule

UNAVAILABLE_VALUE: Final = "__debezium_unavailable_value"
_EVENT: Final[MergeMode] = "EVENT_TIME_ORDERING"
_COMMIT: Final[MergeMode] = "COMMIT_TIME_ORDERING"
_CHANGE_TYPE: Final = "_change_operation_type"

# Payload classes that say no more than a merge mode.
PAYLOAD_MODES: Final[Mapping[str, MergeMode]] = {
    "DefaultHoodieRecordPayload": _EVENT,
    "EventTimeAvroPayload": _EVENT,
    "OverwriteWithLatestAvroPayload": _COMMIT,
}
# Payloads whose tables have to be merged by the payload's own rule before version 9.
_RULES: Final[Mapping[str, MergeRule]] = {
    "OverwriteNonDefaultsWithLatestAvroPayload": MergeRule(
        _COMMIT, (), plain_deletes=True, plain_marks=True, completion=Completion("defaults")
    ),
    "PartialUpdateAvroPayload": MergeRule(
        _EVENT, (), plain_deletes=True, plain_marks=True, completion=Completion("nulls", newest_meta=True)
    ),
    "AWSDmsAvroPayload": MergeRule(
        _COMMIT, (), "Op", "D", marker_of_any_case=True, plain_deletes=True, plain_marks=True
    ),
    "PostgresDebeziumAvroPayload": MergeRule(
        _EVENT,
        ("_event_lsn",),
        _CHANGE_TYPE,
        "d",
        marker_of_any_case=True,
        plain_deletes=True,
        completion=Completion("unavailable", UNAVAILABLE_VALUE, newer_only=True),
    ),
    "MySqlDebeziumAvroPayload": MergeRule(
        _EVENT,
        ("_event_seq",),
        _CHANGE_TYPE,
        "d",
        marker_of_any_case=True,
        plain_deletes=True,
        ordering_form="log_places",
    ),
    # Both take the newer record as it is; the content of the first is compressed only on its way to the table.
    "HoodieJsonPayload": MergeRule(_COMMIT, ()),
    "EmptyHoodieRecordPayload": MergeRule(_COMMIT, ()),
}


def payload_name(payload_class: str | None) -> str:
    """The class without its package."""
    return (payload_class or "").rpartition(".")[2]


def payload_rule(payload_class: str | None, rule: MergeRule) -> MergeRule | None:
    """How a table merges that has a payload class and no mode; None for a class that is not known.

    `rule` has what the table says itself: ordering fields, delete marker.

    Clauses: PL-003, PL-004, PL-006, PL-007, PL-008, PL-009, PL-011.
    """
    found = _RULES.get(payload_name(payload_class))
    if found is None:
        return None
    return replace(
        found,
        ordering=found.ordering or rule.ordering,
        delete_field=found.delete_field or rule.delete_field,
        delete_marker=found.delete_marker or rule.delete_marker,
        deletes_reach_base=rule.deletes_reach_base,
    )
