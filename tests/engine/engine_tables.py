"""Small tables written with the format package, for the engine's tests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi_format.base.files import write_base_file
from hudi_format.log.blocks import HeaderKey
from hudi_format.log.content import data_block, delete_block
from hudi_format.log.deletes import DeleteRecord
from hudi_format.names import PARTITION_METAFILE, BaseFileName, LogFileName, TimelineFileName, timeline_file_name
from hudi_format.schemas import META_FIELDS, arrow_schema, with_meta_fields
from hudi_format.table.partition_metafile import PartitionMetafile, serialise_partition_metafile
from hudi_format.table.properties import serialise_properties, table_checksum
from hudi_format.timeline.commit_metadata import CommitMetadata, WriteStat, serialise_avro, serialise_json
from hudi_format.timeline.plans import (
    CleanMetadata,
    CleanPartition,
    CompactionOperation,
    CompactionPlan,
    serialise_clean_metadata,
    serialise_compaction_plan,
)

Row = Mapping[str, Any]

COLUMNS = (
    ("id", "string"),
    ("region", "string"),
    ("ts", ["null", "long"]),
    ("note", ["null", "string"]),
    ("price", ["null", "double"]),
)


def avro(columns: Sequence[tuple[str, Any]] = COLUMNS) -> dict[str, Any]:
    """An Avro record schema of columns; those with a null branch default to null."""
    fields = [
        {"name": name, "type": kind, **({"default": None} if isinstance(kind, list) else {})} for name, kind in columns
    ]
    return {"type": "record", "name": "trips_record", "namespace": "hoodie.trips", "fields": fields}


def tick(number: int) -> str:
    """The instant of a small number."""
    return str(20250101000000000 + number)


def row(key: str, ts: int | None, note: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": key, "region": "north", "ts": ts, "note": note, "price": None, **more}


class TableBuilder:
    """Writes one table, file by file; `tick` numbers stand for instants.

    A completed action of request n completes at n + 1 unless said otherwise.
    """

    def __init__(
        self,
        base: Path,
        version: int = 9,
        table_type: str = "MERGE_ON_READ",
        properties: Mapping[str, str] | None = None,
        columns: Sequence[tuple[str, Any]] = COLUMNS,
    ) -> None:
        self.base = base
        self.version = version
        self.schema = avro(columns)
        self.layout = 1 if version < 8 else 2
        self.folder = base / ".hoodie" / ("" if self.layout == 1 else "timeline")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.properties = {
            "hoodie.table.name": "trips",
            "hoodie.table.type": table_type,
            "hoodie.table.version": str(version),
            "hoodie.timeline.layout.version": str(self.layout),
            "hoodie.table.checksum": str(table_checksum(None, "trips")),
            "hoodie.table.recordkey.fields": "id",
            "hoodie.table.partition.fields": "region",
            "hoodie.table.ordering.fields": "ts",
            "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
            **(properties or {}),
        }
        self.write_properties()

    def write_properties(self, name: str = "hoodie.properties") -> None:
        (self.base / ".hoodie" / name).write_bytes(serialise_properties(self.properties))

    def base_file(
        self, n: int, rows: Sequence[Row], *, group: str = "f1", partition: str = "north", groups_of: int | None = None
    ) -> WriteStat:
        """Write a base file at instant n; `groups_of` rows go into each Parquet row group, without a bloom filter."""
        name = str(BaseFileName(group, "0-1-0", tick(n), "parquet"))
        filled = [self._filled(one, n, partition, name) for one in rows]
        table = pa.Table.from_pylist(filled, arrow_schema(with_meta_fields(self.schema)))
        bloom = None if groups_of is None else 0
        data = write_base_file(table, with_meta_fields(self.schema), rows_a_group=groups_of, bloom_entries=bloom)
        self._write(partition, name, data)
        return self._stat(group, partition, name)

    def log_file(
        self,
        n: int,
        blocks: Sequence[bytes],
        *,
        group: str = "f1",
        partition: str = "north",
        version: int = 1,
        token: str = "0-1-0",  # noqa: S107 - a write token is no secret
        cdc: bool = False,
    ) -> WriteStat:
        """Write a log file whose name has instant n (the base instant of the slice in version 6)."""
        name = str(LogFileName(group, tick(n), version, token, cdc))
        self._write(partition, name, b"".join(blocks))
        return self._stat(group, partition, name)

    def data(self, n: int, rows: Sequence[Row], header: Mapping[HeaderKey, str] | None = None) -> bytes:
        """A data block of instant n."""
        filled = [self._filled(one, n, "north", "f1") for one in rows]
        return data_block(tick(n), filled, with_meta_fields(self.schema), header)

    def deletes(self, n: int, *deletes: DeleteRecord, header: Mapping[HeaderKey, str] | None = None) -> bytes:
        """A delete block of instant n."""
        return delete_block(tick(n), deletes, with_meta_fields(self.schema), header)

    def commit(
        self,
        n: int,
        stats: Sequence[WriteStat] = (),
        *,
        action: str = "deltacommit",
        completed: int | None = None,
        replaced: Mapping[str, tuple[str, ...]] | None = None,
        schema: Any = None,
        operation: str = "UPSERT",
    ) -> str:
        """Complete an action requested at n, with its requested and inflight files before it."""
        extra = {"schema": json.dumps(schema or self.schema)}
        metadata = CommitMetadata(operation, write_stats=tuple(stats), replaced_file_ids=replaced or {}, extra=extra)
        self.pending(n, action=action)
        replace = action == "replacecommit"
        data = serialise_json(metadata) if self.layout == 1 else serialise_avro(metadata, replace=replace)
        self.timeline_file(n, action, "COMPLETED", data, completed)
        return tick(n)

    def pending(self, n: int, *, action: str = "deltacommit", state: str = "INFLIGHT", plan: bytes = b"") -> None:
        """Request an action at n, and begin it where the state says so."""
        self.timeline_file(n, action, "REQUESTED", plan)
        if state == "INFLIGHT":
            self.timeline_file(n, action, "INFLIGHT", b"")

    def pending_compaction(self, n: int, *groups: str, partition: str = "north", state: str = "REQUESTED") -> None:
        operations = tuple(CompactionOperation(tick(0), (), None, group, partition) for group in groups)
        plan = serialise_compaction_plan(CompactionPlan(operations))
        self.pending(n, action="compaction", state=state, plan=plan)

    def clean(self, n: int, earliest: int | None, *deleted: str) -> None:
        """A completed clean that kept the state since `earliest`, and says that it deleted files of the north."""
        metadata = CleanMetadata(
            tick(n),
            earliest_commit_to_retain=tick(earliest) if earliest is not None else "",
            partition_metadata={"north": CleanPartition("north", success_delete_files=deleted)} if deleted else {},
        )
        self.timeline_file(n, "clean", "COMPLETED", serialise_clean_metadata(metadata))

    def timeline_file(self, n: int, action: str, state: Any, data: bytes, completed: int | None = None) -> Path:
        time = tick(n + 1 if completed is None else completed) if state == "COMPLETED" and self.layout == 2 else None
        name = timeline_file_name(TimelineFileName(tick(n), action, state, time), 1 if self.layout == 1 else 2)
        path = self.folder / name
        path.write_bytes(data)
        return path

    def _filled(self, one: Row, n: int, partition: str, file: str) -> dict[str, Any]:
        meta = (tick(n), f"{tick(n)}_0_0", one["id"], partition, file)
        if self.properties.get("hoodie.populate.meta.fields") == "false":
            meta = ("", "", "", "", "")
        return {**dict(zip(META_FIELDS, meta, strict=True)), **one}

    def _write(self, partition: str, name: str, data: bytes) -> None:
        folder = self.base / partition
        folder.mkdir(parents=True, exist_ok=True)
        depth = len(Path(partition).parts)
        (folder / PARTITION_METAFILE).write_bytes(serialise_partition_metafile(PartitionMetafile(tick(0), depth)))
        (folder / name).write_bytes(data)

    def _stat(self, group: str, partition: str, name: str) -> WriteStat:
        path = f"{partition}/{name}" if partition else name
        return WriteStat(file_id=group, path=path, prev_commit="null", partition_path=partition)
