"""Where the columns of slices come from: schemas of other times, partition paths, files outside of the table."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.base.files import Choice, read_chosen
from hudi_format.names import BaseFileName, parse_data_file_name
from hudi_format.storage import Storage, open_storage
from hudi_format.table.bootstrap_index import (
    FILE_INDEX_FOLDER,
    METADATA_ONLY_INSTANT,
    BootstrappedFile,
    parse_bootstrap_index,
)
from hudi_format.table.internal_schema import (
    LATEST_SCHEMA_KEY,
    InternalSchema,
    parse_internal_schema,
    parse_schema_history,
)
from hudi_format.table.table_properties import PROPERTIES_FILE

from hudi_spark.errors import HudiError, Reason
from hudi_spark.schema.columns import META_SCHEMA, ColumnIds, SliceColumns, name_in, stating_commit
from hudi_spark.schema.key_texts import DEFAULT_PARTITION, path_values, typed_value
from hudi_spark.table_state import Commit, FileSlice, GroupId, Snapshot, TableConfiguration

SCHEMA_FOLDER: Final = ".hoodie/.schema"
_COMPLETED: Final = ".schemacommit"


def column_ids(storage: Storage, snapshot: Snapshot) -> ColumnIds | None:
    """The schemas of a table whose columns have ids; None where columns are known by their names.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when one of them does not parse.

    Clauses: DM-003, DM-021.

    """
    newest = stating_commit(snapshot.commits)
    text = None if newest is None else newest.metadata.extra.get(LATEST_SCHEMA_KEY)
    if newest is None or not text:
        return None
    stated = _stated(snapshot.commits)
    kept = {schema.schema_id: schema for schema in _kept(storage, snapshot)}
    kept.update((schema.schema_id, schema) for schema in stated.values())
    current = parse_internal_schema(text, newest.instant.file)
    by_commit = {instant: schema.schema_id for instant, schema in stated.items()}
    return ColumnIds(current, tuple(kept[number] for number in sorted(kept)), by_commit)


def _stated(commits: Iterable[Commit]) -> Mapping[str, InternalSchema]:
    """The schema that each commit says it was written with; many repeat the same text."""
    parsed: dict[str, InternalSchema] = {}
    found: dict[str, InternalSchema] = {}
    for commit in commits:
        text = commit.metadata.extra.get(LATEST_SCHEMA_KEY)
        if text:
            parsed.setdefault(text, parse_internal_schema(text, commit.instant.file))
            found[commit.instant.requested] = parsed[text]
    return found


def _kept(storage: Storage, snapshot: Snapshot) -> tuple[InternalSchema, ...]:
    """The schemas in the newest file of a commit that completed; one that did not is no part of the history.

    Clauses: DM-020, DM-021.
    """
    completed = {one.requested for one in snapshot.timeline.instants if one.is_completed}
    first = min((one.requested for one in snapshot.timeline.instants), default="")
    files = {_instant(status.path): status.path for status in storage.list_files(SCHEMA_FOLDER, recursive=False)}
    valid = [instant for instant in files if instant and (instant in completed or instant < first)]
    if not valid:
        return ()
    path = files[max(valid)]
    schemas = parse_schema_history(storage.read(path), path)
    numbers = {int(instant) for instant in completed}
    return tuple(one for one in schemas if one.schema_id in numbers or one.schema_id < int(first))


def _instant(path: str) -> str:
    """The instant of a completed file of the history, else empty."""
    stem, dot, end = PurePosixPath(path).name.partition(".")
    instant = stem.partition("_")[0]
    return instant if f"{dot}{end}" == _COMPLETED and instant.isdecimal() else ""


Condition = Callable[[pa.Schema], pc.Expression | None]
"""The filter to read with, given the columns that stand in the file as the table has them."""


@dataclass(frozen=True, slots=True)
class External:
    """The file outside of the table that holds the data of a bootstrapped one: storage and path there.

    `values`: the text of columns that only the folders on the way to the file name.

    Clauses: BF-012.
    """

    storage: Storage
    path: str
    values: Mapping[str, str | None] = field(default_factory=dict)


def read_base_rows(
    storage: Storage,
    path: str,
    schema: pa.Schema,
    columns: SliceColumns,
    condition: Condition,
    *,
    external: External | None = None,
) -> pa.Table:
    """Rows of a base file that meet a condition, in the columns of `schema`.

    Raises:
        FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.
        HudiError: SCHEMA_INCOMPATIBLE; BASE_FILE_CORRUPT where a bootstrapped file and its data differ in rows.

    Clauses: BF-004, BF-012, DM-004, DM-021, DM-022, RD-012.

    """
    instant = instant_of(path)
    if external is not None:
        return columns.conform(_stitched(storage, path, schema, external), schema, path, instant)

    def choose(stored: pa.Schema) -> Choice:
        there, own = stored.names, schema.names
        found = [name_in(there, name, path, own) for name in columns.names(schema, instant)]
        names = [name for name in found if name is not None]
        wanted = condition(columns.as_named_now(stored, schema, instant))
        # Where not one column of the answer is in the file, only its number of rows matters.
        return names, wanted if names else None

    return columns.conform(read_chosen(storage, path, choose), schema, path, instant)


def instant_of(path: str) -> str:
    """The instant in the name of a base file, empty where there is none."""
    name = parse_data_file_name(path.rpartition("/")[2])
    return name.instant if isinstance(name, BaseFileName) else ""


def _stitched(storage: Storage, path: str, schema: pa.Schema, external: External) -> pa.Table:
    """The meta fields of a bootstrapped file beside the data, row by row.

    Clauses: BF-012.
    """
    data = _part(external.storage, external.path, [name for name in schema.names if name not in META_SCHEMA.names])
    own = _part(storage, path, [name for name in schema.names if name in META_SCHEMA.names])
    if own.num_rows != data.num_rows:
        message = f"the file has {own.num_rows} rows, the bootstrapped file {external.path!r} has {data.num_rows}"
        hint = "restore the file that the table was bootstrapped from"
        raise HudiError(Reason.BASE_FILE_CORRUPT, "BF-012", message, path, hint=hint)
    stitched = pa.table([*own.columns, *data.columns], names=[*own.column_names, *data.column_names])
    for name in external.values.keys() & set(schema.names) - set(stitched.column_names):
        value = typed_value(external.values[name], schema.field(name), external.path)
        stitched = stitched.append_column(schema.field(name), pa.repeat(value, own.num_rows))
    return stitched


def _part(storage: Storage, path: str, names: list[str]) -> pa.Table:
    def choose(stored: pa.Schema) -> Choice:
        there = stored.names
        found = [name_in(there, name, path) for name in names]
        return [name for name in found if name is not None], None

    return read_chosen(storage, path, choose)


_LOCAL = "file:"


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """The data files of a table's bootstrapped slices.

    Clauses: BF-012.
    """

    storage: Storage
    files: Mapping[GroupId, BootstrappedFile]

    def external(self, one: FileSlice) -> External | None:
        """The data file of a slice; None where its base file has the data itself.

        Raises:
            HudiError: BASE_FILE_MISSING when the index lacks the slice; PATH_ESCAPES_TABLE for a file elsewhere than
                below the bootstrap base path.

        Clauses: BF-012, SL-007.

        """
        if one.base_file is None or one.base_instant != METADATA_ONLY_INSTANT:
            return None
        entry = self.files.get((one.partition, one.file_id))
        if entry is None:
            message = "the bootstrap index names no data file for it"
            hint = "restore the folder .hoodie/.aux/.bootstrap"
            raise HudiError(Reason.BASE_FILE_MISSING, "BF-012", message, one.base_file, hint=hint)
        return External(self.storage, self._path(entry), _folder_values(entry.source_partition))

    def _path(self, entry: BootstrappedFile) -> str:
        base, uri = _plain(self.storage.base).rstrip("/"), _plain(entry.uri)
        if not uri.startswith(f"{base}/"):
            message = f"the bootstrap index names {entry.uri!r}, which is not below {base!r}"
            hint = "let hoodie.bootstrap.base.path name the folder that the files are in"
            raise HudiError(Reason.PATH_ESCAPES_TABLE, "SL-007", message, FILE_INDEX_FOLDER, hint=hint)
        return uri.removeprefix(f"{base}/")


def bootstrapped(storage: Storage, configuration: TableConfiguration) -> Bootstrapped | None:
    """The data files of a table that was bootstrapped; None for any other table.

    Raises:
        HudiError: PROPERTIES_INVALID when the properties name no place for them.
        FormatError: BASE_FILE_CORRUPT when the index does not parse.

    Clauses: BF-012.

    """
    if configuration.bootstrap_base is None:
        return None
    paths = [status.path for status in storage.list_files(FILE_INDEX_FOLDER) if status.path.endswith(".hfile")]
    entries = [entry for path in paths for entry in parse_bootstrap_index(storage.read(path), path)]
    files = {(entry.partition, entry.file_id): entry for entry in entries}
    try:
        source = open_storage(_plain(configuration.bootstrap_base))
    except ValueError as error:
        hint = "let it name the folder or the URI that the table was bootstrapped from"
        message = f"hoodie.bootstrap.base.path is {configuration.bootstrap_base!r}: {error}"
        raise HudiError(Reason.PROPERTIES_INVALID, "BF-012", message, PROPERTIES_FILE, hint=hint) from error
    return Bootstrapped(source, files)


def _plain(place: str) -> str:
    """A local place without its scheme, which writers spell in several ways."""
    return f"/{place.removeprefix(_LOCAL).lstrip('/')}" if place.startswith(_LOCAL) else place


def _folder_values(partition: str) -> dict[str, str | None]:
    """The columns that the folders of the data's own partition name; Spark wrote and escaped them."""
    named = (folder.partition("=") for folder in partition.split("/") if "=" in folder)
    return {name: None if text == DEFAULT_PARTITION else unquote(text) for name, _, text in named}


