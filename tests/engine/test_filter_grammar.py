"""The engine's grammar and literals are its own: they take what the protocol takes, and refuse what it refuses."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hudi_adapter import filters as protocol
from hudi_adapter.arrow_types import arrow_type, logical_type
from hudi_adapter.logical_types import PRIMITIVES
from hudi_adapter.values import ValueFormError, decode_value
from hudi_spark.filters import FUNCTIONS, columns_of
from hudi_spark.filters.functions import LiteralError, decode_literal, type_name
from hudi_spark.filters.grammar import FilterError, parse_filter

FORMS = [
    ["a", "=", 1],
    ["and", "!=", "x"],
    [["fn", "year", "day"], ">=", 2025],
    [["fn", "substring", "a"], "in", ["x", None]],
    ["a", "is_null"],
    ["a", "is_not_null", None],
    ["and", ["a", "<", "1"], ["not", ["or", ["b", "<=", 2], ["c", ">", 3]]]],
]
NO_FORMS: list[Any] = [
    None,
    [],
    "a",
    ["a"],
    ["a", "like", "x"],
    ["a", "=", 1, 2],
    ["a", "="],
    ["a", "in", 1],
    ["a", "is_null", 1],
    ["and"],
    ["not", ["a", "=", 1], ["a", "=", 2]],
    [["fn", "median", "a"], "=", 1],
    [["fn", "year"], "=", 1],
    ["", "=", 1],
    [1, "=", 1],
]
TYPES = [
    *sorted(PRIMITIVES),
    "decimal(10,2)",
    "list<int64>",
    "map<string,date>",
    "struct<a:int32,b:string>",
]
LITERALS: list[Any] = [
    None,
    True,
    1,
    2**31,
    "7",
    "-9223372036854775809",
    "1.50",
    "NaN",
    "text",
    "0AFF",
    "2025-01-31",
    "2025-02-30",
    "12:00:00.000000",
    "2025-01-31T12:00:00.000000Z",
    "2025-01-31T12:00:00.000000",
    ["1", None],
    [["k", "2025-01-31"]],
    [["k", None], ["k", None]],
    {"a": 1},
    {"c": 1},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_filter_is_read_as_the_protocol_reads_it(form: Any):
    ours, theirs = parse_filter(form, FUNCTIONS), protocol.parse_filter(form)
    assert repr(ours) == repr(theirs)
    assert columns_of(ours) == protocol.columns_of(theirs)


@pytest.mark.parametrize("form", NO_FORMS, ids=str)
def test_what_is_no_filter_of_the_protocol_is_refused(form: Any):
    with pytest.raises(protocol.FilterError):
        protocol.parse_filter(form)
    with pytest.raises(FilterError):
        parse_filter(form, FUNCTIONS)


def test_a_filter_nests_to_a_depth():
    form: Any = ["a", "=", 1]
    for _ in range(65):
        form = ["not", form]
    with pytest.raises(FilterError, match="deep"):
        parse_filter(form, FUNCTIONS)


@pytest.mark.parametrize(
    ("form", "same"),
    [
        (("a", "==", 1), ["a", "=", 1]),
        ([("and", "=", "x")], ["and", ["and", "=", "x"]]),
        ([("a", "in", {1}), ("b", "<", 2)], ["and", ["a", "in", [1]], ["b", "<", 2]]),
        (
            [[("a", "not in", (1, 2))], [("b", ">", 2), ("a", "!=", 3)]],
            ["or", ["and", ["not", ["a", "in", [1, 2]]]], ["and", ["b", ">", 2], ["a", "!=", 3]]],
        ),
    ],
)
def test_filters_of_arrow_and_pandas_are_taken(form: Any, same: Any):
    assert parse_filter(form, FUNCTIONS) == parse_filter(same, FUNCTIONS)


@pytest.mark.parametrize("form", [(), ("a", "="), [("a", "like", "x")], [("a", "=", 1), ["b", "=", 1]], [[]]])
def test_tuples_that_are_no_filter_are_refused(form: Any):
    with pytest.raises(FilterError):
        parse_filter(form, FUNCTIONS)


def test_the_functions_of_the_protocol_are_there():
    assert FUNCTIONS.keys() >= protocol.FUNCTIONS


def outcome(decode: Callable[[Any, Any], Any], form: Any, kind: Any) -> tuple[bool, str]:
    """Whether a literal is refused, and its value or why not."""
    try:
        return False, repr(decode(form, kind))
    except (LiteralError, ValueFormError) as error:
        return True, str(error)


@pytest.mark.parametrize("logical", TYPES)
def test_a_literal_is_the_value_that_the_protocol_has_for_it(logical: str):
    kind = arrow_type(logical)
    assert type_name(kind) == logical_type(kind) == logical
    for form in LITERALS:
        assert outcome(decode_literal, form, kind) == outcome(decode_value, form, logical)


def test_a_literal_is_read_by_the_type_in_a_dictionary():
    assert decode_literal("x", pa.dictionary(pa.int32(), pa.string())) == "x"


def test_some_types_have_no_literals():
    with pytest.raises(LiteralError, match="cannot be compared"):
        type_name(pa.duration("s"))
