"""An answer beside the expected one says cell by cell what differs, says the same as the verdict, and stays small."""

import json
from pathlib import Path

import pytest
from hudi_adapter.rows import Rows
from hudi_conformance.runner.cell_comparison import compare_cells
from hudi_conformance.runner.cells import (
    CHANGED,
    EQUAL,
    EXTRA,
    LONGEST_CELL,
    MISSING,
    MOST_LINES,
    MOST_TEXT,
    comparison_of,
)
from hudi_conformance.runner.comparison import compare_rows
from hudi_conformance.runner.results import FORMAT, ResultsError, read_results
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = (("id", "string"), ("ts", "int64"), ("score", "float64"))
rows = st.builds(
    lambda found: Rows(SCHEMA, tuple(found)),
    st.lists(
        st.tuples(st.sampled_from("abcdeé"), st.none() | st.integers(0, 3), st.sampled_from([0.0, -0.0, float("nan")])),
        max_size=8,
    ),
)


@given(rows, rows)
def test_cells_differ_exactly_where_the_verdict_is_a_failure(expected: Rows, actual: Rows):
    found = compare_cells("read_snapshot", expected, actual)

    assert (found.unlike == 0) == (compare_rows(expected, actual) == ())


@given(rows, rows)
def test_every_row_of_both_sides_stands_in_one_line(expected: Rows, actual: Rows):
    lines = compare_cells("read_snapshot", expected, actual).lines

    assert sum(line.expected is not None for line in lines) == len(expected.rows)
    assert sum(line.actual is not None for line in lines) == len(actual.rows)
    assert all(bool(line.columns) == (line.sort == CHANGED) for line in lines)


@given(rows, rows)
def test_a_comparison_comes_back_from_the_results(expected: Rows, actual: Rows):
    found = compare_cells("read_snapshot", expected, actual)

    assert comparison_of(json.loads(json.dumps(found.to_json()))) == found


def test_a_changed_row_is_one_line_that_names_its_cells():
    expected = Rows(SCHEMA, (("a", 1, 0.0), ("b", 2, 0.0)))
    actual = Rows(SCHEMA, (("b", 3, 0.0), ("c", 1, 0.0)))
    found = compare_cells("read_snapshot", expected, actual)

    assert [(line.sort, line.columns) for line in found.lines] == [(MISSING, ()), (CHANGED, ("ts",)), (EXTRA, ())]


def test_rows_without_a_single_key_column_are_matched_by_two():
    schema = (("city", "string"), ("day", "string"), ("n", "int64"))
    expected = Rows(schema, (("x", "1", 1), ("x", "2", 1), ("y", "1", 1)))
    actual = Rows(schema, (("x", "1", 1), ("x", "2", 9), ("y", "1", 1)))

    assert [line.columns for line in compare_cells("read_snapshot", expected, actual).lines] == [(), ("n",), ()]


def test_column_order_does_not_count_and_a_column_of_another_type_differs_in_every_cell():
    expected = Rows(SCHEMA, (("a", 1, 0.0),))
    turned = Rows(SCHEMA[::-1], ((0.0, 1, "a"),))
    retyped = Rows((("id", "string"), ("ts", "string"), ("score", "float64")), (("a", "1", 0.0),))

    assert compare_cells("read_snapshot", expected, turned).lines[0].sort == EQUAL
    assert compare_cells("read_snapshot", expected, retyped).lines[0].columns == ("ts",)


def test_what_a_check_says_for_people_is_shown_and_does_not_count():
    expected = [{"clause": "TL-004", "severity": "error", "where": "a", "message": "one"}]
    actual = [{"clause": "TL-004", "severity": "error", "where": "b", "message": "two"}]

    assert compare_cells("check_table", expected, actual).unlike == 0
    assert compare_cells("check_table", expected, []).lines[0].sort == MISSING


def test_slices_are_matched_by_their_file_group():
    one = {"partition": "p", "file_id": "f", "base_instant": "1", "base_file": "b", "log_files": ["x", "y"]}
    found = compare_cells("list_file_slices", [one], [{**one, "log_files": ["y", "x"]}])

    assert found.lines[0].columns == ("log_files",)


def test_a_large_answer_is_cut_and_says_how_much_is_left_out():
    expected = Rows(SCHEMA, tuple((f"k{place}", place, 0.0) for place in range(MOST_LINES * 3)))
    actual = Rows(SCHEMA, (*expected.rows[:-1], ("x" * (LONGEST_CELL * 2), 0, 0.0)))
    found = compare_cells("read_snapshot", expected, actual)

    assert len(found.lines) == MOST_LINES
    assert [line.sort for line in found.lines[-2:]] == [MISSING, EXTRA]
    assert (found.left_out or {})[EQUAL] == len(expected.rows) - 1 - (MOST_LINES - 2)
    assert len(json.dumps(found.to_json())) < MOST_TEXT


def test_no_answer_leaves_every_expected_row_missing():
    expected = Rows(SCHEMA, (("a", 1, 0.0),))

    assert [line.sort for line in compare_cells("read_snapshot", expected, None).lines] == [MISSING]
    assert [line.sort for line in compare_cells("read_snapshot", None, expected).lines] == [EXTRA]


def test_results_of_a_later_format_are_refused(tmp_path: Path):
    file = tmp_path / "results.jsonl"
    file.write_text(json.dumps({"kind": "header", "format": FORMAT + 1}) + "\n", encoding="utf-8")

    with pytest.raises(ResultsError, match="format"):
        read_results(file)
