"""What the files and the owner of a lost table say of it.

Clauses: SL-005, RD-005, VR-006, PR-002, PR-021, SL-002, BF-002, VR-001.
"""

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from hudi_format.avro.schemas import record_schema
from hudi_format.base.files import AVRO_SCHEMA_KEY, base_file_footer, read_base_file
from hudi_format.errors import FormatError
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.names import BaseFileName, LogFileName, is_partition_metafile, parse_data_file_name
from hudi_format.schemas import META_FIELDS, without_meta_fields
from hudi_format.storage import Storage
from hudi_format.table.properties import parse_properties

from hudi_spark.concurrency import joined
from hudi_spark.errors import HudiError, Reason, UnsupportedFeature
from hudi_spark.read import Executor, TaskIdentity
from hudi_spark.table_state import GroupId
from hudi_spark.write import WRITTEN_VERSIONS, TableDefinition, settled, table_properties

CLAUSE = "SL-001"


@dataclass(frozen=True, slots=True)
class RecoveryHints:
    """What no file of a table says.

    `definition`: the table as it was created; a schema is read from the files where none is given, and what the
    properties say, where they are not lost, goes before it. `completion_times`: by their requested times when writes
    completed that a compaction overtook. `committed`, `uncommitted`: writes that left markers. `replaced`: by partition
    the file groups that an overwrite or a clustering had replaced. `keep_duplicates`: a record key in two file groups
    of a partition is two rows. `guess`: where only the times of files tell what completed after what, believe them.
    """

    definition: TableDefinition = field(default_factory=TableDefinition)
    completion_times: Mapping[str, str] = field(default_factory=dict)
    committed: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keep_duplicates: bool = False
    guess: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a recovery could not know, and what it did in place of it.

    `file`: what it is about, where that is one file or one write.
    """

    clause: str
    message: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.message}" if self.file else self.message


@dataclass(frozen=True, slots=True)
class Recovered:
    """A table that was built again: the time of the action that stands for it, None where its timeline was there.

    `completed` is None before version 8. `writes`: how many writes its files are of. `unknown`: read it.
    """

    requested: str | None
    completed: str | None
    action: str | None
    writes: int
    unknown: tuple[Unknown, ...]

    def __str__(self) -> str:
        lines = "\n".join(f"- {one}" for one in self.unknown)
        return f"recovered {self.writes} writes; not known:\n{lines}"


def refused(message: str, hint: str, clause: str = CLAUSE) -> HudiError:
    """The error of a recovery that would have to guess."""
    return HudiError(Reason.CONFIG_INVALID, clause, message, hint=hint)


_FILES_A_TASK: Final = 50
_COMMIT_TIME, _, _RECORD_KEY, _, _ = META_FIELDS
_FOUND: Final = pa.schema([pa.field("found", pa.binary())])
_ROWS: Final = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA, BlockType.DELETE)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A data file.

    `rows`: of a base file. `schema`: its Avro schema, meta fields among it; empty where it has none. `instants`: of a
    base file the commit times of its rows, where they were requested; of a log the instants of its blocks.
    `has_keys`: whether its rows have record keys.
    """

    partition: str
    name: BaseFileName | LogFileName
    size: int
    modified_ms: int
    rows: int = 0
    schema: str = ""
    instants: tuple[str, ...] = ()
    has_keys: bool = True

    @property
    def path(self) -> str:
        """Path below the table."""
        return joined(self.partition, str(self.name))

    @property
    def group(self) -> GroupId:
        """Its file group."""
        return self.partition, self.name.file_id


@dataclass(frozen=True, slots=True)
class FoundTable:
    """All data files but change logs, and the partitions that they are in with the names of their metafiles."""

    files: tuple[FoundFile, ...]
    metafiles: Mapping[str, str]

    def groups(self) -> Mapping[GroupId, tuple[FoundFile, ...]]:
        """The files of each group, by the instants of their names."""
        found: dict[GroupId, list[FoundFile]] = {}
        for one in sorted(self.files, key=lambda one: (one.name.instant, str(one.name))):
            found.setdefault(one.group, []).append(one)
        return {group: tuple(files) for group, files in found.items()}


@dataclass(frozen=True, slots=True)
class _Listed:
    partition: str
    name: BaseFileName | LogFileName
    size: int
    modified_ms: int
    needs_commit_times: bool


