"""The schema that a write uses, and its rows cast to it without loss.

given       the rows' schema in Arrow, the table's in Avro, the options
decided     once, before anything is written: columns kept, added, widened, or the whole write refused
done        by every task for its own rows: cast, nulls for what is missing, the schema's order
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.avro.schemas import schema_text
from hudi_format.errors import FormatError
from hudi_format.errors import Reason as FormatReason
from hudi_format.schemas import META_FIELDS, arrow_schema, without_meta_fields
from hudi_format.storage import Storage
from hudi_format.table.internal_schema import InternalField

from hudi_spark.errors import HudiError, Reason, typed_errors
from hudi_spark.options import Options
from hudi_spark.schema.column_types import (
    avro_of_columns,
    columns_of_arrow,
    columns_of_avro,
    is_listed,
    is_text,
    kept,
    met,
    plain,
    record_name,
)
from hudi_spark.schema.columns import promoted
from hudi_spark.schema.evolution import EVOLVES, Missing, Reconciling, described_changes, refuse_doubles, refuse_nothing
from hudi_spark.table_state import FileSlice, Snapshot, TableConfiguration

_CLAUSE = "DM-004"
# Tags of rows stand beside their columns.
_WORKING_PREFIX: Final = "_tag_"
_FAILURES = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError)


def brought(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows in the columns of a schema: cast, in its order, null where they lack a column.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that the column cannot hold, a null in a required one.

    Clauses: DM-004.

    """
    columns = [_column(rows, field) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    index = rows.schema.get_field_index(field.name)
    if index < 0:
        column = pa.chunked_array([pa.nulls(rows.num_rows, field.type)], field.type)
    elif rows.column(index).type == field.type and not _requires(field.type):
        column = rows.column(index)
    else:
        chunks = [_array(chunk, field.type, field.name) for chunk in rows.column(index).chunks]
        column = pa.chunked_array(chunks, field.type)
    if not field.nullable and column.null_count:
        raise _null(field.name)
    return column


def _array(array: pa.Array, wanted: pa.DataType, place: str) -> pa.Array:
    array = _plain_values(array)
    if array.type == wanted and not _requires(wanted):
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    whole = pa.concat_arrays([array, array.slice(0, 0)]) if array.offset else array
    if pa.types.is_struct(array.type) and pa.types.is_struct(wanted):
        return _struct(whole, wanted, place)
    if is_listed(array.type) and pa.types.is_list(wanted):
        return _list(whole, wanted, place)
    if pa.types.is_map(array.type) and pa.types.is_map(wanted):
        return _map(whole, wanted, place)
    return _leaf(array, wanted, place)


def _requires(kind: pa.DataType) -> bool:
    """Whether a field inside of a type may not be null: Arrow lets rows state it, and does not look at the values."""
    if pa.types.is_map(kind):
        return not kind.item_field.nullable or _requires(kind.item_type)
    inner = [kind.field(number) for number in range(kind.num_fields)]
    return any(not one.nullable or _requires(one.type) for one in inner)


def _plain_values(array: pa.Array) -> pa.Array:
    """The values themselves of a dictionary, of run lengths, of an extension type."""
    while array.type != plain(array.type):
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            array = array.storage
    return array


def _struct(array: pa.StructArray, wanted: pa.StructType, place: str) -> pa.Array:
    # Flattened, a part is null wherever its struct is.
    held = dict(zip([field.name for field in array.type], array.flatten(), strict=True))
    parts = [_part(array, held.get(field.name), field, f"{place}.{field.name}") for field in wanted]
    return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=array.is_null())


def _part(array: pa.StructArray, held: pa.Array | None, wanted: pa.Field, place: str) -> pa.Array:
    part = pa.nulls(len(array), wanted.type) if held is None else _array(held, wanted.type, place)
    if wanted.nullable:
        return part
    if pc.any(pc.and_not(part.is_null(), array.is_null())).as_py():
        raise _null(place)
    return _filled(part)


def _filled(part: pa.Array) -> pa.Array:
    """Some value where the struct is null: Parquet takes no null of a required field, whatever the field lies in."""
    if not part.null_count:
        return part
    places = pc.if_else(part.is_null(), pa.scalar(len(part)), pa.arange(0, len(part)))
    return pa.concat_arrays([part, pa.array([_some_value(part.type)], part.type)]).take(places)


