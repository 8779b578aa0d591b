"""Which rule a table's records merge by, inferred from its properties."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.merging.mergers import CarriedMerger, MergeContext, chosen_merger
from hudi_spark.merging.payloads import PAYLOAD_MODES, payload_name, payload_rule
from hudi_spark.merging.rules import Completion, MergeMode, MergeRule
from hudi_spark.readings import Reading
from hudi_spark.state.configuration import PROPERTIES_FILE, TableConfiguration

_MODES: Final[Mapping[str, MergeMode]] = {
    "COMMIT_TIME_ORDERING": "COMMIT_TIME_ORDERING",
    "EVENT_TIME_ORDERING": "EVENT_TIME_ORDERING",
    "CUSTOM": "CUSTOM",
}
STRATEGIES: Final[Mapping[str, MergeMode]] = {
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5": "EVENT_TIME_ORDERING",
    "ce9acb64-bde0-424c-9b91-f6ebba25356d": "COMMIT_TIME_ORDERING",
}
BY_PAYLOAD: Final = "00000000-0000-0000-0000-000000000000"
_STRATEGY: Final = "hoodie.record.merge.strategy.id"
PROPERTY: Final = "hoodie.record.merge.property."
DELETE_FIELD: Final = "hoodie.payload.delete.field"
DELETE_MARKER: Final = "hoodie.payload.delete.marker"
PARTIAL_UPDATES: Final = "hoodie.table.partial.update.mode"
UNAVAILABLE: Final = "hoodie.write.partial.update.unavailable.value"


def merge_rule(
    configuration: TableConfiguration,
    configs: Mapping[str, str] | None = None,
    deletes: Reading = "released",
    defaults: Mapping[str, Any] | None = None,
) -> MergeRule:
    """The rule by which records of a table merge.

    `configs` may name the delete marker and list mergers. `defaults`: columns whose default is not null.

    Raises:
        HudiError: MERGER_UNKNOWN for custom merging without a merger that fits; PROPERTIES_INVALID for an unknown
            partial update mode.
        UnsupportedFeature: payload-HoodieMetadataPayload, which merges no data table.

    Clauses: MG-001, MG-008, MG-009, MG-012, MG-013, MG-026, PL-010, PL-011, RM-002.

    """
    properties = {**(configs or {}), **configuration.properties}
    rule = MergeRule(
        mode=_built_mode(configuration),
        ordering=configuration.ordering,
        delete_field=properties.get(PROPERTY + DELETE_FIELD) or properties.get(DELETE_FIELD),
        delete_marker=properties.get(PROPERTY + DELETE_MARKER) or properties.get(DELETE_MARKER),
        deletes_reach_base=deletes == "text",
        completion=completion_of(configuration),
    )
    if rule.mode == "CUSTOM":
        rule = _custom_rule(configuration, rule, configs or {})
    if rule.completion is None or not defaults:
        return rule
    return replace(rule, completion=replace(rule.completion, defaults=tuple(defaults.items())))


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
    if mode != "CUSTOM" or _names_merger(configuration):
        return mode
    return _of_payload(configuration.payload_class) or mode


def _names_merger(configuration: TableConfiguration) -> bool:
    """Clauses: RM-002."""
    named = configuration.properties.get(_STRATEGY, "").strip()
    return configuration.has_completion_times and named not in ("", BY_PAYLOAD, *STRATEGIES)


def _custom_rule(configuration: TableConfiguration, rule: MergeRule, configs: Mapping[str, str]) -> MergeRule:
    """Clauses: PL-011, RM-002, RM-011."""
    if _names_merger(configuration):
        merger = chosen_merger(configuration.properties[_STRATEGY].strip(), configs)
        context = MergeContext(_merge_properties(configuration), configuration.ordering)
        return replace(rule, merger=CarriedMerger(merger, context))
    payload = payload_name(configuration.payload_class)
    if payload == "HoodieMetadataPayload":
        raise UnsupportedFeature("payload-HoodieMetadataPayload")
    found = payload_rule(payload, rule)
    if found is None:
        message = f"no merger is known for {payload or 'a table without strategy id and payload class'}"
        hint = "read the table with the writer's own merger"
        raise HudiError(Reason.MERGER_UNKNOWN, "MG-001", message, PROPERTIES_FILE, hint=hint)
    return found


def _merge_properties(configuration: TableConfiguration) -> dict[str, str]:
    return {
        key.removeprefix(PROPERTY): value for key, value in configuration.properties.items() if key.startswith(PROPERTY)
    }


def completion_of(configuration: TableConfiguration) -> Completion | None:
    """How a table completes partial records, None where it does not.

    Raises:
        HudiError: PROPERTIES_INVALID for a mode that is none.

    Clauses: MG-023, MG-024, MG-026.

    """
    mode = configuration.properties.get(PARTIAL_UPDATES, "").strip()
    if mode in ("", "NONE"):
        return None
    if mode == "IGNORE_DEFAULTS":
        return Completion("defaults")
    if mode == "FILL_UNAVAILABLE":
        return Completion("unavailable", configuration.properties.get(PROPERTY + UNAVAILABLE, ""))
    message = f"{PARTIAL_UPDATES} {mode!r} is none of NONE, IGNORE_DEFAULTS, FILL_UNAVAILABLE"
    raise HudiError(Reason.PROPERTIES_INVALID, "MG-026", message, PROPERTIES_FILE, hint="restore the table's mode")


def _of_payload(payload_class: str | None) -> MergeMode | None:
    return None if payload_class is None else PAYLOAD_MODES.get(payload_name(payload_class), "CUSTOM")


def _of_strategy(configuration: TableConfiguration) -> MergeMode | None:
    """The old key of version 6 names the event time strategy in every table, so it is not asked."""
    strategy = configuration.properties.get(_STRATEGY, "").strip()
    return STRATEGIES.get(strategy, "CUSTOM") if strategy else None


def _default(configuration: TableConfiguration) -> MergeMode:
    """Clauses: MG-001."""
    return "EVENT_TIME_ORDERING" if configuration.ordering else "COMMIT_TIME_ORDERING"