def found_table(storage: Storage, executor: Executor) -> FoundTable:
    """Every data file of a table, read as far as a recovery needs it.

    Raises:
        FormatError: BASE_FILE_CORRUPT, LOG_CONTENT_CORRUPT.
        UnsupportedFeature: base files of another format than Parquet, and bootstrapped ones.

    Clauses: SL-002, SL-004, SL-005, BF-002, LF-005.

    """
    stored = [(*one.path.rpartition("/")[::2], one) for one in storage.list_files(skip=(".hoodie",))]
    metafiles = {partition: name for partition, name, _ in stored if is_partition_metafile(name)}
    named = [(partition, parse_data_file_name(name), one) for partition, name, one in stored if partition in metafiles]
    files = [(partition, name, one) for partition, name, one in named if name is not None and not _is_change_log(name)]
    logged = {(partition, name.file_id) for partition, name, _ in files if isinstance(name, LogFileName)}
    listed = [
        _Listed(partition, name, one.size, one.modified_ms, (partition, name.file_id) in logged)
        for partition, name, one in files
    ]
    for one in listed:
        _refuse_unbuilt(one.name)
    chunks = [tuple(listed[at : at + _FILES_A_TASK]) for at in range(0, len(listed), _FILES_A_TASK)]
    rows = executor.tasks(chunks, partial(_read, storage=storage), _FOUND).gathered() if chunks else None
    # Only what this package's own tasks pickled a moment ago.
    found = [] if rows is None else [pickle.loads(one) for one in rows.column("found").to_pylist()]  # noqa: S301
    return FoundTable(tuple(sorted(found, key=lambda one: one.path)), metafiles)


def _is_change_log(name: BaseFileName | LogFileName) -> bool:
    return isinstance(name, LogFileName) and name.cdc


def _refuse_unbuilt(name: BaseFileName | LogFileName) -> None:
    if isinstance(name, BaseFileName) and name.extension != "parquet":
        raise UnsupportedFeature(f"recover-base-{name.extension}")
    if name.instant in {"00000000000001", "00000000000002"}:
        raise UnsupportedFeature("recover-bootstrap", "what the table was bootstrapped from stands in what is lost")


def _read(files: Iterable[_Listed], identity: TaskIdentity, storage: Storage) -> pa.Table:
    del identity
    found = [_of_base(storage, one) if isinstance(one.name, BaseFileName) else _of_log(storage, one) for one in files]
    return pa.table({"found": [pickle.dumps(one) for one in found]}, schema=_FOUND)


def _of_base(storage: Storage, listed: _Listed) -> FoundFile:
    path = joined(listed.partition, str(listed.name))
    footer = base_file_footer(storage, path)
    times = _commit_times(storage, path) if listed.needs_commit_times and footer.rows else ()
    return FoundFile(
        listed.partition,
        listed.name,
        listed.size,
        listed.modified_ms,
        footer.rows,
        footer.keys.get(AVRO_SCHEMA_KEY, ""),
        times,
        _has_keys(storage, path, footer.rows),
    )


def _commit_times(storage: Storage, path: str) -> tuple[str, ...]:
    column = _meta_field(storage, path, _COMMIT_TIME)
    return tuple(sorted(one for one in pc.unique(column).to_pylist() if one))


def _has_keys(storage: Storage, path: str, rows: int) -> bool:
    """Whether the first row has a record key; a file without rows is none to go by."""
    if not rows:
        return True
    return bool(_meta_field(storage, path, _RECORD_KEY)[0].as_py())


def _meta_field(storage: Storage, path: str, name: str) -> pa.ChunkedArray:
    """A column that every writer puts into its files, empty or not.

    Clauses: MF-001, BF-004.
    """
    found = read_base_file(storage, path, [name])
    if name not in found.column_names:
        raise FormatError(Reason.BASE_FILE_CORRUPT, "BF-004", path, None, f"the file has no column {name}")
    return found.column(name)


def _of_log(storage: Storage, listed: _Listed) -> FoundFile:
    path = joined(listed.partition, str(listed.name))
    blocks = [one for one in read_blocks(storage.read(path), path) if isinstance(one, RawBlock) and one.type in _ROWS]
    instants = {one.header.get(HeaderKey.INSTANT_TIME, "") for one in blocks} - {""}
    schemas = [one.header[HeaderKey.SCHEMA] for one in blocks if _states_schema(one)]
    return FoundFile(
        listed.partition,
        listed.name,
        listed.size,
        listed.modified_ms,
        schema=schemas[-1] if schemas else "",
        instants=tuple(sorted(instants)),
    )


def _states_schema(block: RawBlock) -> bool:
    """Whether a block's schema is the table's: that of a partial update has the updated columns only."""
    partial_update = block.header.get(HeaderKey.IS_PARTIAL, "") == "true"
    return block.type is not BlockType.DELETE and not partial_update and HeaderKey.SCHEMA in block.header


@dataclass(frozen=True, slots=True)
class LogNames:
    """Which ways of naming logs a table's files show; an upgraded table shows both."""

    after_slices: bool
    after_writes: bool


