"""Avro schemas and the model's schemas of logical types."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from hudi_adapter.logical_types import DecimalType, ListType, LogicalType, MapType, Primitive, StructType, parse_type
from hudi_adapter.rows import logical_type
from hudi_format.avro.schemas import schema_text
from hudi_format.schemas import META_FIELDS, arrow_schema
from hudi_model.records import Field, Schema

AvroSchema = Mapping[str, Any]
_SCHEMAS_KEPT: Final = 128

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
    return Schema(tuple(Field(field.name, logical_type(field.type)) for field in columns))


def avro_schema(schema: Schema, table_name: str, *, meta_fields: bool = False) -> dict[str, Any]:
    """The Avro record schema that Apache Hudi writes for these columns: every field nullable, null by default."""
    name = _avro_name(table_name)
    space, record = f"hoodie.{name}", f"{name}_record"
    names = [(field, "string") for field in META_FIELDS] if meta_fields else []
    columns = names + [(field.name, field.type) for field in schema.fields]
    return {
        "type": "record",
        "name": record,
        "namespace": space,
        "fields": [_field(column, parse_type(text), f"{space}.{record}") for column, text in columns],
    }


def _avro_name(table_name: str) -> str:
    """The table's name with two underscores for what an Avro name may not hold, as Apache Hudi writes it."""
    return re.sub(r"[^A-Za-z0-9_]|^[0-9]", "__", table_name, flags=re.ASCII)


def _field(name: str, logical: LogicalType, space: str) -> dict[str, Any]:
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
            members = [_field(member, kind, f"{outer}.{name}") for member, kind in fields]
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
