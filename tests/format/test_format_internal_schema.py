"""Schemas with column ids: the texts of real tables byte for byte, every type both ways, bad texts refused."""

import json
from typing import Any

import pytest
from format_strategies import TEXT
from hudi_format.errors import FormatError, Reason
from hudi_format.table.internal_schema import (
    MAXIMUM_BYTES,
    ArrayType,
    InternalField,
    InternalSchema,
    MapType,
    PrimitiveType,
    RecordType,
    internal_schema_text,
    parse_column_type,
    parse_internal_schema,
    parse_schema_history,
    schema_at,
    schema_history_text,
)
from hypothesis import given
from hypothesis import strategies as st

IDS = st.integers(0, 2**31 - 1)
WORDS = ("int", "time-millis", "local-timestamp-micros", "decimal(10, 2)", "decimal_bytes(38, 0)", "fixed[7]")
PRIMITIVES = st.sampled_from([parse_column_type(word, "f") for word in (*WORDS, "decimal_fixed(20, 3)[9]", "uuid")])


def fields_of(types: st.SearchStrategy[Any], least: int = 0):
    fields = st.builds(InternalField, IDS, TEXT, st.booleans(), types, st.none() | TEXT)
    return st.lists(fields, min_size=least, max_size=3).map(tuple)


TYPES = st.recursive(
    PRIMITIVES,
    lambda inner: (
        st.builds(ArrayType, IDS, inner, st.booleans())
        | st.builds(MapType, IDS, inner, IDS, inner, st.booleans())
        | st.builds(RecordType, fields_of(inner))
    ),
    max_leaves=6,
)
SCHEMAS = st.builds(InternalSchema, st.integers(0, 10**17), IDS, fields_of(TYPES))

# What SerDeHelper of 1.1.1 and 1.2.0 wrote of an Avro schema, and the 0.15.0 form of a decimal.
WRITTEN = (
    '{"max_column_id":9,"version_id":20240101000000000,"type":"record","fields":['
    '{"id":0,"name":"i","optional":true,"type":"int","doc":"d"},'
    '{"id":1,"name":"decf","optional":false,"type":"decimal_fixed(20, 3)[9]"},'
    '{"id":2,"name":"old","optional":false,"type":"decimal(10, 2)"},'
    '{"id":3,"name":"arr","optional":false,"type":{"type":"array","element_id":5,"element":'
    '{"type":"record","fields":[{"id":6,"name":"x","optional":false,"type":"int"}]},"element_optional":true}},'
    '{"id":4,"name":"mp","optional":false,"type":{"type":"map","key_id":7,"key":"string","value_id":8,"value":'
    '{"type":"array","element_id":9,"element":"long","element_optional":false},"value_optional":false}}]}'
)


def test_a_schema_that_apache_hudi_wrote_round_trips_byte_for_byte():
    schema = parse_internal_schema(WRITTEN, "f")
    assert internal_schema_text(schema) == WRITTEN
    assert schema.fields[1].type == PrimitiveType("decimal_fixed", 20, 3, 9)


@given(SCHEMAS)
def test_a_schema_of_any_types_round_trips(schema: InternalSchema):
    assert parse_internal_schema(internal_schema_text(schema), "f") == schema


@given(st.lists(SCHEMAS, max_size=4, unique_by=lambda one: one.schema_id))
def test_a_history_comes_back_oldest_first(schemas: list[InternalSchema]):
    found = parse_schema_history(schema_history_text(schemas), "f")
    assert found == tuple(sorted(schemas, key=lambda one: one.schema_id))


def test_a_file_belongs_to_the_newest_schema_that_is_not_newer_than_it():
    history = [InternalSchema(at, 0, ()) for at in (5, 10)]
    found = [schema_at(history, at) for at in (4, 5, 9, 10, 11)]
    assert [one and one.schema_id for one in found] == [None, 5, 5, 10, 10]


def test_a_schema_without_id_is_the_first_and_counts_its_own_columns():
    text = '{"type":"record","fields":[{"id":3,"name":"a","optional":true,"type":"int"}]}'
    assert parse_internal_schema(text, "f") == InternalSchema(
        0, 3, (InternalField(3, "a", optional=True, type=PrimitiveType("int")),)
    )


def test_a_vector_names_size_element_and_backing():
    word = "vector[128, FLOAT, FIXED_BYTES]"
    kind = parse_column_type(word, "f")
    assert (kind.size, kind.element, kind.backing, str(kind)) == (128, "FLOAT", "FIXED_BYTES", word)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.pop("fields"),
        lambda one: one.update(fields=[1]),
        lambda one: one.update(version_id="1"),
        lambda one: one.update(max_column_id=2**40),
        lambda one: one["fields"][0].pop("name"),
        lambda one: one["fields"][0].update(id=True),
        lambda one: one["fields"][0].update(optional=None),
        lambda one: one["fields"][0].update(doc=5),
        lambda one: one["fields"][0].update(type="decimal_fixed(20, 3)"),
        lambda one: one["fields"][0].update(type="decimal(20, 3)[9]"),
        lambda one: one["fields"][0].update(type={"type": "set"}),
    ],
)
def test_a_text_that_is_no_schema_is_refused(change: Any):
    loaded = json.loads(WRITTEN)
    change(loaded)
    with pytest.raises(FormatError) as caught:
        parse_internal_schema(json.dumps(loaded), "f")
    assert (caught.value.reason, caught.value.clause) == (Reason.SCHEMA_INCOMPATIBLE, "DM-020")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schemas":{}}', "[" * 100_000])
def test_a_file_that_is_no_history_is_refused(text: str):
    with pytest.raises(FormatError):
        parse_schema_history(text, "f")


def test_columns_may_not_lie_without_end():
    kind: Any = "int"
    for _ in range(80):
        kind = {"type": "array", "element_id": 1, "element": kind, "element_optional": True}
    field = {"id": 0, "name": "a", "optional": True, "type": kind}
    with pytest.raises(FormatError, match="deeper"):
        parse_internal_schema(json.dumps({"type": "record", "fields": [field]}), "f")


def test_an_endless_text_is_refused_before_it_is_parsed():
    with pytest.raises(FormatError) as caught:
        parse_internal_schema(b" " * (MAXIMUM_BYTES + 1), "f")
    assert caught.value.reason == Reason.LIMIT_EXCEEDED
