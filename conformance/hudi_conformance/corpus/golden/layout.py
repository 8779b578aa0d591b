"""What a table under construction is: version, type, key and partition columns, and the properties they make."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hudi_model.files import Schema

from hudi_conformance.corpus.golden.rides import RIDES, Row

_PAYLOADS = {
    "EVENT_TIME_ORDERING": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
    "COMMIT_TIME_ORDERING": "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload",
}
_STRATEGIES = {
    "EVENT_TIME_ORDERING": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
    "COMMIT_TIME_ORDERING": "ce9acb64-bde0-424c-9b91-f6ebba25356d",
}
_SIMPLE_GENERATOR = "org.apache.hudi.keygen.SimpleKeyGenerator"


@dataclass(frozen=True, slots=True)
class Layout:
    """A table's fixed traits; `properties` are added last and may say otherwise (None removes one)."""

    version: int
    merge_on_read: bool
    ordering: tuple[str, ...] = ("ts",)
    merge_mode: str = "EVENT_TIME_ORDERING"
    partition_by: str | None = "city"
    record_key: tuple[str, ...] = ("id",)
    hive_style: bool = False
    schema: Schema = RIDES
    groups_per_partition: int = 2
    properties: Mapping[str, str | None] = field(default_factory=dict)
    name: str | None = None

    @property
    def timeline_layout(self) -> Literal[1, 2]:
        """1 for tables up to version 6, 2 from version 8 on."""
        return 1 if self.version <= 6 else 2

    @property
    def timeline_folder(self) -> str:
        """Where the timeline lies, unless the properties say otherwise."""
        return ".hoodie" if self.timeline_layout == 1 else ".hoodie/timeline"

    @property
    def table_type(self) -> str:
        """The type as properties spell it."""
        return "MERGE_ON_READ" if self.merge_on_read else "COPY_ON_WRITE"

    def key(self, row: Row) -> str:
        """The record key of a row: the plain value, or `name:value` pairs when several fields make it."""
        if len(self.record_key) == 1:
            return str(row[self.record_key[0]])
        words: dict[object, str] = {None: "__null__", "": "__empty__"}
        return ",".join(f"{name}:{words.get(row[name]) or row[name]!s}" for name in self.record_key)

    def partition(self, row: Row) -> str:
        """The partition path of a row."""
        if self.partition_by is None:
            return ""
        return self.partition_path(str(row[self.partition_by]))

    def partition_path(self, value: str) -> str:
        """The partition path of a partition column's value."""
        return f"{self.partition_by}={value}" if self.hive_style else value

    def table_properties(self, name: str) -> dict[str, str]:
        """hoodie.properties as the release that introduced this table version writes them."""
        merged: dict[str, str | None] = {**self._common(name), **self._of_version(), **self.properties}
        return {key: value for key, value in sorted(merged.items()) if value is not None}

    def _common(self, name: str) -> dict[str, str]:
        return {
            "hoodie.table.name": name,
            "hoodie.table.type": self.table_type,
            "hoodie.table.version": str(self.version),
            "hoodie.timeline.layout.version": str(self.timeline_layout),
            "hoodie.table.checksum": str(zlib.crc32(f".{name}".encode())),
            "hoodie.table.recordkey.fields": ",".join(self.record_key),
            "hoodie.table.partition.fields": self.partition_by or "",
            "hoodie.table.base.file.format": "PARQUET",
            "hoodie.populate.meta.fields": "true",
            "hoodie.table.cdc.enabled": "false",
            "hoodie.table.timeline.timezone": "UTC",
            "hoodie.partition.metafile.use.base.format": "false",
            "hoodie.datasource.write.drop.partition.columns": "false",
            "hoodie.datasource.write.hive_style_partitioning": str(self.hive_style).lower(),
            "hoodie.datasource.write.partitionpath.urlencode": "false",
        }

    def _of_version(self) -> dict[str, str]:
        if self.version <= 6:
            return self._version_6()
        common = {
            "hoodie.archivelog.folder": "history",
            "hoodie.timeline.path": "timeline",
            "hoodie.timeline.history.path": "history",
            "hoodie.table.initial.version": str(self.version),
            "hoodie.table.keygenerator.type": "SIMPLE" if self.partition_by else "NON_PARTITION",
            "hoodie.table.multiple.base.file.formats.enable": "false",
            "hoodie.record.merge.mode": self.merge_mode,
        }
        return {**common, **(self._version_8() if self.version == 8 else self._version_9())}

    def _version_6(self) -> dict[str, str]:
        properties = {
            "hoodie.archivelog.folder": "archived",
            "hoodie.database.name": "",
            "hoodie.table.keygenerator.class": _SIMPLE_GENERATOR,
            **self._ordering("hoodie.table.precombine.field"),
        }
        if self.merge_on_read:
            properties["hoodie.compaction.payload.class"] = _PAYLOADS[self.merge_mode]
            properties["hoodie.compaction.record.merger.strategy"] = _STRATEGIES["EVENT_TIME_ORDERING"]
        return properties

    def _version_8(self) -> dict[str, str]:
        return {
            "hoodie.record.merge.strategy.id": _STRATEGIES[self.merge_mode],
            "hoodie.compaction.payload.class": _PAYLOADS[self.merge_mode],
            **self._ordering("hoodie.table.precombine.field"),
        }

    def _version_9(self) -> dict[str, str]:
        draft = {"hoodie.meta.fields.mode": "ALL"} if self.version > 9 else {}
        return {"hoodie.table.format": "native", **draft, **self._ordering("hoodie.table.ordering.fields")}

    def _ordering(self, name: str) -> dict[str, str]:
        return {name: ",".join(self.ordering)} if self.ordering else {}


def copy_on_write(version: int, **traits: object) -> Layout:
    """A copy-on-write table."""
    return Layout(version, merge_on_read=False, **traits)  # type: ignore[arg-type]


def merge_on_read(version: int, **traits: object) -> Layout:
    """A merge-on-read table."""
    return Layout(version, merge_on_read=True, **traits)  # type: ignore[arg-type]
