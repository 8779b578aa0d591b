"""Bucket indexes: a key's hash names its file group, also one that is not there yet."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.hashing import bucket_id
from hudi_format.table.hash_ring import (
    RINGS_FOLDER,
    HashRing,
    RingNode,
    first_ring,
    parse_hash_ring,
    serialise_hash_ring,
)
from hudi_spark import HudiError
from hudi_spark.keys import tagged
from hudi_spark.testing import Effect, Effects, InProcess
from hypothesis import given, settings
from hypothesis import strategies as st
from tagging_tables import INSTANT, incoming, state_of, tags

BUCKETS = 4
KEYS = [f"k{number}" for number in range(40)]


def group(bucket: int) -> str:
    return f"{bucket:08d}-0000-4000-8000-00000000000a-0"


def bucketed(folder: Path, keys: list[str] | None = None, table_type: str = "MERGE_ON_READ") -> TableBuilder:
    """A table of keys in their buckets, all in north."""
    builder = TableBuilder(folder, table_type=table_type)
    by_bucket: dict[int, list[Any]] = {}
    for key in KEYS[:6] if keys is None else keys:
        by_bucket.setdefault(bucket_id([key], BUCKETS), []).append(row(key, 1))
    stats = [builder.base_file(1, rows, group=group(bucket)) for bucket, rows in by_bucket.items()]
    builder.commit(1, stats, action="commit" if table_type == "COPY_ON_WRITE" else "deltacommit")
    return builder


def ids(folder: Path, keys: list[str], partition: str = "north", mode: str = "", **options: str) -> list[str]:
    given_options = {"hoodie__bucket__index__num__buckets": str(BUCKETS), **options}
    state = state_of(folder, "BUCKET", **given_options)
    if mode:
        # An option that writes do not take yet.
        values = {**state.options.values, "hoodie.write.concurrency.mode": mode}
        state = replace(state, options=replace(state.options, values=values))
    found = tags(incoming(state, [(key, partition, row(key, 2)) for key in keys]), state)
    texts: list[str] = found.column("_tag_file_id").to_pylist()
    return texts


def test_every_row_has_the_group_of_its_bucket(tmp_path: Path):
    """That of the partition, and where it has none a new one, which is the same for every task of a write."""
    bucketed(tmp_path)
    there = {bucket_id([key], BUCKETS) for key in KEYS[:6]}
    for key, file_id in zip(KEYS, ids(tmp_path, KEYS), strict=True):
        bucket = bucket_id([key], BUCKETS)
        assert file_id.startswith(f"{bucket:08d}-")
        assert (file_id == group(bucket)) == (bucket in there)
    elsewhere = ids(tmp_path, KEYS, "south")
    assert len(set(elsewhere)) == BUCKETS
    assert not set(elsewhere) & set(ids(tmp_path, KEYS))
    assert elsewhere == ids(tmp_path, KEYS, "south")
    assert len({len(file_id) for file_id in elsewhere}) == 1


def test_base_instants_are_those_of_slices(tmp_path: Path):
    bucketed(tmp_path, KEYS[:1])
    state = state_of(tmp_path, "BUCKET", hoodie__bucket__index__num__buckets=str(BUCKETS))
    found = tags(incoming(state, [(KEYS[0], "north", row("x", 1)), (KEYS[0], "x", row("x", 1))]), state)
    assert found.column("_tag_base_instant").to_pylist() == [tick(1), None]


def test_writers_that_do_not_block_open_the_same_group(tmp_path: Path):
    """A group of that id that was replaced does not come back."""
    builder = bucketed(tmp_path, [])
    option = {"mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
    number = bucket_id(["a"], BUCKETS)
    fixed = f"{number:08d}-0000-0000-0000-000000000000-0"
    assert ids(tmp_path, ["a"], **option) == [fixed]
    builder.commit(3, [builder.base_file(3, [row("a", 1)], group=fixed)])
    assert ids(tmp_path, ["a"], **option) == [fixed]
    builder.commit(5, action="replacecommit", replaced={"north": (fixed,)}, operation="DELETE_PARTITION")
    assert ids(tmp_path, ["a"], **option) != [fixed]
    assert ids(tmp_path, ["a"], **option)[0].startswith(f"{number:08d}-")


def test_rules_that_the_table_keeps_hold(tmp_path: Path):
    """The newest that is no part of a pending action decides, whatever the options say."""
    builder = bucketed(tmp_path, [])
    folder = tmp_path / ".hoodie" / ".bucket_index" / "partition_bucket_index_meta" / "configs"
    folder.mkdir(parents=True)
    for name, count in (("00000000000000", 2), (tick(9), 3)):
        rules = {"expressions": f"south,{count}", "defaultBucketNumber": 1, "rule": "regex", "version": 1}
        (folder / f"{name}.hashing_config").write_text(json.dumps(rules))
    builder.pending(9, action="replacecommit")
    assert len(set(ids(tmp_path, KEYS, "south"))) == 2
    assert len(set(ids(tmp_path, KEYS, "north"))) == 1
    (folder / "00000000000001.hashing_config").write_text("{}")
    with pytest.raises(HudiError, match="PROPERTIES_INVALID"):
        ids(tmp_path, KEYS)


@pytest.mark.parametrize(
    ("groups", "options", "says"),
    [
        (["00000007-a-0"], {}, "is none of 4 buckets"),
        (["b0c1d2e3-a-0"], {}, "is none of 4 buckets"),
        (["00000001-a-0", "00000001-b-0"], {}, "of one bucket"),
        ([], {"hoodie__bucket__index__hash__field": "id,price"}, "'price', which is no record key field"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, groups: list[str], options: dict[str, str], says: str):
    builder = TableBuilder(tmp_path)
    builder.commit(1, [builder.log_file(1, [builder.data(1, [row("a", 1)])], group=one) for one in groups])
    with pytest.raises(HudiError, match=f"CONFIG_INVALID.*{says}"):
        ids(tmp_path, ["a"], **options)


def test_another_number_of_buckets_is_seen_in_the_files(tmp_path: Path):
    """No table says how many buckets it has; keys that hash elsewhere do."""
    bucketed(tmp_path)
    with pytest.raises(HudiError, match="belongs to another of 64 buckets"):
        ids(tmp_path, KEYS, hoodie__bucket__index__num__buckets="64")


def test_keys_that_are_generated_have_no_bucket(tmp_path: Path):
    builder = TableBuilder(tmp_path, properties={"hoodie.table.recordkey.fields": ""})
    builder.commit(1)
    with pytest.raises(HudiError, match="keys are generated"):
        ids(tmp_path, ["a"])


RING = {"hoodie__index__bucket__engine": "CONSISTENT_HASHING"}


class Noted:
    """Notes the effects of a writer."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def before(self, effect: Effect) -> None:
        """Nothing."""

    def after(self, effect: Effect) -> None:
        """Note it."""
        self.names.append(f"{effect.name} {effect.parameters['file']}")


