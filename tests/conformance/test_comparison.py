"""Typed bags: what counts as the same rows."""

import datetime as dt
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

import pytest
from hudi_adapter.rows import Rows
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.value_comparison import compare_values
from hypothesis import given
from hypothesis import strategies as st

Bag = list[tuple[Any, ...]]
Typed = tuple[str, Any]
SCHEMA = (("id", "string"), ("n", "int64"), ("x", "float64"))
ROWS = st.lists(
    st.tuples(st.text(max_size=3), st.one_of(st.none(), st.integers(-5, 5)), st.floats(width=32)), max_size=8
)


def _rows(rows: Sequence[tuple[Any, ...]], schema: Sequence[tuple[str, str]] = SCHEMA) -> Rows:
    return Rows(tuple(schema), tuple(rows))


@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_is_free(rows: Bag, shuffler: random.Random):
    """A bag has no order, and columns are found by name."""
    order = [0, 1, 2]
    shuffler.shuffle(order)
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    moved = _rows([tuple(row[i] for i in order) for row in shuffled], [SCHEMA[i] for i in order])

    assert compare_rows(_rows(rows), moved) == ()


@given(ROWS, ROWS)
def test_two_bags_are_equal_only_if_each_is_in_the_other(left: Bag, right: Bag):
    """Differences are found from both sides, and repeated rows are counted."""
    same = sorted(map(repr, left)) == sorted(map(repr, right))

    assert (compare_rows(_rows(left), _rows(right)) == ()) == same
    assert (compare_rows(_rows(right), _rows(left)) == ()) == same


@given(ROWS.filter(bool))
def test_a_row_too_few_or_too_many_is_reported(rows: Bag):
    """Nothing may answer fewer rows silently."""
    assert len(compare_rows(_rows(rows), _rows(rows[1:]))) == 1
    assert len(compare_rows(_rows(rows[1:]), _rows(rows))) == 1


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (("int32", 1), ("int64", 1), True),
        (("float32", 0.5), ("float64", 0.5), True),
        (("float64", float("nan")), ("float64", float("nan")), True),
        (("float64", -0.0), ("float64", 0.0), False),
        (("decimal(10,2)", Decimal("1.50")), ("decimal(12,4)", Decimal("1.5000")), True),
        (("timestamp-millis", dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc)),) * 2 + (True,),
        (
            ("timestamp-micros", dt.datetime(2025, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))),
            ("timestamp-millis", dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc)),
            True,
        ),
        (
            ("timestamp-micros", dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc)),
            ("local-timestamp-micros", dt.datetime(2025, 1, 1)),  # noqa: DTZ001 - that is the difference
            False,
        ),
        (("int64", 1), ("string", "1"), False),
        (("boolean", True), ("int32", 1), False),
        (("string", "a"), ("binary", b"a"), False),
        (("struct<a:int32,b:string>", {"a": 1, "b": "x"}), ("struct<b:string,a:int64>", {"b": "x", "a": 1}), True),
        (("map<string,int32>", {"a": 1, "b": 2}), ("map<string,int64>", {"b": 2, "a": 1}), True),
        (("list<float64>", [0.0]), ("list<float64>", [-0.0]), False),
        (("list<int32>", []), ("list<int32>", None), False),
    ],
)
def test_values_compare_by_logical_family(left: Typed, right: Typed, same: bool):
    """Physical width does not count; instants are not local times; -0.0 is not 0.0; empty is not null."""
    found = compare_rows(Rows((("c", left[0]),), ((left[1],),)), Rows((("c", right[0]),), ((right[1],),)))

    assert (found == ()) == same


def test_missing_and_extra_columns_are_reported():
    """Columns are part of the answer."""
    found = compare_rows(_rows([]), _rows([], (("id", "string"), ("m", "int64"), ("x", "float64"))))

    assert found == ("missing column n (int64)", "extra column m (int64)")


