"""Partial updates and modes that leave columns out: the columnar kernel against the rule, one record at a time."""

import datetime as dt
import json
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import avro, tick
from hudi_format.log.blocks import HeaderKey, read_blocks
from hudi_format.log.content import data_block, delete_block
from hudi_format.log.deletes import DeleteRecord
from hudi_format.schemas import arrow_schema
from hudi_spark.merge.kernel import merge
from hudi_spark.merge.keys import KeyRule
from hudi_spark.merge.log_records import decode_log_records
from hudi_spark.merge.rules import Completion, MergeRule, column_defaults
from hudi_spark.table_state.configuration import configuration_of
from hudi_spark.table_state.slicing import LocatedBlock
from hypothesis import given, settings
from hypothesis import strategies as st

COLUMNS = (
    ("_hoodie_commit_time", ["null", "string"]),
    ("_hoodie_record_key", ["null", "string"]),
    ("ts", ["null", "long"]),
    ("name", ["null", "string"]),
    ("price", ["null", "double"]),
)
NAMES = [name for name, _ in COLUMNS]
SCHEMA = arrow_schema(avro(COLUMNS))
EVENT = MergeRule("EVENT_TIME_ORDERING", ("ts",))
COMMIT = MergeRule("COMMIT_TIME_ORDERING", ("ts",))
IGNORE_DEFAULTS = Completion("defaults", defaults=(("name", "none"),))
FILL_UNAVAILABLE = Completion("unavailable", "?")
RULES = {
    "event time": EVENT,
    "commit time": COMMIT,
    "text": replace(EVENT, deletes_reach_base=True),
    "event time, ignoring defaults": replace(EVENT, completion=IGNORE_DEFAULTS),
    "commit time, ignoring defaults": replace(COMMIT, completion=IGNORE_DEFAULTS),
    "text, ignoring defaults": replace(EVENT, completion=IGNORE_DEFAULTS, deletes_reach_base=True),
    "event time, filling in": replace(EVENT, completion=FILL_UNAVAILABLE),
    "partial update payload": replace(
        EVENT, completion=Completion("nulls", newest_meta=True), plain_deletes=True, plain_marks=True
    ),
    "postgres payload": replace(
        EVENT, completion=Completion("unavailable", "?", newer_only=True), plain_deletes=True, plain_marks=True
    ),
}


@dataclass(frozen=True)
class Version:
    """What a version says: the columns that it sets, or a tombstone with its ordering value."""

    values: dict[str, Any]
    deleted: bool = False
    ordering: int | None = None
    tombstone: bool = False

    @property
    def key(self) -> str:
        return self.values["_hoodie_record_key"]


def answer_of(kind: str, base: list[Version], log: list[Version]) -> list[tuple]:
    """The rule as the text has it: merge two, then the next; a base row last, or first where merging is associative."""
    rule = RULES[kind]
    rows = []
    for key in {version.key for version in (*base, *log)}:
        changes = [version for version in log if version.key == key]
        for stored in [one for one in base if one.key == key] or [None]:
            if not changes:
                rows.append(stored)
            elif rule.deletes_reach_base:
                rows.append(fold([*([stored] if stored else []), *changes], rule))
            else:
                merged = fold(changes, rule)
                rows.append(fold([stored, merged], rule) if stored else merged)
    return sorted(((tuple(row.values.get(name) for name in NAMES)) for row in rows if not row.deleted), key=repr)


def fold(versions: list[Version], rule: MergeRule) -> Version:
    standing = versions[0]
    for version in versions[1:]:
        standing = merge_two(standing, version, rule)
    return standing


def merge_two(older: Version, newer: Version, rule: MergeRule) -> Version:
    newer_wins = (
        rule.mode == "COMMIT_TIME_ORDERING"
        or older.ordering is None
        or newer.ordering is None
        or newer.ordering >= older.ordering
    )
    winner, loser = (newer, older) if newer_wins else (older, newer)
    if older.deleted or newer.deleted:
        return winner
    completion = rule.completion
    values = dict(winner.values)
    if not (completion and completion.newer_only and not newer_wins):
        values = {name: (winner if says(winner, name, completion) else loser).values.get(name, ...) for name in NAMES}
        values = {name: value for name, value in values.items() if value is not ...}
    if completion and completion.newest_meta:
        values["_hoodie_commit_time"] = newer.values["_hoodie_commit_time"]
    ordering = values.get("ts") if winner.ordering is None else winner.ordering
    return Version(values, ordering=ordering)


