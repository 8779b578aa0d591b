"""The properties of a new table, as the Apache Hudi release of its version writes them: 0.15.0, 1.0.2, 1.1.1."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.types as kinds
from hudi_adapter.reasons import Reason
from hudi_format.avro.schemas import schema_text
from hudi_format.table.property_keys import TIME_KEYS
from hudi_format.table.table_properties import with_checksum

from hudi_spark.creation.definition import SettledTable
from hudi_spark.creation.merge_properties import merge_properties
from hudi_spark.errors import HudiError
from hudi_spark.keying.kinds import CLASSES, GeneratorKind, generator_kind, generator_type, misfit, refuse_misfit
from hudi_spark.keying.timestamps import TIME_PREFIX, stamp_settings
from hudi_spark.merging.fields import column_of, field_type

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
        "hoodie.populate.meta.fields": table.options.values.get("hoodie.populate.meta.fields", "true"),
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
    """Clauses: DM-030, DM-033, PR-021."""
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
    """The type that was asked for by type or class; empty where none was."""
    of_class, name = table.given(_GENERATOR_CLASS), table.given(_GENERATOR_TYPE)
    found = generator_type(of_class) if of_class else ""
    if found and name and found.removesuffix("_AVRO") != name.removesuffix("_AVRO"):
        raise misfit(f"the key generator is {name} by type and {of_class} by class", "state one")
    return found or ("" if name == "AUTO_RECORD" else name)


def _stamps(table: SettledTable, kind: GeneratorKind) -> dict[str, str]:
    """What a timestamp key generator needs to know, under today's names.

    Clauses: DM-033.
    """
    asked = {TIME_PREFIX + key: table.given(TIME_PREFIX + key) for key in TIME_KEYS}
    given = {key: value for key, value in asked.items() if value}
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
