"""Columns with ids, and the Avro record that states them in a commit.

A record is named by its path: `s` inside table `t` is `hoodie.t.t_record.s`, a decimal column `d` in it the fixed type
`hoodie.t.t_record.s.d.fixed`. Lists and maps add nothing to a path. Null stands first in a union, as the default.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hudi_adapter.reasons import Reason
from hudi_format.avro.schemas import full_name
from hudi_format.schemas import is_decimal
from hudi_format.table.internal_schema import ArrayType, ColumnType, InternalField, MapType, PrimitiveType, RecordType

from hudi_spark.errors import HudiError, UnsupportedFeature

DECIMALS: Final = frozenset({"decimal", "decimal_fixed", "decimal_bytes"})

_CLAUSE: Final = "DM-003"
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOGICAL: Final[Mapping[tuple[str, str], str]] = {
    ("int", "date"): "date",
    ("int", "time-millis"): "time-millis",
    ("long", "time-micros"): "time",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "timestamp-millis"): "timestamp-millis",
    ("long", "local-timestamp-micros"): "local-timestamp-micros",
    ("long", "local-timestamp-millis"): "local-timestamp-millis",
    ("string", "uuid"): "uuid",
}
_PHYSICAL: Final = {name: (physical, logical) for (physical, logical), name in _LOGICAL.items()}
_PLAIN: Final = {"boolean": "boolean", "int": "int", "long": "long", "float": "float", "double": "double"} | {
    "string": "string",
    "bytes": "binary",
}


def record_name(table_name: str) -> str:
    """The full name of a table's record; characters that Avro does not take become underscores."""
    clean = re.sub(r"[^A-Za-z0-9_]", "_", re.sub(r"^[^A-Za-z_]", "_", table_name))
    return f"hoodie.{clean}.{clean}_record"


def columns_of_avro(record: Mapping[str, Any]) -> tuple[InternalField, ...]:
    """The columns of a record; ids count the fields of a record before what lies inside them, from 0.

    Raises:
        UnsupportedFeature: a union of several types.
        HudiError: SCHEMA_INCOMPATIBLE for a column that holds nothing but null.

    Clauses: DM-020.

    """
    return _Columns().fields(record, "")


def avro_of_columns(columns: Sequence[InternalField], name: str) -> dict[str, Any]:
    """The record of columns, under a full name.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a name that Avro does not take.

    Clauses: DM-003.

    """
    return _record(columns, name)


def fixed_size(precision: int) -> int:
    """The least bytes that hold every decimal of so many digits."""
    greatest: int = 10**precision - 1
    return (greatest.bit_length() + 8) // 8


@dataclass(slots=True)
class _Columns:
    """Counts ids, and knows the named types so far."""

    next_id: int = 0
    named: dict[str, Any] = field(default_factory=dict)

    def take(self, count: int) -> int:
        first = self.next_id
        self.next_id += count
        return first

    def fields(self, record: Mapping[str, Any], namespace: str) -> tuple[InternalField, ...]:
        _, inner = full_name(record, namespace)
        first = self.take(len(record["fields"]))
        return tuple(self._field(first + place, one, inner) for place, one in enumerate(record["fields"]))

    def _field(self, column_id: int, one: Mapping[str, Any], namespace: str) -> InternalField:
        kind, optional = self.type_of(one["type"], namespace, str(one["name"]))
        return InternalField(column_id, str(one["name"]), optional, kind, one.get("doc"))

    def type_of(self, schema: Any, namespace: str, place: str) -> tuple[ColumnType, bool]:
        if isinstance(schema, list):
            values = [branch for branch in schema if branch != "null"]
            if len(values) > 1:
                raise UnsupportedFeature("union-type", f"column {place!r}")
            if values:
                return self.type_of(values[0], namespace, place)[0], len(values) < len(schema)
            schema = "null"
        if schema == "null":
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, f"column {place!r} has type null", hint=_NULL_HINT)
        if isinstance(schema, str):
            return self._by_name(schema, namespace, place), False
        if not isinstance(schema["type"], str):
            return self.type_of(schema["type"], namespace, place)
        return self._complex(schema, namespace, place), False

    def _by_name(self, name: str, namespace: str, place: str) -> ColumnType:
        if name in _PLAIN:
            return PrimitiveType(_PLAIN[name])
        qualified = name if "." in name or not namespace else f"{namespace}.{name}"
        known = self.named[qualified] if qualified in self.named else self.named[name]
        return self._complex(known, full_name(known, namespace)[1], place)

    def _complex(self, schema: Mapping[str, Any], namespace: str, place: str) -> ColumnType:
        kind = schema["type"]
        if kind == "array":
            element_id = self.take(1)
            element, optional = self.type_of(schema["items"], namespace, f"{place}.element")
            return ArrayType(element_id, element, optional)
        if kind == "map":
            key_id = self.take(2)
            value, optional = self.type_of(schema["values"], namespace, f"{place}.value")
            return MapType(key_id, PrimitiveType("string"), key_id + 1, value, optional)
        if kind in ("record", "error", "enum", "fixed"):
            self.named[full_name(schema, namespace)[0]] = {**schema, "name": full_name(schema, namespace)[0]}
        if kind in ("record", "error"):
            return RecordType(self.fields(schema, namespace))
        return _primitive(schema, kind)


