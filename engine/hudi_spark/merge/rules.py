"""Which rule a table's records merge by, inferred from its properties, as one value that travels with each task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, Literal

import pyarrow as pa
from hudi_format.avro.schemas import record_schema

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.merge.mergers import CarriedMerger, MergeContext, chosen_merger
from hudi_spark.readings import Reading
from hudi_spark.schema import columns_of, stated_schema
from hudi_spark.table_state import PROPERTIES_FILE, Commit, TableConfiguration

MergeMode = Literal["COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM"]
Unset = Literal["defaults", "nulls", "unavailable"]
OrderingForm = Literal["values", "log_places"]


@dataclass(frozen=True, slots=True)
class Completion:
    """When the winner of two versions takes columns of the loser, beyond those that a partial update leaves out.

    `unset` says what a column holds that takes the loser's value: the column's default, null, or the text
    `unavailable`. `defaults` has the columns whose default is not null.
    `newer_only`: a newer winner is completed from the older version, never the other way round.
    `newest_meta`: the meta fields are those of the newer version, whichever won.

    Clauses: MG-023, MG-024, PL-003, PL-004, PL-007.
    """

    unset: Unset
    unavailable: str | None = None
    defaults: tuple[tuple[str, Any], ...] = ()
    newer_only: bool = False
    newest_meta: bool = False


@dataclass(frozen=True, slots=True)
class MergeRule:
    """How versions of a record compete.

    `delete_field` and `delete_marker` name a column and the value with which a data record is a delete.
    `deletes_reach_base`: a version without ordering value hides the base row from the versions after it.
    `ordering_form`: ordering fields hold values, or the one field holds places `file.position` in a binary log.
    `plain_deletes`: tombstones beat what precedes them whatever ordering value they carry; records that mark
    themselves deleted, by the flag or by the delete marker, do where `plain_marks` says so.

    Clauses: MG-001, MG-008, MG-012, MG-013, PL-006, PL-007, PL-008, PL-009, RM-001.
    """

    mode: MergeMode
    ordering: tuple[str, ...]
    delete_field: str | None = None
    delete_marker: str | None = None
    deletes_reach_base: bool = False
    marker_of_any_case: bool = False
    ordering_form: OrderingForm = "values"
    plain_deletes: bool = False
    plain_marks: bool = False
    completion: Completion | None = None
    merger: CarriedMerger | None = None

    @property
    def compares_event_time(self) -> bool:
        """Whether ordering values are compared at all."""
        return self.mode == "EVENT_TIME_ORDERING" and bool(self.ordering)

    @property
    def reads_ordering(self) -> bool:
        """Whether versions carry ordering values: to compare them, or for a merger."""
        return bool(self.ordering) and (self.compares_event_time or self.merger is not None)

    @property
    def completes(self) -> bool:
        """Whether a merged record may hold values of several versions even where none is a partial update."""
        return self.completion is not None or self.merger is not None


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


def combining_rule(rule: MergeRule) -> MergeRule:
    """The rule by which a write combines its own rows: the table's, but for most payload classes before version 9.

    They take the record with the greatest ordering value, whole; the one that completes either way merges as always.

    Clauses: MG-017, PL-003, PL-009.
    """
    if not rule.plain_deletes or (rule.completion is not None and rule.completion.unset == "nulls"):
        return rule
    return replace(rule, mode=_EVENT, completion=None)


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


def column_defaults(commits: Sequence[Commit], configuration: TableConfiguration) -> dict[str, Any]:
    """The default of each column that has one other than null, in the Python form of its Arrow type.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.

    Clauses: MG-023.

    """
    stated = stated_schema(commits, configuration)
    if stated is None:
        return {}
    kinds = columns_of(*stated)
    known = frozenset(kinds.names)
    fields = [field for field in record_schema(*stated, clause="DM-003")["fields"] if field["name"] in known]
    found = {field["name"]: _value(field.get("default"), kinds.field(field["name"]).type) for field in fields}
    return {name: value for name, value in found.items() if value is not None}


def _value(default: Any, kind: pa.DataType) -> Any:
    """Avro spells the default of bytes as a text of their code points, of a decimal as those of its unscaled number."""
    if isinstance(default, str) and not pa.types.is_string(kind):
        spelt = default.encode("latin-1", "replace")
        is_decimal = pa.types.is_decimal(kind)
        return Decimal(int.from_bytes(spelt, "big", signed=True)).scaleb(-kind.scale) if is_decimal else spelt
    if isinstance(default, int) and pa.types.is_temporal(kind):
        return pa.scalar(default, kind).as_py()
    return default
