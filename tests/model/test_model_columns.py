"""Stored values in the table's columns: the type of today, at every depth, and columns that have ids."""

import datetime as dt
import math
import struct
from dataclasses import replace
from decimal import Decimal

import pytest
from hudi_model.actions import CommitMetadata, TimelineEntry
from hudi_model.columns import conform, java_text, promote, promoted
from hudi_model.files import Damaged, Field, Record, Schema, SchemaVersion, Value, value_at
from hudi_model.keys import key_text
from hudi_model.queries import read_snapshot
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.schemas import with_ids
from hudi_model.tables import SchemaFile, Table
from hypothesis import given
from hypothesis import strategies as st
from model_states import at, base, commit, table


@pytest.mark.parametrize(
    ("value", "stored", "wanted", "found"),
    [
        (16777217, "int32", "float32", 16777216.0),
        (-16777219, "int32", "float32", -16777220.0),
        (9007199254740993, "int64", "float64", 9007199254740992.0),
        (3, "int64", "float32", 3.0),
        (1.100000023841858, "float32", "float64", 1.1),
        (-7, "int32", "string", "-7"),
        (1.100000023841858, "float32", "string", "1.1"),
        (123456.789, "float64", "string", "123456.789"),
        (1234567.0, "float64", "string", "1234567.0"),
        (16777217.0, "float64", "string", "1.6777217E7"),
        (1e10, "float64", "string", "1.0E10"),
        (-1.5e-5, "float64", "string", "-1.5E-5"),
        (0.001, "float64", "string", "0.001"),
        (-0.0, "float64", "string", "-0.0"),
        (math.nan, "float64", "string", "NaN"),
        (-math.inf, "float32", "string", "-Infinity"),
        (Decimal("0.00000001"), "decimal(20,8)", "string", "1E-8"),
        (dt.date(1583, 1, 1), "date", "string", "1583-01-01"),
        (b"\xc3\xa9", "binary", "string", "é"),
        ("é", "string", "binary", b"\xc3\xa9"),
        (5, "int32", "decimal(20,2)", Decimal("5.00")),
        (1.005, "float64", "decimal(20,2)", Decimal("1.01")),
        (-1.00499999523162841796875, "float32", "decimal(20,2)", Decimal("-1.01")),
        ("0.125", "string", "decimal(20,2)", Decimal("0.13")),
        (Decimal("1.5"), "decimal(5,1)", "decimal(20,4)", Decimal("1.5000")),
        ("2024-1-3", "string", "date", dt.date(2024, 1, 3)),
    ],
)
def test_a_value_is_written_as_the_tables_type_has_it(value: Value, stored: str, wanted: str, found: Value) -> None:
    assert repr(promoted(value, stored, wanted)) == repr(found)


@pytest.mark.parametrize(
    ("value", "stored", "wanted"),
    [
        ("7", "string", "int64"),
        (1.5, "float64", "int64"),
        (1.5, "float64", "float32"),
        ("x", "string", "float64"),
        (True, "boolean", "string"),
        (True, "boolean", "decimal(5,2)"),
        (dt.datetime(2024, 1, 1), "local-timestamp-micros", "string"),  # noqa: DTZ001 - a local one
        (1000, "int32", "decimal(4,2)"),
        (math.nan, "float64", "decimal(4,2)"),
        ("x", "string", "decimal(4,2)"),
        (Decimal("1.55"), "decimal(5,2)", "decimal(5,1)"),
        ("2024-02-30", "string", "date"),
        ("yesterday", "string", "date"),
    ],
)
def test_what_the_tables_type_cannot_hold_is_refused(value: Value, stored: str, wanted: str) -> None:
    with pytest.raises(Rejection) as refused:
        promote(value, Field("c", stored), Field("c", wanted), "a file")

    assert refused.value.reason is Reason.SCHEMA_INCOMPATIBLE


@given(st.floats(width=32))
def test_a_widened_float_narrows_back_to_what_was_stored(number: float) -> None:
    wide = promoted(number, "float32", "float64")
    assert struct.pack("f", wide) == struct.pack("f", number) or math.isnan(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_javas_form_says_the_same_number(number: float) -> None:
    assert float(java_text(Decimal(repr(number)))) == number


def nested(kind: str, name: str, *parts: Field, id: int | None = None) -> Field:  # noqa: A002 - as the field's
    return Field(name, kind, None, id, parts)


def test_a_part_that_a_file_lacks_is_null_and_parts_are_widened_at_every_depth() -> None:
    stored = Schema((
        nested("struct<x:int32>", "s", Field("x", "int32")),
        nested("list<struct<m:int32>>", "l", nested("struct<m:int32>", "element", Field("m", "int32"))),
        nested("map<string,int32>", "m", Field("value", "int32")),
    ))  # fmt: skip
    wanted = Schema((
        nested("struct<x:string,y:string>", "s", Field("x", "string"), Field("y", "string")),
        nested("list<struct<m:float64,n:date>>", "l",
               nested("struct<m:float64,n:date>", "element", Field("m", "float64"), Field("n", "date"))),
        nested("map<string,string>", "m", Field("value", "string")),
    ))  # fmt: skip
    row = Record({"s": {"x": 1}, "l": [{"m": 2}, None], "m": {"k": 3, "z": None}})

    assert conform((row,), wanted, "a file", stored)[0].values == {
        "s": {"x": "1", "y": None},
        "l": [{"m": 2.0, "n": None}, None],
        "m": {"k": "3", "z": None},
    }


@pytest.mark.parametrize(
    ("name", "found"),
    [("s.x", 1), ("s.t.y", 2), ("s.t.z", None), ("a.b", 3), ("a.c", None), ("q", None), ("n.x", None)],
)
def test_a_name_with_points_leads_into_structs(name: str, found: Value) -> None:
    assert value_at({"s": {"x": 1, "t": {"y": 2}}, "a.b": 3, "a": 4, "n": None}, name) == found


@pytest.mark.parametrize(("number", "text"), [(2.5, "2.5"), (0.1, "0.1"), (1e10, "1.0E10"), (math.inf, "Infinity")])
def test_a_float_in_a_key_is_written_as_java_does(number: float, text: str) -> None:
    assert key_text(number) == text


def test_a_key_whose_digits_depend_on_a_width_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="virtual-keys"):
        key_text(1.100000023841858)