_NULL_HINT: Final = "give the column a type, or leave it out"


def _primitive(schema: Mapping[str, Any], kind: str) -> PrimitiveType:
    if kind in ("bytes", "fixed") and is_decimal(schema):
        digits = schema["precision"], schema.get("scale", 0)
        return (
            PrimitiveType("decimal_bytes", *digits)
            if kind == "bytes"
            else PrimitiveType("decimal_fixed", *digits, schema["size"])
        )
    if kind == "fixed":
        return PrimitiveType("fixed", size=schema["size"])
    if kind == "enum":
        return PrimitiveType("string")
    logical = schema.get("logicalType")
    return PrimitiveType(_LOGICAL.get((kind, str(logical)), _PLAIN.get(kind, kind)))


def _record(columns: Sequence[InternalField], name: str) -> dict[str, Any]:
    namespace, _, last = name.rpartition(".")
    return {
        "type": "record",
        "name": last,
        "namespace": namespace,
        "fields": [_field(column, name) for column in columns],
    }


def _field(column: InternalField, path: str) -> dict[str, Any]:
    if not _AVRO_NAME.fullmatch(column.name):
        hint = "begin with a letter or underscore, go on with letters, digits and underscores"
        message = f"Avro takes no column named {column.name!r}"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint=hint)
    kind = _type(column.type, f"{path}.{column.name}")
    doc = {} if column.doc is None else {"doc": column.doc}
    if not column.optional:
        return {"name": column.name, "type": kind, **doc}
    return {"name": column.name, "type": ["null", kind], **doc, "default": None}


def _type(kind: ColumnType, path: str) -> Any:
    if isinstance(kind, RecordType):
        return _record(kind.fields, path)
    if isinstance(kind, ArrayType):
        return {"type": "array", "items": _optional(_type(kind.element, path), kind.element_optional)}
    if isinstance(kind, MapType):
        return {"type": "map", "values": _optional(_type(kind.value, path), kind.value_optional)}
    return _avro_primitive(kind, path)


def _optional(kind: Any, optional: bool) -> Any:
    return ["null", kind] if optional else kind


def _avro_primitive(kind: PrimitiveType, path: str) -> Any:
    digits = {"logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
    if kind.name == "decimal_bytes":
        return {"type": "bytes", **digits}
    fixed = {"type": "fixed", "name": "fixed", "namespace": path}
    if kind.name in DECIMALS:
        return {**fixed, "size": kind.size or fixed_size(kind.precision or 1), **digits}
    if kind.name == "fixed":
        return {**fixed, "size": kind.size}
    if kind.name == "vector":
        raise UnsupportedFeature("logical-type-vector")
    if kind.name in _PHYSICAL:
        physical, logical = _PHYSICAL[kind.name]
        return {"type": physical, "logicalType": logical}
    return "bytes" if kind.name == "binary" else kind.name
