"""What is left of the versions in logs without their base rows: by the rule one record at a time, for every mode."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import tick
from hudi_format.log.blocks import BlockType, RawBlock, read_blocks
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError
from hudi_spark.merge import (
    KeyRule,
    LogWinners,
    MergeContext,
    MergeRule,
    decode_log_records,
    key_rule,
    log_winners,
    ordering_columns,
)
from hudi_spark.merge.log_records import stored_ordering
from hudi_spark.merge.mergers import CarriedMerger
from hudi_spark.table_state import LocatedBlock, Visibility, scan_logs
from hypothesis import given, settings
from hypothesis import strategies as st
from test_merge_completing import NAMES, RULES, SCHEMA, Version, as_rule_has_it, block_of, fold, versions
from test_mergers import HighestPrice


def winners(rule: MergeRule, log: list[Version]) -> LogWinners:
    """Each version in a block of its own."""
    data = b"".join(block_of(version) for version in log)
    blocks = [LocatedBlock("log", tick(1), block) for block in read_blocks(data, "log")]
    return log_winners(decode_log_records(blocks, SCHEMA, KeyRule(), rule), rule)


@pytest.mark.parametrize("kind", RULES)
@settings(deadline=None, max_examples=40)
@given(log=st.lists(versions(), min_size=1, max_size=7))
def test_one_version_a_key_is_left(kind: str, log: list[Version]):
    """Rows with their keys, deletes with what they go on to compete with."""
    rule, counted = RULES[kind], [as_rule_has_it(version, kind) for version in log]
    left = [fold([one for one in counted if one.key == key], rule) for key in {one.key for one in counted}]
    found = winners(rule, log)
    rows = [tuple(row[name] for name in NAMES) for row in found.rows.to_pylist()]
    expected = [tuple(one.values.get(name) for name in NAMES) for one in left if not one.deleted]
    assert sorted(rows, key=repr) == sorted(expected, key=repr)
    assert found.keys.to_pylist() == found.rows.column("_hoodie_record_key").to_pylist()
    competing = [None if alone else at for alone, at in zip(found.natural.to_pylist(), ordering(found), strict=True)]
    deleted = {one.key: one.ordering if rule.compares_event_time else None for one in left if one.deleted}
    assert dict(zip(found.deleted.to_pylist(), competing, strict=True)) == deleted
    assert found.ordering or all(found.natural.to_pylist())


def ordering(found: LogWinners) -> list[Any]:
    return found.ordering[0].to_pylist() if found.ordering else [None] * len(found.deleted)


def test_a_merger_makes_one_version_of_those_in_the_logs():
    """Of partial updates it is reported what they set; a delete is a version like others."""
    rule = MergeRule("CUSTOM", ("ts",), merger=CarriedMerger(HighestPrice(), MergeContext({}, ("ts",))))
    log = [
        version("a", ts=1, name="first", price=9.0),
        version("a", ts=2, name="second", price=4.0),
        version("a", name="third"),
        version("b", ts=1, name="goes", price=1.0),
        tombstone("b", 7),
        tombstone("c", 8),
    ]
    found = winners(rule, log)
    assert [tuple(row[name] for name in NAMES[1:]) for row in found.rows.to_pylist()] == [("a", 2, "third", 9.0)]
    assert (found.keys.to_pylist(), found.deleted.to_pylist()) == (["a"], ["b", "c"])
    # The merged columns' own ordering value comes before that of the tombstone.
    assert [column.to_pylist() for column in found.ordering] == [[1, 8]]


def version(key: str, **values: Any) -> Version:
    return Version({"_hoodie_record_key": key, "_hoodie_commit_time": "1", **values}, ordering=values.get("ts"))


def tombstone(key: str, at: int) -> Version:
    return Version({"_hoodie_record_key": key}, deleted=True, ordering=at, tombstone=True)


FLOATS = st.floats(width=32)
VALUES = {
    "int": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float32(), FLOATS),
    "double": (pa.float64(), st.floats()),
    "boolean": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates()),
    "text": (pa.string(), st.text()),
    "decimal": (pa.decimal128(9, 2), st.integers(-(10**9) + 1, 10**9 - 1).map(lambda one: Decimal(one).scaleb(-2))),
}


@pytest.mark.parametrize("name", VALUES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_ordering_values_are_stored_as_they_were(name: str, data: Any):
    """Whatever form they were compared in."""
    kind, strategy = VALUES[name]
    stored = pa.table({"ts": pa.array(data.draw(st.lists(strategy | st.none(), min_size=1)), kind)})
    rule = MergeRule("EVENT_TIME_ORDERING", ("ts",))
    (back,) = stored_ordering(ordering_columns(stored, rule), [kind], rule)
    assert back.type == kind
    assert list(map(repr, back.to_pylist())) == list(map(repr, stored.column("ts").to_pylist()))


def test_ordering_values_that_are_not_compared_are_stored_as_they_are():
    rule = MergeRule("CUSTOM", ("ts",), merger=CarriedMerger(HighestPrice(), MergeContext({}, ("ts",))))
    values = pa.table({"ts": pa.array([-1.5, None])})
    (back,) = stored_ordering(ordering_columns(values, rule), [pa.float64()], rule)
    assert back.to_pylist() == [-1.5, None]


def test_places_in_a_binary_log_are_stored_as_texts():
    rule = MergeRule("EVENT_TIME_ORDERING", ("_event_seq",), ordering_form="log_places")
    places = pa.table({"_event_seq": ["12.5", "3.40", None]})
    (back,) = stored_ordering(ordering_columns(places, rule), [pa.string()], rule)
    assert back.to_pylist() == ["12.5", "3.40", None]
    assert stored_ordering([], [], rule) == []


@pytest.mark.parametrize(("named", "keys"), [(True, ["id:a", "id:b"]), (False, ["a", "b"])])
def test_keys_of_deletes_take_the_form_of_the_tables_keys(named: bool, keys: list[str]):
    """Writers differ on naming a single field; several fields are always named."""
    given_keys = pa.chunked_array([["id:a", "b"]])
    assert KeyRule(("id",), named=named).stored(given_keys).to_pylist() == keys
    both = pa.chunked_array([["id:a,at:1", "id"]])
    assert KeyRule(("id", "at"), named=True).stored(both) == both


def test_a_table_without_keys_is_refused():
    class Keyless:
        populates_meta_fields, record_key = False, ()

    with pytest.raises(HudiError, match="DM-002") as caught:
        key_rule(Keyless())
    assert caught.value.reason == "KEY_MISSING"


def test_a_block_without_instant_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It names the file and the place."""
    block = RawBlock(BlockType.DELETE, 1, offset=7, length=0, header={}, content=b"", content_offset=7)
    monkeypatch.setattr("hudi_spark.table_state.slicing.read_blocks", lambda _data, _file: [block])
    (tmp_path / "log").write_bytes(b"#")
    with pytest.raises(HudiError, match="LF-006") as caught:
        scan_logs(LocalStorage(tmp_path), ["log"], Visibility(frozenset(), frozenset(), None))
    assert (caught.value.reason, caught.value.file, caught.value.offset) == ("LOG_CONTENT_CORRUPT", "log", 7)


def test_marks_compete_where_a_payload_says_so_of_tombstones_alone():
    """Records that mark themselves deleted, by the flag or by the column, keep their ordering value."""
    rule = replace(RULES["event time"], plain_deletes=True, delete_field="name", delete_marker="gone")
    flagged = Version({**version("a", ts=3, name="x").values, "price": None}, deleted=True)
    marked = version("b", ts=3, name="gone", price=None)
    found = winners(rule, [flagged, marked])
    assert dict(zip(found.deleted.to_pylist(), found.natural.to_pylist(), strict=True)) == {"a": False, "b": False}
