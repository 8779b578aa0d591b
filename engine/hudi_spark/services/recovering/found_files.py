"""What the data files of a table say: their names, footers and block headers, read by tasks."""

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.files import AVRO_SCHEMA_KEY, base_file_footer, read_base_file
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, read_blocks
from hudi_format.names import BaseFileName, LogFileName, is_partition_metafile, parse_data_file_name
from hudi_format.schemas import META_FIELDS
from hudi_format.storage import Storage

from hudi_spark.effects.helper import joined
from hudi_spark.errors import UnsupportedFeature
from hudi_spark.flows.flow import Executor, TaskIdentity
from hudi_spark.state.commits import GroupId

_FILES_A_TASK: Final = 50
_COMMIT_TIME, _, _RECORD_KEY, _, _ = META_FIELDS
_FOUND: Final = pa.schema([pa.field("found", pa.binary())])
_ROWS: Final = (BlockType.AVRO_DATA, BlockType.PARQUET_DATA, BlockType.HFILE_DATA, BlockType.DELETE)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A data file.

    `rows`: of a base file. `schema`: its Avro schema, meta fields among it; empty where it has none. `instants`: of a
    base file the commit times of its rows, where they were asked for; of a log the instants of its blocks.
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
    asks_commit_times: bool


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
    times = _commit_times(storage, path) if listed.asks_commit_times and footer.rows else ()
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
