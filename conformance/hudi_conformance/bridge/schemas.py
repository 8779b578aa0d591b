"""Avro schemas and the model's schemas of logical types."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, cast

import pyarrow as pa
from hudi_adapter.arrow_types import logical_type
from hudi_adapter.logical_types import (
    DecimalType,
    ListType,
    LogicalType,
    MapType,
    Primitive,
    StructType,
    parse_type,
    type_name,
)
from hudi_format.avro.schemas import schema_text
from hudi_format.schemas import META_FIELDS, arrow_schema
from hudi_format.table import internal_schema
from hudi_model.files import Field, Schema, SchemaVersion, Value

AvroSchema = Mapping[str, Any]
_SCHEMAS_KEPT: Final = 128
_ELEMENT: Final = "element"
_VALUE: Final = "value"

_AVRO: Mapping[str, Any] = {
    "boolean": "boolean",
    "int32": "int",
    "int64": "long",
    "float32": "float",
    "float64": "double",
    "string": "string",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "time-millis": {"type": "int", "logicalType": "time-millis"},
    "time-micros": {"type": "long", "logicalType": "time-micros"},
    "timestamp-millis": {"type": "long", "logicalType": "timestamp-millis"},
    "timestamp-micros": {"type": "long", "logicalType": "timestamp-micros"},
    "local-timestamp-millis": {"type": "long", "logicalType": "local-timestamp-millis"},
    "local-timestamp-micros": {"type": "long", "logicalType": "local-timestamp-micros"},
}


def model_schema(avro: AvroSchema) -> Schema:
    """The table columns of an Avro record schema, as logical types and without the meta fields."""
    return _columns(schema_text(avro))


@lru_cache(maxsize=_SCHEMAS_KEPT)
def _columns(text: str) -> Schema:
    columns = (field for field in arrow_schema(text) if field.name not in META_FIELDS)
    defaults = {field["name"]: field.get("default") for field in json.loads(text)["fields"]}
    return Schema(
        tuple(replace(_column(field), default=_default(defaults.get(field.name), field.type)) for field in columns)
    )


def arrow_columns(schema: pa.Schema) -> Schema:
    """The columns of a file, as logical types and without the meta fields."""
    return Schema(tuple(_column(field) for field in schema if field.name not in META_FIELDS))


def column_of(name: str, kind: str) -> Field:
    """A column of a logical type, with its parts."""
    return Field(name, kind, parts=_parts_of(parse_type(kind)))


def _parts_of(kind: LogicalType) -> tuple[Field, ...]:
    match kind:
        case StructType(fields):
            held = fields
        case MapType(value):
            held = ((_VALUE, value),)
        case ListType(element):
            held = ((_ELEMENT, element),)
        case _:
            held = ()
    return tuple(Field(name, type_name(one), parts=_parts_of(one)) for name, one in held)


def _column(field: pa.Field) -> Field:
    return Field(field.name, logical_type(field.type), parts=tuple(map(_column, _parts(field.type))))


def _parts(kind: pa.DataType) -> Iterable[pa.Field]:
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_map(kind):
        return [pa.field(_VALUE, kind.item_type)]
    return [pa.field(_ELEMENT, kind.value_type)] if pa.types.is_list(kind) or pa.types.is_large_list(kind) else []


def schema_version(found: internal_schema.InternalSchema) -> SchemaVersion:
    """Columns with their ids."""
    columns = (_identified(field) for field in found.fields if field.name not in META_FIELDS)
    return SchemaVersion(found.schema_id, Schema(tuple(columns)), found.max_column_id)


def _identified(field: internal_schema.InternalField) -> Field:
    return _known(field.name, field.type, field.id)


def _known(name: str, kind: internal_schema.ColumnType, column_id: int) -> Field:
    return Field(name, _kind(kind), None, column_id, _identified_parts(kind))


def column_of_word(name: str, word: str) -> Field:
    """A column of a type that a change of the schema names by its word."""
    aliases = {"bigint": "long", "integer": "int", "bytes": "binary"}
    return Field(name, _kind(internal_schema.parse_column_type(aliases.get(word, word), "the type")))


_WORDS: Mapping[str, str] = {
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "time": "time-micros",
    "timestamp": "timestamp-micros",
    "uuid": "string",
}
_INTERNAL: Mapping[str, str] = {logical: word for word, logical in _WORDS.items() if word != "uuid"}


def _kind(kind: internal_schema.ColumnType) -> str:
    """The logical type of a column with an id; one that is none keeps its word."""
    match kind:
        case internal_schema.RecordType(fields):
            return f"struct<{','.join(f'{one.name}:{_kind(one.type)}' for one in fields)}>"
        case internal_schema.ArrayType(_, element):
            return f"list<{_kind(element)}>"
        case internal_schema.MapType(value=value):
            return f"map<string,{_kind(value)}>"
        case internal_schema.PrimitiveType(name) if name.startswith("decimal"):
            return f"decimal({kind.precision},{kind.scale})"
    return _WORDS.get(str(kind), str(kind))


def internal_version(version: SchemaVersion) -> internal_schema.InternalSchema:
    """A version of the columns as a history has it, meta fields first."""
    meta = (
        internal_schema.InternalField(place, name, True, internal_schema.PrimitiveType("string"))
        for place, name in enumerate(META_FIELDS)
    )
    fields = (*meta, *map(_internal_field, version.schema.fields))
    return internal_schema.InternalSchema(version.number, version.highest, fields)


def _internal_field(field: Field) -> internal_schema.InternalField:
    return internal_schema.InternalField(field.id or 0, field.name, field.default is None, _internal(field))


def _internal(field: Field) -> internal_schema.ColumnType:
    kind = field.type.partition("<")[0]
    if kind == "struct":
        return internal_schema.RecordType(tuple(map(_internal_field, field.parts)))
    if kind == "list":
        return internal_schema.ArrayType(field.parts[0].id or 0, _internal(field.parts[0]))
    if kind == "map":
        value = field.parts[0].id or 0
        key = internal_schema.PrimitiveType("string")
        return internal_schema.MapType(value - 1, key, value, _internal(field.parts[0]))
    return internal_schema.parse_column_type(_INTERNAL.get(field.type, field.type), field.name)


def _identified_parts(kind: internal_schema.ColumnType) -> tuple[Field, ...]:
    match kind:
        case internal_schema.RecordType(fields):
            return tuple(map(_identified, fields))
        case internal_schema.ArrayType(element_id, element):
            return (_known(_ELEMENT, element, element_id),)
        case internal_schema.MapType(_, _, value_id, value):
            return (_known(_VALUE, value, value_id),)
    return ()


def _default(default: Any, kind: pa.DataType) -> Value:
    """A default as a value: Avro spells bytes as a text of their code points, a decimal as its unscaled number."""
    if pa.types.is_decimal(kind):
        unscaled = int.from_bytes(str(default or "").encode("latin-1", "replace"), "big", signed=True)
        return None if default is None else Decimal(unscaled).scaleb(-kind.scale)
    if isinstance(default, str) and pa.types.is_binary(kind):
        return default.encode("latin-1", "replace")
    if isinstance(default, int) and pa.types.is_temporal(kind):
        return cast("Value", pa.scalar(default, kind).as_py())
    return cast("Value", default)


def avro_schema(schema: Schema, table_name: str, *, meta_fields: bool = False) -> dict[str, Any]:
    """The Avro record schema that Apache Hudi writes for these columns: a field is nullable unless it has a default."""
    name = _avro_name(table_name)
    space, record = f"hoodie.{name}", f"{name}_record"
    names = tuple(Field(name, "string") for name in META_FIELDS) if meta_fields else ()
    return {
        "type": "record",
        "name": record,
        "namespace": space,
        "fields": [_field(column, f"{space}.{record}") for column in (*names, *schema.fields)],
    }


def _avro_name(table_name: str) -> str:
    """The table's name with two underscores for what an Avro name may not hold, as Apache Hudi writes it."""
    return re.sub(r"[^A-Za-z0-9_]|^[0-9]", "__", table_name, flags=re.ASCII)