def _some_value(kind: pa.DataType) -> Any:
    if pa.types.is_struct(kind):
        return {one.name: None if one.nullable else _some_value(one.type) for one in kind}
    if pa.types.is_fixed_size_list(kind):
        return [_some_value(kind.value_type)] * kind.list_size
    if pa.types.is_nested(kind):
        return []
    if pa.types.is_fixed_size_binary(kind):
        return bytes(kind.byte_width)
    plain_kinds = ((is_text, ""), (pa.types.is_binary, b""), (pa.types.is_boolean, False))
    return next((value for belongs, value in plain_kinds if belongs(kind)), 0)


def _list(array: pa.Array, wanted: pa.ListType, place: str) -> pa.Array:
    # One layout of lists for all: what the lists hold, one after the other, and how much each of them holds.
    held = array.flatten()
    values = _array(held, wanted.value_type, f"{place}.element")
    _refuse_nulls(held, wanted.value_field, f"{place}.element")
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values, type=wanted, mask=array.is_null())


def _map(array: pa.MapArray, wanted: pa.MapType, place: str) -> pa.Array:
    keys = _array(array.keys, wanted.key_type, f"{place}.key")
    items = _array(array.items, wanted.item_type, f"{place}.value")
    _refuse_nulls(items, wanted.item_field, f"{place}.value")
    return pa.MapArray.from_arrays(array.offsets, keys, items, type=wanted, mask=array.is_null())


def _refuse_nulls(values: pa.Array, wanted: pa.Field, place: str) -> None:
    if not wanted.nullable and values.null_count:
        raise _null(place)


def _leaf(array: pa.Array, wanted: pa.DataType, place: str) -> pa.Array:
    try:
        return _cast(array, wanted)
    except _FAILURES as error:
        message = f"column {place!r} has a value of {array.type} that {wanted} cannot hold: {error}"
        hint = f"cast the column to {wanted} as you want it rounded, or widen the table's column first"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint=hint) from error


