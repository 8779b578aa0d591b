"""The schema that a write uses: what release 1.1.1 decides, and where it would lose values, a refusal."""

import json

import pyarrow as pa
import pytest
from hudi_format.table.internal_schema import InternalSchema
from hudi_spark import HudiError
from hudi_spark.schema import (
    WriterSchema,
    avro_of_arrow,
    cast_rows,
    changed,
    schema_changes,
    schema_of_avro,
    without_columns,
    writer_schema,
)
from hudi_spark.testing import changes_of, resolve
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

RECONCILE = "hoodie.datasource.write.reconcile.schema"
NULLS = "hoodie.write.set.null.for.missing.columns"
WIDEN = {"hoodie.schema.on.read.enable": "true"}
DROP = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"


def test_what_a_write_changes_of_the_columns_is_reported():
    """Types at every depth, columns that come and go, and that nulls are allowed from now on."""
    inner = pa.struct([("x", pa.int32())])
    before = avro_of_arrow(
        pa.schema([pa.field("a", pa.int32(), nullable=False), ("b", pa.int32()), ("s", inner), ("l", pa.list_(inner))]),
        "t",
    )
    wider = pa.struct([("x", pa.int64()), ("y", pa.string())])
    rows = columns(a=pa.int64(), s=wider, l=pa.list_(wider), n=pa.decimal128(5, 2))
    after = writer_schema(before, rows, "t", resolve({**WIDEN, DROP: "true"}))
    assert schema_changes(before, after) == (
        "column a from int to long",
        "column a nullable",
        "column b dropped",
        "column s.x from int to long",
        "column s.y added, string",
        "column l.element.x from int to long",
        "column l.element.y added, string",
        "column n added, decimal(5, 2)",
    )
    assert schema_changes(after.avro, after) == schema_changes(None, after) == ()


def columns(**kinds: pa.DataType):
    return pa.schema(list(kinds.items()))


AB = avro_of_arrow(columns(a=pa.int32(), b=pa.int32()), "t")


def names(schema: WriterSchema):
    return [field["name"] for field in schema.avro["fields"]]


def test_a_new_table_states_its_rows_as_spark_would():
    """Names by path, null first, decimals as fixed types of least width: the text that 1.1.1 writes of such rows."""
    inner = pa.struct([("m", pa.decimal128(20, 3)), ("l", pa.list_(pa.struct([("x", pa.int8())])))])
    rows = pa.schema(
        [pa.field("id", pa.string(), nullable=False), pa.field("s", inner), ("t", pa.timestamp("us", "UTC"))]
    )
    assert json.loads(schema_of_avro(avro_of_arrow(rows, "or-ders")).text) == {
        "type": "record",
        "name": "or_ders_record",
        "namespace": "hoodie.or_ders",
        "fields": [
            {"name": "id", "type": "string"},
            {
                "name": "s",
                "type": [
                    "null",
                    {
                        "type": "record",
                        "name": "s",
                        "namespace": "hoodie.or_ders.or_ders_record",
                        "fields": [
                            {
                                "name": "m",
                                "type": [
                                    "null",
                                    {
                                        "type": "fixed",
                                        "name": "fixed",
                                        "namespace": "hoodie.or_ders.or_ders_record.s.m",
                                        "size": 9,
                                        "logicalType": "decimal",
                                        "precision": 20,
                                        "scale": 3,
                                    },
                                ],
                                "default": None,
                            },
                            {
                                "name": "l",
                                "type": [
                                    "null",
                                    {
                                        "type": "array",
                                        "items": [
                                            "null",
                                            {
                                                "type": "record",
                                                "name": "l",
                                                "namespace": "hoodie.or_ders.or_ders_record.s",
                                                "fields": [{"name": "x", "type": ["null", "int"], "default": None}],
                                            },
                                        ],
                                    },
                                ],
                                "default": None,
                            },
                        ],
                    },
                ],
                "default": None,
            },
            {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}], "default": None},
        ],
    }


def test_new_columns_follow_and_the_table_keeps_its_order():
    """Whatever order rows have, the table's columns stay where they are."""
    assert names(writer_schema(AB, columns(c=pa.string(), b=pa.int32(), a=pa.int32()), "t", resolve({}))) == [
        "a",
        "b",
        "c",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [({RECONCILE: "true"}, ["a", "b", "c"]), ({NULLS: "true"}, ["a", "b", "c"]), ({DROP: "true"}, ["a", "c"])],
)
def test_missing_columns_follow_the_options(options: dict[str, str], expected: list[str]):
    """A missing column is refused with the ways out, unless an option keeps, fills or drops it."""
    incoming = columns(c=pa.string(), a=pa.int32())
    with pytest.raises(HudiError, match=r"the rows lack column 'b'.*set.null.for.missing.columns"):
        writer_schema(AB, incoming, "t", resolve({}))
    assert names(writer_schema(AB, incoming, "t", resolve(options))) == expected


def test_a_partial_update_keeps_what_it_does_not_state():
    """Rows of some columns do not change the others."""
    table = avro_of_arrow(pa.schema([("a", pa.int32()), pa.field("b", pa.int32(), nullable=False)]), "t")
    assert writer_schema(table, columns(a=pa.int32()), "t", resolve({}), partial=True).avro == table


