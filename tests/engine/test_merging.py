"""The vectorised kernel against the rule written as a loop."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import avro, tick
from hudi_format.log.blocks import read_blocks
from hudi_format.log.content import data_block, delete_block
from hudi_format.log.deletes import DeleteRecord
from hudi_format.schemas import arrow_schema
from hudi_spark import HudiError
from hudi_spark.merge.kernel import merge, same_values
from hudi_spark.merge.keys import KeyRule
from hudi_spark.merge.log_records import decode_log_records
from hudi_spark.merge.rules import MergeRule
from hudi_spark.table_state.slicing import LocatedBlock
from hypothesis import given, settings
from hypothesis import strategies as st

EVENT = MergeRule("EVENT_TIME_ORDERING", ("ts",))
COMMIT = MergeRule("COMMIT_TIME_ORDERING", ("ts",))
ASSOCIATIVE = MergeRule("EVENT_TIME_ORDERING", ("ts",), deletes_reach_base=True)
COLUMNS = (("_hoodie_record_key", ["null", "string"]), ("ts", ["null", "long"]), ("note", ["null", "string"]))
AVRO = avro((*COLUMNS, ("_hoodie_is_deleted", ["null", "boolean"])))
SCHEMA = arrow_schema(avro(COLUMNS))


@dataclass(frozen=True)
class Version:
    """One version of a record: `ts` None means that it has no ordering value."""

    key: str
    ts: int | None
    note: str | None
    deleted: bool = False
    in_block: str = "data"


def block_of(versions: list[Version]) -> bytes:
    """Versions of one kind as a block."""
    if versions[0].in_block == "data":
        rows = [
            {"_hoodie_record_key": v.key, "ts": v.ts, "note": v.note, "_hoodie_is_deleted": v.deleted or None}
            for v in versions
        ]
        return data_block(tick(1), rows, AVRO)
    deletes = [
        DeleteRecord(v.key, "p", 0, "Int") if v.ts is None else DeleteRecord(v.key, "p", v.ts, "Long") for v in versions
    ]
    return delete_block(tick(1), deletes)


def kernel(base: list[Version], log: list[Version], rule: MergeRule) -> list[tuple]:
    """Every version in a block of its own, so that their order is the order of the list."""
    data = b"".join(block_of([version]) for version in log)
    blocks = [LocatedBlock("log", tick(1), block) for block in read_blocks(data, "log")]
    records = decode_log_records(blocks, SCHEMA, KeyRule(), rule)
    rows = [{"_hoodie_record_key": v.key, "ts": v.ts, "note": v.note} for v in base]
    merged = merge(pa.Table.from_pylist(rows, SCHEMA), records, KeyRule(), rule)
    return sorted(tuple(one.values()) for one in merged.to_pylist())


def loop(base: list[Version], log: list[Version], rule: MergeRule) -> list[tuple]:
    """The rule, one version after the other; the text lets the base row take part from the start."""
    standing = {version.key: version for version in base} if rule.deletes_reach_base else {}
    for version in log:
        older = standing.get(version.key)
        if older is None or beats(version, older, rule):
            standing[version.key] = version
    answer = {} if rule.deletes_reach_base else {version.key: version for version in base}
    for key, version in standing.items():
        if key not in answer or beats(version, answer[key], rule):
            answer[key] = version
    return sorted((v.key, v.ts, v.note) for v in answer.values() if not v.deleted)


def beats(newer: Version, older: Version, rule: MergeRule) -> bool:
    return rule.mode == "COMMIT_TIME_ORDERING" or newer.ts is None or older.ts is None or newer.ts >= older.ts


KEYS = st.sampled_from(["a", "b", "é"])
TIMES = st.integers(1, 4)
ROWS = st.builds(Version, KEYS, TIMES | st.none(), st.text(max_size=2))
SOFT_DELETES = st.builds(Version, KEYS, TIMES, st.none(), st.just(value=True))
DELETES = st.builds(Version, KEYS, st.none() | TIMES, st.none(), st.just(value=True), st.just("delete"))
LOGS = st.lists(ROWS | SOFT_DELETES | DELETES, max_size=8)
BASES = st.lists(ROWS, max_size=3, unique_by=lambda version: version.key)


@pytest.mark.parametrize("rule", [EVENT, COMMIT, ASSOCIATIVE], ids=["event time", "commit time", "text"])
@settings(deadline=None)
@given(base=BASES, log=LOGS)
def test_the_kernel_answers_what_the_rule_says_one_by_one(rule: MergeRule, base: Any, log: Any):
    assert kernel(base, log, rule) == loop(base, log, rule)


@pytest.mark.parametrize(
    ("newer", "left"),
    [
        (Version("a", 4, "log"), [("a", 4, "log"), ("a", 5, "high")]),
        (Version("a", 9, "log"), [("a", 9, "log"), ("a", 9, "log")]),
        (Version("a", 4, None, in_block="delete"), [("a", 5, "high")]),
        (Version("a", None, None, in_block="delete"), []),
        (Version("b", 4, "log"), [("a", 3, "low"), ("a", 5, "high"), ("b", 4, "log")]),
    ],
)
def test_rows_of_one_key_in_a_base_file_meet_the_version_each_on_its_own(newer: Version, left: list[tuple]):
    assert kernel([Version("a", 3, "low"), Version("a", 5, "high")], [newer], EVENT) == left


def test_a_tie_goes_to_the_newer():
    assert kernel([Version("a", 5, "base")], [Version("a", 5, "log")], EVENT) == [("a", 5, "log")]


def test_late_data_loses_by_event_time_and_wins_by_commit_time():
    base, log = [Version("a", 5, "base")], [Version("a", 3, "late")]
    assert kernel(base, log, EVENT) == [("a", 5, "base")]
    assert kernel(base, log, ASSOCIATIVE) == [("a", 5, "base")]
    assert kernel(base, log, COMMIT) == [("a", 3, "late")]


def test_a_delete_without_ordering_value_loses_to_what_follows():
    """The re-inserted record then meets the base row, and may lose to it: the deleted key comes back."""
    delete = Version("a", None, None, deleted=True, in_block="delete")
    assert kernel([Version("a", 5, "base")], [delete], EVENT) == []
    assert kernel([Version("a", 5, "base")], [delete, Version("a", 7, "again")], EVENT) == [("a", 7, "again")]
    assert kernel([Version("a", 5, "base")], [delete, Version("a", 3, "again")], EVENT) == [("a", 5, "base")]
    assert kernel([Version("a", 5, "base")], [delete, Version("a", 3, "again")], ASSOCIATIVE) == [("a", 3, "again")]


def test_a_typed_delete_competes():
    assert kernel([Version("a", 5, "base")], [Version("a", 4, None, deleted=True, in_block="delete")], EVENT) == [
        ("a", 5, "base")
    ]
    assert kernel([Version("a", 5, "base")], [Version("a", 5, None, deleted=True, in_block="delete")], EVENT) == []


def test_several_ordering_fields_compare_in_turn():
    rule = MergeRule("EVENT_TIME_ORDERING", ("ts", "note"))
    base = [Version("a", 5, "b"), Version("b", 5, "b")]
    log = [Version("a", 5, "a"), Version("b", 5, "c"), Version("b", 4, "z")]
    assert kernel(base, log, rule) == [("a", 5, "b"), ("b", 5, "c")]


@pytest.mark.parametrize(
    ("ordering", "kind", "survives"),
    [((5, "a"), "Array", True), ((5, "b"), "Array", False), ((5,), "Array", False), ("x", "String", False)],
)
def test_a_delete_competes_with_all_ordering_values_or_with_none(ordering: Any, kind: str, survives: bool):
    """Values of another number or type do not compare: the delete wins like one without ordering value."""
    rule = MergeRule("EVENT_TIME_ORDERING", ("ts", "note"))
    data = delete_block(tick(1), [DeleteRecord("a", "p", ordering, kind)])
    blocks = [LocatedBlock("log", tick(1), block) for block in read_blocks(data, "log")]
    records = decode_log_records(blocks, SCHEMA, KeyRule(), rule)
    base = pa.Table.from_pylist([{"_hoodie_record_key": "a", "ts": 5, "note": "b"}], SCHEMA)
    assert merge(base, records, KeyRule(), rule).num_rows == survives


@pytest.mark.parametrize("values", [(-1.5, 2.0), (float("-inf"), -1.0), (3.0, float("nan")), (-0.0, 0.0)])
def test_floats_order_as_java_orders_them(values: tuple[float, float]):
    """NaN is the greatest; the negative zero is less than zero."""
    columns = (("_hoodie_record_key", "string"), ("ts", "double"))
    schema = arrow_schema(avro(columns))
    less, greater = values
    data = data_block(tick(1), [{"_hoodie_record_key": "a", "ts": less}], avro(columns))
    blocks = [LocatedBlock("log", tick(1), block) for block in read_blocks(data, "log")]
    records = decode_log_records(blocks, schema, KeyRule(), EVENT)
    base = pa.table({"_hoodie_record_key": ["a"], "ts": [greater]}, schema=schema)
    assert repr(merge(base, records, KeyRule(), EVENT).column("ts")[0].as_py()) == repr(greater)


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_floats_are_the_same_bit_for_bit(kind: pa.DataType):
    """Not-a-number is itself, null is null, and the zeros are two."""
    nan = float("nan")
    left, right = [1.5, nan, None, -0.0, None, 1.0], [1.5, nan, None, 0.0, 1.0, 2.0]
    found = same_values(*(pa.chunked_array([pa.array(one, kind)]) for one in (left, right)))
    assert found.to_pylist() == [True, True, True, False, False, False]


def test_maps_are_the_same_whatever_the_order_of_their_entries():
    """A writer in Java may put the entries of a map in another order when it writes a row again."""
    kind = pa.struct([("tags", pa.list_(pa.map_(pa.string(), pa.map_(pa.string(), pa.int64()))))])
    left = [{"tags": [[("b", [("y", 1), ("x", 2)]), ("a", None)], None]}, {"tags": [[("a", [("x", 1)])]]}, None]
    right = [{"tags": [[("a", None), ("b", [("x", 2), ("y", 1)])], None]}, {"tags": [[("a", [("x", 2)])]]}, None]
    found = same_values(*(pa.chunked_array([pa.array(one, kind)]) for one in (left, right)))
    assert found.to_pylist() == [True, False, True]


def test_a_base_row_without_key_is_refused_where_logs_are_merged_with_it():
    """It would stay beside the newer version of its record."""
    (block,) = read_blocks(block_of([Version("a", 1, None)]), "log")
    records = decode_log_records([LocatedBlock("log", tick(1), block)], SCHEMA, KeyRule(), EVENT)
    base = pa.Table.from_pylist([{"_hoodie_record_key": None, "ts": 1, "note": None}], SCHEMA)
    with pytest.raises(HudiError) as refused:
        merge(base, records, KeyRule(), EVENT, "p/base.parquet")
    assert (refused.value.reason, refused.value.file) == ("KEY_MISSING", "p/base.parquet")


def test_a_record_without_key_is_refused():
    data = data_block(tick(1), [{"_hoodie_record_key": None, "ts": 1, "note": None}], AVRO)
    blocks = [LocatedBlock("log", tick(1), block) for block in read_blocks(data, "log")]
    with pytest.raises(HudiError) as caught:
        decode_log_records(blocks, SCHEMA, KeyRule(), EVENT)
    assert caught.value.reason == "KEY_MISSING"
