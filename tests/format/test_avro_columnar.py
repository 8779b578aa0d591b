"""Records encoded column by column: the same bytes as record by record."""

import datetime as dt
import io
from decimal import Context, Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from format_strategies import INSTANT_VALUES, LOCAL_VALUES, LONGS, TEXT, decimals
from hudi_format.avro.columnar import ROWS_AT_ONCE, encode_framed_rows, encode_rows
from hudi_format.avro.schemas import writing_schema
from hudi_format.schemas import arrow_schema
from hypothesis import given, settings
from hypothesis import strategies as st


def logical(kind: Any, name: str, **more: Any):
    return {"type": kind, "logicalType": name, **more}


def exact(precision: int, scale: int):
    """Decimals of more digits than the default context keeps."""
    limit = 10**precision - 1
    return st.integers(-limit, limit).map(lambda unscaled: Decimal(unscaled).scaleb(-scale, Context(prec=100)))


def in_milliseconds(value: Any):
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def written_alike(value: Decimal):
    """Whether the row-wise writer, too, takes the least bytes: it gives -2^(8k-1) a byte too many."""
    unscaled = int(value.scaleb(-int(value.as_tuple().exponent), Context(prec=100)))
    return unscaled >= 0 or unscaled.bit_length() == (unscaled + 1).bit_length() or unscaled.bit_length() % 8 != 0


NOTHING = ("null", st.none())
SIMPLE = (
    ("string", TEXT),
    ("boolean", st.booleans()),
    ("int", st.integers(-(2**31), 2**31 - 1)),
    ("long", LONGS),
    ("long", st.integers(-200, 200)),
    ("float", st.floats(width=32)),
    ("double", st.floats()),
    ("bytes", st.binary(max_size=200)),
    (logical("string", "uuid"), st.uuids().map(str)),
    (logical("bytes", "decimal", precision=12, scale=2), decimals(12, 2).filter(written_alike)),
    (logical("bytes", "decimal", precision=38, scale=20), exact(38, 20).filter(written_alike)),
    (logical("bytes", "decimal", precision=60, scale=3), exact(60, 3).filter(written_alike)),
    (logical("int", "date"), st.dates()),
    (logical("int", "time-millis"), st.times().map(in_milliseconds)),
    (logical("long", "time-micros"), st.times()),
    (logical("long", "timestamp-micros"), INSTANT_VALUES),
    (logical("long", "timestamp-millis"), INSTANT_VALUES.map(in_milliseconds)),
    (logical("long", "local-timestamp-micros"), LOCAL_VALUES),
    (logical("long", "local-timestamp-millis"), LOCAL_VALUES.map(in_milliseconds)),
)
NAMED = (
    ({"type": "fixed", "size": 5}, st.binary(min_size=5, max_size=5)),
    ({"type": "fixed", "size": 7, "logicalType": "decimal", "precision": 16, "scale": 3}, decimals(16, 3)),
    ({"type": "fixed", "size": 20, "logicalType": "decimal", "precision": 30}, exact(30, 0)),
    ({"type": "enum", "symbols": ["A", "B", "C"]}, st.sampled_from("ABC")),
)
COLUMN_DEPTH = 2


@st.composite
def types(draw: st.DrawFn, path: str, depth: int) -> tuple[Any, Any]:
    """An Avro type whose named types are called after their place, and a strategy for its values."""
    # Items of lists that take no bytes are refused, so only columns are of the type null.
    kind, values = draw(st.sampled_from((*SIMPLE, *NAMED, *([NOTHING] if depth == COLUMN_DEPTH else []))))
    if isinstance(kind, dict) and kind["type"] in ("fixed", "enum"):
        kind = {**kind, "name": f"{kind['type']}{path}"}
    form = draw(st.sampled_from(("plain", "array", "map", "record"))) if depth else "plain"
    if form in ("array", "map"):
        kind, values = draw(types(f"{path}i", depth - 1))
        name = "items" if form == "array" else "values"
        kind, values = {"type": form, name: kind}, _many(form, values)
    elif form == "record":
        kind, values = draw(records(f"{path}r", depth - 1))
    if kind == "null" or isinstance(kind, list) or draw(st.booleans()):
        return kind, values
    return draw(st.permutations(("null", kind))), st.none() | values


def _many(form: str, values: Any) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=4) if form == "array" else st.dictionaries(TEXT, values, max_size=3)


@st.composite
def records(draw: st.DrawFn, path: str = "", depth: int = COLUMN_DEPTH) -> tuple[Any, Any]:
    drawn = {f"f{at}": draw(types(f"{path}_{at}", depth)) for at in range(draw(st.integers(1, 4)))}
    fields = [{"name": name, "type": kind} for name, (kind, _) in drawn.items()]
    schema = {"type": "record", "name": f"record{path}", "namespace": "hoodie.trips", "fields": fields}
    return schema, st.fixed_dictionaries({name: values for name, (_, values) in drawn.items()})


@st.composite
def schemas_with_rows(draw: st.DrawFn) -> tuple[Any, list[dict[str, Any]]]:
    schema, row = draw(records())
    return schema, draw(st.lists(row, max_size=8))


def encoded(rows: list[dict[str, Any]], schema: Any):
    """The bytes of each row as the row-wise library writes them."""
    writable, all_bytes = writing_schema(schema), []
    for row in rows:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, writable, row)
        all_bytes.append(stream.getvalue())
    return all_bytes


