"""The columns that a table states in its commits: ids, Avro types, and the types that they may take next.

A record is named by its path: `s` inside table `t` is `hoodie.t.t_record.s`, a decimal column `d` in it the fixed type
`hoodie.t.t_record.s.d.fixed`. Lists and maps add nothing to a path. Null stands first in a union, as the default.

taken      the table's type stays: values of the rows' type become it (an int in a column of longs, a number as text)
widened    the rows' type becomes the table's: older values are read as it (a long for a column of ints)
refused    neither

1.1.1 widens unasked, and where older values change; here a write has to request it, and only what loses nothing is
widened (`loses_nothing`).

Where 1.1.1 compares only how values are stored, and so takes days for numbers or one scale for another, it is refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
from hudi_format.avro.schemas import MAXIMUM_DEPTH, full_name
from hudi_format.schemas import is_decimal
from hudi_format.table.internal_schema import ArrayType, ColumnType, InternalField, MapType, PrimitiveType, RecordType

from hudi_spark.errors import HudiError, Reason, UnsupportedFeature

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


NOTHING: Final = PrimitiveType("null")
"""The type of a column of nulls: any type that the table has, none of its own."""

_MAXIMUM_PRECISION: Final = 38
_UNSIGNED_LONG: Final = pa.decimal128(20, 0)
_NO_ID: Final = -1


def columns_of_arrow(fields: Iterable[pa.Field]) -> tuple[InternalField, ...]:
    """The columns that rows bring; without ids.

    Integers of up to 32 bits are ints, unsigned ones the next wider type (64 bits: 20 digits), texts and bytes of any
    width plain ones, times of day and instants count microseconds; instants with a zone are in UTC.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a type that a table cannot hold, with the column's name.

    Clauses: DM-003, DM-004.

    """
    return tuple(
        InternalField(_NO_ID, field.name, field.nullable, _type_of_arrow(field.type, field.name)) for field in fields
    )


def plain(kind: pa.DataType) -> pa.DataType:
    """What a dictionary, run lengths or an extension encode; other types are themselves."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return plain(kind.storage_type)
    return kind


def is_listed(kind: pa.DataType) -> bool:
    """Whether values are lists, of whichever layout."""
    layouts = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    return any(belongs(kind) for belongs in layouts)


def _type_of_arrow(kind: pa.DataType, place: str) -> ColumnType:
    kind = plain(kind)
    if place.count(".") >= MAXIMUM_DEPTH:
        raise _refused(place, kind, f"nest at most {MAXIMUM_DEPTH} deep")
    if pa.types.is_struct(kind):
        if not kind.num_fields:
            raise _refused(place, kind, "give the struct a field")
        inner = (
            InternalField(_NO_ID, one.name, one.nullable, _type_of_arrow(one.type, f"{place}.{one.name}"))
            for one in kind
        )
        return RecordType(tuple(inner))
    if is_listed(kind):
        return ArrayType(_NO_ID, _type_of_arrow(kind.value_type, f"{place}.element"), kind.value_field.nullable)
    if pa.types.is_map(kind):
        return _map(kind, place)
    return _primitive_of_arrow(kind, place)


def _map(kind: pa.MapType, place: str) -> MapType:
    key = _type_of_arrow(kind.key_type, f"{place}.key")
    if key != PrimitiveType("string"):
        raise _refused(f"{place}.key", kind.key_type, "keys of maps are texts: cast them")
    return MapType(_NO_ID, key, _NO_ID, _type_of_arrow(kind.item_type, f"{place}.value"), kind.item_field.nullable)


def _primitive_of_arrow(kind: pa.DataType, place: str) -> PrimitiveType:
    if pa.types.is_decimal(kind):
        return _decimal(kind, place)
    if pa.types.is_timestamp(kind):
        return PrimitiveType("local-timestamp-micros" if kind.tz is None else "timestamp")
    if pa.types.is_time(kind):
        return PrimitiveType("time")
    if pa.types.is_uint64(kind):
        return _decimal(_UNSIGNED_LONG, place)
    for belongs, name in _NAMES:
        if belongs(kind):
            return PrimitiveType(name)
    raise _refused(place, kind, "cast it to a type that Avro has")


def _decimal(kind: pa.DataType, place: str) -> PrimitiveType:
    if kind.precision > _MAXIMUM_PRECISION or not 0 <= kind.scale <= kind.precision:
        raise _refused(place, kind, f"at most {_MAXIMUM_PRECISION} digits, none of them left out")
    return PrimitiveType("decimal_fixed", kind.precision, kind.scale, fixed_size(kind.precision))


def _refused(place: str, kind: pa.DataType, hint: str) -> HudiError:
    message = f"column {place[:100]!r} is {str(kind)[:100]}, which a table cannot hold"
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint=hint)


