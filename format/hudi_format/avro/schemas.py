"""Avro schemas as they stand inside files: text to a checked, bounded Python form.

A schema in a file is input like any other bytes. Two shapes would let few bytes request endless work, and no
Hudi writer makes them: a type that contains itself, and a list whose items take no bytes.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fastavro.schema import parse_schema

from hudi_format.avro import decimals
from hudi_format.errors import FormatError, Reason, refusing

AvroSchema = Any

MAXIMUM_SCHEMA_BYTES = 4 * 1024 * 1024
MAXIMUM_DEPTH = 64
MAXIMUM_NODES = 100_000
# Values that take no bytes make much of little: a few bytes would become as many rows of all of these.
MAXIMUM_FREE_NODES = 64
# The files of a table carry few schemas, each of them many times.
_SCHEMAS_KEPT = 128

_PRIMITIVE_WIDTHS = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}
_LISTS = {"array": "items", "map": "values"}
_LOGICAL_TYPES_READ_AS_PYTHON = frozenset(
    {
        "decimal",
        "date",
        "time-millis",
        "time-micros",
        "timestamp-millis",
        "timestamp-micros",
        "local-timestamp-millis",
        "local-timestamp-micros",
    }
)


def parse_avro_schema(
    text: str | bytes, file: str, reason: str = Reason.SCHEMA_INCOMPATIBLE, clause: str = "LF-007"
) -> AvroSchema:
    """The schema of an Avro schema text, as JSON values; `clause`: which rule wants one.

    Raises:
        FormatError: `reason` when it is no Avro schema or contains itself; LIMIT_EXCEEDED when it is huge.

    """
    if len(text) > MAXIMUM_SCHEMA_BYTES:
        raise FormatError(Reason.LIMIT_EXCEEDED, clause, file, None, f"an Avro schema of {len(text)} characters")
    try:
        with refusing(reason, clause, file, None, "no Avro schema"):
            _check(text)
            return json.loads(text)
    except _UnboundedError as error:
        raise FormatError(Reason.LIMIT_EXCEEDED, clause, file, None, str(error)) from error


@lru_cache(maxsize=_SCHEMAS_KEPT)
def _check(text: str | bytes) -> None:
    """Whether a text is a schema that is read with bounds; its values belong to who asks, so they are not kept."""
    schema = json.loads(text)
    _Bounds().measure(schema, "", 0)
    parse_schema(schema, named_schemas={})


def record_schema(
    text: str | bytes, file: str, reason: str = Reason.SCHEMA_INCOMPATIBLE, clause: str = "LF-007"
) -> dict[str, Any]:
    """The same for a schema that has to be a record.

    Raises:
        FormatError: as `parse_avro_schema`, and `reason` for any other type.

    """
    schema = parse_avro_schema(text, file, reason, clause)
    if not isinstance(schema, dict) or schema.get("type") not in ("record", "error"):
        raise FormatError(reason, clause, file, None, "the Avro schema is no record")
    return schema


def reading_schema(schema: AvroSchema, keep: frozenset[str] = _LOGICAL_TYPES_READ_AS_PYTHON) -> AvroSchema:
    """A schema for fastavro: logical types that are not in `keep` read as their plain type, decimals exactly."""
    return _readable(schema_text(schema), keep)


@lru_cache(maxsize=_SCHEMAS_KEPT)
def _readable(text: str, keep: frozenset[str]) -> AvroSchema:
    return parse_schema(_with_exact_decimals(_without_logical_types(json.loads(text), keep)), named_schemas={})


def raw_reading_schema(schema: AvroSchema) -> AvroSchema:
    """The same with every logical type but decimal read as its plain type, for Arrow."""
    return reading_schema(schema, frozenset({"decimal"}))


def writing_schema(schema: AvroSchema) -> AvroSchema:
    """A schema for fastavro's writers."""
    return parse_schema(_without_logical_types(schema, _LOGICAL_TYPES_READ_AS_PYTHON), named_schemas={})


def schema_text(schema: AvroSchema) -> str:
    """The schema as compact JSON, keys in the order of the values."""
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def with_names_resolved(schema: AvroSchema) -> AvroSchema:
    """The schema with each name of a type replaced by what it names; the schema has to be a parsed one."""
    return _with_names(schema, "", {})


def full_name(schema: Mapping[str, Any], namespace: str) -> tuple[str, str]:
    """Full name and namespace of a named type within an enclosing namespace."""
    name = str(schema.get("name", ""))
    if "." in name:
        return name, name.rpartition(".")[0]
    inner = str(schema.get("namespace", namespace) or "")
    return (f"{inner}.{name}" if inner else name), inner


