"""What a new table is to be, checked before anything is written."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError, UnsupportedFeature
from hudi_spark.evolution.schema import avro_of_arrow, schema_of_avro
from hudi_spark.options.resolving import Options, resolve

WRITTEN_VERSIONS: Final = (6, 8, 9)
TABLE_TYPES: Final = ("COPY_ON_WRITE", "MERGE_ON_READ")


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table to be created.

    `schema`: an Avro record or an Arrow schema; meta fields in it are left out. `partition_by`: fields, or
    `field:SIMPLE` and `field:TIMESTAMP` for the custom key generator. `configs`: `hoodie.*` keys by any of their names;
    what both an argument and a key say must be the same.

    Clauses: PR-002, PR-020, PR-021, PR-022.
    """

    name: str = ""
    schema: Mapping[str, Any] | pa.Schema | None = None
    table_type: str | None = None
    table_version: int | None = None
    record_key: Sequence[str] = ()
    partition_by: Sequence[str] = ()
    ordering: Sequence[str] = ()
    merge_mode: str | None = None
    base_file_format: str | None = None
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettledTable:
    """A definition after its options are resolved: every value known, none contradicted."""

    name: str
    avro: Mapping[str, Any]
    columns: pa.Schema
    table_type: str
    version: int
    record_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    ordering: tuple[str, ...]
    merge_mode: str | None
    options: Options

    def given(self, key: str) -> str:
        """What was asked for under a key, empty where nothing was."""
        return self.options.values.get(key, "")

    def flag(self, key: str) -> str:
        """`true` or `false`, the latter where nothing was asked for."""
        return self.options.values.get(key, "false")


def settled(definition: TableDefinition) -> SettledTable:
    """The definition, checked.

    Raises:
        HudiError: CONFIG_INVALID for an unknown or missing option or one that is said twice and differs;
            SCHEMA_INCOMPATIBLE for a schema that cannot be written.
        UnsupportedFeature: base files that are no Parquet files, a table format that is not Hudi's own.

    Clauses: OW-032, PR-002, PR-021, PR-022, VR-001.

    """
    asked = _Asked(resolve(definition.configs))
    version = _version(asked.one("hoodie.write.table.version", definition.table_version))
    name = asked.one("hoodie.table.name", definition.name).strip()
    if not name:
        raise invalid("hoodie.table.name is missing and has no default", "name the table")
    _refuse_unwritten_forms(asked, definition)
    avro = _avro(definition.schema, asked, name)
    return SettledTable(
        name=name,
        avro=avro,
        columns=schema_of_avro(avro).arrow,
        table_type=_table_type(asked.one("hoodie.datasource.write.table.type", definition.table_type)),
        version=version,
        record_key=asked.names("hoodie.datasource.write.recordkey.field", definition.record_key),
        partition_by=asked.names("hoodie.datasource.write.partitionpath.field", definition.partition_by),
        ordering=asked.names("hoodie.datasource.write.precombine.field", definition.ordering),
        merge_mode=asked.one("hoodie.write.record.merge.mode", (definition.merge_mode or "").upper()) or None,
        options=asked.options,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """An argument and the option of the same meaning, as one."""

    options: Options

    def one(self, key: str, argument: Any) -> str:
        given = self.options.values.get(key, "")
        said = "" if argument is None else str(argument)
        if given and said and given != said:
            raise invalid(f"{key} is {given!r} and the argument is {said!r}", "say it once")
        return said or given

    def names(self, key: str, argument: Sequence[str]) -> tuple[str, ...]:
        names = [argument] if isinstance(argument, str) else argument
        said = ",".join(name.strip() for name in names)
        given = ",".join(name.strip() for name in self.options.values.get(key, "").split(","))
        if given and said and given != said:
            raise invalid(f"{key} is {given!r} and the argument is {said!r}", "say it once")
        found = tuple(name for name in (said or given).split(",") if name)
        if len(set(found)) != len(found):
            raise invalid(f"{key} names a field twice: {', '.join(found)}", "name each field once")
        return found


def _version(text: str) -> int:
    """Clauses: OW-032, VR-001."""
    if text and not (text.isascii() and text.isdecimal() and int(text) in WRITTEN_VERSIONS):
        hint = f"choose one of {', '.join(map(str, WRITTEN_VERSIONS))}"
        raise HudiError(Reason.CONFIG_INVALID, "OW-032", f"table version {text} is not written", hint=hint)
    return int(text) if text else WRITTEN_VERSIONS[-1]


def _table_type(text: str) -> str:
    if text and text not in TABLE_TYPES:
        raise invalid(f"table type {text!r} is unknown", f"choose {' or '.join(TABLE_TYPES)}")
    return text or TABLE_TYPES[0]


def _refuse_unwritten_forms(asked: _Asked, definition: TableDefinition) -> None:
    base = asked.one("hoodie.base.file.format", (definition.base_file_format or "").upper())
    if base not in ("", "PARQUET"):
        raise UnsupportedFeature(f"base-{base.lower()}-writing", "base files are written as Parquet")
    values = asked.options.values
    if values.get("hoodie.table.multiple.base.file.formats.enable") == "true":
        raise UnsupportedFeature("multiple-base-file-formats")
    if values.get("hoodie.table.format", "native") != "native":
        raise UnsupportedFeature("table-format", values["hoodie.table.format"])


def _avro(schema: Mapping[str, Any] | pa.Schema | None, asked: _Asked, name: str) -> Mapping[str, Any]:
    """The schema as an Avro record without meta fields."""
    text = asked.options.values.get("hoodie.table.create.schema", "")
    if schema is None and not text:
        raise invalid("the table has no schema", "give the columns as an Avro record or an Arrow schema")
    if isinstance(schema, pa.Schema):
        return avro_of_arrow(schema, name)
    return schema_of_avro(_parsed(text) if schema is None else schema).avro


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise invalid("hoodie.table.create.schema is no JSON", "give an Avro record") from error
    return found if isinstance(found, dict) else {}


def invalid(message: str, hint: str) -> HudiError:
    """The error of a definition that cannot be a table."""
    return HudiError(Reason.CONFIG_INVALID, "PR-022", message, hint=hint)
