"""New tables: defined, with properties as the Apache release of each table version writes them.

Version 6 states a payload class, 8 all three, 9 a mode and what the old payload classes stood for.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as kinds
from hudi_format.avro.schemas import schema_text
from hudi_format.storage import LocalStorage, Storage
from hudi_format.table.properties import serialise_properties
from hudi_format.table.property_keys import TIME_KEYS
from hudi_format.table.table_properties import PROPERTIES_FILE, holds_table, with_checksum

from hudi_spark.concurrency import Effects
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.keys import (
    CLASSES,
    TIME_PREFIX,
    GeneratorKind,
    generator_kind,
    generator_type,
    misfit,
    refuse_misfit,
    stamp_settings,
)
from hudi_spark.merge import (
    BY_PAYLOAD,
    DELETE_FIELD,
    DELETE_MARKER,
    PARTIAL_UPDATES,
    PAYLOAD_MODES,
    PROPERTY,
    UNAVAILABLE,
    UNAVAILABLE_VALUE,
    MergeMode,
    MergeRule,
    column_of,
    field_type,
    payload_name,
    payload_rule,
)
from hudi_spark.merge import STRATEGIES as _MODE_OF_STRATEGY
from hudi_spark.options import Options, names_given, refusal, refuse_no_text, resolve
from hudi_spark.schema import avro_of_arrow, refuse_working_names, schema_of_avro

WRITTEN_VERSIONS: Final = (6, 8, 9)
TABLE_TYPES: Final = ("COPY_ON_WRITE", "MERGE_ON_READ")


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table to be created.

    `schema`: an Avro record or an Arrow schema; meta fields in it are left out. `partition_by`: fields, or
    `field:SIMPLE` and `field:TIMESTAMP` for the custom key generator. `configs`: `hoodie.*` keys by any of their names;
    what both an argument and a key say must be the same.

    Clauses: PR-002, PR-020, PR-021, PR-022.
    """

    name: str = ""
    schema: Mapping[str, Any] | pa.Schema | None = None
    table_type: str | None = None
    table_version: int | None = None
    record_key: Sequence[str] = ()
    partition_by: Sequence[str] = ()
    ordering: Sequence[str] = ()
    merge_mode: str | None = None
    base_file_format: str | None = None
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettledTable:
    """A definition after its options are resolved: every value known, none contradicted."""

    name: str
    avro: Mapping[str, Any]
    columns: pa.Schema
    table_type: str
    version: int
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: tuple[str, ...]
    merge_mode: str | None
    options: Options

    def given(self, key: str) -> str:
        """What was requested under a key, empty where nothing was."""
        return self.options.values.get(key, "")

    def flag(self, key: str) -> str:
        """`true` or `false`, the latter where nothing was requested."""
        return self.options.values.get(key, "false")


def settled(definition: TableDefinition) -> SettledTable:
    """The definition, checked.

    Raises:
        HudiError: CONFIG_INVALID for an unknown or missing option or one that is said twice and differs;
            SCHEMA_INCOMPATIBLE for a schema that cannot be written.
        UnsupportedFeature: base files that are no Parquet files, a table format that is not Hudi's own.

    Clauses: OW-032, PR-002, PR-021, PR-022, VR-001.

    """
    given = _GivenOptions(resolve(definition.configs))
    version = _version(given.one("hoodie.write.table.version", definition.table_version))
    name = given.one("hoodie.table.name", definition.name).strip()
    if not name:
        raise refusal("hoodie.table.name is missing and has no default", "name the table")
    refuse_no_text(name, "hoodie.table.name", "PR-022")
    _refuse_unwritten_forms(given, definition)
    avro = _avro(definition.schema, given, name)
    refuse_working_names(field["name"] for field in avro["fields"])
    return SettledTable(
        name=name,
        avro=avro,
        columns=schema_of_avro(avro).arrow,
        table_type=_table_type(given.one("hoodie.datasource.write.table.type", definition.table_type)),
        version=version,
        record_key=given.names("hoodie.datasource.write.recordkey.field", definition.record_key),
        partition_by=given.names("hoodie.datasource.write.partitionpath.field", definition.partition_by),
        ordering=given.names("hoodie.datasource.write.precombine.field", definition.ordering),
        merge_mode=given.one("hoodie.write.record.merge.mode", _capitals(definition.merge_mode)) or None,
        options=given.options,
    )