def test_reconciling_keeps_the_tables_types_and_refuses_what_they_cannot_hold():
    """With reconciliation a wider type is narrowed value by value, and no value changes."""
    schema = writer_schema(AB, columns(a=pa.int64(), b=pa.int32()), "t", resolve({RECONCILE: "true"}))
    assert schema.avro == AB
    assert cast_rows(pa.table({"a": [1, None], "b": [1, 2]}), schema).column("a").to_pylist() == [1, None]
    with pytest.raises(HudiError, match=r"column 'a'.*int32 cannot hold"):
        cast_rows(pa.table({"a": [2**40], "b": [1]}), schema)


@pytest.mark.parametrize(
    ("incoming", "message"),
    [
        (columns(a=pa.int32(), b=pa.int32(), B=pa.int32()), "'B' and 'b' differ in nothing but case"),
        (columns(A=pa.int32(), b=pa.int32()), "'A' and 'a' differ in nothing but case"),
        (pa.schema([("a", pa.int32()), ("b", pa.int32()), ("b", pa.int32())]), "'b' stands there twice"),
        (
            pa.schema([*columns(a=pa.int32(), b=pa.int32()), pa.field("c", pa.int32(), nullable=False)]),
            "'c' is new and required",
        ),
        (columns(a=pa.int32(), b=pa.int32(), c=pa.null()), "'c' has type null"),
        (columns(a=pa.int32(), b=pa.int32(), c=pa.duration("s")), r"'c' is duration\[s\], which a table cannot hold"),
        (columns(a=pa.int32(), b=pa.int32(), c=pa.map_(pa.int32(), pa.string())), "'c.key' is int32"),
        (columns(a=pa.int32(), b=pa.int32(), c=pa.struct([])), "'c' is struct<>"),
        (columns(a=pa.int32(), b=pa.int32(), c=pa.decimal256(50, 2)), "'c' is decimal256"),
        (pa.schema([("a", pa.int32()), ("b", pa.int32()), ("c d", pa.int32())]), "no column named 'c d'"),
    ],
)
def test_what_no_table_can_hold_is_refused_by_name(incoming: pa.Schema, message: str):
    """Two names that differ in case, types that Avro lacks, names that it does not take: refused before a write."""
    with pytest.raises(HudiError, match=message) as refused:
        writer_schema(AB, incoming, "t", resolve({}))
    assert refused.value.reason == "SCHEMA_INCOMPATIBLE"


WIDE = pa.table(
    {
        "u8": pa.array([255, None], pa.uint8()),
        "u32": pa.array([2**32 - 1, 0], pa.uint32()),
        "u64": pa.array([2**64 - 1, None], pa.uint64()),
        "text": pa.array(["x", None], pa.large_string()),
        "view": pa.array(["y", "z"], pa.string_view()),
        "kind": pa.array(["k", None]).dictionary_encode(),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["r"])),
        "day": pa.array([86_400_000, None], pa.date64()),
        "nanos": pa.array([1_000, None], pa.timestamp("ns", "Europe/Paris")),
        "list": pa.array([[1], None], pa.large_list(pa.int16())),
        "pair": pa.array([[1, 2], [3, None]], pa.list_(pa.int32(), 2)),
        "half": pa.array([1.5, None], pa.float16()),
        "bytes": pa.array([b"ab", None], pa.binary(2)),
    }
)


def test_types_of_arrow_become_plain_ones_without_loss():
    """Wide, packed and unsigned Arrow types keep every value as the plain type of a table."""
    schema = writer_schema(None, WIDE.schema, "t", resolve({}))
    found = cast_rows(WIDE, schema)
    assert found.schema.types == schema.arrow.types
    assert [str(kind) for kind in found.schema.types[:4]] == ["int32", "int64", "decimal128(20, 0)", "string"]
    assert found.column("nanos").cast(pa.int64()).to_pylist() == [1, None]
    same = [name for name in WIDE.column_names if name not in ("nanos", "u64")]
    assert found.select(same).to_pydict() == WIDE.select(same).to_pydict()
    assert [str(one) for one in found.column("u64").to_pylist()] == [str(2**64 - 1), "None"]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[("k", [1, None])], None, [("l", None)]], pa.map_(pa.large_string(), pa.list_view(pa.int8()))),
        pa.array([[1], None, [2, None]], pa.large_list(pa.uint16())).slice(1),
        pa.array([[[1, 2]], [], None], pa.list_(pa.list_(pa.int8(), 2))),
        pa.array([None, {"a": "x"}], pa.struct([("a", pa.dictionary(pa.int8(), pa.string()))])),
        pa.array([None, None], pa.struct([("a", pa.dictionary(pa.int8(), pa.string()))])),
        pa.array([{"a": [1]}, None], pa.struct([("a", pa.list_view(pa.int8()))])).slice(1),
    ],
)
def test_layouts_inside_others_are_unpacked(values: pa.Array):
    """Whatever layout lists, dictionaries and structs have, and wherever a slice begins, the values stay."""
    rows = pa.table({"c": pa.chunked_array([values.slice(0, 0), values])})
    found = cast_rows(rows, writer_schema(None, rows.schema, "t", resolve({})))
    found.validate(full=True)
    assert found.to_pylist() == rows.to_pylist()


