"""The table's columns, and rows of files with another schema brought to them, value by value.

by name   the column of the same name, its parts likewise
by id     the column that had the same id in the schema of the file's time, whatever its name was then

A file holds columns under the names of its time, in the types of its time, and perhaps without partition columns.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.avro.schemas import record_schema
from hudi_format.base.files import base_file_footer
from hudi_format.schemas import META_FIELDS, OPERATION_FIELD, arrow_schema
from hudi_format.storage import Storage
from hudi_format.table.internal_schema import (
    ArrayType,
    ColumnType,
    InternalField,
    InternalSchema,
    MapType,
    RecordType,
    schema_at,
)

from hudi_spark.errors import HudiError, Reason
from hudi_spark.table_state import PROPERTIES_FILE, Commit, Snapshot, TableConfiguration, load_commits


def one_chunk(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The values of a column in one array: some of Arrow's functions take nothing else."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def parts_by(table: pa.Table, column: str) -> Iterator[tuple[Any, pa.Table]]:
    """The rows of each value of a column, least value first, in their order."""
    for value in sorted(pc.unique(table.column(column)).to_pylist()):
        yield value, table.filter(pc.equal(table.column(column), value))


def joined(rows: pa.Table, others: pa.Table, on: Sequence[str], schema: pa.Schema) -> pa.Table:
    """Left outer join, in the order of both: each row with the further columns of the rows that are equal in `on`.

    `schema`: the columns of `rows`, then the others but for those of `on`. A null in the first of these meets nothing.
    """
    pairs = paired(rows, others, on, "left outer").sort_by([("row", "ascending"), ("other", "ascending")])
    left, right = rows.take(pairs.column("row")), others.take(pairs.column("other"))
    columns = [*left.columns, *(right.column(name) for name in schema.names[rows.num_columns :])]
    return pa.Table.from_arrays(columns, schema=schema)


def paired(rows: pa.Table, others: pa.Table, on: Sequence[str], how: Literal["inner", "left outer"]) -> pa.Table:
    """The numbers of rows that are equal in `on`, as `row` and `other`, in any order."""
    numbered = _numbered(others, on, "other")
    # What cannot match needs no place in the hash table.
    numbered = numbered.filter(pc.is_in(numbered.column(on[0]), value_set=one_chunk(rows.column(on[0]))))
    return _numbered(rows, on, "row").join(numbered, list(on), join_type=how)


def _numbered(rows: pa.Table, on: Sequence[str], name: str) -> pa.Table:
    return rows.select(list(on)).append_column(name, [pa.arange(0, rows.num_rows)])


# Within these powers of ten Java writes a number without exponent.
_PLAIN_FROM, _PLAIN_BELOW = -3, 7
# Below these sizes one digit may identify a float of so many bits, though two digits are nearer to it.
_TWO_DIGITS_BELOW = {32: 1e-43, 64: 1e-322}
# A month or day of one digit, which the regular expressions of Arrow cannot look around.
_LONE_DIGIT = r"-([0-9])\b"
# The digits of the widest decimal, so that no rounding but the last happens.
_EXACT = Context(prec=400, rounding=ROUND_HALF_UP)


def promoted(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """Values of another kind in the type the table has now, or None where no such promotion leads there.

    A narrow float becomes the wide one of the same shortest digits: 0.1 stays 0.1. An integer becomes the nearest
    float, and a number or text the nearest decimal of the table's scale, halves away from zero.

    Raises:
        ArrowInvalid: a text that is no such value, a number with more digits than the decimal has.

    Clauses: DM-004, DM-021.

    """
    found = array.type
    if pa.types.is_floating(wanted):
        return _as_float(array, wanted)
    if pa.types.is_string(wanted):
        return _as_text(array)
    if pa.types.is_decimal(wanted) and not pa.types.is_binary(found):
        return _as_decimal(array, wanted)
    if pa.types.is_date(wanted) and pa.types.is_string(found):
        padded = pc.replace_substring_regex(array, _LONE_DIGIT, r"-0\1")
        return pc.replace_substring_regex(padded, _LONE_DIGIT, r"-0\1").cast(wanted)
    return None


def _as_float(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    if pa.types.is_float32(array.type) and pa.types.is_float64(wanted):
        return digits_of(array).cast(wanted)
    # Java's promotion of large integers rounds, too.
    return pc.cast(array, wanted, safe=False) if pa.types.is_integer(array.type) else None


def _as_text(array: pa.Array) -> pa.Array | None:
    found = array.type
    if pa.types.is_floating(found):
        return pa.array([text and java_text(text) for text in digits_of(array).to_pylist()], pa.string())
    plain = pa.types.is_integer(found) or pa.types.is_decimal(found) or pa.types.is_date32(found)
    return array.cast(pa.string()) if plain else None


def _as_decimal(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    found = array.type
    if not (pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_string(found)):
        return None
    texts = array.cast(pa.string()).to_pylist()
    try:
        return pa.array(_rounded(texts, wanted.scale), wanted)
    except ArithmeticError as error:
        raise pa.ArrowInvalid(f"a value is no {wanted}") from error


def _rounded(texts: Iterable[str | None], scale: int) -> list[Decimal | None]:
    step = Decimal(1).scaleb(-scale)
    return [None if text is None else Decimal(text).quantize(step, context=_EXACT) for text in texts]


def digits_of(array: pa.Array) -> pa.Array:
    """The text of each float: the fewest digits, at least two, that only it has; 4.9e-324 where one digit says 5e-324.

    Half floats are floats in a table, and have the digits of those.

    Clauses: DM-004.
    """
    array = array.cast(pa.float32()) if pa.types.is_float16(array.type) else array
    texts = array.cast(pa.string())
    tiny = pc.and_(pc.less(pc.abs(array), _TWO_DIGITS_BELOW[array.type.bit_width]), pc.not_equal(array, 0))
    few = array.filter(tiny)
    if not len(few):
        return texts
    spelt = pa.array([f"{value:.1e}" for value in few.to_pylist()], pa.string())
    return pc.replace_with_mask(texts, pc.fill_null(tiny, fill_value=False), spelt)


def java_text(number: str) -> str:
    """A float's shortest digits in the form in which Java writes it: 7.0, 1.0E10, NaN.

    Clauses: DM-004.
    """
    value = Decimal(number)
    sign = "-" if value.is_signed() else ""
    if value.is_nan():
        return "NaN"
    if value.is_infinite():
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
    power = value.adjusted()
    if _PLAIN_FROM <= power < _PLAIN_BELOW:
        return sign + _plain(digits, power)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{digits[power + 1 :] or '0'}"


ELEMENT, VALUE = "element", "value"


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a column in a file.

    `name` is None where the file cannot hold the column. `parts`: those of a struct by the table's names, those of a
    list and of the values of a map under `element` and `value`; None where they are found by their own names.

    Clauses: DM-004, DM-021.
    """

    name: str | None
    parts: "Sources | None" = None

    def part(self, name: str) -> "Source":
        """The place of a part of the column."""
        return Source(name) if self.parts is None else self.parts.get(name, Source(name))