@dataclass(frozen=True, slots=True)
class Origins:
    """What is needed of a table to read any of its slices."""

    configuration: TableConfiguration
    ids: ColumnIds | None
    data: Bootstrapped | None

    def columns(self, partition: str, schema: pa.Schema) -> SliceColumns:
        """How the files of a slice in a partition come to the table's columns.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a path that has not one value of each dropped column's type.

        Clauses: DM-021, DM-022.

        """
        if not (self.configuration.partitions.columns_dropped and self.configuration.partition_by):
            return SliceColumns(self.ids)
        texts = path_values(partition, self.configuration)
        fields = [schema.field(name) for name in texts if name in schema.names]
        constants = {field.name: typed_value(texts[field.name], field, partition) for field in fields}
        return SliceColumns(self.ids, constants)

    def external(self, one: FileSlice) -> External | None:
        """The data file of a bootstrapped slice; None where the slice has the data itself.

        Raises:
            HudiError: BASE_FILE_MISSING, PATH_ESCAPES_TABLE.

        Clauses: BF-012.

        """
        return None if self.data is None else self.data.external(one)


def origins_of(storage: Storage, snapshot: Snapshot) -> Origins:
    """The origins of the columns of a snapshot.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE, BASE_FILE_CORRUPT when a schema or the bootstrap index does not parse.

    Clauses: BF-012, DM-021, DM-022.

    """
    configuration = snapshot.configuration
    return Origins(configuration, column_ids(storage, snapshot), bootstrapped(storage, configuration))
