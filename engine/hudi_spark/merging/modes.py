"""Which merge mode a table has, inferred from its properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.readings import Reading
from hudi_spark.state.configuration import PROPERTIES_FILE, TableConfiguration

MergeMode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"]

_MODES: Mapping[str, MergeMode] = {
    "COMMIT_TIME_ORDERING": "COMMIT_TIME_ORDERING",
    "EVENT_TIME_ORDERING": "EVENT_TIME_ORDERING",
    "CUSTOM": "CUSTOM",
}
_STRATEGIES: Mapping[str, MergeMode] = {
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5": "EVENT_TIME_ORDERING",
    "ce9acb64-bde0-424c-9b91-f6ebba25356d": "COMMIT_TIME_ORDERING",
}
_PAYLOADS: Mapping[str, MergeMode] = {
    "DefaultHoodieRecordPayload": "EVENT_TIME_ORDERING",
    "EventTimeAvroPayload": "EVENT_TIME_ORDERING",
    "OverwriteWithLatestAvroPayload": "COMMIT_TIME_ORDERING",
}
# Payloads that Apache Hudi ships and this reader does not merge yet.
_UNBUILT_PAYLOADS = frozenset(
    {
        "OverwriteNonDefaultsWithLatestAvroPayload",
        "PartialUpdateAvroPayload",
        "AWSDmsAvroPayload",
        "PostgresDebeziumAvroPayload",
        "MySqlDebeziumAvroPayload",
        "HoodieMetadataPayload",
        "HoodieJsonPayload",
        "EmptyHoodieRecordPayload",
    }
)
# The mergers of the conformance suite, which this reader does not run yet.
_UNBUILT_MERGERS = frozenset(
    {
        "2e073cb4-ac99-573a-986a-1e30a8c39b14",
        "f4d090e1-8005-5437-b99b-455ae39820db",
        "a8a2be63-cd61-5653-a78e-c1ac920f0d25",
        "78bd11f0-7eb9-574e-b71c-8a553f04b96d",
    }
)
_BY_PAYLOAD = "00000000-0000-0000-0000-000000000000"
_PROPERTY = "hoodie.record.merge.property."
_DELETE_FIELD = "hoodie.payload.delete.field"
_DELETE_MARKER = "hoodie.payload.delete.marker"


@dataclass(frozen=True, slots=True)
class MergeRule:
    """How versions of a record compete.

    `delete_field` and `delete_marker` name a column and the value with which a data record is a delete.
    `deletes_reach_base`: a version without ordering value hides the base row from the versions after it.

    Clauses: MG-001, MG-008, MG-012, MG-013.
    """

    mode: MergeMode
    ordering: tuple[str, ...]
    delete_field: str | None = None
    delete_marker: str | None = None
    deletes_reach_base: bool = False

    @property
    def compares_event_time(self) -> bool:
        """Whether ordering values are compared at all."""
        return self.mode == "EVENT_TIME_ORDERING" and bool(self.ordering)


def merge_rule(
    configuration: TableConfiguration, configs: Mapping[str, str] | None = None, deletes: Reading = "released"
) -> MergeRule:
    """The rule by which records of a table merge; `configs` may name the delete marker.

    Clauses: MG-001, MG-008, MG-009, MG-012, MG-013.
    """
    properties = {**(configs or {}), **configuration.properties}
    return MergeRule(
        mode=_built_mode(configuration),
        ordering=configuration.ordering,
        delete_field=properties.get(_PROPERTY + _DELETE_FIELD) or properties.get(_DELETE_FIELD),
        delete_marker=properties.get(_PROPERTY + _DELETE_MARKER) or properties.get(_DELETE_MARKER),
        deletes_reach_base=deletes == "text",
    )


def merge_mode(configuration: TableConfiguration) -> MergeMode:
    """The merge mode: the payload class decides in version 6, the persisted mode from version 8 on.

    Clauses: MG-001, MG-009, MG-012.
    """
    persisted = _MODES.get(configuration.properties.get("hoodie.record.merge.mode", "").strip())
    by_payload = _of_payload(configuration.payload_class)
    first, second = (persisted, by_payload) if configuration.has_completion_times else (by_payload, persisted)
    return first or second or _of_strategy(configuration) or _default(configuration)


def _built_mode(configuration: TableConfiguration) -> MergeMode:
    """The mode by which records merge: a custom one that names no merger is that of its payload class, if known."""
    mode = merge_mode(configuration)
    named = configuration.properties.get("hoodie.record.merge.strategy.id", "").strip()
    if mode != "CUSTOM" or (configuration.has_completion_times and named not in ("", _BY_PAYLOAD, *_STRATEGIES)):
        return mode
    return _of_payload(configuration.payload_class) or mode


def refuse_unbuilt_merging(configuration: TableConfiguration) -> None:
    """Nothing when this reader can merge the table's records.

    Raises:
        UnsupportedFeature: a payload of Apache Hudi, a merger of the suite, or partial updates, that are not built.
        HudiError: MERGER_UNKNOWN for any other custom merging.

    Clauses: MG-001, MG-012.

    """
    partial = configuration.properties.get("hoodie.table.partial.update.mode", "").strip()
    if partial not in ("", "NONE"):
        raise UnsupportedFeature("partial-update", f"hoodie.table.partial.update.mode={partial}")
    if _built_mode(configuration) != "CUSTOM":
        return
    strategy = configuration.properties.get("hoodie.record.merge.strategy.id", "no strategy id").strip()
    if strategy in _UNBUILT_MERGERS:
        raise UnsupportedFeature("merge-custom")
    payload = (configuration.payload_class or "").rpartition(".")[2]
    if payload in _UNBUILT_PAYLOADS:
        raise UnsupportedFeature(f"payload-{payload}")
    hint = "read the table with the writer's own merger"
    what = payload or strategy
    raise HudiError(Reason.MERGER_UNKNOWN, "MG-001", f"no merger is known for {what}", PROPERTIES_FILE, hint=hint)


def _of_payload(payload_class: str | None) -> MergeMode | None:
    if payload_class is None:
        return None
    return _PAYLOADS.get(payload_class.rpartition(".")[2], "CUSTOM")


def _of_strategy(configuration: TableConfiguration) -> MergeMode | None:
    """The old key of version 6 names the event time strategy in every table, so it is not asked."""
    strategy = configuration.properties.get("hoodie.record.merge.strategy.id", "").strip()
    return _STRATEGIES.get(strategy, "CUSTOM") if strategy else None


def _default(configuration: TableConfiguration) -> MergeMode:
    """Clauses: MG-001."""
    return "EVENT_TIME_ORDERING" if configuration.ordering else "COMMIT_TIME_ORDERING"