Sources = Mapping[str, Source]


def sources_by_id(
    schema: pa.Schema, current: tuple[InternalField, ...], written: tuple[InternalField, ...]
) -> dict[str, Source]:
    """The place of each column of a table in a file of an older schema.

    A column that the table's own ids do not know, such as a meta field of a writer's, is found by its name.

    Clauses: DM-021.
    """
    return _of_fields(schema, current, written)


def _of_fields(
    wanted: pa.Schema | pa.StructType, current: tuple[InternalField, ...], written: tuple[InternalField, ...]
) -> dict[str, Source]:
    ids = {field.name: field for field in current}
    then = {field.id: field for field in written}
    return {field.name: _of_field(field, ids.get(field.name), then) for field in wanted}


def _of_field(wanted: pa.Field, current: InternalField | None, then: Mapping[int, InternalField]) -> Source:
    if current is None:
        return Source(wanted.name)
    written = then.get(current.id)
    if written is None:
        return Source(None)
    return Source(written.name, _parts(wanted.type, current.type, written.type))


def _parts(wanted: pa.DataType, current: ColumnType, written: ColumnType) -> Sources | None:
    if pa.types.is_struct(wanted) and isinstance(current, RecordType) and isinstance(written, RecordType):
        return _of_fields(wanted, current.fields, written.fields)
    if pa.types.is_list(wanted) and isinstance(current, ArrayType) and isinstance(written, ArrayType):
        return {ELEMENT: Source(ELEMENT, _parts(wanted.value_type, current.element, written.element))}
    if pa.types.is_map(wanted) and isinstance(current, MapType) and isinstance(written, MapType):
        return {VALUE: Source(VALUE, _parts(wanted.item_type, current.value, written.value))}
    return None


