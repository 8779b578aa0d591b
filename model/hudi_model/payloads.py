"""Payload classes, the older way to merge: what each means as a merge rule, and what version 9 makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_model.merge_rules import MergeMode, PartialUpdate

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
NOTHING = PartialUpdate.NONE
LATEST = "OverwriteWithLatestAvroPayload"


@dataclass(frozen=True, slots=True)
class Payload:
    """What a payload class amounts to: a mode, what a winner takes from the loser, and what marks a delete."""

    mode: MergeMode
    partial_update: PartialUpdate = NOTHING
    ordering: tuple[str, ...] = ()
    """The columns it orders by before version 9, whatever the table's ordering fields are."""
    ordering_9: tuple[str, ...] = ()
    """The ordering fields that a table of version 9 has for it."""
    delete: tuple[str, str] | tuple[None, None] = (None, None)
    """The column and the text in it that mark a delete."""
    unavailable: str | None = None
    package: str = PACKAGE


DEBEZIUM = PACKAGE + "debezium."
DELETED = ("_change_operation_type", "d")
LSN, FILE = ("_event_lsn",), ("_event_bin_file", "_event_pos")
TOAST = "__debezium_unavailable_value"
PAYLOADS = {
    LATEST: Payload(COMMIT_TIME),
    "DefaultHoodieRecordPayload": Payload(EVENT_TIME),
    "EventTimeAvroPayload": Payload(EVENT_TIME),
    "OverwriteNonDefaultsWithLatestAvroPayload": Payload(COMMIT_TIME, PartialUpdate.IGNORE_DEFAULTS),
    "PartialUpdateAvroPayload": Payload(EVENT_TIME, PartialUpdate.IGNORE_DEFAULTS),
    "AWSDmsAvroPayload": Payload(COMMIT_TIME, delete=("Op", "D")),
    "PostgresDebeziumAvroPayload": Payload(
        EVENT_TIME, PartialUpdate.FILL_UNAVAILABLE, LSN, LSN, DELETED, TOAST, DEBEZIUM
    ),
    "MySqlDebeziumAvroPayload": Payload(EVENT_TIME, NOTHING, ("_event_seq",), FILE, DELETED, None, DEBEZIUM),
}
"""The payload classes that the format gives up."""

MODE_OF_PAYLOAD = {
    name: one.mode for name, one in PAYLOADS.items() if one in (Payload(EVENT_TIME), Payload(COMMIT_TIME))
}
"""Those that are no more than a mode; before version 9 any other is custom."""


def payload_name(properties: Mapping[str, str]) -> str:
    """The payload class without its package, or the empty text."""
    return properties.get("hoodie.compaction.payload.class", "").strip().rpartition(".")[2]


def version_9_properties(name: str, ordering: str) -> dict[str, str]:
    """[New in v9] What a table has in place of a payload class that the format gives up; its name is kept aside.

    Clauses: PL-010.
    """
    payload = PAYLOADS[name]
    stated = {
        "hoodie.table.legacy.payload.class": payload.package + name,
        "hoodie.record.merge.mode": payload.mode.value,
        "hoodie.table.ordering.fields": ",".join(payload.ordering_9) or ordering,
        "hoodie.table.partial.update.mode": payload.partial_update.value.replace("NONE", ""),
        DELETE_FIELD: payload.delete[0],
        DELETE_MARKER: payload.delete[1],
        UNAVAILABLE: payload.unavailable,
    }
    return {key: value for key, value in stated.items() if value}
