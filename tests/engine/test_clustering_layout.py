"""The order of rows: by columns in turn, along the z-curve, along Hilbert's."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hudi_spark import HudiError
from hudi_spark.services.clustering_layout import Layout, hilbert, ranks, refuse_unsortable, sample_of, z_order
from hypothesis import given
from hypothesis import strategies as st

# Words of at most eight letters come in the order of their lengths first: they are filled up in front.
COLUMNS = {
    "long": pa.array([-(2**62), -1, 0, 7, 2**62, None], pa.int64()),
    "int": pa.array([-(2**31), -1, 0, 7, 2**31 - 2, None], pa.int32()),
    "double": pa.array([-1e300, -2.5, -1e-300, 1e-300, 3.0, None], pa.float64()),
    "float": pa.array([-3e38, -2.5, -1.0, 1.5, 3.0, None], pa.float32()),
    "text": pa.array([None, "b", "ba", "zz", "é!!", "abcdefgh"], pa.string()),
    "bytes": pa.array([None, b"\x01", b"\x02", b"ab", b"abcdefgh", b"abcdefghi"], pa.binary()),
    "date": pa.array([-1000, 0, 1, 2, 20000, None], pa.int32()).cast(pa.date32()),
    "time": pa.array([-5_000_000, 0, 1000, 2000, 10**15, None], pa.int64()).cast(pa.timestamp("us", "UTC")),
    "decimal": pa.array([-1_00, 1_00, 2_00, 3_00, 500_00, None], pa.int64()).cast(pa.decimal128(20, 0)),
    "flag": pa.array([None, False, False, True, True, True], pa.bool_()),
}


def _order(places: pa.Array) -> list[int]:
    values = places.to_pylist()
    return sorted(range(len(values)), key=lambda number: values[number])


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_a_column_on_the_z_curve_keeps_its_order(name: str):
    """A value's bits compare as values do, null where releases have it: alone a column is sorted by itself."""
    column = pa.chunked_array([COLUMNS[name]])
    assert _order(z_order([column])) == list(range(6))


@pytest.mark.parametrize("name", sorted(set(COLUMNS) - {"flag", "text", "bytes", "long", "int", "double", "float"}))
def test_coordinates_of_hilberts_curve_put_null_last(name: str):
    """As releases have it, for whole values that are not negative."""
    column = pa.chunked_array([COLUMNS[name]]).slice(1)
    along = _order(hilbert([column, pa.chunked_array([pa.array([0] * 5)])]))
    assert 4 in along


def test_bits_of_columns_take_turns():
    """First bit of the first column, first bit of the second, and so on."""
    first = pa.chunked_array([pa.array([2**63 - 1], pa.int64())])
    second = pa.chunked_array([pa.array([-(2**63)], pa.int64())])
    assert z_order([first, second]).to_pylist() == [b"\xaa" * 16]


@pytest.mark.parametrize("dimensions", [2, 3])
def test_neighbours_on_hilberts_curve_are_neighbours(dimensions: int):
    """Along the curve through a cube one coordinate changes at a time, by one."""
    cells = np.array(list(itertools.product(range(8), repeat=dimensions)))
    columns = [pa.chunked_array([pa.array(cells[:, number])]) for number in range(dimensions)]
    steps = np.abs(np.diff(cells[_order(hilbert(columns))], axis=0)).sum(axis=1)
    assert set(steps.tolist()) == {1}


@given(st.lists(st.none() | st.text("abc", max_size=3)), st.lists(st.none() | st.text("abc", max_size=3)))
def test_a_rank_counts_the_lesser_values_of_a_sample(values: list[str | None], sample: list[str | None]):
    """Each value of the sample once; null has no rank."""
    known = {one for one in sample if one is not None}
    found = ranks(pa.chunked_array([pa.array(values, pa.string())]), pa.chunked_array([pa.array(sample, pa.string())]))
    expected = [None if one is None else sum(other < one for other in known) for one in values]
    assert found.to_pylist() == expected


@given(
    st.lists(st.tuples(st.none() | st.integers(-5, 5), st.none() | st.text("ab", max_size=2)), min_size=1),
    st.integers(1, 5),
    st.sampled_from(["LINEAR", "ZORDER", "HILBERT"]),
)
def test_parts_follow_one_another(pairs: list[tuple[int | None, str | None]], parts: int, curve: str):
    """Whatever a sample says, rows of one part come before all of the next, and none is lost."""
    rows = pa.table(
        {"a": pa.array([a for a, _ in pairs], pa.int64()), "b": pa.array([b for _, b in pairs], pa.string())}
    )
    layout = Layout(("a", "b"), curve)
    layout = layout.with_sample(sample_of(layout, rows, 3))
    numbers = layout.parts_of(rows, layout.boundaries(parts)).to_numpy()
    assert set(numbers.tolist()) <= set(range(parts))
    ordered = layout.ordered(rows.append_column("part", [pa.array(numbers)]))
    assert ordered.num_rows == len(pairs)
    assert np.all(np.diff(ordered.column("part").to_numpy()) >= 0)


def test_columns_without_an_order_are_refused():
    """A struct has none; a field inside it has."""
    schema = pa.schema([("s", pa.struct([("x", pa.int32())]))])
    refuse_unsortable(("s.x",), schema)
    for name in ("s", "s.y", "t"):
        with pytest.raises(HudiError, match="CONFIG_INVALID"):
            refuse_unsortable((name,), schema)


def test_rows_are_sorted_by_a_field_of_a_struct():
    """Null before every value."""
    rows = pa.table({"s": pa.array([{"x": 2}, None, {"x": 1}], pa.struct([("x", pa.int32())]))})
    assert Layout(("s.x",)).ordered(rows).to_pylist() == [{"s": None}, {"s": {"x": 1}}, {"s": {"x": 2}}]