def _is_int(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) and (kind.bit_width < 32 or pa.types.is_int32(kind)))


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of Arrow holds text, in whatever form."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    widths = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(belongs(kind) for belongs in widths)


_NAMES: Final = (
    (pa.types.is_null, NOTHING.name),
    (pa.types.is_boolean, "boolean"),
    (_is_int, "int"),
    (pa.types.is_integer, "long"),
    (pa.types.is_float16, "float"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_date, "date"),
    (is_text, "string"),
    (_is_binary, "binary"),
)


_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    "int": frozenset({"long", "float", "double", "string", "decimal", "decimal_fixed"}),
    "long": frozenset({"float", "double", "string", "decimal", "decimal_fixed"}),
    "float": frozenset({"double", "string", "decimal", "decimal_fixed"}),
    "double": frozenset({"string", "decimal", "decimal_fixed"}),
    "date": frozenset({"string"}),
    "binary": frozenset({"string"}),
    "string": frozenset({"date", "binary", "decimal", "decimal_fixed"}),
    "decimal": frozenset({"string"}),
    "decimal_fixed": frozenset({"string"}),
    "decimal_bytes": frozenset({"string"}),
}
_WIDENED: Final[Mapping[str, frozenset[str]]] = {
    "int": frozenset({"long", "float", "double", "string"}),
    "long": frozenset({"float", "double", "string"}),
    "float": frozenset({"double", "string"}),
    "double": frozenset({"string"}),
}
# Of these types every value is one of the other, and is got back from it.
_LOSSLESS: Final[Mapping[str, frozenset[str]]] = {
    "int": frozenset({"long", "double", "string"}),
    "long": frozenset({"string"}),
    "float": frozenset({"double", "string"}),
    "double": frozenset({"string"}),
}
_NUMBERS: Final = frozenset({"int", "long", "float", "double", *DECIMALS})
# The same values, another unit or another way to store them.
_SAME: Final = (
    frozenset({"timestamp", "timestamp-millis"}),
    frozenset({"local-timestamp-micros", "local-timestamp-millis"}),
    frozenset({"time", "time-millis"}),
    frozenset({"string", "uuid"}),
    frozenset({"binary", "fixed"}),
)


def may_become(found: PrimitiveType, wanted: PrimitiveType) -> bool:
    """Whether a column of one type may be given the other: by a change of the schema, or value by value in a write.

    Clauses: DM-021.
    """
    if found == wanted:
        return True
    if found.name in DECIMALS and wanted.name in DECIMALS:
        fits = wanted.name == "decimal_bytes" or found.name == "decimal_bytes" or _size(found) <= _size(wanted)
        return fits and _holds(wanted, found)
    return wanted.name in _TAKEN.get(found.name, ())


def met(table: PrimitiveType, rows: PrimitiveType) -> PrimitiveType | None:
    """The type of a column of the table when rows bring another; None when they must be refused.

    Clauses: DM-003, DM-004.
    """
    if table == rows or rows.name == "null" or any({table.name, rows.name} <= same for same in _SAME):
        return table
    if may_become(rows, table) or (
        table.name in DECIMALS and rows.name in DECIMALS and _digits(table) == _digits(rows)
    ):
        return table
    return rows if _widens(table, rows) else None


def loses_nothing(table: PrimitiveType, wider: PrimitiveType) -> bool:
    """Whether every value of a column is kept when the column gets the wider type that rows bring.

    Clauses: DM-005.
    """
    if table.name in DECIMALS and wider.name in DECIMALS:
        return _holds(wider, table)
    return wider.name in _LOSSLESS.get(table.name, ())


def reorders(table: PrimitiveType, rows: PrimitiveType) -> bool:
    """Whether values have another order once they are the table's: numbers as text, of which "9" follows "10".

    Clauses: DM-005.
    """
    return table.name == "string" and rows.name in _NUMBERS


def kept(table: PrimitiveType, rows: PrimitiveType) -> PrimitiveType | None:
    """The same when the table's schema is to stay: wider rows are narrowed, value by value, where none is lost.

    Clauses: DM-003, DM-004.
    """
    return table if _widens(table, rows) else met(table, rows)


def _widens(table: PrimitiveType, rows: PrimitiveType) -> bool:
    if table.name in DECIMALS and rows.name in DECIMALS:
        return "decimal_bytes" not in (table.name, rows.name) and _size(table) == _size(rows) and _holds(rows, table)
    return rows.name in _WIDENED.get(table.name, ())


def _holds(wanted: PrimitiveType, found: PrimitiveType) -> bool:
    (more, scale), (digits, fewer) = _digits(wanted), _digits(found)
    return scale >= fewer and more - scale >= digits - fewer


def _digits(kind: PrimitiveType) -> tuple[int, int]:
    return kind.precision or 1, kind.scale or 0


def _size(kind: PrimitiveType) -> int:
    return kind.size or fixed_size(kind.precision or 1)
