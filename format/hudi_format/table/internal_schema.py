"""Schemas whose columns have ids, so that a renamed column keeps its values (schema-on-read).

text     {"max_column_id":9,"version_id":20250101000000000,"type":"record","fields":[
         {"id":5,"name":"a","optional":true,"type":"int","doc":"…"}]}
history  {"schemas":[newest, …, oldest]}   in .hoodie/.schema/*.schemacommit
current  the text alone, as `latest_schema` of a commit's extra metadata
types    a name, {"type":"record","fields":[…]}, {"type":"array",…}, {"type":"map",…}
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hudi_format.errors import FormatError, Reason, refusing

LATEST_SCHEMA_KEY: Final = "latest_schema"
MAXIMUM_BYTES: Final = 64 * 1024 * 1024
# Deeper nesting than any column has, and far from what a reader's own stack could not hold.
MAXIMUM_DEPTH: Final = 64

_CLAUSE: Final = "DM-020"
_MAXIMUM_ID: Final = 2**31 - 1
_PLAIN_NAMES: Final = frozenset(
    {
        "boolean",
        "int",
        "long",
        "float",
        "double",
        "date",
        "time",
        "time-millis",
        "timestamp",
        "timestamp-millis",
        "local-timestamp-millis",
        "local-timestamp-micros",
        "string",
        "uuid",
        "binary",
    }
)
_FIXED = re.compile(r"fixed\[(?P<size>[0-9]{1,9})\]")
_DECIMAL = re.compile(
    r"(?P<name>decimal|decimal_bytes|decimal_fixed)\((?P<precision>[0-9]{1,9}),\s*(?P<scale>[0-9]{1,9})\)"
    r"(?:\[(?P<size>[0-9]{1,9})\])?"
)
_VECTOR = re.compile(r"vector\[(?P<size>[0-9]{1,9}), (?P<element>[A-Za-z0-9]+), (?P<backing>[A-Za-z0-9_]+)\]")


@dataclass(frozen=True, slots=True)
class PrimitiveType:
    """A type without columns of its own.

    `name` is its word in the text; decimals have precision and scale, `fixed`, `decimal_fixed` and `vector` a size.
    `timestamp` and `time` count microseconds. A vector names its element and how it is stored.
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    size: int | None = None
    element: str | None = None
    backing: str | None = None

    def __str__(self) -> str:
        if self.name == "vector":
            return f"vector[{self.size}, {self.element}, {self.backing}]"
        digits = "" if self.precision is None else f"({self.precision}, {self.scale})"
        return f"{self.name}{digits}{'' if self.size is None else f'[{self.size}]'}"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A list; its element has an id of its own."""

    element_id: int
    element: "ColumnType"
    element_optional: bool = True


@dataclass(frozen=True, slots=True)
class MapType:
    """A map; its key and its value have ids of their own."""

    key_id: int
    key: "ColumnType"
    value_id: int
    value: "ColumnType"
    value_optional: bool = True


@dataclass(frozen=True, slots=True)
class RecordType:
    """Columns inside a column."""

    fields: tuple["InternalField", ...]


ColumnType = PrimitiveType | ArrayType | MapType | RecordType


@dataclass(frozen=True, slots=True)
class InternalField:
    """One column: its id stays when its name, type or place changes."""

    id: int
    name: str
    optional: bool
    type: ColumnType
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class InternalSchema:
    """The columns from one commit on.

    `schema_id` is that commit's instant as a number, 0 for the first; `max_column_id` counts every id ever given.
    """

    schema_id: int
    max_column_id: int
    fields: tuple[InternalField, ...]


def parse_internal_schema(text: str | bytes, file: str) -> InternalSchema:
    """The schema of a commit's `latest_schema`.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when it is no such schema; LIMIT_EXCEEDED for a text over 64 MiB.

    Clauses: DM-020.

    """
    return _schema(_load(text, file), file)


def parse_schema_history(data: str | bytes, file: str) -> tuple[InternalSchema, ...]:
    """The schemas of a completed `schemacommit`, oldest first; of equal ids the one written last holds.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE, LIMIT_EXCEEDED.

    Clauses: DM-020.

    """
    loaded = _load(data, file)
    schemas = loaded.get("schemas") if isinstance(loaded, dict) else None
    if not isinstance(schemas, list):
        raise _bad(file, "there is no list of schemas")
    by_id: dict[int, InternalSchema] = {}
    for one in schemas:
        schema = _schema(one, file)
        by_id.setdefault(schema.schema_id, schema)
    return tuple(by_id[schema_id] for schema_id in sorted(by_id))


def schema_at(history: Sequence[InternalSchema], schema_id: int) -> InternalSchema | None:
    """The schema that a file of this instant was written with: the newest that is not newer; None before the first."""
    return max(
        (schema for schema in history if schema.schema_id <= schema_id), key=lambda one: one.schema_id, default=None
    )


def internal_schema_text(schema: InternalSchema) -> str:
    """The text of a schema, as a commit's `latest_schema` has it.

    Clauses: DM-020.
    """
    return _dump(_record_of(schema))


def schema_history_text(history: Sequence[InternalSchema]) -> str:
    """The text of a `schemacommit`, newest first.

    Clauses: DM-020.
    """
    newest_first = sorted(history, key=lambda one: one.schema_id, reverse=True)
    return _dump({"schemas": [_record_of(schema) for schema in newest_first]})


def parse_column_type(text: str, file: str) -> PrimitiveType:
    """A type by its word.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE for a word that is no type.

    """
    word = text.lower()
    if word in _PLAIN_NAMES:
        return PrimitiveType(word)
    if fixed := _FIXED.fullmatch(word):
        return PrimitiveType("fixed", size=int(fixed["size"]))
    if vector := _VECTOR.fullmatch(text):
        return PrimitiveType("vector", size=int(vector["size"]), element=vector["element"], backing=vector["backing"])
    decimal = _DECIMAL.fullmatch(word)
    if decimal is None or (decimal["size"] is None) == (decimal["name"] == "decimal_fixed"):
        raise _bad(file, f"the type {text[:80]!r} is unknown")
    size = None if decimal["size"] is None else int(decimal["size"])
    return PrimitiveType(decimal["name"], int(decimal["precision"]), int(decimal["scale"]), size)


def _load(text: str | bytes, file: str) -> Any:
    if len(text) > MAXIMUM_BYTES:
        raise FormatError(Reason.LIMIT_EXCEEDED, _CLAUSE, file, None, f"{len(text)} bytes of schemas")
    with refusing(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, file, None, "the schemas are no JSON"):
        return json.loads(text)


def _schema(record: Any, file: str) -> InternalSchema:
    """Without an id a schema is the first; without a count the greatest id counts."""
    fields = _fields(record, file, 0)
    schema_id = _number(record, ("version_id", "version-id"), file, 2**63 - 1, default=0)
    found = max((_greatest_id(field) for field in fields), default=-1)
    return InternalSchema(schema_id, _number(record, ("max_column_id",), file, _MAXIMUM_ID, default=found), fields)


def _fields(record: Any, file: str, depth: int) -> tuple[InternalField, ...]:
    if not isinstance(record, Mapping) or record.get("type") != "record" or not isinstance(record.get("fields"), list):
        raise _bad(file, "a record has no fields")
    return tuple(_field(field, file, depth + 1) for field in record["fields"])


def _field(record: Any, file: str, depth: int) -> InternalField:
    if not isinstance(record, Mapping) or not isinstance(record.get("name"), str):
        raise _bad(file, "a field has no name")
    doc = record.get("doc")
    if not (doc is None or isinstance(doc, str)):
        raise _bad(file, f"the doc of {record['name']!r} is no text")
    optional = _flag(record, ("optional",), file)
    column_id = _number(record, ("id",), file)
    return InternalField(column_id, record["name"], optional, _type(record.get("type"), file, depth), doc)


def _type(value: Any, file: str, depth: int) -> ColumnType:
    if depth > MAXIMUM_DEPTH:
        raise _bad(file, f"columns lie deeper than {MAXIMUM_DEPTH} levels")
    if isinstance(value, str):
        return parse_column_type(value, file)
    kind = value.get("type") if isinstance(value, Mapping) else None
    if kind == "record":
        return RecordType(_fields(value, file, depth))
    if kind == "array":
        element_id = _number(value, ("element_id", "element-id"), file)
        optional = _flag(value, ("element_optional",), file)
        return ArrayType(element_id, _type(value.get("element"), file, depth + 1), optional)
    if kind == "map":
        key_id = _number(value, ("key_id", "key-id"), file)
        value_id = _number(value, ("value_id", "value-id"), file)
        key = _type(value.get("key"), file, depth + 1)
        inner = _type(value.get("value"), file, depth + 1)
        return MapType(key_id, key, value_id, inner, _flag(value, ("value_optional",), file))
    raise _bad(file, f"the type {str(value)[:80]!r} is unknown")


def _number(
    record: Mapping[str, Any],
    names: Sequence[str],
    file: str,
    most: int = _MAXIMUM_ID,
    default: int | None = None,
) -> int:
    value = next((record[name] for name in names if name in record), default)
    if type(value) is not int or not -1 <= value <= most:
        raise _bad(file, f"{names[0]} is {str(value)[:40]!r}")
    return value


def _flag(record: Mapping[str, Any], names: Sequence[str], file: str) -> bool:
    value = next((record[name] for name in names if name in record), None)
    if type(value) is not bool:
        raise _bad(file, f"{names[0]} is {str(value)[:40]!r}")
    return value


def _greatest_id(field: InternalField) -> int:
    return max(field.id, _greatest_id_inside(field.type))


def _greatest_id_inside(kind: ColumnType) -> int:
    if isinstance(kind, RecordType):
        return max((_greatest_id(field) for field in kind.fields), default=-1)
    if isinstance(kind, ArrayType):
        return max(kind.element_id, _greatest_id_inside(kind.element))
    if isinstance(kind, MapType):
        return max(kind.key_id, kind.value_id, _greatest_id_inside(kind.key), _greatest_id_inside(kind.value))
    return -1


def _record_of(schema: InternalSchema) -> dict[str, Any]:
    ids = {"max_column_id": schema.max_column_id, "version_id": schema.schema_id}
    return {**ids, **_type_of(RecordType(schema.fields))}


def _type_of(kind: ColumnType) -> Any:
    if isinstance(kind, PrimitiveType):
        return str(kind)
    if isinstance(kind, RecordType):
        return {"type": "record", "fields": [_field_of(field) for field in kind.fields]}
    if isinstance(kind, ArrayType):
        optional = {"element_optional": kind.element_optional}
        return {"type": "array", "element_id": kind.element_id, "element": _type_of(kind.element), **optional}
    key = {"key_id": kind.key_id, "key": _type_of(kind.key)}
    value = {"value_id": kind.value_id, "value": _type_of(kind.value), "value_optional": kind.value_optional}
    return {"type": "map", **key, **value}


def _field_of(field: InternalField) -> dict[str, Any]:
    record = {"id": field.id, "name": field.name, "optional": field.optional, "type": _type_of(field.type)}
    return record if field.doc is None else {**record, "doc": field.doc}


def _dump(record: Any) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def _bad(file: str, message: str) -> FormatError:
    return FormatError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, file, None, message)