def table_of(rows: list[dict[str, Any]], schema: Any):
    target = arrow_schema(schema)
    listed = [[_listed(row[field.name], field.type) for row in rows] for field in target]
    return pa.table([pa.array(column, field.type) for column, field in zip(listed, target, strict=True)], schema=target)


def _listed(value: Any, kind: pa.DataType) -> Any:
    """Maps as lists of pairs, as Arrow takes them inside of other values."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [(key, _listed(item, kind.item_type)) for key, item in value.items()]
    if pa.types.is_list(kind):
        return [_listed(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: _listed(value[field.name], field.type) for field in kind}
    return value


@settings(deadline=None, max_examples=50)
@given(schemas_with_rows(), st.integers(0, 3), st.booleans())
def test_every_type_has_the_bytes_of_the_row_wise_library(drawn: Any, skipped: int, chunked: bool):
    schema, rows = drawn
    table = table_of(rows, schema)
    if chunked:
        table = pa.concat_tables([table.slice(0, skipped), table.slice(skipped)])
    sliced = table.slice(skipped)
    assert encode_rows(sliced, schema).to_pylist() == encoded(rows[skipped:], schema)


@settings(deadline=None, max_examples=50)
@given(schemas_with_rows())
def test_a_framed_record_stands_after_its_length(drawn: Any):
    schema, rows = drawn
    expected = [len(one).to_bytes(4, "big") + one for one in encoded(rows, schema)]
    assert encode_framed_rows(table_of(rows, schema), schema).to_pylist() == expected


NUMBERS = {"type": "record", "name": "n", "fields": [{"name": "x", "type": ["null", "long"]}]}


def test_more_rows_than_are_encoded_at_once_lose_none():
    values = [None if number % 7 == 0 else number - ROWS_AT_ONCE for number in range(2 * ROWS_AT_ONCE + 5)]
    found = encode_rows(pa.table({"x": pa.array(values, pa.int64())}), NUMBERS)
    assert found.num_chunks == 3
    assert found.to_pylist() == encoded([{"x": value} for value in values], NUMBERS)


@pytest.mark.parametrize(("unscaled", "expected"), [(-128, b"\x02\x80"), (128, b"\x04\x00\x80"), (0, b"\x02\x00")])
def test_a_decimal_takes_the_least_bytes_as_java_gives_it(unscaled: int, expected: bytes):
    kind = logical("bytes", "decimal", precision=10, scale=0)
    schema = {"type": "record", "name": "n", "fields": [{"name": "x", "type": kind}]}
    column = pa.array([Decimal(unscaled)], pa.decimal128(10, 0))
    assert encode_rows(pa.table({"x": column}), schema).to_pylist() == [expected]


def test_a_type_that_an_earlier_field_defines_is_found_by_its_name():
    image = {"type": "record", "name": "image", "fields": [{"name": "x", "type": "long"}]}
    fields = [{"name": "before", "type": ["null", image]}, {"name": "after", "type": ["null", "image"]}]
    schema = {"type": "record", "name": "change", "namespace": "hoodie.trips", "fields": fields}
    rows = [{"before": None, "after": {"x": 1}}, {"before": {"x": -1}, "after": None}]
    assert encode_rows(table_of(rows, schema), schema).to_pylist() == encoded(rows, schema)


def test_other_arrow_types_of_the_same_values_are_converted():
    fields = [
        {"name": "s", "type": "string"},
        {"name": "d", "type": logical("int", "date")},
        {"name": "n", "type": "long"},
    ]
    schema = {"type": "record", "name": "r", "fields": fields}
    day = dt.date(2024, 2, 29)
    table = pa.table(
        {"n": pa.array([1], pa.int8()), "s": pa.array(["é"]).cast(pa.large_string()), "d": pa.array([day], pa.date64())}
    )
    assert encode_rows(table, schema).to_pylist() == encoded([{"s": "é", "d": day, "n": 1}], schema)


LISTS = {"type": "array", "items": ["null", "long"]}


@pytest.mark.parametrize(
    ("kind", "column", "values"),
    [
        ("string", pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        ("string", pa.array(["a", "long enough to stand elsewhere", ""], pa.string_view()), None),
        (LISTS, pa.array([[1, 2], [3, None], [4, 5]], pa.list_(pa.int32(), 2)), None),
        (LISTS, pa.array([[1, 2], [], [None]], pa.large_list(pa.int64())), None),
        ("bytes", pa.array([b"ab", b"cd", b"ef"], pa.binary(2)), None),
    ],
)
def test_other_forms_of_columns_have_the_bytes_of_their_values(kind: Any, column: pa.Array, values: Any):
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": kind}]}
    rows = [{"x": value} for value in values or column.to_pylist()]
    assert encode_rows(pa.table({"x": column}), schema).to_pylist() == encoded(rows, schema)


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("long", pa.array([1, None])),
        ({"type": "array", "items": "long"}, pa.array([[1, None]])),
        ({"type": "enum", "name": "e", "symbols": ["A"]}, pa.array(["B"])),
        ({"type": "fixed", "name": "f", "size": 2}, pa.array([b"abc"])),
        (
            {"type": "fixed", "name": "f", "size": 1, "logicalType": "decimal", "precision": 2},
            pa.array([Decimal(128)], pa.decimal128(9, 0)),
        ),
        ("int", pa.array([2**31])),
    ],
)
def test_a_value_that_the_schema_does_not_allow_is_an_error(kind: Any, column: pa.Array):
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": kind}]}
    with pytest.raises(ValueError):
        encode_rows(pa.table({"x": column}), schema)