def test_a_new_partition_gets_its_first_ring(tmp_path: Path):
    """Once, through the helper of effects; every writer would make the same one."""
    bucketed(tmp_path, [])
    noted = Noted()
    state = state_of(tmp_path, "BUCKET", hoodie__bucket__index__num__buckets="5", **RING)
    rows = InProcess().rows(incoming(state, [(key, "west", row(key, 1)) for key in KEYS]))
    for _ in range(2):
        found = tagged(rows, state, InProcess(), INSTANT, Effects(state.storage, noted)).named().gathered()
    path = f"{RINGS_FOLDER}/west/00000000000000.hashing_meta"
    assert noted.names == [f"put_properties {path}"]
    ring = parse_hash_ring((tmp_path / path).read_bytes(), path)
    assert ring == first_ring("west", 5)
    assert found.column("_tag_file_id").to_pylist() == [f"{ring.node_of(key).file_id_prefix}-0" for key in KEYS]


def test_a_resized_ring_holds_once_its_action_is_completed(tmp_path: Path):
    """By its sign, by the timeline, or by files of its groups where the timeline has forgotten it."""
    builder = bucketed(tmp_path, [])
    put_ring(tmp_path, first_ring("north", 2))
    put_ring(tmp_path, HashRing("north", tick(20), 2, 1, (RingNode(2**31 - 1, "20202020-0000"),)))
    first = {f"{node.file_id_prefix}-0" for node in first_ring("north", 2).nodes}
    assert set(ids(tmp_path, KEYS, **RING)) == first
    builder.pending(20, action="replacecommit")
    builder.commit(22, [builder.base_file(22, [row("a", 1)], group="20202020-0000-0")])
    assert set(ids(tmp_path, KEYS, **RING)) == first
    (tmp_path / RINGS_FOLDER / "north" / f"{tick(20)}.commit").write_bytes(b"")
    assert set(ids(tmp_path, KEYS, **RING)) == {"20202020-0000-0"}


