"""The hashes of bucket indexes over whole columns: as Apache Hudi computes them, whatever the keys hold."""

import pyarrow as pa
import pytest
from hudi_format.hashing import bucket_hash, bucket_id
from hudi_format.table.hash_ring import first_ring
from hudi_model.tagging import bucket_of
from hudi_model.tagging import hashed_texts as hashed_texts_of_model
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.keys.bucket_index import BucketCounts, bucket_hashes, hashed_texts, parsed_rules, ring_places
from hypothesis import given, settings
from hypothesis import strategies as st

# What 1.0.2, 1.1.1 and 1.2.0 answer for keys, hash fields and 1,000,003 buckets.
APACHE = [
    ("abc", ["id"], 96385),
    ("k:v", ["id"], 104774),
    ("a:b:c", ["id"], 405248),
    ("id:abc", ["id"], 750714),
    ("id:a:b", ["id"], 749473),
    ("id:a,b", ["id"], 94710),
    ("a,b", ["id"], 94710),
    ("id:1,city:x", ["id"], 80),
    ("id:1,city:x", ["city", "id"], 2600),
    ("id:1,city:x:y", ["city"], 117270),
    ("id:1,city:x,y", ["city"], 116836),
    ("id:1,city:x,y:z", ["city"], 151),
    ("id:1,city:__null__", ["city"], 31),
    ("id:1,city:__empty__", ["city"], 31),
    ("id:1,city:__null__", ["id", "city"], 2480),
    ("2023-10-25 10:01:13.182", ["ts"], 18881),
    ("tiq_..:htmtalent", ["uid"], 630854),
    ("", ["id"], 31),
    ("münchen", ["id"], 869081),
    ("\U0001f600x", ["id"], 959858),
    (":", ["id"], 89),
    ("a:1,b:2", ["c"], 655600),
    ("x,id:7", ["id"], 871442),
    ("foo:1,id:7", ["id"], 86),
    (",id:1,city:2", ["id", "city"], 81),
    ("id:x,", ["id"], 3795),
    ("id:1,,city:2", ["id", "city"], 49464),
    ("id:1,city:x,id:7", ["id", "city"], 80655),
    ("id:1,city:x,id:7", ["city"], 151),
    ("id:__null__,city:__empty__", ["id", "city"], 961),
    ("id:a,b:,city:é", ["id", "city"], 4201),
    ("id:a b:c,d,city:x", ["id", "city"], 956019),
    ("id:1,city:2", ["city", "id"], 2530),
]
NAMES = ("id", "city", "day")
VALUES = st.text(st.sampled_from("ab,:1é\U0001f600\x1f_"), max_size=6) | st.sampled_from(["__null__", "__empty__", ""])


@pytest.mark.parametrize(("key", "fields", "bucket"), APACHE)
def test_buckets_are_those_of_apache_hudi(key: str, fields: list[str], bucket: int):
    assert (bucket_hashes(pa.array([key]), fields) % 1_000_003).tolist() == [bucket]


def test_keys_of_all_kinds_in_one_column():
    for fields in (["id"], ["city"], ["id", "city"]):
        rows = [(key, bucket) for key, rows_in, bucket in APACHE if rows_in == fields]
        hashes = bucket_hashes(pa.chunked_array([[key] for key, _ in rows]), fields)
        assert (hashes % 1_000_003).tolist() == [bucket for _, bucket in rows]


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=8), st.sets(st.sampled_from(NAMES), min_size=1))
def test_a_column_is_hashed_as_its_keys_one_by_one(rows: list[tuple[str, str, str]], fields: set[str]):
    keys = [",".join(f"{name}:{value}" for name, value in zip(NAMES, row, strict=True)) for row in rows]
    together = bucket_hashes(pa.array(keys, pa.string()), sorted(fields))
    assert together.tolist() == [int(bucket_hashes(pa.array([key]), sorted(fields))[0]) for key in keys]


@settings(deadline=None)
@given(st.lists(st.lists(VALUES | st.sampled_from(["id:", ",id:"]), max_size=4).map("".join), min_size=1, max_size=8))
def test_keys_that_look_composite_are_hashed_as_the_model_does(keys: list[str]):
    """Values of a single key field with commas, colons and names of fields in them."""
    found = bucket_hashes(pa.array(keys, pa.string()), ["id"]).tolist()
    assert found == [bucket_of(hashed_texts_of_model(key, ["id"]), 2**31) for key in keys]


@settings(deadline=None)
@given(st.lists(st.text(max_size=20)), st.integers(1, 300))
def test_a_key_of_one_field_is_hashed_whole(keys: list[str], buckets: int):
    plain = [key for key in keys if not {",", ":"} <= set(key)]
    hashes = bucket_hashes(pa.array(plain, pa.string()), ["id"]) % buckets
    assert hashes.tolist() == [bucket_id([key], buckets) for key in plain]


def test_plain_composite_keys_are_taken_apart_together():
    """Whatever is regular is not looked at key by key."""
    parts = hashed_texts(pa.array(["id:1,city:x", "id:2,city:__null__", "id:3,city:a,b"]), ["city", "id"])
    assert [one.numbers.tolist() for one in parts] == [[0, 1, 2]]
    assert [column.to_pylist() for column in parts[0].columns] == [["1", "2", "3"], ["x", None, "a,b"]]


@settings(deadline=None)
@given(st.lists(st.text(max_size=70)))
def test_places_on_a_ring_are_those_of_each_text(texts: list[str]):
    assert ring_places(pa.array(texts, pa.string())).tolist() == [bucket_hash(text) for text in texts]
    ring = first_ring("p", 7)
    assert all(ring.node_of(text).value >= bucket_hash(text) for text in texts)


# What 1.1.1 answers for rules, a partition path and 8 buckets by default.
@pytest.mark.parametrize(
    ("rules", "path", "count"),
    [
        ("day=2024-.*,4;north|south,16", "day=2024-01", 4),
        ("day=2024-.*,4;north|south,16", "xsouthx", 16),
        ("day=2024-.*,4;north|south,16", "", 8),
        (r"\d{4}-(06-(01|17|18)|11-(01|10|11)),256", "2024-06-17", 256),
        (r"\d{4}-(06-(01|17|18)|11-(01|10|11)),256", "2024-07-17", 8),
        ("^a$,3", "a", 3),
        ("^a$,3", "aa", 8),
        (" b+ , 5 ;c,6", "abc", 5),
    ],
)
def test_rules_count_buckets_as_apache_hudi_does(rules: str, path: str, count: int):
    assert BucketCounts(8, parsed_rules(rules, "regex", "here")).of(path) == count


@pytest.mark.parametrize("rules", ["a", "a,b", "a,1,2", "(,3", "a,0"])
def test_rules_that_are_none_are_refused(rules: str):
    with pytest.raises((HudiError, UnsupportedFeature)):
        parsed_rules(rules, "regex", "here")


def test_rules_of_another_kind_are_not_built():
    with pytest.raises(UnsupportedFeature, match="bucket-rules-glob"):
        parsed_rules("a,1", "glob", "here")
