"""The files of a model's metadata table as released writers lay them out: HFiles and logs of HFile blocks."""

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from hudi_adapter.logical_types import ListType, MapType, Primitive, StructType, parse_type
from hudi_format.log.blocks import HeaderKey
from hudi_format.log.content import rollback_block
from hudi_format.metadata.files import metadata_base_file, metadata_block, metadata_delete_block
from hudi_format.metadata.records import MetadataRecord
from hudi_format.names import PARTITION_METAFILE
from hudi_format.table.index_definitions import DEFINITIONS_FILE, IndexDefinition, serialise_index_definitions
from hudi_format.table.properties import serialise_properties
from hudi_model import actions
from hudi_model.configuration import timeline_layout, valid_properties
from hudi_model.effects import timeline_folder
from hudi_model.files import META_FIELDS, BaseFile, DataBlock, DeleteBlock, LogFile, Record, RollbackBlock
from hudi_model.indexes import UNINDEXED
from hudi_model.metadata import built
from hudi_model.rejection import Unsupported
from hudi_model.tables import Table

from hudi_conformance.bridge.metadata_forms import options_of
from hudi_conformance.bridge.metadata_loading import METADATA_TABLE
from hudi_conformance.bridge.metadata_names import schemas_of
from hudi_conformance.bridge.metadata_records import RecordForm, release_of
from hudi_conformance.bridge.timeline_bytes import content_bytes

_COMMENTS = ("Properties saved on 2025-01-01T00:00:00Z",)
# What releases write beside what the rules require.
_NEWER = {
    "hoodie.table.keygenerator.type": "HOODIE_TABLE_METADATA",
    "hoodie.record.merge.strategy.id": "00000000-0000-0000-0000-000000000000",
}
_OF_VERSION_6 = {
    "hoodie.table.keygenerator.class": "org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator",
    "hoodie.compaction.record.merger.strategy": "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5",
}
_STATISTICS = ("column_stats", "partition_stats")
_FIRST_WITH_DEFINITIONS = 8
_FIRST_WITH_VERSIONS = 9
_LOCATED = "record_index"


def metadata_files(
    table: Table, sizes: Mapping[str, int], there: Collection[str] = frozenset()
) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of each file of a table's metadata table that is not there yet, those of its timeline last.

    `sizes` are those of the table's own files by path.

    Raises:
        ValueError: it holds what has no bytes: a block that is neither records nor deletes, a damaged file.

    """
    metadata = table.metadata
    if metadata is None:
        return
    properties = dict(valid_properties(metadata.properties, None))
    properties |= _NEWER if timeline_layout(properties) > 1 else _OF_VERSION_6
    yield f"{METADATA_TABLE}/.hoodie/hoodie.properties", serialise_properties(properties, _COMMENTS)
    own: dict[str, int] = {}
    for path, data in _index_files(table, sizes, there):
        own[path.removeprefix(f"{METADATA_TABLE}/")] = len(data)
        yield path, data
    layout = timeline_layout(properties)
    for entry in metadata.timeline:
        path = f"{METADATA_TABLE}/{timeline_folder(properties)}/{entry.name}"
        if path not in there:
            stated = entry.content
            content = replace(stated, schema=None) if isinstance(stated, actions.CommitMetadata) else stated
            yield path, content_bytes(replace(entry, content=content), layout, properties["hoodie.table.name"], own)


def _index_files(table: Table, sizes: Mapping[str, int], there: Collection[str]) -> Iterator[tuple[str, bytes]]:
    metadata, forms = table.metadata, record_forms(table, sizes)
    files: list[BaseFile | LogFile] = [*metadata.base_files, *metadata.log_files] if metadata else []
    for partition in sorted({one.partition for one in files}):
        metafile = serialise_properties({"commitTime": "00000000000000000", "partitionDepth": "1"}, _COMMENTS)
        yield f"{METADATA_TABLE}/{partition}/{PARTITION_METAFILE}", metafile
    for file in files:
        path = f"{METADATA_TABLE}/{file.partition}/{file.name}"
        if path not in there:
            yield path, _bytes(file, forms[file.partition])


def definitions_file(table: Table) -> tuple[tuple[str, bytes], ...]:
    """The definitions of a table's indexes, where its version has such a file."""
    version = _version(table)
    if table.metadata is None or version < _FIRST_WITH_DEFINITIONS:
        return ()
    every = [_definition(one, table, version) for one in table.metadata.indexes if _is_defined(one, version)]
    data = serialise_index_definitions(every, versions=version >= _FIRST_WITH_VERSIONS)
    return ((DEFINITIONS_FILE, data),) if every else ()


