"""The model's durable effects, done to the bytes of a table: what is there already is not touched."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hudi_format.names import PARTITION_METAFILE
from hudi_format.storage import LocalStorage
from hudi_format.table.properties import serialise_properties
from hudi_format.timeline import history as history_format
from hudi_format.timeline.archived_log import archived_log_name, is_archived_log
from hudi_model import effects as done
from hudi_model.actions import CommitMetadata, State, TimelineEntry
from hudi_model.configuration import timeline_layout, valid_properties
from hudi_model.effects import timeline_folder
from hudi_model.files import Schema
from hudi_model.tables import Table
from hudi_model.time import InstantTime, moment_of

from hudi_conformance.bridge.file_bytes import base_file_bytes, log_file_bytes
from hudi_conformance.bridge.file_names import data_path
from hudi_conformance.bridge.histories import archive_folder, archived_log_bytes, history_file_bytes, manifest_bytes
from hudi_conformance.bridge.metadata_storing import store_metadata
from hudi_conformance.bridge.sidecars import HEARTBEATS, MARKERS, marker_path, ring_file, schema_files
from hudi_conformance.bridge.timeline_bytes import content_bytes

_PROPERTIES = ".hoodie/hoodie.properties"


@dataclass(frozen=True, slots=True)
class Site:
    """The folder of a table, and the columns that files get which carry no schema of their own."""

    base: Path
    schema: Schema
    now: InstantTime


def perform(table: Table, effects: done.Effects, site: Site) -> Table:
    """The table after effects, each of them on disk before the next begins.

    Raises:
        Unsupported: an effect on files that the format cannot write yet.

    """
    for effect in effects:
        after = done.apply(table, effect)
        _do(table, after, effect, site)
        table = after
    return table


def _do(before: Table, table: Table, effect: done.Effect, site: Site) -> None:
    storage = LocalStorage(site.base)
    name = _name(table)
    match effect:
        case done.CreateInstant(entry):
            _put_entry(storage, table, entry, site)
        case done.DeleteInstant(file):
            _delete_entry(storage, before, file)
        case done.PutBaseFile(file):
            storage.put(data_path(file.partition, file.name), base_file_bytes(file, site.schema, name))
        case done.PutLogFile(file):
            storage.put(data_path(file.partition, file.name), log_file_bytes(file, site.schema, _properties(table)))
        case done.DeleteDataFile(partition, file):
            storage.delete(data_path(partition, file))
        case done.PutPartitionMetafile(partition):
            _make_partition(storage, partition, site.now)
        case done.PutProperties(properties):
            storage.put(_PROPERTIES, serialise_properties(properties, ("Properties saved on 2025-01-01T00:00:00Z",)))
            if _layout(before) != _layout(table):
                _move_timeline(storage, before, table, site)
        case _:
            _do_beside(table, effect, storage, site)


def _put_entry(storage: LocalStorage, table: Table, entry: TimelineEntry, site: Site) -> None:
    layout = _layout_of(table, entry)
    data = content_bytes(entry, layout, _name(table), _sizes(site, entry.content), site.base.as_uri())
    storage.put(f"{_folder_of_layout(table, layout)}/{entry.name}", data)


def _delete_entry(storage: LocalStorage, table: Table, name: str) -> None:
    found = next((one for one in table.timeline if one.name == name), None)
    layout = _layout_of(table, found) if found else _layout(table)
    storage.delete(f"{_folder_of_layout(table, layout)}/{name}")


def _move_timeline(storage: LocalStorage, before: Table, table: Table, site: Site) -> None:
    """What bears one name in both layouts is put where the new one looks, in its form; versions of columns as well."""
    for entry in table.timeline:
        if entry.state < State.COMPLETED:
            _put_entry(storage, table, entry, site)
            storage.delete(f"{_folder(before)}/{entry.name}")
    for file in table.schema_files:
        stood, stands = (dict(schema_files(file, _layout(one))) for one in (before, table))
        for path in stood.keys() - stands.keys():
            storage.delete(path)
        for path in stands.keys() - stood.keys():
            storage.put(path, stands[path])


def _layout_of(table: Table, entry: TimelineEntry) -> int:
    """The layout in which a file is: names of completed ones tell, also in the middle of a change of versions."""
    if entry.state < State.COMPLETED:
        return _layout(table)
    return 1 if entry.completed is None else 2


def _folder_of_layout(table: Table, layout: int) -> str:
    properties = _properties(table)
    if layout == _layout(table):
        return timeline_folder(properties)
    return ".hoodie" if layout == 1 else f".hoodie/{properties.get('hoodie.timeline.path') or 'timeline'}"


def _do_beside(table: Table, effect: done.Effect, storage: LocalStorage, site: Site) -> None:
    """Effects on what stands beside data and timeline."""
    match effect:
        case done.PutMarker(marker):
            storage.put(marker_path(marker), b"")
        case done.DeleteMarkers(instant):
            shutil.rmtree(site.base / MARKERS / instant, ignore_errors=True)
        case done.WriteHeartbeat(instant, None):
            storage.delete(f"{HEARTBEATS}/{instant}")
        case done.WriteHeartbeat(instant, moment) if moment:
            storage.put(f"{HEARTBEATS}/{instant}", b"")
            beat = moment_of(moment).timestamp()
            os.utime(site.base / HEARTBEATS / instant, (beat, beat))
        case done.PutHashRing(ring):
            storage.put_if_absent(*ring_file(ring))
        case done.PutSchemaFile(file):
            for path, data in schema_files(file, _layout(table)):
                storage.put(path, data)
        case done.CommitMetadataTable():
            store_metadata(table, site.base, {one.path: one.size for one in storage.list_files("")})
        case _:
            _do_in_history(table, effect, storage)


def _do_in_history(table: Table, effect: done.Effect, storage: LocalStorage) -> None:
    folder = _archive_folder(table, effect)
    match effect:
        case done.AppendArchivedLog(rows):
            taken = [status.path for status in storage.list_files(folder)] if storage.exists(folder) else []
            number = 1 + sum(is_archived_log(path.rpartition("/")[2]) for path in taken)
            storage.put(f"{folder}/{archived_log_name(number)}", archived_log_bytes(rows, _name(table)))
        case done.PutHistoryFile(file):
            storage.put(f"{folder}/{file.name}", history_file_bytes(file, _name(table)))
        case done.DeleteHistoryFile(name):
            storage.delete(f"{folder}/{name}")
        case done.PutManifest(manifest):
            sizes = {name: storage.size(f"{folder}/{name}") for name in manifest.files}
            storage.put(f"{folder}/manifest_{manifest.version}", manifest_bytes(manifest, sizes))
        case done.SwapVersion(version):
            storage.put(f"{folder}/{history_format.VERSION_FILE}", str(version).encode())


def _archive_folder(table: Table, effect: done.Effect) -> str:
    """Where archived actions of the effect's layout go, also in the middle of a change of versions."""
    properties, layout = _properties(table), 1 if isinstance(effect, done.AppendArchivedLog) else 2
    if layout == _layout(table):
        return archive_folder(properties)
    return (
        f".hoodie/{properties.get('hoodie.archivelog.folder') or 'archived'}"
        if layout == 1
        else ".hoodie/timeline/history"
    )


def _make_partition(storage: LocalStorage, partition: str, now: InstantTime) -> None:
    depth = len(partition.split("/")) if partition else 0
    metafile = {"commitTime": now, "partitionDepth": str(depth)}
    storage.put(data_path(partition, PARTITION_METAFILE), serialise_properties(metafile, ("partition metadata",)))


def _sizes(site: Site, content: object) -> dict[str, int]:
    paths = [stat.path for stat in content.write_stats if stat.path] if isinstance(content, CommitMetadata) else []
    return {path: (site.base / path).stat().st_size for path in paths if (site.base / path).exists()}


def _properties(table: Table) -> Mapping[str, str]:
    return valid_properties(table.properties, table.backup_properties)


def _name(table: Table) -> str:
    return _properties(table)["hoodie.table.name"]


def _layout(table: Table) -> int:
    return timeline_layout(_properties(table))


def _folder(table: Table) -> str:
    return timeline_folder(_properties(table))
