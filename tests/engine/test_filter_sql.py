"""Filters as SQL text."""

import datetime as dt
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hudi_spark import HudiError, TableDefinition, create_arrow, explain, read_arrow, read_batches, write_arrow
from hudi_spark.filters import filter_of, matching
from hypothesis import given
from hypothesis import strategies as st
from written_tables import SCHEMA, rows

ROWS = pa.table(
    {
        "n": pa.array([1, 2, None, -4], pa.int64()),
        "i": pa.array([1, 2, None, 4], pa.int32()),
        "s": pa.array(["Ab", "it's", "É", None]),
        "d": pa.array([dt.date(2024, 2, 29), None, dt.date(2023, 1, 1), dt.date(2024, 12, 31)]),
        "t": pa.array([dt.datetime(2024, 2, 29, 23, tzinfo=dt.timezone.utc)] * 4, pa.timestamp("us", "UTC")),
        "l": pa.array([dt.datetime(2024, 2, 29, 23)] * 4, pa.timestamp("us")),  # noqa: DTZ001 - a local time
        "m": pa.array([Decimal("1.50"), Decimal("2.00"), None, Decimal("-1.00")], pa.decimal128(6, 2)),
        "b": pa.array([True, False, None, True]),
        "f": pa.array([0.5, 1.5, None, 2.5], pa.float64()),
        "x": pa.array([b"\x01", b"\xff", None, b""]),
        "order by": pa.array([1, 2, 3, 4], pa.int32()),
        "and": pa.array([1, 2, 3, 4], pa.int32()),
    }
)


def numbers(form: Any) -> list[int]:
    """Positions of the rows that match."""
    numbered = ROWS.append_column("row", pa.array(range(ROWS.num_rows)))
    return matching(filter_of(form, ROWS.schema), numbered).column("row").to_pylist()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("n = 2", [1]),
        ("n == 2", [1]),
        ("n <> 2 and n != 1", [3]),
        ("n = -4", [3]),
        ("1 < n", [1]),
        ("-4 >= n", [3]),
        ("n IN (1, -4)", [0, 3]),
        ("n NOT IN (1, -4)", [1]),
        ("n not in (1, null)", []),
        ("n BETWEEN 1 AND 2 AND s = 'Ab'", [0]),
        ("n NOT BETWEEN 1 AND 2", [3]),
        ("n IS NULL OR n IS NOT NULL", [0, 1, 2, 3]),
        ("NOT n = 1", [1, 3]),
        ("NOT NOT n = 1", [0]),
        ("n = 1 OR n = 2 AND s = 'none'", [0]),
        ("(n = 1 OR n = 2) AND s = 'none'", []),
        ("n = NULL", []),
        ("s = 'it''s'", [1]),
        ("s > 'B'", [1, 2]),
        ("d >= DATE '2024-02-29' AND d < '2024-12-31'", [0]),
        ("t = TIMESTAMP '2024-02-29 23:00:00Z'", [0, 1, 2, 3]),
        ("t = '2024-03-01T00:00:00+01:00'", [0, 1, 2, 3]),
        ("l = TIMESTAMP '2024-02-29 23:00:00'", [0, 1, 2, 3]),
        ("m > 1.499", [0, 1]),
        ("f > 1", [1, 3]),
        ("f = 5e-1", [0]),
        ("f = .5", [0]),
        ("b = true", [0, 3]),
        ("x = X'ff'", [1]),
        ("year(d) = 2024", [0, 3]),
        ("YEAR(d) IN (2023) AND lower(s) = 'é'", [2]),
        ("substring(s, 1, 1) = 'A'", [0]),
        ("`order by` = 3 AND `and` = 3", [2]),
        (" \n n\t=\n1 ", [0]),
    ],
)
def test_sql_text_chooses_rows(text: str, found: list[int]):
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a column is expected"),
        ("n", "a comparison is expected"),
        ("b", "a comparison is expected"),
        ("n = ", "a value is expected"),
        ("n = 1 n = 2", "AND, OR or the end"),
        ("(n = 1", ") is expected"),
        ("n = i", "a value is expected"),
        ("n = 1; drop", "; drop at character 6 is not understood"),
        ("n = 1 -- c", "AND, OR or the end"),
        ("s LIKE 'A%'", "a comparison is expected"),
        ('s = "Ab"', "is not understood"),
        ("s = 'a\\'b'", "is not understood"),
        ("s = 'open", "is not understood"),
        ("n + 1 = 2", "a comparison is expected"),
        ("N = 1", "the table has no column 'N'"),
        ("t.n = 1", "is not understood"),
        ("n = '1'", "is no value for n"),
        ("s = 1", "is no value for s"),
        ("n = 1.5", "is no whole number"),
        ("i = 99999999999999999999999", "filter cannot be used"),
        ("d = '2024-02-30'", "is no date"),
        ("t = '2024-02-29 23:00:00'", "needs a time zone"),
        ("l = '2024-02-29 23:00:00Z'", "takes no time zone"),
        ("x = 'ff'", "is no value for x"),
        ("x = X'0g'", "is no binary"),
        ("count(n) = 1", "is no function"),
        ("n IN ()", "a value is expected"),
        ("n NOT = 1", "IN or BETWEEN"),
        ("and = 1", "a column is expected"),
        ("(" * 100 + "n = 1" + ")" * 100, "nests at most 64 deep"),
        ("NOT " * 5000 + "n = 1", "nests at most 64 deep"),
    ],
)
def test_what_is_not_of_the_grammar_is_one_error_with_its_place(text: str, why: str):
    with pytest.raises(HudiError) as caught:
        numbers(text)
    assert caught.value.reason == "CONFIG_INVALID"
    assert why in caught.value.message


