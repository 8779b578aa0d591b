"""From a table's state in the model to its bytes. The same state gives the same bytes."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hudi_format.names import PARTITION_METAFILE
from hudi_format.table.properties import serialise_properties
from hudi_model.actions import CommitMetadata
from hudi_model.configuration import Properties, timeline_layout, valid_properties
from hudi_model.effects import timeline_folder
from hudi_model.files import BaseFile, LogFile, Schema
from hudi_model.tables import Table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.file_bytes import base_file_bytes, log_file_bytes
from hudi_conformance.bridge.file_names import data_path
from hudi_conformance.bridge.histories import archive_folder, history_files
from hudi_conformance.bridge.metadata_storing import definitions_file, metadata_files
from hudi_conformance.bridge.sidecars import ring_file, rules_file
from hudi_conformance.bridge.timeline_bytes import content_bytes

# All files carry one date, and the properties say the same in words.
WRITTEN_AT = 1_735_689_600
_DATE = "Wed Jan 01 00:00:00 UTC 2025"
_COMMENTS = ("Updated at 2025-01-01T00:00:00Z", _DATE)
_METAFILE_COMMENTS = ("partition metadata", _DATE)
_FOLDERS = (
    ".hoodie/.aux/.bootstrap/.partitions",
    ".hoodie/.aux/.bootstrap/.fileids",
    ".hoodie/.schema",
    ".hoodie/.temp",
)


def store(table: Table, path: Path) -> None:
    """Write a table's files below a folder, as Apache Hudi lays them out, empty folders too.

    Raises:
        ValueError: the state holds what has no bytes of its own: damaged or unread content, unknown content.
        Rejection: the properties describe no table.

    """
    for folder in _folders(table):
        (path / folder).mkdir(parents=True, exist_ok=True)
    for name, data in _files(table):
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        os.utime(target, (WRITTEN_AT, WRITTEN_AT))


def _folders(table: Table) -> Iterator[str]:
    properties = valid_properties(table.properties, table.backup_properties)
    yield from _FOLDERS
    yield timeline_folder(properties)
    yield archive_folder(properties)


def _files(table: Table) -> Iterator[tuple[str, bytes]]:
    properties = valid_properties(table.properties, table.backup_properties)
    yield from _properties_file(".hoodie/hoodie.properties", table.properties)
    yield from _properties_file(".hoodie/hoodie.properties.backup", table.backup_properties)
    data_files = list(_data_files(table, properties["hoodie.table.name"]))
    yield from data_files
    sizes = {name: len(data) for name, data in data_files}
    yield from metadata_files(table, sizes)
    yield from definitions_file(table)
    yield from map(ring_file, table.rings)
    yield from map(rules_file, table.bucket_rules)
    layout, folder = timeline_layout(properties), timeline_folder(properties)
    for entry in table.timeline:
        yield f"{folder}/{entry.name}", content_bytes(entry, layout, properties["hoodie.table.name"], sizes)
    place = archive_folder(properties)
    for name, data in history_files(table.history, properties["hoodie.table.name"]):
        yield f"{place}/{name}", data


def _properties_file(path: str, properties: Properties) -> Iterator[tuple[str, bytes]]:
    if properties is None:
        return
    if not isinstance(properties, Mapping):
        raise ValueError(f"{path}: damaged properties have no bytes")  # noqa: TRY004 - the state, not the type
    yield path, serialise_properties(properties, _COMMENTS)


def _data_files(table: Table, name: str) -> Iterator[tuple[str, bytes]]:
    for partition, created in sorted(_partitions(table).items()):
        depth = len(partition.split("/")) if partition else 0
        metafile = {"commitTime": created, "partitionDepth": str(depth)}
        yield data_path(partition, PARTITION_METAFILE), serialise_properties(metafile, _METAFILE_COMMENTS)
    for base in table.base_files:
        yield data_path(base.partition, base.name), base_file_bytes(base, _schema(table, base.instant), name)
    properties = valid_properties(table.properties, table.backup_properties)
    for log in table.log_files:
        yield data_path(log.partition, log.name), log_file_bytes(log, _schema(table, log.instant), properties)


def _partitions(table: Table) -> dict[str, InstantTime]:
    """Every partition with the first instant that wrote to it."""
    created: dict[str, InstantTime] = {}
    files: list[BaseFile | LogFile] = [*table.base_files, *table.log_files]
    for file in files:
        created[file.partition] = min(created.get(file.partition, file.instant), file.instant)
    return created


def _schema(table: Table, instant: InstantTime) -> Schema:
    """The schema that the commit of a file states, else the newest one stated before, else the oldest at all."""
    stated = sorted(
        (entry.requested, index, entry.content.schema)
        for index, entry in enumerate(table.timeline)
        if isinstance(entry.content, CommitMetadata) and entry.content.schema
    )
    before = [schema for requested, _, schema in stated if requested <= instant]
    return before[-1] if before else stated[0][2] if stated else Schema(())