def _field(column: Field, space: str) -> dict[str, Any]:
    field = _nullable(column.name, parse_type(column.type), space)
    return field if column.default is None else {**field, "type": field["type"][1], "default": column.default}


def _nullable(name: str, logical: LogicalType, space: str) -> dict[str, Any]:
    return {"name": name, "type": ["null", _avro_type(logical, f"{space}.{name}")], "default": None}


def _avro_type(logical: LogicalType, space: str) -> Any:
    match logical:
        case Primitive(name):
            return _AVRO[name]
        case DecimalType(precision, scale):
            return _decimal(precision, scale, space)
        case ListType(element):
            return {"type": "array", "items": ["null", _avro_type(element, space)]}
        case MapType(value):
            return {"type": "map", "values": ["null", _avro_type(value, space)]}
        case StructType(fields):
            outer, _, name = space.rpartition(".")
            members = [_nullable(member, kind, f"{outer}.{name}") for member, kind in fields]
            return {"type": "record", "name": name, "namespace": outer, "fields": members}


def _decimal(precision: int, scale: int, space: str) -> dict[str, Any]:
    # The fewest bytes that hold the greatest unscaled value and its sign.
    size = (10**precision).bit_length() // 8 + 1
    return {
        "type": "fixed",
        "name": "fixed",
        "namespace": space,
        "size": size,
        "logicalType": "decimal",
        "precision": precision,
        "scale": scale,
    }
