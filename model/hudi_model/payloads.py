"""Payload classes, the older way to merge: what each means as a merge rule, and what version 9 makes of it."""

from collections.abc import Mapping

from hudi_model.merge_rules import MergeMode, MergeRule, PartialUpdate

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
PACKAGE = "org.apache.hudi.common.model."
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


def version_9_properties(name: str, ordering: str) -> dict[str, str]:
    """[New in v9] What a table has in place of a payload class that the format gives up; its name is kept aside.

    Clauses: PL-010.
    """
    rule = PAYLOADS[name]
    own = "_event_bin_file,_event_pos" if name == MYSQL else ",".join(rule.ordering)
    stated = {
        "hoodie.table.legacy.payload.class": PACKAGE + ("debezium." if rule.ordering else "") + name,
        "hoodie.record.merge.mode": rule.mode.value,
        "hoodie.table.ordering.fields": own or ordering,
        "hoodie.table.partial.update.mode": rule.partial_update.value.replace("NONE", ""),
        DELETE_FIELD: rule.delete_field,
        DELETE_MARKER: rule.delete_marker,
        UNAVAILABLE: rule.unavailable,
    }
    return {key: value for key, value in stated.items() if value}