def test_a_struct_is_no_list() -> None:
    wanted = nested("list<int32>", "c", Field("element", "int32"))
    with pytest.raises(Rejection, match="SCHEMA_INCOMPATIBLE"):
        promote({"x": 1}, nested("struct<x:int32>", "c", Field("x", "int32")), wanted, "a file")


def test_parts_are_found_by_their_ids_at_every_depth() -> None:
    then = Schema((
        nested("struct<a:int32,b:string>", "s", Field("a", "int32", None, 2), Field("b", "string", None, 3), id=1),
        nested("list<struct<m:int32>>", "l",
               nested("struct<m:int32>", "element", Field("m", "int32", None, 6), id=5), id=4),
    ))  # fmt: skip
    now = Schema((
        nested("list<struct<n:int64>>", "k",
               nested("struct<n:int64>", "element", Field("n", "int64", None, 6), id=5), id=4),
        nested("struct<b:int32,c:string>", "s", Field("b", "int32", None, 7), Field("c", "string", None, 3), id=1),
    ))  # fmt: skip
    row = Record({"s": {"a": 1, "b": "x"}, "l": [{"m": 2}]})

    assert conform((row,), now, "a file", then)[0].values == {"k": [{"n": 2}], "s": {"b": None, "c": "x"}}


def test_columns_get_the_ids_of_the_known_ones_of_their_names() -> None:
    own = Schema((nested("struct<a:int32>", "s", Field("a", "int32")), Field("x", "string")))
    known = Schema((nested("struct<a:int32>", "s", Field("a", "int32", None, 2), id=1),))

    (struct, other) = with_ids(own, known).fields
    assert (struct.id, struct.parts[0].id, other.id) == (1, 2, None)


def numbered(**ids: int) -> Schema:
    kinds = {"ts": "int64"}
    return Schema(tuple(Field(name, kinds.get(name, "string"), None, number) for name, number in ids.items()))


FIRST, RENAMED = numbered(id=0, ts=1, value=2), numbered(id=0, ts=1, title=2, value=3)


def altered(*, stated: bool, files: tuple[SchemaFile, ...]) -> Table:
    """A row written before a column was renamed and another got its name, and one written since."""
    old = replace(base(1, ("a", 1, "x")), schema=Schema(tuple(replace(one, id=None) for one in FIRST.fields)))
    new = replace(base(3, ("b", 2, "y"), file_id="f2"), schema=RENAMED)
    first, newest = SchemaVersion(0, FIRST), SchemaVersion(int(at(2)), RENAMED)
    timeline = [
        stating(commit(1, old), first if stated else None),
        stating(commit(2, schema=RENAMED), newest),
        stating(commit(3, new, schema=RENAMED), newest),
    ]
    return replace(table(timeline, [old, new]), schema_files=files)


def stating(entries: tuple[TimelineEntry, ...], version: SchemaVersion | None) -> tuple[TimelineEntry, ...]:
    """The entries of a commit that says which ids its columns had."""
    return tuple(
        replace(one, content=replace(one.content, identified=version))
        if isinstance(one.content, CommitMetadata)
        else one
        for one in entries
    )


def values(found: Table) -> list[tuple[Value, Value, Value]]:
    return sorted((row["id"], row["title"], row["value"]) for row in read_snapshot(found).rows)  # type: ignore[type-var]


HISTORY = (SchemaVersion(0, FIRST), SchemaVersion(int(at(2)), RENAMED))


def test_a_renamed_column_keeps_its_values_and_a_new_one_of_its_name_has_none() -> None:
    kept = altered(stated=False, files=(SchemaFile(at(2), HISTORY),))

    assert values(kept)[0] == ("a", "x", None)


def test_the_schema_that_a_commit_states_goes_before_the_history() -> None:
    wrong = SchemaFile(at(2), (SchemaVersion(0, numbered(id=0, ts=1, value=3)),))

    assert values(altered(stated=True, files=(wrong,)))[0] == ("a", "x", None)


def test_a_history_of_a_commit_that_did_not_complete_counts_nothing() -> None:
    pending = SchemaFile(at(4), (SchemaVersion(0, numbered(id=0, ts=1, value=3)),))

    assert values(altered(stated=False, files=(SchemaFile(at(2), HISTORY), pending)))[0] == ("a", "x", None)


def test_without_an_older_version_the_oldest_known_counts() -> None:
    assert values(altered(stated=False, files=()))[0] == ("a", None, "x")


def test_a_history_that_does_not_parse_is_refused() -> None:
    damage = Damaged(Reason.SCHEMA_INCOMPATIBLE, "DM-020", ".hoodie/.schema/x", "no list of schemas")
    with pytest.raises(Rejection, match="SCHEMA_INCOMPATIBLE"):
        values(altered(stated=True, files=(SchemaFile(at(2), damage),)))
