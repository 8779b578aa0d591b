"""A table's own configuration: `hoodie.properties`, its backup, defaults, and old names of keys."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

from hudi_format.errors import FormatError
from hudi_format.storage import Storage
from hudi_format.table.no_table import no_table
from hudi_format.table.properties import check_checksum, parse_properties

from hudi_spark.errors import HudiError, Reason

PROPERTIES_FILE = ".hoodie/hoodie.properties"
BACKUP_FILE = ".hoodie/hoodie.properties.backup"

MERGE_MODES: Final = ("COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING", "CUSTOM")

TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]

# 4 and 5 by the rules of 6.
_READ_VERSIONS = (4, 5, 6, 8, 9)
_FIRST_VERSION_WITH_COMPLETION_TIMES = 8
_MAXIMUM_VERSION_DIGITS = 9
_NAME, _TYPE, _VERSION = "hoodie.table.name", "hoodie.table.type", "hoodie.table.version"
_REQUIRED = (_NAME, _TYPE, _VERSION)
_LAYOUT = "hoodie.timeline.layout.version"
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
        HudiError: PROPERTIES_INVALID, TABLE_VERSION_UNSUPPORTED.
        FormatError: NOT_A_TABLE, PROPERTIES_INVALID, CHECKSUM_MISMATCH.

    Clauses: SL-001, PR-002, PR-004, VR-001, VR-002, VR-003.

    """
    return configuration_of(_properties(storage))


def configuration_of(properties: Mapping[str, str]) -> TableConfiguration:
    """The configuration that properties amount to.

    Raises:
        HudiError: PROPERTIES_INVALID, TABLE_VERSION_UNSUPPORTED.

    Clauses: PR-005, PR-006, VR-001, VR-002.

    """
    for fault in faults_of_table(properties):
        raise fault
    return plain_configuration(properties)


def _properties(storage: Storage) -> dict[str, str]:
    """The properties file, or its backup where the file is missing or broken.

    Clauses: PR-004.
    """
    main = _read_or_none(storage, PROPERTIES_FILE)
    if main is None:
        backup = _read_or_none(storage, BACKUP_FILE)
        if backup is None:
            raise no_table(storage)
        return _checked(backup, BACKUP_FILE)
    try:
        return _checked(main, PROPERTIES_FILE)
    except (FormatError, HudiError):
        backup = _read_or_none(storage, BACKUP_FILE)
        if backup is None:
            raise
    return _checked(backup, BACKUP_FILE)


def _read_or_none(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.read(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _checked(data: bytes, file: str) -> dict[str, str]:
    return dict(_parsed(data, file))


# Every look at a table reads its properties, and they hardly ever change.
@lru_cache(maxsize=64)
def _parsed(data: bytes, file: str) -> Mapping[str, str]:
    """Clauses: PR-001, PR-002, PR-003."""
    properties = parse_properties(data, file)
    for fault in faults_of_file(properties, file):
        raise fault
    return properties


def faults_of_file(properties: Mapping[str, str], file: str) -> Iterator[FormatError | HudiError]:
    """Why the file of properties does not count, or a backup instead of it, fault by fault.

    Clauses: PR-002, PR-003, PR-004.
    """
    missing = [key for key in _REQUIRED if not properties.get(key, "").strip()]
    yield from (_invalid(file, f"{key} is missing") for key in missing)
    if _TYPE not in missing and properties[_TYPE].strip() not in ("COPY_ON_WRITE", "MERGE_ON_READ"):
        yield _invalid(file, f"{_TYPE} {properties[_TYPE]!r} is unknown")
    if _VERSION not in missing and not _is_number(properties[_VERSION]):
        yield _invalid(file, f"{_VERSION} {properties[_VERSION]!r} is no number")
    if _NAME not in missing:
        try:
            check_checksum(properties, file)
        except FormatError as error:
            yield error


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MAXIMUM_VERSION_DIGITS


def faults_of_table(properties: Mapping[str, str]) -> Iterator[HudiError]:
    """Why a table of these properties is not read, fault by fault; the file itself is sound.

    Clauses: MG-012, PR-007, VR-001, VR-002, VR-003.
    """
    version = int(properties[_VERSION])
    if version not in _READ_VERSIONS:
        known = ", ".join(str(known) for known in _READ_VERSIONS)
        hint = f"versions {known} are read; upgrade this reader, or the table"
        message = f"table version {version} is unknown"
        yield HudiError(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", message, PROPERTIES_FILE, hint=hint)
    mode = properties.get("hoodie.record.merge.mode", "").strip()
    if version >= _FIRST_VERSION_WITH_COMPLETION_TIMES and mode not in ("", *MERGE_MODES):
        message = f"hoodie.record.merge.mode {mode!r} is none of {', '.join(MERGE_MODES)}"
        yield HudiError(Reason.PROPERTIES_INVALID, "MG-012", message, PROPERTIES_FILE, hint="restore the table's mode")
    layout = properties.get(_LAYOUT, "")
    if layout not in ("", "1", "2"):
        message, hint = f"{_LAYOUT} {layout!r} is unknown", "restore the file from hoodie.properties.backup or a copy"
        yield HudiError(Reason.PROPERTIES_INVALID, "PR-007", message, PROPERTIES_FILE, hint=hint)


def plain_configuration(properties: Mapping[str, str]) -> TableConfiguration:
    """The same, whatever else a reader would refuse them for: version and layout are known ones."""
    version = int(properties[_VERSION])
    layout = _timeline_layout(properties, version)
    return TableConfiguration(
        name=properties.get(_NAME, "").strip(),
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
    return "MERGE_ON_READ" if properties[_TYPE].strip() == "MERGE_ON_READ" else "COPY_ON_WRITE"


def _timeline_layout(properties: Mapping[str, str], version: int) -> Literal[1, 2]:
    """Clauses: PR-007."""
    text = properties.get(_LAYOUT, "")
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
