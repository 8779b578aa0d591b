"""Columns that the table has since given another type."""

import math
import struct

import numpy as np
import pyarrow as pa
import pytest
from hudi_spark import HudiError
from hudi_spark.schema import conform
from hudi_spark.schema.columns import java_text
from hypothesis import given
from hypothesis import strategies as st


def brought(values: list[object], found: pa.DataType, wanted: pa.DataType) -> list[object]:
    table = pa.table({"value": pa.array(values, found)})
    return conform(table, pa.schema([("value", wanted)]), "a file").column("value").to_pylist()


@pytest.mark.parametrize("found", [pa.int32(), pa.int64()])
def test_an_integer_reads_as_its_digits_once_the_column_is_text(found: pa.DataType) -> None:
    assert brought([7, -3, None], found, pa.string()) == ["7", "-3", None]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (7.0, "7.0"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (123456.789, "123456.789"),
        (1234567.0, "1234567.0"),
        (16777217.0, "1.6777217E7"),
        (1e10, "1.0E10"),
        (0.001, "0.001"),
        (-1.5e-5, "-1.5E-5"),
        (5e-324, "4.9E-324"),
        (-1e-323, "-9.9E-324"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (None, None),
    ],
)
def test_a_float_reads_in_javas_form_once_the_column_is_text(number: float | None, text: str | None) -> None:
    assert brought([number], pa.float64(), pa.string()) == [text]


def test_a_narrow_float_keeps_its_shortest_digits_as_text_and_as_a_wide_float() -> None:
    assert brought([1.1, 123456.789, None], pa.float32(), pa.string()) == ["1.1", "123456.79", None]
    assert brought([1.1, 123456.789, None], pa.float32(), pa.float64()) == [1.1, 123456.79, None]


def test_a_narrow_float_has_two_digits_at_least_though_one_tells_it_from_the_others() -> None:
    assert brought([2.0**-149, -(2.0**-148), 1e-40, None], pa.float32(), pa.string()) == [
        *("1.4E-45", "-2.8E-45", "1.0E-40"),
        None,
    ]
    assert brought([2.0**-149, -(2.0**-148), 1e-40], pa.float32(), pa.float64()) == [1.4e-45, -2.8e-45, 1e-40]


def test_a_half_float_has_the_digits_of_a_float_as_text() -> None:
    halves = [np.float16(1.5), np.float16(2.0**-24), None]

    assert brought(halves, pa.float16(), pa.string()) == ["1.5", "5.9604645E-8", None]


@given(st.floats(width=32))
def test_a_promoted_float_narrows_back_to_what_was_stored(number: float) -> None:
    (wide,) = brought([number], pa.float32(), pa.float64())
    assert struct.pack("f", wide) == struct.pack("f", number) or math.isnan(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_javas_form_says_the_same_number(number: float) -> None:
    assert math.copysign(1.0, float(java_text(repr(number)))) == math.copysign(1.0, number)
    assert float(java_text(repr(number))) == number


def test_a_text_is_refused_where_the_table_has_a_number() -> None:
    with pytest.raises(HudiError, match="SCHEMA_INCOMPATIBLE"):
        brought(["7"], pa.string(), pa.int64())
