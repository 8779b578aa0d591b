"""Bloom filters of whole columns: the same bytes as a filter built key by key, and what no key may lose."""

import pyarrow as pa
import pytest
from format_strategies import TEXT
from hudi_format.base.bloom_filters import (
    BloomFilter,
    bits_and_hashes,
    build_bloom_filter,
    build_simple_filter,
    decode_bloom_filter,
    encode_bloom_filter,
)
from hudi_format.base.murmur import bit_positions
from hudi_format.hashing import java_string_hash, java_string_hashes
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = st.lists(TEXT | st.text(st.sampled_from("ab1é𝄞"), max_size=40), max_size=40)


def row_by_row(keys: list[str], entries: int, maximum: int) -> BloomFilter:
    """Key after key into the active row, as the filter of Apache Hudi takes them."""
    bits, hashes = bits_and_hashes(entries, 1e-9)
    rows, filled, count = [bytearray((bits + 7) // 8)], 0, None
    for key in keys:
        if count is not None:
            row, count = rows[count % len(rows)], count + 1
        elif filled < entries:
            row = rows[-1]
        elif len(rows) * entries < maximum:
            rows.append(bytearray((bits + 7) // 8))
            row, filled = rows[-1], 0
        else:
            row, count = rows[0], 0
        for at in bit_positions(key.encode(), hashes, bits):
            row[at // 8] |= 1 << (at % 8)
        filled += 1
    return BloomFilter(hashes, bits, tuple(bytes(row) for row in rows), entries, filled)


@settings(deadline=None)
@given(KEYS, st.integers(1, 12), st.integers(0, 50))
def test_a_column_gives_the_rows_that_its_keys_give_one_by_one(keys: list[str], entries: int, maximum: int):
    assert build_bloom_filter(pa.array(keys, pa.string()), entries, maximum=maximum) == row_by_row(
        keys, entries, maximum
    )


@settings(deadline=None)
@given(KEYS, st.integers(1, 12))
def test_a_simple_filter_has_no_limit(keys: list[str], entries: int):
    one_row = row_by_row(keys, entries, 0)
    assert build_simple_filter(pa.chunked_array([keys, []], pa.string()), entries).rows == one_row.rows


@settings(deadline=None)
@given(KEYS, KEYS, st.integers(1, 12))
def test_many_keys_are_looked_up_like_one(keys: list[str], others: list[str], entries: int):
    for bloom in (build_bloom_filter(keys, entries), build_simple_filter(keys, entries)):
        wanted = pa.array(keys + others, pa.large_string())
        assert bloom.may_contain_each(wanted).to_pylist() == [bloom.may_contain(key) for key in keys + others]


@pytest.mark.parametrize(("entries", "count", "rows", "last"), [(60_000, 130_001, 2, 70_001), (50_000, 3, 1, 3)])
def test_the_rows_end_at_the_released_maximum(entries: int, count: int, rows: int, last: int):
    bloom = build_bloom_filter(pa.array([f"key{number:07}" for number in range(count)]), entries, 0.1)
    assert (len(bloom.rows), bloom.keys_in_last_row) == (rows, last)
    assert decode_bloom_filter(encode_bloom_filter(bloom), "DYNAMIC_V0", "f") == bloom


@given(keys=st.lists(st.text(st.sampled_from("ab1"), max_size=9), min_size=1, max_size=4))
def test_the_keys_stay_as_they_are(keys: list[str]):
    """Hashing works on words of its own, also where a few short keys lie side by side in memory."""
    column = pa.array(keys)
    build_bloom_filter(column, 10, 1e-3, 100)
    assert column.to_pylist() == keys


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=9).map(bytes.hex), min_size=1, max_size=3), st.integers(0, 400), st.integers(1, 14))
def test_few_and_many_texts_of_any_length_have_the_bits_of_each(ends: list[str], length: int, copies: int):
    """As one after the other, in columns where many have one length."""
    keys = [f"{copy:02}" + "ü" * length + end for end in ends for copy in range(copies)]
    assert build_bloom_filter(keys, len(keys)) == row_by_row(keys, len(keys), 1)


def test_long_keys_have_the_hashes_of_each():
    """Few texts of one length are hashed one by one, by other code than many."""
    keys = ["a" * 400_000, "b" * 400_001]
    assert build_bloom_filter(pa.array(keys)) == row_by_row(keys, 60_000, 100_000)
    assert java_string_hashes(pa.array(keys)).tolist() == [java_string_hash(key) for key in keys]