def test_an_expression_of_arrow_is_refused_with_what_to_give_instead():
    with pytest.raises(HudiError, match="give SQL text, or a list"):
        numbers(pc.field("n") > 1)


_COMPARED = st.tuples(st.just("n"), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.integers(-5, 5))
_TEXTS = st.tuples(
    st.just("s"), st.just("="), st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs"]))
)
_LEAVES = (_COMPARED | _TEXTS).map(list) | st.sampled_from([["n", "is_null"], ["s", "is_not_null"]])
FORMS = st.recursive(
    _LEAVES,
    lambda inner: (
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list) | inner.map(lambda one: ["not", one])
    ),
    max_leaves=8,
)


def as_sql(form: Any) -> str:
    """The grammar's lists as text."""
    if form[0] == "not":
        return f"NOT ({as_sql(form[1])})"
    if form[0] in ("and", "or"):
        return f"({as_sql(form[1])}) {form[0].upper()} ({as_sql(form[2])})"
    if len(form) == 2:
        return f"{form[0]} {form[1].replace('_', ' ')}"
    value = form[2] if isinstance(form[2], int) else "'" + form[2].replace("'", "''") + "'"
    return f"`{form[0]}` {form[1]} {value}"


@given(FORMS)
def test_text_and_lists_choose_the_same_rows(form: Any):
    assert numbers(as_sql(form)) == numbers(form)


@given(st.text(max_size=40))
def test_any_text_is_a_filter_or_a_typed_error(text: str):
    with suppress(HudiError):
        filter_of(text, ROWS.schema)


def test_reads_plans_and_deletes_take_text(tmp_path: Path):
    create_arrow(tmp_path / "t", TableDefinition("t", SCHEMA, record_key=("id",), partition_by=("region",)))
    write_arrow(tmp_path / "t", rows(range(4)))
    wanted = "region = 'north' AND id IN ('k1', 'k2')"
    assert read_arrow(tmp_path / "t", filter=wanted).column("id").to_pylist() == ["k1"]
    assert read_batches(tmp_path / "t", filter=wanted).read_all().num_rows == 1
    assert len(explain(tmp_path / "t", "region = 'north'").slices) == 1
    write_arrow(tmp_path / "t", operation="delete", filter=wanted)
    assert sorted(read_arrow(tmp_path / "t").column("id").to_pylist()) == ["k0", "k2", "k3"]
