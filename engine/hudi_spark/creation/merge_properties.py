"""How a new table merges records: mode, strategy id and payload class agree, and each table version states its part.

Version 6 states a payload class, 8 all three, 9 a mode and what the old payload classes stood for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.creation.definition import SettledTable, invalid
from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.merging.modes import BY_PAYLOAD, DELETE_FIELD, DELETE_MARKER, PARTIAL_UPDATES, PROPERTY, UNAVAILABLE
from hudi_spark.merging.modes import STRATEGIES as _MODE_OF_STRATEGY
from hudi_spark.merging.payloads import PAYLOAD_MODES, UNAVAILABLE_VALUE, payload_name, payload_rule
from hudi_spark.merging.rules import MergeMode, MergeRule

_MODELS: Final = "org.apache.hudi.common.model."
PAYLOAD_OF_MODE: Final[Mapping[MergeMode, str]] = {
    "EVENT_TIME_ORDERING": _MODELS + "DefaultHoodieRecordPayload",
    "COMMIT_TIME_ORDERING": _MODELS + "OverwriteWithLatestAvroPayload",
}
STRATEGY_OF_MODE: Final = {mode: strategy for strategy, mode in _MODE_OF_STRATEGY.items()}
# Releases before 1.0 write it beside every payload class of a merge-on-read table.
_STRATEGY_OF_VERSION_6: Final = STRATEGY_OF_MODE["EVENT_TIME_ORDERING"]
_FIRST_WITH_MODES: Final = 8
_FIRST_WITHOUT_PAYLOADS: Final = 9
_CHANGE_TYPE: Final = {DELETE_FIELD: "_change_operation_type", DELETE_MARKER: "d"}


@dataclass(frozen=True, slots=True)
class Translated:
    """What version 9 states in place of a payload class of Apache Hudi."""

    mode: MergeMode
    partial: str = ""
    told: Mapping[str, str] | None = None
    ordering: str = ""


TRANSLATED: Final[Mapping[str, Translated]] = {
    _MODELS + "DefaultHoodieRecordPayload": Translated("EVENT_TIME_ORDERING"),
    _MODELS + "EventTimeAvroPayload": Translated("EVENT_TIME_ORDERING"),
    _MODELS + "OverwriteWithLatestAvroPayload": Translated("COMMIT_TIME_ORDERING"),
    _MODELS + "OverwriteNonDefaultsWithLatestAvroPayload": Translated("COMMIT_TIME_ORDERING", "IGNORE_DEFAULTS"),
    _MODELS + "PartialUpdateAvroPayload": Translated("EVENT_TIME_ORDERING", "IGNORE_DEFAULTS"),
    _MODELS + "AWSDmsAvroPayload": Translated("COMMIT_TIME_ORDERING", told={DELETE_FIELD: "Op", DELETE_MARKER: "D"}),
    _MODELS + "debezium.PostgresDebeziumAvroPayload": Translated(
        "EVENT_TIME_ORDERING", "FILL_UNAVAILABLE", {**_CHANGE_TYPE, UNAVAILABLE: UNAVAILABLE_VALUE}, "_event_lsn"
    ),
    _MODELS + "debezium.MySqlDebeziumAvroPayload": Translated(
        "EVENT_TIME_ORDERING", told=_CHANGE_TYPE, ordering="_event_bin_file,_event_pos"
    ),
}


@dataclass(frozen=True, slots=True)
class _Merging:
    """Mode, payload class and strategy id of a table, agreed with each other; the texts empty where not stated."""

    mode: MergeMode
    payload: str
    strategy: str


def merge_properties(table: SettledTable) -> dict[str, str]:
    """The properties that say how records of a new table merge, its ordering fields included.

    Raises:
        HudiError: CONFIG_INVALID for a mode, payload class and strategy id that do not agree; MERGER_UNKNOWN for a
            payload class that this engine cannot merge by.
        UnsupportedFeature: a custom merger in version 6, which names mergers by payload class only.

    Clauses: MG-001, MG-009, MG-015, MG-016, MG-026, PL-011.

    """
    merging = _agreed(table)
    if table.version < _FIRST_WITH_MODES:
        return {**_ordering(table, "hoodie.table.precombine.field"), **_version_6(table, merging)}
    told = {key: value for key, value in table.options.values.items() if key.startswith(PROPERTY)}
    if table.version < _FIRST_WITHOUT_PAYLOADS:
        return {**_ordering(table, "hoodie.table.precombine.field"), **told, **_version_8(merging)}
    return {**_ordering(table, "hoodie.table.ordering.fields"), **told, **_version_9(table, merging)}


def _agreed(table: SettledTable) -> _Merging:
    """Clauses: MG-015, MG-016."""
    payload = table.given("hoodie.datasource.write.payload.class")
    strategy = table.given("hoodie.write.record.merge.strategy.id")
    _refuse_unknown(payload)
    by_payload = _mode_of_payload(payload)
    by_strategy = _MODE_OF_STRATEGY.get(strategy, "CUSTOM") if strategy else None
    new = table.version >= _FIRST_WITH_MODES
    if new and by_payload and by_strategy not in (None, "CUSTOM", by_payload):
        raise _contradiction(f"payload class {payload} merges by {by_payload}, strategy id {strategy} by {by_strategy}")
    stated = _stated_mode(table.merge_mode)
    found = (by_strategy or by_payload) if new else (by_payload or by_strategy)
    translated = table.version >= _FIRST_WITHOUT_PAYLOADS and not strategy and _means(payload, stated)
    if stated and found and stated != found and not translated:
        raise _contradiction(f"merge mode {stated} and {payload or strategy}, which merges by {found}")
    default: MergeMode = "EVENT_TIME_ORDERING" if table.ordering else "COMMIT_TIME_ORDERING"
    mode = found or stated or default
    if mode == "CUSTOM" and not payload and strategy in ("", BY_PAYLOAD):
        raise _contradiction("merge mode CUSTOM without payload class or merger")
    return _Merging(mode, payload, strategy)


def _stated_mode(text: str | None) -> MergeMode | None:
    if text is None:
        return None
    modes: tuple[MergeMode, ...] = ("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM")
    found = next((mode for mode in modes if mode == text), None)
    if found is None:
        raise invalid(f"merge mode {text!r} is unknown", f"choose one of {', '.join(modes)}")
    return found


def _mode_of_payload(payload: str) -> MergeMode | None:
    return PAYLOAD_MODES.get(payload_name(payload), "CUSTOM") if payload else None


def _means(payload: str, stated: MergeMode | None) -> bool:
    """Whether version 9 translates a payload class into a mode."""
    return payload in TRANSLATED and TRANSLATED[payload].mode == stated


def _refuse_unknown(payload: str) -> None:
    known = payload_name(payload) in PAYLOAD_MODES or payload_rule(payload, MergeRule("CUSTOM", ())) is not None
    if payload and not (known and payload.startswith(_MODELS)):
        hint = "choose a payload class of Apache Hudi, or write a merger and name its strategy id"
        raise HudiError(Reason.MERGER_UNKNOWN, "MG-001", f"no merger is known for {payload}", hint=hint)


def _contradiction(message: str) -> HudiError:
    return HudiError(Reason.CONFIG_INVALID, "MG-016", f"{message}: that is no one way of merging", hint="state one")


def _ordering(table: SettledTable, key: str) -> dict[str, str]:
    return {key: ",".join(table.ordering)} if table.ordering else {}


def _version_6(table: SettledTable, merging: _Merging) -> dict[str, str]:
    """A copy-on-write table of Apache Hudi 0.15 states no payload class; it does here where one was asked for.

    Without a choice the data source of 0.15 orders by commit time even where there are ordering fields. Here they
    count, as in 1.1.1 and in every later version of the table.

    Clauses: MG-009.
    """
    if merging.mode == "CUSTOM" and not merging.payload:
        raise UnsupportedFeature("custom-merger-version-6", "choose table version 8 or 9")
    on_read = table.table_type == "MERGE_ON_READ"
    asked = bool(merging.payload or merging.strategy or table.merge_mode)
    if not (on_read or asked):
        return {}
    found = {"hoodie.compaction.payload.class": merging.payload or PAYLOAD_OF_MODE[merging.mode]}
    return {**found, "hoodie.compaction.record.merger.strategy": _STRATEGY_OF_VERSION_6} if on_read else found


def _version_8(merging: _Merging) -> dict[str, str]:
    """Apache Hudi 1.0 counts the event time payload among the custom ones.

    Clauses: MG-015.
    """
    if payload_name(merging.payload) == "EventTimeAvroPayload":
        merging = _Merging("CUSTOM", merging.payload, "")
    named = merging.strategy not in ("", BY_PAYLOAD, *_MODE_OF_STRATEGY)
    custom = merging.strategy if named else BY_PAYLOAD
    default = PAYLOAD_OF_MODE.get(merging.mode, PAYLOAD_OF_MODE["EVENT_TIME_ORDERING"])
    return {
        "hoodie.record.merge.mode": merging.mode,
        "hoodie.record.merge.strategy.id": custom if merging.mode == "CUSTOM" else STRATEGY_OF_MODE[merging.mode],
        "hoodie.compaction.payload.class": merging.payload or default,
    }


def _version_9(table: SettledTable, merging: _Merging) -> dict[str, str]:
    """Clauses: MG-001, MG-026."""
    if merging.strategy not in ("", BY_PAYLOAD, *_MODE_OF_STRATEGY):
        return {"hoodie.record.merge.mode": "CUSTOM", "hoodie.record.merge.strategy.id": merging.strategy}
    meant = TRANSLATED.get(merging.payload)
    if merging.payload and meant is None:
        return {
            "hoodie.record.merge.mode": "CUSTOM",
            "hoodie.record.merge.strategy.id": BY_PAYLOAD,
            "hoodie.compaction.payload.class": merging.payload,
        }
    if meant is None:
        return {"hoodie.record.merge.mode": merging.mode, **_partial(table, ""), **_marker(table, merging.payload)}
    found = {
        "hoodie.record.merge.mode": meant.mode,
        "hoodie.table.legacy.payload.class": merging.payload,
        **_partial(table, meant.partial),
        **{PROPERTY + key: value for key, value in (meant.told or {}).items()},
        **_marker(table, merging.payload),
    }
    return {**found, "hoodie.table.ordering.fields": meant.ordering} if meant.ordering else found


def _partial(table: SettledTable, meant: str) -> dict[str, str]:
    """The partial update mode; absence is NONE.

    Clauses: MG-026.
    """
    asked = table.given(PARTIAL_UPDATES)
    if asked and meant and asked != meant:
        raise invalid(f"{PARTIAL_UPDATES} is {asked}, the payload class means {meant}", "state one")
    found = asked or meant
    return {PARTIAL_UPDATES: found} if found not in ("", "NONE") else {}


def _marker(table: SettledTable, payload: str) -> dict[str, str]:
    """The delete field and marker, which only version 9 stores, and only for merging that looks for them.

    Clauses: MG-008.
    """
    pair = {key: table.given(key) for key in (DELETE_FIELD, DELETE_MARKER)}
    if payload_name(payload) not in ("", "DefaultHoodieRecordPayload") or not all(pair.values()):
        return {}
    return {PROPERTY + key: value for key, value in pair.items()}
