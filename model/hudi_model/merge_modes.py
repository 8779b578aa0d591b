"""Which of two versions of a record wins is a property of the table: its merge mode, and how it is found."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hudi_model.configuration import Configuration
from hudi_model.readings import Reading, Readings
from hudi_model.rejection import Reason, Rejection, Unsupported


class MergeMode(StrEnum):
    """How versions of a record compete."""

    COMMIT_TIME_ORDERING = "COMMIT_TIME_ORDERING"
    EVENT_TIME_ORDERING = "EVENT_TIME_ORDERING"
    CUSTOM = "CUSTOM"


MODE_OF_PAYLOAD = {
    "DefaultHoodieRecordPayload": MergeMode.EVENT_TIME_ORDERING,
    "EventTimeAvroPayload": MergeMode.EVENT_TIME_ORDERING,
    "OverwriteWithLatestAvroPayload": MergeMode.COMMIT_TIME_ORDERING,
}
"""The payload classes, the older way to merge, that amount to a mode; any other is custom."""

MODE_OF_STRATEGY = {
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5": MergeMode.EVENT_TIME_ORDERING,
    "ce9acb64-bde0-424c-9b91-f6ebba25356d": MergeMode.COMMIT_TIME_ORDERING,
}

SHIPPED_PAYLOADS = frozenset(
    {
        "AWSDmsAvroPayload",
        "EventTimeAvroPayload",
        "ExpressionPayload",
        "HoodieMetadataPayload",
        "MySqlDebeziumAvroPayload",
        "OverwriteNonDefaultsWithLatestAvroPayload",
        "PartialUpdateAvroPayload",
        "PostgresDebeziumAvroPayload",
    }
)
"""Payload classes with a meaning of their own that the model does not hold yet."""

DELETE_FIELD = "hoodie.record.merge.property.hoodie.payload.delete.field"
DELETE_MARKER = "hoodie.record.merge.property.hoodie.payload.delete.marker"


@dataclass(frozen=True, slots=True)
class MergeRule:
    """The mode, the ordering fields, and what marks a data record as a delete."""

    mode: MergeMode
    ordering: tuple[str, ...]
    delete_field: str | None = None
    delete_marker: str | None = None


def merge_mode(configuration: Configuration) -> MergeMode:
    """The merge mode of a table.

    Before version 8 the payload class decides. [Modified in v8] The persisted mode does.

    Raises: PROPERTIES_INVALID where the persisted mode is none.

    Clauses: MG-001, MG-009, MG-012.
    """
    persisted, payload = persisted_mode(configuration), mode_of_payload(configuration)
    in_turn = (persisted, payload) if configuration.rules.mode_is_persisted else (payload, persisted)
    candidates = (*in_turn, mode_of_strategy(configuration), default_mode(configuration))
    return next(mode for mode in candidates if mode is not None)


def persisted_mode(configuration: Configuration) -> MergeMode | None:
    """The mode that the properties state.

    Raises: PROPERTIES_INVALID.

    Clauses: MG-012.
    """
    stated = configuration.properties.get("hoodie.record.merge.mode", "").strip()
    if not stated:
        return None
    if stated not in MergeMode.__members__:
        detail = f"unknown merge mode {stated!r}"
        raise Rejection(Reason.PROPERTIES_INVALID, "MG-012", "hoodie.properties", detail)
    return MergeMode(stated)


def mode_of_payload(configuration: Configuration) -> MergeMode | None:
    """The mode that the payload class amounts to.

    Clauses: MG-009.
    """
    name = payload_name(configuration.properties)
    return MODE_OF_PAYLOAD.get(name, MergeMode.CUSTOM) if name else None


def payload_name(properties: Mapping[str, str]) -> str:
    """The payload class without its package, or the empty text."""
    return properties.get("hoodie.compaction.payload.class", "").strip().rpartition(".")[2]


def mode_of_strategy(configuration: Configuration) -> MergeMode | None:
    """The mode that the merge strategy's id stands for; version 6's own key names one id in every table.

    Clauses: MG-001.
    """
    strategy = configuration.properties.get("hoodie.record.merge.strategy.id", "").strip()
    return MODE_OF_STRATEGY.get(strategy, MergeMode.CUSTOM) if strategy else None


def default_mode(configuration: Configuration) -> MergeMode:
    """By event time where there are ordering fields, else by commit time.

    Clauses: MG-001.
    """
    return MergeMode.EVENT_TIME_ORDERING if configuration.ordering else MergeMode.COMMIT_TIME_ORDERING


def merge_rule(configuration: Configuration) -> MergeRule:
    """How the rows of a table's log files merge.

    Raises: MERGER_UNKNOWN; unsupported `partial-update`, `payload-<Class>`.

    Clauses: MG-001, MG-008.
    """
    properties = configuration.properties
    if properties.get("hoodie.table.partial.update.mode", "NONE") not in ("", "NONE"):
        raise Unsupported("partial-update")
    mode = merge_mode(configuration)
    if mode is MergeMode.CUSTOM:
        raise unknown_merger(properties)
    return MergeRule(mode, configuration.ordering, properties.get(DELETE_FIELD), properties.get(DELETE_MARKER))


def unknown_merger(properties: Mapping[str, str]) -> Rejection | Unsupported:
    """What stands against a custom merge: a payload that is not modelled yet, or a merger nobody knows.

    Clauses: MG-001.
    """
    payload = payload_name(properties)
    if payload in SHIPPED_PAYLOADS:
        return Unsupported(f"payload-{payload}")
    merger = payload or properties.get("hoodie.record.merge.strategy.id") or "no strategy"
    return Rejection(Reason.MERGER_UNKNOWN, "MG-001", "hoodie.properties", f"no merger is known for {merger}")


def write_mode(configuration: Configuration, asked: MergeMode | None, readings: Readings) -> MergeMode:
    """The mode that a write uses which asks for one: the table's own, which the text lets a writer override.

    Raises: CONFIG_INVALID where as released the two differ.

    Clauses: MG-010.
    """
    persisted = merge_mode(configuration)
    if asked is None or asked is persisted:
        return persisted
    if readings.mode_override is Reading.TEXT:
        return asked
    raise Rejection(Reason.CONFIG_INVALID, "MG-010", "hoodie.write.record.merge.mode", f"the table has {persisted}")
