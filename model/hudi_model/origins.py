"""What files leave out: partition columns whose values paths have, and rows that a bootstrapped table has elsewhere."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TypeAlias, TypeVar
from urllib.parse import unquote_to_bytes

from hudi_model.actions import CommitMetadata, Content
from hudi_model.configuration import Configuration, configure, is_true, valid_properties
from hudi_model.files import (
    BaseFile,
    Block,
    CdcBlock,
    CdcRecord,
    Damaged,
    DataBlock,
    Field,
    LogFile,
    Record,
    Records,
    Schema,
    SourceFile,
    Value,
)
from hudi_model.filters import INSTANTS, PARSERS
from hudi_model.partitions import DEFAULT_PARTITION, ENCODED, SLASHED
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.slicing import data_files, group_of
from hudi_model.tables import Table
from hudi_model.time import BOOTSTRAPS

DROPPED = "hoodie.datasource.write.drop.partition.columns"
BOOTSTRAPPED = "hoodie.bootstrap.base.path"


VALUES: Mapping[str, Callable[[str], Value]] = {
    **{kind: PARSERS[kind] for kind in ("int32", "int64", "float32", "float64", "date")},
    **dict.fromkeys(INSTANTS, lambda text: dt.datetime.fromisoformat(text).replace(tzinfo=dt.timezone.utc)),
    "string": str,
    "boolean": {"true": True, "false": False}.__getitem__,
}
PathValues: TypeAlias = Mapping[str, Value] | Damaged
Held = TypeVar("Held", BaseFile, DataBlock)


def drops_columns(table: Table) -> bool:
    """Whether the properties say that files leave the partition columns out.

    Clauses: DM-022.
    """
    stated = table.properties or table.backup_properties
    return isinstance(stated, Mapping) and is_true(stated, DROPPED)


def refuse_to_write(table: Table) -> None:
    """Nothing, unless a writer would have to leave columns out, or to look for rows elsewhere.

    Raises: unsupported `drop-partition-columns`, `bootstrap`.
    """
    if drops_columns(table):
        raise Unsupported("drop-partition-columns")
    if is_bootstrapped(table):
        raise Unsupported("bootstrap")


def is_bootstrapped(table: Table) -> bool:
    """Whether the properties name a place outside of the table that it has its first rows from.

    Clauses: BF-012.
    """
    stated = table.properties or table.backup_properties
    return isinstance(stated, Mapping) and bool(stated.get(BOOTSTRAPPED))


def with_all_columns(table: Table) -> Table:
    """The table as if its files held all that they leave out.

    Clauses: BF-012, DM-022.
    """
    return with_columns_of_paths(with_rows_of_sources(table))


def with_rows_of_sources(table: Table) -> Table:
    """The table as if the base files of a bootstrap of meta fields held the rows of their sources.

    Clauses: BF-012.
    """
    if not is_bootstrapped(table):
        return table
    stated = [one.content.schema for one in table.timeline if isinstance(one.content, CommitMetadata)]
    columns = next((schema for schema in stated if schema), Schema(()))
    return replace(table, base_files=tuple(with_rows_of_source(one, table, columns) for one in table.base_files))


def with_rows_of_source(file: BaseFile, table: Table, columns: Schema) -> BaseFile:
    """A base file with the columns of its source, row by row, and those that only the source's folders name.

    Clauses: BF-012.
    """
    if file.instant != BOOTSTRAPS[0] or not isinstance(file.records, tuple):
        return file
    source = source_of_file(file, table)
    if isinstance(source, Damaged):
        return replace(file, records=source)
    folders = (folder.partition("=") for folder in source.folder.split("/"))
    texts = {name: text for name, separator, text in folders if separator}
    named = {one.name: texts[one.name] for one in columns.fields if one.name in texts}
    added = Schema(tuple(one for one in columns.fields if one.name in named))
    records = stitched(file.records, source, named, added)
    return replace(file, records=records, schema=source.schema and appended(source.schema, added))


def source_of_file(file: BaseFile, table: Table) -> SourceFile | Damaged:
    """The source of a bootstrapped base file, as the index has it.

    Clauses: BF-012.
    """
    if isinstance(table.sources, Damaged):
        return table.sources
    same = (one for one in table.sources if (one.partition, one.file_id) == group_of(file))
    absent = Damaged(Reason.BASE_FILE_MISSING, "BF-012", file.name, "the bootstrap index names no file for it")
    return next(same, absent)


def stitched(metas: tuple[Record, ...], source: SourceFile, named: Mapping[str, str], columns: Schema) -> Records:
    """The rows of a source, each with its meta fields and with the values of the columns that folders name.

    Clauses: BF-012.
    """
    if not isinstance(source.records, tuple):
        return source.records
    if len(source.records) != len(metas):
        detail = f"it has {len(source.records)} rows, the base file has {len(metas)}"
        return Damaged(Reason.BASE_FILE_CORRUPT, "BF-012", source.path, detail)
    try:
        values = {one.name: folder_value(named[one.name], one) for one in columns.fields}
    except (ValueError, KeyError, InvalidOperation):
        detail = f"the folder {source.folder!r} has no value of its column's type"
        return Damaged(Reason.SCHEMA_INCOMPATIBLE, "BF-012", source.path, detail)
    pairs = zip(source.records, metas, strict=True)
    return tuple(Record({**values, **data.values, **meta.values}) for data, meta in pairs)


def folder_value(text: str, column: Field) -> Value:
    """The value of a column that only a source's folder has; Spark encodes such texts.

    Clauses: BF-012.
    """
    return None if text == DEFAULT_PARTITION else value_of_text(unquote_to_bytes(text).decode(), column.type)


def with_columns_of_paths(table: Table) -> Table:
    """The table as if its files and schemas held the partition columns that they leave out.

    One that cannot be opened stays as it is, and is refused there.

    Clauses: DM-022.
    """
    if not drops_columns(table):
        return table
    try:
        configuration = configure(valid_properties(table.properties, table.backup_properties))
    except Rejection:
        return table
    columns = path_columns(configuration, table.create_schema)
    folders = {one.partition for one in data_files(table)}
    values = {one: path_values(one, columns, configuration) for one in folders}
    return replace(
        table,
        base_files=tuple(with_values_of_rows(one, values[one.partition], columns) for one in table.base_files),
        log_files=tuple(with_values_of_log(one, values[one.partition], columns) for one in table.log_files),
        timeline=tuple(replace(one, content=with_fields(one.content, columns)) for one in table.timeline),
        create_schema=table.create_schema and appended(table.create_schema, columns),
    )


def path_columns(configuration: Configuration, created: Schema | None) -> Schema:
    """The partition columns: text, unless the schema given at creation has another type for one.

    Clauses: DM-022.
    """
    known = {one.name: one for one in (created.fields if created else ())}
    return Schema(tuple(known.get(name, Field(name, "string")) for name in configuration.partition_by))


def path_values(partition: str, columns: Schema, configuration: Configuration) -> PathValues:
    """The value of each partition column in a partition; what its rows are refused for where the path has none.

    Clauses: DM-022.
    """
    folders = path_folders(partition, [one.name for one in columns.fields], configuration)
    if len(folders) != len(columns.fields):
        detail = f"the path has {len(folders)} folders for {len(columns.fields)} partition columns"
        return Damaged(Reason.SCHEMA_INCOMPATIBLE, "DM-022", partition, detail)
    values = {}
    for column, text in zip(columns.fields, folders, strict=True):
        try:
            values[column.name] = path_value(text, column, configuration)
        except (ValueError, KeyError, InvalidOperation):
            detail = f"the path has {text!r} for column {column.name!r}, the table has {column.type}"
            return Damaged(Reason.SCHEMA_INCOMPATIBLE, "DM-022", partition, detail)
    return values


def path_folders(partition: str, names: list[str], configuration: Configuration) -> list[str]:
    """The part of a path that belongs to each column; a value in hive style may have slashes of its own.

    Clauses: DM-022, DM-031.
    """
    slashed = is_true(configuration.properties, SLASHED) and re.fullmatch(r"\d{4}/\d\d/\d\d", partition)
    if len(names) == 1:
        return [partition.replace("/", "-") if slashed else partition]
    if not partition.startswith(f"{names[0]}="):
        return partition.split("/")
    folders: list[str] = []
    for part in partition.split("/"):
        if names[len(folders) :] and part.startswith(f"{names[len(folders)]}="):
            folders.append(part)
        else:
            folders[-1] += f"/{part}"
    return folders


def path_value(folder: str, column: Field, configuration: Configuration) -> Value:
    """What one folder says of its column; ValueError, KeyError or InvalidOperation where that is no value of its type.

    Clauses: DM-022, DM-032.
    """
    text = folder.removeprefix(f"{column.name}=")
    if text == DEFAULT_PARTITION:
        return None
    if is_encoded(column, configuration):
        text = unquote_to_bytes(text).decode(errors="replace")
    return value_of_text(text, column.type)


def is_encoded(column: Field, configuration: Configuration) -> bool:
    """Whether a column's values stand encoded in paths: those of a table that says so, and moments.

    Clauses: DM-022, DM-032.
    """
    return is_true(configuration.properties, ENCODED) or column.type.startswith("timestamp")


def value_of_text(text: str, kind: str) -> Value:
    """A text as a value of a type; ValueError, KeyError or InvalidOperation where it is none.

    Clauses: DM-022.
    """
    return Decimal(text) if kind.startswith("decimal") else VALUES[kind](text)


def with_values(records: Records, values: PathValues) -> Records:
    """Stored rows with the values of their path, whatever the file has for these columns.

    Clauses: DM-022.
    """
    if not isinstance(records, tuple):
        return records
    if isinstance(values, Damaged):
        return values
    return tuple(Record({**one.values, **values}) for one in records)


def with_values_of_rows(rows: Held, values: PathValues, columns: Schema) -> Held:
    """A base file or a block of a log as if it held the partition columns.

    Clauses: DM-022.
    """
    schema = rows.schema and appended(rows.schema, columns)
    return replace(rows, records=with_values(rows.records, values), schema=schema)


def with_values_of_log(file: LogFile, values: PathValues, columns: Schema) -> LogFile:
    """A log file as if its blocks held the partition columns.

    Clauses: DM-022.
    """
    if not isinstance(file.blocks, tuple):
        return file
    return replace(file, blocks=tuple(with_values_of_block(one, values, columns) for one in file.blocks))


def with_values_of_block(block: Block, values: PathValues, columns: Schema) -> Block:
    """A block as if its records, or the images of its changes, held the partition columns.

    Clauses: DM-022.
    """
    if isinstance(block, DataBlock):
        return with_values_of_rows(block, values, columns)
    if isinstance(block, CdcBlock) and isinstance(block.changes, tuple) and not isinstance(values, Damaged):
        return replace(block, changes=tuple(with_values_of_images(one, values) for one in block.changes))
    return block


def with_values_of_images(change: CdcRecord, values: Mapping[str, Value]) -> CdcRecord:
    """A change as if its images held the partition columns."""
    images = (one and Record({**one.values, **values}) for one in (change.before, change.after))
    return CdcRecord(change.operation, change.key, *images)


def with_fields(content: Content, columns: Schema) -> Content:
    """What a timeline file holds, the partition columns in the schema that it states."""
    if not isinstance(content, CommitMetadata) or content.schema is None:
        return content
    return replace(content, schema=appended(content.schema, columns))


def appended(schema: Schema, columns: Schema) -> Schema:
    """The columns of a schema in their order, then the partition columns that it lacks; these in their own type.

    Clauses: DM-022.
    """
    own = {one.name: one for one in columns.fields}
    known = {one.name for one in schema.fields}
    kept = (own.get(one.name, one) for one in schema.fields)
    return Schema((*kept, *(one for one in columns.fields if one.name not in known)))
