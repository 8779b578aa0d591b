"""Partition paths: Hive's escapes as Apache Hudi applies them, and texts back from paths."""

import pytest
from format_strategies import TEXT
from hudi_format.partition_paths import (
    HIVE_DEFAULT_PARTITION,
    default_partition,
    escape_partition_value,
    partition_path,
    partition_values,
    unescape_partition_value,
)
from hypothesis import given
from hypothesis import strategies as st

VALUES = st.none() | st.text(min_size=1, max_size=8).filter(lambda text: text != HIVE_DEFAULT_PARTITION)


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        ("a b+c&d}é", "a b+c&d}é"),
        ("a/b=c:d", "a%2Fb%3Dc%3Ad"),
        ("\"#%'*?[\\]^{", "%22%23%25%27%2A%3F%5B%5C%5D%5E%7B"),
        ("\x01\x1f\x7f", "%01%1F%7F"),
    ],
)
def test_hives_letters_are_escaped_and_no_others(value: str, escaped: str):
    assert escape_partition_value(value) == escaped


@given(st.text())
def test_an_escaped_value_is_one_folder_and_comes_back(value: str):
    escaped = escape_partition_value(value)
    assert "/" not in escaped
    assert unescape_partition_value(escaped) == value


@pytest.mark.parametrize("text", ["%", "100%", "%g0", "%2"])
def test_a_percent_sign_that_escapes_nothing_stays(text: str):
    assert unescape_partition_value(text) == text


@given(st.lists(VALUES, min_size=1, max_size=3), st.booleans())
def test_encoded_paths_give_their_values_back(values: list[str | None], hive_style: bool):
    columns = [f"c{index}" for index in range(len(values))]
    path = partition_path(columns, values, hive_style=hive_style, encoded=True)
    expected = tuple(None if value == HIVE_DEFAULT_PARTITION else value for value in values)
    if hive_style:
        assert partition_values(path, columns, encoded=True) == expected
    else:
        assert len(path.split("/")) == len(values)


def test_a_table_without_partitions_has_the_empty_path():
    assert not partition_path([], [])
    assert partition_values("", []) == ()


@given(st.builds("{}/{}".format, TEXT, TEXT))
def test_levels_that_fit_no_columns_give_nothing(path: str):
    assert partition_values(path, ["a"]) is None


def test_missing_values_have_the_name_of_their_time():
    assert [default_partition(version) for version in (4, 5, 6, 9)] == ["default", *[HIVE_DEFAULT_PARTITION] * 3]
    assert (
        partition_path(["a", "b"], [None, ""], hive_style=True)
        == "a=__HIVE_DEFAULT_PARTITION__/b=__HIVE_DEFAULT_PARTITION__"
    )
