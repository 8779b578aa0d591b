"""A table as a check looks at it: its state, and what its storage shows beside it; without its rows unless asked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from hudi_format.base.bloom_filters import decode_bloom_filter
from hudi_format.base.files import BLOOM_FILTER_KEY, BLOOM_TYPE_KEY, MAXIMUM_KEY, MINIMUM_KEY, base_file_footer
from hudi_format.errors import FormatError, UnsupportedFormat
from hudi_format.metadata.records import ColumnStats
from hudi_format.metadata.wrapped_values import ValueKind
from hudi_format.names import BaseFileName, LogFileName, is_partition_metafile, parse_data_file_name
from hudi_format.storage import FileStatus, ReadOnlyStorage, Storage, in_threads, open_storage
from hudi_format.table.index_definitions import DEFINITIONS_FILE, DEFINITIONS_KEY, parse_index_definitions
from hudi_format.table.index_definitions import IndexDefinition as StoredDefinition
from hudi_format.table.partition_metafile import metafile_form, parse_partition_metafile
from hudi_model.actions import IndexDefinition
from hudi_model.files import BaseFile, Damaged, LogFile, Records, UnsupportedContent
from hudi_model.metadata import FILES
from hudi_model.tables import Evidence, Footer, Table
from hudi_model.time import InstantTime

from hudi_conformance.bridge.damage import damaged, decoded
from hudi_conformance.bridge.file_contents import UNREAD, load_base_file, load_log_file, log_file
from hudi_conformance.bridge.loading import METADATA_FOLDER, PROPERTIES_FILE, DataFiles, load, load_table, with_metadata
from hudi_conformance.bridge.metadata_entries import IndexForm
from hudi_conformance.bridge.metadata_forms import arguments_of
from hudi_conformance.bridge.metadata_loading import METADATA_TABLE, MetadataFiles, stored_records
from hudi_conformance.bridge.metadata_names import HashedNames
from hudi_conformance.bridge.remembering import RememberedTables

CHECK: Final = "check_table"
_TABLES: Final = {deep: RememberedTables[Table]() for deep in (False, True)}
_READERS: Final = 16
"""Threads that wait for the storage."""

DataFile: TypeAlias = BaseFile | LogFile
Progress: TypeAlias = Callable[[int, int], object]
"""Receives how many files have been looked at, and how many there are."""


def load_for(op: str, path: Path | str, params: Mapping[str, object]) -> Table:
    """The table at a path as an op of the protocol needs it: a check sees more, and less where it is not to be deep."""
    if op != CHECK:
        return load(path)
    storage, deep = open_storage(path), params.get("deep") is not False
    return _TABLES[deep](storage, lambda: load_for_check(storage, deep=deep))


def load_for_check(storage: Storage, *, deep: bool = False, progress: Progress = lambda _done, _all: None) -> Table:
    """The state of a table with what its storage shows; rows of base files are read only where `deep` requests them.

    The storage is only read.
    """
    only_read = ReadOnlyStorage(storage)
    if not any(only_read.exists(path) for path in (PROPERTIES_FILE, f"{PROPERTIES_FILE}.backup")):
        return load_table(only_read, DataFiles())
    statuses = only_read.list_files("", skip=(METADATA_FOLDER,))
    looked = _look_at(only_read, statuses, progress, deep=deep)
    table = load_table(only_read, DataFiles(looked.base_file, looked.log_file))
    table = with_metadata(only_read, table) if deep else _with_list_of_files(only_read, table)
    return replace(table, evidence=_evidence(only_read, table, statuses, looked.footers, deep=deep))


def load_timeline(storage: Storage) -> Table:
    """The state of a table whose data files nobody looks into."""

    def base_file(_: Storage, path: str, partition: str, name: BaseFileName) -> BaseFile:
        return _unread_base_file(FileStatus(path, 0, 0), partition, name)

    def of_log(_: Storage, _path: str, partition: str, name: LogFileName) -> LogFile:
        return log_file(partition, name, (), 0)

    return load_table(ReadOnlyStorage(storage), DataFiles(base_file, of_log))


@dataclass(frozen=True, slots=True)
class _Looked:
    """The data files of a table by path, looked at by many threads before anybody requests them."""

    files: Mapping[str, DataFile]
    footers: Mapping[str, Footer]

    def base_file(self, storage: Storage, path: str, partition: str, name: BaseFileName) -> BaseFile:
        """A base file; one that came after the others were looked at, as it is now."""
        found = self.files.get(path)
        return found if isinstance(found, BaseFile) else load_base_file(storage, path, partition, name)

    def log_file(self, storage: Storage, path: str, partition: str, name: LogFileName) -> LogFile:
        """A log file, likewise."""
        found = self.files.get(path)
        return found if isinstance(found, LogFile) else load_log_file(storage, path, partition, name)


def _look_at(storage: Storage, statuses: Sequence[FileStatus], progress: Progress, *, deep: bool) -> _Looked:
    def look(status: FileStatus) -> tuple[DataFile, Footer | None]:
        partition, _, text = status.path.rpartition("/")
        name = parse_data_file_name(text)
        if isinstance(name, BaseFileName):
            return _base_file(storage, status, partition, name, deep=deep)
        assert name is not None
        return load_log_file(storage, status.path, partition, name), None

    named = [one for one in statuses if parse_data_file_name(PurePosixPath(one.path).name)]
    files, footers = dict[str, DataFile](), dict[str, Footer]()
    found = in_threads(look, named, (one.size for one in named), _READERS)
    for number, (status, (file, footer)) in enumerate(zip(named, found, strict=True), start=1):
        files[status.path] = file
        footers |= {status.path: footer} if footer else {}
        progress(number, len(named))
    return _Looked(files, footers)


def _base_file(
    storage: Storage, status: FileStatus, partition: str, name: BaseFileName, *, deep: bool
) -> tuple[BaseFile, Footer | None]:
    if deep:
        file = load_base_file(storage, status.path, partition, name)
        footer = decoded(lambda: _footer(storage, status.path, file.records))
        return file, footer if isinstance(footer, Footer) else None
    footer = decoded(lambda: _footer(storage, status.path))
    if isinstance(footer, Footer):
        return _unread_base_file(status, partition, name), footer
    return replace(_unread_base_file(status, partition, name), records=footer), None


def _unread_base_file(status: FileStatus, partition: str, name: BaseFileName) -> BaseFile:
    records, instant = UnsupportedContent(UNREAD, status.path), InstantTime(name.instant)
    return BaseFile(partition, name.file_id, name.write_token, instant, name.extension, str(name), records, status.size)


def _footer(storage: Storage, path: str, records: Records = ()) -> Footer:
    found = base_file_footer(storage, path)
    keys = found.keys
    excluded = _excluded(keys, records, path)
    return Footer(found.rows, tuple(found.schema.names), keys.get(MINIMUM_KEY), keys.get(MAXIMUM_KEY), excluded)


def _excluded(footer: Mapping[str, str], records: Records, path: str) -> tuple[str, ...]:
    """The keys of rows that the footer's bloom filter says are not there."""
    if not isinstance(records, tuple) or BLOOM_FILTER_KEY not in footer:
        return ()
    keys = [key for row in records if isinstance(key := row.values.get("_hoodie_record_key"), str)]
    bloom = decode_bloom_filter(footer[BLOOM_FILTER_KEY], footer.get(BLOOM_TYPE_KEY, ""), path)
    return tuple(key for key in keys if not bloom.may_contain(key))


