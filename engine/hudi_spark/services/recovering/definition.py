"""The properties of a table that lost them: what its files say of them, and for the rest what its owner knows.

Clauses: PR-002, PR-021, SL-002, BF-002, VR-001.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import unquote

import pyarrow.types as kinds
from hudi_format.avro.schemas import record_schema
from hudi_format.base.files import read_base_file
from hudi_format.schemas import META_FIELDS, without_meta_fields
from hudi_format.storage import Storage
from hudi_format.table.properties import parse_properties

from hudi_spark.creation.definition import WRITTEN_VERSIONS, TableDefinition, settled
from hudi_spark.creation.properties import table_properties
from hudi_spark.services.recovering.asked import KnownOfTable, Unknown, refused
from hudi_spark.services.recovering.found_files import FoundFile, FoundTable
from hudi_spark.services.recovering.log_names import bases_of, log_names, logs_of

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


def defined_table(storage: Storage, found: FoundTable, left: Left, known: KnownOfTable) -> Defined:
    """The properties of the table again.

    Raises:
        HudiError: CONFIG_INVALID for what is neither told nor in the files, or is told and contradicts them.

    Clauses: PR-002, PR-021, VR-001.

    """
    told, unknown = known.definition, []
    schema = told.schema if told.schema is not None else _schema(found)
    version = _version(found, left, told)
    if told.table_version is None and version is None:
        unknown.append(Unknown("VR-001", f"the table's version; {_NEWEST} is taken, whose files are the same"))
    partition_by, hive = _partition_fields(found, told)
    configs = {**_forms(found, hive=hive), **told.configs}
    definition = replace(
        told,
        name=told.name or _name(schema, left),
        schema=schema,
        table_type=_table_type(found, left, told),
        table_version=told.table_version or version or _NEWEST,
        partition_by=partition_by,
        configs=configs,
    )
    _refuse_without_keys(storage, found, definition)
    unknown.append(Unknown("MG-001", "the merge mode, ordering fields and key generator are those that were told"))
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


def _version(found: FoundTable, left: Left, told: TableDefinition) -> int | None:
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
    asked = told.table_version
    if asked is not None and (asked < 8) != (seen < 8):
        raise refused(f"version {asked} is told and the files are those of version {seen}", "leave the version out")
    return seen


def _table_type(found: FoundTable, left: Left, told: TableDefinition) -> str:
    on_read = bool(logs_of(found.files)) or left.has_deltacommits
    if on_read and told.table_type == "COPY_ON_WRITE":
        raise refused("a copy-on-write table is told and there are logs", "the table is MERGE_ON_READ")
    if told.table_type is None and not on_read:
        raise refused("no file says whether the table is merge-on-read", "tell table_type")
    return told.table_type or "MERGE_ON_READ"


def _partition_fields(found: FoundTable, told: TableDefinition) -> tuple[tuple[str, ...], bool]:
    """The partition fields, and whether the folders name them.

    Clauses: DM-031.
    """
    partitions = [one for one in found.metafiles if one]
    fields = tuple(told.partition_by)
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
    """Nothing where the record key that is told makes the keys that are stored.

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
