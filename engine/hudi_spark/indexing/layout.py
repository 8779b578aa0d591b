"""The metadata table as a table of its own: its properties, its instants, the names and forms of its files, by version.

version 6      instants from 00000000000000010, logs named after their slice, indexes of version V1, records of 0.15
version 8      instants from 00000000000000000, logs named after their deltacommit, records of 1.0
version 9      the same with records of 1.1, statistics of index version V2
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hudi_format.avro.schemas import schema_text
from hudi_format.metadata.partitions import Partition, is_expression_index, is_secondary_index
from hudi_format.metadata.record_schemas import SchemaRelease, metadata_record_schema
from hudi_format.schemas import without_meta_fields
from hudi_format.table.index_definitions import IndexDefinition

from hudi_spark.metadata.validity import INITIAL_PREFIX

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
