"""A new table: its properties as the release that introduced its version writes them, its merge mode among them."""

import zlib
from collections.abc import Mapping

from hudi_model.configuration import TABLE_TYPES, Configuration, configure, mode_of_meta_fields, property_value
from hudi_model.files import Field, Schema
from hudi_model.merge_modes import mode_of_payload, mode_of_strategy, persisted_mode
from hudi_model.merge_rules import (
    BY_PAYLOAD,
    COMMIT_TIME,
    DEFAULT,
    DELETE_FIELD,
    DELETE_MARKER,
    EVENT_TIME,
    LATEST,
    MYSQL,
    PAYLOADS,
    STRATEGY_OF_MODE,
    UNAVAILABLE,
    MergeMode,
    payload_name,
)
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import Table

KEY, PARTITION, ORDERING = (f"hoodie.table.{kind}.fields" for kind in ("recordkey", "partition", "ordering"))
MODE, VERSION, TYPE = "hoodie.record.merge.mode", "hoodie.table.version", "hoodie.table.type"
PAYLOAD, STRATEGY = "hoodie.compaction.payload.class", "hoodie.record.merge.strategy.id"
OLD_ORDERING = "hoodie.table.precombine.field"

PACKAGE = "org.apache.hudi.common.model."
SINCE_9 = ("9", "10")

COMMON = {
    VERSION: "9",
    TYPE: "COPY_ON_WRITE",
    PARTITION: "",
    "hoodie.table.base.file.format": "PARQUET",
    "hoodie.populate.meta.fields": "true",
    "hoodie.table.cdc.enabled": "false",
    "hoodie.table.timeline.timezone": "UTC",
    "hoodie.partition.metafile.use.base.format": "false",
    "hoodie.datasource.write.drop.partition.columns": "false",
    "hoodie.datasource.write.hive_style_partitioning": "false",
    "hoodie.datasource.write.partitionpath.urlencode": "false",
}
LAYOUT = "hoodie.timeline.layout.version"
LAYOUT_2 = {LAYOUT: "2", "hoodie.timeline.path": "timeline", "hoodie.timeline.history.path": "history"}
"""[New in v8] Where the timeline lies."""
PAYLOAD_OF_MODE = {EVENT_TIME: DEFAULT, COMMIT_TIME: LATEST}


def create_table(properties: Mapping[str, str], schema: Schema) -> Table:
    """An empty table: the properties given, and what its version adds to them.

    Raises: CONFIG_INVALID for a name, type, version, mode or column that cannot be, and for two ways of merging.

    Clauses: MG-016, OW-031, OW-032.
    """
    stated = {**COMMON, **properties}
    columns = [field.name for field in schema.fields]
    fields = ",".join(property_value(stated, name) for name in (KEY, PARTITION, ORDERING)).split(",")
    named = {part.strip().partition(":")[0] for part in fields} - {""}
    faults = {
        "hoodie.table.name": not stated.get("hoodie.table.name"),
        TYPE: stated[TYPE] not in TABLE_TYPES,
        VERSION: stated[VERSION] not in ("6", "8", "9", "10"),
        MODE: stated.get(MODE, "CUSTOM") not in MergeMode.__members__,
        "the columns": len(set(columns)) < len(columns) or not all(is_named(one, schema.fields) for one in named),
    }
    for name in (name for name, is_wrong in faults.items() if is_wrong):
        raise Rejection(Reason.CONFIG_INVALID, "OW-032", name, f"no table can be made with {stated.get(name, named)!r}")
    refuse_contradiction(configure(stated))
    return Table(released_properties(merging_stated(stated)), None, (), (), (), create_schema=schema)


def is_named(name: str, columns: tuple[Field, ...]) -> bool:
    """Whether there is a column of a name, or a part of a struct that a name with points leads to.

    Clauses: DM-002, OW-032.
    """
    outer, _, inner = name.partition(".")
    known = {one.name: one for one in columns}
    return name in known or (bool(inner) and outer in known and is_named(inner, known[outer].parts))


def merging_stated(stated: Mapping[str, str]) -> dict[str, str]:
    """The properties of a new table with the mode that strategy id or payload class stand for, where it states none.

    Version 6 has a payload class in place of a mode's strategy id. [New in v9] A merger needs no payload class beside
    it, and a payload class that the format gives up becomes what it means.

    Clauses: MG-009, MG-015, PL-010.
    """
    mode, name = mode_of_names(configure(stated)), payload_name(stated)
    given = {**({MODE: mode.value} if mode else {}), **stated}
    if stated[VERSION] == "6" and stated.get(STRATEGY) in STRATEGY_OF_MODE.values():
        payload = PAYLOAD_OF_MODE.get(mode) if mode else None
        return without(given, STRATEGY) | ({PAYLOAD: PACKAGE + payload} if payload and not name else {})
    by_merger = stated.get(STRATEGY, BY_PAYLOAD) not in {BY_PAYLOAD, *STRATEGY_OF_MODE.values()}
    if stated[VERSION] in SINCE_9 and by_merger:
        return without(given, PAYLOAD)
    if stated[VERSION] in SINCE_9 and name in PAYLOADS:
        return without(given, PAYLOAD, STRATEGY) | version_9_properties(name, property_value(stated, ORDERING))
    return given