def _with_names(schema: AvroSchema, namespace: str, named: dict[str, AvroSchema]) -> AvroSchema:
    if isinstance(schema, list):
        return [_with_names(branch, namespace, named) for branch in schema]
    if isinstance(schema, str):
        qualified = schema if "." in schema or not namespace else f"{namespace}.{schema}"
        return named.get(qualified, named.get(schema, schema))
    name, inner = full_name(schema, namespace) if "name" in schema else ("", namespace)
    resolved = dict(schema)
    if "fields" in schema:
        resolved["fields"] = [{**field, "type": _with_names(field["type"], inner, named)} for field in schema["fields"]]
    for key in {"type", "items", "values"} & set(schema):
        resolved[key] = _with_names(schema[key], namespace, named)
    if name:
        named[name] = resolved
    return resolved


def _without_logical_types(schema: AvroSchema, keep: frozenset[str]) -> AvroSchema:
    if isinstance(schema, list):
        return [_without_logical_types(branch, keep) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {
        key: _without_logical_types(value, keep) if key in ("type", "items", "values") else value
        for key, value in schema.items()
        if key != "logicalType" or value in keep
    }
    if "fields" in copied:
        copied["fields"] = [_without_logical_types(field, keep) for field in copied["fields"]]
    return copied


def _with_exact_decimals(schema: AvroSchema) -> AvroSchema:
    """The same, decimals under the name that is read exactly; only values of the form of schemas are looked at."""
    if isinstance(schema, list):
        return [_with_exact_decimals(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    inner = ("type", "items", "values", "fields")
    copied = {key: _with_exact_decimals(value) if key in inner else value for key, value in schema.items()}
    return copied | ({"logicalType": decimals.LOGICAL_TYPE} if schema.get("logicalType") == "decimal" else {})


class _UnboundedError(Exception):
    """Few bytes of this schema would request too much."""


class _Bounds:
    """Least encoded bytes and number of expanded nodes of a schema; refuses what has no bound."""

    def __init__(self) -> None:
        self._named: dict[str, tuple[int, int] | None] = {}

    def measure(self, schema: AvroSchema, namespace: str, depth: int) -> tuple[int, int]:
        if depth > MAXIMUM_DEPTH:
            raise _UnboundedError(f"the schema nests deeper than {MAXIMUM_DEPTH}")
        if isinstance(schema, str):
            width, nodes = self._of_name(schema, namespace)
        elif isinstance(schema, list):
            width, nodes = 1, sum(self.measure(branch, namespace, depth + 1)[1] for branch in schema) + 1
        else:
            width, nodes = self._of_complex(schema, namespace, depth)
        if nodes > MAXIMUM_NODES:
            raise _UnboundedError(f"the schema expands to more than {MAXIMUM_NODES} types")
        return width, nodes

    def _of_name(self, name: str, namespace: str) -> tuple[int, int]:
        if name in _PRIMITIVE_WIDTHS:
            return _PRIMITIVE_WIDTHS[name], 1
        qualified = name if "." in name or not namespace else f"{namespace}.{name}"
        found = self._named[qualified] if qualified in self._named else self._named.get(name, (1, 1))
        if found is None:
            raise ValueError(f"the type {name} contains itself")
        return found

    def _of_complex(self, schema: Any, namespace: str, depth: int) -> tuple[int, int]:
        kind = schema["type"]
        if kind in ("record", "error"):
            return self._of_record(schema, namespace, depth)
        if kind in ("enum", "fixed"):
            name, _ = full_name(schema, namespace)
            self._named[name] = (1 if kind == "enum" else max(int(schema["size"]), 0), 1)
            return self._named[name] or (1, 1)
        if isinstance(kind, str) and kind in _LISTS:
            return self._of_list(schema[_LISTS[kind]], kind, namespace, depth)
        return self.measure(kind, namespace, depth + 1)

    def _of_record(self, schema: Any, namespace: str, depth: int) -> tuple[int, int]:
        name, inner = full_name(schema, namespace)
        self._named[name] = None
        names = [field["name"] for field in schema["fields"]]
        for one in names:
            if names.count(one) > 1:
                raise ValueError(f"two fields of {name} have the name {one}")
        measured = [self.measure(field["type"], inner, depth + 1) for field in schema["fields"]]
        total = (sum(width for width, _ in measured), sum(nodes for _, nodes in measured) + 1)
        if sum(nodes for width, nodes in measured if not width) > MAXIMUM_FREE_NODES:
            raise _UnboundedError(f"more than {MAXIMUM_FREE_NODES} types of {name} take no bytes")
        self._named[name] = total
        return total

    def _of_list(self, items: AvroSchema, kind: str, namespace: str, depth: int) -> tuple[int, int]:
        width, nodes = self.measure(items, namespace, depth + 1)
        if width == 0 and kind == "array":
            raise _UnboundedError("the items of an array take no bytes")
        return 1, nodes + 1
