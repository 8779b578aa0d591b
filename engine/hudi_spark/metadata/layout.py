"""The metadata table as a table of its own: names, forms, instants, and the indexes that its table names.

version 6      instants from 00000000000000010, logs named after their slice, indexes of version V1, records of 0.15
version 8      instants from 00000000000000000, logs named after their deltacommit, records of 1.0
version 9      the same with records of 1.1, statistics of index version V2

Clauses: IG-001, IG-003.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final

from hudi_format.avro.schemas import schema_text
from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index
from hudi_format.metadata.record_schemas import SchemaRelease, metadata_record_schema
from hudi_format.schemas import without_meta_fields
from hudi_format.storage import Storage
from hudi_format.table.index_definitions import (
    DEFINITIONS_FILE,
    DEFINITIONS_KEY,
    IndexDefinition,
    parse_index_definitions,
    serialise_index_definitions,
)
from hudi_format.table.properties import serialise_properties
from hudi_format.table.table_properties import (
    BACKUP_FILE,
    PROPERTIES_FILE,
    parse_checked_properties,
    repair_properties,
    with_checksum,
)
from hudi_format.timeline.plans import IndexPlan, parse_index_plan

from hudi_spark.concurrency import Effects
from hudi_spark.table_state import (
    INITIAL_PREFIX,
    PARTITIONS_KEY,
    Instant,
    TableConfiguration,
    Timeline,
    timeline_zone,
)

FIRST_WITH_COMPLETION_TIMES: Final = 8
FIRST_WITH_TYPED_BOUNDS: Final = 9
# Of the version that has both: whoever opens a file group writes as this task.
OPENING_TOKEN: Final = "0-0-0"  # noqa: S105 - a write token is no secret
_FIRST_INITIAL_OF_6: Final = 10
_PAYLOAD: Final = "org.apache.hudi.metadata.HoodieMetadataPayload"
_MERGER_OF_6: Final = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
_MERGER: Final = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class MetadataLayout:
    """How the metadata table of a table of one version is written.

    Clauses: MT-001, MT-018, MT-021.
    """

    version: int

    @property
    def has_completion_times(self) -> bool:
        """Whether logs are named after the deltacommit that wrote them, and completed instants have a second time."""
        return self.version >= FIRST_WITH_COMPLETION_TIMES

    @property
    def release(self) -> SchemaRelease:
        """The line of releases whose records this version has."""
        if self.version >= FIRST_WITH_TYPED_BOUNDS:
            return SchemaRelease.V1_1
        return SchemaRelease.V1_0 if self.has_completion_times else SchemaRelease.V0_15

    @property
    def opening_operation(self) -> str:
        """The operation type of a deltacommit that begins an index."""
        return "BULK_INSERT_PREPPED" if self.version >= FIRST_WITH_TYPED_BOUNDS else "BULK_INSERT"

    @property
    def record_schema(self) -> str:
        """The schema of the records as deltacommits state it, without meta fields; HFiles and log blocks have those."""
        return schema_text(without_meta_fields(metadata_record_schema(self.release)))

    def initial_instant(self, used: Iterable[str]) -> str:
        """The first instant for the beginning of an index that is not used yet.

        Clauses: MT-021.
        """
        taken = frozenset(used)
        number = 0 if self.has_completion_times else _FIRST_INITIAL_OF_6
        while f"{INITIAL_PREFIX}{number:03d}" in taken:
            number += 1
        return f"{INITIAL_PREFIX}{number:03d}"

    def index_version(self, partition: str, definitions: Mapping[str, IndexDefinition]) -> str:
        """V1 or V2: what an index' definition says, else what a new one has; statistics of partitions follow columns'.

        Clauses: IX-004.
        """
        name = Partition.COLUMN_STATS if partition == Partition.PARTITION_STATS else partition
        if name in definitions:
            return definitions[name].version
        typed = name == Partition.COLUMN_STATS or is_secondary_index(name) or is_expression_index(name)
        return "V2" if typed and self.version >= FIRST_WITH_TYPED_BOUNDS else "V1"

    def properties(self, table_name: str) -> dict[str, str]:
        """The properties of the metadata table of a table.

        Clauses: MT-001, PR-005, PR-007.
        """
        common = {
            "hoodie.table.name": f"{table_name}_metadata",
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.version": str(self.version),
            "hoodie.table.base.file.format": "HFILE",
            "hoodie.table.recordkey.fields": "key",
            "hoodie.populate.meta.fields": "false",
            "hoodie.compaction.payload.class": _PAYLOAD,
            "hoodie.datasource.write.drop.partition.columns": "false",
        }
        return {**common, **(self._newer() if self.has_completion_times else _OF_6)}

    def _newer(self) -> dict[str, str]:
        return {
            "hoodie.table.initial.version": str(self.version),
            "hoodie.timeline.layout.version": "2",
            "hoodie.timeline.path": "timeline",
            "hoodie.timeline.history.path": "history",
            "hoodie.archivelog.folder": "history",
            "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA",
            "hoodie.record.merge.mode": "CUSTOM",
            "hoodie.record.merge.strategy.id": _MERGER,
        }


_OF_6: Final = {
    "hoodie.timeline.layout.version": "1",
    "hoodie.archivelog.folder": "archived",
    "hoodie.table.keygenerator.class": "org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator",
    "hoodie.compaction.record.merger.strategy": _MERGER_OF_6,
}


INSTANT_DIGITS: Final = 17
_SECONDS: Final = "%Y%m%d%H%M%S"
_SECONDS_DIGITS: Final = 14
# What an instant of whole seconds is taken to end with.
_LAST_MILLISECOND: Final = 999
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND: Final = timedelta(milliseconds=1)


def milliseconds_of(instant: str, configuration: TableConfiguration) -> int:
    """Milliseconds since 1970 of an instant, in the time zone of the table's timeline.

    Of an instant that is no moment, as a bootstrap's are, 0.

    Clauses: IX-023, TM-001.
    """
    try:
        local = datetime.strptime(instant[:_SECONDS_DIGITS], _SECONDS)  # noqa: DTZ007 - its zone is the table's
    except ValueError:
        return 0
    moment = local.replace(tzinfo=timeline_zone(configuration)).astimezone(timezone.utc)
    rest = int(instant[_SECONDS_DIGITS:] or _LAST_MILLISECOND)
    return (moment - _EPOCH) // _MILLISECOND + rest


def newest_time(timeline: Timeline) -> str:
    """The greatest of all times of a timeline, in 17 digits; empty where it has none.

    Clauses: TM-003, TM-005.
    """
    times = (time[:INSTANT_DIGITS] for one in timeline.instants for time in (one.requested, one.completed or ""))
    return max(times, default="")


BUILDING_KEY: Final = f"{PARTITIONS_KEY}.inflight"


def indexes_of(properties: Mapping[str, str], key: str = PARTITIONS_KEY) -> tuple[str, ...]:
    """The indexes that a table's properties list as whole, or as being built.

    Clauses: MT-007.
    """
    return tuple(sorted({part.strip() for part in properties.get(key, "").split(",") if part.strip()}))


def list_indexes(
    effects: Effects, whole: Iterable[str], building: Iterable[str] = (), definitions_path: str | None = None
) -> bool:
    """The data table's properties list these indexes from now on, keys without any empty; whether that is a change.

    Clauses: MT-007, PR-008.
    """
    changes: dict[str, str | None] = {PARTITIONS_KEY: ",".join(sorted(whole)), BUILDING_KEY: ",".join(sorted(building))}
    if definitions_path is not None:
        changes[DEFINITIONS_KEY] = definitions_path
    return update_properties(effects, changes)


def update_properties(effects: Effects, changes: Mapping[str, str | None]) -> bool:
    """Set properties of a table and, where the value is None, remove them; the caller holds the lock.

    Nothing happens, and False comes back, where they are as requested. An update that stopped is repaired first.

    Clauses: PR-008.
    """
    storage = effects.storage
    if storage.exists(BACKUP_FILE):
        repair_properties(storage)
    old = storage.read(PROPERTIES_FILE)
    before = parse_checked_properties(old, PROPERTIES_FILE)
    after = {key: value for key, value in {**before, **changes}.items() if value is not None}
    if after == before:
        return False
    effects.put_properties(BACKUP_FILE, old)
    effects.put_properties(PROPERTIES_FILE, serialise_properties(with_checksum(after)))
    effects.delete_properties(BACKUP_FILE)
    return True


def read_definitions(storage: Storage, properties: Mapping[str, str]) -> dict[str, IndexDefinition]:
    """The definitions of a table's indexes by name; none where there is no such file.

    Raises:
        FormatError: PROPERTIES_INVALID when the file is none.

    Clauses: IX-001, IX-004.

    """
    path = properties.get(DEFINITIONS_KEY, "").strip() or DEFINITIONS_FILE
    if not storage.exists(path):
        return {}
    return {one.name: one for one in parse_index_definitions(storage.read(path), path)}


def write_definitions(
    effects: Effects, properties: Mapping[str, str], definitions: Mapping[str, IndexDefinition]
) -> str:
    """Write the definitions of a table's indexes; the path, which the properties are to name.

    Each with its version, also in tables of version 8: 1.0.2 passes over it, 1.1.1 fails to write without.

    Clauses: IX-001, IX-004.
    """
    path = properties.get(DEFINITIONS_KEY, "").strip() or DEFINITIONS_FILE
    ordered = [definitions[name] for name in sorted(definitions)]
    effects.put_index_file(path, serialise_index_definitions(ordered))
    return path


INDEXING: Final = "indexing"


def index_plan(storage: Storage, indexing: Instant) -> IndexPlan:
    """The plan of an indexing action.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.

    Clauses: IG-001, TL-033.

    """
    file = indexing.files.get("REQUESTED", indexing.file)
    return parse_index_plan(storage.read(file), file)


def planned_indexes(storage: Storage, timeline: Timeline) -> Mapping[str, Instant]:
    """The actions that have not completed, by the partitions of the metadata table that they build.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT.

    Clauses: IG-001, IG-003.

    """
    found: dict[str, Instant] = {}
    for one in timeline.pending(INDEXING):
        for info in index_plan(storage, one).index_partition_infos:
            found.setdefault(info.metadata_partition_path or "", one)
    return found