def record_forms(table: Table, sizes: Mapping[str, int]) -> dict[str, RecordForm]:
    """How the entries of each index of a table are written; files may have columns that no commit states yet."""
    blocks = (block for one in table.log_files if isinstance(one.blocks, tuple) for block in one.blocks)
    written = (*(one.schema for one in table.base_files), *(one.schema for one in blocks if isinstance(one, DataBlock)))
    schemas = (*filter(None, written), *schemas_of(table))
    types = {field.name: field.type for schema in schemas for field in schema.fields}
    types |= dict.fromkeys(META_FIELDS, "string")
    indexes = table.metadata.indexes if table.metadata else ()
    return {one.name: RecordForm(one, _version(table), types, sizes) for one in indexes}


def store_metadata(table: Table, base: Path, sizes: Mapping[str, int]) -> None:
    """Bring the metadata table on disk up to a table's: new files are put, those of its timeline last, others go.

    Raises:
        Unsupported: readers may use an index that the model does not know, which would become stale.

    """
    metadata = table.metadata
    if metadata is None:
        shutil.rmtree(base / METADATA_TABLE, ignore_errors=True)
        (base / DEFINITIONS_FILE).unlink(missing_ok=True)
        return
    if built(table) - {one.name for one in metadata.indexes}:
        raise Unsupported("expression-index")
    _remove_unknown_files(metadata, base / METADATA_TABLE)
    there = {path.relative_to(base).as_posix() for path in (base / METADATA_TABLE).rglob("*") if path.is_file()}
    for name, data in (*definitions_file(table), *metadata_files(table, sizes, there)):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_bytes(data)


def _remove_unknown_files(metadata: Table, folder: Path) -> None:
    """Files of indexes and of the timeline that the metadata table no longer has."""
    files: list[BaseFile | LogFile] = [*metadata.base_files, *metadata.log_files]
    kept = {f"{one.partition}/{one.name}" for one in files} | {f"{one.partition}/{PARTITION_METAFILE}" for one in files}
    times = folder / timeline_folder(valid_properties(metadata.properties, None))
    known = {one.name for one in metadata.timeline} | {"hoodie.properties"}
    for path in [*folder.glob("[!.]*/*"), *times.glob("*")]:
        is_kept = path.name in known if path.parent == times else path.relative_to(folder).as_posix() in kept
        if path.is_file() and not is_kept:
            path.unlink()


def _bytes(file: BaseFile | LogFile, form: RecordForm) -> bytes:
    release = release_of(form.version)
    if isinstance(file, BaseFile):
        if not isinstance(file.records, tuple):
            raise ValueError(f"{file.name}: damaged records have no bytes")  # noqa: TRY004 - the state, not the type
        return metadata_base_file(_records(file.records, form, file), release)
    data = b""
    for block in file.blocks if isinstance(file.blocks, tuple) else ():
        match block:
            case DataBlock(instant, tuple() as records):
                listed = ",".join(block.compacted_instants)
                header = {HeaderKey.COMPACTED_BLOCK_TIMES: listed} if listed else {}
                data += metadata_block(instant, _records(records, form, file), release, header)
            case DeleteBlock(instant, tuple() as deletes):
                data += metadata_delete_block(instant, file.partition, [form.key(one.key) for one in deletes])
            case RollbackBlock(instant, target):
                data += rollback_block(instant, target)
            case _:
                raise ValueError(f"{file.name}: this block has no bytes")
    return data


def _records(records: Iterable[Record], form: RecordForm, file: BaseFile | LogFile) -> list[MetadataRecord]:
    stated = ((str(one.values["key"]), one.values["content"]) for one in records)
    return [form.record(key, content, file.instant) for key, content in stated if form.states(key)]


def _is_defined(index: actions.IndexDefinition, version: int) -> bool:
    fixed = ("files", "bloom_filters", "partition_stats")
    return index.name not in fixed and (index.name != _LOCATED or version >= _FIRST_WITH_VERSIONS)


def _definition(index: actions.IndexDefinition, table: Table, version: int) -> IndexDefinition:
    typed = index.kind in (*_STATISTICS, "secondary_index") or index.name.startswith("expr_index")
    sources = index.sources or (_indexed_columns(table) if index.kind in _STATISTICS else ())
    function = index.kind if index.name in _STATISTICS else index.function
    options = {"isPartitioned": "false"} if index.name == _LOCATED else options_of(index)
    return IndexDefinition(
        index.name, index.kind, function, sources, options, "V2" if typed and version >= _FIRST_WITH_VERSIONS else "V1"
    )


def _indexed_columns(table: Table) -> tuple[str, ...]:
    """The columns that statistics are kept of where none are listed."""
    schema = schemas_of(table)[-1]
    ordered = [one.name for one in schema.fields if has_order(one.type)]
    return (*(one for one in META_FIELDS if one not in UNINDEXED), *ordered)


def has_order(kind: str) -> bool:
    """Whether values of a type have bounds that statistics can hold."""
    logical = parse_type(kind)
    if isinstance(logical, ListType | MapType | StructType):
        return False
    return not (isinstance(logical, Primitive) and logical.name == "binary")


def _version(table: Table) -> int:
    return int(valid_properties(table.properties, table.backup_properties)["hoodie.table.version"])