def log_names(found: FoundTable) -> LogNames:
    """What can be determined from the logs; nothing where every log is the first of its group."""
    groups = found.groups().values()
    logs = [one for files in groups for one in logs_of(files)]
    older = any(one.instants and one.instants != (one.name.instant,) for one in logs)
    newer = any(_names_a_write(files) for files in groups)
    return LogNames(older, newer)


def is_named_after_slice(log: FoundFile, files: Iterable[FoundFile]) -> bool:
    """Whether a log's name has the instant of a base file of its group, or of another write than its blocks have."""
    return log.name.instant in base_instants(files) or bool(log.instants and log.instants != (log.name.instant,))


def logs_of(files: Iterable[FoundFile]) -> list[FoundFile]:
    """The logs among some files."""
    return [one for one in files if not isinstance(one.name, BaseFileName)]


def bases_of(files: Iterable[FoundFile]) -> list[FoundFile]:
    """The base files among some files."""
    return [one for one in files if isinstance(one.name, BaseFileName)]


def base_instants(files: Iterable[FoundFile]) -> list[str]:
    """The instants of base files, sorted."""
    return sorted(one.name.instant for one in bases_of(files))


def _names_a_write(files: tuple[FoundFile, ...]) -> bool:
    """Whether a log follows a base file and has the name of its own write: no slice of before version 8 is so named."""
    bases = base_instants(files)
    for log in logs_of(files):
        follows = any(instant < log.name.instant for instant in bases)
        if follows and log.name.instant not in bases and log.instants == (log.name.instant,):
            return True
    return False


_HIVE: Final = "hoodie.datasource.write.hive_style_partitioning"
_METAFILES: Final = "hoodie.partition.metafile.use.base.format"
_POPULATES: Final = "hoodie.populate.meta.fields"
_METADATA_PROPERTIES: Final = ".hoodie/metadata/.hoodie/hoodie.properties"
_NAME, _VERSION = "hoodie.table.name", "hoodie.table.version"
_OF_METADATA, _OF_RECORD = "_metadata", "_record"
_NEWEST: Final = 9
_CLAUSE: Final = "PR-002"

Layout = Literal[1, 2]