class Incompatible(Exception):  # noqa: N818 - an answer within this package, turned into a typed error
    """A value that the table's type cannot hold: the place within the column, the two types."""

    def __init__(self, place: str, found: pa.DataType, wanted: pa.DataType) -> None:
        super().__init__(f"{place} is {found} in the file and {wanted} in the table")


def brought(column: pa.ChunkedArray, wanted: pa.DataType, source: Source) -> pa.ChunkedArray:
    """A column in the table's type.

    Raises:
        Incompatible: it cannot be widened without loss.

    Clauses: DM-004, DM-021.

    """
    if column.type == wanted and source.parts is None:
        return column
    place = f"column {source.name!r}"
    return pa.chunked_array([_array(chunk, wanted, source, place) for chunk in column.chunks], wanted)


def brought_text(text: str | None, wanted: pa.DataType) -> pa.Scalar:
    """A value that was written as text, such as in a partition's path.

    Raises:
        Incompatible: it is no text of that type.

    Clauses: DM-022.

    """
    if text is None or pa.types.is_string(wanted):
        return pa.scalar(text, wanted)
    try:
        if pa.types.is_timestamp(wanted):
            return pa.scalar(text, pa.string()).cast(pa.timestamp(wanted.unit)).cast(wanted)
        return pa.scalar(text, pa.string()).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise Incompatible("the value", pa.string(), wanted) from error


def _array(array: pa.Array, wanted: pa.DataType, source: Source, place: str) -> pa.Array:
    if array.type == wanted and source.parts is None:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    if not (pa.types.is_nested(array.type) or pa.types.is_nested(wanted)):
        return _leaf(array, wanted, place)
    whole = pa.concat_arrays([array, array.slice(0, 0)]) if array.offset else array
    if pa.types.is_struct(array.type) and pa.types.is_struct(wanted):
        return _struct(whole, wanted, source, place)
    if _is_list(array.type) and pa.types.is_list(wanted):
        return _list(whole, wanted, source, place)
    if pa.types.is_map(array.type) and pa.types.is_map(wanted):
        return _map(whole, wanted, source, place)
    raise Incompatible(place, array.type, wanted)


def _struct(array: pa.StructArray, wanted: pa.StructType, source: Source, place: str) -> pa.Array:
    parts = [_part(array, field, source.part(field.name), f"{place}.{field.name}") for field in wanted]
    if not parts:
        return pa.array([{} if valid else None for valid in array.is_valid().to_pylist()], wanted)
    return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=array.is_null())


def _part(array: pa.StructArray, wanted: pa.Field, source: Source, place: str) -> pa.Array:
    names = [field.name for field in array.type]
    name = None if source.name is None else name_in(names, source.name)
    if name is None:
        return pa.nulls(len(array), wanted.type)
    return _array(array.field(names.index(name)), wanted.type, source, place)


def _list(array: pa.ListArray, wanted: pa.ListType, source: Source, place: str) -> pa.Array:
    values = _array(array.values, wanted.value_type, source.part(ELEMENT), f"{place}.element")
    return pa.ListArray.from_arrays(array.offsets.cast(pa.int32()), values, type=wanted, mask=array.is_null())


