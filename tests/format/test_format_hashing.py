"""Hash functions: the answers of Apache Hudi's own classes, and properties of the Java arithmetic."""

import base64

import pytest
from hudi_format.hashing import (
    HashBits,
    bucket_hash,
    bucket_id,
    column_index_id,
    file_group_index,
    file_index_id,
    hash_id,
    java_list_hash,
    java_string_hash,
    partition_index_id,
)
from hypothesis import given
from hypothesis import strategies as st

# What BucketIdentifier, HashID, ColumnIndexID, FileIndexID and HoodieTableMetadataUtil of 0.15.0, 1.1.1 and 1.2.0 said:
# list hash, bucket of 7, xxHash32 of seed 0, file group of 10, column id, file id.
ANSWERS = {
    "a": (128, 2, 1426945110, 7, "BFHqp2KLzrM=", "DMF1ucDxtqgxw5niaXcmYQ=="),
    "hello": (99162353, 3, -83855367, 2, "avLqYbtd+Rk=", "XUFAKrxLKna5cZ2REBfFkg=="),
    "id:5,sub:é": (-349592904, 6, -1491637764, 5, "5V+KexMLfz8=", "ptbLEH9z9jOS8jdOozzxuQ=="),
    "𝄞x": (54944365, 0, 627159468, 4, "lN0Wsvy7CMA=", "qZfX+gau6WGi0JdBzBOCsw=="),
    "polygenelubricants": (-2147483617, 3, -150559716, 8, "zL1AGXreZB8=", "GucmjcjXFiraIt0FANMj9Q=="),
    "p=1/q=2": (-1885661350, 3, 1837759749, 1, "9cPaXwnAUzA=", "5saTVpGsaALtFDXbpR8V9Q=="),
}


@pytest.mark.parametrize("text", ANSWERS)
def test_every_hash_is_the_one_of_apache_hudi(text: str):
    list_hash, bucket, ring, group, column, file = ANSWERS[text]
    assert java_list_hash([text]) == list_hash
    assert bucket_id([text], 7) == bucket
    assert bucket_hash(text) == ring & 0x7FFFFFFF
    assert file_group_index(text, 10) == group
    assert (column_index_id(text), partition_index_id(text), file_index_id(text)) == (column, column, file)


def test_the_narrow_hash_id_has_its_own_seed():
    assert hash_id(b"", HashBits.BITS_32).hex() == "5d4cbdf7"


def test_a_table_without_partitions_hashes_a_dot():
    assert partition_index_id("") == partition_index_id(".")


def test_the_string_hash_counts_utf16_units():
    units = [0xD834, 0xDD1E]
    assert java_string_hash("𝄞") == (31 * units[0] + units[1]) & 0xFFFFFFFF


def test_the_most_negative_hash_has_a_group():
    assert java_string_hash("polygenelubricants") == -(2**31)
    assert file_group_index("polygenelubricants", 10) == 8


@given(st.text(), st.text())
def test_the_string_hash_of_a_joined_text_follows_from_its_parts(first: str, second: str):
    units = len(second.encode("utf-16-be", "surrogatepass")) // 2
    expected = java_string_hash(first) * 31**units + java_string_hash(second)
    assert (java_string_hash(first + second) - expected) % 2**32 == 0


@given(st.lists(st.text(max_size=5), max_size=3), st.integers(1, 300))
def test_buckets_and_groups_lie_within_their_count(parts: list[str], count: int):
    assert 0 <= bucket_id(parts, count) < count
    assert 0 <= file_group_index("".join(parts), count) < count


@given(st.text())
def test_index_ids_have_fixed_widths(name: str):
    widths = [len(base64.b64decode(one)) for one in (column_index_id(name), file_index_id(name))]
    assert widths == [8, 16]


@pytest.mark.parametrize("count", [0, -1])
def test_no_bucket_at_all_is_refused(count: int):
    with pytest.raises(ValueError, match="at least one"):
        bucket_id(["a"], count)
    with pytest.raises(ValueError, match="at least one"):
        file_group_index("a", count)