@dataclass(frozen=True, slots=True)
class _GivenOptions:
    """An argument and the option of the same meaning, as one."""

    options: Options

    def one(self, key: str, argument: Any) -> str:
        given = self.options.values.get(key, "")
        if not isinstance(argument, str | int | None):
            raise refusal(f"the argument of {key} is {repr(argument)[:60]}", "give a text")
        text = "" if argument is None else str(argument)
        if given and text and given != text:
            raise refusal(f"{key} is {given!r} and the argument is {text!r}", "say it once")
        return text or given

    def names(self, key: str, argument: Sequence[str]) -> tuple[str, ...]:
        names = (argument,) if isinstance(argument, str) else names_given(argument, key, "PR-022")
        text = ",".join(name.strip() for name in names)
        given = ",".join(name.strip() for name in self.options.values.get(key, "").split(","))
        if given and text and given != text:
            raise refusal(f"{key} is {given!r} and the argument is {text!r}", "say it once")
        found = tuple(name for name in (text or given).split(",") if name)
        if len(set(found)) != len(found):
            raise refusal(f"{key} names a field twice: {', '.join(found)}", "name each field once")
        return found


def _capitals(argument: Any) -> Any:
    return argument.upper() if isinstance(argument, str) else argument


def _version(text: str) -> int:
    """Clauses: OW-032, VR-001."""
    if text and not (text.isascii() and text.isdecimal() and int(text) in WRITTEN_VERSIONS):
        hint = f"choose one of {', '.join(map(str, WRITTEN_VERSIONS))}"
        raise HudiError(Reason.CONFIG_INVALID, "OW-032", f"table version {text} is not written", hint=hint)
    return int(text) if text else WRITTEN_VERSIONS[-1]


def _table_type(text: str) -> str:
    if text and text not in TABLE_TYPES:
        raise refusal(f"table type {text!r} is unknown", f"choose {' or '.join(TABLE_TYPES)}")
    return text or TABLE_TYPES[0]


def _refuse_unwritten_forms(given: _GivenOptions, definition: TableDefinition) -> None:
    base = given.one("hoodie.base.file.format", _capitals(definition.base_file_format))
    if base not in ("", "PARQUET"):
        raise UnsupportedFeature(f"base-{base.lower()}-writing", "base files are written as Parquet")
    values = given.options.values
    if values.get("hoodie.table.multiple.base.file.formats.enable") == "true":
        raise UnsupportedFeature("multiple-base-file-formats")
    if values.get("hoodie.table.format", "native") != "native":
        raise UnsupportedFeature("table-format", values["hoodie.table.format"])


def _avro(schema: Mapping[str, Any] | pa.Schema | None, given: _GivenOptions, name: str) -> Mapping[str, Any]:
    """The schema as an Avro record without meta fields."""
    text = given.options.values.get("hoodie.table.create.schema", "")
    if schema is None and not text:
        raise refusal("the table has no schema", "give the columns as an Avro record or an Arrow schema")
    if isinstance(schema, pa.Schema):
        return avro_of_arrow(schema, name)
    return schema_of_avro(_parsed(text) if schema is None else schema).avro


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise refusal("hoodie.table.create.schema is no JSON", "give an Avro record") from error
    return found if isinstance(found, dict) else {}


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
    merge_properties: Mapping[str, str] | None = None
    ordering: str = ""


