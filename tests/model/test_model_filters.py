import datetime as dt
import operator
from decimal import Decimal
from typing import Any

import pytest
from hudi_model.files import Field, Schema
from hudi_model.filters import check_filter, evaluate, matches
from hudi_model.rejection import Reason, Rejection, Unsupported
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = Schema(
    (
        Field("n", "int64"),
        Field("t", "string"),
        Field("d", "date"),
        Field("price", "decimal(10,2)"),
        Field("seen", "timestamp-micros"),
        Field("raw", "binary"),
    )
)
NUMBERS = st.none() | st.integers(-3, 3)
OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FORMS = st.recursive(
    st.tuples(st.just("n"), st.sampled_from(list(OPERATORS)), st.integers(-3, 3)).map(list),
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(
        lambda parts: st.sampled_from([["and", *parts], ["or", *parts], ["not", parts[0]]])
    ),
    max_leaves=6,
)


def row(**values: Any) -> dict[str, Any]:
    return {**{field.name: None for field in SCHEMA.fields}, **values}


@given(NUMBERS, st.sampled_from(list(OPERATORS)), st.integers(-3, 3))
def test_a_comparison_with_null_is_unknown(number: int | None, word: str, value: int) -> None:
    expected = None if number is None else OPERATORS[word](number, value)
    assert evaluate(["n", word, value], row(n=number), SCHEMA) is expected


@given(FORMS, NUMBERS)
def test_a_filter_and_its_negation_never_both_match_and_split_rows_without_null(form: Any, number: int | None) -> None:
    matched, negated = (matches(one, row(n=number), SCHEMA) for one in (form, ["not", form]))
    assert not (matched and negated)
    if number is not None:
        assert matched != negated


@pytest.mark.parametrize(
    ("form", "values"),
    [
        (["n", "in", [1, 2]], {"n": 2}),
        (["n", "=", "9007199254740993"], {"n": 9007199254740993}),
        (["n", "is_null"], {}),
        (["n", "is_not_null"], {"n": 0}),
        (["t", ">", "a"], {"t": "木"}),
        ([["fn", "upper", "t"], "=", "ABC"], {"t": "abc"}),
        ([["fn", "year", "d"], "=", 2025], {"d": dt.date(2025, 1, 1)}),
        (["d", "<", "2025-01-02"], {"d": dt.date(2025, 1, 1)}),
        (["price", "=", "1.5"], {"price": Decimal("1.50")}),
        (["seen", ">=", "2025-01-01T00:00:00.000000Z"], {"seen": dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc)}),
        ([["fn", "hour", "seen"], "=", 7], {"seen": dt.datetime(2025, 1, 1, 7, tzinfo=dt.timezone.utc)}),
        (["raw", "=", "00FF"], {"raw": b"\x00\xff"}),
        ([["fn", "from_unixtime", "n"], "=", "1970-01-01 00:01:00"], {"n": 60}),
        ([["fn", "from_unixtime", "n", "HH 'h' mm"], "=", "23 h 59"], {"n": -1}),
        ([["fn", "year", "t"], "=", 2024], {"t": " 2024-2"}),
        ([["fn", "year", "t"], "is_null"], {"t": "2024-02-30"}),
        ([["fn", "hour", "d"], "=", 0], {"d": dt.date(2025, 1, 1)}),
        ([["fn", "date_format", "t", "dd.MM.yyyy ss"], "=", "29.02.2024 03"], {"t": "2024-2-29T1:2:3.5"}),
        ([["fn", "date_format", "t", "yyyy"], "is_null"], {"t": "soon"}),
        ([["fn", "to_date", "t", "dd.MM.yyyy"], "=", "2024-02-29"], {"t": "29.02.2024"}),
        ([["fn", "to_date", "t", "dd.MM.yyyy"], "is_null"], {"t": "31.02.2024"}),
        ([["fn", "to_timestamp", "d"], "=", "2025-01-01T00:00:00.000000Z"], {"d": dt.date(2025, 1, 1)}),
        (
            [["fn", "unix_timestamp", "seen"], "=", -1],
            {"seen": dt.datetime(1969, 12, 31, 23, 59, 58, 5, tzinfo=dt.timezone.utc)},
        ),
        ([["fn", "unix_timestamp", "t"], "is_null"], {"t": "1970-01-01"}),
        ([["fn", "date_add", "d", 59], "=", "2025-03-01"], {"d": dt.date(2025, 1, 1)}),
        ([["fn", "date_sub", "d", 1], "=", "2024-12-31"], {"d": dt.date(2025, 1, 1)}),
        ([["fn", "substring", "t", -20, 17], "=", "ab"], {"t": "abcde"}),
        ([["fn", "substring", "t", 2], "=", "bcde"], {"t": "abcde"}),
        ([["fn", "ltrim", "t", "ba"], "=", "cba"], {"t": "abcba"}),
        ([["fn", "length", "t"], "=", 2], {"t": "🚲木"}),
        ([["fn", "regexp_replace", "t", "(b)(c)?", "$2$1"], "=", "acbab"], {"t": "abcab"}),
        ([["fn", "regexp_extract", "t", "([a-z])([0-9])", 2], "=", "7"], {"t": "a-b7c8"}),
    ],
)
def test_each_type_and_function_compares_in_its_logical_type(form: Any, values: dict[str, Any]) -> None:
    assert matches(form, row(**values), SCHEMA)


def test_a_value_not_in_a_list_with_null_is_unknown() -> None:
    assert evaluate(["n", "in", [1, None]], row(n=2), SCHEMA) is None
    assert evaluate(["n", "in", []], row(n=2), SCHEMA) is False


@pytest.mark.parametrize(
    "form",
    ["n", [], ["n"], ["n", "~", 1], ["n", "="], ["gone", "=", 1], ["and"], ["not", ["n", "=", 1], ["n", "=", 2]],
     ["n", "in", 1], ["d", "=", "soon"], [["fn", "sqrt", "n"], "=", 1], [7, "=", 1], ["price", "=", "much"]],
)  # fmt: skip
def test_what_is_no_filter_is_refused(form: Any) -> None:
    with pytest.raises(Rejection) as caught:
        check_filter(form, SCHEMA)
    assert caught.value.reason is Reason.CONFIG_INVALID


@pytest.mark.parametrize(
    "form",
    [
        ["n", "=", 2.5],
        ["n", "=", True],
        ["t", "=", 5],
        ["d", "=", 2024],
        ["price", "=", 1.5],
        [["fn", "from_unixtime", "t"], "is_null"],
        [["fn", "from_unixtime", "price"], "is_null"],
    ],
)
def test_a_value_of_another_type_is_refused(form: Any) -> None:
    with pytest.raises(Rejection) as caught:
        check_filter(form, SCHEMA)

    assert caught.value.reason is Reason.CONFIG_INVALID


@pytest.mark.parametrize(
    "column", [["fn", "date_add", "d"], ["fn", "lower", "t", 1], ["fn", "date_format", "d", "EEE"], ["fn", "trim", "n"]]
)
def test_a_function_without_its_arguments_or_of_another_type_is_refused(column: Any) -> None:
    with pytest.raises(Rejection) as caught:
        matches([column, "is_null"], row(d=dt.date(2025, 1, 1), t="abc", n=1), SCHEMA)
    assert caught.value.reason is Reason.CONFIG_INVALID


def test_times_of_texts_that_a_release_takes_and_the_model_does_not_are_no_answer() -> None:
    with pytest.raises(Unsupported):
        matches([["fn", "hour", "t"], "=", 1], row(t="2024-01-01 01:00:00Z"), SCHEMA)