def _cast(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    found = array.type
    for holds, way in _WAYS:
        if holds(found, wanted):
            return way(array, wanted)
    return pc.cast(array, wanted)


def _through_text(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """A number's shortest digits as a decimal; Arrow refuses digits that the decimal has no place for."""
    return array.cast(pa.string()).cast(wanted)


def _as_promoted(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """As an older file's values are read in the table's newer type."""
    other = promoted(array, wanted)
    return pc.cast(array, wanted) if other is None else other


def _of_whole_days(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    days = array.cast(wanted)
    if not days.cast(array.type).equals(array):
        raise pa.ArrowInvalid("a time of day would be lost")
    return days


_WAYS: tuple[tuple[Callable[[pa.DataType, pa.DataType], bool], Callable[[pa.Array, pa.DataType], pa.Array]], ...] = (
    (lambda found, wanted: pa.types.is_decimal(wanted) and not pa.types.is_decimal(found), _through_text),
    (lambda found, wanted: pa.types.is_string(wanted) and not is_text(found), _as_promoted),
    (lambda found, wanted: pa.types.is_date(wanted) and is_text(found), _as_promoted),
    # A float's shortest digits, as releases write it: 0.1 stays 0.1.
    (lambda found, wanted: pa.types.is_float32(found) and pa.types.is_float64(wanted), _as_promoted),
    (lambda found, _: pa.types.is_date64(found), _of_whole_days),
)


def _null(place: str) -> HudiError:
    message = f"column {place!r} is required, and a row has none"
    return HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint="fill the column")


_RECONCILE: Final = "hoodie.datasource.write.reconcile.schema"
_NULL_FOR_MISSING: Final = "hoodie.write.set.null.for.missing.columns"
_DROP_MISSING: Final = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"


@dataclass(frozen=True, slots=True)
class WriterSchema:
    """The schema of one write, twice: as its commit states it, without meta fields, and as the columns of its rows.

    `arrow` has the nullability of `avro`: a required column is not nullable.

    Clauses: DM-003.
    """

    avro: Mapping[str, Any]
    arrow: pa.Schema

    @property
    def text(self) -> str:
        """The Avro schema as it stands in a commit."""
        return schema_text(self.avro)


def avro_of_arrow(schema: pa.Schema, table_name: str) -> dict[str, Any]:
    """The Avro record of rows of a new table: `<table>_record` in the namespace `hoodie.<table>`, without meta fields.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a type or name that Avro cannot hold, for two columns of one name.

    Clauses: DM-003.

    """
    columns = _data_columns(schema)
    refuse_doubles(columns)
    return avro_of_columns([refuse_nothing(column) for column in columns], record_name(table_name))


@dataclass(frozen=True, slots=True)
class FixedFields:
    """The fields of a table whose types no write changes: those of keys and partition paths, and those of ordering."""

    places: Collection[str] = ()
    ordering: Collection[str] = ()


def writer_schema(
    table: Mapping[str, Any] | None,
    incoming: pa.Schema,
    table_name: str,
    options: Options,
    fixed: FixedFields = FixedFields(),
    *,
    partial: bool = False,
) -> WriterSchema:
    """The schema that a write of rows uses, when the table's is `table` (None: it has none yet).

    The table's columns stay in their order and their types, nullable where the rows' are; new columns follow and must
    be nullable. A column of a wider type is refused, unless `hoodie.schema.on.read.enable` lets the table's have it and
    no value changes by that. A column that the rows lack is refused, unless the options fill it with nulls or drop
    it. With `hoodie.datasource.write.reconcile.schema` the table keeps its columns and types, and new ones follow.
    `partial`: rows state only some columns, as of a partial update; the others stay as they are.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE with the column, both types and what to do.
        UnsupportedFeature: the table's schema has a type with no column form.

    Clauses: DM-003, DM-004, DM-005.

    """
    refuse_working_names((*incoming.names, *(field["name"] for field in (table or {"fields": ()})["fields"])))
    if table is None:
        return schema_of_avro(avro_of_arrow(incoming, table_name))
    reconciled = options.flag(_RECONCILE)
    rules = Reconciling(
        _missing(options, partial=partial),
        kept if reconciled else met,
        options.flag(EVOLVES),
        frozenset((*fixed.places, *fixed.ordering)),
        frozenset(fixed.ordering),
    )
    columns = rules.columns(columns_of_avro(without_meta_fields(table)), _data_columns(incoming))
    return schema_of_avro(avro_of_columns(columns, _full_name(table, table_name)))


def refuse_working_names(names: Iterable[str]) -> None:
    """Columns of a write have other names than those that it works with, in whatever letters Spark compares them.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE.

    """
    for name in names:
        if name.lower().startswith(_WORKING_PREFIX):
            message = f"column {name!r} begins with {_WORKING_PREFIX}, as columns do that writes work with"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint="rename the column")


def schema_of_avro(avro: Mapping[str, Any]) -> WriterSchema:
    """The schema of a write that a table's own Avro schema gives, meta fields or not.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE when it is no record or names a field twice, LIMIT_EXCEEDED when it is huge.
        UnsupportedFeature: a type with no column form.

    Clauses: DM-003.

    """
    _refuse_no_record(avro)
    record = without_meta_fields(avro)
    with typed_errors():
        try:
            return WriterSchema(record, arrow_schema(record))
        except FormatError as error:
            # It comes from the caller's rows or definition, not from a file that could be restored.
            huge = error.reason == FormatReason.LIMIT_EXCEEDED
            hint = "flatten its columns: a level that may be null counts twice" if huge else "correct the column's type"
            raise HudiError(str(error.reason), error.clause, error.message, hint=hint) from error


def _refuse_no_record(avro: Any) -> None:
    """A caller's own schema may be anything."""
    fields = avro.get("fields") if isinstance(avro, Mapping) else None
    if not (isinstance(fields, list | tuple) and all(isinstance(one, Mapping) and "name" in one for one in fields)):
        message = f"the schema {' '.join(repr(avro).split())[:60]} is no Avro record with named fields"
        hint = 'give an Arrow schema, or {"type": "record", "name": "t", "fields": [{"name": "id", "type": "string"}]}'
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-003", message, hint=hint)


def schema_changes(before: Mapping[str, Any] | None, after: WriterSchema) -> tuple[str, ...]:
    """What a write changes of the table's columns, in words; nothing where the table had none.

    Clauses: DM-005.
    """
    if before is None:
        return ()
    return tuple(described_changes(columns_of_avro(without_meta_fields(before)), columns_of_avro(after.avro)))


def without_columns(schema: WriterSchema, names: Collection[str]) -> WriterSchema:
    """The schema without some columns: of files and commits of a table that drops its partition columns.

    Clauses: DM-022.
    """
    fields = [field for field in schema.avro["fields"] if field["name"] not in names]
    arrow = pa.schema([field for field in schema.arrow if field.name not in names])
    return WriterSchema({**schema.avro, "fields": fields}, arrow)


def cast_rows(rows: pa.Table, schema: WriterSchema) -> pa.Table:
    """Rows in the columns of a write: cast without loss, null where they lack a column, in the schema's order.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a value that its column cannot hold, a null in a required one, a map that
            has a key twice: Avro would keep the last one; for a text whose bytes are not UTF-8, which no reader opens.

    Clauses: DM-004.

    """
    _refuse_broken_values(rows)
    cast = brought(rows, schema.arrow)
    for field, column in zip(cast.schema, cast.columns, strict=True):
        if pa.types.is_nested(field.type) and any(map(_repeats_keys, column.chunks)):
            message = f"column {field.name!r} has a map with one key twice"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint="give each key of a map once")
    return cast


def _refuse_broken_values(rows: pa.Table) -> None:
    """Arrow, and Spark's cast of bytes to a text, pass on values that are none of their type."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        try:
            for chunk in column.chunks:
                _validate(chunk)
        except (pa.ArrowInvalid, pa.ArrowIndexError) as error:
            message = f"column {name!r} has a value that is no {column.type}: {error}"
            hint = "texts are UTF-8, and decimals have the digits of their type: cast the column"
            raise HudiError(Reason.SCHEMA_INCOMPATIBLE, _CLAUSE, message, hint=hint) from error


def _validate(array: pa.Array) -> None:
    """Raise Arrow's error for a value that is none of its type.

    Those count that rows have: neither all of a dictionary, which many chunks may share, nor what lies under a null.
    """
    array = _plain_values(array)
    array.validate()
    if pa.types.is_struct(array.type):
        parts = array.flatten()
    elif pa.types.is_map(array.type):
        parts = [array.keys, array.items]
    elif pa.types.is_nested(array.type):
        parts = [array.flatten()]
    else:
        array.validate(full=True)
        return
    for part in parts:
        _validate(part)


def _repeats_keys(array: pa.Array) -> bool:
    """Whether a map, at any depth, has a key twice."""
    if pa.types.is_struct(array.type):
        return any(_repeats_keys(part) for part in array.flatten())
    if pa.types.is_map(array.type):
        offsets = array.offsets.to_numpy()
        first, size = int(offsets[0]), int(offsets[-1] - offsets[0]) if len(array) else 0
        keys, items = array.keys.slice(first, size), array.items.slice(first, size)
        pairs = pa.table({"map": np.repeat(np.arange(len(array)), np.diff(offsets)), "key": keys})
        return pairs.group_by(["map", "key"]).aggregate([]).num_rows < size or _repeats_keys(items)
    return pa.types.is_nested(array.type) and _repeats_keys(array.flatten())


def _missing(options: Options, *, partial: bool) -> Missing:
    if partial:
        return Missing.KEPT
    if options.flag(_NULL_FOR_MISSING):
        return Missing.NULL
    if options.flag(_RECONCILE):
        return Missing.KEPT
    return Missing.DROPPED if options.flag(_DROP_MISSING) else Missing.REFUSED


def _data_columns(schema: pa.Schema) -> tuple[InternalField, ...]:
    """The columns that rows bring; rows read from a table have its meta fields, which every write makes anew."""
    return columns_of_arrow(field for field in schema if field.name not in META_FIELDS)


def _full_name(table: Mapping[str, Any], table_name: str) -> str:
    name, namespace = str(table.get("name", "")), str(table.get("namespace", "") or "")
    if not name:
        return record_name(table_name)
    return name if "." in name or not namespace else f"{namespace}.{name}"


@dataclass(frozen=True, slots=True)
class WriterState:
    """A table at the moment a write begins: its configuration, its newest completed state, and the write's options.

    `schema`: the columns that the write's files have.

    Clauses: RD-001.
    """

    storage: Storage
    snapshot: Snapshot
    options: Options
    schema: WriterSchema

    @property
    def configuration(self) -> TableConfiguration:
        """The table's own configuration."""
        return self.snapshot.configuration

    @property
    def slices(self) -> tuple[FileSlice, ...]:
        """The slices that a snapshot of the table reads, by partition and file id."""
        return self.snapshot.slices
