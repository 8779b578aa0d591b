"""Which of two versions of a record wins is a property of the table: its merge mode, and how it is found."""

from collections.abc import Mapping
from dataclasses import replace

from hudi_model import merge_rules
from hudi_model.configuration import Configuration
from hudi_model.merge_rules import LATEST, MODE_OF_PAYLOAD, PAYLOADS, MergeMode, MergeRule, PartialUpdate, payload_name
from hudi_model.merging import REFERENCE_MERGERS, select_merger
from hudi_model.rejection import Reason, Rejection
from hudi_model.schemas import table_schema
from hudi_model.tables import View

MODE_OF_STRATEGY = {identifier: mode for mode, identifier in merge_rules.STRATEGY_OF_MODE.items()}


def merge_mode(configuration: Configuration) -> MergeMode:
    """The merge mode of a table.

    Before version 8 the payload class decides. [Modified in v8] The persisted mode does.

    Raises: PROPERTIES_INVALID where the persisted mode is none.

    Clauses: MG-001, MG-009, MG-012.
    """
    persisted, payload = persisted_mode(configuration), mode_of_payload(configuration)
    in_turn = (persisted, payload) if configuration.rules.mode_is_persisted else (payload, persisted)
    default = MergeMode.EVENT_TIME_ORDERING if configuration.ordering else MergeMode.COMMIT_TIME_ORDERING
    return next(mode for mode in (*in_turn, mode_of_strategy(configuration), default) if mode is not None)


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


def mode_of_strategy(configuration: Configuration) -> MergeMode | None:
    """The mode that the merge strategy's id stands for; version 6's own key names one id in every table.

    Clauses: MG-001.
    """
    strategy = configuration.properties.get("hoodie.record.merge.strategy.id", "").strip()
    return MODE_OF_STRATEGY.get(strategy, MergeMode.CUSTOM) if strategy else None


def merge_rule(configuration: Configuration) -> MergeRule:
    """How the rows of a table's log files merge.

    Raises: MERGER_UNKNOWN, PROPERTIES_INVALID.

    Clauses: MG-001, MG-008, MG-023, MG-024, RM-002.
    """
    properties, mode = configuration.properties, merge_mode(configuration)
    if mode is MergeMode.CUSTOM:
        return custom_rule(configuration)
    keys = (merge_rules.DELETE_FIELD, merge_rules.DELETE_MARKER, merge_rules.UNAVAILABLE)
    delete, marker, unavailable = (properties.get(name) for name in keys)
    habits = LATEST if payload_name(properties) == LATEST and not configuration.rules.mode_is_persisted else ""
    partial_update = partial_update_mode(properties)
    return MergeRule(mode, configuration.ordering, delete, marker, partial_update, unavailable, habits)


def table_rule(view: View) -> MergeRule:
    """How the rows of a table's log files merge, with what its schema says of columns.

    Before version 9 `PartialUpdateAvroPayload` knows no default but null.

    Raises: MERGER_UNKNOWN, PROPERTIES_INVALID, TIMELINE_FILE_CORRUPT; unsupported `schema-evolution`.

    Clauses: MG-001, MG-023, PL-003, PL-004.
    """
    rule = merge_rule(view.configuration)
    if rule.payload == "PartialUpdateAvroPayload":
        return rule
    defaults = {one.name: one.default for one in table_schema(view).fields if one.default is not None}
    return replace(rule, defaults=defaults)


def partial_update_mode(properties: Mapping[str, str]) -> PartialUpdate:
    """[New in v9] For which columns the loser's value stands; absent means for none.

    Raises: PROPERTIES_INVALID.

    Clauses: MG-026.
    """
    stated = properties.get("hoodie.table.partial.update.mode", "").strip() or "NONE"
    if stated not in PartialUpdate.__members__:
        detail = f"unknown partial update mode {stated!r}"
        raise Rejection(Reason.PROPERTIES_INVALID, "MG-026", "hoodie.properties", detail)
    return PartialUpdate(stated)


def custom_rule(configuration: Configuration) -> MergeRule:
    """Custom merging: by the merger that the strategy id names, else by the payload class.

    Raises: MERGER_UNKNOWN for a payload that nobody knows.

    Clauses: MG-001, PL-003, PL-004, PL-005, PL-006, PL-007, PL-008, PL-011, RM-002.
    """
    properties, ordering = configuration.properties, configuration.ordering
    name, strategy = payload_name(properties), properties.get("hoodie.record.merge.strategy.id", "").strip()
    names_merger = strategy not in ("", merge_rules.BY_PAYLOAD, *MODE_OF_STRATEGY)
    if names_merger and (configuration.rules.mode_is_persisted or not name):
        select_merger(strategy, "JAVA", REFERENCE_MERGERS)
        return MergeRule(MergeMode.CUSTOM, ordering, strategy=strategy, properties=properties)
    if name == "HoodieMetadataPayload":
        return MergeRule(MergeMode.CUSTOM, (), strategy=name)
    if name not in PAYLOADS:
        detail = f"no merger is known for {name or 'custom merging that names neither payload class nor merger'}"
        raise Rejection(Reason.MERGER_UNKNOWN, "MG-001", "hoodie.properties", detail)
    found = replace(PAYLOADS[name], ordering=PAYLOADS[name].ordering or ordering)
    return found if name in MODE_OF_PAYLOAD else replace(found, payload=name)