def says(version: Version, name: str, completion: Completion | None) -> bool:
    """Whether a version says itself what a column holds."""
    if name not in version.values:
        return False
    if completion is None or name.startswith("_hoodie"):
        return True
    value = version.values[name]
    if completion.unset == "unavailable":
        return not (name == "name" and value == completion.unavailable)
    default = dict(completion.defaults).get(name) if completion.unset == "defaults" else None
    return value != default


def kernel(kind: str, base: list[Version], log: list[Version]) -> list[tuple]:
    """Each version in a block of its own."""
    rule = RULES[kind]
    data = b"".join(block_of(version) for version in log)
    blocks = [LocatedBlock("log", tick(1), block) for block in read_blocks(data, "log")]
    records = decode_log_records(blocks, SCHEMA, KeyRule(), rule)
    merged = merge(pa.Table.from_pylist([one.values for one in base], SCHEMA), records, KeyRule(), rule)
    return sorted((tuple(row.values()) for row in merged.to_pylist()), key=repr)


def block_of(version: Version) -> bytes:
    if version.tombstone:
        ordering = (0, "Int") if version.ordering is None else (version.ordering, "Long")
        return delete_block(tick(1), [DeleteRecord(version.key, "p", *ordering)])
    columns = [column for column in COLUMNS if column[0] in version.values]
    schema = avro((*columns, ("_hoodie_is_deleted", ["null", "boolean"])))
    header = {HeaderKey.IS_PARTIAL: "true"} if len(columns) < len(COLUMNS) else {}
    return data_block(tick(1), [{**version.values, "_hoodie_is_deleted": version.deleted or None}], schema, header)


KEYS = st.sampled_from(["a", "é"])
VALUES = {
    "ts": st.integers(1, 4) | st.none(),
    "name": st.sampled_from(["x", "y", "none", "?"]) | st.none(),
    "price": st.sampled_from([0.5, 1.5]) | st.none(),
}


@st.composite
def versions(draw: Any, *, whole: bool = False) -> Version:
    values = {"_hoodie_record_key": draw(KEYS), "_hoodie_commit_time": draw(st.sampled_from("12345"))}
    kind = "whole" if whole else draw(st.sampled_from(["whole", "partial", "partial", "flag", "tombstone"]))
    if kind == "tombstone":
        return Version(values, deleted=True, ordering=draw(st.none() | st.integers(1, 4)), tombstone=True)
    names = list(VALUES) if kind != "partial" else draw(st.lists(st.sampled_from(list(VALUES)), unique=True))
    values |= {name: draw(VALUES[name]) for name in names}
    return Version(values, deleted=kind == "flag", ordering=values.get("ts"))


def as_rule_has_it(version: Version, kind: str) -> Version:
    """Before version 9 a delete of a payload table has no ordering value that counts."""
    return replace(version, ordering=None) if version.deleted and RULES[kind].plain_deletes else version


@pytest.mark.parametrize("kind", RULES)
@settings(deadline=None, max_examples=40)
@given(base=st.lists(versions(whole=True), max_size=3), log=st.lists(versions(), max_size=7))
def test_the_columnar_kernel_answers_what_the_rule_says_one_by_one(kind: str, base: list[Version], log: list[Version]):
    counted = [as_rule_has_it(version, kind) for version in log]
    assert kernel(kind, base, log) == answer_of(kind, base, counted)


def test_many_versions_of_one_key_beside_single_ones():
    """The rounds of the fold are as many as the versions of the key that has most."""
    log = [Version({"_hoodie_record_key": "a", "_hoodie_commit_time": "1", "ts": at}, ordering=at) for at in range(50)]
    log += [Version({"_hoodie_record_key": f"k{at}", "_hoodie_commit_time": "1", "name": "x"}) for at in range(50)]
    base = [Version({"_hoodie_record_key": "a", "_hoodie_commit_time": "0", "ts": 1, "name": "n", "price": 2.5})]
    merged = kernel("event time", [replace(base[0], ordering=1)], log)
    assert len(merged) == 51
    assert ("1", "a", 49, "n", 2.5) in merged


def of_columns(
    columns: tuple[tuple[str, Any], ...], rule: MergeRule, base: dict[str, Any], *updates: dict[str, Any]
) -> list[dict[str, Any]]:
    """A base row and updates of its key in a table of other columns; each sets what it names, in a block of its own."""
    schema = arrow_schema(avro(columns))
    data = b"".join(
        data_block(
            tick(1),
            [update],
            avro([column for column in columns if column[0] in update]),
            {HeaderKey.IS_PARTIAL: "true"} if len(update) < len(columns) else {},
        )
        for update in updates
    )
    blocks = [LocatedBlock("log", tick(1), block) for block in read_blocks(data, "log")]
    records = decode_log_records(blocks, schema, KeyRule(), rule)
    return merge(pa.Table.from_pylist([base], schema), records, KeyRule(), rule).to_pylist()