@dataclass(frozen=True, slots=True)
class Defined:
    """The properties, and which of them nobody stated."""

    properties: Mapping[str, str]
    unknown: tuple[Unknown, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of `.hoodie` beside the properties: the layout of a timeline, whether it has deltacommits.

    `metadata`: the properties of the metadata table.
    """

    layout: Layout | None
    has_deltacommits: bool
    metadata: Mapping[str, str]


def metadata_properties(storage: Storage) -> Mapping[str, str]:
    """What the metadata table says of itself, and so of its table."""
    if not storage.exists(_METADATA_PROPERTIES):
        return {}
    return parse_properties(storage.read(_METADATA_PROPERTIES), _METADATA_PROPERTIES)


def defined_table(storage: Storage, found: FoundTable, left: Left, known: RecoveryHints) -> Defined:
    """The properties of the table again.

    Raises:
        HudiError: CONFIG_INVALID for what is neither given nor in the files, or is given and contradicts them.

    Clauses: PR-002, PR-021, VR-001.

    """
    given, unknown = known.definition, []
    schema = given.schema if given.schema is not None else _schema(found)
    version = _version(found, left, given)
    if given.table_version is None and version is None:
        unknown.append(Unknown("VR-001", f"the table's version; {_NEWEST} is taken, whose files are the same"))
    partition_by, hive = _partition_fields(found, given)
    configs = {**_forms(found, hive=hive), **given.configs}
    definition = replace(
        given,
        name=given.name or _name(schema, left),
        schema=schema,
        table_type=_table_type(found, left, given),
        table_version=given.table_version or version or _NEWEST,
        partition_by=partition_by,
        configs=configs,
    )
    _refuse_without_keys(storage, found, definition)
    unknown.append(Unknown("MG-001", "the merge mode, ordering fields and key generator are those that were given"))
    unknown.append(Unknown("PR-005", "what else the properties said: index definitions, change logs, an unusual zone"))
    return Defined(table_properties(settled(definition)), tuple(unknown))


def _schema(found: FoundTable) -> Mapping[str, Any]:
    """The newest file's schema, without meta fields.

    Clauses: BF-002, DM-003.
    """
    stating = [one for one in found.files if one.schema]
    if not stating:
        raise refused("no file states the table's schema", "give the schema", "DM-003")
    newest = max(stating, key=lambda one: (max((one.name.instant, *one.instants)), str(one.name)))
    return without_meta_fields(record_schema(newest.schema, newest.path))


def _version(found: FoundTable, left: Left, given: TableDefinition) -> int | None:
    """What the metadata table, the timeline's layout or the names of logs say; None where they leave it open.

    Clauses: SL-005, PR-007, VR-001.
    """
    names = log_names(found)
    stated = left.metadata.get(_VERSION)
    if stated:
        if stated not in map(str, WRITTEN_VERSIONS):
            raise refused(f"the metadata table says that it is of version {stated!r}", "restore its properties")
        seen = int(stated)
    elif left.layout == 1 or (names.after_slices and not names.after_writes and left.layout is None):
        seen = 6
    elif left.layout == 2 or names.after_writes:
        seen = _NEWEST
    else:
        return None
    given_version = given.table_version
    if given_version is not None and (given_version < 8) != (seen < 8):
        raise refused(
            f"version {given_version} is given and the files are those of version {seen}", "leave the version out"
        )
    return seen


def _table_type(found: FoundTable, left: Left, given: TableDefinition) -> str:
    on_read = bool(logs_of(found.files)) or left.has_deltacommits
    if on_read and given.table_type == "COPY_ON_WRITE":
        raise refused("a copy-on-write table is given and there are logs", "the table is MERGE_ON_READ")
    if given.table_type is None and not on_read:
        raise refused("no file says whether the table is merge-on-read", "tell table_type")
    return given.table_type or "MERGE_ON_READ"


def _partition_fields(found: FoundTable, given: TableDefinition) -> tuple[tuple[str, ...], bool]:
    """The partition fields, and whether the folders name them.

    Clauses: DM-031.
    """
    partitions = [one for one in found.metafiles if one]
    fields = tuple(given.partition_by)
    if not partitions:
        return fields, False
    named = {tuple(part.partition("=")[0] for part in one.split("/")) for one in partitions if "=" in one}
    hive = len(named) == 1 and all(one.count("=") >= one.count("/") + 1 for one in partitions)
    stated = tuple(unquote(one) for one in next(iter(named))) if hive else ()
    if not fields and not stated:
        raise refused("the folders do not name the partition fields", "tell partition_by", "DM-031")
    bare = tuple(one.partition(":")[0] for one in fields)
    if hive and fields and bare != stated:
        message = f"partition_by is {', '.join(bare)}, the folders name {', '.join(stated)}"
        raise refused(message, "leave partition_by out", "DM-031")
    return fields or stated, hive


def _forms(found: FoundTable, *, hive: bool) -> dict[str, str]:
    """The options that the form of the files shows."""
    in_base_format = any(name.endswith(".parquet") for name in found.metafiles.values())
    has_keys = all(one.has_keys for one in found.files)
    return {
        **({_HIVE: "true"} if hive else {}),
        **({_METAFILES: "true"} if in_base_format else {}),
        **({} if has_keys else {_POPULATES: "false"}),
    }


def _name(schema: Any, left: Left) -> str:
    """The name that the metadata table or the schema's record has from the table."""
    of_metadata = left.metadata.get(_NAME, "")
    if of_metadata.endswith(_OF_METADATA):
        return of_metadata.removesuffix(_OF_METADATA)
    record = schema.get("name", "") if isinstance(schema, Mapping) else ""
    if record.endswith(_OF_RECORD):
        return str(record).removesuffix(_OF_RECORD)
    raise refused("no file says the table's name", "tell name", _CLAUSE)


def _refuse_without_keys(storage: Storage, found: FoundTable, definition: TableDefinition) -> None:
    """Nothing where the given record key makes the keys that are stored.

    Clauses: PR-021, DM-002.
    """
    if not definition.record_key:
        raise refused("no file says which columns are the record key", "tell record_key", "PR-021")
    largest = max(bases_of(found.files), key=lambda one: one.rows, default=None)
    if largest is None or not largest.rows or not largest.has_keys:
        return
    key, values = _first_key(storage, largest, definition.record_key)
    lacking = [name for name, value in values.items() if value not in key]
    if lacking:
        message = f"the record key {key!r} in {largest.path} is not of {', '.join(lacking)}: {values}"
        raise refused(message, "tell the columns that record keys are made of", "PR-021")


def _first_key(storage: Storage, file: FoundFile, fields: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The first row's record key, and the texts of its key columns as far as they are texts or whole numbers."""
    names = [name for name in fields if "." not in name]
    row = read_base_file(storage, file.path, [META_FIELDS[2], *names]).slice(0, 1)
    plain = [name for name in names if _is_plain(row.schema.field(name).type)]
    return str(row.column(META_FIELDS[2])[0].as_py()), {name: str(row.column(name)[0].as_py()) for name in plain}


def _is_plain(kind: Any) -> bool:
    return bool(kinds.is_string(kind) or kinds.is_integer(kind))
