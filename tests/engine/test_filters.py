import datetime as dt
import operator
from decimal import Decimal
from numbers import Integral
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_spark import HudiError, TableDefinition, create_arrow, read_arrow, write_arrow
from hudi_spark.filters import filter_of, matching

ROWS = pa.table(
    {
        "n": pa.array([1, 2, None, 4], pa.int64()),
        "s": pa.array(["Ab", "cd", "É", None]),
        "d": pa.array([dt.date(2024, 2, 29), None, dt.date(2023, 1, 1), dt.date(2024, 12, 31)]),
        "t": pa.array([dt.datetime(2024, 2, 29, 23, tzinfo=dt.timezone.utc)] * 4, pa.timestamp("us", "UTC")),
        "l": pa.array([dt.datetime.fromisoformat("2024-02-29T23:00"), None, None, None], pa.timestamp("us")),
        "c": pa.array([dt.time(7, 30), dt.time(8), None, None], pa.time64("us")),
        "m": pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("-1.00")], pa.decimal128(6, 2)),
        "b": pa.array([True, False, None, True]),
        "f": pa.array([0.5, 1.5, None, 2.5], pa.float64()),
        "x": pa.array([b"\x01", b"\xff", None, b""]),
    }
)


@Integral.register
class Whole:
    """A whole number of another library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __int__(self) -> int:
        return self.value


def numbers(form: Any):
    """Positions of the rows that match."""
    numbered = ROWS.append_column("row", pa.array(range(ROWS.num_rows)))
    return matching(filter_of(form, ROWS.schema), numbered).column("row").to_pylist()


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        (["n", "=", "2"], [1]),
        (["n", "=", 2], [1]),
        (["n", "!=", "2"], [0, 3]),
        (["n", "<", "2"], [0]),
        (["n", "<=", "2"], [0, 1]),
        (["n", ">", "2"], [3]),
        (["n", ">=", "2"], [1, 3]),
        (["n", "in", ["1", "4"]], [0, 3]),
        (["n", "in", []], []),
        (["n", "is_null"], [2]),
        (["n", "is_not_null"], [0, 1, 3]),
        (["s", "=", "cd"], [1]),
        (["d", ">", "2024-01-01"], [0, 3]),
        (["t", "=", "2024-02-29T23:00:00.000000Z"], [0, 1, 2, 3]),
        (["m", ">=", "1.5"], [0, 1]),
        (["m", ">", "1.499"], [0, 1]),
        (["b", "=", True], [0, 3]),
        (["f", ">", "1.0"], [1, 3]),
        (["x", "=", "FF"], [1]),
        (["and", ["n", ">", "1"], ["s", "is_not_null"]], [1]),
        (["or", ["n", "=", "1"], ["s", "is_null"]], [0, 3]),
        (["not", ["n", "=", "1"]], [1, 3]),
        (["not", ["or", ["n", "=", "1"], ["b", "=", True]]], [1]),
        ([["fn", "identity", "n"], "=", "2"], [1]),
        ([["fn", "year", "d"], "=", 2024], [0, 3]),
        ([["fn", "month", "d"], "=", 2], [0]),
        ([["fn", "day", "t"], "=", 29], [0, 1, 2, 3]),
        ([["fn", "hour", "t"], "=", 23], [0, 1, 2, 3]),
        ([["fn", "lower", "s"], "=", "é"], [2]),
        ([["fn", "upper", "s"], "in", ["AB", "CD"]], [0, 1]),
        ([["fn", "substring", "s"], "=", "Ab"], [0]),
        ([["fn", "from_unixtime", "n"], "=", "1970-01-01 00:00:04"], [3]),
    ],
)
def test_the_grammar(form: Any, rows: list[int]):
    assert numbers(form) == rows


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        (("d", "==", dt.date(2024, 2, 29)), [0]),
        (["d", "in", [dt.date(2024, 2, 29), None]], [0]),
        (("d", "not in", {dt.date(2024, 2, 29)}), [2, 3]),
        (["t", "<=", dt.datetime(2024, 3, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2)))], [0, 1, 2, 3]),
        (["t", "<", dt.datetime(2024, 2, 29, 23, tzinfo=dt.timezone.utc)], []),
        (["l", "=", dt.datetime.fromisoformat("2024-02-29T23:00")], [0]),
        (["c", ">", dt.time(7, 30)], [1]),
        (["m", "=", Decimal("1.5")], [0]),
        (["m", ">", Decimal("1.499")], [0, 1]),
        (["not", ["m", "<", Decimal("1.500")]], [0, 1]),
        (["x", ">=", b"\x01"], [0, 1]),
        (["x", "=", bytearray(b"\xff")], [1]),
        (["n", "=", Whole(4)], [3]),
    ],
)
def test_values_as_python_has_them_compare_like_literals(form: Any, rows: list[int]):
    assert numbers(form) == rows


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("several", [False, True])
def test_a_time_is_compared_to_the_microsecond(unit: str, several: bool):
    """Between two values of the column lies a time that is neither of them: cut to its unit, it was the lower one."""
    day = dt.datetime.fromisoformat("2024-02-29T23:00:01")
    table = pa.table({"l": pa.array([day], pa.timestamp(unit)), "c": pa.array([day.time()], pa.time32(unit))})
    more = [day + dt.timedelta(days=1, seconds=n) for n in range(40 * several)]
    for value, found in ((day, 1), (day + dt.timedelta(microseconds=1), 0)):
        for form in (
            ["l", "in", [value, *more]],
            ["l", "in", [value.isoformat(timespec="microseconds"), *more]],
            ["c", "in", [value.time(), *(one.time() for one in more[2:])]],
            ["and", ["l", ">=", value], ["c", ">=", value.time().isoformat("microseconds")]],
        ):
            assert matching(filter_of(form, table.schema), table).num_rows == found


@pytest.mark.parametrize(("precision", "scale"), [(38, 2), (38, 38), (5, 0)])
@pytest.mark.parametrize("text", ["0.005", "-0.005", "0", "123456789012345678901234567890123456.5", "1e-38"])
def test_a_decimal_of_any_digits_compares_with_every_column_of_decimals(precision: int, scale: int, text: str):
    """Both together may have more than the 38 digits of 128 bits: such a filter was refused."""
    value, stored = Decimal(text), [Decimal(one).scaleb(-scale) for one in (-99999, -1, 0, 1, 99999)]
    table = pa.table({"m": pa.array(stored, pa.decimal128(precision, scale))})
    for name, holds in (("=", operator.eq), ("<", operator.lt), (">=", operator.ge), ("!=", operator.ne)):
        found = matching(filter_of(["m", name, text], table.schema), table)["m"].to_pylist()
        assert found == [one for one in stored if holds(one, value)]


def test_a_decimal_is_found_in_a_column_of_floats(tmp_path: Path):
    """As a float: by its own digits it was outside of the bounds of the file that has it, and the row was left out."""
    create_arrow(tmp_path, TableDefinition("t", pa.schema({"id": pa.string(), "f": pa.float64()}), record_key=["id"]))
    write_arrow(tmp_path, pa.table({"id": ["a"], "f": [0.1]}), "insert")

    assert read_arrow(tmp_path, filter=["f", "=", Decimal("0.1")]).column("id").to_pylist() == ["a"]


def test_a_comparison_with_null_is_unknown_and_stays_so():
    assert numbers(["n", "=", None]) == []
    assert numbers(["not", ["n", "=", None]]) == []
    assert numbers(["not", ["n", "in", ["1", None]]]) == []
    assert numbers(["or", ["n", "=", None], ["n", "=", "1"]]) == [0]


@pytest.mark.parametrize(
    "form",
    [
        [],
        "n like 1",
        ["n", "like", "1"],
        ["nothing", "=", "1"],
        ["n", "=", "one"],
        ["d", "=", "yesterday"],
        ["x", "=", "no hex"],
        [["fn", "cube", "n"], "=", "1"],
        [["fn", "year", "n"], "=", 2024],
        [["fn", "trim", "s", 7], "=", "a"],
        [["fn", "date_format", "d"], "=", "2024"],
        ["and"],
        ["n", "in", "1"],
    ],
)
def test_what_is_no_filter_is_refused(form: Any):
    with pytest.raises(HudiError) as caught:
        filter_of(form, ROWS.schema)
    assert caught.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("more", [[], [None]])
def test_many_values_in_a_list_keep_the_meaning_of_null(*, negated: bool, more: list[None]):
    """50,000 values once ended the process; beyond a few they are looked up in a set."""
    few, many = ["1", "4", *more], ["1", "4", *map(str, range(10, 50_000)), *more]

    def answer(values: list[str | None]) -> list[int]:
        form = ["n", "in", values]
        return numbers(["not", form] if negated else form)

    assert answer(many) == answer(few)


def test_a_long_junction_is_read():
    assert numbers(["or", *(["n", "=", "4"] for _ in range(20_000))]) == [3]


@pytest.mark.parametrize(
    "form",
    [
        ["n", "=", 2.5],
        ["n", "in", [2.5]],
        ["n", "=", True],
        ["n", "=", 2**70],
        ["d", "=", 19000],
        ["t", ">", 0],
        ["s", "=", 5],
        ["b", "=", 1],
        ["m", "=", 1.5],
        ["m", "=", Decimal("NaN")],
        ["n", "=", Decimal(1)],
        ["f", "=", b"1"],
        ["s", "=", b"Ab"],
        ["x", "=", memoryview(b"1")],
        ["d", "=", dt.datetime.fromisoformat("2024-02-29")],
        ["t", "=", dt.datetime.fromisoformat("2024-02-29T23:00")],
        ["t", "=", dt.date(2024, 2, 29)],
        ["l", "=", dt.datetime(2024, 2, 29, 23, tzinfo=dt.timezone.utc)],
        ["c", "=", dt.time(7, 30, tzinfo=dt.timezone.utc)],
        [["fn", "from_unixtime", "s"], "is_null"],
        [["fn", "from_unixtime", "m"], "is_null"],
    ],
)
def test_a_value_of_another_type_is_refused(form: Any):
    """Arrow alone would cut 2.5 to 2, and take 19000 for a day."""
    with pytest.raises(HudiError) as caught:
        filter_of(form, ROWS.schema)

    assert caught.value.reason == "CONFIG_INVALID"