def test_what_lies_under_a_null_is_no_value_of_a_row():
    """Bytes that are no text may stand there: they are not written."""
    offsets = pa.array([0, 1, 2], pa.int32()).buffers()[1]
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff")])
    rows = pa.table({"c": pa.StructArray.from_arrays([texts], ["a"], mask=pa.array([False, True]))})
    found = cast_rows(rows, writer_schema(None, rows.schema, "t", resolve({})))
    assert found.to_pylist() == [{"c": {"a": "a"}}, {"c": None}]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (pa.array([1], pa.timestamp("ns", "UTC")), pa.timestamp("us", "UTC")),
        (pa.array([2**53 + 1]), pa.float64()),
        (pa.array([1.005]), pa.decimal128(5, 2)),
        (pa.array(["no day"]), pa.date32()),
        (pa.array(["1.234"]), pa.decimal128(5, 2)),
        (pa.array([1], pa.date64()), pa.date32()),
        (pa.array([b"\xff"]), pa.string()),
        (pa.array([[1, None]]), pa.list_(pa.field("element", pa.int64(), nullable=False))),
        (pa.array([None], pa.int32()), pa.int32()),
    ],
)
def test_a_value_that_would_change_is_refused(values: pa.Array, wanted: pa.DataType):
    """No value is rounded, cut or dropped on its way into a column; a required column takes no null."""
    optional = values.null_count == 0 or wanted != values.type
    arrow = pa.schema([pa.field("c", wanted, nullable=optional)])
    with pytest.raises(HudiError, match="column 'c") as refused:
        cast_rows(pa.table({"c": values}), WriterSchema(AB, arrow))
    assert refused.value.reason == "SCHEMA_INCOMPATIBLE"


def test_partition_columns_leave_a_schema():
    """What the path holds is left out of files and commits."""
    assert names(without_columns(schema_of_avro(AB), ["a"])) == ["b"]


def test_meta_fields_of_rows_are_not_columns():
    """Rows read from a table can be written to it: their meta fields are made anew."""
    incoming = pa.schema([("_hoodie_commit_time", pa.string()), *AB_ARROW])
    assert writer_schema(AB, incoming, "t", resolve({})).avro == AB


AB_ARROW = columns(a=pa.int32(), b=pa.int32())
LEAVES = st.sampled_from(
    [pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.date32(), pa.decimal128(7, 2), pa.timestamp("us", "UTC")]
)
KINDS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(pa.list_),
        inner.map(lambda kind: pa.map_(pa.string(), kind)),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda kinds: pa.struct([(f"f{n}", k) for n, k in enumerate(kinds)])
        ),
    ),
    max_leaves=6,
)


@st.composite
def schemas(draw: DrawFn):
    return pa.schema([(f"c{place}", kind) for place, kind in enumerate(draw(st.lists(KINDS, min_size=1, max_size=4)))])


@given(schemas(), schemas())
def test_a_write_of_a_tables_own_columns_changes_nothing(first: pa.Schema, second: pa.Schema):
    """Rows of the table's schema leave it as it is; new columns change nothing of the old ones."""
    table = avro_of_arrow(first, "t")
    assert writer_schema(table, first, "t", resolve({})).avro == table
    more = pa.schema([*first, *(field.with_name(f"n{field.name}") for field in second)])
    widened = writer_schema(table, more, "t", resolve({})).avro
    assert widened["fields"][: len(first)] == table["fields"]
    assert widened["fields"][len(first) :] == avro_of_arrow(pa.schema(list(more)[len(first) :]), "t")["fields"]


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "drop", "rename", "move"]), st.integers(0, 5), st.sampled_from("abcdef")),
    max_size=12,
)


@given(STEPS)
def test_ids_are_never_used_twice(steps: list[tuple[str, int, str]]):
    """Over any changes every id belongs to one column for ever, and no two columns share a name."""
    schema = changed_first()
    seen = {one.id: {one.name} for one in schema.fields}
    for kind, place, name in steps:
        column = schema.fields[place % len(schema.fields)].name
        record = {"change": kind, "column": name if kind == "add" else column, "type": "int", "to": name}
        try:
            after = changed(schema, changes_of([record]), schema.schema_id + 1)
        except HudiError:
            continue
        new = {one.id for one in after.fields} - {one.id for one in schema.fields}
        assert not new & seen.keys()
        assert len({one.name for one in after.fields}) == len(after.fields)
        assert after.max_column_id >= max(one.id for one in after.fields)
        seen.update((one, set()) for one in new)
        schema = after


def changed_first() -> InternalSchema:
    record = {"name": "r", "fields": [{"name": "z", "type": "int"}, {"name": "a", "type": ["null", "int"]}]}
    (change,) = changes_of([{"change": "add", "column": "r", "type": {"type": "record", **record}}])
    fields = change.type.fields
    return InternalSchema(0, 2, (fields[0], fields[1]))