def _map(array: pa.MapArray, wanted: pa.MapType, source: Source, place: str) -> pa.Array:
    keys = _array(array.keys, wanted.key_type, Source(None), f"{place}.key")
    items = _array(array.items, wanted.item_type, source.part(VALUE), f"{place}.value")
    return pa.MapArray.from_arrays(array.offsets, keys, items, type=wanted, mask=array.is_null())


def _leaf(array: pa.Array, wanted: pa.DataType, place: str) -> pa.Array:
    try:
        other = promoted(array, wanted)
        if other is not None:
            return other
        if _widens(array.type, wanted):
            return pc.cast(array, wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise Incompatible(place, array.type, wanted) from error
    raise Incompatible(place, array.type, wanted)


def _widens(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of one type is one of the other, or Arrow's cast shows value by value."""
    if pa.types.is_integer(found) and pa.types.is_integer(wanted):
        return bool(found.bit_width <= wanted.bit_width)
    return any(belongs(found) and belongs(wanted) for belongs in _FAMILIES)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


_FAMILIES = (
    _is_text,
    pa.types.is_decimal,
    pa.types.is_timestamp,
    pa.types.is_time,
    pa.types.is_date,
)


SCHEMA_KEY: Final = "schema"
_SERVICES: Final = ("COMPACT", "LOG_COMPACT", "CLUSTER")

META_SCHEMA: Final = pa.schema([pa.field(name, pa.string()) for name in META_FIELDS])


def table_schema(commits: Sequence[Commit], configuration: TableConfiguration) -> pa.Schema:
    """The columns of a table without meta fields: those of the newest commit that has a schema.

    Without such a commit the schema given at creation holds; without that there are no columns. Partition columns
    that are left out of the files follow where the schema lacks them.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.

    Clauses: DM-003, DM-022, MF-002.

    """
    stated = stated_schema(commits, configuration)
    columns = pa.schema([]) if stated is None else columns_of(*stated)
    return _with_partition_columns(columns, configuration) if columns.names else columns


def _with_partition_columns(columns: pa.Schema, configuration: TableConfiguration) -> pa.Schema:
    """Clauses: DM-022."""
    if not configuration.partitions.columns_dropped:
        return columns
    created = configuration.create_schema
    known = pa.schema([]) if created is None else columns_of(created, PROPERTIES_FILE)
    for name in configuration.partition_by:
        if name not in columns.names:
            columns = columns.append(pa.field(name, pa.string()))
        # Writers of logs put the column into the schema as text, whatever it was made as.
        if name in known.names:
            columns = columns.set(columns.get_field_index(name), known.field(name))
    return columns


def stated_schema(commits: Sequence[Commit], configuration: TableConfiguration) -> tuple[str, str] | None:
    """The Avro text of the table's schema, and the file that it stands in; None where there is none.

    Clauses: DM-003.
    """
    newest = stating_commit(commits)
    if newest is not None:
        return newest.metadata.extra[SCHEMA_KEY], newest.instant.file
    return None if configuration.create_schema is None else (configuration.create_schema, PROPERTIES_FILE)


def stating_commit(commits: Sequence[Commit]) -> Commit | None:
    """The commit whose schema is the table's: of those with one, the last by its requested time, as releases take it.

    Clauses: DM-003.
    """
    stating = [commit for commit in commits if commit.metadata.extra.get(SCHEMA_KEY)]
    # Services repeat the schema that they were planned with, and decide nothing while a write has one.
    writes = [commit for commit in stating if commit.metadata.operation_type not in _SERVICES]
    return max(writes or stating, key=lambda commit: commit.instant.requested, default=None)


def snapshot_schema(storage: Storage, snapshot: Snapshot) -> pa.Schema:
    """The columns at the read time; before the first commit those of the newest one.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when the schema does not parse.

    Clauses: DM-003.

    """
    commits = snapshot.commits or load_commits(storage, snapshot.timeline, None, "requested")
    return table_schema(commits, snapshot.configuration)


def columns_of(avro: str, file: str) -> pa.Schema:
    """Arrow columns of an Avro schema text without meta fields, every one nullable.

    Raises:
        FormatError: SCHEMA_INCOMPATIBLE when it is no record schema.

    Clauses: MF-001, MF-002.

    """
    schema = record_schema(avro, file, clause="DM-003")
    hidden = {*META_FIELDS, OPERATION_FIELD}
    fields = [field for field in arrow_schema(schema, file) if field.name not in hidden]
    return pa.schema([pa.field(field.name, nullable(field.type)) for field in fields])


def nullable(kind: pa.DataType) -> pa.DataType:
    """The type with every part of it nullable: what a file lacks reads as null at any depth."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, nullable(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(pa.field("element", nullable(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(nullable(kind.key_type), pa.field("value", nullable(kind.item_type)))
    return kind


def plain_values(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values in Python, dates and times as the numbers that they are: Python's span fewer years.

    Entries of a map are in the order of their keys: a file's order of them states nothing.
    """
    found: list[Any] = array.cast(_without_times(array.type)).to_pylist()
    return [_in_order(one, array.type) for one in found] if pa.types.is_nested(array.type) else found


def _in_order(value: Any, kind: pa.DataType) -> Any:
    """A value whose maps, at any depth, have their entries by key."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: _in_order(value[field.name], field.type) for field in kind}
    if pa.types.is_list(kind):
        return [_in_order(one, kind.value_type) for one in value]
    if pa.types.is_map(kind):
        return sorted(((key, _in_order(one, kind.item_type)) for key, one in value), key=lambda entry: repr(entry[0]))
    return value


def _without_times(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_times(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_times(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(_without_times(kind.item_type)))
    return (
        (pa.int32() if kind.bit_width == pa.int32().bit_width else pa.int64()) if pa.types.is_temporal(kind) else kind
    )


def conform(table: pa.Table, schema: pa.Schema, file: str, sources: Sources | None = None) -> pa.Table:
    """The columns of `schema` from a table of a file: widened where they are narrower, null where they are missing.

    `sources` says where the columns stand in the file; without it each is found by its name.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE for a column that cannot be widened without loss.

    Clauses: DM-004, DM-021.

    """
    places, stored, own = sources or {}, table.column_names, schema.names
    named = [(field, places.get(field.name, Source(field.name))) for field in schema]
    found = [None if source.name is None else name_in(stored, source.name, file, own) for _, source in named]
    columns = [_column(table, *one, name, file) for one, name in zip(named, found, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema) if columns else _without_columns(table.num_rows)


def name_in(names: Sequence[str], wanted: str, file: str = "", own: Collection[str] = ()) -> str | None:
    """The name of a column among those of a file: its own, else the one that differs in capital letters; None for none.

    `own`: names of other columns of the table, which are not meant.

    Raises:
        HudiError: SCHEMA_INCOMPATIBLE where several are meant.

    Clauses: DM-004.

    """
    exact = [wanted] * names.count(wanted)
    alike = exact or [one for one in names if one.lower() == wanted.lower() and one not in own]
    if len(alike) > 1:
        twice = "twice" if alike[0] == wanted else f"as {' and '.join(sorted(alike))}"
        message, hint = f"column {wanted!r} stands in the file {twice}", "rewrite the file with one of them"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-004", message, file, hint=hint)
    return alike[0] if alike else None


def concatenate(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """Tables of one schema one after the other; an empty one when there are none."""
    parts = [schema.empty_table(), *tables]
    # Arrow forgets the number of rows of tables without columns.
    return pa.concat_tables(parts) if schema.names else _without_columns(sum(part.num_rows for part in parts))


def _column(table: pa.Table, field: pa.Field, source: Source, found: str | None, file: str) -> pa.ChunkedArray:
    if found is None:
        return pa.chunked_array([pa.nulls(table.num_rows, field.type)], field.type)
    try:
        return brought(table.column(found), field.type, source)
    except (Incompatible, pa.ArrowInvalid) as error:
        message = f"{error}; the table has column {field.name!r} as {field.type}"
        hint = "rewrite the file with the table's schema"
        raise HudiError(Reason.SCHEMA_INCOMPATIBLE, "DM-004", message, file, hint=hint) from error


def _without_columns(rows: int) -> pa.Table:
    """A table of no columns that still knows its number of rows."""
    return pa.table({"": pa.nulls(rows)}).select([])


@dataclass(frozen=True, slots=True)
class ColumnIds:
    """The schemas of a table whose columns have ids.

    `current`: the one to read with. `kept`: every one that is known. `stated`: id of the schema that each commit
    wrote with.

    Clauses: DM-021.
    """

    current: InternalSchema
    kept: tuple[InternalSchema, ...]
    stated: Mapping[str, int]

    def written(self, instant: str) -> InternalSchema:
        """The schema of a file or block of an instant; the oldest where none is known for so early a time."""
        stated = self.stated.get(instant)
        number = int(instant) if stated is None else stated
        return schema_at(self.kept, number) or self.kept[0]


@dataclass(frozen=True, slots=True)
class SliceColumns:
    """How the files of one slice come to the table's columns.

    `constants`: the columns whose values the partition's path holds.

    Clauses: DM-004, DM-021, DM-022.
    """

    ids: ColumnIds | None = None
    constants: Mapping[str, pa.Scalar] = field(default_factory=dict)

    def sources(self, schema: pa.Schema, instant: str) -> Sources:
        """The place of each column in a file of an instant."""
        if self.ids is None:
            found: Sources = {}
        else:
            found = sources_by_id(schema, self.ids.current.fields, self.ids.written(instant).fields)
        return {**found, **dict.fromkeys(self.constants, Source(None))}

    def names(self, schema: pa.Schema, instant: str) -> list[str]:
        """The names of the columns in a file of an instant, without those that it cannot hold."""
        sources = self.sources(schema, instant)
        names = (sources.get(name, Source(name)).name for name in schema.names)
        return [name for name in names if name is not None]

    def are_named(self, schema: pa.Schema, instant: str) -> bool:
        """Whether every column stands in a file of an instant under its own name, at every depth."""
        plain = self.ids is None and not self.constants
        return plain or len(self.as_named_now(schema, schema, instant)) == len(schema)

    def as_named_now(self, stored: pa.Schema, schema: pa.Schema, instant: str) -> pa.Schema:
        """The stored columns that have the table's own names at every depth, so that a filter can use them there."""
        sources = self.sources(schema, instant)
        same = {field.name for field in schema if _is_same(sources.get(field.name, Source(field.name)), field.name)}
        return pa.schema([field for field in stored if field.name in same])

    def conform(self, table: pa.Table, schema: pa.Schema, file: str, instant: str) -> pa.Table:
        """Rows of a file in the table's columns.

        Raises:
            HudiError: SCHEMA_INCOMPATIBLE for a column that cannot be widened without loss.

        Clauses: DM-004, DM-021, DM-022.

        """
        rows = conform(table, schema, file, self.sources(schema, instant))
        for name in self.constants.keys() & set(schema.names):
            values = pa.repeat(self.constants[name], rows.num_rows)
            rows = rows.set_column(schema.get_field_index(name), schema.field(name), values)
        return rows


BY_NAME = SliceColumns()


def _is_same(source: Source, name: str) -> bool:
    if source.name != name:
        return False
    return source.parts is None or all(_is_same(part, inner) for inner, part in source.parts.items())


def with_operation(storage: Storage, snapshot: Snapshot, columns: pa.Schema) -> pa.Schema:
    """The columns, and `_hoodie_operation` before them where the newest base file has it.

    No commit's schema names it, so a file has to be looked at.

    Raises:
        FormatError: BASE_FILE_MISSING, BASE_FILE_CORRUPT.

    Clauses: MF-002, MG-014.

    """
    files = [one.base_file for one in snapshot.slices if one.base_file is not None]
    newest = max(files, key=lambda file: file.rpartition("_")[2], default=None)
    if newest is None or OPERATION_FIELD not in base_file_footer(storage, newest).schema.names:
        return columns
    return pa.schema([pa.field(OPERATION_FIELD, pa.string()), *columns])
