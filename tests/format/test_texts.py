"""Columns of texts in numpy: what each kernel says is what its scalar says of every text."""

import numpy as np
import pyarrow as pa
import pytest
from format_strategies import TEXT
from hudi_format.hashing import (
    bucket_id,
    bucket_ids,
    file_group_index,
    file_group_indexes,
    java_string_hash,
    java_string_hashes,
)
from hudi_format.texts import byte_texts, utf16_range, utf16_texts
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.lists(TEXT | st.text(st.sampled_from("az\ud7ff\ue000\uffff𝄞"), max_size=20), max_size=30)
KINDS = st.sampled_from([pa.string(), pa.large_string(), pa.string_view()])


@given(TEXTS, KINDS, st.integers(0, 5))
def test_every_text_stands_once_among_those_of_its_length(texts: list[str], kind: pa.DataType, skipped: int):
    column = pa.array(texts, kind).slice(skipped)
    found: list[str | None] = [None] * len(column)
    for places, matrix in byte_texts(column).same_lengths():
        for place, row in zip(places, matrix, strict=True):
            found[place] = row.tobytes().decode()
    assert found == texts[skipped:]


@given(TEXTS)
def test_units_are_those_of_utf16(texts: list[str]):
    units = utf16_texts(pa.chunked_array([texts, texts], pa.string()))
    slices = [
        units.units[one:other].astype("<u2").tobytes().decode("utf-16-le")
        for one, other in zip(units.offsets, units.offsets[1:], strict=False)
    ]
    assert slices == texts + texts


@given(TEXTS, st.integers(1, 300))
def test_hashes_of_a_column_are_those_of_its_texts(texts: list[str], count: int):
    column = pa.array(texts, pa.string())
    assert java_string_hashes(column).tolist() == [java_string_hash(text) for text in texts]
    assert file_group_indexes(column, count).tolist() == [file_group_index(text, count) for text in texts]
    assert bucket_ids([column, column], count).tolist() == [bucket_id([text, text], count) for text in texts]


def test_the_most_negative_hash_has_a_group_in_a_column_too():
    assert file_group_indexes(pa.array(["polygenelubricants"]), 10).tolist() == [8]


def test_no_bucket_at_all_is_refused_for_a_column():
    with pytest.raises(ValueError, match="at least one"):
        bucket_ids([pa.array(["a"])], 0)


@given(TEXTS)
def test_the_range_has_the_order_of_utf16(texts: list[str]):
    in_order = sorted(texts, key=lambda text: text.encode("utf-16-be"))
    expected = (in_order[0], in_order[-1]) if texts else None
    assert utf16_range(pa.array([*texts, None], pa.string())) == expected


def test_nulls_are_empty_texts():
    assert java_string_hashes(pa.array(["a", None, ""])).tolist() == [97, 0, 0]
    assert np.array_equal(byte_texts(pa.array([None], pa.string())).lengths(), [0])