def without(stated: Mapping[str, str], *names: str) -> dict[str, str]:
    """Properties but for some."""
    return {key: text for key, text in stated.items() if key not in names}


def released_properties(stated: Mapping[str, str]) -> dict[str, str]:
    """The properties of a new table; what was stated stays. [Modified in v8] [Modified in v9]

    Clauses: OW-031.
    """
    version, ordering, kind = stated[VERSION], property_value(stated, ORDERING), generator(stated)
    mode = stated.get(MODE) or ("EVENT_TIME_ORDERING" if ordering else "COMMIT_TIME_ORDERING")
    payload = PAYLOAD_OF_MODE.get(MergeMode(mode)) if mode in MergeMode.__members__ else None
    guarded = f"{stated.get('hoodie.database.name', '')}.{stated['hoodie.table.name']}"
    added = {"hoodie.table.checksum": str(zlib.crc32(guarded.encode())), **of_version(version, kind, mode)}
    logged = version == "6" and stated[TYPE] == "MERGE_ON_READ"
    if payload and (logged or version == "8"):
        added[PAYLOAD] = PACKAGE + payload
        name = "hoodie.compaction.record.merger.strategy" if logged else STRATEGY
        added[name] = STRATEGY_OF_MODE[EVENT_TIME if logged else MergeMode(mode)]
    if ordering:
        added[ORDERING if version in SINCE_9 else OLD_ORDERING] = ordering
    added |= mode_of_meta_fields(stated) if version == "10" else {}
    left = {ORDERING, OLD_ORDERING, *([MODE] if version == "6" else [])}
    return dict(sorted({**added, **{name: text for name, text in stated.items() if name not in left}}.items()))


def of_version(version: str, generator_type: str, mode: str) -> dict[str, str]:
    """What only some versions' tables have. [Modified in v8] [Modified in v9]

    Clauses: OW-031.
    """
    if version == "6":
        words = {"NON_PARTITION": "Nonpartitioned", "TIMESTAMP": "TimestampBased"}
        name = words.get(generator_type, generator_type.capitalize())
        return {
            LAYOUT: "1",
            "hoodie.archivelog.folder": "archived",
            "hoodie.database.name": "",
            "hoodie.table.keygenerator.class": f"org.apache.hudi.keygen.{name}KeyGenerator",
        }
    native = {"hoodie.table.format": "native"} if version in SINCE_9 else {}
    return {
        **LAYOUT_2,
        **native,
        "hoodie.archivelog.folder": "history",
        "hoodie.table.multiple.base.file.formats.enable": "false",
        "hoodie.table.initial.version": version,
        "hoodie.table.keygenerator.type": generator_type,
        MODE: mode,
    }


def generator(stated: Mapping[str, str]) -> str:
    """The key generator that the key and partition fields request.

    Clauses: DM-030.
    """
    partitions, keys = (stated.get(name, "").split(",") for name in (PARTITION, KEY))
    if partitions == [""]:
        return "NON_PARTITION"
    if any(":" in part for part in partitions):
        return "CUSTOM"
    return "SIMPLE" if len(partitions) == len(keys) == 1 else "COMPLEX"


def mode_of_names(configuration: Configuration) -> MergeMode | None:
    """The mode of a new table that states none, by the strategy id, else the payload class; None where it has neither.

    Before version 8 the payload class goes first. [Modified in v8]

    Clauses: MG-015.
    """
    in_turn = mode_of_strategy(configuration), mode_of_payload(configuration)
    by_first, by_second = in_turn if configuration.rules.mode_is_persisted else in_turn[::-1]
    return by_first or by_second


def refuse_contradiction(configuration: Configuration) -> None:
    """Nothing, unless a new table says in two ways how it merges, and they differ, or in none though it is custom.

    Raises: CONFIG_INVALID.

    Clauses: MG-016.
    """
    stated, by_payload = persisted_mode(configuration), mode_of_payload(configuration)
    by_strategy, inferred = mode_of_strategy(configuration), mode_of_names(configuration)
    unsaid = stated is MergeMode.CUSTOM and inferred is None
    compared = configuration.rules.mode_is_persisted and by_strategy is not MergeMode.CUSTOM
    wrong = compared and by_payload and by_strategy and by_payload is not by_strategy
    agreed = (None, inferred, None if by_strategy else mode_of_given_up_payload(configuration))
    if unsaid or wrong or (inferred and stated not in agreed):
        detail = f"mode {stated}, payload class {by_payload}, strategy id {by_strategy}"
        raise Rejection(Reason.CONFIG_INVALID, "MG-016", "hoodie.write.record.merge.mode", detail)


def mode_of_given_up_payload(configuration: Configuration) -> MergeMode | None:
    """[New in v9] The mode that a table has in place of a payload class which the format gives up.

    Clauses: PL-010.
    """
    name = payload_name(configuration.properties)
    return PAYLOADS[name].mode if configuration.rules.version >= 9 and name in PAYLOADS else None


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