TRANSLATED: Final[Mapping[str, Translated]] = {
    _MODELS + "DefaultHoodieRecordPayload": Translated("EVENT_TIME_ORDERING"),
    _MODELS + "EventTimeAvroPayload": Translated("EVENT_TIME_ORDERING"),
    _MODELS + "OverwriteWithLatestAvroPayload": Translated("COMMIT_TIME_ORDERING"),
    _MODELS + "OverwriteNonDefaultsWithLatestAvroPayload": Translated("COMMIT_TIME_ORDERING", "IGNORE_DEFAULTS"),
    _MODELS + "PartialUpdateAvroPayload": Translated("EVENT_TIME_ORDERING", "IGNORE_DEFAULTS"),
    _MODELS + "AWSDmsAvroPayload": Translated(
        "COMMIT_TIME_ORDERING", merge_properties={DELETE_FIELD: "Op", DELETE_MARKER: "D"}
    ),
    _MODELS + "debezium.PostgresDebeziumAvroPayload": Translated(
        "EVENT_TIME_ORDERING", "FILL_UNAVAILABLE", {**_CHANGE_TYPE, UNAVAILABLE: UNAVAILABLE_VALUE}, "_event_lsn"
    ),
    _MODELS + "debezium.MySqlDebeziumAvroPayload": Translated(
        "EVENT_TIME_ORDERING", merge_properties=_CHANGE_TYPE, ordering="_event_bin_file,_event_pos"
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
    given = {key: value for key, value in table.options.values.items() if key.startswith(PROPERTY)}
    if table.version < _FIRST_WITHOUT_PAYLOADS:
        return {**_ordering(table, "hoodie.table.precombine.field"), **given, **_version_8(merging)}
    return {**_ordering(table, "hoodie.table.ordering.fields"), **given, **_version_9(table, merging)}


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
        raise refusal(f"merge mode {text!r} is unknown", f"choose one of {', '.join(modes)}")
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
    """A copy-on-write table of Apache Hudi 0.15 states no payload class; it does here where one was requested.

    Without a choice the data source of 0.15 orders by commit time even where there are ordering fields. Here they
    count, as in 1.1.1 and in every later version of the table.

    Clauses: MG-009.
    """
    if merging.mode == "CUSTOM" and not merging.payload:
        raise UnsupportedFeature("custom-merger-version-6", "choose table version 8 or 9")
    on_read = table.table_type == "MERGE_ON_READ"
    states_merging = bool(merging.payload or merging.strategy or table.merge_mode)
    if not (on_read or states_merging):
        return {}
    found = {"hoodie.compaction.payload.class": merging.payload or PAYLOAD_OF_MODE[merging.mode]}
    return {**found, "hoodie.compaction.record.merger.strategy": _STRATEGY_OF_VERSION_6} if on_read else found


def _version_8(merging: _Merging) -> dict[str, str]:
    """What Apache Hudi 1.1 states; 1.0 counted the event time payload among the custom ones.

    Clauses: MG-015, PL-005.
    """
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
        **{PROPERTY + key: value for key, value in (meant.merge_properties or {}).items()},
        **_marker(table, merging.payload),
    }
    return {**found, "hoodie.table.ordering.fields": meant.ordering} if meant.ordering else found


def _partial(table: SettledTable, meant: str) -> dict[str, str]:
    """The partial update mode; absence is NONE.

    Clauses: MG-026.
    """
    mode = table.given(PARTIAL_UPDATES)
    if mode and meant and mode != meant:
        raise refusal(f"{PARTIAL_UPDATES} is {mode}, the payload class means {meant}", "state one")
    found = mode or meant
    return {PARTIAL_UPDATES: found} if found not in ("", "NONE") else {}


def _marker(table: SettledTable, payload: str) -> dict[str, str]:
    """The delete field and marker, which only version 9 stores, and only for merging that looks for them.

    Clauses: MG-008.
    """
    pair = {key: table.given(key) for key in (DELETE_FIELD, DELETE_MARKER)}
    if payload_name(payload) not in ("", "DefaultHoodieRecordPayload") or not all(pair.values()):
        return {}
    return {PROPERTY + key: value for key, value in pair.items()}


_META_FIELDS: Final = "hoodie.populate.meta.fields"
_CDC: Final = "hoodie.table.cdc.enabled"
_CDC_MODE: Final = "hoodie.table.cdc.supplemental.logging.mode"
_GENERATOR_CLASS: Final = "hoodie.datasource.write.keygenerator.class"
_GENERATOR_TYPE: Final = "hoodie.datasource.write.keygenerator.type"
_SLASHED: Final = "hoodie.datasource.write.slash.separated.date.partitioning"
_DROPPED: Final = "hoodie.datasource.write.drop.partition.columns"
_FLAGS: Final = (
    "hoodie.datasource.write.hive_style_partitioning",
    "hoodie.datasource.write.partitionpath.urlencode",
    _DROPPED,
    "hoodie.partition.metafile.use.base.format",
)
_STAMPED: Final[tuple[GeneratorKind, ...]] = ("TIMESTAMP", "CUSTOM")


def table_properties(table: SettledTable) -> dict[str, str]:
    """Every property of a new table, its checksum included.

    Beside what Apache Hudi's data source writes for the same options, the schema at creation is kept, as Apache Hudi's
    SQL does: the table has columns before its first commit. Version 6 keeps the timestamp type of a key generator, too:
    no later writer would know it otherwise.

    Raises:
        HudiError: CONFIG_INVALID for options that contradict each other or the columns.
        UnsupportedFeature: a key generator or merger that is not built.

    Clauses: PR-002, PR-003, PR-005, PR-006, PR-007, PR-020, PR-021, DM-030.

    """
    merging = merge_properties(table)
    properties = {
        "hoodie.table.name": table.name,
        "hoodie.table.type": table.table_type,
        "hoodie.table.version": str(table.version),
        "hoodie.table.create.schema": schema_text(table.avro),
        "hoodie.table.base.file.format": "PARQUET",
        _META_FIELDS: table.options.values.get(_META_FIELDS, "true"),
        "hoodie.table.timeline.timezone": table.given("hoodie.table.timeline.timezone") or "LOCAL",
        **{key: table.flag(key) for key in _FLAGS},
        **({_SLASHED: "true"} if table.flag(_SLASHED) == "true" else {}),
        **_changes(table),
        **_layout(table),
        **_keys(table),
        **merging,
    }
    _refuse_absent(table, properties)
    return with_checksum(properties)


def _changes(table: SettledTable) -> dict[str, str]:
    """The logging mode stands beside the switch, and only where that is on."""
    if table.flag(_CDC) != "true":
        return {_CDC: "false"}
    return {_CDC: "true", _CDC_MODE: table.given(_CDC_MODE) or "DATA_BEFORE_AFTER"}


def _layout(table: SettledTable) -> dict[str, str]:
    """Clauses: PR-007, PR-020."""
    database = table.given("hoodie.database.name")
    if table.version == 6:
        layout = {"hoodie.timeline.layout.version": "1", "hoodie.archivelog.folder": "archived"}
        return {**layout, "hoodie.database.name": database}
    return {
        "hoodie.timeline.layout.version": "2",
        "hoodie.archivelog.folder": "history",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.table.initial.version": str(table.version),
        "hoodie.table.multiple.base.file.formats.enable": "false",
        **({"hoodie.table.format": "native"} if table.version > 8 else {}),
        **({"hoodie.database.name": database} if database else {}),
    }


def _keys(table: SettledTable) -> dict[str, str]:
    """Clauses: DM-002, DM-030, DM-033, PR-021."""
    if not table.record_key and table.options.values.get(_META_FIELDS) == "false":
        message = "a table without record key fields generates its keys, and without meta fields it stores none"
        hint = f"name the record key fields, or leave {_META_FIELDS} out"
        raise HudiError(Reason.CONFIG_INVALID, "DM-002", message, hint=hint)
    name = _generator(table)
    kind = generator_kind(name, table.record_key, table.partition_by)
    refuse_misfit(kind, table.record_key, table.partition_by)
    _refuse_lost_columns(table, kind)
    fields = () if kind == "GLOBAL_DELETE" else table.partition_by
    if table.version == 6:
        fields = tuple(field.partition(":")[0] for field in fields)
        generator = {"hoodie.table.keygenerator.class": CLASSES[name or kind]}
    else:
        generator = {"hoodie.table.keygenerator.type": name or kind}
    keys = {"hoodie.table.recordkey.fields": ",".join(table.record_key)} if table.record_key else {}
    return {**generator, **keys, "hoodie.table.partition.fields": ",".join(fields), **_stamps(table, kind)}


def _generator(table: SettledTable) -> str:
    """The type that was requested by type or class; empty where none was."""
    of_class, name = table.given(_GENERATOR_CLASS), table.given(_GENERATOR_TYPE)
    found = generator_type(of_class) if of_class else ""
    if found and name and found.removesuffix("_AVRO") != name.removesuffix("_AVRO"):
        raise misfit(f"the key generator is {name} by type and {of_class} by class", "state one")
    return found or ("" if name == "AUTO_RECORD" else name)


def _stamps(table: SettledTable, kind: GeneratorKind) -> dict[str, str]:
    """What a timestamp key generator needs to know, under today's names.

    Clauses: DM-033.
    """
    settings = {TIME_PREFIX + key: table.given(TIME_PREFIX + key) for key in TIME_KEYS}
    given = {key: value for key, value in settings.items() if value}
    if kind not in _STAMPED:
        if given:
            message = f"{min(given)} is given and the key generator is {kind}"
            raise misfit(message, f"set {_GENERATOR_TYPE} to TIMESTAMP or CUSTOM")
        return {}
    if _has_stamps(table, kind):
        stamp_settings(given)
    return given


def _has_stamps(table: SettledTable, kind: GeneratorKind) -> bool:
    types = [field.partition(":")[2].upper() for field in table.partition_by]
    if kind == "CUSTOM" and not set(types) <= {"SIMPLE", "TIMESTAMP"}:
        message = f"the CUSTOM key generator got {', '.join(table.partition_by)}"
        raise misfit(message, "write each partition field as field:SIMPLE or field:TIMESTAMP")
    return kind == "TIMESTAMP" or "TIMESTAMP" in types


def _refuse_absent(table: SettledTable, properties: Mapping[str, str]) -> None:
    """Clauses: PR-021."""
    ordering = properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field", "")
    named = {
        "record key": table.record_key,
        "partition": [field.partition(":")[0] for field in table.partition_by],
        "ordering": [name for name in ordering.split(",") if name],
    }
    for role, names in named.items():
        for name in names:
            _refuse_field(name, role, table.columns)


def _refuse_field(name: str, role: str, columns: pa.Schema) -> None:
    """Clauses: PR-021."""
    if column_of(name, columns) is None:
        message, hint = f"the {role} field {name!r} is no column", f"the columns are {', '.join(columns.names)}"
    elif kinds.is_nested(field_type(name, columns)):
        message, hint = f"the {role} field {name!r} holds several values", "name a field inside it, as in a.b"
    else:
        return
    raise HudiError(Reason.CONFIG_INVALID, "PR-021", message, hint=hint)


def _refuse_lost_columns(table: SettledTable, kind: GeneratorKind) -> None:
    """Columns that files leave out are read from the path, which must hold their values.

    Clauses: DM-022.
    """
    if table.flag(_DROPPED) != "true":
        return
    lost = [field for field in table.partition_by if kind == "TIMESTAMP" or field.upper().endswith(":TIMESTAMP")]
    lost += [field for field in table.partition_by if "." in field and field not in table.columns.names]
    if lost or not table.partition_by:
        message = f"{_DROPPED} loses {', '.join(lost)}" if lost else f"{_DROPPED} without partition columns"
        raise HudiError(Reason.CONFIG_INVALID, "DM-022", message, hint="keep the partition columns in the files")


_FOLDERS: Final = (
    ".hoodie/.aux/.bootstrap/.partitions",
    ".hoodie/.aux/.bootstrap/.fileids",
    ".hoodie/.schema",
    ".hoodie/.temp",
)
_HISTORY_FOLDERS: Final = {"1": ".hoodie/archived", "2": ".hoodie/timeline/history"}


def create_table(effects: Effects, definition: TableDefinition, moment: datetime | None = None) -> None:
    """Create an empty table in the storage of the effects.

    `moment`: what the comments of the properties file say (now). The whole definition is checked before anything is
    written. One effect: `put_properties`.

    Raises:
        HudiError: CONFIG_INVALID for a definition that is no table, and when there is a table already;
            TABLE_VERSION_UNSUPPORTED, SCHEMA_INCOMPATIBLE, MERGER_UNKNOWN.
        UnsupportedFeature: a table that this engine could not write to.

    Clauses: SL-001, PR-001, PR-002, PR-003, PR-007, PR-020, PR-021, DM-030, MG-015, MG-016.

    """
    properties = table_properties(settled(definition))
    _refuse_table(effects.storage)
    _make_folders(effects.storage, (*_FOLDERS, _HISTORY_FOLDERS[properties["hoodie.timeline.layout.version"]]))
    content = serialise_properties(properties, _comments(moment or datetime.now(timezone.utc)))
    if not effects.put_new_properties(PROPERTIES_FILE, content):
        raise _exists(effects.storage)


def _refuse_table(storage: Storage) -> None:
    if holds_table(storage):
        raise _exists(storage)


def _exists(storage: Storage) -> HudiError:
    hint = "open it instead, or choose another path"
    return HudiError(Reason.CONFIG_INVALID, "SL-001", "there is a table already", storage.base, hint=hint)


def _make_folders(storage: Storage, folders: tuple[str, ...]) -> None:
    """Empty folders that Apache Hudi looks for on a file system; an object store has none, so they are no effect."""
    if isinstance(storage, LocalStorage):
        for folder in folders:
            Path(storage.resolve(folder)).mkdir(parents=True, exist_ok=True)


def _comments(moment: datetime) -> tuple[str, str]:
    """The two lines that Java writes above new properties."""
    utc = moment.astimezone(timezone.utc)
    return f"Properties saved on {utc:%Y-%m-%dT%H:%M:%S.%f}Z", f"{utc:%a %b %d %H:%M:%S} UTC {utc:%Y}"