def _with_list_of_files(storage: Storage, table: Table) -> Table:
    """A table with its metadata table, of which only the list of files is read."""
    inner = ReadOnlyStorage(storage, METADATA_TABLE)
    if not inner.exists(PROPERTIES_FILE):
        return table
    reads = MetadataFiles({FILES.name: IndexForm(FILES.name, HashedNames({}, {}, {}), {})})

    def base_file(storage: Storage, path: str, partition: str, name: BaseFileName) -> BaseFile:
        if partition == FILES.name:
            return reads.base_file(storage, path, partition, name)
        return _unread_base_file(FileStatus(path, 0, 0), partition, name)

    def of_log(storage: Storage, path: str, partition: str, name: LogFileName) -> LogFile:
        if partition == FILES.name:
            return reads.log_file(storage, path, partition, name)
        return log_file(partition, name, (), 0)

    metadata = load_table(inner, DataFiles(base_file, of_log))
    return replace(table, metadata=replace(metadata, indexes=(FILES,)))


_UNTYPED: Final = "V1"


def _evidence(
    storage: Storage, table: Table, statuses: Sequence[FileStatus], footers: Mapping[str, Footer], *, deep: bool
) -> Evidence:
    depths, damages = _depths(storage, statuses)
    stored = decoded(lambda: _definitions(storage, table))
    definitions = stored if isinstance(stored, tuple) else ()
    folders = {_folder(one.path) for one in statuses if is_partition_metafile(PurePosixPath(one.path).name)}
    paths = (one.path for one in statuses if _folder(one.path) not in folders)
    return Evidence(
        unplaced=frozenset(path for path in paths if parse_data_file_name(PurePosixPath(path).name)),
        footers=footers,
        depths=depths,
        damages=(*damages, *([stored] if isinstance(stored, Damaged) else [])),
        definitions=tuple(map(_defined, definitions)) if isinstance(stored, tuple) else None,
        index_versions={one.name: one.version for one in definitions},
        # Of newer versions nothing else is asked.
        typed_indexes=_typed(storage, [one.name for one in definitions if one.version == _UNTYPED]),
        deep=deep,
    )


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _depths(storage: Storage, statuses: Iterable[FileStatus]) -> tuple[dict[str, int], list[Damaged]]:
    """How deep each partition's metafile says that it lies, and the metafiles that do not parse."""
    depths, damages = dict[str, int](), list[Damaged]()
    for status in statuses:
        form = metafile_form(PurePosixPath(status.path).name)
        if form is None:
            continue
        try:
            found = parse_partition_metafile(storage.read(status.path), form, status.path)
        except FormatError as error:
            damages.append(damaged(error))
        except UnsupportedFormat:
            continue
        else:
            depths[_folder(status.path)] = found.depth
    return depths, damages


def _defined(one: StoredDefinition) -> IndexDefinition:
    arguments = arguments_of(one.function, one.options)
    return IndexDefinition(one.name, one.kind, one.function, one.source_fields, arguments=arguments)


def _typed(storage: Storage, names: Iterable[str]) -> frozenset[str]:
    """The indexes with statistics that say the type of their values."""
    inner = ReadOnlyStorage(storage, METADATA_TABLE)
    return frozenset(
        name
        for name in names
        if any(isinstance(one.content, ColumnStats) and _has_type(one.content) for one in stored_records(inner, name))
    )


def _has_type(statistics: ColumnStats) -> bool:
    return statistics.value_type is not None and statistics.value_type.kind is not ValueKind.V1


def _definitions(storage: Storage, table: Table) -> tuple[StoredDefinition, ...] | None:
    """The definitions of a table's indexes; None where there is no such file."""
    properties = {} if table.properties is None or isinstance(table.properties, Damaged) else table.properties
    path = properties.get(DEFINITIONS_KEY) or DEFINITIONS_FILE
    try:
        return parse_index_definitions(storage.read(path), path)
    except FileNotFoundError:
        return None