def test_every_difference_is_reported():
    """Changed, missing and extra rows, each with its values."""
    schema = (("id", "string"), ("n", "int64"))
    expected = _rows([("a", 1), ("b", 2), ("c", 3)], schema)
    actual = _rows([("a", 1), ("b", 9), ("d", 4)], schema)

    assert compare_rows(expected, actual) == (
        'row id="b": column n: expected "2", is "9"',
        'missing row {"id":"c","n":"3"}',
        'extra row {"id":"d","n":"4"}',
    )


class TestValues:
    """JSON answers."""

    COMMIT: ClassVar = {"requested": "1", "completed": "3", "action": "commit", "state": "COMPLETED"}
    SAVEPOINT: ClassVar = {"requested": "1", "completed": "4", "action": "savepoint", "state": "COMPLETED"}
    LATER: ClassVar = {"requested": "2", "completed": None, "action": "commit", "state": "INFLIGHT"}

    def test_a_timeline_is_ordered_by_requested_time(self):
        """Two actions of one instant come in either order, two instants do not."""
        expected = [self.COMMIT, self.SAVEPOINT, self.LATER]

        assert compare_values("list_timeline", expected, [self.SAVEPOINT, self.COMMIT, self.LATER]) == ()
        assert compare_values("list_timeline", expected, [self.LATER, self.COMMIT, self.SAVEPOINT])
        assert compare_values("list_timeline", expected, [self.COMMIT, self.LATER])
        assert compare_values("list_timeline", expected, [*expected, self.LATER])

    def test_slices_come_in_any_order_their_logs_do_not(self):
        """The order of logs is what a merge depends on."""
        first = {"partition": "p", "file_id": "f", "base_instant": "1", "base_file": None, "log_files": ["a", "b"]}
        second = {**first, "file_id": "g"}
        turned = {**first, "log_files": ["b", "a"]}

        assert compare_values("list_file_slices", [first, second], [second, first]) == ()
        assert compare_values("list_file_slices", [first, second], [second, turned])
        assert compare_values("list_file_slices", [first], [first, first])
        assert compare_values("list_file_slices", [first, second], [first])

    def test_an_object_may_say_more_but_not_less(self):
        """The protocol may gain fields."""
        assert compare_values("table_info", {"table_version": 9}, {"table_version": 9, "more": 1}) == ()
        assert compare_values("table_info", {"table_version": 9}, {}) == ("value.table_version: expected 9, is absent",)
        assert compare_values("table_info", {"table_version": 9}, {"table_version": "9"})
        assert compare_values("table_info", {"x": 1}, {"x": True})

    def test_schemas_compare_by_family_and_name(self):
        """A reader that widens integers reads the same table."""
        expected = {"schema": [{"name": "a", "type": "int32"}, {"name": "b", "type": "string"}]}

        assert (
            compare_values(
                "table_info",
                expected,
                {"schema": [{"name": "b", "type": "string"}, {"name": "a", "type": "int64"}]},
            )
            == ()
        )
        assert compare_values("table_info", expected, {"schema": [{"name": "a", "type": "int32"}]})
        assert compare_values("table_info", expected, {"schema": None})

    def test_violations_compare_by_clause_and_severity(self):
        """Where and message are words for people."""
        one = {"clause": "TL-003", "severity": "error", "where": "x", "message": "y"}

        assert compare_values("check_table", [one], [{**one, "message": "other words"}]) == ()
        assert compare_values("check_table", [one], []) == ("missing violation TL-003 (error)",)
        assert compare_values("check_table", [], [one]) == ("extra violation TL-003 (error)",)

    @pytest.mark.parametrize("op", ["list_timeline", "list_file_slices", "check_table", "table_info", "other"])
    @pytest.mark.parametrize("answer", [None, 3, "x", {}, [None], [3], [{}]])
    def test_no_answer_breaks_the_comparison(self, op: str, answer: object):
        """An adapter's answer may be anything."""
        expected = {
            "list_timeline": [self.COMMIT],
            "list_file_slices": [
                {"partition": "p", "file_id": "f", "base_instant": "1", "base_file": None, "log_files": []}
            ],
            "check_table": [{"clause": "TL-003", "severity": "error", "where": "", "message": ""}],
        }.get(op, {"a": 1})

        assert compare_values(op, expected, answer)
