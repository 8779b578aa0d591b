"""From the bytes of a table to its state in the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from hudi_format.avro.schemas import record_schema
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.names import (
    BaseFileName,
    LogFileName,
    TimelineFileName,
    is_partition_metafile,
    parse_data_file_name,
    parse_native_log_name,
    parse_timeline_file_name,
    refuse_no_file,
)
from hudi_format.storage import FileStatus, ReadOnlyStorage, Storage, open_storage
from hudi_format.table.properties import parse_properties
from hudi_model.actions import Action, Content, State, TimelineEntry
from hudi_model.configuration import Properties, configure, timeline_layout, valid_properties
from hudi_model.effects import timeline_folder
from hudi_model.files import BaseFile, Damaged, LogFile, Schema
from hudi_model.metadata import SCHEMA
from hudi_model.origins import BOOTSTRAPPED
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.tables import History, Table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.damage import damaged
from hudi_conformance.bridge.file_contents import load_base_file, load_log_file, load_native_log
from hudi_conformance.bridge.histories import load_history
from hudi_conformance.bridge.metadata_forms import index_forms
from hudi_conformance.bridge.metadata_loading import METADATA_TABLE, MetadataFiles
from hudi_conformance.bridge.remembering import Remembered, RememberedTables
from hudi_conformance.bridge.schemas import model_schema
from hudi_conformance.bridge.sidecars import (
    load_bucket_rules,
    load_heartbeats,
    load_markers,
    load_rings,
    load_schema_files,
    load_sources,
)
from hudi_conformance.bridge.timeline_contents import load_content

METADATA_FOLDER = ".hoodie"
PROPERTIES_FILE = f"{METADATA_FOLDER}/hoodie.properties"
CREATE_SCHEMA = "hoodie.table.create.schema"
BACKUP_FILE = f"{PROPERTIES_FILE}.backup"
_BASE_FILES: Final = Remembered(load_base_file)
_LOG_FILES: Final = Remembered(load_log_file)
_NATIVE_LOGS: Final = Remembered(load_native_log)


def _content(storage: Storage, path: str, name: TimelineFileName) -> Content:
    return load_content(storage.read(path), path, name)


def _stated(storage: Storage, path: str) -> Mapping[str, str]:
    return parse_properties(storage.read(path), path)


_CONTENTS: Final = Remembered(_content)
_PROPERTIES: Final = Remembered(_stated)
_TABLES: Final = RememberedTables[Table]()


def load(path: Path | str) -> Table:
    """The state of the table below a folder.

    Nothing is refused here: names and contents that do not parse become `Damaged` values, and the model decides
    which of them must be read. A folder that is absent or holds no table has the state without properties.
    """
    storage = open_storage(path)
    return _TABLES(storage, lambda: with_metadata(storage, load_table(storage, DataFiles(_BASE_FILES, _LOG_FILES))))


def with_metadata(storage: Storage, table: Table) -> Table:
    """A table with its metadata table, where it has one, and all that its indexes hold."""
    inner = ReadOnlyStorage(storage, METADATA_TABLE)
    if table.properties is None or not inner.exists(PROPERTIES_FILE):
        return table
    forms, indexes = index_forms(storage, inner, table)
    return replace(
        table, metadata=replace(load_table(inner, MetadataFiles(forms)), indexes=indexes, create_schema=SCHEMA)
    )


@dataclass(frozen=True, slots=True)
class DataFiles:
    """How the base and log files of a table become values."""

    base_file: Callable[[Storage, str, str, BaseFileName], BaseFile] = load_base_file
    log_file: Callable[[Storage, str, str, LogFileName], LogFile] = load_log_file


def load_table(storage: Storage, files: DataFiles | MetadataFiles) -> Table:
    """The state of the table in a storage, without its metadata table."""
    main, backup = _properties(storage, PROPERTIES_FILE), _properties(storage, BACKUP_FILE)
    if main is None and backup is None:
        # No table: whatever else lies there, perhaps a whole disk, is not looked at.
        return Table(None, None, (), (), ())
    place = _timeline_place(main, backup)
    timeline, malformed = _timeline(storage, place)
    base_files, log_files, partitions = _data_files(storage, files, _ordering_of_native_logs(main, backup))
    return Table(
        main,
        backup,
        timeline,
        base_files,
        log_files,
        malformed,
        _create_schema(main, backup),
        _history(storage, main, backup),
        partitions,
        load_markers(storage),
        load_heartbeats(storage),
        schema_files=load_schema_files(storage, place[1]) if place else (),
        sources=load_sources(storage, _bootstrap_base(main, backup)),
        rings=load_rings(storage),
        bucket_rules=load_bucket_rules(storage),
    )


def _history(storage: Storage, main: Properties, backup: Properties) -> History:
    """What archival moved off the timeline; nothing where no properties tell its place."""
    try:
        return load_history(storage, valid_properties(main, backup))
    except (Rejection, Unsupported):
        return History()


def _properties(storage: Storage, path: str) -> Properties:
    try:
        return _PROPERTIES(storage, path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except FormatError as error:
        return damaged(error)


def _create_schema(main: Properties, backup: Properties) -> Schema | None:
    """The columns given when the table was created; None where none were, or they do not parse."""
    try:
        text = valid_properties(main, backup).get(CREATE_SCHEMA)
        return model_schema(record_schema(text, PROPERTIES_FILE)) if text else None
    except (Rejection, FormatError, UnsupportedFormat):
        return None


def _bootstrap_base(main: Properties, backup: Properties) -> str | None:
    """The folder that a table was bootstrapped from; None for any other table."""
    try:
        return valid_properties(main, backup).get(BOOTSTRAPPED)
    except (Rejection, Unsupported):
        return None


def _timeline_place(main: Properties, backup: Properties) -> tuple[str, Literal[1, 2]] | None:
    """Folder and layout of the timeline; None where no properties tell them."""
    try:
        properties = valid_properties(main, backup)
        return timeline_folder(properties), 1 if timeline_layout(properties) == 1 else 2
    except (Rejection, Unsupported):
        return None


def _timeline(
    storage: Storage, place: tuple[str, Literal[1, 2]] | None
) -> tuple[tuple[TimelineEntry, ...], tuple[Damaged, ...]]:
    if place is None:
        return (), ()
    folder, layout = place
    entries: list[TimelineEntry] = []
    malformed: list[Damaged] = []
    try:
        statuses = storage.list_files(folder, recursive=False)
    except FormatError as error:
        return (), (damaged(error),)
    for path in storage.list_no_files(folder):
        try:
            refuse_no_file(path, layout)
        except FormatError as error:
            malformed.append(damaged(error))
    for status in statuses:
        try:
            name = parse_timeline_file_name(PurePosixPath(status.path).name, layout, status.path)
        except FormatError as error:
            malformed.append(damaged(error))
        else:
            entries += [_entry(storage, status, name)] if name else []
    return tuple(entries), tuple(malformed)


def _entry(storage: Storage, status: FileStatus, name: TimelineFileName) -> TimelineEntry:
    return TimelineEntry(
        InstantTime(name.requested),
        Action(name.action),
        State[name.state],
        InstantTime(name.completed) if name.completed else None,
        _CONTENTS(storage, status.path, name),
        PurePosixPath(status.path).name,
    )


def _ordering_of_native_logs(main: Properties, backup: Properties) -> tuple[str, ...] | None:
    """The table's ordering fields; None where its version has no native logs, whose names are foreign then."""
    try:
        configuration = configure(valid_properties(main, backup))
    except (Rejection, Unsupported):
        return None
    return configuration.ordering if configuration.rules.native_logs else None


def _data_files(
    storage: Storage, files: DataFiles | MetadataFiles, ordering: tuple[str, ...] | None
) -> tuple[tuple[BaseFile, ...], tuple[LogFile, ...], frozenset[str]]:
    base_files: list[BaseFile] = []
    log_files: list[LogFile] = []
    statuses = storage.list_files("", skip=(METADATA_FOLDER,))
    partitions = {_folder(status.path) for status in statuses if is_partition_metafile(PurePosixPath(status.path).name)}
    for status in statuses:
        plain = PurePosixPath(status.path).name
        name = parse_data_file_name(plain) or (None if ordering is None else parse_native_log_name(plain))
        if _folder(status.path) not in partitions:
            continue
        if isinstance(name, BaseFileName):
            base_files.append(files.base_file(storage, status.path, _folder(status.path), name))
        elif isinstance(name, LogFileName):
            log_files.append(files.log_file(storage, status.path, _folder(status.path), name))
        elif name is not None:
            log_files.append(_NATIVE_LOGS(storage, status.path, _folder(status.path), name, ordering or ()))
    return tuple(base_files), tuple(log_files), frozenset(partitions)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
