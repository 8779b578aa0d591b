"""A table's own configuration: `hoodie.properties`, its backup, defaults, and old names of keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from hudi_adapter.reasons import Reason
from hudi_format.errors import FormatError
from hudi_format.storage import Storage
from hudi_format.table.properties import check_checksum, parse_properties

from hudi_spark.errors import HudiError

PROPERTIES_FILE = ".hoodie/hoodie.properties"
BACKUP_FILE = ".hoodie/hoodie.properties.backup"

MERGE_MODES: Final = ("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM")

TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]

# 4 and 5 by the rules of 6.
_READ_VERSIONS = (4, 5, 6, 8, 9)
_FIRST_VERSION_WITH_COMPLETION_TIMES = 8
_MAXIMUM_VERSION_DIGITS = 9
# The newest name first: it holds where a table has both.
_ORDERING_KEYS = ("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
_PAYLOAD_KEYS = ("hoodie.compaction.payload.class", "hoodie.table.legacy.payload.class")


@dataclass(frozen=True, slots=True)
class PartitionStyle:
    """How partition paths are written, and whether the columns that make them are left out of the files.

    `slashed`: a single field's days stand as three folders, 2026/01/31.

    Clauses: DM-022, DM-031, DM-032.
    """

    hive: bool = False
    encoded: bool = False
    slashed: bool = False
    columns_dropped: bool = False


@dataclass(frozen=True, slots=True)
class TableConfiguration:
    """What a reader needs of the properties, defaults applied.

    Clauses: PR-002, PR-005, PR-006, PR-007.
    """

    name: str
    table_type: TableType
    version: int
    timeline_layout: Literal[1, 2]
    timeline_folder: str
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: tuple[str, ...]
    populates_meta_fields: bool
    key_generator: str
    payload_class: str | None
    create_schema: str | None
    partitions: PartitionStyle
    bootstrap_base: str | None
    properties: Mapping[str, str] = field(hash=False, repr=False)

    @property
    def has_completion_times(self) -> bool:
        """Whether completed instants carry their completion time."""
        return self.version >= _FIRST_VERSION_WITH_COMPLETION_TIMES


def load_configuration(storage: Storage) -> TableConfiguration:
    """The configuration of the table in a storage.

    Raises:
        HudiError: NOT_A_TABLE, PROPERTIES_INVALID, TABLE_VERSION_UNSUPPORTED.
        FormatError: PROPERTIES_INVALID, CHECKSUM_MISMATCH.

    Clauses: SL-001, PR-002, PR-004, VR-001, VR-002, VR-003.

    """
    return configuration_of(_properties(storage))


def configuration_of(properties: Mapping[str, str]) -> TableConfiguration:
    """The configuration that properties amount to.

    Raises:
        HudiError: PROPERTIES_INVALID, TABLE_VERSION_UNSUPPORTED.

    Clauses: PR-005, PR-006, VR-001, VR-002.

    """
    _refuse_unread_layouts(properties)
    return _configuration(properties)


def _properties(storage: Storage) -> dict[str, str]:
    """The properties file, or its backup where the file is missing or broken.

    Clauses: PR-004.
    """
    main = _read_or_none(storage, PROPERTIES_FILE)
    backup = _read_or_none(storage, BACKUP_FILE)
    if main is None and backup is None:
        hint = "give the base path of a Hudi table: the folder that holds .hoodie"
        raise HudiError(Reason.NOT_A_TABLE, "SL-001", "there is no .hoodie/hoodie.properties", storage.base, hint=hint)
    if main is None:
        return _checked(backup or b"", BACKUP_FILE)
    try:
        return _checked(main, PROPERTIES_FILE)
    except (FormatError, HudiError):
        if backup is None:
            raise
    return _checked(backup, BACKUP_FILE)


def _read_or_none(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.read(path)
    except OSError:
        return None


def _checked(data: bytes, file: str) -> dict[str, str]:
    """Clauses: PR-001, PR-002, PR-003."""
    properties = parse_properties(data, file)
    for key in ("hoodie.table.name", "hoodie.table.type", "hoodie.table.version"):
        if not properties.get(key, "").strip():
            raise _invalid(file, f"{key} is missing")
    if properties["hoodie.table.type"].strip() not in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        raise _invalid(file, f"hoodie.table.type {properties['hoodie.table.type']!r} is unknown")
    version = properties["hoodie.table.version"]
    if not (version.isascii() and version.isdecimal() and len(version) <= _MAXIMUM_VERSION_DIGITS):
        raise _invalid(file, f"hoodie.table.version {properties['hoodie.table.version']!r} is no number")
    check_checksum(properties, file)
    return properties


def _refuse_unread_layouts(properties: Mapping[str, str]) -> None:
    """Clauses: MG-012, VR-001, VR-002, VR-003."""
    version = int(properties["hoodie.table.version"])
    if version not in _READ_VERSIONS:
        known = ", ".join(str(known) for known in _READ_VERSIONS)
        hint = f"versions {known} are read; upgrade this reader, or the table"
        message = f"table version {version} is unknown"
        raise HudiError(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", message, PROPERTIES_FILE, hint=hint)
    mode = properties.get("hoodie.record.merge.mode", "").strip()
    if version >= _FIRST_VERSION_WITH_COMPLETION_TIMES and mode not in ("", *MERGE_MODES):
        message = f"hoodie.record.merge.mode {mode!r} is none of {', '.join(MERGE_MODES)}"
        raise HudiError(Reason.PROPERTIES_INVALID, "MG-012", message, PROPERTIES_FILE, hint="restore the table's mode")


def _configuration(properties: Mapping[str, str]) -> TableConfiguration:
    version = int(properties["hoodie.table.version"])
    layout = _timeline_layout(properties, version)
    return TableConfiguration(
        name=properties["hoodie.table.name"].strip(),
        table_type=_table_type(properties),
        version=version,
        timeline_layout=layout,
        timeline_folder=_timeline_folder(properties, layout),
        record_key=_names(properties.get("hoodie.table.recordkey.fields", "")),
        partition_by=_names(properties.get("hoodie.table.partition.fields", "")),
        ordering=_names(_first(properties, _ORDERING_KEYS) or ""),
        populates_meta_fields=flag(properties, "hoodie.populate.meta.fields", default=True),
        key_generator=_key_generator(properties),
        payload_class=_first(properties, _PAYLOAD_KEYS),
        create_schema=_first(properties, ("hoodie.table.create.schema",)),
        partitions=_partition_style(properties),
        bootstrap_base=_first(properties, ("hoodie.bootstrap.base.path",)),
        properties=dict(properties),
    )


def _partition_style(properties: Mapping[str, str]) -> PartitionStyle:
    """Clauses: DM-022, DM-031, DM-032."""
    return PartitionStyle(
        hive=flag(properties, "hoodie.datasource.write.hive_style_partitioning", default=False),
        encoded=flag(properties, "hoodie.datasource.write.partitionpath.urlencode", default=False),
        slashed=flag(properties, "hoodie.datasource.write.slash.separated.date.partitioning", default=False),
        columns_dropped=flag(properties, "hoodie.datasource.write.drop.partition.columns", default=False),
    )


def _table_type(properties: Mapping[str, str]) -> TableType:
    return "MERGE_ON_READ" if properties["hoodie.table.type"].strip() == "MERGE_ON_READ" else "COPY_ON_WRITE"


def _timeline_layout(properties: Mapping[str, str], version: int) -> Literal[1, 2]:
    """Clauses: PR-007."""
    text = properties.get("hoodie.timeline.layout.version", "")
    if text not in ("", "1", "2"):
        raise _invalid(PROPERTIES_FILE, f"hoodie.timeline.layout.version {text!r} is unknown")
    newest = version >= _FIRST_VERSION_WITH_COMPLETION_TIMES if text == "" else text == "2"
    return 2 if newest else 1


def _timeline_folder(properties: Mapping[str, str], layout: int) -> str:
    """Clauses: PR-007."""
    if layout == 1:
        return ".hoodie"
    folder = properties.get("hoodie.timeline.path", "").strip().strip("/") or "timeline"
    return f".hoodie/{folder}"


def _key_generator(properties: Mapping[str, str]) -> str:
    """The generator's type in capitals, from its type or the name of its class; empty when neither is there."""
    declared = properties.get("hoodie.table.keygenerator.type", "").strip()
    if declared:
        return declared.upper()
    class_name = properties.get("hoodie.table.keygenerator.class", "").strip().rpartition(".")[2]
    return class_name.removesuffix("KeyGenerator").removesuffix("Avro").upper()


def _names(text: str) -> tuple[str, ...]:
    """Field names of a comma list; a custom key generator adds `:TYPE` to each."""
    return tuple(part.strip().partition(":")[0] for part in text.split(",") if part.strip())


def _first(properties: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    """Clauses: PR-006."""
    return next((properties[key].strip() for key in keys if properties.get(key, "").strip()), None)


def flag(properties: Mapping[str, str], key: str, *, default: bool) -> bool:
    """Whether a property or option is true; the default where it is absent or empty."""
    text = properties.get(key, "").strip().lower()
    return default if not text else text == "true"


def _invalid(file: str, message: str) -> HudiError:
    hint = "restore the file from hoodie.properties.backup or a copy"
    return HudiError(Reason.PROPERTIES_INVALID, "PR-002", message, file, hint=hint)
