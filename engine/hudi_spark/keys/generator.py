"""The key generator of a table: record keys and partition paths of incoming rows.

Clauses: DM-031, DM-032, DM-033, SL-007, DM-001, DM-002, DM-030.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from hudi_format.names import is_partition_metafile
from hudi_format.table.property_keys import TIME_KEYS

from hudi_spark.errors import HudiError, Reason
from hudi_spark.keys.generator_types import (
    PARTITION_OPTION,
    GeneratorKind,
    configured_type,
    field_name,
    generator_kind,
    listed,
    misfit,
    refuse_misfit,
    refuse_other_generator,
)
from hudi_spark.keys.timestamps import TIME_PREFIX, StampRule, stamp_settings
from hudi_spark.merge import KeyRule, column_of, field_values
from hudi_spark.options import Options
from hudi_spark.pruning import time_setting
from hudi_spark.read import TaskIdentity
from hudi_spark.schema import DEFAULT_PARTITION, key_text, one_chunk
from hudi_spark.table_state import PartitionStyle, TableConfiguration

# What Hive escapes in the name of a folder.
_ESCAPED: Final = {ord(one): f"%{ord(one):02X}" for one in [*map(chr, range(32)), "\x7f", *"\"#%'*/:=?[\\]^{"]}
_METADATA_FOLDER: Final = ".hoodie"
# Of one folder, in every file system that tables lie on.
_LONGEST_NAME: Final = 255
# Of a whole partition path: half of what Linux takes, so that base path, file name and marker name fit beside it.
_LONGEST_PATH: Final = 2048


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of the path; `stamp` where it is written by a pattern of dates."""

    name: str
    stamp: StampRule | None = None


@dataclass(frozen=True, slots=True)
class PathRule:
    """How a row's partition path is made of its columns; empty without fields.

    `moments`: timestamps are written as such and not as their number.

    Clauses: DM-031, DM-032, DM-033.
    """

    fields: tuple[PartitionField, ...]
    style: PartitionStyle
    moments: bool = False

    def paths(self, rows: pa.Table) -> pa.ChunkedArray:
        """The path of each row.

        Raises:
            HudiError: KEY_MISSING when rows lack a partition field; PATH_ESCAPES_TABLE for a value that leads out of
                the table; CONFIG_INVALID for one that no file system of Apache Hudi can hold; SCHEMA_INCOMPATIBLE for
                one that is no moment.

        Clauses: DM-031, DM-032, DM-033, SL-007.

        """
        if not self.fields:
            return pa.chunked_array([pa.repeat("", len(rows))])
        self._refuse_absent(rows.schema)
        folders = [self._folders(field, rows) for field in self.fields]
        paths = folders[0] if len(folders) == 1 else pc.binary_join_element_wise(*folders, "/")
        for path in pc.unique(paths).to_pylist():
            refuse_unsafe(path)
        return pa.chunked_array([paths])

    def _refuse_absent(self, schema: pa.Schema) -> None:
        absent = [field.name for field in self.fields if column_of(field.name, schema) is None]
        if absent:
            message = f"the rows have no column {', '.join(absent)}, which the partition path is made of"
            raise HudiError(Reason.KEY_MISSING, "DM-031", message, hint="add the partition columns to the rows")

    def _folders(self, field: PartitionField, rows: pa.Table) -> pa.Array:
        """The part of the path that a field makes; each different text is made once."""
        column = field_values(rows, field.name)
        if field.stamp is not None:
            return _each(field.stamp.texts(column, field.name), lambda text: self._folder(field.name, text or ""))
        texts = one_chunk(key_text(column, moments=self.moments)).fill_null("")
        return _each(texts, lambda text: self._folder(field.name, text or DEFAULT_PARTITION))

    def _folder(self, name: str, text: str) -> str:
        folder = encoded(text) if self.style.encoded else text
        if self.style.slashed and len(self.fields) == 1 and not folder.startswith("-"):
            folder = folder.replace("-", "/")
        return f"{name}={folder}" if self.style.hive else folder


def encoded(text: str) -> str:
    """A value as the name of one folder.

    Clauses: DM-032.
    """
    return text.translate(_ESCAPED)


