"""Rings of consistent hashing: the files of real tables, every key in one node, bad files refused."""

import json
from typing import Any

import pytest
from format_strategies import damaged
from hudi_format.errors import FormatError, Reason
from hudi_format.hashing import bucket_hash
from hudi_format.table.hash_ring import (
    FIRST_INSTANT,
    HashRing,
    RingNode,
    first_ring,
    newest_ring,
    parse_hash_ring,
    parse_ring_file_name,
    serialise_hash_ring,
)
from hypothesis import given, settings
from hypothesis import strategies as st

RINGS = st.builds(first_ring, st.text(max_size=5), st.integers(1, 40))


@given(RINGS)
def test_a_ring_round_trips(ring: HashRing):
    assert parse_hash_ring(serialise_hash_ring(ring), "f") == ring


@given(RINGS, st.text(max_size=8))
def test_a_key_lies_in_the_first_node_at_or_after_its_hash(ring: HashRing, key: str):
    node = ring.node_of(key)
    before = [one.value for one in ring.nodes if one.value < node.value]
    assert max(before, default=-1) < bucket_hash(key) <= node.value


def test_beyond_the_last_node_the_ring_begins_again():
    ring = HashRing("p", FIRST_INSTANT, 2, 0, (RingNode(1, "a"), RingNode(2, "b")))
    assert {ring.node_of(f"k{index}").file_id_prefix for index in range(20)} == {"a"}


@given(st.integers(1, 300))
def test_the_first_ring_reaches_the_greatest_hash(buckets: int):
    ring = first_ring("p", buckets)
    assert (len(ring.nodes), ring.nodes[-1].value) == (buckets, 2**31 - 1)


def test_a_ring_needs_a_bucket():
    with pytest.raises(ValueError, match="at least one"):
        first_ring("p", 0)


def test_a_resized_ring_holds_once_it_is_committed():
    first, resized = (HashRing("p", instant, 1, 0, (RingNode(5, "a"),)) for instant in (FIRST_INSTANT, "20250101"))
    assert newest_ring([first, resized], []) == first
    assert newest_ring([first, resized], ["20250101"]) == resized


def test_hash_rings_and_their_commits_are_recognized_by_name():
    names = ("00000000000000.hashing_meta", "20250101.commit", "20250101.commit.crc", "x.hashing_meta")
    found = [parse_ring_file_name(name) for name in names]
    assert [found[0] and str(found[0]), found[1] and found[1].is_commit_sign, *found[2:]] == [
        names[0],
        True,
        None,
        None,
    ]


def _without(name: str) -> Any:
    return lambda record: record.pop(name)


@pytest.mark.parametrize(
    "change",
    [
        _without("nodes"),
        _without("seqNo"),
        _without("partitionPath"),
        lambda record: record.update(nodes=[]),
        lambda record: record["nodes"].reverse(),
        lambda record: record["nodes"].append(5),
        lambda record: record["nodes"][0].update(value=-1),
        lambda record: record["nodes"][0].update(tag="NEW"),
        lambda record: record["nodes"][0].update(fileIdPrefix=None),
    ],
)
def test_a_file_that_is_no_ring_is_refused(change: Any):
    record = json.loads(serialise_hash_ring(first_ring("p", 3)))
    change(record)
    with pytest.raises(FormatError) as caught:
        parse_hash_ring(json.dumps(record).encode(), "f")
    assert (caught.value.reason, caught.value.clause) == (Reason.PROPERTIES_INVALID, "OW-034")


@settings(deadline=None)
@given(damaged(serialise_hash_ring(first_ring("p", 2))))
def test_damaged_files_give_a_ring_or_one_error(data: bytes):
    try:
        ring = parse_hash_ring(data, "f")
    except FormatError:
        return
    assert ring.nodes