def test_a_ring_of_an_archived_action_is_known_by_its_files(tmp_path: Path):
    builder = bucketed(tmp_path, [])
    put_ring(tmp_path, HashRing("north", tick(0), 2, 1, (RingNode(2**31 - 1, "20202020-0000"),)))
    assert set(ids(tmp_path, KEYS, **RING)) != {"20202020-0000-0"}
    builder.commit(22, [builder.base_file(22, [row("a", 1)], group="20202020-0000-0")])
    assert set(ids(tmp_path, KEYS, **RING)) == {"20202020-0000-0"}


def test_a_deleted_partition_is_not_written_to_by_its_ring(tmp_path: Path):
    """Its groups were replaced: nobody would read the rows. Other partitions are written to."""
    builder = bucketed(tmp_path, [])
    gone = f"{ring_of('west').node_of('a').file_id_prefix}-0"
    builder.commit(20, action="replacecommit", replaced={"west": (gone,)})
    with pytest.raises(HudiError, match="replaced when it was deleted"):
        ids(tmp_path, ["a"], "west", **RING)
    assert set(ids(tmp_path, KEYS, "north", **RING)) == {f"{one.file_id_prefix}-0" for one in ring_of("north").nodes}


def ring_of(partition: str) -> HashRing:
    return first_ring(partition, BUCKETS)


def put_ring(folder: Path, ring: HashRing) -> None:
    path = folder / RINGS_FOLDER / ring.partition / f"{ring.instant}.hashing_meta"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(serialise_hash_ring(ring))


def test_rings_are_for_merge_on_read(tmp_path: Path):
    bucketed(tmp_path, [], "COPY_ON_WRITE")
    with pytest.raises(HudiError, match="merge-on-read"):
        ids(tmp_path, ["a"], **RING)


@settings(max_examples=20, deadline=None)
@given(keys=st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12), count=st.integers(1, 50))
def test_equal_keys_share_a_group_and_its_number(keys: list[str], count: int, tmp_path_factory: Any):
    folder = tmp_path_factory.mktemp("buckets")
    bucketed(folder, [])
    found = ids(folder, [*keys, *keys], hoodie__bucket__index__num__buckets=str(count))
    assert found[: len(keys)] == found[len(keys) :]
    plain = [place for place, key in enumerate(keys) if not {",", ":"} <= set(key)]
    assert all(int(found[place][:8]) == bucket_id([keys[place]], count) for place in plain)


def test_rules_of_the_options_count_buckets(tmp_path: Path):
    bucketed(tmp_path, [])
    rules = {"hoodie__bucket__index__partition__expressions": "sou.*,2;west,3"}
    assert [len(set(ids(tmp_path, KEYS, path, **rules))) for path in ("south", "west", "north")] == [2, 3, BUCKETS]