def refuse_unsafe(path: str) -> None:
    """Nothing for a partition path that stays below the table, beside its own folder `.hoodie`.

    Raises:
        HudiError: PATH_ESCAPES_TABLE, CONFIG_INVALID.

    Clauses: DM-031, SL-007.

    """
    folders = path.split("/")
    hint = "correct the rows"
    if any(sign in path for sign in "/:\0"):
        hint += ", or create the table with hoodie.datasource.write.partitionpath.urlencode"
    if {"", ".", ".."} & set(folders) or folders[0] == _METADATA_FOLDER or "\0" in path:
        message = f"the partition path {path!r} does not lead to a folder of the table's own"
        raise HudiError(Reason.PATH_ESCAPES_TABLE, "SL-007", message, path, hint=hint)
    if any(map(is_partition_metafile, folders)):
        message = f"the partition path {path!r} has a folder with the name of a file that marks partitions"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint="correct the rows")
    if any(len(folder.encode()) > _LONGEST_NAME for folder in folders):
        message = f"the partition path {path[:40]!r}... has a folder of more than {_LONGEST_NAME} bytes"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint="choose another partition column")
    if len(path.encode()) > _LONGEST_PATH:
        message = f"the partition path {path[:40]!r}... has more than {_LONGEST_PATH} bytes"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint="choose another partition column")
    if ":" in folders[0]:
        message = f"the partition path {path!r} has a colon in its first folder, which Apache Hudi cannot open"
        raise HudiError(Reason.CONFIG_INVALID, "DM-031", message, path, hint=hint)


def _each(texts: pa.Array, folder: Callable[[str], str]) -> pa.Array:
    different = texts.dictionary_encode()
    folders = [folder(text) for text in different.dictionary.to_pylist()]
    return pa.array(folders, pa.string()).take(different.indices)


_BARE_OPTION: Final = "hoodie.write.complex.keygen.new.encoding"
_FIRST_NAMED_VERSION: Final = 9


def made_keys(rule: KeyRule, rows: pa.Table) -> pa.ChunkedArray:
    """The keys of rows by a rule.

    Raises:
        HudiError: KEY_MISSING when rows lack a key field, or some have nothing in all of them.

    Clauses: DM-001, DM-002.

    """
    absent = [name for name in rule.fields if column_of(name, rows.schema) is None]
    if absent:
        raise _missing(f"the rows have no column {', '.join(absent)}, which the record key is made of")
    without = pc.sum(reduce(pc.and_, (_is_nothing(field_values(rows, name)) for name in rule.fields))).as_py()
    if without:
        named = ", ".join(rule.fields)
        raise _missing(f"{without} of {len(rows)} rows have no value in {named}, which the record key is made of")
    return rule.keys(rows)


def brought_keys(keys: pa.ChunkedArray) -> pa.ChunkedArray:
    """The keys that rows of a table with generated keys got when they were first written.

    Raises:
        HudiError: KEY_MISSING when some have none.

    Clauses: DM-001.

    """
    without = pc.sum(_is_nothing(keys)).as_py()
    if without:
        raise _missing(f"{without} of {len(keys)} rows have no _hoodie_record_key: each got one with its first write")
    return keys