@pytest.mark.parametrize(
    ("kind", "spelt", "default", "stored"),
    [
        ({"type": "array", "items": "string"}, [], [], ["t"]),
        ({"type": "map", "values": "int"}, {}, {}, [("t", 1)]),
        ("bytes", "\u00ff", b"\xff", b"t"),
        ("string", "-", "-", "t"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            "\u0001\u0000",
            Decimal("2.56"),
            Decimal("0.10"),
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
            "\u00ff\u0000",
            Decimal("-2.56"),
            Decimal("0.10"),
        ),
        ({"type": "int", "logicalType": "date"}, 3, dt.date(1970, 1, 4), dt.date(2024, 1, 1)),
    ],
    ids=["list", "map", "bytes", "text", "decimal", "negative decimal", "date"],
)
def test_a_default_is_read_as_avro_spells_it_and_compared_whole(kind: Any, spelt: Any, default: Any, stored: Any):
    columns = (("_hoodie_record_key", ["null", "string"]), ("tags", kind))
    field = {"name": "tags", "type": kind, "default": spelt}
    schema = json.dumps({"type": "record", "name": "row", "fields": [field]})
    stated = {"hoodie.table.version": "9", "hoodie.table.type": "MERGE_ON_READ", "hoodie.table.create.schema": schema}
    found = column_defaults((), configuration_of(stated))
    assert found == {"tags": default}
    rule = replace(COMMIT, completion=Completion("defaults", defaults=tuple(found.items())))
    base = {"_hoodie_record_key": "a", "tags": stored}
    assert of_columns(columns, rule, base, {"_hoodie_record_key": "a", "tags": default}) == [base]


@pytest.mark.parametrize(
    ("rule", "places"),
    [
        (MergeRule("EVENT_TIME_ORDERING", ("at",), ordering_form="log_places"), [("1.5", 0), ("2.10", 0), ("2.9", 0)]),
        (MergeRule("EVENT_TIME_ORDERING", ("at", "part")), [("1", 5), ("2", 9), ("2", 8)]),
    ],
    ids=["places in a log", "several fields"],
)
def test_an_update_without_ordering_value_competes_on_by_that_of_the_columns_that_complete_it(
    rule: MergeRule, places: list[tuple[str, int]]
):
    """So that what comes late loses to it, however many parts an ordering value has."""
    text = ["null", "string"]
    columns = (("_hoodie_record_key", text), ("at", text), ("part", ["null", "int"]), ("note", text), ("mark", text))
    stored, newer, late = ({"_hoodie_record_key": "a", "at": at, "part": part} for at, part in places)
    updates = [{**newer, "note": "newer"}, {"_hoodie_record_key": "a", "mark": "set"}, {**late, "note": "late"}]
    found = of_columns(columns, rule, {**stored, "note": "base", "mark": "base"}, *updates)
    assert found == [{**newer, "note": "newer", "mark": "set"}]


def test_an_ordering_value_within_a_struct_completes_with_its_column():
    text, inner = ["null", "string"], {"type": "record", "name": "at", "fields": [{"name": "n", "type": "int"}]}
    columns = (("_hoodie_record_key", text), ("at", inner), ("note", text), ("mark", text))
    stored, newer, late = ({"_hoodie_record_key": "a", "at": {"n": n}} for n in (1, 9, 5))
    updates = [{**newer, "note": "newer"}, {"_hoodie_record_key": "a", "mark": "set"}, {**late, "note": "late"}]
    rule = MergeRule("EVENT_TIME_ORDERING", ("at.n",))
    found = of_columns(columns, rule, {**stored, "note": "base", "mark": "base"}, *updates)
    assert found == [{**newer, "note": "newer", "mark": "set"}]


def test_an_update_that_leaves_the_delete_field_out_is_no_delete():
    text = ["null", "string"]
    columns = (("_hoodie_record_key", text), ("op", text), ("note", text))
    rule = replace(COMMIT, ordering=(), delete_field="op", delete_marker="d")
    base = {"_hoodie_record_key": "a", "op": "i", "note": "base"}
    assert of_columns(columns, rule, base, {"_hoodie_record_key": "a", "note": "log"}) == [{**base, "note": "log"}]
    assert of_columns(columns, rule, base, {"_hoodie_record_key": "a", "op": "d"}) == []
