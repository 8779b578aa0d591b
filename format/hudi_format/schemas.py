"""Avro schemas as Arrow schemas, and the meta fields that precede a table's columns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from hudi_format.avro.schemas import AvroSchema, full_name, parse_avro_schema, record_schema, schema_text
from hudi_format.errors import FormatError, Reason, UnsupportedFormat, refusing

META_FIELDS: Final = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)
OPERATION_FIELD: Final = "_hoodie_operation"

_MAXIMUM_PRECISION = 76
_DECIMAL128_PRECISION = 38

_PLAIN: Mapping[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
}
_LOGICAL: Mapping[tuple[str, str], pa.DataType] = {
    ("int", "date"): pa.date32(),
    ("int", "time-millis"): pa.time32("ms"),
    ("long", "time-micros"): pa.time64("us"),
    ("long", "timestamp-millis"): pa.timestamp("ms", tz="UTC"),
    ("long", "timestamp-micros"): pa.timestamp("us", tz="UTC"),
    ("long", "local-timestamp-millis"): pa.timestamp("ms"),
    ("long", "local-timestamp-micros"): pa.timestamp("us"),
}
# The last three are of 1.2.0: records of parts, and numbers packed into a fixed type.
_UNSUPPORTED_LOGICAL = frozenset({"duration", "timestamp-nanos", "local-timestamp-nanos", "variant", "blob", "vector"})


def arrow_schema(avro: AvroSchema | str, file: str = "schema") -> pa.Schema:
    """The Arrow schema of an Avro record schema; instants are UTC timestamps, local ones have no zone.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when it is no record schema.
        UnsupportedFormat: a type with no column form: unions of several types, durations, nanoseconds,
            variants, blobs, vectors.

    """
    parsed = record_schema(avro if isinstance(avro, str) else schema_text(avro), file)
    with refusing(Reason.SCHEMA_INCOMPATIBLE, "LF-007", file, None, "the schema has no column form"):
        return pa.schema(_ArrowTypes(file).fields(parsed, ""))


def with_meta_fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A record schema with the five meta fields first, each nullable text.

    Clauses: BF-001.
    """
    fields = [{"name": name, "type": ["null", "string"], "doc": "", "default": None} for name in META_FIELDS]
    return {**schema, "fields": fields + without_meta_fields(schema)["fields"]}


def without_meta_fields(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A record schema without meta fields, which some writers store in the commit metadata."""
    return {**schema, "fields": [field for field in schema["fields"] if field["name"] not in META_FIELDS]}


def is_decimal(schema: Mapping[str, Any]) -> bool:
    """Whether a bytes or fixed type is a decimal; one with senseless digits is read as its plain type."""
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if schema.get("logicalType") != "decimal" or type(precision) is not int or type(scale) is not int:
        return False
    return 0 <= scale <= precision and precision > 0


class _ArrowTypes:
    """Types of one schema; named types are resolved as they appear."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._named: dict[str, pa.DataType] = {}

    def fields(self, record: Mapping[str, Any], namespace: str) -> list[pa.Field]:
        _, inner = full_name(record, namespace)
        fields = []
        for field in record["fields"]:
            kind, nullable = self.type_of(field["type"], inner)
            fields.append(pa.field(field["name"], kind, nullable=nullable or kind == pa.null()))
        return fields

    def type_of(self, schema: AvroSchema, namespace: str) -> tuple[pa.DataType, bool]:
        """Arrow type and nullability."""
        if isinstance(schema, list):
            return self._union(schema, namespace)
        if isinstance(schema, str):
            return self._by_name(schema, namespace), schema == "null"
        if not isinstance(schema["type"], str):
            return self.type_of(schema["type"], namespace)
        return self._complex(schema, schema["type"], namespace), False

    def _union(self, branches: Sequence[AvroSchema], namespace: str) -> tuple[pa.DataType, bool]:
        values = [branch for branch in branches if branch != "null"]
        if not values:
            return pa.null(), True
        if len(values) > 1:
            raise UnsupportedFormat("union-type", self._file)
        kind, _ = self.type_of(values[0], namespace)
        return kind, len(values) < len(branches)

    def _by_name(self, name: str, namespace: str) -> pa.DataType:
        if name in _PLAIN:
            return _PLAIN[name]
        qualified = name if "." in name or not namespace else f"{namespace}.{name}"
        return self._named[qualified] if qualified in self._named else self._named[name]

    def _complex(self, schema: Mapping[str, Any], kind: str, namespace: str) -> pa.DataType:
        if kind == "array":
            item, nullable = self.type_of(schema["items"], namespace)
            return pa.list_(pa.field("element", item, nullable=nullable))
        if kind == "map":
            value, nullable = self.type_of(schema["values"], namespace)
            return pa.map_(pa.string(), pa.field("value", value, nullable=nullable))
        if kind in ("record", "error", "enum", "fixed"):
            return self._remember(schema, kind, namespace)
        return self._primitive(schema, kind, namespace)

    def _remember(self, schema: Mapping[str, Any], kind: str, namespace: str) -> pa.DataType:
        name, _ = full_name(schema, namespace)
        self._refuse_unsupported(schema)
        if kind == "fixed":
            arrow = self._decimal(schema) if is_decimal(schema) else pa.binary()
        else:
            arrow = pa.string() if kind == "enum" else pa.struct(self.fields(schema, namespace))
        self._named[name] = arrow
        return arrow

    def _primitive(self, schema: Mapping[str, Any], kind: str, namespace: str) -> pa.DataType:
        self._refuse_unsupported(schema)
        if kind == "bytes" and is_decimal(schema):
            return self._decimal(schema)
        logical = schema.get("logicalType")
        found = _LOGICAL.get((kind, logical)) if isinstance(logical, str) else None
        return self._by_name(kind, namespace) if found is None else found

    def _decimal(self, schema: Mapping[str, Any]) -> pa.DataType:
        precision, scale = schema["precision"], schema.get("scale", 0)
        if precision > _MAXIMUM_PRECISION:
            message = f"a decimal of {precision} digits: at most {_MAXIMUM_PRECISION} can be read"
            raise FormatError(Reason.SCHEMA_INCOMPATIBLE, "LF-007", self._file, None, message)
        return (
            pa.decimal128(precision, scale) if precision <= _DECIMAL128_PRECISION else pa.decimal256(precision, scale)
        )

    def _refuse_unsupported(self, schema: Mapping[str, Any]) -> None:
        logical = schema.get("logicalType")
        name = logical.partition("(")[0] if isinstance(logical, str) else ""
        if name in _UNSUPPORTED_LOGICAL:
            raise UnsupportedFormat(f"logical-type-{name}", self._file)


__all__ = [
    "META_FIELDS",
    "OPERATION_FIELD",
    "arrow_schema",
    "is_decimal",
    "parse_avro_schema",
    "with_meta_fields",
    "without_meta_fields",
]