def _is_nothing(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Where a value is null or an empty text."""
    kind = column.type
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_binary(kind):
        return pc.equal(pc.fill_null(pc.binary_length(column), 0), 0)
    return pc.is_null(column)


def generated_keys(rows: int, identity: TaskIdentity, instant: str) -> pa.ChunkedArray:
    """Keys of rows without key fields: `<instant>_<number of the part>_<row in the part>`.

    Clauses: DM-030.
    """
    numbers = pa.array(range(rows), pa.int64()).cast(pa.string())
    return pa.chunked_array([pc.binary_join_element_wise(f"{instant}_{identity.partition}_", numbers, "")])


def names_parts(
    kind: GeneratorKind, configuration: TableConfiguration, options: Options, existing: str | None = None
) -> bool:
    """Whether keys are written `field:value`: those of several fields are, and some complex ones of a single field.

    A complex generator of one field keeps to what the table has: `existing` is any key of it. In an empty table the
    option decides, and without it the table version: Apache Hudi writes the bare value into tables of versions 6 and 8
    (0.15.0, 1.0.2) and `field:value` into those of version 9. A table without meta fields has no key to look at, so
    that its version alone decides.

    Clauses: DM-002, DM-030.
    """
    fields = configuration.record_key
    if kind != "COMPLEX" or len(fields) != 1:
        return len(fields) > 1 or kind == "GLOBAL_DELETE"
    if existing is not None:
        return is_named(existing, fields[0])
    may_be_absent = configuration.version < _FIRST_NAMED_VERSION and configuration.populates_meta_fields
    if may_be_absent and options.given(_BARE_OPTION):
        return not options.flag(_BARE_OPTION)
    return configuration.version >= _FIRST_NAMED_VERSION


def is_named(key: str, field: str) -> bool:
    """Whether a stored key of a single field is written `field:value`.

    Clauses: DM-002.
    """
    return key.startswith(f"{field}:")


def _missing(message: str) -> HudiError:
    hint = "fill the field or filter such rows out; a table without record key fields generates its keys"
    return HudiError(Reason.KEY_MISSING, "DM-001", message, hint=hint)


_MOMENTS: Final = "hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled"
_PARTITION_FIELDS: Final = "hoodie.table.partition.fields"


@dataclass(frozen=True, slots=True)
class KeyGenerator:
    """How the rows of a write get their keys and paths; can be pickled.

    `rule`: how keys are made of columns, None where they are generated. In a table without meta fields the same rule
    gives the keys of stored rows.

    Clauses: DM-002, DM-030, DM-031.
    """

    rule: KeyRule | None
    path: PathRule

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields that keys and paths are made of, `a.b` for those inside a column."""
        keys = self.rule.fields if self.rule is not None else ()
        return tuple(dict.fromkeys((*keys, *(field.name for field in self.path.fields))))

    def keys(self, rows: pa.Table, identity: TaskIdentity, instant: str) -> pa.ChunkedArray:
        """The record key of each row, of one part of the input.

        Raises:
            HudiError: KEY_MISSING, with how many rows have none.

        Clauses: DM-001, DM-002.

        """
        return generated_keys(len(rows), identity, instant) if self.rule is None else made_keys(self.rule, rows)

    def partition_paths(self, rows: pa.Table) -> pa.ChunkedArray:
        """The partition path of each row; empty texts in a table without partitions.

        Raises:
            HudiError: KEY_MISSING, PATH_ESCAPES_TABLE, CONFIG_INVALID, SCHEMA_INCOMPATIBLE.

        Clauses: DM-031, DM-032, DM-033.

        """
        return self.path.paths(rows)


def key_generator(configuration: TableConfiguration, options: Options, existing: str | None = None) -> KeyGenerator:
    """The key generator of a table.

    `options` fill in what older versions of the table do not keep: the types of a custom generator's fields, what a
    timestamp generator counts. `existing`: any record key of the table, from which a complex generator of one field
    sees how such keys are written; None for an empty table.

    Raises:
        HudiError: CONFIG_INVALID for settings that are missing or not those of the table.
        UnsupportedFeature: a key generator of somebody's own, a pattern of dates with letters that are not built.

    Clauses: DM-030, DM-033.

    """
    refuse_other_generator(configuration, options)
    partition_by = _typed_fields(configuration, options)
    name = configuration.key_generator or configured_type(options)
    kind = generator_kind(name, configuration.record_key, partition_by)
    refuse_misfit(kind, configuration.record_key, partition_by)
    moments = options.flag(_MOMENTS)
    named = names_parts(kind, configuration, options, existing)
    rule = KeyRule(configuration.record_key, named, moments) if configuration.record_key else None
    fields = tuple(_field(kind, text, configuration, options) for text in partition_by)
    return KeyGenerator(rule, PathRule(() if kind == "GLOBAL_DELETE" else fields, configuration.partitions, moments))


def _typed_fields(configuration: TableConfiguration, options: Options) -> tuple[str, ...]:
    """The partition fields with their types: version 6 keeps only the names of a custom generator's fields."""
    stored = listed(configuration.properties.get(_PARTITION_FIELDS, ""))
    configured = listed(options.text(PARTITION_OPTION))
    if not configured or any(":" in field for field in stored):
        return stored
    return (
        configured if [field_name(field) for field in configured] == [field_name(field) for field in stored] else stored
    )


def _field(kind: GeneratorKind, text: str, configuration: TableConfiguration, options: Options) -> PartitionField:
    name, _, type_name = text.partition(":")
    stamped = type_name.upper() if kind == "CUSTOM" else kind
    if kind == "CUSTOM" and stamped not in ("SIMPLE", "TIMESTAMP"):
        hint = f"give {PARTITION_OPTION} as field:SIMPLE or field:TIMESTAMP for each field"
        raise misfit(f"the custom key generator does not know the type of the partition field {name!r}", hint)
    if stamped != "TIMESTAMP":
        return PartitionField(name)
    settings = _settings(configuration, options)
    return PartitionField(name, stamp_settings(settings, moments=options.flag(_MOMENTS)))


def _settings(configuration: TableConfiguration, options: Options) -> dict[str, str]:
    """What the table keeps, and what the options add to it: version 6 does not keep what the column counts.

    Raises:
        HudiError: CONFIG_INVALID for an option that is not what the table keeps.

    """
    found: dict[str, str] = {}
    for key in TIME_KEYS:
        stored = time_setting(configuration.properties, key)
        configured = options.text(TIME_PREFIX + key) if options.given(TIME_PREFIX + key) else ""
        if stored and configured and stored != configured:
            raise misfit(f"{TIME_PREFIX}{key} is {configured!r}, the table keeps {stored!r}", "leave the option out")
        found[TIME_PREFIX + key] = stored or configured
    return found
