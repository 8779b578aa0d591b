"""What a table says of itself: properties, columns and indexes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hudi_format.errors import FormatError
from hudi_format.log.changes import LoggingMode
from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index
from hudi_format.metadata.records import ColumnStats
from hudi_format.metadata.wrapped_values import ValueKind
from hudi_format.storage import Storage
from hudi_format.table.no_table import no_table
from hudi_format.table.properties import doubled_keys, parse_properties

from hudi_spark.errors import HudiError
from hudi_spark.fsck.stored import TableState
from hudi_spark.fsck.violations import Violations, violation_of
from hudi_spark.merge import BY_PAYLOAD, PAYLOAD_MODES, STRATEGIES, completion_of, payload_name
from hudi_spark.metadata import BUILDING_KEY, indexes_of, read_definitions
from hudi_spark.schema import table_schema
from hudi_spark.table_state import (
    BACKUP_FILE,
    EVERYTHING,
    MERGE_MODES,
    PROPERTIES_FILE,
    NoMetadata,
    TableConfiguration,
    faults_of_file,
    faults_of_table,
    open_metadata_table,
    plain_configuration,
)
from hudi_spark.write import TRANSLATED

_MERGING: Final = (
    "hoodie.record.merge.mode",
    "hoodie.compaction.payload.class",
    "hoodie.record.merge.strategy.id",
)
_BASE_FORMATS: Final = ("PARQUET", "ORC", "HFILE")
_BASE_FORMAT_KEY: Final = "hoodie.table.base.file.format"
_LOGGING_KEY: Final = "hoodie.table.cdc.supplemental.logging.mode"
# Indexes of later versions, by how their names begin.
_SINCE_8: Final = ("partition_stats", "secondary_index_", "expr_index_", "func_index_")
# With one of these nothing else can be known: which files there are, and by which rules they are read.
_DECISIVE: Final = ("VR-002", "PR-007")
_CHECKSUM: Final = "PR-003"


@dataclass(frozen=True, slots=True)
class _File:
    """A file of properties: what it says, None where that cannot be known, and why a reader refuses it.

    `doubled`: the values of each key that it has with several.
    """

    properties: Mapping[str, str] | None
    faults: tuple[FormatError | HudiError, ...] = ()
    doubled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_usable(self) -> bool:
        """Whether the rest of the table can be looked at."""
        return self.properties is not None and all(fault.clause == _CHECKSUM for fault in self.faults)


def check_properties(storage: Storage, violations: Violations) -> TableConfiguration | None:
    """The configuration of a table, None where nothing else of it can be known.

    Raises:
        FormatError: NOT_A_TABLE where there are no properties at all.

    Clauses: SL-001, PR-001, PR-002, PR-003, PR-004, PR-007, PR-008, VR-001, VR-002, VR-021.

    """
    main, backup = _file(storage, PROPERTIES_FILE), _file(storage, BACKUP_FILE)
    if main is None and backup is None:
        raise no_table(storage)
    if backup is not None:
        violations.warning("PR-008", BACKUP_FILE, "an update of the properties did not finish")
    backup_is_valid = backup is not None and not backup.faults
    chosen = backup if main is None or (main.faults and backup_is_valid) else main
    return None if chosen is None else _checked(storage, chosen, violations)


def _checked(storage: Storage, chosen: _File, violations: Violations) -> TableConfiguration | None:
    faults = list(chosen.faults)
    if chosen.is_usable and chosen.properties is not None:
        faults += faults_of_table(chosen.properties)
    for fault in faults:
        violations.found.add(violation_of(fault, PROPERTIES_FILE))
    for key, values in chosen.doubled.items():
        message = f"{key} is there {len(values)} times, as {', '.join(map(repr, values))[:200]}: the last holds"
        violations.warning("PR-001", PROPERTIES_FILE, message)
    if not chosen.is_usable or chosen.properties is None or any(fault.clause in _DECISIVE for fault in faults):
        return None
    configuration = plain_configuration(chosen.properties)
    _check_values(configuration, violations)
    _check_merging(configuration, violations)
    with violations.noting():
        read_definitions(storage, chosen.properties)
    return configuration


def _file(storage: Storage, path: str) -> _File | None:
    try:
        data = storage.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        properties = parse_properties(data, path)
    except FormatError as error:
        return _File(None, (error,))
    return _File(properties, tuple(faults_of_file(properties, path)), doubled_keys(data, path))


def _check_values(configuration: TableConfiguration, violations: Violations) -> None:
    """Clauses: BF-010, CD-008, IG-005, MG-026, MT-002."""
    properties = configuration.properties
    base = properties.get(_BASE_FORMAT_KEY, "").strip().upper()
    if base not in ("", *_BASE_FORMATS):
        violations.error(
            "BF-010", PROPERTIES_FILE, f"{_BASE_FORMAT_KEY} {base!r} is none of {', '.join(_BASE_FORMATS)}"
        )
    with violations.noting(PROPERTIES_FILE):
        completion_of(configuration)
    both = set(indexes_of(properties)) & set(indexes_of(properties, BUILDING_KEY))
    for name in sorted(both):
        violations.error("IG-005", PROPERTIES_FILE, f"the index {name} is whole, and being built")
    for name in sorted({*indexes_of(properties), *indexes_of(properties, BUILDING_KEY)}):
        if not configuration.has_completion_times and name.startswith(_SINCE_8):
            violations.error("MT-002", PROPERTIES_FILE, f"table version {configuration.version} has no index {name}")
    mode = properties.get(_LOGGING_KEY, "").strip().upper()
    if mode not in ("", *LoggingMode):
        violations.error("CD-008", PROPERTIES_FILE, f"{_LOGGING_KEY} {mode!r} is none of {', '.join(LoggingMode)}")


def _check_merging(configuration: TableConfiguration, violations: Violations) -> None:
    """Mode, payload class and strategy id say one way of merging; version 6 does not compare them.

    Clauses: MG-016.
    """
    properties = configuration.properties
    mode, payload, strategy = (properties.get(key, "").strip() for key in _MERGING)
    if not configuration.has_completion_times or mode not in ("", *MERGE_MODES):
        return
    by_payload = PAYLOAD_MODES.get(payload_name(payload), "CUSTOM") if payload else None
    by_strategy = STRATEGIES.get(strategy, "CUSTOM") if strategy else None
    translated = payload in TRANSLATED and TRANSLATED[payload].mode == mode
    stated = {one for one in (by_payload, by_strategy) if one is not None}
    nothing = mode == "CUSTOM" and not payload and strategy in ("", BY_PAYLOAD)
    parted = by_payload is not None and by_strategy not in (None, "CUSTOM", by_payload)
    if nothing or (not translated and (parted or (mode and stated and mode not in stated))):
        message = f"mode {mode or None}, payload class {payload or None}, strategy id {strategy or None}"
        violations.error("MG-016", PROPERTIES_FILE, f"{message} are not one way of merging")


_FIRST_WITH_TYPES: Final = 9


def check_definition(state: TableState, violations: Violations) -> None:
    """Key, partition and ordering fields are columns, each column is there once, and indexes have versions that exist.

    Clauses: IX-004, OW-032.
    """
    _check_fields(state, violations)
    _check_indexes(state, violations)


def _check_fields(state: TableState, violations: Violations) -> None:
    """Clauses: OW-032."""
    configuration, names = state.configuration, list[str]()
    # A schema that does not parse is informed where it stands.
    with Violations().noting():
        names = table_schema(state.commits, configuration).names
    for name in sorted({one for one in names if names.count(one) > 1}):
        violations.error("OW-032", PROPERTIES_FILE, f"two columns have the name {name}")
    placed = () if configuration.partitions.columns_dropped else configuration.partition_by
    for name in (*configuration.record_key, *placed, *configuration.ordering):
        column = name.partition(":")[0].partition(".")[0].strip()
        if names and column not in names:
            violations.error("OW-032", PROPERTIES_FILE, f"{column} is to be a field of the table, and is no column")


def _check_indexes(state: TableState, violations: Violations) -> None:
    """What the statistics say decides: a table that was made in version 9 may have been in version 8 since.

    Clauses: IX-004.
    """
    configuration = state.configuration
    with Violations().noting():
        for name, one in read_definitions(state.storage, configuration.properties).items():
            typed = name in {Partition.COLUMN_STATS, Partition.PARTITION_STATS}
            typed = typed or is_expression_index(name) or is_secondary_index(name)
            wanted = {"V1", "V2"} if typed and configuration.version >= _FIRST_WITH_TYPES else {"V1"}
            if one.version not in wanted or (one.version == "V1" and "V2" in wanted and _states_types(state, name)):
                violations.error("IX-004", name, f"version {one.version} is none of such an index in this table")


def _states_types(state: TableState, index: str) -> bool:
    """Whether statistics of an index say the type of their values."""
    metadata = open_metadata_table(state.storage, state.configuration, state.contents.timeline)
    if isinstance(metadata, NoMetadata) or index not in metadata.indexes:
        return False
    held = (record.content for record in metadata.indexes[index].records(EVERYTHING).values())
    types = (one.value_type for one in held if isinstance(one, ColumnStats))
    return any(one is not None and one.kind is not ValueKind.V1 for one in types)
